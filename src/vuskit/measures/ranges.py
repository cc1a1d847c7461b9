"""Range-based precision, recall and F-score (Tatbul et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vuskit.inputs import Labels
from vuskit.intervals import Ints, overlaps
from vuskit.kernels.best_thresholds import best_range_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.point import harmonic_mean
from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import ThresholdOptions
from vuskit.measures.workspace import Prediction, Workspace
from vuskit.parameters import Check, number, one_of

__all__ = ["range_f_score", "range_precision", "range_recall"]

_PROPERTIES = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=False,
    sequence_adapted=True,
    parameter_free=False,
)

_TATBUL = "Tatbul et al., Precision and Recall for Time Series, NeurIPS 2018"

Bias = str | Callable[[int, int], float]
Cardinality = str | Callable[[int], float]

Floats = NDArray[np.float64]


def _weight_up_to(bias: str, offset: Ints, length: Ints) -> Floats:
    """Return the sum of the positional weights of the first ``offset`` points of each range."""
    k, n = offset.astype(np.float64), length.astype(np.float64)
    rising = k * (k + 1) / 2
    if bias == "flat":
        return k
    if bias == "back":
        return rising
    if bias == "front":
        return k * (n + 1) - rising
    # middle: position i (from 1) weighs i up to the middle, n - i + 1 after it
    half = n // 2
    beyond = np.maximum(k - half, 0.0)
    up = np.minimum(k, half)
    falling = beyond * (n - half + 1) - beyond * (beyond + 1) / 2
    return np.asarray(up * (up + 1) / 2 + falling, dtype=np.float64)


def _one_of_or_callable(*names: str) -> Check:
    check = one_of(*names)
    return Check(
        f"{check.words} or a callable",
        lambda name, value: value if callable(value) else check(name, value),
        check.choices,
    )


_BIAS = _one_of_or_callable("flat", "front", "middle", "back")
_CARDINALITY = _one_of_or_callable("one", "reciprocal")


def _covered_share(
    starts: Ints, stops: Ints, index: Ints, first: Ints, last: Ints, bias: Bias
) -> Floats:
    """Return the weighted fraction of each range that the pieces cover."""
    length = stops - starts
    if callable(bias):
        share = np.zeros(starts.size)
        for i, a, b in zip(index, first - starts[index], last - starts[index], strict=True):
            size = int(length[i])
            total = sum(bias(j, size) for j in range(1, size + 1))
            share[i] += sum(bias(j, size) for j in range(int(a) + 1, int(b) + 1)) / total
        return share
    whole = _weight_up_to(bias, length, length)
    upper = _weight_up_to(bias, last - starts[index], length[index])
    lower = _weight_up_to(bias, first - starts[index], length[index])
    covered = np.bincount(index, weights=upper - lower, minlength=starts.size)
    return np.asarray(covered / whole, dtype=np.float64)


def _rewards(
    ranges: tuple[Ints, Ints],
    others: tuple[Ints, Ints],
    bias: Bias,
    cardinality: Cardinality,
    alpha: float = 0.0,
) -> float:
    """Return the mean reward of ``ranges`` covered by ``others``; 0 if either is empty."""
    starts, stops = ranges
    if starts.size == 0 or others[0].size == 0:
        return 0.0
    index, first, last = overlaps(starts, stops, *others)
    share = _covered_share(starts, stops, index, first, last, bias)
    pieces = np.bincount(index, minlength=starts.size)
    many = pieces > 1
    if many.any() and cardinality != "one":
        if callable(cardinality):
            share[many] *= [float(cardinality(int(count))) for count in pieces[many]]
        else:
            share[many] /= pieces[many]
    reward = alpha * (pieces > 0) + (1.0 - alpha) * share
    return min(float(reward.mean()), 1.0)


def _precision(prediction: Prediction, bias: Bias, cardinality: Cardinality) -> float:
    events = prediction.labels.starts, prediction.labels.stops

    def reward() -> float:
        return _rewards(prediction.ranges, events, bias, cardinality)

    value: float = prediction.keep(("range precision", bias, cardinality), reward)
    return value


def _recall(prediction: Prediction, bias: Bias, cardinality: Cardinality, alpha: float) -> float:
    events = prediction.labels.starts, prediction.labels.stops

    def reward() -> float:
        return _rewards(events, prediction.ranges, bias, cardinality, alpha)

    value: float = prediction.keep(("range recall", bias, cardinality, alpha), reward)
    return value


def _best_level(
    scores: Scores,
    labels: Labels,
    *,
    beta: float = 1.0,
    alpha: float = 0.0,
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
    cardinality: Cardinality = "one",
) -> Any:
    if precision_bias == recall_bias == "flat" and cardinality == "one":
        events = labels.starts, labels.stops
        return best_range_level(scores, labels.inside, *events, alpha, beta)

    def value(level: Any) -> float:
        prediction = Prediction(labels, scores, level)
        precision = _precision(prediction, precision_bias, cardinality)
        return harmonic_mean(precision, _recall(prediction, recall_bias, cardinality, alpha), beta)

    # Other weights require trying every score.
    return max(np.unique(scores)[::-1], key=value)


@measure(
    title="Rprecision",
    family="range",
    group="paper",
    reference=_TATBUL,
    parameters={"bias": _BIAS, "cardinality": _CARDINALITY},
    settings=ThresholdOptions,
    properties=_PROPERTIES,
)
def range_precision(
    work: Workspace,
    *,
    bias: Bias = "flat",
    cardinality: Cardinality = "one",
    **settings: Unpack[ThresholdOptions],
) -> float:
    """Return the mean fraction of each predicted range that lies in anomalies.

    ``threshold="best"`` maximizes :func:`range_f_score` with its default options.

    Parameters
    ----------
    bias : {"flat", "front", "middle", "back"} or callable, default="flat"
        Positions of a range with more weight. A callable ``bias(i, length)`` returns the weight of
        position i, counted from 1.
    cardinality : {"one", "reciprocal"} or callable, default="one"
        Factor for a range that overlaps several anomalies. A callable ``cardinality(count)``
        returns the factor.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> range_precision([0, 1, 1, 1, 0, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    """
    return _precision(work.predict(_best_level, settings), bias, cardinality)


@measure(
    title="Rrecall",
    family="range",
    group="paper",
    reference=_TATBUL,
    parameters={"alpha": number(0, 1), "bias": _BIAS, "cardinality": _CARDINALITY},
    settings=ThresholdOptions,
    properties=_PROPERTIES,
)
def range_recall(
    work: Workspace,
    *,
    alpha: float = 0.0,
    bias: Bias = "flat",
    cardinality: Cardinality = "one",
    **settings: Unpack[ThresholdOptions],
) -> float:
    """Return the mean fraction of each anomaly that is predicted.

    ``threshold="best"`` maximizes :func:`range_f_score` with its default options.

    Parameters
    ----------
    alpha : float, default=0
        Weight, from 0 to 1, of the reward for detecting at least one point of an anomaly.
    bias, cardinality
        As for :func:`range_precision`.

    Examples
    --------
    >>> range_recall([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    >>> range_recall([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1], bias="front")
    0.4
    """
    return _recall(work.predict(_best_level, settings), bias, cardinality, alpha)


@measure(
    title="RF",
    family="range",
    group="paper",
    reference=_TATBUL,
    parameters={
        "beta": number(above=0),
        "alpha": number(0, 1),
        "precision_bias": _BIAS,
        "recall_bias": _BIAS,
        "cardinality": _CARDINALITY,
    },
    settings=ThresholdOptions,
    best_threshold=_best_level,
    properties=_PROPERTIES,
)
def range_f_score(
    work: Workspace,
    *,
    beta: float = 1.0,
    alpha: float = 0.0,
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
    cardinality: Cardinality = "one",
    **settings: Unpack[ThresholdOptions],
) -> float:
    """Return the weighted harmonic mean of range precision and range recall.

    Parameters
    ----------
    alpha
        As for :func:`range_recall`.
    precision_bias, recall_bias
        The ``bias`` of :func:`range_precision` and of :func:`range_recall`.
    cardinality
        As for :func:`range_precision`, used for precision and recall.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> range_f_score([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    """
    prediction = work.predict(
        _best_level,
        settings,
        beta=beta,
        alpha=alpha,
        precision_bias=precision_bias,
        recall_bias=recall_bias,
        cardinality=cardinality,
    )
    precision = _precision(prediction, precision_bias, cardinality)
    return harmonic_mean(precision, _recall(prediction, recall_bias, cardinality, alpha), beta)
