"""Drawing shared by figures: colors and rows of measures, bars, boxes, lines, shaded events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.figures.base import HATCH_LINE, SMALL, Canvas
from vuskit.inputs import check_labels
from vuskit.measures.registry import Measure, list_measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Item = Mapping[str, Any]

ANOMALY = "#CC79A7"
# Okabe and Ito's palette, distinguishable with any kind of color vision.
CURVES = ("#0072B2", "#E69F00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#D55E00")
# Distinct in gray print as well.
BEFORE, AFTER = "#0072B2", "#F0C05A"
ACCURATE, INACCURATE = "#007A52", "#F28E7A"
INACCURATE_LINE = "#B8402A"  # the color of the boxes is too light for thin lines in gray print
_HATCHES = {
    "range": "//////",
    "auc": "......",
    "range_auc": "\\\\\\\\\\\\",
    "vus": "xxxxxx",
    "event": "------",
    "proximity": "||||||",
    "custom": "++++++",
}
# Their number differs from those of colors and markers, so that combinations repeat late.
_FILLS = ("", "/////", ".....", "\\\\\\\\\\", "xxxxx", "-----", "|||||", "+++++")
_DASHES = ("-", "--", ":", "-.")
MARKERS = "os^Dvx+*<>"
_MOST_POINTS = 4000  # of one line; more would be indistinguishable in print


def thinned(line: NDArray[np.float64], room: int) -> tuple[NDArray[np.float64], int]:
    """Keep the lowest and highest point of each bucket if there are more points than `room`."""
    if line.size <= room:
        return line, 1
    size = -(-2 * line.size // room)
    padded = np.concatenate([line, np.full(-line.size % size, line[-1])]).reshape(-1, size)
    # A bucket of NaN remains a gap.
    low, high = np.fmin.reduce(padded, axis=1), np.fmax.reduce(padded, axis=1)
    return np.stack([low, high], axis=1).ravel(), size


def measure_rows(axis: Axes, measures: Sequence[Item]) -> None:
    """Make one row for each measure, labeled with its title, from the top."""
    titles = [measure["title"] for measure in measures]
    axis.set_yticks(range(len(titles)), titles, fontsize=SMALL)
    axis.set_ylim(len(titles) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=True, axis="x", linewidth=0.4, alpha=0.4)
    few_ticks(axis)


def few_ticks(axis: Axes, most: int = 3) -> None:
    """Use at most `most` ticks on the horizontal axis, without trailing zeros."""
    ticker = require("matplotlib.ticker", purpose="a figure")
    axis.xaxis.set_major_locator(ticker.MaxNLocator(nbins=most, steps=[1, 2, 5, 10]))
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(_short))


def _short(value: float, _: Any) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def measure_bars(axis: Axes, values: ArrayLike, measures: Sequence[Item]) -> Any:
    """Draw and return one bar for each measure, in the color and hatch of its family."""
    bars = axis.barh(
        range(len(measures)),
        np.asarray(values, dtype=np.float64),
        height=0.75,
        color=[measure["color"] for measure in measures],
        edgecolor="black",
        linewidth=0.4,
    )
    for bar, measure in zip(bars, measures, strict=True):
        thin_hatch(bar, family_hatch(measure))
    measure_rows(axis, measures)
    return bars


def family_hatch(measure: Item) -> str:
    """Return the hatch of the measure's family."""
    return _HATCHES.get(measure["family"], "")


def thin_hatch(patch: Any, hatch: str) -> None:
    """Hatch with thin lines, so that the color remains visible."""
    patch.set_hatch(hatch)
    if hasattr(patch, "set_hatch_linewidth"):  # matplotlib 3.10 lacks it for some artists
        patch.set_hatch_linewidth(HATCH_LINE)


def box_numbers(values: Floats) -> Floats:
    """Return the five numbers of a box plot along the last axis; NaN are ignored."""
    ordered = np.sort(values, axis=-1)  # NaN comes last
    last = np.maximum(np.isfinite(ordered).sum(axis=-1, keepdims=True) - 1, 0)

    def quantile(share: float) -> Floats:
        place = share * last
        lower = np.floor(place).astype(np.intp)
        upper = np.minimum(lower + 1, last)
        below = np.take_along_axis(ordered, lower, -1)
        found: Floats = below + (place - lower) * (np.take_along_axis(ordered, upper, -1) - below)
        return found

    first, median, third = quantile(0.25), quantile(0.5), quantile(0.75)
    reach = 1.5 * (third - first)
    inside = (ordered >= first - reach) & (ordered <= third + reach)
    low = np.where(inside, ordered, np.inf).min(axis=-1, keepdims=True)
    high = np.where(inside, ordered, -np.inf).max(axis=-1, keepdims=True)
    nothing = np.isnan(median)
    whiskers = [np.where(nothing, np.nan, end) for end in (low, high)]
    return np.concatenate([whiskers[0], first, median, third, whiskers[1]], axis=-1)


def box_data(columns: Floats) -> dict[str, Any]:
    """Return boxes and outliers of the rows of an array."""
    found = box_numbers(columns)
    outside = np.isfinite(columns) & ((columns < found[:, :1]) | (columns > found[:, 4:]))
    return {
        "boxes": found.tolist(),
        "outliers": [row[mask].tolist() for row, mask in zip(columns, outside, strict=True)],
    }


def draw_boxes(
    axis: Axes,
    data: Item,
    *,
    colors: Sequence[str],
    hatches: Sequence[str] | None = None,
    offset: float = 0.0,
    width: float = 0.65,
) -> dict[str, list[Any]]:
    """Draw horizontal box plots, one per row, from the result of :func:`box_data`.

    Returns the artists by name, as matplotlib's ``bxp``.
    """
    boxes = np.array(data["boxes"], dtype=object).astype(np.float64)
    names = ("whislo", "q1", "med", "q3", "whishi")
    drawn: dict[str, list[Any]] = axis.bxp(
        [
            {**dict(zip(names, box, strict=True)), "fliers": outliers}
            for box, outliers in zip(boxes, data["outliers"], strict=True)
        ],
        positions=np.arange(len(boxes)) + offset,
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
    plain = [""] * len(boxes)
    for patch, color, hatch in zip(drawn["boxes"], colors, hatches or plain, strict=True):
        patch.set_facecolor(color)
        thin_hatch(patch, hatch)
    return drawn


def family_legend(canvas: Canvas, data: Item, *, legend: bool | None) -> None:
    """Add a legend of the families; by default only to a new figure, which has a margin."""
    if legend is False or (legend is None and not canvas.own):
        return
    patches = require("matplotlib.patches", purpose="a figure")
    handles = []
    for name, family in data["families"].items():
        patch = patches.Patch(
            facecolor=family["color"], edgecolor="black", linewidth=0.4, label=family["title"]
        )
        thin_hatch(patch, _HATCHES.get(name, ""))
        handles.append(patch)
    canvas.legend(handles)


def line_styles(measures: Iterable[Item]) -> list[dict[str, Any]]:
    """Return line styles: color by family; dashes and markers distinguish its members."""
    seen: dict[str, int] = {}
    styles = []
    for measure in measures:
        turn = seen[measure["family"]] = seen.get(measure["family"], -1) + 1
        styles.append(
            {
                "color": measure["color"],
                "linestyle": _DASHES[turn % len(_DASHES)],
                "marker": MARKERS[(turn + 3 * len(seen)) % len(MARKERS)],
                "markersize": 2.5,
                "linewidth": 1.0,
                "label": measure["title"],
            }
        )
    return styles


def group_styles(names: Iterable[Any]) -> list[dict[str, Any]]:
    """Return color, dashes and marker for each name, such as detectors."""
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
    """Return color and hatch of the bars of `count` groups, such as detectors."""
    fills = []
    for place in range(count):
        color = CURVES[place % len(CURVES)]
        fills.append(
            {
                "facecolor": color,
                "hatch": _FILLS[place % len(_FILLS)],
                # Hatches have the color of the edge and must be visible on black.
                "edgecolor": "white" if color == "#000000" else "black",
                "linewidth": 0.4,
            }
        )
    return fills


def event_bounds(y_true: ArrayLike) -> list[list[int]]:
    """Return the first point of each event, and one past its last.

    Examples
    --------
    >>> event_bounds([0, 1, 1, 0, 1])
    [[1, 3], [4, 5]]
    """
    labels = check_labels(y_true)
    return [list(pair) for pair in zip(labels.starts.tolist(), labels.stops.tolist(), strict=True)]


def shade(axis: Axes, events: Iterable[Sequence[int]], *, start: int = 0, **style: Any) -> None:
    """Shade events, given by their bounds relative to `start`."""
    options = {"color": ANOMALY, "alpha": 0.35, "linewidth": 0, **style}
    for first, stop in events:
        axis.axvspan(start + first - 0.5, start + stop - 0.5, **options)


def line_data(values: ArrayLike, *, start: int = 0) -> dict[str, Any]:
    """Return the points of a line by index; long lines are reduced to extremes of buckets.

    Examples
    --------
    >>> line_data([3.0, 1.0], start=7)
    {'x': [7.0, 8.0], 'y': [3.0, 1.0], 'start': 7, 'stop': 9}
    """
    line = np.asarray(values, dtype=np.float64)
    numbers, size = thinned(line, _MOST_POINTS)
    at = np.arange(line.size) if size == 1 else (np.arange(numbers.size) // 2 + 0.5) * size
    return {
        "x": (at + float(start)).tolist(),
        "y": numbers.tolist(),
        "start": start,
        "stop": start + line.size,
    }


def draw_line(axis: Axes, line: Item, **style: Any) -> None:
    """Draw the result of :func:`line_data`."""
    numbers = np.array(line["y"], dtype=object).astype(np.float64)
    axis.plot(line["x"], numbers, **{"linewidth": 0.7, "color": "0.2", **style})
    axis.set_xlim(line["start"] - 0.5, line["stop"] - 0.5)


# Okabe and Ito's palette, distinguishable with any kind of color vision.
_COLORS = {
    "threshold": "#999999",
    "range": "#E69F00",
    "auc": "#56B4E9",
    "range_auc": "#009E73",
    "vus": "#D55E00",
    "event": "#0072B2",
    "proximity": "#F0E442",
    "custom": "#CC79A7",
}
FAMILY_TITLES = {
    "threshold": "threshold",
    "range": "range, threshold",
    "auc": "AUC",
    "range_auc": "R-AUC",
    "vus": "VUS",
    "event": "event, threshold",
    "proximity": "proximity",
    "custom": "own",
}


def family_of(measure: Measure) -> str:
    """Return the family of a measure; families without a color are ``"custom"``.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> family_of(get_measure("vus_pr")), family_color(get_measure("vus_pr"))
    ('vus', '#D55E00')
    """
    return measure.family if measure.family in _COLORS else "custom"


def family_color(measure: Measure) -> str:
    """Return the color of the measure's family."""
    return _COLORS[family_of(measure)]


def titles_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Return the titles of measures by name."""
    return {measure.name: measure.title for measure in measures}


def describe_measures(measures: Iterable[Measure]) -> dict[str, Any]:
    """Return names, titles and families of measures, with titles and colors of the families.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> describe_measures([get_measure("vus_pr")])["families"]
    {'vus': {'title': 'VUS', 'color': '#D55E00'}}
    """
    listed = list(measures)
    return {
        "measures": [
            {
                "name": one.name,
                "title": one.title,
                "family": family_of(one),
                "color": family_color(one),
            }
            for one in listed
        ],
        "families": {
            family_of(one): {"title": FAMILY_TITLES[family_of(one)], "color": family_color(one)}
            for one in listed
        },
    }


def describe_names(names: Iterable[str], own: Iterable[Measure] = ()) -> dict[str, Any]:
    """Describe measures by name; other names have neither family nor color.

    Examples
    --------
    >>> describe_names(["LOF"])
    {'measures': [{'name': 'LOF', 'title': 'LOF'}], 'families': {}}
    """
    found = measures_named(names, own)
    if all(measure.function is _unknown for measure in found):
        items = [{"name": one.name, "title": one.title} for one in found]
        return {"measures": items, "families": {}}
    return describe_measures(found)


def measures_named(names: Iterable[str], own: Iterable[Measure] = ()) -> tuple[Measure, ...]:
    """Return own or registered measures by name; unknown names get a placeholder."""
    known = {entry.name: entry for entry in (*list_measures(), *own)}
    known |= {entry.title: entry for entry in known.values()}
    return tuple(known.get(name, Measure(name, name, _unknown)) for name in names)


def _unknown(y_true: ArrayLike, y_score: ArrayLike) -> float:
    raise InvalidInputError("`measure` must be registered to be computed, got only a name")
