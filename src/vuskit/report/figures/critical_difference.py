"""The critical-difference diagram."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from vuskit._util.optional import require
from vuskit.report.figures._canvas import PAGE, SMALL, TEXT, open_canvas
from vuskit.report.figures._drawing import measures_named
from vuskit.report.figures._families import titles_of
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.statistics.comparison import TableComparison, compare

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CriticalDifferenceDisplay"]

_INCH = 72  # points
_HEAD, _ROW = 0.45, 0.15  # inches: what stands above the scale, and a name
_BAR_ROW = 0.55  # of a row
_BAR, _THIN, _DOT = 1.8, 0.5, 2.5  # points: widths of lines, size of a mean rank
_OVERHANG = 2.5  # points that a bar reaches beyond its ends
_APART = 0.04  # of the scale: bars on one line are never closer
_GAP = 4.0  # points between lines and words
_MOST_FOR_NAMES = 0.8  # of the width
_TICK = 14.0  # points between two numbers, at least
_BRACKET = 20.0  # points above the scale
_LETTER = 0.56  # of the height: the width of a letter of a note
# A name is no formula.
_WORDS: dict[str, Any] = {"fontsize": SMALL, "va": "center", "parse_math": False}
_SCALE = "mean rank (1 is best)"


@register_figure(
    name="critical_difference",
    title="mean ranks, and which do not differ significantly",
    source="a comparison of detectors or measures, or a table of results",
)
@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks on a line; no two that share a bar differ significantly.

    Two that share none do, or something between them does.

    Attributes
    ----------
    ranks : pandas.Series
        Mean rank by name, the best first.
    p_values : pandas.DataFrame
        Of all pairs.
    alpha : float
        Level of significance.
    test : str
        The test in words.
    groups : tuple of tuples
        Names that share a bar, as :func:`~vuskit.studies.statistics.rank_groups` finds them.
    critical_difference : float or None
        Difference of mean ranks that is significant, where the test has one; drawn as a bracket.
    notes : tuple of str
        Written below: a test of all that is not significant, series too few for any difference.
    """

    ranks: pd.Series
    p_values: pd.DataFrame
    alpha: float
    test: str
    groups: tuple[tuple[Hashable, ...], ...]
    critical_difference: float | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_comparison(cls, comparison: TableComparison) -> CriticalDifferenceDisplay:
        """Make it from a comparison; measures are shown under their titles.

        Parameters
        ----------
        comparison : TableComparison
            Of :func:`vuskit.studies.compare`, or of the ``compare`` of a study's result.
        """
        names = [str(name) for name in comparison.summary.index]
        titles = titles_of(measures_named(names))
        pairs = comparison.pairs
        return cls(
            comparison.summary["mean_rank"].rename(index=titles),
            pairs.p_values.rename(index=titles, columns=titles),
            pairs.alpha,
            f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}, n = {pairs.n}",
            tuple(
                tuple(titles.get(str(name), name) for name in group) for group in comparison.groups
            ),
            pairs.critical_difference,
            _notes(comparison),
        )

    @classmethod
    def from_results(cls, results: Any, **options: Any) -> CriticalDifferenceDisplay:
        """Make it from a table of results.

        Parameters
        ----------
        results : DataFrame, or anything with ``to_frame()``
            One row for each series and detector, or a row for each series and a column for each
            detector.
        **options
            As for :func:`vuskit.studies.compare`: ``measure``, ``alpha``, ``test``, ...

        Raises
        ------
        InvalidInputError
            If the table cannot be compared.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
        >>> CriticalDifferenceDisplay.from_results(table)
        CriticalDifferenceDisplay(2 names, Wilcoxon signed-rank, holm, alpha = 0.05, n = 3)
        """
        return cls.from_comparison(compare(results, **options))

    def plot(self, ax: Any = None, *, title: str | None = None) -> CriticalDifferenceDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a figure of its own by default.
        title : str, optional
            Above the diagram; the test in words by default, ``""`` for none.
        """
        low, high = self._scale()
        bars = _packed([self._ends(group) for group in self.groups], _APART * (high - low))
        first = 1.2 + _BAR_ROW * max((bar.line + 1 for bar in bars), default=0)
        last = first + math.ceil(len(self.ranks) / 2)
        rows = last - 0.4 + len(self._lines(PAGE * _INCH))
        canvas = open_canvas(ax, size=(PAGE, _HEAD + _ROW * rows))
        axis = canvas.ax
        width = PAGE * _INCH if canvas.own else _width(axis)
        point = self._draw_scale(axis, width)
        self._draw_names(axis, first)
        for bar in bars:
            ends, height = self._reaching(bar, _OVERHANG * point), 0.6 + _BAR_ROW * bar.line
            axis.plot(ends, (height, height), color="black", lw=_BAR, solid_capstyle="butt")
        notes = self._lines(width)
        for row, line in enumerate(notes):
            axis.text(0, last + row, line, transform=axis.get_yaxis_transform(), **_WORDS)
        axis.set_ylim(last - 0.4 + len(notes), 0)
        above = 5.0
        if self.critical_difference is not None:
            self._draw_bracket(axis, self.critical_difference)
            above += _BRACKET
        axis.set_title(self.test if title is None else title, fontsize=TEXT, pad=above)
        self._drawn(canvas)
        return self

    def _lines(self, width: float) -> list[str]:
        """The notes in lines of so many points."""
        letters = max(int(width / (_LETTER * SMALL)), 1)
        return [line for note in self.notes for line in wrap(note, letters)]

    def _scale(self) -> tuple[int, int]:
        """Whole ranks around all mean ranks."""
        low = min(math.floor(self.ranks.min()), len(self.ranks) - 1)
        return low, max(math.ceil(self.ranks.max()), low + 1)

    def _ends(self, group: Sequence[Hashable]) -> tuple[float, float]:
        ranks = self.ranks[list(group)]
        return float(ranks.min()), float(ranks.max())

    def _reaching(self, bar: _Bar, overhang: float) -> tuple[float, float]:
        """Ends of a bar a little beyond those it joins, and never as far as the next ones."""
        before = bar.start - self.ranks[self.ranks < bar.start]
        after = self.ranks[self.ranks > bar.stop] - bar.stop
        left, right = (min([overhang, *(0.4 * gap)]) for gap in (before, after))
        return bar.start - left, bar.stop + right

    def _sides(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Words and mean ranks: the better half, the best first; the others, the worst first."""
        pairs = [(str(name), float(rank)) for name, rank in self.ranks.items()]
        half = math.ceil(len(pairs) / 2)
        left = [(f"{name} ({rank:.2f})", rank) for name, rank in pairs[:half]]
        right = [(f"({rank:.2f}) {name}", rank) for name, rank in pairs[half:]]
        return left, right[::-1]

    def _draw_scale(self, axis: Axes, width: float) -> float:
        """Draw it with room for names on both sides; return how much of it is a point wide."""
        low, high = self._scale()
        left, right = ([words for words, _ in side] for side in self._sides())
        words = ([*left, _SCALE, self._difference()], right)
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

    def _difference(self) -> str:
        length = self.critical_difference
        return "" if length is None else f"critical difference {length:.2f}"

    def _draw_bracket(self, axis: Axes, length: float) -> None:
        """The critical difference above the scale and as long as on it, if there is room."""
        start = self._scale()[0]
        _write(axis, self._difference(), (start, 0), -2 * _GAP, above=_BRACKET)
        if start + length <= axis.get_xlim()[1]:
            moved = require("matplotlib.transforms", purpose="a figure").offset_copy
            place = moved(axis.transData, axis.get_figure(), y=_BRACKET, units="points")
            line: dict[str, Any] = {"color": "black", "lw": 2 * _THIN, "marker": "|", "ms": 5}
            axis.plot((start, start + length), (0, 0), transform=place, clip_on=False, **line)

    def _draw_names(self, axis: Axes, first: float) -> None:
        for side, edge, sign in zip(self._sides(), self._scale(), (-1, 1), strict=True):
            for row, (words, rank) in enumerate(side):
                height = first + row
                axis.plot((rank, rank, edge), (0, height, height), color="black", lw=_THIN)
                _write(axis, words, (edge, height), sign * _GAP)
        axis.plot(self.ranks, [0] * len(self.ranks), "o", color="black", ms=_DOT, clip_on=False)

    def _about(self) -> str:
        return f"{len(self.ranks)} names, {self.test}"


def _notes(comparison: TableComparison) -> tuple[str, ...]:
    """What keeps the pairs from meaning anything, in the words of the tests."""
    overall, pairs = comparison.global_test, comparison.pairs
    said = [] if overall is None or overall.significant else [str(overall)]
    return (*said, *([] if pairs.can_be_significant else [str(pairs)]))


class _Bar(NamedTuple):
    start: float
    stop: float
    line: int


def _packed(ends: Sequence[tuple[float, float]], apart: float) -> list[_Bar]:
    """Bars, given from left to right, on as few lines as keep them apart."""
    last: dict[int, float] = {}  # where the last bar of a line ends
    bars = []
    for start, stop in ends:
        line = next((line for line in last if start - last[line] > apart), len(last))
        last[line] = stop
        bars.append(_Bar(start, stop, line))
    return bars


def _write(
    axis: Axes, words: str, place: tuple[float, float], aside: float, *, above: float = 0.0
) -> None:
    """Words so many points to the left or to the right of a place."""
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
    """Width in points."""
    paths = require("matplotlib.textpath", purpose="a figure").text_to_path
    fonts = require("matplotlib.font_manager", purpose="a figure")
    return float(
        paths.get_text_width_height_descent(words, fonts.FontProperties(size=SMALL), False)[0]
    )


def _width(axis: Axes) -> float:
    """Width of an axis in points."""
    return float(axis.get_window_extent().width) * _INCH / float(axis.figure.dpi)
