"""Consistency: ranks of the detectors and their entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vuskit._util.optional import pd, require
from vuskit.figures._drawing import (
    FAMILY_TITLES,
    describe_measures,
    family_color,
    family_legend,
    family_of,
    few_ticks,
    group_styles,
    measure_bars,
    measure_rows,
    measures_named,
)
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    SMALL,
    TEXT,
    Canvas,
    Cell,
    Data,
    Display,
    open_canvas,
    to_array,
)
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure


@dataclass(eq=False, repr=False)
class EntropyDisplay(Display):
    """Bars of entropies; measures with short bars rank the detectors consistently.

    Attributes
    ----------
    by_measure, by_family : pandas.Series
        Mean entropy.
    unit : str
        Unit of the entropy.
    wide : bool
        Whether the panels are next to each other, at the width of a page.

    Examples
    --------
    >>> import pandas as pd
    >>> EntropyDisplay(pd.Series({"vus_pr": 0.8}), pd.Series({"vus": 0.8}))
    EntropyDisplay(1 measures, 1 families)
    """

    kind = "entropy"
    heading = "mean entropy of the ranks, by measure and by family"
    by_measure: pd.Series
    by_family: pd.Series
    unit: str = "bits"
    wide: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.by_measure.index, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return the entropies of measures and families."""
        known = describe_measures(self.measures)
        examples = {measure.family: measure for measure in self.measures}
        families = [examples[str(name)] for name in self.by_family.index]
        return {
            **known,
            "values": self.by_measure.to_numpy(dtype=float),
            "by_family": [
                {
                    "family": family_of(measure),
                    "title": FAMILY_TITLES.get(measure.family, measure.family),
                    "color": family_color(measure),
                    "value": float(value),
                }
                for measure, value in zip(families, self.by_family, strict=True)
            ],
            "label": f"mean entropy of the ranks, {self.unit}",
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool | None = None) -> Canvas:
        measures, families = data["measures"], data["by_family"]
        if self.wide:
            size = (PAGE, 0.145 * len(measures) + 0.6)
            canvas = open_canvas(ax, [Cell(0, 0), Cell(0, 1)], size=size)
        else:
            heights = [len(measures), len(families) + 1]
            size = (COLUMN, 0.135 * sum(heights) + 1.1)
            cells = [Cell(0, 0), Cell(1, 0)]
            canvas = open_canvas(ax, cells, size=size, heights=heights, share="x")
            canvas.panels[0].tick_params(labelbottom=False)
        first, second = canvas.panels
        bars = measure_bars(first, to_array(data["values"]), measures)
        _write_values(first, bars)
        canvas.title(first, "by measure")
        bars = measure_bars(second, to_array([one["value"] for one in families]), families)
        _write_values(second, bars)
        names = [one["title"] for one in families]
        second.set_yticks(range(len(names)), names, fontsize=SMALL)
        canvas.title(second, "by family of measures")
        for axis in canvas.panels if self.wide else [second]:
            axis.set_xlabel(data["label"], fontsize=TEXT)
        if legend:
            family_legend(canvas, data, legend=legend)
        return canvas

    def _about(self) -> str:
        return f"{len(self.by_measure)} measures, {len(self.by_family)} families"


def _write_values(axis: Any, bars: Any) -> None:
    """Write the values, since entropies hardly differ compared with their distance from 0."""
    axis.bar_label(bars, fmt="%.2f", fontsize=SMALL, padding=1.5)
    axis.margins(x=0.12)


_QUANTITIES = {"rank": "mean rank (1 is best)", "entropy": "entropy of the ranks"}


@dataclass(eq=False, repr=False)
class RankLinesDisplay(Display):
    """One line for each detector over the measures.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each detector, one column for each measure.
    quantity : str
        ``"rank"`` or ``"entropy"``.
    dataset : str or None
        Name of the data set; None for all.
    unit : str
        Unit of the entropy.

    Raises
    ------
    InvalidInputError
        If the quantity is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> RankLinesDisplay(pd.DataFrame({"vus_pr": [1.2, 1.8]}, index=["LOF", "PCA"]))
    RankLinesDisplay(rank of 2 detectors, 1 measures, all series)
    """

    kind = "rank_lines"
    heading = "mean rank, or entropy of the ranks, of each detector under each measure"
    table: pd.DataFrame
    quantity: str = "rank"
    dataset: str | None = None
    unit: str = "bits"

    def __post_init__(self) -> None:
        check_choice("quantity", self.quantity, _QUANTITIES)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.table.columns, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return measures, detectors, and one row of numbers for each detector."""
        return {
            **describe_measures(self.measures),
            "detectors": list(map(str, self.table.index)),
            "values": self.table.to_numpy(dtype=float),
            "label": _QUANTITIES[self.quantity] + f", {self.unit}" * (self.quantity == "entropy"),
            "dataset": self.dataset or "all series",
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        measures = data["measures"]
        canvas = open_canvas(ax, size=(PAGE / 2, 0.16 * len(measures) + 1.0))
        axis = canvas.ax
        rows = np.arange(len(measures))
        for values, style in zip(data["values"], group_styles(data["detectors"]), strict=True):
            axis.plot(to_array(values), rows, **style)
        measure_rows(axis, measures)
        axis.grid(visible=True, axis="y", linewidth=0.3, alpha=0.3)
        few_ticks(axis, 6)
        axis.tick_params(axis="y", pad=9)
        _mark_families(axis, measures)
        axis.set_xlabel(data["label"], fontsize=TEXT)
        canvas.title(axis, data["dataset"])
        if legend:
            canvas.legend(axis.get_legend_handles_labels()[0])
        return canvas

    def _about(self) -> str:
        where = self.dataset or "all series"
        detectors, measures = self.table.shape
        return f"{self.quantity} of {detectors} detectors, {measures} measures, {where}"


def _mark_families(axis: Any, measures: list[dict[str, Any]]) -> None:
    """Mark each measure with its family's color, between its name and the axis."""
    transforms = require("matplotlib.transforms", purpose="a figure")
    beside = transforms.offset_copy(
        axis.get_yaxis_transform(), fig=axis.figure, x=-5, units="points"
    )
    for row, measure in enumerate(measures):
        axis.plot(
            0, row, marker="s", markersize=4, color=measure["color"], clip_on=False,
            transform=beside, linestyle="none", label="_family",
        )  # fmt: skip
