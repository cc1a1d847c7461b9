"""Values of measures for variants of one score: threshold, lag, noise or ratio varies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.figures import Case, CasesDisplay, SensitivityDisplay
from vuskit.inputs import check_choice, check_pair, check_series, doubles_in_order
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.thresholds import Sigma, threshold_value
from vuskit.studies.perturbations import add_noise, crops_by_ratio, even_lags, generator, shift

__all__ = ["compare_cases", "sensitivity"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Case:
    """One variant of a score, with its labels."""

    y_true: NDArray[np.bool_]
    y_score: Floats
    factor: float = 3.0  # threshold, in standard deviations above the mean
    start: int = 0  # start of a crop in the series

    @property
    def threshold(self) -> float:
        return float(threshold_value(Sigma(self.factor), self.y_score))

    def values(self, measures: Sequence[Measure], settings: EvaluationSettings) -> list[float]:
        if not 0 < self.y_true.sum() < self.y_true.size:  # no crop has the requested share
            return [float("nan")] * len(measures)
        own = settings.replace(threshold=Sigma(self.factor))
        evaluator = Evaluator(self.y_true, measures=measures, settings=own)
        found = evaluator(self.y_score)
        return [found[measure.name] for measure in measures]


def _vary_threshold(case: _Case, factor: float, seed: int) -> _Case:
    return _Case(case.y_true, case.y_score, factor)


def _vary_lag(case: _Case, lag: float, seed: int) -> _Case:
    return _Case(case.y_true, shift(case.y_score, int(lag)), case.factor)


def _vary_noise(case: _Case, amplitude: float, seed: int) -> _Case:
    random = generator(seed, "noise")
    return _Case(case.y_true, add_noise(case.y_score, random, amplitude=amplitude), case.factor)


def _vary_ratio(case: _Case, share: float, seed: int) -> _Case:
    (crop,) = crops_by_ratio(case.y_true, count=1, low=share, high=share)
    kept = slice(crop.start, crop.stop)
    return _Case(case.y_true[kept], case.y_score[kept], case.factor, crop.start)


@dataclass(frozen=True)
class _Kind:
    label: str  # label of the axis
    short: str  # label of one value
    apply: Callable[[_Case, float, int], _Case]
    range: Callable[[int], ArrayLike]
    pair: Callable[[int], tuple[float, float]]


_KINDS = {
    "threshold": _Kind(
        "threshold: standard deviations above the mean",
        "mean + {:.2g} std",
        _vary_threshold,
        lambda buffer: np.linspace(0, 4, 17),
        lambda buffer: (1.0, 0.6),
    ),
    "lag": _Kind(
        "lag in points",
        "lag {:.0f}",
        _vary_lag,
        lambda buffer: np.unique(even_lags(buffer, count=17)),
        lambda buffer: (0.0, float(buffer // 4)),
    ),
    "noise": _Kind(
        "noise, as a fraction of the score's range",
        "noise {:.2g}",
        _vary_noise,
        lambda buffer: np.linspace(0, 0.2, 9),
        lambda buffer: (0.0, 0.05),
    ),
    "ratio": _Kind(
        "share of anomalous points",
        "share {:.2g}",
        _vary_ratio,
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
    return _Case(labels.as_array(), doubles_in_order("y_score", scores))


def sensitivity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: int,
    vary: str = "lag",
    at: Iterable[float] | None = None,
    measures: str | Measure | Iterable[str | Measure] = "paper",
    seed: int = 0,
) -> SensitivityDisplay:
    """Evaluate variants of a score that differ in one property.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and score.
    buffer : int
        Buffer length of R-AUC and longest buffer of VUS.
    vary : {"threshold", "lag", "noise", "ratio"}
        Property that varies.
    at : iterable of float, optional
        Values of the property. Threshold: standard deviations above the mean. Lag: points. Noise:
        fractions of the score's range. Ratio: shares of anomalous points.
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
        Measures to evaluate.
    seed : int, default=0
        Seed of the noise.

    Returns
    -------
    SensitivityDisplay
        The values, ready to be drawn.

    Raises
    ------
    InvalidInputError
        If the arrays cannot be evaluated, or `vary` is unknown.

    Examples
    --------
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> labels, score = labeled_scores(500, n_anomalies=3, mean_length=9, seed=0)
    >>> sensitivity(labels, score, buffer=20, vary="noise")
    SensitivityDisplay(13 measures at 9 values of noise)
    """
    kind = _KINDS[check_choice("vary", vary, _KINDS)]
    first = _first_case(y_true, y_score)
    chosen = resolve_measures(measures)
    places = np.asarray(kind.range(buffer) if at is None else list(at), dtype=np.float64)
    settings = EvaluationSettings(buffer=buffer)
    values = [kind.apply(first, place, seed).values(chosen, settings) for place in places.tolist()]
    return SensitivityDisplay(vary, places, np.array(values), chosen, kind.label)


def compare_cases(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: int,
    vary: str = "threshold",
    at: tuple[float, float] | None = None,
    factor: float = 1.0,
    series: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = "paper",
    settings: EvaluationSettings | None = None,
    seed: int = 0,
) -> CasesDisplay:
    """Evaluate two variants of a score.

    Parameters
    ----------
    y_true, y_score, buffer, vary, measures, seed
        As for :func:`sensitivity`.
    at : tuple of two floats, optional
        The two values of the property that varies.
    factor : float, default=1.0
        Threshold in standard deviations above the mean, unless the threshold varies.
    series : array-like, optional
        Series to show above the scores.
    settings : EvaluationSettings, optional
        Other settings of the measures; `buffer` and the threshold replace theirs.

    Returns
    -------
    CasesDisplay
        Scores, thresholds and values, ready to be drawn.

    Raises
    ------
    InvalidInputError
        If the arrays cannot be evaluated, `vary` is unknown, or no crop has a requested share.

    Examples
    --------
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> labels, score = labeled_scores(500, n_anomalies=3, mean_length=9, seed=0)
    >>> compare_cases(labels, score, buffer=20, vary="lag")
    CasesDisplay('lag 0' and 'lag 5', 13 measures)
    """
    kind = _KINDS[check_choice("vary", vary, _KINDS)]
    places = kind.pair(buffer) if at is None else tuple(at)
    if len(places) != 2:
        raise InvalidInputError(f"`at` must be two values, got {len(places)}")
    found = _first_case(y_true, y_score)
    first = _Case(found.y_true, found.y_score, factor)
    chosen = resolve_measures(measures)
    own = (settings or EvaluationSettings()).replace(buffer=buffer)
    cases = []
    for place in places:
        case = kind.apply(first, place, seed)
        if not case.y_true.size:
            raise InvalidInputError(
                f"`at` must hold shares that crops of the series reach, got {place:g}; choose a "
                "share closer to the share of the whole series"
            )
        values = np.array(case.values(chosen, own))
        name = kind.short.format(place)
        cases.append(Case(name, case.y_true, case.y_score, case.threshold, values, case.start))
    line = None if series is None else check_series(series)
    return CasesDisplay(cases, chosen, first.y_true, line)
