"""What is drawn in more than one figure: bars and boxes by measure, lines, shaded events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_labels
from vuskit.measures.registry import Measure, list_measures
from vuskit.report.figures._canvas import HATCH_LINE, SMALL, Canvas
from vuskit.report.figures._families import FAMILY_TITLES, family_color, family_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ACCURATE",
    "ANOMALY",
    "CURVES",
    "INACCURATE",
    "MARKERS",
    "boxes",
    "draw_line",
    "family_hatch",
    "family_legend",
    "few_ticks",
    "group_fills",
    "group_styles",
    "line_styles",
    "measure_bars",
    "measure_rows",
    "measures_named",
    "shade",
    "thin_hatch",
    "thinned",
]

Floats = NDArray[np.float64]

ANOMALY = "#CC79A7"
# Okabe and Ito's palette: told apart by people with any kind of color vision.
CURVES = ("#0072B2", "#E69F00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#D55E00")
# Far apart in gray as well.
ACCURATE, INACCURATE = "#0072B2", "#F0C05A"
_HATCHES = {
    "range": "//////",
    "auc": "......",
    "range_auc": "\\\\\\\\\\\\",
    "vus": "xxxxxx",
    "event": "------",
    "proximity": "||||||",
    "custom": "++++++",
}
# Neither as many as the colors nor as the markers: the pairs of both repeat late.
_FILLS = ("", "/////", ".....", "\\\\\\\\\\", "xxxxx", "-----", "|||||", "+++++")
_DASHES = ("-", "--", ":", "-.")
MARKERS = "os^Dvx+*<>"
_MOST_POINTS = 4000  # of one line; more cannot be told apart in print


def thinned(line: NDArray[np.float64], room: int) -> tuple[NDArray[np.float64], int]:
    """Keep the lowest and highest point of every bucket, if there is no room for all.

    Returns
    -------
    tuple
        The numbers, and the points in a bucket: 1 if nothing was thinned, else the numbers are
        pairs.

    Examples
    --------
    >>> thinned(np.array([3.0, 1.0, 2.0, 5.0]), 2)
    (array([1., 5.]), 4)
    """
    if line.size <= room:
        return line, 1
    size = -(-2 * line.size // room)
    padded = np.concatenate([line, np.full(-line.size % size, line[-1])]).reshape(-1, size)
    # A bucket without any number stays a gap.
    low, high = np.fmin.reduce(padded, axis=1), np.fmax.reduce(padded, axis=1)
    return np.stack([low, high], axis=1).ravel(), size


def measures_named(names: Iterable[str]) -> tuple[Measure, ...]:
    """Registered measures, or entries of their own for names that are not registered."""
    known = {entry.name: entry for entry in list_measures()}
    known |= {entry.title: entry for entry in known.values()}
    return tuple(known.get(name, Measure(name, name, _unknown)) for name in names)


def _unknown(y_true: ArrayLike, y_score: ArrayLike) -> float:
    raise InvalidInputError("`measure` must be registered to be computed, got a name only")


def measure_rows(axis: Axes, measures: Sequence[Measure]) -> None:
    """One row for each measure, from the top, with its title."""
    axis.set_yticks(range(len(measures)), [measure.title for measure in measures], fontsize=SMALL)
    axis.set_ylim(len(measures) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=True, axis="x", linewidth=0.4, alpha=0.4)
    few_ticks(axis)


def few_ticks(axis: Axes, most: int = 3) -> None:
    """At most so many numbers along the horizontal axis, without zeros at their ends."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    axis.xaxis.set_major_locator(ticker.MaxNLocator(nbins=most, steps=[1, 2, 5, 10]))
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(_short))


def _short(value: float, _: Any) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def measure_bars(
    axis: Axes, values: ArrayLike, measures: Sequence[Measure], *, hatch: bool = True
) -> None:
    """One bar for each measure, in the color and hatch of its family."""
    bars = axis.barh(
        range(len(measures)),
        np.asarray(values, dtype=np.float64),
        height=0.75,
        color=[family_color(measure) for measure in measures],
        edgecolor="black",
        linewidth=0.4,
    )
    for bar, measure in zip(bars, measures, strict=True):
        if hatch:
            thin_hatch(bar, family_hatch(measure))
    measure_rows(axis, measures)


def family_hatch(measure: Measure) -> str:
    """Hatch of the measure's family, as its color is that of :func:`family_color`."""
    return _HATCHES.get(family_of(measure), "")


def thin_hatch(patch: Any, hatch: str) -> None:
    """Hatch with lines so thin that the color is still seen."""
    patch.set_hatch(hatch)
    if hasattr(patch, "set_hatch_linewidth"):  # not all that matplotlib 3.10 hatches
        patch.set_hatch_linewidth(HATCH_LINE)


def boxes(
    axis: Axes,
    columns: Sequence[Floats],
    *,
    colors: Sequence[str],
    hatches: Sequence[str] | None = None,
    offset: float = 0.0,
    width: float = 0.65,
) -> dict[str, list[Any]]:
    """Horizontal box plots, one in each row; undefined values are left out.

    Returns what is drawn, as matplotlib calls it.
    """
    drawn: dict[str, list[Any]] = axis.boxplot(
        [column[np.isfinite(column)] for column in columns],
        positions=np.arange(len(columns)) + offset,
        widths=width,
        orientation="horizontal",
        patch_artist=True,
        manage_ticks=False,
        boxprops={"linewidth": 0.5},
        whiskerprops={"linewidth": 0.5},
        capprops={"linewidth": 0.5},
        medianprops={"linewidth": 0.9, "color": "black"},
        flierprops={"marker": ".", "markersize": 2, "markeredgewidth": 0.3},
    )
    plain = [""] * len(columns)
    for patch, color, hatch in zip(drawn["boxes"], colors, hatches or plain, strict=True):
        patch.set_facecolor(color)
        thin_hatch(patch, hatch)
    return drawn


def family_legend(canvas: Canvas, measures: Iterable[Measure], *, legend: bool | None) -> None:
    """Legend of the families; the names are there anyway, so only where there is a margin."""
    if legend is False or (legend is None and not canvas.own):
        return
    patches = require("matplotlib.patches", purpose="a figure")
    handles = []
    for name, measure in {family_of(measure): measure for measure in measures}.items():
        patch = patches.Patch(
            facecolor=family_color(measure),
            edgecolor="black",
            linewidth=0.4,
            label=FAMILY_TITLES[name],
        )
        thin_hatch(patch, family_hatch(measure))
        handles.append(patch)
    canvas.legend(handles)


def line_styles(measures: Iterable[Measure]) -> list[dict[str, Any]]:
    """Color of the family; dashes and markers tell its members apart."""
    seen: dict[str, int] = {}
    styles = []
    for measure in measures:
        turn = seen[family_of(measure)] = seen.get(family_of(measure), -1) + 1
        styles.append(
            {
                "color": family_color(measure),
                "linestyle": _DASHES[turn % len(_DASHES)],
                "marker": MARKERS[(turn + 3 * len(seen)) % len(MARKERS)],
                "markersize": 2.5,
                "linewidth": 1.0,
                "label": measure.title,
            }
        )
    return styles


def group_styles(names: Iterable[Any]) -> list[dict[str, Any]]:
    """Color, dashes and marker for each of several detectors or other names."""
    return [
        {
            "color": CURVES[place % len(CURVES)],
            "linestyle": _DASHES[place % len(_DASHES)],
            "marker": MARKERS[place % len(MARKERS)],
            "markersize": 3,
            "linewidth": 1.0,
            "label": str(name),
        }
        for place, name in enumerate(names)
    ]


def group_fills(count: int) -> list[dict[str, Any]]:
    """Color and hatch of the bars of each of several detectors or other names."""
    fills = []
    for place in range(count):
        color = CURVES[place % len(CURVES)]
        fills.append(
            {
                "facecolor": color,
                "hatch": _FILLS[place % len(_FILLS)],
                # Hatches have the color of the edge, and have to be seen on black as well.
                "edgecolor": "white" if color == "#000000" else "black",
                "linewidth": 0.4,
            }
        )
    return fills


def shade(axis: Axes, y_true: ArrayLike, **style: Any) -> None:
    """Shade the anomalies."""
    labels = check_labels(y_true)
    options = {"color": ANOMALY, "alpha": 0.35, "linewidth": 0, **style}
    for start, stop in zip(labels.starts.tolist(), labels.stops.tolist(), strict=True):
        axis.axvspan(start - 0.5, stop - 0.5, **options)


def draw_line(axis: Axes, values: ArrayLike, **style: Any) -> None:
    """Draw values against their index; long ones by the extremes of equal stretches."""
    line = np.asarray(values, dtype=np.float64)
    numbers, size = thinned(line, _MOST_POINTS)
    at = np.arange(line.size) if size == 1 else (np.arange(numbers.size) // 2 + 0.5) * size
    axis.plot(at, numbers, **{"linewidth": 0.7, "color": "0.2", **style})
    axis.set_xlim(-0.5, line.size - 0.5)
