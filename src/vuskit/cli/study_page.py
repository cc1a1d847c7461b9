"""``--html``: the studies of a command as one page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vuskit.cli.files import write_file
from vuskit.cli.output import say

__all__ = ["write_study_page"]


def write_study_page(path: Path | None, results: Iterable[Any], *, alpha: float = 0.1) -> None:
    """Write the page of some results, if one is wanted, and say where it is.

    Raises
    ------
    VuskitError
        If the file cannot be written.
    """
    if path is None:
        return
    from vuskit.report.page.document import page_document
    from vuskit.report.page.studies import study_sections

    write_file(path, page_document("Studies", study_sections(results, alpha=alpha)))
    say(f"page: {path}")
