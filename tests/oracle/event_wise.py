"""Measures that ask of whole anomalies whether they were found, and the best threshold of each."""

import math

from oracle.points import combine, f_score, hits, precision, predictions, ratio
from oracle.runs import events, one_class


def meet(one, other):
    """Whether two half-open runs share a point."""
    return max(one[0], other[0]) < min(one[1], other[1])


def event_counts(y_true, y_score, threshold, y_pred):
    """Anomalies found, anomalies, and predicted runs that meet no anomaly."""
    predicted = events(predictions(y_score, threshold, y_pred))
    anomalies = events(y_true)
    found = sum(1 for event in anomalies if any(meet(event, run) for run in predicted))
    false = sum(1 for run in predicted if not any(meet(event, run) for event in anomalies))
    return found, len(anomalies), false


def event_precision(y_true, y_score=None, *, false_alarm_rate=False, threshold=None, y_pred=None):
    """Anomalies found, of these and the runs that meet none; fewer with many normal points."""
    if one_class(y_true):
        return math.nan
    found, _, false = event_counts(y_true, y_score, threshold, y_pred)
    share = ratio(found, found + false)
    if not false_alarm_rate:
        return share
    predicted = predictions(y_score, threshold, y_pred)
    normal = [p for label, p in zip(y_true, predicted, strict=True) if not label]
    return share * (1 - sum(normal) / len(normal))


def event_recall(y_true, y_score=None, *, threshold=None, y_pred=None):
    """Share of the anomalies that hold a predicted point."""
    if one_class(y_true):
        return math.nan
    found, anomalies, _ = event_counts(y_true, y_score, threshold, y_pred)
    return found / anomalies


def event_f_score(
    y_true, y_score=None, *, beta=1, false_alarm_rate=False, threshold=None, y_pred=None
):
    """Weighted harmonic mean of event precision and event recall."""
    cut = {"threshold": threshold, "y_pred": y_pred}
    return combine(
        event_precision(y_true, y_score, false_alarm_rate=false_alarm_rate, **cut),
        event_recall(y_true, y_score, **cut),
        beta,
    )


def composite_f_score(y_true, y_score=None, *, beta=1, threshold=None, y_pred=None):
    """Weighted harmonic mean of the points' precision and the events' recall."""
    cut = {"threshold": threshold, "y_pred": y_pred}
    return combine(precision(y_true, y_score, **cut), event_recall(y_true, y_score, **cut), beta)


def point_adjusted(labels, predicted, k):
    """The prediction with every anomaly filled of which more than a share k is predicted."""
    adjusted = list(predicted)
    for start, stop in events(labels):
        if sum(predicted[start:stop]) / (stop - start) > k:
            adjusted[start:stop] = [1] * (stop - start)
    return adjusted


def point_adjusted_precision(y_true, y_score=None, *, k=0, threshold=None, y_pred=None):
    """Precision after point adjustment."""
    if one_class(y_true):
        return math.nan
    adjusted = point_adjusted(y_true, predictions(y_score, threshold, y_pred), k)
    return ratio(hits(y_true, adjusted), sum(adjusted))


def point_adjusted_recall(y_true, y_score=None, *, k=0, threshold=None, y_pred=None):
    """Recall after point adjustment."""
    if one_class(y_true):
        return math.nan
    adjusted = point_adjusted(y_true, predictions(y_score, threshold, y_pred), k)
    return hits(y_true, adjusted) / sum(y_true)


def point_adjusted_f_score(y_true, y_score=None, *, k=0, beta=1, threshold=None, y_pred=None):
    """F-score after point adjustment."""
    cut = {"k": k, "threshold": threshold, "y_pred": y_pred}
    return combine(
        point_adjusted_precision(y_true, y_score, **cut),
        point_adjusted_recall(y_true, y_score, **cut),
        beta,
    )


def best(measure, y_true, y_score, **options):
    """Highest value of a measure over all thresholds, and the highest threshold that gives it."""
    tried = [
        (measure(y_true, y_score, threshold=threshold, **options), threshold)
        for threshold in sorted(set(y_score), reverse=True)
    ]
    value = max(value for value, _ in tried)
    return value, next(threshold for other, threshold in tried if other == value)


def best_f_score(y_true, y_score, *, beta=1):
    """Highest F-score by points over all thresholds."""
    return math.nan if one_class(y_true) else best(f_score, y_true, y_score, beta=beta)[0]


def ucr_score(y_true, y_score, *, slack=100):
    """Share of the highest points (one, unless tied) that lie in or near an anomaly."""
    if one_class(y_true):
        return math.nan
    top = [i for i, score in enumerate(y_score) if score == max(y_score)]
    near = 0
    for i in top:
        margins = [(start, stop, max(slack, stop - start)) for start, stop in events(y_true)]
        near += any(start - margin <= i <= stop - 1 + margin for start, stop, margin in margins)
    return near / len(top)
