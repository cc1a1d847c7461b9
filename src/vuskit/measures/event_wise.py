"""Event-wise precision, recall and F, and the composite F: an anomaly is found or missed whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import Labels
from vuskit.kernels.best import best_composite_level, best_event_level
from vuskit.kernels.overlap import meets
from vuskit.kernels.ranking import Scores
from vuskit.measures.best_level import at_best, finds_best
from vuskit.measures.point import check_beta, combined, thresholded
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import Workspace, defined

__all__ = ["composite_f_score", "event_f_score", "event_precision", "event_recall"]

_HUNDMAN = "doi:10.1145/3219819.3219845"
_GARG = "doi:10.1109/TNNLS.2021.3105827"


@finds_best("event_f_score")
def _best_level(scores: Scores, labels: Labels, beta: float, false_alarm_rate: bool = False) -> Any:
    events = labels.starts, labels.stops
    return best_event_level(scores, labels.inside, *events, false_alarm_rate, beta)


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


def _parts(workspace: Workspace, by_rate: bool, beta: float) -> tuple[float, float]:
    """Precision, times 1 - the false-alarm rate if asked for, and recall."""
    cut = at_best(workspace, "event_f_score", beta, false_alarm_rate=by_rate)
    labels = cut.labels
    found, false = _counts(cut)
    precision = found / (found + false) if found else 0.0
    if by_rate:
        hits, predicted = cut.confusion
        precision *= 1 - (predicted - hits) / (labels.n - labels.n_anomalous)
    return precision, found / labels.starts.size


def _precision(workspace: Workspace, by_rate: bool = False) -> float:
    return _parts(workspace, by_rate, 1.0)[0]


def _recall(workspace: Workspace) -> float:
    return _parts(workspace, False, 1.0)[1]


def _f_score(workspace: Workspace, by_rate: bool = False, beta: float = 1.0) -> float:
    return combined(*_parts(workspace, by_rate, beta), beta)


def _composite(workspace: Workspace, beta: float = 1.0) -> float:
    cut = at_best(workspace, "composite_f_score", beta)
    hits, predicted = cut.confusion
    found, _ = _counts(cut)
    point_precision = hits / predicted if predicted else 0.0
    return combined(point_precision, found / workspace.labels.starts.size, beta)


@register_measure(
    name="event_precision",
    title="Event-P",
    family="event",
    reference=_HUNDMAN,
    extra=True,
    shared=_precision,
)
def event_precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    false_alarm_rate: bool = False,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Anomalies found, as a share of these and the false alarms.

    ``found / (found + false)``: an anomaly is found when one of its points is predicted; a false
    alarm is a predicted range (a maximal run of predicted points) that meets no anomaly. A range
    that meets an anomaly is never false, however long it is: predicting everything gives 1, unless
    the false-alarm rate is asked for.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest event F.
    false_alarm_rate : bool, default=False
        Multiply by 1 minus the share of the normal points that is predicted (El Amine Sehili and
        Zhang 2023).

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
    return _precision(workspace, false_alarm_rate)


@register_measure(
    name="event_recall",
    title="Event-R",
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
        As for :func:`precision`; ``threshold="best"`` is that of the highest event F, the lowest
        score there is.

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
    title="Event-F",
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
    false_alarm_rate: bool = False,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of event precision and event recall.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` gives the highest value there is: always 1,
        because everything predicted is one range without a false alarm, unless the false-alarm rate
        is asked for.
    beta : float, default=1
        Above 1, recall weighs more.
    false_alarm_rate
        As for :func:`event_precision`.

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
    return _f_score(workspace, false_alarm_rate, beta)


@register_measure(
    name="composite_f_score",
    title="Composite-F",
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
