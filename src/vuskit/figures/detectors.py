"""Detectors side by side on one series: scores, curves, surfaces and all measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import (
    CURVES,
    MARKERS,
    describe_measures,
    draw_line,
    event_bounds,
    group_fills,
    line_data,
    measure_rows,
    shade,
    thin_hatch,
)
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    TEXT,
    Canvas,
    Cell,
    Data,
    Display,
    open_canvas,
    to_array,
)
from vuskit.figures.curves import RangeCurveDisplay, SurfaceDisplay, draw_surface
from vuskit.inputs import check_labels, check_series
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import Measure

Floats = NDArray[np.float64]
_TALLEST = 8.0  # inches; leaves room for legend and caption on a page
_MOST = 4  # detectors in one figure


def _named_scores(scores: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    if not isinstance(scores, Mapping) or not scores:
        raise InvalidInputError(
            f"`scores` must be a mapping from names to scores, got {type(scores).__name__}"
            f"{' without any' if isinstance(scores, Mapping) else ''}"
        )
    return {str(name): score for name, score in scores.items()}


@dataclass(eq=False, repr=False)
class SeriesDisplay(Display):
    """Series and scores one below the other, with shaded anomalies.

    Attributes
    ----------
    label : ndarray of bool
        The label.
    lines : dict of ndarray
        Series and scores by name.
    """

    kind = "series"
    heading = "a series with its anomalies, and scores below it"
    label: NDArray[np.bool_]
    lines: dict[str, Floats]

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        scores: Mapping[str, ArrayLike],
        *,
        series: ArrayLike | None = None,
    ) -> SeriesDisplay:
        """Make the display from a series and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        scores : mapping from str to array-like of shape (n,)
            Scores by name.
        series : array-like of shape (n,), optional
            The series.

        Raises
        ------
        InvalidInputError
            If lengths differ or a number is not finite.

        Examples
        --------
        >>> SeriesDisplay.from_scores([0, 1, 0], {"LOF": [0.1, 0.9, 0.2]}, series=[1, 9, 1])
        SeriesDisplay(3 points: series, LOF)
        """
        label = check_labels(y_true).as_array()
        arrays = {} if series is None else {"series": series}
        lines = {
            name: check_series(line) for name, line in {**arrays, **_named_scores(scores)}.items()
        }
        for name, line in lines.items():
            if line.size != label.size:
                raise InvalidInputError(
                    f"`{name}` must have one number for each label, "
                    f"got {line.size} numbers and {label.size} labels"
                )
        return cls(label, lines)

    def data(self) -> dict[str, Any]:
        """Return the bounds of the anomalies, and the lines."""
        return {
            "events": event_bounds(self.label),
            "lines": [{"name": name, **line_data(line)} for name, line in self.lines.items()],
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        cells = [Cell(row, 0) for row in range(len(data["lines"]))]
        size = (PAGE, 0.62 * len(cells) + 0.25)
        canvas = open_canvas(ax, cells, size=size, share="x")
        for axis, line in zip(canvas.panels, data["lines"], strict=True):
            shade(axis, data["events"])
            draw_line(axis, line)
            axis.set_yticks([])
            canvas.title(axis, line["name"])
        return canvas

    def _about(self) -> str:
        return f"{self.label.size} points: {', '.join(self.lines)}"


@dataclass(eq=False, repr=False)
class DetectorBarsDisplay(Display):
    """One group of bars for each measure, one bar for each detector.

    Attributes
    ----------
    values : dict of dict
        Values of the measures by detector.
    measures : tuple of Measure
        The measures.
    settings : str
        Buffer, thresholds and definition.
    """

    kind = "detector_bars"
    heading = "values of all measures for several detectors"
    values: dict[str, dict[str, float]]
    measures: tuple[Measure, ...]
    settings: str

    @classmethod
    def from_scores(
        cls, y_true: ArrayLike, scores: Mapping[str, ArrayLike], *, buffer: int, **options: Any
    ) -> DetectorBarsDisplay:
        """Evaluate several scores; parameters as for :func:`vuskit.evaluate_many`.

        Examples
        --------
        >>> scores = {"A": [0.1, 0.2, 0.9, 0.3], "B": [0.4, 0.9, 0.1, 0.2]}
        >>> DetectorBarsDisplay.from_scores([0, 0, 1, 0], scores, buffer=2)
        DetectorBarsDisplay(13 measures of A, B; buffer=2, thresholds=all, definition=journal)
        """
        return cls.from_evaluations(evaluate_many(y_true, scores, buffer=buffer, **options))

    @classmethod
    def from_evaluations(cls, evaluations: Any) -> DetectorBarsDisplay:
        """Make the display from a result of :func:`vuskit.evaluate_many`.

        Raises
        ------
        InvalidInputError
            If `evaluations` is something else.
        """
        if not hasattr(evaluations, "measures") or not hasattr(evaluations, "to_dict"):
            raise InvalidInputError(
                "`evaluations` must be a result of evaluate_many(), "
                f"got {type(evaluations).__name__}"
            )
        values = {str(name): found for name, found in evaluations.to_dict().items()}
        return cls(values, tuple(evaluations.measures), str(evaluations.settings))

    def data(self) -> dict[str, Any]:
        """Return the measures, and the values of each detector."""
        return {
            **describe_measures(self.measures),
            "detectors": [
                {"name": name, "values": [found[one.name] for one in self.measures]}
                for name, found in self.values.items()
            ],
            "settings": self.settings,
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        count, measures = len(data["detectors"]), data["measures"]
        height = min(len(measures) * (0.1 + 0.075 * count) + 0.45, _TALLEST)
        canvas = open_canvas(ax, size=(COLUMN, height))
        axis = canvas.ax
        thick = 0.8 / count
        fills = group_fills(count)
        for place, detector in enumerate(data["detectors"]):
            bars = axis.barh(
                np.arange(len(measures)) + (place - (count - 1) / 2) * thick,
                to_array(detector["values"]),
                thick,
                label=detector["name"],
                **fills[place],
            )
            for bar in bars:
                thin_hatch(bar, fills[place]["hatch"])
        measure_rows(axis, measures)
        axis.set_xlim(0, 1.02)
        axis.set_xlabel("value", fontsize=TEXT)
        if legend:
            canvas.legend(axis.get_legend_handles_labels()[0])
        return canvas

    def _about(self) -> str:
        names = ", ".join(self.values)
        return f"{len(self.measures)} measures of {names}; {self.settings}"


@dataclass(eq=False, repr=False)
class DetectorComparisonDisplay(Display):
    """Scores, curves, surfaces and all measures of a few detectors on one series.

    Attributes
    ----------
    scores : SeriesDisplay
        Labels and scores.
    roc, pr : dict of RangeCurveDisplay
        Curves by detector.
    roc_surface, pr_surface : dict of SurfaceDisplay
        Surfaces by detector.
    bars : DetectorBarsDisplay
        Values of all measures.
    """

    kind = "detector_comparison"
    heading = "detectors on one series: scores, R-ROC and R-PR curves, surfaces, all measures"
    scores: SeriesDisplay
    roc: dict[str, RangeCurveDisplay]
    pr: dict[str, RangeCurveDisplay]
    roc_surface: dict[str, SurfaceDisplay]
    pr_surface: dict[str, SurfaceDisplay]
    bars: DetectorBarsDisplay

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        scores: Mapping[str, ArrayLike],
        *,
        buffer: int,
        measures: str | Measure | Iterable[str | Measure] = "paper",
        volume_factor: float = 1.0,
        **options: Any,
    ) -> DetectorComparisonDisplay:
        """Evaluate the scores.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        scores : mapping from str to array-like of shape (n,)
            One to four scores by name.
        buffer : int
            Buffer length of R-AUC.
        measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
            Measures of the bars.
        volume_factor : float, default=1
            Longest buffer of VUS, in multiples of `buffer`.
        **options
            ``definition``, ``thresholds`` and ``side``, as for :func:`vuskit.vus_roc`.

        Raises
        ------
        InvalidInputError
            If there are more than four scores, or an array is invalid.

        Examples
        --------
        >>> scores = {"A": [0.1, 0.2, 0.9, 0.3, 0], "B": [0.4, 0.9, 0.1, 0.2, 0]}
        >>> DetectorComparisonDisplay.from_scores([0, 0, 1, 0, 0], scores, buffer=2)
        DetectorComparisonDisplay(A, B on 5 points, 13 measures)
        """
        named = _named_scores(scores)
        if len(named) > _MOST:
            raise InvalidInputError(
                f"`scores` must hold at most {_MOST} scores, got {len(named)}; choose some"
            )

        longest = round(volume_factor * buffer)

        def curves(curve: str) -> dict[str, RangeCurveDisplay]:
            return {
                name: RangeCurveDisplay.from_scores(
                    y_true, score, buffer=buffer, curve=curve, name=name, **options
                )
                for name, score in named.items()
            }

        def surfaces(curve: str) -> dict[str, SurfaceDisplay]:
            return {
                name: SurfaceDisplay.from_scores(
                    y_true, score, max_buffer=longest, curve=curve, **options
                )
                for name, score in named.items()
            }

        return cls(
            SeriesDisplay.from_scores(y_true, named),
            curves("roc"),
            curves("pr"),
            surfaces("roc"),
            surfaces("pr"),
            DetectorBarsDisplay.from_scores(
                y_true,
                named,
                buffer=buffer,
                measures=measures,
                volume_factor=volume_factor,
                **options,
            ),
        )

    def data(self) -> dict[str, Any]:
        """Return the data of all parts; curves and surfaces by detector."""
        parts: dict[str, Mapping[str, Display]] = {
            "roc": self.roc,
            "pr": self.pr,
            "roc_surface": self.roc_surface,
            "pr_surface": self.pr_surface,
        }
        return {
            "scores": self.scores.to_dict(),
            **{
                part: {name: display.to_dict() for name, display in held.items()}
                for part, held in parts.items()
            },
            "bars": self.bars.to_dict(),
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        names = [line["name"] for line in data["scores"]["lines"]]
        count = len(names)
        cells = [Cell(row, 0, 1, 3) for row in range(count)]
        cells += [Cell(count, 0), Cell(count, 1), Cell(count, 2, count + 1)]
        cells += [
            Cell(count + 1 + row, column, projection="3d")
            for row in range(count)
            for column in range(2)
        ]
        heights = [0.55] * count + [1.9] + [1.9] * count
        size = (PAGE, sum(heights) + 0.5)
        canvas = open_canvas(ax, cells, size=size, heights=heights, widths=(1, 1, 0.95))
        lines, (roc, pr, bars) = canvas.panels[:count], canvas.panels[count : count + 3]
        for axis, line, color in zip(lines, data["scores"]["lines"], CURVES, strict=False):
            shade(axis, data["scores"]["events"])
            draw_line(axis, line, color=color)
            axis.set_yticks([])
            canvas.title(axis, f"(a) score of {line['name']}")
        for axis, letter, curves in ((roc, "b", self.roc), (pr, "c", self.pr)):
            for name, color, marker in zip(names, CURVES, MARKERS, strict=False):
                curves[name].plot(axis, color=color, marker=marker, fill=False, legend=False)
            kind = next(iter(curves.values())).curve.upper()
            canvas.title(axis, f"({letter}) {kind}, dashed: no buffer")
        surfaces = canvas.panels[count + 3 :]
        for row, name in enumerate(names):
            for axis, letter, held in zip(
                surfaces[2 * row : 2 * row + 2],
                "de",
                (data["roc_surface"][name], data["pr_surface"][name]),
                strict=True,
            ):
                draw_surface(axis, held, zoom=1.02)
                kind = f"VUS-{held['curve'].upper()}"
                canvas.title(axis, f"({letter}) {name}: {kind} {held['volume']:.3f}")
        self.bars.plot(bars, legend=False)
        canvas.title(bars, "(f) all measures")
        handlers = require("matplotlib.legend_handler", purpose="a figure")
        # In the margin, or in the corner that ROC curves rarely reach.
        canvas.legend(
            _lines_and_bars(count), names=names, panel=roc, where="lower right", handlelength=3.6,
            handler_map={tuple: handlers.HandlerTuple(ndivide=None)},
        )  # fmt: skip
        return canvas

    def _about(self) -> str:
        names = ", ".join(self.scores.lines)
        size, measures = self.scores.label.size, len(self.bars.measures)
        return f"{names} on {size} points, {measures} measures"


def _lines_and_bars(count: int) -> list[tuple[Any, Any]]:
    """Return legend handles of each detector: its line and its bar."""
    lines = require("matplotlib.lines", purpose="a figure")
    patches = require("matplotlib.patches", purpose="a figure")
    found = []
    for color, marker, fill in zip(CURVES, MARKERS, group_fills(count), strict=False):
        bar = patches.Patch(**fill)
        thin_hatch(bar, fill["hatch"])
        line = lines.Line2D([], [], color=color, marker=marker, markersize=3.5, linewidth=1.1)
        found.append((line, bar))
    return found
