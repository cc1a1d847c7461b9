"""The critical-difference diagram."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from vuskit._util.optional import pd, require
from vuskit.figures._drawing import describe_names
from vuskit.figures.base import PAGE, SMALL, TEXT, Canvas, Data, Display, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCH = 72  # points
_HEAD, _ROW = 0.45, 0.15  # heights of the part above the scale and of a name, in inches
_BAR_ROW = 0.55  # of a row
_BAR, _THIN, _DOT = 1.8, 0.5, 2.5  # points: widths of lines, size of a mean rank
_OVERHANG = 2.5  # points by which a bar extends beyond its ends
_APART = 0.04  # smallest distance of bars on one line, relative to the scale
_GAP = 4.0  # points between lines and words
_MOST_FOR_NAMES = 0.8  # of the width
_TICK = 14.0  # points between two numbers, at least
_BRACKET = 20.0  # points above the scale
_LETTER = 0.56  # width of a letter of a note, relative to its height
# Names may contain dollar signs and must not be parsed as formulas.
_WORDS: dict[str, Any] = {"fontsize": SMALL, "va": "center", "parse_math": False}
_SCALE = "mean rank (1 is best)"
BARS = (
    "Bars join groups in which no pair differs significantly; a missing bar does not imply a "
    "difference."
)
"""What bars mean, for captions."""


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks on a line; bars join groups in which no pair differs significantly.

    A bar joins all names between its ends. A missing bar does not imply a difference.
    ``compare(table).figure()`` makes the display of a table of results.

    Attributes
    ----------
    ranks : pandas.Series
        Mean ranks by name, best first; measures are shown with their titles.
    groups : sequence of sequences of str
        Names that share a bar.
    test : str
        Description of the test.
    intervals : pandas.DataFrame or None
        Columns ``lower`` and ``upper`` of the interval of each mean rank; shown on pages.
    critical_difference : float or None
        Significant difference of mean ranks, if the test has one; drawn as a bracket.
    notes : tuple of str
        Notes below the diagram, such as too few series for a significant difference.

    Examples
    --------
    >>> import pandas as pd
    >>> ranks = pd.Series({"LOF": 1.2, "PCA": 1.8})
    >>> CriticalDifferenceDisplay(ranks, [("LOF", "PCA")], "Wilcoxon signed-rank, n = 12")
    CriticalDifferenceDisplay(2 names, Wilcoxon signed-rank, n = 12)
    """

    kind = "critical_difference"
    heading = "mean ranks, and which do not differ significantly"
    ranks: pd.Series
    groups: Sequence[Sequence[Hashable]]
    test: str
    intervals: pd.DataFrame | None = None
    critical_difference: float | None = None
    notes: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return names with mean ranks and intervals, indices of each group, and texts."""
        names = [str(name) for name in self.ranks.index]
        known = describe_names(names, self.own_measures)
        items = [
            {**measure, "rank": float(rank)}
            for measure, rank in zip(known["measures"], self.ranks, strict=True)
        ]
        if self.intervals is not None:
            for item, low, high in zip(
                items, self.intervals["lower"], self.intervals["upper"], strict=True
            ):
                item.update(lower=float(low), upper=float(high))
        return {
            "items": items,
            "families": known["families"],
            "groups": [[names.index(str(name)) for name in group] for group in self.groups],
            "test": self.test,
            "critical_difference": self.critical_difference,
            "notes": list(self.notes),
        }

    def _draw(self, ax: Any, data: Data, *, title: str | None = None) -> Canvas:
        drawn = _Diagram([(one["title"], one["rank"]) for one in data["items"]], data)
        low, high = drawn.scale()
        bars = _packed([drawn.ends(group) for group in data["groups"]], _APART * (high - low))
        first = 1.2 + _BAR_ROW * max((bar.line + 1 for bar in bars), default=0)
        last = first + math.ceil(len(drawn.ranks) / 2)
        rows = last - 0.4 + len(drawn.lines(PAGE * _INCH))
        canvas = open_canvas(ax, size=(PAGE, _HEAD + _ROW * rows))
        axis = canvas.ax
        width = PAGE * _INCH if canvas.own else _width(axis)
        point = drawn.draw_scale(axis, width)
        drawn.draw_names(axis, first)
        for bar in bars:
            ends, height = drawn.reaching(bar, _OVERHANG * point), 0.6 + _BAR_ROW * bar.line
            axis.plot(ends, (height, height), color="black", lw=_BAR, solid_capstyle="butt")
        notes = drawn.lines(width)
        for row, line in enumerate(notes):
            axis.text(0, last + row, line, transform=axis.get_yaxis_transform(), **_WORDS)
        axis.set_ylim(last - 0.4 + len(notes), 0)
        above = 5.0
        if data["critical_difference"] is not None:
            drawn.draw_bracket(axis, data["critical_difference"])
            above += _BRACKET
        axis.set_title(self.test if title is None else title, fontsize=TEXT, pad=above)
        return canvas

    def _about(self) -> str:
        return f"{len(self.ranks)} names, {self.test}"


class _Diagram(NamedTuple):
    """Layout of one diagram: names and ranks, best first, and the data of the display."""

    ranks: list[tuple[str, float]]
    data: dict[str, Any]

    def lines(self, width: float) -> list[str]:
        """Return the notes wrapped to a width in points."""
        letters = max(int(width / (_LETTER * SMALL)), 1)
        return [line for note in self.data["notes"] for line in wrap(note, letters)]

    def scale(self) -> tuple[int, int]:
        """Return the integer ranks around all mean ranks."""
        ranks = [rank for _, rank in self.ranks]
        low = min(math.floor(min(ranks)), len(ranks) - 1)
        return low, max(math.ceil(max(ranks)), low + 1)

    def ends(self, group: Sequence[int]) -> tuple[float, float]:
        """Return the lowest and highest rank of a group."""
        ranks = [self.ranks[place][1] for place in group]
        return min(ranks), max(ranks)

    def reaching(self, bar: _Bar, overhang: float) -> tuple[float, float]:
        """Return the ends of a bar, slightly beyond its names but not up to the next ones."""
        before = [bar.start - rank for _, rank in self.ranks if rank < bar.start]
        after = [rank - bar.stop for _, rank in self.ranks if rank > bar.stop]
        left, right = (min([overhang, *(0.4 * gap for gap in gaps)]) for gaps in (before, after))
        return bar.start - left, bar.stop + right

    def sides(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return texts and ranks of the better half, best first, and of the rest, worst first."""
        half = math.ceil(len(self.ranks) / 2)
        left = [(f"{name} ({rank:.2f})", rank) for name, rank in self.ranks[:half]]
        right = [(f"({rank:.2f}) {name}", rank) for name, rank in self.ranks[half:]]
        return left, right[::-1]

    def draw_scale(self, axis: Axes, width: float) -> float:
        """Draw the scale between the names; return how many ranks one point is wide."""
        low, high = self.scale()
        left, right = ([words for words, _ in side] for side in self.sides())
        words = ([*left, _SCALE, self.difference()], right)
        rooms = [max(map(_text_width, side)) + 3 * _GAP for side in words]
        shrunk = min(_MOST_FOR_NAMES * width / sum(rooms), 1.0)
        point = (high - low) / (width - shrunk * sum(rooms))
        axis.set_xlim(low - rooms[0] * shrunk * point, high + rooms[1] * shrunk * point)
        for side, spine in axis.spines.items():
            spine.set_visible(side == "top")
        axis.spines["top"].set_bounds(low, high)
        axis.set_xticks(range(low, high + 1, math.ceil(_TICK * point)))
        axis.tick_params(bottom=False, labelbottom=False, left=False, labelleft=False)
        axis.tick_params(top=True, labeltop=True)
        _write(axis, _SCALE, (low, 0), -2 * _GAP)
        return point

    def difference(self) -> str:
        """Return the label of the bracket."""
        length = self.data["critical_difference"]
        return "" if length is None else f"critical difference {length:.2f}"

    def draw_bracket(self, axis: Axes, length: float) -> None:
        """Draw the critical difference above the scale, to scale, if there is room."""
        start = self.scale()[0]
        _write(axis, self.difference(), (start, 0), -2 * _GAP, above=_BRACKET)
        if start + length <= axis.get_xlim()[1]:
            moved = require("matplotlib.transforms", purpose="a figure").offset_copy
            place = moved(axis.transData, axis.get_figure(), y=_BRACKET, units="points")
            line: dict[str, Any] = {"color": "black", "lw": 2 * _THIN, "marker": "|", "ms": 5}
            axis.plot((start, start + length), (0, 0), transform=place, clip_on=False, **line)

    def draw_names(self, axis: Axes, first: float) -> None:
        """Draw the names on both sides and lines to their ranks."""
        for side, edge, sign in zip(self.sides(), self.scale(), (-1, 1), strict=True):
            for row, (words, rank) in enumerate(side):
                height = first + row
                axis.plot((rank, rank, edge), (0, height, height), color="black", lw=_THIN)
                _write(axis, words, (edge, height), sign * _GAP)
        ranks = [rank for _, rank in self.ranks]
        axis.plot(ranks, [0] * len(ranks), "o", color="black", ms=_DOT, clip_on=False)


class _Bar(NamedTuple):
    start: float
    stop: float
    line: int


def _packed(ends: Sequence[tuple[float, float]], apart: float) -> list[_Bar]:
    """Place bars, sorted from left to right, on as few lines as possible without overlap."""
    last: dict[int, float] = {}  # end of the last bar of each line
    bars = []
    for start, stop in ends:
        line = next((line for line in last if start - last[line] > apart), len(last))
        last[line] = stop
        bars.append(_Bar(start, stop, line))
    return bars


def _write(
    axis: Axes, words: str, place: tuple[float, float], aside: float, *, above: float = 0.0
) -> None:
    """Write a text `aside` points to the right of a place, or to the left if negative."""
    axis.annotate(
        words,
        place,
        (aside, above),
        textcoords="offset points",
        ha="left" if aside > 0 else "right",
        annotation_clip=False,
        **_WORDS,
    )


def _text_width(words: str) -> float:
    """Return the width of a text in points."""
    paths = require("matplotlib.textpath", purpose="a figure").text_to_path
    fonts = require("matplotlib.font_manager", purpose="a figure")
    return float(
        paths.get_text_width_height_descent(words, fonts.FontProperties(size=SMALL), False)[0]
    )


def _width(axis: Axes) -> float:
    """Return the width of an axis in points."""
    return float(axis.get_window_extent().width) * _INCH / float(axis.figure.dpi)
