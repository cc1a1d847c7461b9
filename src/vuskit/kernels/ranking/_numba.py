"""Compiled version of ``ranking``: the levels of the dynamic points from one pass over the scores.

Scores are sorted into equal-width buckets, which preserve the order. A score is compared only with
the needles (queried scores) in the same bucket, by bisection if there are many. An uneven
distribution costs time but never gives a wrong rank. Scores are contiguous doubles. Levels go from
the highest score down.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vuskit.kernels._numba_types import FLOAT, FLOATS, INT, INTS, jit

__all__ = ["grid_levels", "point_levels"]

_MOST_BUCKETS = 1 << 14  # maximum for thresholds at ranks
_MOST_NEEDLE_BUCKETS = 1 << 20
_CACHED_BUCKETS = 1 << 17
_CHUNK = 1 << 11  # far points whose buckets are computed together
_MOST_MOVES = 8  # moves per point above which insertion sort is too slow


@jit(inline="always")
def _bucket(value: float, low: float, scale: float, last: int) -> Any:
    # Use halves, because the difference of two finite numbers may overflow.
    # Avoid branches, so that the processor handles several values at once.
    place = (0.5 * value - 0.5 * low) * scale
    return np.int32(min(max(place, 0.0), float(last)))


@jit()
def _scale(low: float, high: float, last: int) -> float:
    scale = last / (0.5 * high - 0.5 * low)
    return scale if scale < np.inf else 0.0  # all in one bucket


@jit()
def _first_of_buckets(needles: Any, low: float, scale: float, last: int) -> Any:
    """Return the number of needles in the buckets before each bucket."""
    first = np.zeros(last + 2, dtype=np.int32)
    for i in range(needles.size):
        first[_bucket(needles[i], low, scale, last) + 1] += 1
    for b in range(last + 1):
        first[b + 1] += first[b]
    return first


@jit(inline="always")
def _not_above(needles: Any, start: int, stop: int, score: float) -> int:
    """Return the number of ascending needles <= score; it lies between start and stop."""
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
def _ends_of_buckets(bucket: Any, last: int) -> Any:
    """Return the end of each bucket if points are ordered by bucket; then the total number."""
    end = np.zeros(last + 2, dtype=np.int32)
    for i in range(bucket.size):
        if bucket[i] >= 0:
            end[bucket[i]] += 1
    total = 0
    for b in range(last + 2):
        total += end[b]
        end[b] = total
    return end


@jit()
def _ascending(values: Any, bucket: Any, end: Any) -> Any:
    """Return the points that have a bucket, by ascending value, and their values.

    Changes ``end`` to the first point of each bucket.
    """
    order = np.empty(end[-1], dtype=np.int32)
    ordered = np.empty(end[-1])
    for i in range(values.size - 1, -1, -1):
        if bucket[i] >= 0:
            end[bucket[i]] -= 1
            at = end[bucket[i]]
            order[at], ordered[at] = i, values[i]
    moves = 0
    for i in range(1, order.size):  # few points are out of place unless buckets are crowded
        point, value, at = order[i], ordered[i], i
        while at > 0 and ordered[at - 1] > value:
            order[at], ordered[at] = order[at - 1], ordered[at - 1]
            at -= 1
        order[at], ordered[at] = point, value
        moves += i - at
        if moves > _MOST_MOVES * order.size:
            by_value = np.argsort(ordered)
            return order[by_value], ordered[by_value]
    return order, ordered


@jit()
def _count_far(
    scores: Any, far_starts: Any, far_stops: Any, needles: Any, first: Any, low: float, scale: float
) -> Any:
    """Count the far scores by the number of needles <= them, and those equal to a needle.

    ``first`` is the number of needles before each bucket, and the total number.
    """
    between = np.zeros(needles.size + 1, dtype=np.int64)
    equal = np.zeros(needles.size, dtype=np.int64)
    bucket, unsure = np.empty((2, _CHUNK), dtype=np.int32)
    last = first.size - 2
    for gap in range(far_starts.size):
        for start in range(far_starts[gap], far_stops[gap], _CHUNK):
            chunk = scores[start : min(start + _CHUNK, far_stops[gap])]
            # A separate loop, so that the processor handles several scores at once.
            for i in range(chunk.size):
                bucket[i] = _bucket(chunk[i], low, scale, last)
            # Avoid branches that are hard to predict: first count all scores as below the needles
            # of their bucket, then move those that share a bucket with a needle.
            n_unsure = np.uintp(0)
            for i in range(np.uintp(chunk.size)):
                b = np.uintp(bucket[i])
                between[np.uintp(first[b])] += 1
                unsure[n_unsure] = i
                n_unsure += np.uintp(first[b] < first[b + np.uintp(1)])
            for i in unsure[:n_unsure]:
                before = first[bucket[i]]
                position = _not_above(needles, before, first[bucket[i] + 1], chunk[i])
                between[before] -= 1
                between[position] += 1
                if position > before and needles[position - 1] == chunk[i]:
                    equal[position - 1] += 1
    return between, equal


@jit(FLOATS, INTS, INT, INTS, INTS)
def point_levels(
    scores: Any, positions: Any, n_inside: int, far_starts: Any, far_stops: Any
) -> Any:
    """Compute the levels of the dynamic points if every score is a threshold.

    The far points are all other points. Returns, by level, the number of points at or above it, the
    number above it, and the number of anomalous points at or above it. Then follow the level of
    each dynamic point, the points ordered by level, and the end of each level. Points below the
    lowest anomalous one have no effect; their level is past the last one, and they are not among
    the ordered points.
    """
    values = np.empty(positions.size)
    for i in range(positions.size):
        values[i] = scores[positions[i]]
    low, high = values[:n_inside].min(), values.max()
    # With many buckets, most scores share theirs with no needle, which branch prediction favors.
    # Long series use even more buckets, as long as these fit into the cache.
    wanted = max(16 * values.size, min(scores.size // 8, _CACHED_BUCKETS), 1 << 10)
    last = min(wanted, _MOST_NEEDLE_BUCKETS) - 1
    scale = _scale(low, high, last)
    bucket = np.empty(values.size, dtype=np.int32)
    for i in range(values.size):
        bucket[i] = _bucket(values[i], low, scale, last) if values[i] >= low else -1
    end = _ends_of_buckets(bucket, last)
    order, needles = _ascending(values, bucket, end)
    between, equal = _count_far(scores, far_starts, far_stops, needles, end, low, scale)

    size = 1
    for i in range(1, order.size):
        size += needles[i] != needles[i - 1]
    at_least, above, found, end = np.empty((4, size), dtype=np.int64)
    points = np.empty(order.size, dtype=np.int64)
    level = np.full(positions.size, size)
    at, total, n_found = -1, 0, 0
    for i in range(order.size - 1, -1, -1):
        total += between[i + 1]
        if i == order.size - 1 or needles[i] != needles[i + 1]:
            at += 1
            above[at] = total - equal[i]
        total += 1
        n_found += order[i] < n_inside
        points[order.size - 1 - i], level[order[i]] = order[i], at
        at_least[at], found[at], end[at] = total, n_found, order.size - i
    return at_least, above, found, level, points, end


@jit()
def _by_level(level: Any, n_levels: int) -> Any:
    """Return the points by ascending level, and the end of each level."""
    end = np.zeros(n_levels + 1, dtype=np.int64)
    for i in range(level.size):
        end[level[i] + 1] += 1
    for k in range(n_levels):
        end[k + 1] += end[k]
    points = np.empty(level.size, dtype=np.int64)
    for i in range(level.size):
        points[end[level[i]]] = i
        end[level[i]] += 1
    return points, end[:n_levels]


@jit()
def _at_ranks(scores: Any, ranks: Any, low: float, scale: float, last: int) -> Any:
    """Return the scores at ascending ranks and the number of points at or above each.

    The result is empty if a sort would be faster.
    """
    n, size = scores.size, ranks.size
    begins = np.zeros(last + 2, dtype=np.int64)
    for i in range(n):
        begins[_bucket(scores[i], low, scale, last) + 1] += 1
    for b in range(last + 1):
        begins[b + 1] += begins[b]
    # Position at which to collect the scores of each bucket with a threshold; -1 for others.
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
    """Compute the levels of the dynamic points if the scores at ``ranks`` are the thresholds.

    ``ranks`` is ascending; ``low`` and ``high`` are the lowest and the highest score. Returns the
    same as ``point_levels``, except that the second count is that of the previous level. There are
    no levels if so many scores share buckets with a threshold that a sort would be faster.
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
    return at_least, before, found, level, *_by_level(level, size)
