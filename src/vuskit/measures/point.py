"""Precision, Recall, F and Precision@k: every point for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_int, check_labels_beside, check_pair, check_prediction
from vuskit.measures.best_level import at_best
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["f_score", "precision", "precision_at_k", "recall"]

_FAWCETT = "doi:10.1016/j.patrec.2005.10.010"


def thresholded(
    y_true: ArrayLike,
    y_score: ArrayLike | None,
    threshold: ThresholdRule,
    y_pred: ArrayLike | None,
) -> Workspace:
    """Workspace of a threshold-based measure, from a score or from a prediction."""
    if (y_score is None) == (y_pred is None):
        given = "neither" if y_score is None else "both"
        raise InvalidInputError(f"`y_score` or `y_pred` must be given, got {given}")
    if y_pred is not None:
        labels = check_labels_beside(y_true, y_pred=y_pred)
        return Workspace(
            PreparedLabels(labels, None), None, prediction=check_prediction(y_pred, labels)
        )
    assert y_score is not None
    labels, scores = check_pair(y_true, y_score)
    workspace = Workspace(PreparedLabels(labels, None), scores, threshold)
    workspace.warn_if_predicted()
    return workspace


def combined(precision_value: float, recall_value: float, beta: float) -> float:
    """F-score of a precision and a recall; 0 where both are 0."""
    weight = beta * beta
    total = weight * precision_value + recall_value
    return (1 + weight) * precision_value * recall_value / total if total > 0 else 0.0


def check_beta(beta: Any) -> float:
    """Read the weight of recall in an F-score."""
    number = float(beta) if isinstance(beta, (int, float, np.number)) else float("nan")
    if not 0 < number < float("inf"):
        raise InvalidInputError(f"`beta` must be a number > 0, got {beta!r}")
    return number


def _parts(workspace: Workspace, beta: float = 1.0) -> tuple[float, float]:
    hits, predicted = at_best(workspace, "f_score", beta).confusion
    return hits / predicted if predicted else 0.0, hits / workspace.labels.n_anomalous


def _precision(workspace: Workspace) -> float:
    return _parts(workspace)[0]


def _recall(workspace: Workspace) -> float:
    return _parts(workspace)[1]


def _f_score(workspace: Workspace, beta: float = 1.0) -> float:
    return combined(*_parts(workspace, beta), beta)


def _precision_at_k(workspace: Workspace) -> float:
    hits, k = workspace.top_counts()
    return hits / k


@register_measure(
    name="precision",
    title="Precision",
    family="threshold",
    reference=_FAWCETT,
    paper=True,
    shared=_precision,
)
def precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Share of the predicted points that are anomalous.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,), optional
        Anomaly scores, finite, higher meaning more anomalous.
    threshold : {"sigma", "quantile", "best"}, number or callable, default="sigma"
        Points with a score >= the threshold are predicted. ``"sigma"`` is the mean plus three
        standard deviations of the score; ``Sigma(factor)`` and ``Quantile(q)`` have their own
        parameters; a callable gets the scores. ``"best"`` looks at the labels: it is the threshold
        at which the F-score (of this kind) is highest, an upper bound of what a rule can reach.
    y_pred : array-like of shape (n,), optional
        A prediction of 0 and 1, instead of a score and a threshold.

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
    >>> precision([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.8, 0.7], threshold=0.7)
    0.6666666666666666
    >>> precision([0, 0, 1, 1, 0], y_pred=[0, 0, 1, 0, 0])
    1.0
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "precision"):
        return float("nan")
    return _precision(workspace)


@register_measure(
    name="recall",
    title="Recall",
    family="threshold",
    reference=_FAWCETT,
    paper=True,
    shared=_recall,
)
def recall(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Share of the anomalous points that are predicted.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`.

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
    >>> recall([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7], threshold=0.7)
    0.5
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "recall"):
        return float("nan")
    return _recall(workspace)


@register_measure(
    name="f_score",
    title="F",
    family="threshold",
    reference=_FAWCETT,
    paper=True,
    shared=_f_score,
)
def f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    beta: float = 1.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of precision and recall.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`.
    beta : float, default=1
        Above 1, recall weighs more.

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
    >>> f_score([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7], threshold=0.7)
    0.5
    """
    beta = check_beta(beta)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "f_score"):
        return float("nan")
    return _f_score(workspace, beta)


@register_measure(
    name="precision_at_k",
    title="Precision@k",
    family="threshold",
    reference=_FAWCETT,
    paper=True,
    shared=_precision_at_k,
    needs="levels",
)
def precision_at_k(y_true: ArrayLike, y_score: ArrayLike, *, k: int | None = None) -> float:
    """Precision of the k highest scores.

    Points tied at the k-th place count with the share that a random choice among them would give,
    so the value does not depend on the order of the points.

    Parameters
    ----------
    y_true, y_score
        As for :func:`precision`.
    k : int, optional
        Number of points looked at; by default the number of anomalous points.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays cannot be evaluated, or k is not from 1 to n.

    Examples
    --------
    >>> precision_at_k([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7])
    0.5
    """
    labels, scores = check_pair(y_true, y_score)
    workspace = Workspace(
        PreparedLabels(labels, None), scores, k=check_k(k, labels.n), needs={"levels"}
    )
    if not defined(labels, "precision_at_k"):
        return float("nan")
    return _precision_at_k(workspace)


def check_k(k: int | None, n: int) -> int | None:
    """Read the k of Precision@k."""
    if k is None:
        return None
    number = check_int("k", k, minimum=1)
    if number > n:
        raise InvalidInputError(f"`k` must be at most the number of points {n}, got {number}")
    return number
