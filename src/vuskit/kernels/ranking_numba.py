"""Compiled twins of ``ranking``: the levels of the dynamic points from one look at the scores.

Equal-width buckets are a monotone map (see ``ranking``), so a score is compared only with the
needles of its own bucket, by bisection where they are many: an uneven spread costs time, never a
wrong rank. Scores are contiguous doubles. Levels go from the highest score down.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vuskit.kernels.numba_types import FLOAT, FLOATS, INT, INTS, jit

__all__ = ["grid_levels", "point_levels", "score_at_rank"]

_MOST_BUCKETS = 1 << 14  # for thresholds at ranks
_MOST_NEEDLE_BUCKETS = 1 << 20
_CROWD = 64  # points of one bucket for which sorting by insertion does not pay


@jit(inline="always")
def _bucket(value: float, low: float, scale: float, last: int) -> int:
    # Halves: the span of two finite numbers may not be finite.
    place = (0.5 * value - 0.5 * low) * scale
    if place >= last:
        return last
    return int(place) if place > 0.0 else 0


@jit()
def _scale(low: float, high: float, last: int) -> float:
    scale = last / (0.5 * high - 0.5 * low)
    return scale if scale < np.inf else 0.0  # all in one bucket


@jit()
def _first_of_buckets(needles: Any, low: float, scale: float, last: int) -> Any:
    """Number of needles in the buckets before each bucket."""
    first = np.zeros(last + 2, dtype=np.int32)
    for i in range(needles.size):
        first[_bucket(needles[i], low, scale, last) + 1] += 1
    for b in range(last + 1):
        first[b + 1] += first[b]
    return first


@jit(inline="always")
def _not_above(needles: Any, start: int, stop: int, score: float) -> int:
    """Number of ascending needles that are not above the score, if that many are from start on."""
    while stop - start > 8:
        middle = (start + stop) // 2
        if needles[middle] <= score:
            start = middle
        else:
            stop = middle
    while start < stop and needles[start] <= score:
        start += 1
    return start


@jit()
def _ascending(values: Any, low: float, scale: float, last: int) -> Any:
    """Points from ``low`` on by ascending value, and these values; none where a bucket is crowded.

    A counting sort by bucket leaves little to an insertion sort.
    """
    bucket = np.empty(values.size, dtype=np.int32)
    place = np.zeros(last + 2, dtype=np.int32)
    for i in range(values.size):
        bucket[i] = -1
        if values[i] >= low:
            bucket[i] = _bucket(values[i], low, scale, last)
            place[bucket[i] + 1] += 1
    most = 0
    for b in range(last + 1):
        most = max(most, place[b + 1])
        place[b + 1] += place[b]
    size = place[last + 1] if most <= _CROWD else 0
    order = np.empty(size, dtype=np.int64)
    ordered = np.empty(size)
    if size == 0:
        return order, ordered
    for i in range(values.size):
        if bucket[i] >= 0:
            at = place[bucket[i]]
            place[bucket[i]] += 1
            order[at], ordered[at] = i, values[i]
    for i in range(1, size):
        point, value, at = order[i], ordered[i], i
        while at > 0 and ordered[at - 1] > value:
            order[at], ordered[at] = order[at - 1], ordered[at - 1]
            at -= 1
        order[at], ordered[at] = point, value
    return order, ordered


@jit()
def _count_among(scores: Any, needles: Any, low: float, high: float) -> Any:
    """Scores at or above each of the ascending, distinct needles, and strictly above it."""
    # Many buckets: most scores then share theirs with no needle, which the processor foresees.
    last = min(max(min(32 * needles.size, 4 * scores.size), 1 << 10), _MOST_NEEDLE_BUCKETS) - 1
    scale = _scale(low, high, last)
    first = _first_of_buckets(needles, low, scale, last)
    between = np.zeros(needles.size + 1, dtype=np.int64)  # by the number of needles not above
    equal = np.zeros(needles.size, dtype=np.int64)
    for i in range(scores.size):
        b = _bucket(scores[i], low, scale, last)
        position, stop = first[b], first[b + 1]
        if position < stop:
            position = _not_above(needles, position, stop, scores[i])
            if position > 0 and needles[position - 1] == scores[i]:
                equal[position - 1] += 1
        between[position] += 1
    at_least = np.empty(needles.size, dtype=np.int64)
    above = np.empty(needles.size, dtype=np.int64)
    total = 0
    for i in range(needles.size):
        level = needles.size - 1 - i
        total += between[level + 1]
        at_least[i] = total
        above[i] = total - equal[level]
    return at_least, above


@jit(FLOATS, INTS, INT)
def point_levels(scores: Any, positions: Any, n_inside: int) -> Any:
    """Levels of the dynamic points where every score is a threshold.

    Returns the score of each level, the points at or above it, those above it, and the anomalous
    ones among the former; then the level of each dynamic point. Points below the lowest anomalous
    one change nothing and stand past the last level.
    """
    values = np.empty(positions.size)
    for i in range(positions.size):
        values[i] = scores[positions[i]]
    low, high = values[0], values[0]
    for i in range(values.size):
        high = max(high, values[i])
        if i < n_inside:
            low = min(low, values[i])
    order, ordered = _ascending(values, low, _scale(low, high, values.size), values.size)
    if order.size == 0:
        order = np.argsort(values)
        order = order[np.searchsorted(values[order], low) :]
        ordered = values[order]
    needles = np.empty(order.size)
    size = 0
    for i in range(order.size):
        if i == 0 or ordered[i] != ordered[i - 1]:
            needles[size] = ordered[i]
            size += 1
    at_least, above = _count_among(scores, needles[:size], low, high)
    level = np.full(positions.size, size)
    found = np.zeros(size, dtype=np.int64)
    at = -1
    for i in range(order.size - 1, -1, -1):
        if i == order.size - 1 or ordered[i] != ordered[i + 1]:
            at += 1
            found[at] = found[at - 1] if at > 0 else 0
        level[order[i]] = at
        found[at] += order[i] < n_inside
    return needles[:size][::-1].copy(), at_least, above, found, level


@jit(FLOATS, FLOATS, INTS, INTS, INT)
def score_at_rank(scores: Any, levels: Any, at_least: Any, above: Any, rank: int) -> Any:
    """Score at a rank (0: the highest), the number of points above it, and at or above it."""
    i = np.searchsorted(at_least, rank + 1)
    if i < levels.size and above[i] <= rank:
        return levels[i], above[i], at_least[i]
    # It lies between two levels, where not even its rank among the others is known.
    higher = at_least[i - 1] if i > 0 else 0
    upper = levels[i - 1] if i > 0 else np.inf
    lower = levels[i] if i < levels.size else -np.inf
    between = np.empty((above[i] if i < levels.size else scores.size) - higher)
    size = 0
    for j in range(scores.size):
        if lower < scores[j] < upper:
            between[size] = scores[j]
            size += 1
    between.sort()
    at = size - 1 - (rank - higher)
    first, beyond = at, at + 1
    while first > 0 and between[first - 1] == between[at]:
        first -= 1
    while beyond < size and between[beyond] == between[at]:
        beyond += 1
    return between[at], higher + size - beyond, higher + size - first


@jit()
def _at_ranks(scores: Any, ranks: Any, low: float, scale: float, last: int) -> Any:
    """Scores at ascending ranks, and the points at or above each; none if that takes a sort."""
    n, size = scores.size, ranks.size
    begins = np.zeros(last + 2, dtype=np.int64)
    for i in range(n):
        begins[_bucket(scores[i], low, scale, last) + 1] += 1
    for b in range(last + 1):
        begins[b + 1] += begins[b]
    # Where the scores of each bucket that holds a threshold are collected; -1: not wanted.
    slot = np.full(last + 1, -1, dtype=np.int64)
    bucket = np.empty(size, dtype=np.int64)
    n_wanted, b = 0, last
    for i in range(size):
        while begins[b] > n - 1 - ranks[i]:
            b -= 1
        bucket[i] = b
        if slot[b] < 0:
            slot[b] = n_wanted
            n_wanted += begins[b + 1] - begins[b]
    thresholds = np.empty(size)
    at_least = np.empty(size, dtype=np.int64)
    if n_wanted > max(n // 2, 4 * size):
        return thresholds[:0], at_least[:0]
    wanted = np.empty(n_wanted)
    for i in range(n):
        b = _bucket(scores[i], low, scale, last)
        if slot[b] >= 0:
            wanted[slot[b]] = scores[i]
            slot[b] += 1
    for i in range(size):
        b = bucket[i]
        here = wanted[slot[b] - (begins[b + 1] - begins[b]) : slot[b]]
        if i == 0 or b != bucket[i - 1]:
            here.sort()
        at = n - 1 - ranks[i] - begins[b]
        thresholds[i] = here[at]
        while at > 0 and here[at - 1] == thresholds[i]:
            at -= 1
        at_least[i] = n - begins[b] - at
    return thresholds, at_least


@jit(FLOATS, INTS, INT, INTS, FLOAT, FLOAT)
def grid_levels(
    scores: Any, positions: Any, n_inside: int, ranks: Any, low: float, high: float
) -> Any:
    """Levels of the dynamic points where the scores at ``ranks`` (ascending) are the thresholds.

    Returns what ``point_levels`` does, the points at the level before in place of those above it;
    no levels where so many scores share buckets with a threshold that only a sort helps.
    ``low`` and ``high`` are the lowest and the highest score.
    """
    last = min(max(scores.size // 2, 1 << 10), _MOST_BUCKETS) - 1
    scale = _scale(low, high, last)
    thresholds, at_least = _at_ranks(scores, ranks, low, scale, last)
    size = thresholds.size
    before = np.zeros(size, dtype=np.int64)
    found = np.zeros(size, dtype=np.int64)
    level = np.empty(positions.size if size else 0, dtype=np.int64)
    rising = thresholds[::-1].copy()
    first = _first_of_buckets(rising, low, scale, last)
    for i in range(level.size):
        score = scores[positions[i]]
        b = _bucket(score, low, scale, last)
        level[i] = size - _not_above(rising, first[b], first[b + 1], score)
        if i < n_inside:
            found[level[i]] += 1
    for i in range(1, size):
        before[i] = at_least[i - 1]
        found[i] += found[i - 1]
    return thresholds, at_least, before, found, level
