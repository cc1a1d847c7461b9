"""Ranks of a few scores among many, for less than the cost of a sort.

A measure needs the rank of the scores near anomalies, or the scores at a few ranks, never the whole
order. Counting the points in equal-width buckets is a monotone map, so only the buckets that hold a
queried score have to be sorted. Where that does not pay (most buckets are queried), one ``np.sort``
answers instead; both ways give the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints

__all__ = ["RankTable", "Scores", "rank_table"]

Scores = NDArray[Any]

_SMALL = 4096  # below this a sort is the cheapest way
_PER_QUERY = 16  # buckets per queried score, so that few points share a bucket with one
_FEWEST_BUCKETS, _MOST_BUCKETS = 1 << 11, 1 << 16
_CHUNK = 1 << 15  # points at a time: the chunk and the counts stay in the second-level cache
_DISCRETE = 4096  # scores with fewer occupied buckets may have one value per bucket


@dataclass(frozen=True)
class RankTable:
    """What is known of the order of the scores: some of them, ascending, and where they stand.

    ``shift[i]`` is the position of ``values[i]`` in the whole order, minus i; None: all are known.
    """

    n: int
    values: Scores
    shift: Ints | None

    def at_least(self, needles: Scores) -> Ints:
        """Number of points with a score >= each needle."""
        return self.n - self._position(needles, "left")

    def above(self, needles: Scores) -> Ints:
        """Number of points with a score > each needle."""
        return self.n - self._position(needles, "right")

    def _position(self, needles: Scores, side: Any) -> Ints:
        found = np.searchsorted(self.values, needles, side=side)
        if self.shift is None:
            return found
        # A needle is one of `values`, so its left neighbours in its own bucket are all known;
        # the shift of the bucket it belongs to holds for both of its sides.
        own = found if side == "left" else found - 1
        return found + self.shift[own]

    def at_rank(self, ranks: Ints) -> Scores:
        """Scores at the given ranks, counted from the highest (rank 0)."""
        position = self.n - 1 - ranks
        if self.shift is None:
            return self.values[position]
        order = np.arange(self.values.size) + self.shift
        return self.values[np.searchsorted(order, position)]


def rank_table(scores: Scores, needles: Scores, ranks: Ints) -> RankTable:
    """Learn enough of the order to answer for ``needles`` (scores of the series) and ``ranks``.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Finite scores.
    needles : ndarray
        Values out of ``scores`` whose ranks are wanted.
    ranks : ndarray of int
        Ranks, counted from the highest score, whose values are wanted.
    """
    n = scores.size
    queries = needles.size + ranks.size
    buckets = min(max(_PER_QUERY * queries, _FEWEST_BUCKETS), _MOST_BUCKETS)
    if n < max(_SMALL, buckets) or scores.dtype.itemsize > 8 or 4 * queries > buckets:
        return _by_sorting(scores)
    low, high = scores.min(), scores.max()
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(np.float64(buckets - 1) / (np.float64(high) - np.float64(low)))
    if not np.isfinite(scale) or scale == 0.0:
        return _by_sorting(scores)
    quantiser = _Quantiser(float(low), scale, buckets)
    counts = quantiser.count(scores)
    ends = np.cumsum(counts)
    wanted = np.zeros(buckets, dtype=np.bool_)
    wanted[quantiser(needles)] = True
    wanted[np.searchsorted(ends, n - 1 - ranks, side="right")] = True
    n_wanted = int(counts[wanted].sum())
    if n_wanted > n // 4 and np.count_nonzero(counts) <= _DISCRETE:
        values = quantiser.one_value_per_bucket(scores)
        if values is not None:
            return _of_discrete(values, counts)
    if n_wanted > n // 2:
        return _by_sorting(scores)
    values = np.sort(quantiser.collect(scores, wanted))
    kept = np.where(wanted, counts, 0)
    shift_of_bucket = ends - counts - (np.cumsum(kept) - kept)
    return RankTable(n, values, np.repeat(shift_of_bucket, kept))


def _by_sorting(scores: Scores) -> RankTable:
    return RankTable(scores.size, np.sort(scores), None)


def _of_discrete(values: Scores, counts: Ints) -> RankTable:
    occupied = counts > 0
    return RankTable(int(counts.sum()), np.repeat(values[occupied], counts[occupied]), None)


class _Quantiser:
    """Monotone map of scores to bucket numbers, applied a chunk at a time."""

    def __init__(self, low: float, scale: float, buckets: int) -> None:
        self.low = low
        self.scale = scale
        self.buckets = buckets
        self._work = np.empty(_CHUNK)

    def __call__(self, values: Scores) -> Ints:
        work = self._work[: values.size] if values.size <= _CHUNK else np.empty(values.size)
        np.subtract(values, self.low, out=work, casting="unsafe", dtype=np.float64)
        np.multiply(work, self.scale, out=work)
        # Rounding may carry the highest score one bucket too far; the map stays monotone.
        return np.minimum(work, self.buckets - 1, out=work).astype(np.intp)

    def count(self, scores: Scores) -> Ints:
        counts = np.zeros(self.buckets, dtype=np.intp)
        for start in range(0, scores.size, _CHUNK):
            counts += np.bincount(self(scores[start : start + _CHUNK]), minlength=self.buckets)
        return counts

    def collect(self, scores: Scores, wanted: NDArray[np.bool_]) -> Scores:
        parts = []
        for start in range(0, scores.size, _CHUNK):
            chunk = scores[start : start + _CHUNK]
            parts.append(chunk[wanted[self(chunk)]])
        return np.concatenate(parts)

    def one_value_per_bucket(self, scores: Scores) -> Scores | None:
        """The value of each bucket where every bucket holds one value only, else None."""
        values = np.zeros(self.buckets, dtype=scores.dtype)
        chunks = [scores[start : start + _CHUNK] for start in range(0, scores.size, _CHUNK)]
        for chunk in chunks:
            values[self(chunk)] = chunk
        if all(np.array_equal(values[self(chunk)], chunk) for chunk in chunks):
            return values
        return None
