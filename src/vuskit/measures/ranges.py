"""Range-based precision, recall and F (Tatbul et al. 2018): anomalies and predictions as ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.inputs import Labels, check_choice, check_fraction
from vuskit.intervals import Ints
from vuskit.kernels.overlap import overlaps
from vuskit.kernels.range_best import best_range_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.best_level import at_best, finds_best
from vuskit.measures.point import check_beta, combined, thresholded
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["range_f_score", "range_precision", "range_recall"]

_TATBUL = "Tatbul et al., Precision and Recall for Time Series, NeurIPS 2018"

Bias = str | Callable[[int, int], float]
Cardinality = str | Callable[[int], float]

Floats = NDArray[np.float64]


def _weight_up_to(bias: str, offset: Ints, length: Ints) -> Floats:
    """Sum of the positional weights of the first ``offset`` points of ranges of some lengths."""
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


_BIASES = ("flat", "front", "middle", "back")
_CARDINALITIES = ("one", "reciprocal")


def _check_weights(cardinality: Cardinality, **biases: Bias) -> None:
    for name, bias in biases.items():
        if not callable(bias):
            check_choice(name, bias, _BIASES)
    if not callable(cardinality):
        check_choice("cardinality", cardinality, _CARDINALITIES)


def _covered_share(
    starts: Ints, stops: Ints, index: Ints, first: Ints, last: Ints, bias: Bias
) -> Floats:
    """Positional share of each range that the pieces cover."""
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
    """Mean reward of ``ranges`` for how ``others`` cover them; 0 where there are none of either."""
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


def _events(workspace: Workspace) -> tuple[Ints, Ints]:
    return workspace.labels.starts, workspace.labels.stops


def _precision(
    workspace: Workspace, bias: Bias = "flat", cardinality: Cardinality = "one"
) -> float:
    return _rewards(workspace.predicted_ranges, _events(workspace), bias, cardinality)


def _recall(
    workspace: Workspace,
    bias: Bias = "flat",
    cardinality: Cardinality = "one",
    alpha: float = 0.0,
) -> float:
    return _rewards(_events(workspace), workspace.predicted_ranges, bias, cardinality, alpha)


@finds_best("range_f_score")
def _best_level(
    scores: Scores,
    labels: Labels,
    beta: float,
    alpha: float = 0.0,
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
    cardinality: Cardinality = "one",
) -> Any:
    alpha = check_fraction("alpha", alpha)
    _check_weights(cardinality, precision_bias=precision_bias, recall_bias=recall_bias)
    if precision_bias == recall_bias == "flat" and cardinality == "one":
        events = labels.starts, labels.stops
        return best_range_level(scores, labels.inside, *events, alpha, beta)

    def value(level: Any) -> float:
        cut = Workspace(PreparedLabels(labels, None), scores, prediction=scores >= level)
        found = _precision(cut, precision_bias, cardinality)
        return combined(found, _recall(cut, recall_bias, cardinality, alpha), beta)

    # Other weights have no shorter way than trying every score.
    return max(np.unique(scores)[::-1], key=value)


def _shared_precision(workspace: Workspace) -> float:
    cut = at_best(workspace, "range_f_score")
    value: float = cut.keep("range_precision", lambda: _precision(cut))
    return value


def _shared_recall(workspace: Workspace) -> float:
    cut = at_best(workspace, "range_f_score")
    value: float = cut.keep("range_recall", lambda: _recall(cut))
    return value


def _shared_f(workspace: Workspace) -> float:
    return combined(_shared_precision(workspace), _shared_recall(workspace), 1.0)


@register_measure(
    name="range_precision",
    title="Rprecision",
    family="range",
    reference=_TATBUL,
    paper=True,
    shared=_shared_precision,
)
def range_precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    bias: Bias = "flat",
    cardinality: Cardinality = "one",
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Mean share of the predicted ranges that lies in anomalies.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`vuskit.precision`; ``threshold="best"`` is that of the highest
        :func:`range_f_score` with its defaults.
    bias : {"flat", "front", "middle", "back"} or callable, default="flat"
        Which positions of a range weigh more; ``bias(i, length)`` gives the weight of position i,
        counted from 1.
    cardinality : {"one", "reciprocal"} or callable, default="one"
        Factor for a range that meets several anomalies; ``cardinality(count)`` gives it.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> range_precision([0, 1, 1, 1, 0, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    """
    _check_weights(cardinality, bias=bias)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "range_precision"):
        return float("nan")
    return _precision(at_best(workspace, "range_f_score"), bias, cardinality)


@register_measure(
    name="range_recall",
    title="Rrecall",
    family="range",
    reference=_TATBUL,
    paper=True,
    shared=_shared_recall,
)
def range_recall(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    alpha: float = 0.0,
    bias: Bias = "flat",
    cardinality: Cardinality = "one",
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Mean share of the anomalies that is predicted.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`vuskit.precision`; ``threshold="best"`` is that of the highest
        :func:`range_f_score` with its defaults.
    alpha : float, default=0
        Weight, from 0 to 1, of having found any point of an anomaly.
    bias, cardinality
        As for :func:`range_precision`.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> range_recall([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    >>> range_recall([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1], bias="front")
    0.4
    """
    alpha = check_fraction("alpha", alpha)
    _check_weights(cardinality, bias=bias)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "range_recall"):
        return float("nan")
    return _recall(at_best(workspace, "range_f_score"), bias, cardinality, alpha)


@register_measure(
    name="range_f_score",
    title="RF",
    family="range",
    reference=_TATBUL,
    paper=True,
    shared=_shared_f,
)
def range_f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    beta: float = 1.0,
    alpha: float = 0.0,
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
    cardinality: Cardinality = "one",
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of range precision and range recall.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`vuskit.precision`; ``threshold="best"`` gives the highest value there is.
    beta : float, default=1
        Above 1, recall weighs more.
    alpha
        As for :func:`range_recall`.
    precision_bias, recall_bias
        The ``bias`` of :func:`range_precision` and of :func:`range_recall`.
    cardinality
        As for :func:`range_precision`, for both.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> range_f_score([0, 1, 1, 1, 1, 0], y_pred=[1, 1, 0, 0, 0, 1])
    0.25
    """
    beta, alpha = check_beta(beta), check_fraction("alpha", alpha)
    _check_weights(cardinality, precision_bias=precision_bias, recall_bias=recall_bias)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "range_f_score"):
        return float("nan")
    cut = at_best(
        workspace,
        "range_f_score",
        beta,
        alpha=alpha,
        precision_bias=precision_bias,
        recall_bias=recall_bias,
        cardinality=cardinality,
    )
    return combined(
        _precision(cut, precision_bias, cardinality),
        _recall(cut, recall_bias, cardinality, alpha),
        beta,
    )
