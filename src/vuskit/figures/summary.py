"""Summary of all studies: scatter of robustness and separability, and table of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd, require
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import (
    describe_measures,
    family_hatch,
    family_legend,
    measures_named,
    thin_hatch,
)
from vuskit.figures._label_placement import spread_labels
from vuskit.figures.base import (
    COLUMN,
    SMALL,
    TEXT,
    Canvas,
    Data,
    Display,
    fit_text,
    open_canvas,
    to_array,
)
from vuskit.measures.registry import Measure

Floats = NDArray[np.float64]

_AREA = 300.0  # largest circle, in square points
_SMALLEST = 6.0
_FAR = 4.0  # ratio of the highest to the second highest z
_COLUMNS = ["deviation", "z", "ratio"]
_KEY = (0.2, 0.5, 1.0)  # circles in the legend, relative to the largest


@dataclass(eq=False, repr=False)
class ScatterDisplay(Display):
    """One circle for each measure; good measures have small circles at the upper left.

    Attributes
    ----------
    points : pandas.DataFrame
        ``deviation``, ``z`` and ``ratio``; one row for each measure.
    z : str
        Name of ``z``.
    other_z : pandas.Series or None
        Another average of z by measure, drawn as a dash with a thin line to the circle.
    other : str
        Name of ``other_z``.

    Raises
    ------
    InvalidInputError
        If a column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers = {"deviation": [0.1, 0.02], "z": [3.0, 9.0], "ratio": [0.1, 0.05]}
    >>> ScatterDisplay(pd.DataFrame(numbers, index=["auc_pr", "vus_pr"]))
    ScatterDisplay(2 measures)
    """

    kind = "scatter"
    heading = "robustness and separability; the circle area shows the effect of the ratio"
    points: pd.DataFrame
    z: str = "z statistic"
    other_z: pd.Series | None = None
    other: str = "median z"

    def __post_init__(self) -> None:
        missing = [name for name in _COLUMNS if name not in getattr(self.points, "columns", ())]
        if missing:
            raise InvalidInputError(
                f"`points` must be a table with the columns {_COLUMNS}, "
                f"got one without {missing[0]!r}"
            )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.points.index, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return the measures, and the coordinates and size of each circle."""
        deviation, z, ratio = self.points[_COLUMNS].to_numpy(dtype=np.float64).T
        return {
            **describe_measures(self.measures),
            "deviation": deviation,
            "z": z,
            "ratio": ratio,
            "x_label": "mean deviation under lag and noise (left: robust)",
            "y_label": f"{self.z} (up: separable)",
            "size_label": "area: deviation under ratio",
            **self._other(),
        }

    def _other(self) -> dict[str, Any]:
        if self.other_z is None:
            return {}
        values = self.other_z.loc[self.points.index].to_numpy(dtype=np.float64)
        return {"other_z": values, "other_label": self.other}

    def _draw(self, ax: Any, data: Data, *, legend: bool | None = None) -> Canvas:
        measures = data["measures"]
        canvas = open_canvas(ax, size=(COLUMN, 3.1))
        axis = canvas.ax
        x, y, ratio = (to_array(data[name]) for name in _COLUMNS)
        largest = float(np.nanmax(ratio)) if np.isfinite(ratio).any() else 0.0
        areas = _areas(ratio, largest)
        # Small circles come last, so that none is hidden.
        for place in np.argsort(-areas, kind="stable"):
            measure = measures[place]
            circle = axis.scatter(
                x[place], y[place], s=areas[place], color=measure["color"], alpha=0.75,
                edgecolors="black", linewidths=0.5, label=measure["title"],
            )  # fmt: skip
            thin_hatch(circle, family_hatch(measure))
        if "other_z" in data:
            _draw_other(axis, x, y, to_array(data["other_z"]))
        room = 0.8 * canvas.figure.bbox.width / canvas.figure.dpi
        label = fit_text(data["x_label"], room, sizes=(TEXT, SMALL))
        axis.set_xlabel(label.text, fontsize=label.size)
        dash = f"; dash: {data['other_label']}" if "other_z" in data else ""
        axis.set_ylabel(f"{data['y_label']}{dash}", fontsize=TEXT)
        axis.margins(0.16, 0.12)
        _compress(axis, y)
        axis.grid(visible=True, linewidth=0.4, alpha=0.4)
        family_legend(canvas, data, legend=legend)
        if largest > 0 and (legend or (legend is None and canvas.own)):
            _explain_circles(canvas, largest, data["size_label"])
        canvas.lay_out()
        titles = [measure["title"] for measure in measures]
        spread_labels(axis, titles, x, y, radii=np.sqrt(areas / np.pi), fontsize=SMALL)
        return canvas

    def _about(self) -> str:
        return f"{len(self.points)} measures"


def _compress(axis: Any, y: Floats) -> None:
    """Use a logarithmic axis, linear around 0, if one circle is far above all others."""
    ordered = np.sort(y[np.isfinite(y)])
    if ordered.size > 1 and ordered[-1] > _FAR * max(ordered[-2], 0.0) and ordered[-1] > 0:
        straight = max(float(np.median(np.abs(ordered))), 1e-3)
        axis.set_yscale("symlog", linthresh=straight)
        low, high = axis.get_ylim()
        steps = np.outer(10.0 ** np.arange(-3, 10), (1, 2, 5) if high < 99 * straight else (1,))
        shown = [step for step in steps.ravel() if max(low, straight / 2) <= step <= high]
        axis.set_yticks(shown, [f"{step:,g}" for step in shown])
        axis.minorticks_off()


def _draw_other(axis: Any, x: Floats, y: Floats, other: Floats) -> None:
    """Draw dashes joined to their circles; infinite values are skipped."""
    for place in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & np.isfinite(other)):
        ends = (y[place], other[place])
        axis.plot((x[place],) * 2, ends, color="0.4", linewidth=0.5, zorder=0.9)
        axis.plot(
            x[place], other[place], marker="_", markersize=6, markeredgewidth=1.2, color="black"
        )


def _areas(ratio: Floats, largest: float) -> Floats:
    """Return the circle areas in square points; the smallest circles stay visible."""
    return np.maximum(np.nan_to_num(ratio) / (largest or 1.0) * _AREA, _SMALLEST)


def _explain_circles(canvas: Canvas, largest: float, title: str) -> None:
    """Add a legend of circle sizes."""
    lines = require("matplotlib.lines", purpose="a figure")
    values = np.unique([float(f"{part * largest:.1g}") for part in _KEY])
    diameters = 2 * np.sqrt(_areas(values, largest) / np.pi)
    handles = [
        lines.Line2D(
            [], [], linestyle="none", marker="o", markersize=diameter, markerfacecolor="none",
            markeredgecolor="black", markeredgewidth=0.5, label=f"{value:g}",
        )
        for value, diameter in zip(values, diameters, strict=True)
    ]  # fmt: skip
    # In a new figure the legend is above the panel, since the families are below it.
    above: dict[str, Any] = {"loc": "outside upper center"} if canvas.own else {}
    canvas.legend(
        handles, where="upper right", title=title,
        title_fontsize=SMALL, handleheight=max(diameters) / SMALL + 0.6, handlelength=2.5,
        labelspacing=1.1, **above,
    )  # fmt: skip


@dataclass(eq=False, repr=False)
class SummaryDisplay(Display):
    """Shaded table of ranks, with the best measure on top.

    Attributes
    ----------
    ranks : pandas.DataFrame
        One row for each measure, one column for each study.

    Raises
    ------
    InvalidInputError
        If `ranks` is not a table, or empty.

    Examples
    --------
    >>> import pandas as pd
    >>> ranks = pd.DataFrame({"lag": [2, 1], "mean": [2, 1]}, index=["auc_pr", "vus_pr"])
    >>> SummaryDisplay(ranks)
    SummaryDisplay(2 measures, studies: lag, mean)
    """

    kind = "summary"
    heading = "rank of every measure in every study, and the mean rank"
    ranks: pd.DataFrame

    def __post_init__(self) -> None:
        if not hasattr(self.ranks, "columns") or self.ranks.empty:
            raise InvalidInputError(
                f"`ranks` must be a non-empty table, got {type(self.ranks).__name__}"
            )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.ranks.index, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return measures, studies, and one row of ranks for each measure."""
        return {
            **describe_measures(self.measures),
            "columns": list(map(str, self.ranks.columns)),
            "values": self.ranks.to_numpy(dtype=np.float64),
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        canvas = open_canvas(ax, size=(COLUMN, 0.17 * len(data["values"]) + 0.75))
        axis = canvas.ax
        numbers = to_array(data["values"])
        axis.imshow(numbers, cmap="Blues_r", aspect="auto", vmin=1, vmax=1.25 * np.nanmax(numbers))
        for (row, column), rank in np.ndenumerate(numbers):
            shade = "white" if rank < 0.45 * np.nanmax(numbers) else "black"
            axis.text(column, row, f"{rank:.3g}", ha="center", va="center", fontsize=SMALL,
                      color=shade)  # fmt: skip
        axis.set_xticks(range(numbers.shape[1]), data["columns"], fontsize=SMALL,
                        rotation=30, ha="left", rotation_mode="anchor")  # fmt: skip
        titles = [measure["title"] for measure in data["measures"]]
        axis.set_yticks(range(len(titles)), titles, fontsize=SMALL)
        axis.xaxis.tick_top()
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
        return canvas

    def _about(self) -> str:
        studies = ", ".join(map(str, self.ranks.columns))
        return f"{len(self.ranks)} measures, studies: {studies}"
