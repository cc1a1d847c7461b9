"""Write the files of exhibits: figures as pdf and png, tables as LaTeX and Markdown, and csv."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import vuskit
from vuskit._util.files import atomic_files, write_atomically
from vuskit._util.tables import TableForms, TableLayout
from vuskit.errors import (
    InvertedScoreWarning,
    LongBufferWarning,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.figures import PanelsDisplay
from vuskit.figures.base import PAGE_DPI
from vuskit.kernels.backend import core_name
from vuskit.paper.exhibits import Built, Exhibit
from vuskit.paper.material import Material
from vuskit.report.page.studies import figure_data
from vuskit.report.tables import write_table
from vuskit.store.identity import key_of, package_digest

_FIGURE_FORMATS = ("pdf", "png")
_EXPECTED_WARNINGS = (
    InvertedScoreWarning, LongBufferWarning, ThresholdResolutionWarning, UndefinedMeasureWarning,
)  # fmt: skip


@dataclass(frozen=True)
class MadeExhibit:
    """An exhibit with its files.

    Attributes
    ----------
    exhibit : Exhibit
        The figure or table.
    caption : str
        Caption about this data; empty if the exhibit could not be made.
    files : tuple of str
        File names in the output folder.
    reason : str
        Why the exhibit could not be made; empty otherwise.
    page : dict or None
        Content for the page: ``figures`` as data and ``table`` as markup.
    reused : bool
        Whether the files come from an earlier run.
    """

    exhibit: Exhibit
    caption: str
    files: tuple[str, ...] = ()
    reason: str = ""
    page: Mapping[str, Any] | None = None
    reused: bool = False

    @property
    def made(self) -> bool:
        """Whether the exhibit could be made."""
        return not self.reason


def make_exhibit(
    exhibit: Exhibit, material: Material, folder: Path, *, results: Mapping[str, str]
) -> MadeExhibit:
    """Build an exhibit and write its files, or reuse those of an earlier run."""
    used = [results.get(name, "") for name in exhibit.needs]
    code = [package_digest(Path(vuskit.__file__).parent), core_name()]
    about = {"code": code, "choice": repr(material.choice), "results": used}
    key = key_of(exhibit.stem, about)
    found = read_made(exhibit, folder, key)
    if found is not None:
        return found
    try:
        with warnings.catch_warnings():
            # Examples may show a detector below chance or a short crop; studies count undefined
            # values.
            for expected in _EXPECTED_WARNINGS:
                warnings.simplefilter("ignore", expected)
            built = exhibit.build(material)
        with atomic_files(folder) as temporary:
            _write(exhibit, built, temporary)
            files = tuple(sorted(path.name for path in temporary.iterdir()))
        page = _page(built)
    except VuskitError as error:
        # Not recorded, since more data or other options may allow the exhibit.
        return MadeExhibit(exhibit, "", reason=str(error))
    made = MadeExhibit(exhibit, built.caption, files, page=page)
    record = {"key": key, "caption": made.caption, "files": files, "page": page}
    path = _record(exhibit, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(record, allow_nan=False))
    return made


def read_made(exhibit: Exhibit, folder: Path, key: str) -> MadeExhibit | None:
    """Return an exhibit of an earlier run with the same key; None if there is none."""
    try:
        record = json.loads(_record(exhibit, folder).read_text(encoding="utf-8"))
        files = tuple(record["files"])
        if record["key"] != key or not all((folder / name).is_file() for name in files):
            return None
        return MadeExhibit(exhibit, record["caption"], files, "", record["page"], reused=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record(exhibit: Exhibit, folder: Path) -> Path:
    return folder / "work" / "exhibits" / f"{exhibit.stem}.json"


def _write(exhibit: Exhibit, built: Built, folder: Path) -> None:
    write_table(built.table, folder / f"{exhibit.stem}.csv")
    for place, part in enumerate(built.parts):
        # The first figure has no letter; the others have b, c, ...
        suffix = f"-{ascii_lowercase[place]}" if place else ""
        for form in _FIGURE_FORMATS:
            part.display.save(folder / f"{exhibit.stem}{suffix}.{form}", dpi=PAGE_DPI)
    if not built.parts:
        layout = _forms(built)
        (folder / f"{exhibit.stem}.tex").write_text(layout.to_latex() + "\n", encoding="utf-8")
        (folder / f"{exhibit.stem}.md").write_text(layout.to_markdown() + "\n", encoding="utf-8")


class _Frame(TableForms):
    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @property
    def _layout(self) -> TableLayout:
        return TableLayout.of_frame(self._frame)


def _forms(built: Built) -> TableForms:
    return built.layout or _Frame(built.table)


def _page(built: Built) -> dict[str, Any]:
    """Return the content of an exhibit for the page, ready for JSON."""
    figures = []
    for part in built.parts:
        if isinstance(part.display, PanelsDisplay):
            shown: Sequence[Any] = part.display.panels
        else:
            shown = [(part.heading, part.display)]
        for heading, display in shown:
            figures.append({**figure_data(display), "heading": heading})
    table = "" if built.parts else _forms(built).to_html()
    return {"figures": figures, "table": table}
