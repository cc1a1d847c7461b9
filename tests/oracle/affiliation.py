"""Affiliation precision and recall (Huet et al., 2022), integrated a quarter of a point at a time.

Point i is the stretch [i, i + 1) of the time axis. Everything that is integrated is linear between
two neighbouring multiples of 1/4, so that the middle of each quarter gives its integral exactly.
"""

import itertools
import math

from oracle.points import combine, predictions
from oracle.runs import events, one_class


def zones(labels):
    """The part of the axis that is nearer to each anomaly than to any other."""
    runs = events(labels)
    middles = [(one[1] + other[0]) / 2 for one, other in itertools.pairwise(runs)]
    return list(zip(runs, [0, *middles], [*middles, len(labels)], strict=True))


def quarters(start, stop):
    """Middles of the quarters between two multiples of 1/2."""
    return [start + (k + 0.5) / 4 for k in range(round(4 * (stop - start)))]


def distance(x, ranges):
    """Distance from a place to the nearest of some ranges."""
    return min(max(start - x, x - stop, 0) for start, stop in ranges)


def share_further(run, near, zone):
    """Share of a zone that is at least `near` away from a run."""
    left, right = zone
    further = max(run[0] - near - left, 0) + max(right - run[1] - near, 0)
    return further / (right - left)


def parts(labels, y_score, threshold, y_pred):
    """Precision (None where nothing is predicted) and recall of every anomaly."""
    predicted = events(predictions(y_score, threshold, y_pred))
    found = []
    for run, left, right in zones(labels):
        inside = [(max(a, left), min(b, right)) for a, b in predicted if a < right and b > left]
        if not inside:
            found.append((None, 0.0))
            continue
        precisions = [
            share_further(run, distance(x, [run]), (left, right)) if distance(x, [run]) else 1.0
            for a, b in inside
            for x in quarters(a, b)
        ]
        recalls = [
            share_further((y, y), distance(y, inside), (left, right)) for y in quarters(*run)
        ]
        found.append((mean(precisions), mean(recalls)))
    return found


def mean(values):
    return math.fsum(values) / len(values)


def affiliation_precision(y_true, y_score=None, *, threshold=None, y_pred=None):
    """Mean over the anomalies with a prediction in their zone; zero where none has."""
    if one_class(y_true):
        return math.nan
    precisions = [p for p, _ in parts(y_true, y_score, threshold, y_pred) if p is not None]
    return mean(precisions) if precisions else 0.0


def affiliation_recall(y_true, y_score=None, *, threshold=None, y_pred=None):
    """Mean over all anomalies."""
    if one_class(y_true):
        return math.nan
    return mean([r for _, r in parts(y_true, y_score, threshold, y_pred)])


def affiliation_f_score(y_true, y_score=None, *, beta=1, threshold=None, y_pred=None):
    """Weighted harmonic mean of affiliation precision and recall."""
    cut = {"threshold": threshold, "y_pred": y_pred}
    return combine(
        affiliation_precision(y_true, y_score, **cut),
        affiliation_recall(y_true, y_score, **cut),
        beta,
    )
