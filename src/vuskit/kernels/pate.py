"""PATE: precision and recall with weights by distance from anomalies, at every threshold.

Only a few sums change between two thresholds. The weight of a point near an anomaly counts from its
own score on; before an anomaly, the anomaly must also be detected. The weight of the missed points
of an anomaly changes only at the scores of its points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.best_thresholds import event_peaks
from vuskit.kernels.ranking import Scores

__all__ = ["PateCounts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PateCounts:
    """Counts that do not depend on the zones around the anomalies.

    Attributes
    ----------
    scores, levels : ndarray
        The scores, and the distinct scores in ascending order.
    starts, stops : ndarray of int
        The events.
    peaks : ndarray
        Highest score of each event.
    predicted, found, missed : ndarray
        Number of predicted points, number of predicted anomalous points, and weight of the missed
        points, at the levels from high to low.
    """

    scores: Scores
    levels: Scores
    starts: Ints
    stops: Ints
    peaks: Scores
    predicted: Ints
    found: Ints
    missed: Floats

    @classmethod
    def of(cls, scores: Scores, inside: Ints, starts: Ints, stops: Ints) -> PateCounts:
        """Return the counts of one score."""
        levels, counts = np.unique(scores, return_counts=True)
        own = scores[inside]
        at = levels.size - 1 - levels.searchsorted(own)
        lengths = stops - starts
        parts = np.split(own, np.cumsum(lengths)[:-1])
        drops = np.concatenate([_weight_drops(part) for part in parts])
        by_level = np.bincount(at, weights=drops, minlength=levels.size)
        missed: Floats = float(inside.size) - np.cumsum(by_level, dtype=np.float64)
        return cls(
            scores,
            levels,
            starts,
            stops,
            event_peaks(own, lengths),
            np.cumsum(counts[::-1]),
            np.cumsum(np.bincount(at, minlength=levels.size)),
            missed,
        )

    def area(self, early: int, late: int) -> float:
        """Return the area with zones of ``early`` points before and ``late`` after events."""
        weight = self.found + self._zone_weights(early, late)
        precision = np.concatenate(([1.0], weight / self.predicted))
        recall = np.concatenate(([0.0], weight / (weight + self.missed)))
        # Skip thresholds at which recall decreases, so that the curve is monotone.
        kept = recall >= np.maximum.accumulate(recall)
        precision, recall = precision[kept], recall[kept]
        return float(np.sum(np.diff(recall) * (precision[1:] + precision[:-1])) / 2)

    def _zone_weights(self, early: int, late: int) -> Floats:
        """Return the weight of the predicted points in the zones, by level from high to low."""
        ends = np.append(self.starts[1:], self.scores.size)
        last = np.minimum(self.stops + late, ends)
        first = np.maximum(self.starts - early, np.append(0, last[:-1]))
        center = (self.starts + self.stops - 1) / 2
        after, owner = _members(self.stops, last)
        far = (last - 1 - center)[owner]
        weight = [1 - (after - center[owner]) / far]
        reached = [self.scores[after]]
        before, owner = _members(first, self.starts)
        far = (center - first)[owner]
        weight.append(1 - (center[owner] - before) / far)
        reached.append(np.minimum(self.scores[before], self.peaks[owner]))
        at = self.levels.size - 1 - self.levels.searchsorted(np.concatenate(reached))
        sums = np.bincount(at, weights=np.concatenate(weight), minlength=self.levels.size)
        total: Floats = np.cumsum(sums)
        return total


def _members(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the points of some ranges, and the range of each point."""
    lengths = np.maximum(stop - first, 0)
    owner = np.repeat(np.arange(first.size), lengths)
    offset = np.cumsum(lengths) - lengths
    return np.arange(owner.size) - offset[owner] + first[owner], owner


def _weight_drops(scores: Scores) -> Floats:
    """Return by how much each point of an event, once predicted, reduces the missed weight.

    In a detected event of length L whose first predicted run has d points, a missed point x > d
    points from the start has weight 1 - (d + 1) (x - d / 2) / (L (L - 1) / 2).
    """
    size = scores.size
    order = np.argsort(scores)[::-1].tolist()
    weights = _weights_of_missed(order, size)
    drops = np.empty(size)
    drops[order] = -np.diff(weights)
    return drops


def _weights_of_missed(order: list[int], size: int) -> Floats:
    """Return the weight of the missed points with 0, 1, 2, ... points predicted in an order."""
    whole = max(size * (size - 1) // 2, 1)
    seen = _Seen(size)
    next_unseen = list(range(size + 1))
    begin = size
    weights = [float(size)]
    for x in order:
        seen.add(x)
        next_unseen[x] = x + 1
        begin = min(begin, x)
        length = _chain_end(next_unseen, begin) - begin
        count, total = seen.unseen_beyond(length)
        late = (length + 1) * (total - count * length / 2)
        weights.append(size - seen.count - late / whole)
    return np.array(weights)


def _chain_end(links: list[int], start: int) -> int:
    """Return the end of a chain of links; shorten the chain on the way."""
    end = start
    while links[end] != end:
        links[end] = links[links[end]]
        end = links[end]
    return end


class _Seen:
    """Set of seen numbers below a size, with sums beyond a limit (a Fenwick tree)."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.count = self.total = 0
        self._counts = [0] * (size + 1)
        self._totals = [0] * (size + 1)

    def add(self, number: int) -> None:
        self.count += 1
        self.total += number
        node = number + 1
        while node <= self.size:
            self._counts[node] += 1
            self._totals[node] += number
            node += node & -node

    def unseen_beyond(self, limit: int) -> tuple[int, int]:
        """Return the count and the sum of the unseen numbers above a limit."""
        if limit >= self.size - 1:
            return 0, 0
        count, total, node = 0, 0, limit + 1
        while node:
            count += self._counts[node]
            total += self._totals[node]
            node -= node & -node
        above = self.size - 1 - limit
        return (
            above - (self.count - count),
            above * (self.size + limit) // 2 - (self.total - total),
        )
