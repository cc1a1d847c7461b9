"""The best threshold of the range-based F-score, of all distinct scores.

The threshold falls past one point after another. Each joins the predicted ranges on both sides of
it, which reach to the nearest points with a lower score, into one. What that changes is known
beforehand, so that sums over the order of the scores give precision and recall at every threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.ranking import Scores

__all__ = [
    "best_of_falling",
    "best_range_level",
    "falling_order",
    "nearest_earlier",
    "precision_by_rank",
    "recall_by_rank",
]

Floats = NDArray[np.float64]

# Sums in another order differ in their last digits; such thresholds are equally good.
_AS_GOOD = 1e-12


def best_range_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, alpha: float, beta: float
) -> Any:
    """The threshold of the highest range F (flat bias, cardinality one); the highest of several."""
    order, rank = falling_order(scores)
    precision = precision_by_rank(inside, rank, order)
    recall = recall_by_rank(inside, starts, stops, rank, alpha)
    return best_of_falling(scores[order], precision, recall, beta)


def falling_order(scores: Scores) -> tuple[Ints, Ints]:
    """Points from the highest score to the lowest, and the rank of each point in that order."""
    order = np.argsort(scores)[::-1]
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return order, rank


def best_of_falling(ranked: Scores, precision: Floats, recall: Floats, beta: float) -> Any:
    """The score with the highest F of precision and recall with all points up to it predicted."""
    weight = beta * beta
    total = weight * precision + recall
    values = (1 + weight) * precision * recall / np.where(total > 0, total, 1.0)
    # Of equal scores all are predicted at once.
    candidates = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    found = values[candidates]
    return ranked[candidates[np.argmax(found >= found.max() - _AS_GOOD)]]


def nearest_earlier(ranks: list[int], part: list[int] | None = None) -> tuple[Ints, Ints]:
    """Of each point, the nearest of its part before and after it with a lower rank; -1: none."""
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


def precision_by_rank(inside: Ints, rank: Ints, order: Ints) -> Floats:
    """Mean share of the predicted ranges that is anomalous, with the points up to each rank."""
    n = rank.size
    labels = np.zeros(n, dtype=np.intp)
    labels[inside] = 1
    counts = np.concatenate(([0], np.cumsum(labels)))
    # The range that a point joins goes on until a point that comes later in the order.
    before, after = nearest_earlier((-rank).tolist())
    here = np.arange(n)
    first, stop = before + 1, np.where(after < 0, n, after)
    joined = _share(counts, first, stop)
    joined -= _share(counts, first, here) + _share(counts, here + 1, stop)
    ranges = 1 - (first < here).astype(np.intp) - (here + 1 < stop)
    mean: Floats = np.cumsum(joined[order]) / np.cumsum(ranges[order])
    return mean


def _share(counts: Ints, first: Ints, stop: Ints) -> Floats:
    """Share of the anomalous points in ranges; 0 in empty ones."""
    share: Floats = (counts[stop] - counts[first]) / np.maximum(stop - first, 1)
    return share


def recall_by_rank(inside: Ints, starts: Ints, stops: Ints, rank: Ints, alpha: float) -> Floats:
    """Mean reward of the events with the points up to each rank predicted."""
    lengths = stops - starts
    ranks = rank[inside]
    share = np.bincount(ranks, weights=1 / np.repeat(lengths, lengths), minlength=rank.size)
    earliest = np.minimum.reduceat(ranks, np.cumsum(lengths) - lengths)
    found = np.bincount(earliest, minlength=rank.size)
    reward: Floats = np.cumsum(alpha * found + (1 - alpha) * share) / starts.size
    return reward
