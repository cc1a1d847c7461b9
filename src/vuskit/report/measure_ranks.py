"""Ranks of detectors by several measures: whether the order depends on the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit.figures import RankLinesDisplay
from vuskit.report.verdict import kendall_tau
from vuskit.statistics.comparison import TableComparison

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MeasureRanks(TableForms):
    """Mean ranks of the same detectors by several measures.

    Attributes
    ----------
    comparisons : dict
        Comparisons by name of the measure; the first one orders the detectors.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit.statistics.comparison import compare_columns
    >>> rows = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
    >>> other = pd.DataFrame({"LOF": [0.4, 0.3, 0.5], "PCA": [0.5, 0.6, 0.2]})
    >>> ranks = MeasureRanks({
    ...     "vus_pr": compare_columns(rows, title="VUS-PR"),
    ...     "auc_pr": compare_columns(other, title="AUC-PR"),
    ... })
    >>> ranks.taus
    {'vus_pr': 1.0, 'auc_pr': -1.0}
    """

    comparisons: Mapping[str, TableComparison]

    @property
    def by_title(self) -> dict[str, TableComparison]:
        """Comparisons by title of the measure, without the first."""
        _, *others = self.comparisons.values()
        return {one.title: one for one in others}

    @cached_property
    def taus(self) -> dict[str, float]:
        """Kendall's tau of the mean ranks with those by the first measure."""
        first = next(iter(self.comparisons.values()))
        return {measure: kendall_tau(first, one) for measure, one in self.comparisons.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return mean ranks: one row per detector, one column per measure."""
        pandas = require("pandas", purpose="a table of ranks")
        ranks = {name: one.summary["mean_rank"] for name, one in self.comparisons.items()}
        frame: pd.DataFrame = pandas.DataFrame(ranks)
        first = next(iter(self.comparisons.values()))
        return frame.reindex(first.summary.index)

    def to_records(self) -> list[dict[str, Any]]:
        """Return measure, title, tau and order of the detectors, best first, as plain data."""
        return [
            {
                "measure": name,
                "title": one.title,
                "tau": self.taus[name],
                "order": list(map(str, one.summary.index)),
            }
            for name, one in self.comparisons.items()
        ]

    def figure(self) -> RankLinesDisplay:
        """Return a chart with a line per detector over the measures."""
        return RankLinesDisplay(self.to_frame())

    @property
    def _layout(self) -> TableLayout:
        frame = self.to_frame()
        best = {name: f"{frame[name].min():.2f}" for name in frame}
        rows: list[list[str | Cell]] = [
            [
                str(detector),
                *(
                    Cell(f"{rank:.2f}", f"{rank:.2f}" == best[name]) if rank == rank else "–"  # noqa: RUF001
                    for name, rank in ranks.items()
                ),
            ]
            for detector, ranks in frame.iterrows()
        ]
        rows.append(["tau", *(f"{tau:.2f}" for tau in self.taus.values())])
        first, *_ = self.comparisons.values()
        return TableLayout(
            ["detector", *(one.title for one in self.comparisons.values())],
            rows,
            caption=f"Mean rank by measure; tau: Kendall's tau with the order by {first.title}.",
            rules=[len(rows) - 1],
            marks=("best in column",),
        )
