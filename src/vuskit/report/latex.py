"""LaTeX tables (package booktabs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vuskit._util.tables import Cell, TableLayout
from vuskit.measures.registry import Measure
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.tables import footnotes

if TYPE_CHECKING:
    import pandas as pd


def latex_frame(frame: pd.DataFrame, *, notes: Sequence[str] = ()) -> str:
    r"""Return a table in LaTeX (package booktabs), with three digits per number.

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
    return TableLayout.of_frame(frame, notes=notes).to_latex()


def _spread(report: EvaluationReport, name: str, measure: Measure) -> str:
    low, high = report.interval(name, measure)
    return "" if low is None else f"[{low:.3f}, {high:.3f}]"


def latex_table(report: EvaluationReport) -> str:
    """Return the measures as a LaTeX table (package booktabs); the best values are bold."""
    names = list(report.table)
    chance = report.chance
    rows: list[list[str | Cell]] = []
    for measure in report.measures:
        best = report.best(measure)
        texts = {name: f"{report.table[name][measure.name]:.3f}" for name in names}
        cells = [
            Cell(text, bold=name in best, spread=_spread(report, name, measure))
            for name, text in texts.items()
        ]
        extra = [] if chance is None else [f"{chance.mean[measure.name]:.3f}"]
        rows.append([measure.title, *cells, *extra])
    header = ["measure", *names] + ["chance"] * (chance is not None)
    return TableLayout(header, rows, notes=[report.name, *footnotes(report)]).to_latex()
