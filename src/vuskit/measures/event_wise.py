"""Event-wise precision, recall and F, and the composite F: an anomaly is found or missed whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import Labels
from vuskit.kernels.best import best_composite_level, best_event_level
from vuskit.kernels.overlap import meets
from vuskit.kernels.ranking import Scores
from vuskit.measures.best import at_best, finds_best
from vuskit.measures.point import check_beta, combined, thresholded
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import Workspace, defined

__all__ = ["composite_f_score", "event_f_score", "event_precision", "event_recall"]

_HUNDMAN = "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs, KDD 2018"
_GARG = (
    "Garg et al., An Evaluation of Anomaly Detection and Diagnosis in Multivariate Time Series, "
    "TNNLS 2022"
)


@finds_best("event_f_score")
def _best_level(scores: Scores, labels: Labels, beta: float) -> Any:
    return best_event_level(scores, labels.inside, labels.starts, labels.stops, beta)


@finds_best("composite_f_score")
def _best_composite_level(scores: Scores, labels: Labels, beta: float) -> Any:
    return best_composite_level(scores, labels.inside, labels.starts, labels.stops, beta)


def _counts(workspace: Workspace) -> tuple[int, int]:
    """Anomalies that hold a predicted point, and predicted ranges that meet none."""

    def count() -> tuple[int, int]:
        events = workspace.labels.starts, workspace.labels.stops
        ranges = workspace.predicted_ranges
        found = int(np.count_nonzero(meets(*events, *ranges)))
        return found, int(np.count_nonzero(~meets(*ranges, *events)))

    counts: tuple[int, int] = workspace.keep("event counts", count)
    return counts


def _precision(workspace: Workspace, beta: float = 1.0) -> float:
    found, false = _counts(at_best(workspace, "event_f_score", beta))
    return found / (found + false) if found else 0.0


def _recall(workspace: Workspace, beta: float = 1.0) -> float:
    found, _ = _counts(at_best(workspace, "event_f_score", beta))
    return found / workspace.labels.starts.size


def _f_score(workspace: Workspace, beta: float = 1.0) -> float:
    return combined(_precision(workspace, beta), _recall(workspace, beta), beta)


def _composite(workspace: Workspace, beta: float = 1.0) -> float:
    cut = at_best(workspace, "composite_f_score", beta)
    hits, predicted = cut.confusion
    found, _ = _counts(cut)
    point_precision = hits / predicted if predicted else 0.0
    return combined(point_precision, found / workspace.labels.starts.size, beta)


@register_measure(
    name="event_precision",
    title="Event precision",
    family="event",
    reference=_HUNDMAN,
    extra=True,
    shared=_precision,
)
def event_precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Anomalies found, as a share of these and the false alarms.

    ``found / (found + false)``: an anomaly is found when one of its points is predicted; a false
    alarm is a predicted range (a maximal run of predicted points) that meets no anomaly. A range
    that meets an anomaly is never false, however long it is: predicting everything gives 1.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest event F.

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
    Two ranges meet the anomaly, one meets none:

    >>> event_precision([0, 1, 1, 1, 0, 0, 0], y_pred=[1, 1, 0, 1, 0, 0, 1])
    0.5
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "event_precision"):
        return float("nan")
    return _precision(workspace)


@register_measure(
    name="event_recall",
    title="Event recall",
    family="event",
    reference=_HUNDMAN,
    extra=True,
    shared=_recall,
)
def event_recall(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Share of the anomalies that hold a predicted point.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest event F.

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
    >>> event_recall([0, 1, 1, 1, 0, 0, 1], y_pred=[0, 0, 0, 1, 1, 0, 0])
    0.5
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "event_recall"):
        return float("nan")
    return _recall(workspace)


@register_measure(
    name="event_f_score",
    title="Event F",
    family="event",
    reference=_HUNDMAN,
    extra=True,
    shared=_f_score,
)
def event_f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    beta: float = 1.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of event precision and event recall.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` gives the highest value there is.
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
    >>> event_f_score([0, 1, 1, 1, 0, 0, 1], y_pred=[1, 0, 0, 1, 0, 0, 0])
    0.5
    """
    beta = check_beta(beta)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "event_f_score"):
        return float("nan")
    return _f_score(workspace, beta)


@register_measure(
    name="composite_f_score",
    title="Composite F",
    family="event",
    reference=_GARG,
    extra=True,
    shared=_composite,
)
def composite_f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    beta: float = 1.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of the precision by points and the recall by events.

    An anomaly needs one predicted point to be found, and every false point counts: unlike point
    adjustment, it gives no credit for points that were not predicted.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` gives the highest value there is.
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
    One of two predicted points is anomalous, one of two anomalies is found:

    >>> composite_f_score([0, 1, 1, 1, 0, 0, 1], y_pred=[1, 0, 0, 1, 0, 0, 0])
    0.5
    """
    beta = check_beta(beta)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "composite_f_score"):
        return float("nan")
    return _composite(workspace, beta)
