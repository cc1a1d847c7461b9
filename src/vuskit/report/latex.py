"""Tables for LaTeX (package booktabs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vuskit._util.text import escape_latex, format_cell
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.tables import footnotes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["latex_frame", "latex_table", "latex_tabular"]


def latex_tabular(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    notes: Sequence[str] = (),
    left: int = 1,
) -> str:
    r"""Lay out a LaTeX table (package booktabs); the first column is text, the others LaTeX.

    As many columns as `left` says are flush left, the others flush right.

    Examples
    --------
    >>> print(latex_tabular(["a_b", "x"], [["50%", "0.1"]], notes=["made up"]))
    % made up
    \begin{tabular}{lr}
    \toprule
    a\_b & x \\
    \midrule
    50\% & 0.1 \\
    \bottomrule
    \end{tabular}
    """
    lines = [[escape_latex(cell) for cell in header]]
    lines += [[escape_latex(row[0]), *row[1:]] for row in rows]
    first, *rest = [" & ".join(line) + r" \\" for line in lines]
    return "\n".join(
        [
            *(f"% {' '.join(note.split())}" for note in notes),
            rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(header) - left)}}}",
            r"\toprule",
            first,
            r"\midrule",
            *rest,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def latex_frame(frame: pd.DataFrame, *, notes: Sequence[str] = ()) -> str:
    r"""Lay out a table for LaTeX (package booktabs), numbers to three digits.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"measure": ["R-AUC"], "kind": ["a_b"], "z": [float("inf")]})
    >>> print(latex_frame(frame))
    \begin{tabular}{llr}
    \toprule
    measure & kind & z \\
    \midrule
    R-AUC & a\_b & $\infty$ \\
    \bottomrule
    \end{tabular}
    """
    texts = frame.select_dtypes(exclude="number").columns
    left = next((k for k, name in enumerate(frame.columns) if name not in texts), frame.shape[1])
    rows = [
        [format_cell(first), *map(_latex_cell, rest)]
        for first, *rest in frame.itertuples(index=False)
    ]
    return latex_tabular(list(map(str, frame.columns)), rows, notes=notes, left=max(left, 1))


def _latex_cell(value: object) -> str:
    """A cell as LaTeX; a minus is no hyphen, and powers of ten are raised."""
    text = format_cell(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return escape_latex(text)
    digits, _, power = text.replace("inf", r"\infty").partition("e")
    number = rf"{digits} \times 10^{{{int(power)}}}" if power else digits
    return f"${number}$" if number != text or number.startswith("-") else text


def latex_table(report: EvaluationReport) -> str:
    """Lay the measures out as a LaTeX table (package booktabs), the best value of each bold."""
    names = list(report.table)
    chance = report.chance
    rows = []
    for measure in report.measures:
        best = report.best(measure)
        texts = {name: f"{report.table[name][measure.name]:.3f}" for name in names}
        cells = [rf"\textbf{{{text}}}" if name in best else text for name, text in texts.items()]
        extra = [] if chance is None else [f"{chance.mean[measure.name]:.3f}"]
        rows.append([measure.title, *cells, *extra])
    header = ["measure", *names] + ["chance"] * (chance is not None)
    return latex_tabular(header, rows, notes=[report.name, *footnotes(report)])
