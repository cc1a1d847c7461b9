"""Execution time and memory: six panels for generated series, three for real ones."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.inputs import check_choice
from vuskit.report.figures._canvas import PAGE, TEXT, Canvas, grid_cells, open_canvas
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.timing import (
    CONTESTANTS,
    PARAMETERS,
    Parameter,
    Setting,
    TimingResult,
    rows_of_sweep,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "CONTESTANT_STYLES",
    "QUANTITIES",
    "TimingSeriesDisplay",
    "TimingSweepDisplay",
    "alike_groups",
]

# Okabe and Ito's palette; markers and dashes tell the curves apart in gray.
CONTESTANT_STYLES: dict[str, dict[str, Any]] = {
    "auc": {"color": "#000000", "marker": "x", "linestyle": ":"},
    "r_auc": {"color": "#E69F00", "marker": "+", "linestyle": ":"},
    "naive": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "opt": {"color": "#CC79A7", "marker": "s", "linestyle": "-"},
    "opt_mem": {"color": "#0072B2", "marker": "^", "linestyle": "-"},
    "fast_grid": {"color": "#009E73", "marker": "D", "linestyle": "--"},
    "fast_exact": {"color": "#56B4E9", "marker": "v", "linestyle": "--"},
}
QUANTITIES = {
    "seconds": ("median", ("lower_quartile", "upper_quartile"), "seconds"),
    "memory": ("peak_bytes", ("peak_bytes", "peak_bytes"), "peak memory (bytes)"),
}
_LETTERS = 17  # of a label to an inch
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")


@register_figure(
    name="timing_sweeps",
    title="time or memory while one parameter of a generated series varies, in six panels",
    source="the execution-time study of generated series",
)
@dataclass(eq=False, repr=False)
class TimingSweepDisplay(Display):
    """Medians with quartiles as envelopes, one curve for each algorithm.

    Attributes
    ----------
    panels : dict of DataFrame
        Cells of the table in which only that parameter varies, by its name.
    quantity : str
        ``"seconds"`` or ``"memory"``.
    """

    panels: dict[str, pd.DataFrame]
    quantity: str

    @classmethod
    def from_result(
        cls, result: TimingResult, *, quantity: str = "seconds", base: Setting | None = None
    ) -> TimingSweepDisplay:
        """Make it from the execution-time study.

        Parameters
        ----------
        result : TimingResult
            Of :func:`vuskit.studies.timing.timing_study`, on generated series.
        quantity : {"seconds", "memory"}
            Medians with quartiles as envelopes, or the peak memory.
        base : Setting, optional
            The defaults of the study; the paper's unless given.

        Raises
        ------
        InvalidInputError
            If the quantity is unknown.
        """
        check_choice("quantity", quantity, QUANTITIES)
        summary = result.summary()
        return cls({name: rows_of_sweep(summary, name, base=base) for name in PARAMETERS}, quantity)

    def plot(self, ax: Any = None) -> TimingSweepDisplay:
        """Draw six panels.

        Parameters
        ----------
        ax : Axes or six of them, optional
            Where to draw; one axis is divided. A figure of its own by default.
        """
        column, envelope, label = QUANTITIES[self.quantity]
        canvas = open_canvas(ax, grid_cells(6, 3), size=(PAGE, 3.9), share="y")
        for letter, axis, (name, cells) in zip(
            "abcdef", canvas.panels, self.panels.items(), strict=True
        ):
            for contestant in _present(cells):
                curve = cells[cells["contestant"] == contestant]
                sides = [curve[side] for side in envelope]
                _draw_curve(axis, contestant, curve[name], curve[column], *sides)
            _name_axis(axis, letter, PARAMETERS[name], PARAMETERS[name].scale)
        _finish(canvas, 3, label)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.quantity}, {len(self.panels)} parameters"


@register_figure(
    name="timing_series",
    title="time or memory against number and length of anomalies and length of real series",
    source="the execution-time study of real series",
)
@dataclass(eq=False, repr=False)
class TimingSeriesDisplay(Display):
    """Every series is a dot; lines join the medians of series that are alike.

    Attributes
    ----------
    cells : pandas.DataFrame
        One row for each series and algorithm.
    quantity : str
        ``"seconds"`` or ``"memory"``.
    """

    cells: pd.DataFrame
    quantity: str

    @classmethod
    def from_result(cls, result: TimingResult, *, quantity: str = "seconds") -> TimingSeriesDisplay:
        """Make it from the execution-time study of real series.

        Raises
        ------
        InvalidInputError
            If the quantity is unknown.
        """
        check_choice("quantity", quantity, QUANTITIES)
        return cls(result.summary(), quantity)

    def plot(self, ax: Any = None) -> TimingSeriesDisplay:
        """Draw three panels.

        Parameters
        ----------
        ax : Axes or three of them, optional
            Where to draw; one axis is divided. A figure of its own by default.
        """
        column, _, label = QUANTITIES[self.quantity]
        canvas = open_canvas(ax, grid_cells(3, 3), size=(PAGE, 2.2), share="y")
        for letter, axis, name in zip("abc", canvas.panels, _PROPERTIES, strict=True):
            for contestant in _present(self.cells):
                cells = self.cells[self.cells["contestant"] == contestant]
                color = CONTESTANT_STYLES[contestant]["color"]
                axis.scatter(cells[name], cells[column], s=3, alpha=0.25, color=color, linewidth=0)
                alike = alike_groups(cells[name].to_numpy(), cells[column].to_numpy())
                _draw_curve(axis, contestant, *alike)
            _name_axis(axis, letter, PARAMETERS[name], "log")
        _finish(canvas, 3, label)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.quantity}, {self.cells['series'].nunique()} series"


def _present(cells: pd.DataFrame) -> list[str]:
    return [name for name in CONTESTANTS if name in set(cells["contestant"])]


def _draw_curve(axis: Axes, contestant: str, x: Any, middle: Any, lower: Any, upper: Any) -> None:
    style = CONTESTANT_STYLES[contestant]
    name = CONTESTANTS[contestant].title
    axis.plot(x, middle, label=name, markersize=3, linewidth=1.0, **style)
    axis.fill_between(x, lower, upper, color=style["color"], alpha=0.2, linewidth=0)


def alike_groups(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Median x, and median and quartiles of y, in at most eight groups of equally many x.

    Examples
    --------
    >>> x, middle, lower, upper = alike_groups(np.array([1, 1, 2, 2]), np.array([3.0, 5, 7, 9]))
    >>> x.tolist(), middle.tolist(), upper.tolist()
    ([1.0, 2.0], [4.0, 8.0], [4.5, 8.5])
    """
    edges = np.unique(np.quantile(x, np.linspace(0, 1, 9)))
    group = np.searchsorted(edges[1:-1], x, side="right")
    columns = [
        (np.median(x[group == k]), *np.quantile(y[group == k], (0.5, 0.25, 0.75)))
        for k in np.unique(group)
    ]
    middle_x, middle, lower, upper = np.array(columns).T
    return middle_x, middle, lower, upper


def _name_axis(axis: Axes, letter: str, parameter: Parameter, scale: str) -> None:
    axis.set_xscale(scale, **({"linthresh": 5} if scale == "symlog" else {}))
    axis.set_yscale("log")
    inches = axis.get_position().width * axis.figure.bbox.width / axis.figure.dpi
    words = textwrap.fill(f"({letter}) {parameter.title}", max(int(_LETTERS * inches), 12))
    axis.set_xlabel(f"{words} {parameter.symbol}", fontsize=TEXT)
    if scale == "symlog":
        _ticks_from_zero(axis)
    if scale == "log":
        _plain_ticks(axis)
    axis.grid(visible=True, linewidth=0.4, alpha=0.4)


def _ticks_from_zero(axis: Axes) -> None:
    """Numbers at 0 and at the decades from 10 on: 0 and 1 would stand in each other's way."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    highest = max(float(axis.dataLim.intervalx[1]), 10.0)
    decades = 10.0 ** np.arange(1, np.floor(np.log10(highest)) + 1)
    axis.xaxis.set_major_locator(ticker.FixedLocator([0.0, *decades]))


def _plain_ticks(axis: Axes) -> None:
    """Numbers at decades; at both ends of the data where there are too few decades."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())
    low, high = axis.dataLim.intervalx
    if not 0 < low < high:  # an empty panel has no limits
        return
    if np.floor(np.log10(high)) - np.ceil(np.log10(low)) < 1:
        axis.xaxis.set_major_locator(ticker.FixedLocator([low, high]))
        axis.xaxis.set_major_formatter(
            ticker.FuncFormatter(lambda value, _: f"{float(f'{value:.3g}'):g}")
        )


def _finish(canvas: Canvas, across: int, label: str) -> None:
    for axis in canvas.panels[::across]:
        axis.set_ylabel(label, fontsize=TEXT)
    curves = {
        name: curve
        for axis in canvas.panels
        for curve, name in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    order = [contestant.title for contestant in CONTESTANTS.values()]
    canvas.legend([curves[name] for name in order if name in curves])
