"""PATE (Ghorbani et al., 2024) as its authors compute it, with every score as a threshold."""

import math

from oracle.areas import trapezoid
from oracle.points import predictions, ratio
from oracle.runs import events, one_class
from oracle.vus import Ramps


def near_zones(runs, n, early, late):
    """First point of the zone before each event, and last point of the zone after it."""
    found = []
    for k, (start, stop) in enumerate(runs):
        next_start = runs[k + 1][0] if k + 1 < len(runs) else n
        previous_end = found[k - 1][1] if k else -1
        found.append(
            (max(0, start - early, previous_end + 1), min(stop - 1 + late, next_start - 1))
        )
    return found


def total_distance(x, run):
    """Sum of the distances from a point to all points of an event."""
    return sum(abs(x - y) for y in range(*run))


def rates(labels, predicted, early, late):
    """Precision and recall of one prediction with zones of some lengths."""
    runs = events(labels)
    worth = missed = 0.0
    for run, (first, last) in zip(runs, near_zones(runs, len(labels), early, late), strict=True):
        start, stop = run
        hit = [x for x in range(start, stop) if predicted[x]]
        worth += len(hit)
        for x in range(stop, last + 1):
            if predicted[x]:
                worth += 1 - total_distance(x, run) / total_distance(last, run)
        for x in range(first, start):
            if predicted[x] and hit:
                worth += 1 - total_distance(x, run) / total_distance(first, run)
        missed += miss(run, hit)
    return ratio(worth, sum(predicted)), ratio(worth, worth + missed)


def miss(run, hit):
    """Weight of the points of an event that were missed: late ones weigh less once it is found."""
    start, stop = run
    if not hit:
        return stop - start
    covered = 1  # length of the first predicted stretch
    while hit[0] + covered in hit:
        covered += 1
    whole = total_distance(stop - 1, run)
    weights = [
        1 - total_distance(x, (start, start + covered + 1)) / whole if x > start + covered else 1
        for x in range(start, stop)
        if x not in hit
    ]
    return math.fsum(weights)


def pate(y_true, y_score, *, buffer, side="both"):
    """Mean area under the precision-recall curves with and without the zones on either side."""
    if one_class(y_true):
        return math.nan
    ramps = Ramps.of(buffer, side)
    areas = []
    for early in (0, ramps.before):
        for late in (0, ramps.after):
            recalls, precisions = [0.0], [1.0]
            for threshold in sorted(set(y_score), reverse=True):
                predicted = predictions(y_score, threshold, None)
                precision, recall = rates(y_true, predicted, early, late)
                if recall >= recalls[-1]:  # a curve does not go back
                    recalls.append(recall)
                    precisions.append(precision)
            areas.append(trapezoid(precisions, recalls))
    return math.fsum(areas) / 4
