"""Best thresholds of F-scores.

The best threshold is always a score of the series. For most F-scores it is the score of an
anomalous point, because lower thresholds up to the next anomalous point only add false alarms. Then
only the ranks of the anomalous points are needed.

The range-based and the affiliation F-score require every distinct score. When the threshold falls
past a point, the point joins the predicted ranges on both sides, or splits the gap between its two
neighboring predictions. These changes depend only on the order of the scores, so cumulative sums
in that order give precision and recall at every threshold.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.affiliation import Zones, closeness, recall_loss
from vuskit.kernels.ranking import Scores, rank_table

__all__ = [
    "adjusted_scores",
    "affiliation_precision_by_rank",
    "affiliation_recall_by_rank",
    "best_affiliation_level",
    "best_composite_level",
    "best_event_level",
    "best_point_adjusted_level",
    "best_point_level",
    "best_range_level",
    "event_peaks",
    "false_alarms",
    "points_to_adjust",
    "range_precision_by_rank",
    "range_recall_by_rank",
]

Floats = NDArray[np.float64]

_NO_RANKS = np.zeros(0, dtype=np.intp)
# Rounding depends on the order of summation; treat such small differences as ties.
_AS_GOOD = 1e-12


# --- by counts at the scores of anomalous points -------------------------------------------------


def best_point_level(scores: Scores, inside: Ints, beta: float) -> Any:
    """Return the threshold of the highest point-wise F-score; in case of ties, the highest."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    return levels[_f_of_counts(found, predicted - found, inside.size, beta).argmax()]


def best_composite_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, beta: float
) -> Any:
    """Return the threshold of the highest F-score of point-wise precision and event recall."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    events = _at_least(np.sort(event_peaks(scores[inside], stops - starts)), levels)
    # Multiply out, so that equal F-scores are exactly equal numbers.
    product = (1 + beta * beta) * found.astype(np.float64) * events
    total = (
        beta * beta * found.astype(np.float64) * starts.size + events.astype(np.float64) * predicted
    )
    return levels[(product / total).argmax()]


def best_point_adjusted_level(
    scores: Scores, inside: Ints, lengths: Ints, share: float, beta: float
) -> Any:
    """Return the threshold of the highest F-score after point adjustment."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    # A point is found if its event is adjusted or its own score reaches the threshold.
    counted = np.sort(adjusted_scores(scores[inside], lengths, share))
    adjusted = _at_least(counted, levels)
    return levels[_f_of_counts(adjusted, predicted - found, inside.size, beta).argmax()]


def best_event_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, by_rate: bool, beta: float
) -> Any:
    """Return the threshold of the highest event-wise F-score.

    With `by_rate`, precision is multiplied by 1 minus the false-alarm rate.
    """
    ranked = np.sort(scores)
    levels = ranked[np.append(True, ranked[1:] != ranked[:-1])][::-1]
    found = _at_least(np.sort(event_peaks(scores[inside], stops - starts)), levels)
    alarms = false_alarms(scores, inside, starts, stops, levels)
    if not by_rate:
        return levels[_f_of_counts(found, alarms, starts.size, beta).argmax()]
    normal = scores.size - inside.size
    false = _at_least(ranked, levels) - _at_least(np.sort(scores[inside]), levels)
    precision = found / np.maximum(found + alarms, 1) * (1 - false / normal)
    recall, weight = found / starts.size, beta * beta
    total = weight * precision + recall
    return levels[((1 + weight) * precision * recall / np.where(total > 0, total, 1)).argmax()]


def event_peaks(inside_scores: Scores, lengths: Ints) -> Scores:
    """Return the highest score of each event."""
    peaks: Scores = np.maximum.reduceat(inside_scores, _offsets(lengths))
    return peaks


def false_alarms(scores: Scores, inside: Ints, starts: Ints, stops: Ints, levels: Scores) -> Ints:
    """Return the number of predicted ranges that overlap no event, at descending thresholds.

    The number of ranges is the number of points minus the number of links between neighbors. A link
    from a normal to an anomalous point also removes a false alarm, because the range then overlaps
    an event. A completely predicted gap between two events has such links at both ends, so one is
    added back.
    """
    normal = np.ones(scores.size, dtype=np.bool_)
    normal[inside] = False
    links = np.minimum(scores[:-1], scores[1:])[normal[:-1] | normal[1:]]
    alarms = _at_least(np.sort(scores[normal]), levels) - _at_least(np.sort(links), levels)
    if starts.size > 1:
        bounds = np.column_stack((stops[:-1], starts[1:])).ravel()
        whole = np.minimum.reduceat(scores, bounds)[::2]
        whole = np.minimum(whole, np.minimum(scores[stops[:-1] - 1], scores[starts[1:]]))
        alarms += _at_least(np.sort(whole), levels)
    return alarms


def points_to_adjust(lengths: Ints, share: float) -> Ints:
    """Return the smallest number of points that exceeds a fraction of each event."""
    count: Ints = np.floor(share * lengths).astype(np.intp) - 1
    # The product may be rounded up or down, so the quotient decides.
    for _ in range(3):
        count += count / lengths <= share
    return count


def _anomalous_levels(scores: Scores, inside: Ints) -> tuple[Scores, Ints, Ints]:
    """Return the descending scores of anomalous points, and two counts at or above each.

    The counts are of all points and of the anomalous points.
    """
    ranked = np.sort(scores[inside])
    levels = ranked[np.append(True, ranked[1:] != ranked[:-1])][::-1]
    predicted = rank_table(scores, levels, _NO_RANKS).at_least(levels)
    return levels, predicted, _at_least(ranked, levels)


def adjusted_scores(inside_scores: Scores, lengths: Ints, share: float) -> Scores:
    """Return the threshold from which each anomalous point counts as found."""
    needed = points_to_adjust(lengths, share)
    event = np.repeat(np.arange(lengths.size), lengths)
    by_event = inside_scores[np.lexsort((inside_scores, event))]
    never = needed > lengths
    last = _offsets(lengths) + lengths
    reached = by_event[np.where(never, last - 1, last - needed)]
    adjusted: Scores = np.maximum(inside_scores, np.repeat(reached, lengths))
    return np.where(np.repeat(never, lengths), inside_scores, adjusted)


def _offsets(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths


def _at_least(ranked: Scores, levels: Scores) -> Ints:
    """Return the number of ascending values at or above each of the descending levels."""
    return ranked.size - ranked.searchsorted(levels[::-1])[::-1]


def _f_of_counts(found: Ints, false: Ints, total: int, beta: float) -> Floats:
    """Return F-scores from the numbers of true positives, false positives, and positives."""
    weight = beta * beta
    values: Floats = (1 + weight) * found / (weight * total + found + false)
    return values


# --- by sums over the order of the scores --------------------------------------------------------


def best_range_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, alpha: float, beta: float
) -> Any:
    """Return the threshold of the highest range F-score (flat bias, cardinality one)."""
    order, rank = falling_order(scores)
    precision = range_precision_by_rank(inside, rank, order)
    recall = range_recall_by_rank(inside, starts, stops, rank, alpha)
    return best_of_falling(scores[order], precision, recall, beta)


def falling_order(scores: Scores) -> tuple[Ints, Ints]:
    """Return the points from the highest to the lowest score, and the rank of each point."""
    order = np.argsort(scores)[::-1]
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return order, rank


def best_of_falling(ranked: Scores, precision: Floats, recall: Floats, beta: float) -> Any:
    """Return the score with the highest F-score if all points down to it are predicted."""
    weight = beta * beta
    total = weight * precision + recall
    values = (1 + weight) * precision * recall / np.where(total > 0, total, 1.0)
    # Points with equal scores are predicted together.
    candidates = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    found = values[candidates]
    return ranked[candidates[np.argmax(found >= found.max() - _AS_GOOD)]]


def nearest_earlier(ranks: list[int], part: list[int] | None = None) -> tuple[Ints, Ints]:
    """Return, for each point, the nearest earlier and later point of lower rank in its part.

    -1 if there is none.
    """
    before, after = [-1] * len(ranks), [-1] * len(ranks)
    waiting: list[int] = []
    for index, rank in enumerate(ranks):
        if part is not None and index and part[index] != part[index - 1]:
            waiting.clear()
        while waiting and ranks[waiting[-1]] > rank:
            after[waiting.pop()] = index
        if waiting:
            before[index] = waiting[-1]
        waiting.append(index)
    return np.array(before), np.array(after)


def range_precision_by_rank(inside: Ints, rank: Ints, order: Ints) -> Floats:
    """Return the mean anomalous fraction of the predicted ranges, by number of predictions."""
    n = rank.size
    labels = np.zeros(n, dtype=np.intp)
    labels[inside] = 1
    counts = np.concatenate(([0], np.cumsum(labels)))
    # The range that contains a new point extends to the nearest points not yet predicted.
    before, after = nearest_earlier((-rank).tolist())
    here = np.arange(n)
    first, stop = before + 1, np.where(after < 0, n, after)
    joined = _share(counts, first, stop)
    joined -= _share(counts, first, here) + _share(counts, here + 1, stop)
    ranges = 1 - (first < here).astype(np.intp) - (here + 1 < stop)
    mean: Floats = np.cumsum(joined[order]) / np.cumsum(ranges[order])
    return mean


def _share(counts: Ints, first: Ints, stop: Ints) -> Floats:
    """Return the anomalous fraction of ranges; 0 for empty ranges."""
    share: Floats = (counts[stop] - counts[first]) / np.maximum(stop - first, 1)
    return share


def range_recall_by_rank(
    inside: Ints, starts: Ints, stops: Ints, rank: Ints, alpha: float
) -> Floats:
    """Return the mean reward of the events if the points up to each rank are predicted."""
    lengths = stops - starts
    ranks = rank[inside]
    share = np.bincount(ranks, weights=1 / np.repeat(lengths, lengths), minlength=rank.size)
    earliest = np.minimum.reduceat(ranks, np.cumsum(lengths) - lengths)
    found = np.bincount(earliest, minlength=rank.size)
    reward: Floats = np.cumsum(alpha * found + (1 - alpha) * share) / starts.size
    return reward


def best_affiliation_level(scores: Scores, zones: Zones, beta: float) -> Any:
    """Return the threshold of the highest affiliation F-score; in case of ties, the highest."""
    order, rank = falling_order(scores)
    precision = affiliation_precision_by_rank(zones, rank)
    recall = affiliation_recall_by_rank(zones, rank)
    return best_of_falling(scores[order], precision, recall, beta)


def affiliation_precision_by_rank(zones: Zones, rank: Ints) -> Floats:
    """Return the mean precision of the zones that contain a point up to each rank."""
    total, occupied = np.zeros(rank.size), np.zeros(rank.size, dtype=np.intp)
    point, zone, begin, end = _pieces(zones, rank.size)
    length = end - begin
    weight = closeness(zones[zone], begin, end)
    bounds = zone.searchsorted(np.arange(zones.start.size + 1))
    for first, stop in itertools.pairwise(bounds.tolist()):
        ranks = rank[point[first:stop]]
        order = np.argsort(ranks)
        share = np.cumsum(weight[first:stop][order]) / np.cumsum(length[first:stop][order])
        share[1:] -= share[:-1].copy()
        at = ranks[order]
        total[at] += share
        occupied[at[0]] += 1
    mean: Floats = np.cumsum(total) / np.cumsum(occupied)
    return mean


def _pieces(zones: Zones, n: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the points, split in two if a border between zones lies in their middle."""
    cut = zones.left[zones.left % 2 == 1]
    begin = np.insert(2 * np.arange(n), cut // 2 + 1, cut)
    zone = np.zeros(begin.size, dtype=np.intp)
    zone[begin.searchsorted(zones.left[1:])] = 1
    return begin // 2, np.cumsum(zone), begin, np.append(begin[1:], 2 * n)


def affiliation_recall_by_rank(zones: Zones, rank: Ints) -> Floats:
    """Return the mean recall of the events if the points up to each rank are predicted."""
    point, zone = _candidate_points(zones, rank)
    before, after = nearest_earlier(rank[point].tolist(), zone.tolist())
    own = zones[zone]
    begin = np.maximum(2 * point, own.left)
    end = np.minimum(2 * point + 2, own.right)
    left = np.where(before < 0, -1, end[before])
    right = np.where(after < 0, -1, begin[after])
    split = recall_loss(own, left, begin) + recall_loss(own, end, right)
    length = own.stop - own.start
    alone = (before < 0) & (after < 0)
    whole = np.where(alone, length, recall_loss(own, left, right))
    # Before the first point in a zone, the recall of its event is 0.
    change = (whole - split) / length
    gained = np.bincount(rank[point], weights=change, minlength=rank.size)
    recall: Floats = np.cumsum(gained) / zones.start.size
    return recall


def _candidate_points(zones: Zones, rank: Ints) -> tuple[Ints, Ints]:
    """Return the points of each zone that can be the nearest prediction to a part of its event.

    Outside the event, these are the points that score higher than all points between them and the
    event.
    """
    points, owners = [], []
    for index in range(zones.start.size):
        start, stop = int(zones.start[index]) // 2, int(zones.stop[index]) // 2
        left, right = int(zones.left[index]) // 2, -(-int(zones.right[index]) // 2)
        before = start - 1 - _records(rank[left:start][::-1])
        after = stop + _records(rank[stop:right])
        points += [before[::-1], np.arange(start, stop), after]
        owners.append(np.full(before.size + stop - start + after.size, index))
    return np.concatenate(points), np.concatenate(owners)


def _records(ranks: Ints) -> Ints:
    """Return the positions whose rank is lower than all earlier ranks."""
    lowest = np.minimum.accumulate(ranks)
    return np.flatnonzero(ranks <= lowest)
