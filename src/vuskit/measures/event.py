"""Event-wise, composite and point-adjusted measures: one predicted point detects an anomaly."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from vuskit.inputs import Labels
from vuskit.intervals import meets
from vuskit.kernels.best_thresholds import (
    best_composite_level,
    best_event_level,
    best_point_adjusted_level,
)
from vuskit.kernels.ranking import Scores
from vuskit.measures.point import harmonic_mean
from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import ThresholdOptions
from vuskit.measures.workspace import Prediction, Workspace
from vuskit.parameters import flag, number

__all__ = [
    "composite_f_score",
    "event_f_score",
    "event_precision",
    "event_recall",
    "point_adjusted_f_score",
    "point_adjusted_precision",
    "point_adjusted_recall",
]

_PROPERTIES = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=False,
    sequence_adapted=True,
    parameter_free=False,
)

_HUNDMAN = "doi:10.1145/3219819.3219845"
_GARG = "doi:10.1109/TNNLS.2021.3105827"
_XU = "doi:10.1145/3178876.3185996"


# --- by events -----------------------------------------------------------------------------------


def _best_event_level(
    scores: Scores, labels: Labels, *, beta: float = 1.0, false_alarm_rate: bool = False
) -> Any:
    events = labels.starts, labels.stops
    return best_event_level(scores, labels.inside, *events, false_alarm_rate, beta)


def _best_composite_level(scores: Scores, labels: Labels, *, beta: float = 1.0) -> Any:
    return best_composite_level(scores, labels.inside, labels.starts, labels.stops, beta)


def _event_counts(prediction: Prediction) -> tuple[int, int]:
    """Return the number of detected anomalies and the number of false alarms."""

    def count() -> tuple[int, int]:
        events = prediction.labels.starts, prediction.labels.stops
        found = int(np.count_nonzero(meets(*events, *prediction.ranges)))
        return found, int(np.count_nonzero(~meets(*prediction.ranges, *events)))

    counts: tuple[int, int] = prediction.keep("event counts", count)
    return counts


def _event_precision_and_recall(
    work: Workspace, settings: ThresholdOptions, false_alarm_rate: bool = False, beta: float = 1.0
) -> tuple[float, float]:
    prediction = work.predict(
        _best_event_level, settings, beta=beta, false_alarm_rate=false_alarm_rate
    )
    found, false = _event_counts(prediction)
    precision = found / (found + false) if found else 0.0
    if false_alarm_rate:
        hits, predicted = prediction.confusion
        precision *= 1 - (predicted - hits) / (work.n - work.labels.n_anomalous)
    return precision, found / work.labels.starts.size


@measure(
    title="Event-P",
    family="event",
    reference=_HUNDMAN,
    parameters={"false_alarm_rate": flag},
    settings=ThresholdOptions,
    properties=_PROPERTIES,
)
def event_precision(
    work: Workspace, *, false_alarm_rate: bool = False, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the number of detected anomalies, divided by that number plus the false alarms.

    An anomaly is detected if at least one of its points is predicted. A false alarm is a predicted
    range (a maximal run of predicted points) that overlaps no anomaly. A range that overlaps an
    anomaly is never false, regardless of its length. Predicting every point therefore gives 1,
    unless ``false_alarm_rate`` is set.

    Parameters
    ----------
    false_alarm_rate : bool, default=False
        Multiply by 1 minus the fraction of normal points that are predicted (El Amine Sehili and
        Zhang 2023).

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    Two ranges overlap the anomaly, one is a false alarm:

    >>> event_precision([0, 1, 1, 1, 0, 0, 0], y_pred=[1, 1, 0, 1, 0, 0, 1])
    0.5
    """
    return _event_precision_and_recall(work, settings, false_alarm_rate)[0]


@measure(
    title="Event-R",
    family="event",
    reference=_HUNDMAN,
    settings=ThresholdOptions,
    properties=_PROPERTIES,
)
def event_recall(work: Workspace, **settings: Unpack[ThresholdOptions]) -> float:
    """Return the fraction of anomalies with at least one predicted point.

    There is no buffer: a prediction next to an anomaly does not detect it. :func:`events` with a
    buffer counts it as found.

    ``threshold="best"`` maximizes the event F-score; this is always the lowest score.

    Examples
    --------
    >>> event_recall([0, 1, 1, 1, 0, 0, 1], y_pred=[0, 0, 0, 1, 1, 0, 0])
    0.5
    """
    return _event_precision_and_recall(work, settings)[1]


@measure(
    title="Event-F",
    family="event",
    reference=_HUNDMAN,
    parameters={"beta": number(above=0), "false_alarm_rate": flag},
    settings=ThresholdOptions,
    best_threshold=_best_event_level,
    properties=_PROPERTIES,
)
def event_f_score(
    work: Workspace,
    *,
    beta: float = 1.0,
    false_alarm_rate: bool = False,
    **settings: Unpack[ThresholdOptions],
) -> float:
    """Return the weighted harmonic mean of event precision and event recall.

    ``threshold="best"`` always gives 1 unless ``false_alarm_rate`` is set, because predicting every
    point produces a single range without a false alarm.

    Parameters
    ----------
    false_alarm_rate
        As for :func:`event_precision`.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> event_f_score([0, 1, 1, 1, 0, 0, 1], y_pred=[1, 0, 0, 1, 0, 0, 0])
    0.5
    """
    return harmonic_mean(*_event_precision_and_recall(work, settings, false_alarm_rate, beta), beta)


@measure(
    title="Composite-F",
    family="event",
    reference=_GARG,
    parameters={"beta": number(above=0)},
    settings=ThresholdOptions,
    best_threshold=_best_composite_level,
    properties=_PROPERTIES,
)
def composite_f_score(
    work: Workspace, *, beta: float = 1.0, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the weighted harmonic mean of point-wise precision and event-wise recall.

    One predicted point detects an anomaly, and every false point lowers the precision. Unlike point
    adjustment, the measure gives no credit for points that were not predicted.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    One of two predicted points is anomalous, one of two anomalies is detected:

    >>> composite_f_score([0, 1, 1, 1, 0, 0, 1], y_pred=[1, 0, 0, 1, 0, 0, 0])
    0.5
    """
    prediction = work.predict(_best_composite_level, settings, beta=beta)
    hits, predicted = prediction.confusion
    found, _ = _event_counts(prediction)
    point_precision = hits / predicted if predicted else 0.0
    return harmonic_mean(point_precision, found / work.labels.starts.size, beta)


# --- by points, after point adjustment -----------------------------------------------------------


def _best_adjusted_level(
    scores: Scores, labels: Labels, *, beta: float = 1.0, k: float = 0.0
) -> Any:
    return best_point_adjusted_level(scores, labels.inside, labels.stops - labels.starts, k, beta)


def _adjusted_precision_and_recall(
    work: Workspace, settings: ThresholdOptions, k: float, beta: float = 1.0
) -> tuple[float, float]:
    prediction = work.predict(_best_adjusted_level, settings, beta=beta, k=k)

    def count() -> tuple[int, int]:
        """Return the number of adjusted true positives and of false positives."""
        labels = prediction.labels
        lengths = labels.stops - labels.starts
        bounds = np.searchsorted(prediction.positions, np.stack((labels.starts, labels.stops)))
        hits = bounds[1] - bounds[0]
        found = np.where(hits / lengths > k, lengths, hits)
        return int(found.sum()), int(prediction.positions.size - hits.sum())

    found, false = prediction.keep(("point-adjusted counts", k), count)
    return found / (found + false) if found else 0.0, found / work.labels.n_anomalous


_POINT_ADJUSTED: dict[str, Any] = {
    "family": "event",
    "reference": _XU,
    "parameters": {"k": number(0, 1), "beta": number(above=0)},
    "settings": ThresholdOptions,
    "misleading_without_chance": True,
    "properties": _PROPERTIES,
}


@measure(title="PA-P", **_POINT_ADJUSTED)
def point_adjusted_precision(
    work: Workspace, *, k: float = 0.0, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the point-wise precision after point adjustment.

    Point adjustment marks all points of an anomaly as predicted if one of them is.

    Parameters
    ----------
    k
        As for :func:`point_adjusted_f_score`.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> point_adjusted_precision([1, 1, 1, 0, 0, 0], y_pred=[0, 0, 1, 0, 1, 0])
    0.75
    """
    return _adjusted_precision_and_recall(work, settings, k)[0]


@measure(title="PA-R", **_POINT_ADJUSTED)
def point_adjusted_recall(
    work: Workspace, *, k: float = 0.0, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the point-wise recall after point adjustment.

    Parameters
    ----------
    k
        As for :func:`point_adjusted_f_score`.

    Examples
    --------
    >>> point_adjusted_recall([1, 1, 1, 0, 0, 1], y_pred=[0, 0, 1, 0, 1, 0])
    0.75
    """
    return _adjusted_precision_and_recall(work, settings, k)[1]


@measure(title="PA-F", best_threshold=_best_adjusted_level, **_POINT_ADJUSTED)
def point_adjusted_f_score(
    work: Workspace, *, k: float = 0.0, beta: float = 1.0, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the point-wise F-score after point adjustment.

    Point adjustment marks all points of an anomaly as predicted if one of them is. The value is
    optimistic: one lucky point earns credit for a whole anomaly, so random scores reach high values
    if anomalies are long. Report it together with :func:`chance_level`; the tables of
    :func:`evaluate` show both.

    Parameters
    ----------
    k : float, default=0
        PA%K (Kim et al. 2022): adjust only anomalies of which more than this fraction is predicted.
        With 0, a single point suffices; with 1, no anomaly is adjusted.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> y_true, y_pred = [1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> from vuskit import f_score
    >>> round(f_score(y_true, y_pred=y_pred), 3)
    0.4
    >>> round(point_adjusted_f_score(y_true, y_pred=y_pred), 3)
    0.857
    >>> round(point_adjusted_f_score(y_true, y_pred=y_pred, k=0.5), 3)
    0.4
    """
    return harmonic_mean(*_adjusted_precision_and_recall(work, settings, k, beta), beta)
