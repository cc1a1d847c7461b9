"""The best threshold of the affiliation F-score, of all distinct scores.

The threshold falls past one point after another. Each changes the precision of its zone, which is a
mean over predicted points, and the recall of its event, where it splits the gap between the two
predicted points next to it: the nearest ones with a higher score. All changes are known beforehand,
so that sums over the order of the scores give precision and recall at every threshold.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.affiliation import Zones, closeness, recall_loss
from vuskit.kernels.range_best import best_of_falling, falling_order, nearest_earlier
from vuskit.kernels.ranking import Scores

__all__ = ["best_affiliation_level", "precision_by_rank", "recall_by_rank"]

Floats = NDArray[np.float64]


def best_affiliation_level(scores: Scores, zones: Zones, beta: float) -> Any:
    """The threshold of the highest affiliation F-score; of several, the highest."""
    order, rank = falling_order(scores)
    precision = precision_by_rank(zones, rank)
    recall = recall_by_rank(zones, rank)
    return best_of_falling(scores[order], precision, recall, beta)


def precision_by_rank(zones: Zones, rank: Ints) -> Floats:
    """Mean precision of the zones that hold one of the points up to each rank."""
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
    """The points, those cut in two where a border between zones lies in their middle."""
    cut = zones.left[zones.left % 2 == 1]
    begin = np.insert(2 * np.arange(n), cut // 2 + 1, cut)
    zone = np.zeros(begin.size, dtype=np.intp)
    zone[begin.searchsorted(zones.left[1:])] = 1
    return begin // 2, np.cumsum(zone), begin, np.append(begin[1:], 2 * n)


def recall_by_rank(zones: Zones, rank: Ints) -> Floats:
    """Mean recall of the events with the points up to each rank predicted."""
    point, zone = _points_that_matter(zones, rank)
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
    # The first point of a zone lifts the recall of its event from nothing.
    change = (whole - split) / length
    gained = np.bincount(rank[point], weights=change, minlength=rank.size)
    recall: Floats = np.cumsum(gained) / zones.start.size
    return recall


def _points_that_matter(zones: Zones, rank: Ints) -> tuple[Ints, Ints]:
    """Points of each zone that are ever the nearest predicted ones to a part of its event.

    Outside the event these are the ones higher than all between them and the event.
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
    """Positions that stand before (lower rank: higher score) all that come earlier."""
    lowest = np.minimum.accumulate(ranks)
    return np.flatnonzero(ranks <= lowest)
