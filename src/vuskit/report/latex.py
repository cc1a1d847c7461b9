"""Tables for print: LaTeX (package booktabs) and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vuskit._util.tables import Cell, TableLayout
from vuskit._util.text import plural
from vuskit.buffers import buffer_summary
from vuskit.measures.registry import Measure
from vuskit.report.evaluation import EvaluationReport

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


def table_for_print(report: EvaluationReport) -> TableLayout:
    """Return the measures of one series for LaTeX and Markdown; the best values are bold."""
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
    said = [f"Settings: {report.table.settings}", *report.interval_notes]
    if report.buffer is not None:
        reason = ": ".join(report.buffer_reason)
        said.insert(1, buffer_summary([report.length], [reason]))
    if chance is not None:
        said.append(f"Chance: mean of {chance.draws} random scores")
    return TableLayout(
        header,
        rows,
        caption=f"Measures of {plural(len(names), 'detector')} on {report.name}.",
        notes=[f"{text[:1].upper()}{text[1:]}." for text in said],
        marks=("best",),
    )
