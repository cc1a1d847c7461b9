"""Bars by measure for robustness and separability, one panel for each column of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import describe_measures, family_legend, measure_bars, measures_named
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    SMALL,
    Canvas,
    Data,
    Display,
    grid_cells,
    open_canvas,
    to_array,
)
from vuskit.measures.registry import Measure

_LONG, _ROOM = 4.0, 1.6  # a bar this much longer than the next is cut; end of the axis


def _panel_columns(count: int, columns: int | None) -> int:
    """Return the number of panels per row, so that no row is nearly empty."""
    return columns or (count if count <= 4 else -(-count // -(-count // 5)))


@dataclass(eq=False, repr=False)
class _MeasureBars(Display):
    table: pd.DataFrame
    label: str = ""
    marks: pd.DataFrame | None = None
    mark_label: str = "median"
    shares_axis: bool | None = field(default=None, kw_only=True)
    shares_axis_by_default: ClassVar[bool] = True
    default_label: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        if not hasattr(self.table, "columns") or self.table.empty:
            found = type(self.table).__name__
            raise InvalidInputError(
                "`table` must be a pandas table with one row for each measure, "
                f"got {found}{' without rows' if hasattr(self.table, 'columns') else ''}"
            )
        self.label = self.label or self.default_label
        if self.shares_axis is None:
            self.shares_axis = self.shares_axis_by_default

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.table.index, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return the measures, and the values of each panel."""
        return {
            **describe_measures(self.measures),
            "panels": [
                {
                    "title": str(name),
                    "values": self.table[name].to_numpy(dtype=float),
                    **self._marks(name),
                }
                for name in self.table.columns
            ],
            **({} if self.marks is None else {"mark_label": self.mark_label}),
            "label": self.label,
            "shares_axis": self.shares_axis,
        }

    def _marks(self, name: Any) -> dict[str, Any]:
        if self.marks is None:
            return {}
        return {"marks": self.marks.loc[self.table.index, name].to_numpy(dtype=float)}

    def _draw(
        self, ax: Any, data: Data, *, columns: int | None = None, legend: bool | None = None
    ) -> Canvas:
        count, measures = len(data["panels"]), data["measures"]
        across = _panel_columns(count, columns)
        rows = -(-count // across)
        height = rows * (0.3 + 0.125 * len(measures)) + 0.25
        size = (COLUMN if across <= 3 and rows == 1 else PAGE, height)
        share = "xy" if data["shares_axis"] else "y"
        canvas = open_canvas(ax, grid_cells(count, across), size=size, share=share)
        for axis, panel in zip(canvas.panels, data["panels"], strict=True):
            measure_bars(axis, to_array(panel["values"]), measures)
            if "marks" in panel:
                _draw_marks(axis, panel)
            if not data["shares_axis"]:
                _clip(axis, to_array(panel["values"]))
            canvas.title(axis, panel["title"])
        marked = f" (diamond: {data['mark_label']})" if "mark_label" in data else ""
        canvas.label_bottoms(f"{data['label']}{marked}")
        family_legend(canvas, data, legend=legend)
        return canvas

    def _about(self) -> str:
        shown = ", ".join(map(str, self.table.columns))
        return f"{len(self.table)} measures: {shown}"


def _clip(axis: Any, values: NDArray[np.float64]) -> None:
    """End the axis before a single bar that is much longer than all others, and write its value."""
    order = np.argsort(np.where(np.isfinite(values), values, -np.inf))
    longest, next_longest = values[order[-1]], values[order[-2]] if len(order) > 1 else np.nan
    if not (np.isfinite(next_longest) and next_longest > 0 and longest > _LONG * next_longest):
        return
    end = _ROOM * next_longest
    axis.set_xlim(right=end)
    axis.text(
        0.98 * end, order[-1], f"{longest:,.0f} \N{RIGHTWARDS ARROW}", ha="right", va="center",
        fontsize=SMALL, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip


def _draw_marks(axis: Any, panel: Mapping[str, Any]) -> None:
    """Draw diamonds on the bars; infinite values are skipped."""
    marks = to_array(panel["marks"])
    places = np.flatnonzero(np.isfinite(marks))
    axis.plot(
        marks[places], places, linestyle="none", marker="D", markersize=3.2, color="white",
        markeredgecolor="black", markeredgewidth=0.7, zorder=3,
    )  # fmt: skip


class RobustnessBarsDisplay(_MeasureBars):
    """Mean standard deviations; robust measures have short bars.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each measure, one column for each panel.
    label : str
        Label of the horizontal axis.
    shares_axis : bool
        Whether all panels have the same scale; True by default.

    Raises
    ------
    InvalidInputError
        If `table` is not a table, or empty.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"lag": [0.1, 0.02]}, index=["auc_pr", "vus_pr"])
    >>> RobustnessBarsDisplay(table)
    RobustnessBarsDisplay(2 measures: lag)
    """

    kind = "robustness_bars"
    heading = "mean standard deviation of each measure, on average and on data sets"
    default_label = "mean standard deviation"


class SeparabilityBarsDisplay(_MeasureBars):
    """z statistics; measures with long bars separate accurate from inaccurate detectors.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each measure, one column for each panel.
    label : str
        Label of the horizontal axis.
    marks : pandas.DataFrame or None
        Other numbers in the form of the table, drawn as diamonds.
    mark_label : str
        Meaning of the diamonds.
    shares_axis : bool
        Whether all panels have the same scale. False by default, since z can differ by orders of
        magnitude between data sets.

    Raises
    ------
    InvalidInputError
        If `table` is not a table, or empty.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"ECG": [2.1, 9.0]}, index=["auc_pr", "vus_pr"])
    >>> SeparabilityBarsDisplay(table)
    SeparabilityBarsDisplay(2 measures: ECG)
    """

    kind = "separability_bars"
    heading = "z statistic of each measure, on average and on data sets"
    shares_axis_by_default = False
    default_label = "z statistic"
