"""Tables for reading, as text and Markdown, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.files import write_atomically
from vuskit._util.tables import TableLayout, frame_csv
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.report.evaluation import EvaluationReport

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TABLE_FORMATS",
    "footnotes",
    "markdown_table",
    "plain_table",
    "titled_table",
    "with_titles",
    "write_table",
]

_MEASURE_COLUMNS = {"measure", "first", "second", "name"}
_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: write_atomically(path, frame_csv(frame) + "\n"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}
TABLE_FORMATS = tuple(_WRITERS)


def markdown_table(frame: pd.DataFrame) -> str:
    r"""Lay out a table in Markdown, numbers to three digits; bars and HTML in a cell are escaped.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown_table(pd.DataFrame({"name": ["a|b"], "value": [0.12345]})))
    | name | value |
    | --- | ---: |
    | a\|b | 0.123 |
    """
    return TableLayout.of_frame(frame).to_markdown()


def plain_table(report: EvaluationReport, *, width: int = 80) -> str:
    """Lay the measures out as text: values and chance, then values set against chance."""
    names = list(report.table)
    if len(names) == 1:
        return "\n".join([_single(report, names[0]), *footnotes(report)])
    chance, adjusted = report.chance, report.adjusted
    rows = []
    for measure in report.measures:
        values = [f"{report.table[name][measure.name]:.3f}" for name in names]
        extra = [] if chance is None else [f"{chance.mean[measure.name]:.3f}"]
        rows.append([measure.title, *values, *extra])
    header = ["measure", *names] + ["chance"] * (chance is not None)
    parts = [TableLayout(header, rows).to_text(width)]
    if adjusted is not None:
        rows = [[m.title, *(f"{adjusted[n][m.name]:.3f}" for n in names)] for m in report.measures]
        parts.append(TableLayout(["adjusted", *names], rows).to_text(width))
    return "\n".join(["\n\n".join(parts), *footnotes(report)])


def _single(report: EvaluationReport, name: str) -> str:
    header, columns = ["measure", name], [report.table[name].to_dict()]
    if report.chance is not None and report.adjusted is not None:
        header += ["chance", "adjusted"]
        columns += [report.chance.mean, report.adjusted[name]]
    rows = [[m.title, *(f"{column[m.name]:.4f}" for column in columns)] for m in report.measures]
    return TableLayout(header, rows).to_text()


def footnotes(report: EvaluationReport) -> list[str]:
    """Settings and chance, as lines below a table of measures."""
    notes = [f"({report.table.settings})"]
    if report.chance is not None:
        notes.append(f"(chance: mean of {report.chance.draws} random scores)")
    return notes


def titled_table(frame: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Return a table by measure with the titles of the measures in a column, for reading.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit import get_measure
    >>> titled_table(pd.DataFrame({"z": [1.0]}, index=["vus_pr"]), [get_measure("vus_pr")])
      measure    z
    0  VUS-PR  1.0
    """
    titled = frame.rename(index={one.name: one.title for one in measures})
    titled.index.name = "measure"
    return titled.reset_index()


def with_titles(frame: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with titles of measures for their names, in headings and columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"measure": ["vus_pr"], "z": [1.0]})
    >>> with_titles(frame, {"vus_pr": "VUS-PR"})["measure"].to_list()
    ['VUS-PR']
    """
    named = frame.rename(columns=dict(titles))
    for column in _MEASURE_COLUMNS & set(named.columns):
        named[column] = [titles.get(str(name), name) for name in named[column]]
    return named


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as csv or parquet, by the ending of the name.

    Raises
    ------
    InvalidInputError
        If the name ends with something else.
    """
    _WRITERS[check_choice("path", path.suffix.lstrip("."), TABLE_FORMATS)](frame, path)
