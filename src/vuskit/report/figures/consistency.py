"""Consistency: entropy of the ranks, and the ranks themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.report.figures._canvas import COLUMN, PAGE, SMALL, TEXT, Cell, open_canvas
from vuskit.report.figures._drawing import (
    family_legend,
    few_ticks,
    group_styles,
    measure_bars,
    measure_rows,
    measures_named,
)
from vuskit.report.figures._families import FAMILY_TITLES, family_color, family_of
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.consistency import ConsistencyResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EntropyDisplay", "RankLinesDisplay"]


@register_figure(
    name="entropy",
    title="mean entropy of the ranks, by measure and by family",
    source="the consistency study",
)
@dataclass(eq=False, repr=False)
class EntropyDisplay(Display):
    """Short bars are measures that rank the detectors alike on series of the same kind.

    Attributes
    ----------
    by_measure, by_family : pandas.Series
        Mean entropy in bits.
    """

    by_measure: pd.Series
    by_family: pd.Series

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.by_measure.index)

    @classmethod
    def from_result(cls, result: ConsistencyResult) -> EntropyDisplay:
        """Make it from :func:`vuskit.studies.consistency_study`."""
        return cls(result.averages()["entropy"], result.by_family())

    def plot(self, ax: Any = None, *, legend: bool | None = None) -> EntropyDisplay:
        """Draw two panels of bars.

        Parameters
        ----------
        ax : Axes or two of them, optional
            Where to draw; one axis is divided. A figure of its own by default.
        legend : bool, optional
            Whether the families are named; by default where there is a margin.
        """
        cells = [Cell(0, 0), Cell(1, 0)]
        heights = [len(self.by_measure), len(self.by_family) + 1]
        size = (COLUMN, 0.135 * sum(heights) + 1.1)
        canvas = open_canvas(ax, cells, size=size, heights=heights, share="x")
        above, below = canvas.panels
        above.tick_params(labelbottom=False)
        measure_bars(above, self.by_measure, self.measures)
        canvas.title(above, "by measure")
        examples = {measure.family: measure for measure in self.measures}
        families = [examples[str(name)] for name in self.by_family.index]
        measure_bars(below, self.by_family, families)
        names = [FAMILY_TITLES[family_of(measure)] for measure in families]
        below.set_yticks(range(len(names)), names, fontsize=SMALL)
        canvas.title(below, "by family of measures")
        below.set_xlabel("mean entropy of the ranks, bits", fontsize=TEXT)
        if legend:
            family_legend(canvas, self.measures, legend=legend)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{len(self.by_measure)} measures, {len(self.by_family)} families"


_QUANTITIES = {"rank": "mean rank (1 is best)", "entropy": "entropy of the ranks, bits"}


@register_figure(
    name="rank_lines",
    title="mean rank, or entropy of the ranks, of each detector under each measure",
    source="the consistency study; all of it, or a data set",
)
@dataclass(eq=False, repr=False)
class RankLinesDisplay(Display):
    """A line for each detector over the measures.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each detector, one column for each measure.
    quantity : str
        ``"rank"`` or ``"entropy"``.
    dataset : str or None
        Which data set; None for all.
    """

    table: pd.DataFrame
    quantity: str
    dataset: str | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.table.columns)

    @classmethod
    def from_result(
        cls, result: ConsistencyResult, *, dataset: str | None = None, quantity: str = "rank"
    ) -> RankLinesDisplay:
        """Make it from the consistency study.

        Parameters
        ----------
        result : ConsistencyResult
            Of :func:`vuskit.studies.consistency_study`.
        dataset : str, optional
            Which data set; all by default.
        quantity : {"rank", "entropy"}
            What to draw.

        Raises
        ------
        InvalidInputError
            If there is no such data set.
        """
        if check_choice("quantity", quantity, _QUANTITIES) == "rank":
            return cls(result.rank_table(dataset), quantity, dataset)
        entropies = result.entropies()
        if dataset is not None:
            check_choice("dataset", dataset, dict.fromkeys(entropies.index.get_level_values(0)))
            return cls(entropies.loc[dataset], quantity, dataset)
        return cls(entropies.groupby(level="detector", sort=False).mean(), quantity)

    def plot(self, ax: Any = None, *, legend: bool = True) -> RankLinesDisplay:
        """Draw the lines.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a figure of its own by default.
        legend : bool, default=True
            Whether the detectors are named.
        """
        canvas = open_canvas(ax, size=(PAGE / 2, 0.16 * len(self.measures) + 1.0))
        axis = canvas.ax
        rows = np.arange(len(self.measures))
        for (_, values), style in zip(
            self.table.iterrows(), group_styles(self.table.index), strict=True
        ):
            axis.plot(values, rows, **style)
        measure_rows(axis, self.measures)
        axis.grid(visible=True, axis="y", linewidth=0.3, alpha=0.3)
        few_ticks(axis, 6)
        axis.tick_params(axis="y", pad=9)
        _family_marks(axis, self.measures)
        axis.set_xlabel(_QUANTITIES[self.quantity], fontsize=TEXT)
        canvas.title(axis, self.dataset or "all series")
        if legend:
            canvas.legend(axis.get_legend_handles_labels()[0])
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        where = self.dataset or "all series"
        detectors, measures = self.table.shape
        return f"{self.quantity} of {detectors} detectors, {measures} measures, {where}"


def _family_marks(axis: Any, measures: tuple[Measure, ...]) -> None:
    """Mark each measure with the color of its family, between its name and the axis."""
    transforms = require("matplotlib.transforms", purpose="a figure")
    beside = transforms.offset_copy(
        axis.get_yaxis_transform(), fig=axis.figure, x=-5, units="points"
    )
    for row, measure in enumerate(measures):
        axis.plot(
            0, row, marker="s", markersize=4, color=family_color(measure), clip_on=False,
            transform=beside, linestyle="none", label="_family",
        )  # fmt: skip
