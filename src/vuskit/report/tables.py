"""Tables as text, Markdown and files."""

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


_MEASURE_COLUMNS = {"measure", "first", "second", "name"}
_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: write_atomically(path, frame_csv(frame) + "\n"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}
TABLE_FORMATS = tuple(_WRITERS)


def markdown_table(frame: pd.DataFrame) -> str:
    r"""Return a table in Markdown, with three digits per number; bars and HTML are escaped.

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
    """Return the measures as text: values and chance, then values adjusted for chance."""
    names = list(report.table)
    if len(names) == 1:
        return "\n".join([_single(report, names[0]), *_text_notes(report)])
    values = {name: report.table[name].to_dict() for name in names}
    if report.chance is not None:
        values["chance"] = report.chance.mean
    parts = [_by_measure_or_score("measure", report, values, width)]
    if any(report.interval(name, one)[0] is not None for name in names for one in report.measures):
        rows = [
            [one.title, *(interval_text(report, name, one) for name in names)]
            for one in report.measures
        ]
        parts.append(TableLayout(["interval", *names], rows).to_text(width))
    if report.adjusted is not None:
        parts.append(_by_measure_or_score("adjusted", report, report.adjusted, width))
    return "\n".join(["\n\n".join(parts), *_text_notes(report)])


def _by_measure_or_score(
    corner: str, report: EvaluationReport, values: Mapping[str, Mapping[str, float]], width: int
) -> str:
    """Table with one row per measure, or one per score if only that fits the width."""
    header = [corner, *values]
    rows = [
        [measure.title, *(f"{column[measure.name]:.3f}" for column in values.values())]
        for measure in report.measures
    ]
    table = TableLayout(header, rows)
    turned, *lines = (list(column) for column in zip(header, *rows, strict=True))
    other = TableLayout([corner.replace("measure", "detector"), *turned[1:]], lines)
    widths = [len(one.to_text().partition("\n")[0]) for one in (table, other)]
    return (other if widths[1] <= width < widths[0] else table).to_text(width)


def _single(report: EvaluationReport, name: str) -> str:
    header, columns = ["measure", name], [report.table[name].to_dict()]
    if report.chance is not None and report.adjusted is not None:
        header += ["chance", "adjusted"]
        columns += [report.chance.mean, report.adjusted[name]]
    rows = [[m.title, *(f"{column[m.name]:.4f}" for column in columns)] for m in report.measures]
    if report.interval_notes:
        header.insert(2, "interval")
        for row, measure in zip(rows, report.measures, strict=True):
            row.insert(2, interval_text(report, name, measure))
    return TableLayout(header, rows).to_text()


def interval_text(report: EvaluationReport, score: str, measure: Measure) -> str:
    """Return the bounds of an interval; empty if there is none."""
    low, high = report.interval(score, measure)
    return "" if low is None else f"{low:.3f} to {high:.3f}"


def _text_notes(report: EvaluationReport) -> list[str]:
    adjusted = "(adjusted: 0 for random scores, 1 for the best possible value)"
    return [*footnotes(report), *([] if report.adjusted is None else [adjusted])]


def footnotes(report: EvaluationReport) -> list[str]:
    """Return lines for below a table of measures: settings and chance."""
    notes = [f"({report.table.settings})", *(f"({one})" for one in report.interval_notes)]
    if report.chance is not None:
        notes.append(f"(chance: mean of {report.chance.draws} random scores)")
    return notes


def titled_table(frame: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Return a table indexed by measure with the titles of the measures as first column.

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
    """Replace names of measures by their titles, in column names and columns.

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
    """Write a table as csv or parquet, depending on the extension."""
    _WRITERS[check_choice("path", path.suffix.lstrip("."), TABLE_FORMATS)](frame, path)
