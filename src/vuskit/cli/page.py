"""``vuskit page``: the evaluation page without data; readers drop their files on it."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

from vuskit.cli._options import FILE, OUTPUT, OpenPage, option
from vuskit.cli._output import check_page, say, write_file


def page(
    empty: Annotated[Path, option(OUTPUT, FILE, "Where to write the empty page.", "--empty")],
    open_page: OpenPage = False,
) -> None:
    """Write a page that evaluates files you drop on it; needs no Python, no network.

    For a page with data, use: vuskit evaluate FILE --html PAGE

    Example: vuskit page --empty try.html
    """
    from vuskit.report.page.series import empty_page_html

    check_page("--empty", empty)
    write_file(empty, empty_page_html())
    say(f"page: {empty}")
    if open_page:
        webbrowser.open(empty.resolve().as_uri())
