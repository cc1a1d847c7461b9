"""Tables as text and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vuskit.measures.results import text_table
from vuskit.report.evaluation import EvaluationReport

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["folded_tables", "footnotes", "format_cell", "markdown_table", "plain_table"]


def format_cell(value: object) -> str:
    """Three significant digits for numbers; nothing for what is not there.

    Examples
    --------
    >>> [format_cell(value) for value in (0.0123456, 1234.5, float("nan"), 7, "opt")]
    ['0.0123', '1,230', '', '7', 'opt']
    """
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def markdown_table(frame: pd.DataFrame) -> str:
    r"""Lay out a table in Markdown, numbers to three digits; bars within a cell do not end it.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown_table(pd.DataFrame({"name": ["a|b"], "value": [0.12345]})))
    | name | value |
    | --- | --- |
    | a\|b | 0.123 |
    """
    texts = [list(map(str, frame.columns))]
    texts += [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    lines = [[cell.replace("|", "\\|") for cell in row] for row in texts]
    lines.insert(1, ["---"] * frame.shape[1])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def folded_tables(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    r"""Tables of as many columns as the width holds, each with the first column.

    Examples
    --------
    >>> print(*folded_tables(["name", "a", "b"], [["x", "1", "2"]], width=8), sep="\n")
    name  a
    x     1
    name  b
    x     2
    """
    sizes = [2 + max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    first = sizes[0] - 2
    tables, start = [], 1
    while start < len(sizes):
        stop = start + 1
        while stop < len(sizes) and first + sum(sizes[start : stop + 1]) <= width:
            stop += 1
        body = [[row[0], *row[start:stop]] for row in rows]
        tables.append(text_table([header[0], *header[start:stop]], body))
        start = stop
    return tables


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
    parts = folded_tables(["measure", *names] + ["chance"] * (chance is not None), rows, width)
    if adjusted is not None:
        rows = [[m.title, *(f"{adjusted[n][m.name]:.3f}" for n in names)] for m in report.measures]
        parts += folded_tables(["adjusted", *names], rows, width)
    return "\n".join(["\n\n".join(parts), *footnotes(report)])


def _single(report: EvaluationReport, name: str) -> str:
    header, columns = ["measure", name], [report.table[name].to_dict()]
    if report.chance is not None and report.adjusted is not None:
        header += ["chance", "adjusted"]
        columns += [report.chance.mean, report.adjusted[name]]
    return text_table(
        header,
        [[m.title, *(f"{column[m.name]:.4f}" for column in columns)] for m in report.measures],
    )


def footnotes(report: EvaluationReport) -> list[str]:
    """Settings and chance, as lines below a table of measures."""
    notes = [f"({report.table.settings})"]
    if report.chance is not None:
        notes.append(f"(chance: mean of {report.chance.draws} random scores)")
    return notes
