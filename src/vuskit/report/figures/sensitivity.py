"""Sensitivity of measures to threshold, lag, noise, ratio and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_labels, check_pair, check_scores, check_series
from vuskit.measures.evaluate import evaluate
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.thresholds import Sigma, threshold_value
from vuskit.report.figures._canvas import COLUMN, PAGE, SMALL, TEXT, Cell, grid_cells, open_canvas
from vuskit.report.figures._drawing import (
    ACCURATE,
    ANOMALY,
    INACCURATE,
    draw_line,
    line_styles,
    measure_bars,
    measure_rows,
    shade,
)
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.perturbations import add_noise, crops_by_ratio, even_lags, generator, shift

__all__ = ["CasesDisplay", "LabelingDisplay", "SensitivityDisplay"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Case:
    """One variant of a score: what is evaluated."""

    y_true: NDArray[np.bool_]
    y_score: Floats
    factor: float = 3.0  # the threshold, in standard deviations above the mean

    @property
    def threshold(self) -> float:
        return float(threshold_value(Sigma(self.factor), self.y_score))

    def values(self, measures: Sequence[Measure], buffer: int) -> list[float]:
        if not 0 < self.y_true.sum() < self.y_true.size:  # a share that no crop has
            return [float("nan")] * len(measures)
        rule = Sigma(self.factor)
        found = evaluate(
            self.y_true, self.y_score, buffer=buffer, measures=measures, threshold=rule
        )
        return [found[measure.name] for measure in measures]


def _threshold(case: _Case, factor: float, seed: int) -> _Case:
    return _Case(case.y_true, case.y_score, factor)


def _lag(case: _Case, lag: float, seed: int) -> _Case:
    return _Case(case.y_true, shift(case.y_score, int(lag)), case.factor)


def _noise(case: _Case, amplitude: float, seed: int) -> _Case:
    random = generator(seed, "noise")
    return _Case(case.y_true, add_noise(case.y_score, random, amplitude=amplitude), case.factor)


def _ratio(case: _Case, share: float, seed: int) -> _Case:
    (crop,) = crops_by_ratio(case.y_true, count=1, low=share, high=share)
    kept = slice(crop.start, crop.stop)
    return _Case(case.y_true[kept], case.y_score[kept], case.factor)


@dataclass(frozen=True)
class _Kind:
    label: str  # of the axis
    short: str  # of one value
    apply: Callable[[_Case, float, int], _Case]
    range: Callable[[int], ArrayLike]
    pair: Callable[[int], tuple[float, float]]


_KINDS = {
    "threshold": _Kind(
        "threshold: standard deviations above the mean",
        "mean + {:.2g} std",
        _threshold,
        lambda buffer: np.linspace(0, 4, 17),
        lambda buffer: (1.0, 0.6),
    ),
    "lag": _Kind(
        "lag in points",
        "lag {:.0f}",
        _lag,
        lambda buffer: np.unique(even_lags(buffer, count=17)),
        lambda buffer: (0.0, float(buffer // 4)),
    ),
    "noise": _Kind(
        "noise, in ranges of the score",
        "noise {:.2g}",
        _noise,
        lambda buffer: np.linspace(0, 0.2, 9),
        lambda buffer: (0.0, 0.05),
    ),
    "ratio": _Kind(
        "share of anomalous points",
        "share {:.2g}",
        _ratio,
        lambda buffer: np.linspace(0.01, 0.2, 10),
        lambda buffer: (0.05, 0.2),
    ),
}


def _first_case(y_true: ArrayLike, y_score: ArrayLike) -> _Case:
    labels, scores = check_pair(y_true, y_score)
    if not labels.has_both_classes:
        raise InvalidInputError(
            "`y_true` must hold both normal and anomalous points, got one class"
        )
    return _Case(labels.as_array(), np.asarray(scores, dtype=np.float64))


@register_figure(
    name="sensitivity",
    title="measures of one score while threshold, lag, noise or ratio varies",
    source="labels and a score",
)
@dataclass(eq=False, repr=False)
class SensitivityDisplay(Display):
    """Every measure as a line against what varies.

    Attributes
    ----------
    vary : str
        What varies.
    at : ndarray of shape (V,)
        Its values.
    values : ndarray of shape (V, M)
        Of the measures; NaN where a series has no stretch with that share of anomalies.
    measures : tuple of Measure
        The measures.
    label : str
        Of the horizontal axis.
    """

    vary: str
    at: Floats
    values: Floats
    measures: tuple[Measure, ...]
    label: str

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        buffer: int,
        vary: str = "lag",
        at: Iterable[float] | None = None,
        measures: str | Measure | Iterable[str | Measure] = "paper",
        seed: int = 0,
    ) -> SensitivityDisplay:
        """Evaluate variants of a score.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Labels and score.
        buffer : int
            Buffer length of R-AUC and longest buffer of VUS.
        vary : {"threshold", "lag", "noise", "ratio"}
            What varies.
        at : iterable of float, optional
            Its values: standard deviations above the mean, points, ranges of the score, shares of
            anomalous points.
        measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
            What to evaluate.
        seed : int, default=0
            Of the noise.

        Raises
        ------
        InvalidInputError
            If the arrays cannot be evaluated, or it is not known what varies.

        Examples
        --------
        >>> from vuskit.datasets.synthetic import labeled_scores
        >>> labels, score = labeled_scores(500, n_anomalies=3, mean_length=9, seed=0)
        >>> SensitivityDisplay.from_scores(labels, score, buffer=20, vary="noise")
        SensitivityDisplay(13 measures at 9 values of noise)
        """
        kind = _KINDS[check_choice("vary", vary, _KINDS)]
        first = _first_case(y_true, y_score)
        chosen = resolve_measures(measures)
        places = np.asarray(kind.range(buffer) if at is None else list(at), dtype=np.float64)
        values = [
            kind.apply(first, place, seed).values(chosen, buffer) for place in places.tolist()
        ]
        return cls(vary, places, np.array(values), chosen, kind.label)

    def plot(self, ax: Any = None, *, legend: bool = True) -> SensitivityDisplay:
        """Draw the lines.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a figure of its own by default.
        legend : bool, default=True
            Whether the measures are named.
        """
        canvas = open_canvas(ax, size=(COLUMN, 2.5))
        axis = canvas.ax
        for column, style in zip(self.values.T, line_styles(self.measures), strict=True):
            axis.plot(self.at, column, **style)
        axis.set_xlabel(self.label, fontsize=TEXT)
        axis.set_ylabel("value", fontsize=TEXT)
        axis.grid(visible=True, linewidth=0.4, alpha=0.4)
        if legend:
            canvas.legend(axis.get_lines(), columns=3)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{len(self.measures)} measures at {self.at.size} values of {self.vary}"


@register_figure(
    name="cases",
    title="two variants of a score, and what each measure makes of the difference",
    source="labels and a score; the series if at hand",
)
@dataclass(eq=False, repr=False)
class CasesDisplay(Display):
    """Two variants of a score side by side, their measures, and the differences.

    Attributes
    ----------
    names : tuple of str
        The two variants.
    labels, scores : list of ndarray
        Of each variant; crops differ in length.
    thresholds : tuple of float
        Of each variant.
    values : ndarray of shape (2, M)
        Of the measures.
    measures : tuple of Measure
        The measures.
    series : ndarray or None
        The series behind the score.
    """

    names: tuple[str, ...]
    labels: list[NDArray[np.bool_]]
    scores: list[Floats]
    thresholds: tuple[float, ...]
    values: Floats
    measures: tuple[Measure, ...]
    series: Floats | None = None

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        buffer: int,
        vary: str = "threshold",
        at: tuple[float, float] | None = None,
        factor: float = 1.0,
        series: ArrayLike | None = None,
        measures: str | Measure | Iterable[str | Measure] = "paper",
        seed: int = 0,
    ) -> CasesDisplay:
        """Evaluate two variants of a score.

        Parameters
        ----------
        y_true, y_score, buffer, vary, measures, seed
            As for :meth:`SensitivityDisplay.from_scores`.
        at : tuple of two floats, optional
            The two values of what varies.
        factor : float, default=1.0
            The threshold where it does not vary: standard deviations above the mean.
        series : array-like, optional
            Shown above the scores.

        Raises
        ------
        InvalidInputError
            If the arrays cannot be evaluated, or it is not known what varies.

        Examples
        --------
        >>> from vuskit.datasets.synthetic import labeled_scores
        >>> labels, score = labeled_scores(500, n_anomalies=3, mean_length=9, seed=0)
        >>> CasesDisplay.from_scores(labels, score, buffer=20, vary="lag")
        CasesDisplay('lag 0' and 'lag 5', 13 measures)
        """
        kind = _KINDS[check_choice("vary", vary, _KINDS)]
        places = kind.pair(buffer) if at is None else tuple(at)
        if len(places) != 2:
            raise InvalidInputError(f"`at` must be two values, got {len(places)}")
        first = _first_case(y_true, y_score)
        first = _Case(first.y_true, first.y_score, factor)
        cases = [kind.apply(first, place, seed) for place in places]
        chosen = resolve_measures(measures)
        return cls(
            tuple(kind.short.format(place) for place in places),
            [case.y_true for case in cases],
            [case.y_score for case in cases],
            tuple(case.threshold for case in cases),
            np.array([case.values(chosen, buffer) for case in cases]),
            chosen,
            None if series is None else check_series(series),
        )

    def plot(self, ax: Any = None) -> CasesDisplay:
        """Draw series, scores with thresholds, values and differences.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, divided into panels; a figure of its own by default.
        """
        rows = 2 + (self.series is not None)
        cells = [Cell(row, 0) for row in range(rows)]
        cells += [Cell(0, 1, rows), Cell(0, 2, rows)]
        canvas = open_canvas(ax, cells, size=(PAGE, 2.6), widths=(1.5, 1, 0.8))
        *lines, bars, differences = canvas.panels
        if self.series is not None:
            draw_line(lines[0], self.series)
            canvas.title(lines[0], "series")
            shade(lines[0], self.labels[0])
        colors = (ACCURATE, INACCURATE)
        for axis, name, labels, score, threshold in zip(
            lines[-2:], self.names, self.labels, self.scores, self.thresholds, strict=True
        ):
            draw_line(axis, score)
            shade(axis, labels)
            axis.axhline(threshold, color="black", linewidth=0.8, linestyle="--")
            canvas.title(axis, f"score, {name}")
        for axis in lines:
            axis.set_yticks([])
        height = 0.38
        for place, (name, values, color) in enumerate(
            zip(self.names, self.values, colors, strict=True)
        ):
            at = np.arange(len(self.measures)) + (place - 0.5) * height
            bars.barh(at, values, height, color=color, edgecolor="black", linewidth=0.4,
                      label=name)  # fmt: skip
        measure_rows(bars, self.measures)
        canvas.title(bars, "value")
        bars.legend(
            fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.4, -0.07),
            ncols=2, handlelength=1, columnspacing=0.8,
        )  # fmt: skip
        measure_bars(differences, self.values[1] - self.values[0], self.measures)
        differences.axvline(0, color="black", linewidth=0.6)
        differences.tick_params(labelleft=False)
        canvas.title(differences, "difference")
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.names[0]!r} and {self.names[1]!r}, {len(self.measures)} measures"


Bools = NDArray[np.bool_]


@register_figure(
    name="labeling",
    title="one score under several ways to label the same anomaly",
    source="a series, a score and several labels of it",
)
@dataclass(eq=False, repr=False)
class LabelingDisplay(Display):
    """Series, score, and the labels of several strategies with what measures make of them.

    Attributes
    ----------
    series, score : ndarray of shape (n,)
        The series and its score.
    labels : dict of ndarray of bool
        By the name of the strategy.
    values : dict of dict
        Value of each measure by strategy.
    measures : tuple of Measure
        The measures.
    """

    series: Floats
    score: Floats
    labels: dict[str, Bools]
    values: dict[str, dict[str, float]]
    measures: tuple[Measure, ...]

    @classmethod
    def from_labels(
        cls,
        series: ArrayLike,
        y_score: ArrayLike,
        labels: Mapping[str, ArrayLike],
        *,
        buffer: int,
        measures: str | Measure | Iterable[str | Measure] = ("auc_pr", "vus_pr"),
    ) -> LabelingDisplay:
        """Evaluate one score under each labeling.

        Parameters
        ----------
        series, y_score : array-like of shape (n,)
            The series and its score.
        labels : mapping from str to array-like of shape (n,)
            Labels by the name of the strategy.
        buffer : int
            Buffer length of R-AUC and longest buffer of VUS.
        measures : "paper", "extra", "all", name, or iterable of names and measures
            What to write beside each label; AUC-PR and VUS-PR by default.

        Raises
        ------
        InvalidInputError
            If there are no labels, or an array cannot be used.

        Examples
        --------
        >>> labels = {"whole": [0, 1, 1, 1, 0, 0], "peak": [0, 0, 1, 0, 0, 0]}
        >>> score = [0, 1, 3, 2, 1, 0]
        >>> LabelingDisplay.from_labels(score, score, labels, buffer=2)
        LabelingDisplay(6 points, labels 'whole', 'peak')
        """
        if not labels:
            raise InvalidInputError("`labels` must hold at least one labeling, got none")
        checked = {str(name): check_labels(one, "labels") for name, one in labels.items()}
        chosen = resolve_measures(measures)
        values = {
            str(name): evaluate(one, y_score, buffer=buffer, measures=chosen).to_dict()
            for name, one in labels.items()
        }
        first = next(iter(checked.values()))
        score = np.asarray(check_scores(y_score, first), dtype=np.float64)
        line = check_series(series)
        if line.shape != score.shape:
            raise InvalidInputError(
                f"`series` must be of shape {score.shape}, got shape {line.shape}"
            )
        arrays = {name: one.as_array() for name, one in checked.items()}
        return cls(line, score, arrays, values, chosen)

    def plot(self, ax: Any = None) -> LabelingDisplay:
        """Draw series, score and labels above each other.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, divided into panels; a figure of its own by default.
        """
        heights = [1.0, 1.0, 0.45 * len(self.labels)]
        canvas = open_canvas(
            ax,
            grid_cells(3, 1),
            size=(COLUMN, 1.7 + 0.4 * len(self.labels)),
            heights=heights,
            share="x",
        )
        above, middle, below = canvas.panels
        draw_line(above, self.series)
        canvas.title(above, "(1) series")
        draw_line(middle, self.score)
        canvas.title(middle, "(2) score")
        for row, (name, label) in enumerate(self.labels.items()):
            below.fill_between(
                np.arange(label.size), row + 0.38, row - 0.05, where=label.tolist(), step="mid",
                color=ANOMALY, linewidth=0,
            )  # fmt: skip
            said = ", ".join(
                f"{measure.title} {self.values[name][measure.name]:.2f}"
                for measure in self.measures
            )
            below.annotate(
                f"{name}: {said}", (0, row - 0.12), xytext=(4, 0), textcoords="offset points",
                fontsize=SMALL, va="bottom",
            )  # fmt: skip
        below.set_ylim(len(self.labels) - 0.5, -0.7)
        canvas.title(below, "(3) labels, and what they make of the score")
        widest = np.any(list(self.labels.values()), axis=0)
        for axis in (above, middle):
            shade(axis, widest)
        for axis in canvas.panels:
            axis.set_yticks([])
        below.set_xlabel("point", fontsize=TEXT)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.score.size} points, labels {', '.join(map(repr, self.labels))}"
