"""Execution time and memory: one curve per algorithm, one panel per property of the series."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from vuskit._util.optional import pd, require
from vuskit.errors import InvalidInputError
from vuskit.figures.base import PAGE, TEXT, Canvas, Data, Display, grid_cells, open_canvas, to_array
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette; markers and dashes distinguish the curves in gray print.
_STYLES = (
    {"color": "#000000", "marker": "x", "linestyle": ":"},
    {"color": "#E69F00", "marker": "+", "linestyle": ":"},
    {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    {"color": "#CC79A7", "marker": "s", "linestyle": "-"},
    {"color": "#0072B2", "marker": "^", "linestyle": "-"},
    {"color": "#009E73", "marker": "D", "linestyle": "--"},
    {"color": "#56B4E9", "marker": "v", "linestyle": "--"},
)
# Column of the line, columns of the band around it, and axis label of each quantity.
QUANTITIES = {
    "seconds": ("median", ("lower_quartile", "upper_quartile"), "seconds"),
    "mean_seconds": ("mean", ("below_mean", "above_mean"), "seconds"),
    "memory": ("peak_bytes", ("peak_bytes", "peak_bytes"), "peak memory (bytes)"),
}
_LETTERS = 17  # of an axis label per inch
_ACROSS = 3


class TimingPanel(NamedTuple):
    """One property of the series, and the timed cells by this property.

    The cells have one row for each algorithm (``contestant``) and value or series, with the columns
    of ``QUANTITIES``.
    """

    column: str
    title: str
    symbol: str  # TeX
    scale: str  # "log", "symlog" if 0 is among the values, or "linear"
    cells: pd.DataFrame


@dataclass(eq=False, repr=False)
class _TimingDisplay(Display):
    panels: Sequence[TimingPanel]
    contestants: Mapping[str, str]
    quantity: str = "seconds"
    row_height: ClassVar[float] = 1.95

    def __post_init__(self) -> None:
        check_choice("quantity", self.quantity, QUANTITIES)
        if not self.panels:
            raise InvalidInputError("`panels` must hold at least one panel, got none")

    def data(self) -> dict[str, Any]:
        """Return the algorithms with their styles, and the curves of each panel."""
        named = {
            name: {"name": name, "title": title, **_STYLES[place % len(_STYLES)]}
            for place, (name, title) in enumerate(self.contestants.items())
        }
        present = {name for panel in self.panels for name in panel.cells["contestant"]}
        return {
            "contestants": [one for name, one in named.items() if name in present],
            "panels": [
                {
                    "title": panel.title,
                    "symbol": panel.symbol,
                    "scale": panel.scale,
                    "curves": [
                        {"name": name, **self._curve(cells, panel.column)}
                        for name in named
                        if len(cells := panel.cells[panel.cells["contestant"] == name])
                    ],
                }
                for panel in self.panels
            ],
            "label": QUANTITIES[self.quantity][2],
        }

    def _curve(self, cells: pd.DataFrame, column: str) -> dict[str, Any]:
        raise NotImplementedError

    def _draw(self, ax: Any, data: Data) -> Canvas:
        count = len(data["panels"])
        across = min(_ACROSS, count)
        size = (PAGE, self.row_height * -(-count // across))
        canvas = open_canvas(ax, grid_cells(count, across), size=size, share="y")
        styles = {one["name"]: one for one in data["contestants"]}
        for letter, axis, panel in zip("abcdefghijkl", canvas.panels, data["panels"], strict=False):
            for curve in panel["curves"]:
                _draw_curve(axis, curve, styles[curve["name"]])
            _name_axis(axis, letter, panel)
        _finish(canvas, across, data)
        return canvas


class TimingSweepDisplay(_TimingDisplay):
    """One curve with a band for each algorithm.

    Attributes
    ----------
    panels : sequence of TimingPanel
        One for each parameter; cells differ only in that parameter.
    contestants : mapping from str to str
        Titles of all algorithms by name. The order determines the style.
    quantity : str
        ``"seconds"`` (median and quartiles), ``"mean_seconds"`` (mean and standard deviation) or
        ``"memory"``.

    Raises
    ------
    InvalidInputError
        If the quantity is unknown, or there is no panel.
    """

    kind = "timing_sweeps"
    heading = "time or memory while one parameter of a generated series varies, in six panels"

    def _curve(self, cells: pd.DataFrame, column: str) -> dict[str, Any]:
        middle, envelope, _ = QUANTITIES[self.quantity]
        named = dict(zip(("middle", "lower", "upper"), (middle, *envelope), strict=True))
        numbers = {name: cells[one].to_numpy(dtype=float) for name, one in named.items()}
        return {"x": cells[column].to_numpy(dtype=float), **numbers}

    def _about(self) -> str:
        return f"{self.quantity}, {len(self.panels)} parameters"


class TimingSeriesDisplay(_TimingDisplay):
    """One dot for each series; lines join the medians of groups of similar series.

    Attributes
    ----------
    panels : sequence of TimingPanel
        One for each property, with one cell for each series and algorithm.
    contestants : mapping from str to str
        Titles of all algorithms by name. The order determines the style.
    quantity : str
        ``"seconds"`` (median and quartiles), ``"mean_seconds"`` (mean and standard deviation) or
        ``"memory"``.

    Raises
    ------
    InvalidInputError
        If the quantity is unknown, or there is no panel.
    """

    kind = "timing_series"
    heading = "time or memory against number and length of anomalies and length of real series"
    row_height = 2.2

    def _curve(self, cells: pd.DataFrame, column: str) -> dict[str, Any]:
        x = cells[column].to_numpy(dtype=float)
        y = cells[QUANTITIES[self.quantity][0]].to_numpy(dtype=float)
        named = zip(("x", "middle", "lower", "upper"), alike_groups(x, y), strict=True)
        return {**dict(named), "dots": {"x": x, "y": y}}

    def _about(self) -> str:
        return f"{self.quantity}, {self.panels[0].cells['series'].nunique()} series"


def _draw_curve(axis: Axes, curve: Mapping[str, Any], style: Mapping[str, Any]) -> None:
    x, middle, lower, upper = (to_array(curve[key]) for key in ("x", "middle", "lower", "upper"))
    if "dots" in curve:
        at, seconds = (to_array(curve["dots"][key]) for key in "xy")
        axis.scatter(at, seconds, s=3, alpha=0.25, color=style["color"], linewidth=0)
    look = {name: style[name] for name in ("color", "marker", "linestyle")}
    axis.plot(x, middle, label=style["title"], markersize=3, linewidth=1.0, **look)
    # Bands of series are wide and overlap.
    alpha = 0.12 if "dots" in curve else 0.2
    axis.fill_between(x, lower, upper, color=style["color"], alpha=alpha, linewidth=0)


def alike_groups(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Return median x, and median and quartiles of y, in at most eight groups of equal size.

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


def _name_axis(axis: Axes, letter: str, panel: Mapping[str, Any]) -> None:
    scale = panel["scale"]
    axis.set_xscale(scale, **({"linthresh": 5} if scale == "symlog" else {}))
    axis.set_yscale("log")
    inches = axis.get_position().width * axis.figure.bbox.width / axis.figure.dpi
    words = textwrap.fill(f"({letter}) {panel['title']}", max(int(_LETTERS * inches), 12))
    axis.set_xlabel(f"{words} {panel['symbol']}", fontsize=TEXT)
    if scale == "symlog":
        _ticks_from_zero(axis)
    if scale == "log":
        _plain_ticks(axis)
    axis.grid(visible=True, linewidth=0.4, alpha=0.4)


def _ticks_from_zero(axis: Axes) -> None:
    """Put ticks at 0 and at the decades from 10 on; labels of 0 and 1 would overlap."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    highest = max(float(axis.dataLim.intervalx[1]), 10.0)
    decades = 10.0 ** np.arange(1, np.floor(np.log10(highest)) + 1)
    axis.xaxis.set_major_locator(ticker.FixedLocator([0.0, *decades]))


def _plain_ticks(axis: Axes) -> None:
    """Put ticks at decades, or at 1, 2 and 5 times a decade if there are too few decades."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())
    low, high = axis.dataLim.intervalx
    if not 0 < low < high:  # an empty panel has no limits
        return
    if np.floor(np.log10(high)) - np.ceil(np.log10(low)) < 1:
        decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        places = [step * one for one in decades for step in (1, 2, 5)]
        shown = [one for one in places if low <= one <= high]
        shown = shown if len(shown) > 1 else [low, high]
        axis.xaxis.set_major_locator(ticker.FixedLocator(shown))
        axis.xaxis.set_major_formatter(
            ticker.FuncFormatter(lambda value, _: f"{float(f'{value:.3g}'):,g}")
        )


def _finish(canvas: Canvas, across: int, data: Mapping[str, Any]) -> None:
    for axis in canvas.panels[::across]:
        axis.set_ylabel(data["label"], fontsize=TEXT)
    curves = {
        name: curve
        for axis in canvas.panels
        for curve, name in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    order = [one["title"] for one in data["contestants"]]
    canvas.legend([curves[name] for name in order if name in curves])
