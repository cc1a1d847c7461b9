"""Folders with the results of studies: a Markdown page, tables, figures, and the saved result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.text import escape_markdown
from vuskit.errors import InvalidInputError
from vuskit.figures import ChoiceDisplay, Display
from vuskit.figures._families import titles_of
from vuskit.figures.base import PAGE_DPI, check_figure_format
from vuskit.inputs import check_choice
from vuskit.report.latex import latex_frame
from vuskit.report.page.studies import checked, options_text, remarks, slugs, spoken
from vuskit.report.tables import TABLE_FORMATS, markdown_table, with_titles, write_table
from vuskit.studies import get_study
from vuskit.studies.result import StudyResult

if TYPE_CHECKING:
    import pandas as pd

_MOST_MARKDOWN_ROWS = 40
_MOST_LATEX_ROWS = 200  # longer tables are not for print
_LISTED = 20


def write_study(
    result: Any,
    folder: str | Path,
    *,
    series: str | None = None,
    figure_format: str = "png",
    table_format: str = "csv",
    latex: bool = False,
) -> list[Path]:
    """Write a study: a Markdown page, tables, figures, and the saved result.

    Parameters
    ----------
    result : StudyResult
        Result of any study.
    folder : str or Path
        Output folder; created if it does not exist.
    series : str, optional
        Series to draw if there is one figure per series: its name, with or without the data set.
        The first by default.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Format of the figures.
    table_format : {"csv", "parquet"}, default="csv"
        Format of the tables.
    latex : bool, default=False
        Also write tables of up to 200 rows as ``.tex``.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If the result holds no values, no figure shows that series, or a format is unknown.
    """
    result = checked(result)
    figures = result.figures()
    study, measures = get_study(result.kind), () if result.study is None else result.measures
    keys = {name: _key_of(one, series) for name, one in figures.items()}
    if series is not None and not any(keys.values()):
        raise InvalidInputError(f"`series` must name a series with a figure, got {series!r}")
    page = [f"# {study.title}", study.question, result.about()]
    page += [*remarks(result), *options_text(result)]
    page = list(map(escape_markdown, page))
    titles = titles_of(measures)
    writer = _Folder(result.kind, folder, figure_format, table_format, latex, titles)
    if result.study is not None:
        writer.notes = [f"{result.options_line}."]
    for name, display in figures.items():
        page += [escape_markdown(f"## {_capital(display.title or display.heading)}")]
        page += [escape_markdown(display.caption)] if display.caption else []
        page.append(writer.figure(name, display, keys[name]))
        page += [escape_markdown(f"- {note}") for note in getattr(display, "notes", ())]
    tables = result.tables()
    page.append("## Tables")
    if result.study is not None:
        writer.table("options", _options_table(result))
    for name, frame in tables.items():
        writer.table(name, frame)
        if len(frame) <= _MOST_MARKDOWN_ROWS:
            page += [f"### {spoken(name)}", markdown_table(with_titles(frame, titles))]
    page += _failures(result.failures)
    return [*writer.write(page), result.save(folder)]


def _options_table(result: StudyResult) -> pd.DataFrame:
    pandas = require("pandas", purpose="tables")
    options = result.study.options_in_force()
    frame: pd.DataFrame = pandas.DataFrame(list(options.items()), columns=["option", "value"])
    return frame


def write_comparison(
    comparison: Any,
    folder: str | Path,
    *,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write a comparison: ranks, pairs with effect sizes, diagram, matrix and a page."""
    writer = _Folder("comparison", folder, figure_format, "csv", latex, {})
    writer.table("ranks", comparison.to_frame())
    writer.table("pairs", comparison.pairs_frame())
    display, matrix = comparison.figure(), comparison.matrix()
    page = [
        escape_markdown(f"# Comparison by {comparison.title}"),
        writer.figure("diagram", display, None),
        escape_markdown(display.caption),
        writer.figure("matrix", matrix, None),
        escape_markdown(matrix.caption),
        markdown_table(comparison.to_frame()),
        "\n".join(f"- {escape_markdown(text)}" for text in comparison.tests),
    ]
    return writer.write(page)


class _Folder:
    """Files of one study, collected before anything is written."""

    def __init__(
        self,
        name: str,
        folder: str | Path,
        figure_format: str,
        table_format: str,
        latex: bool,
        titles: Mapping[str, str],
    ) -> None:
        self.name, self.place = name, Path(folder)
        self.figure_format = check_figure_format(figure_format)
        self.table_format = check_choice("table_format", table_format, TABLE_FORMATS)
        self.latex, self.titles = latex, titles
        self.notes: list[str] = []
        self.tables: dict[str, pd.DataFrame] = {}
        self.figures: dict[str, Display] = {}

    def _file(self, name: str, among: Iterable[str], form: str) -> str:
        """Return the file name of a table or figure."""
        return f"{self.name}_{slugs(among)[name]}.{form}"

    def figure(self, name: str, display: Display, key: tuple[str, ...] | None) -> str:
        """Add a figure; return the Markdown that shows it."""
        if isinstance(display, ChoiceDisplay):
            key = display.keys[0] if key is None else key
            shown, title = display.display(key), ", ".join(key)
        else:
            shown, title = display, name.replace("_", " ")
        self.figures[name] = shown
        return _picture_link(title, self._file(name, self.figures, self.figure_format))

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Add a table."""
        self.tables[name] = frame

    def write(self, page: Sequence[str]) -> list[Path]:
        """Write all files; the page comes first."""
        self.place.mkdir(parents=True, exist_ok=True)
        written = [self.place / f"{self.name}.md"]
        written[0].write_text("\n\n".join(page) + "\n", encoding="utf-8")
        for name, frame in self.tables.items():
            written.append(self.place / self._file(name, self.tables, self.table_format))
            write_table(frame, written[-1])
            if self.latex and len(frame) <= _MOST_LATEX_ROWS:
                written.append(written[-1].with_suffix(".tex"))
                notes = [f"{self.name}: {name.replace('_', ' ')}", *self.notes]
                text = latex_frame(with_titles(frame, self.titles), notes=notes)
                written[-1].write_text(text + "\n", encoding="utf-8")
        for name, display in self.figures.items():
            file = self.place / self._file(name, self.figures, self.figure_format)
            written.append(display.save(file, dpi=PAGE_DPI))
        return written


def _key_of(display: Display, series: str | None) -> tuple[str, ...] | None:
    """Return the first key of a series, named with or without its data set."""
    if series is None or not isinstance(display, ChoiceDisplay) or display.labels[0] != "series":
        return None
    return next(
        (key for key in display.keys if series in (key[0], key[0].rpartition("/")[2])), None
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _picture_link(title: str, file: str) -> str:
    r"""Return the Markdown of a figure; a pdf is linked, because browsers do not embed it.

    Examples
    --------
    >>> _picture_link("values on plant/[1]", "boxes.png")
    '![values on plant/\\[1\\]](boxes.png)'
    """
    said = escape_markdown(title).replace("[", r"\[").replace("]", r"\]")
    return f"[{said}]({file})" if file.endswith(".pdf") else f"![{said}]({file})"


def _failures(failures: Sequence[Any]) -> list[str]:
    if not failures:
        return ["No series failed."]
    texts = (" ".join(f"{one.name}: {one.reason}".split()) for one in failures[:_LISTED])
    listed = "\n".join(f"- {escape_markdown(text)}" for text in texts)
    more = f"\n- and {len(failures) - _LISTED} more" if len(failures) > _LISTED else ""
    return [f"{len(failures)} series failed:\n\n{listed}{more}"]
