"""Ranks of a few scores among many, at less than the cost of a sort.

Measures need the ranks of the scores near anomalies, or the scores at a few ranks, but never the
complete order. Scores are counted in equal-width buckets, which preserve the order. Then only
buckets with a queried score have to be sorted. If most buckets are queried, ``np.sort`` is used
instead. Both ways give the same integers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels._arrays import scratch

__all__ = ["RankTable", "Scores", "position_among", "rank_table"]

Scores = NDArray[Any]
Floats = NDArray[np.float64]

_SMALL = 1 << 12  # number of points below which a sort is fastest
_PER_QUERY = 32  # buckets per queried score, so that few points share its bucket
_PER_BUCKET = 4  # minimum number of points per bucket, while the counts fit into the cache
_FEWEST_BUCKETS, _CACHED_BUCKETS, _MOST_BUCKETS = 1 << 11, 1 << 16, 1 << 19
_SHORT = 1 << 18  # number of points below which sorting is as fast as allocating many counts
_CHUNK = 1 << 14  # points per chunk; the chunk and the counts fit into the second-level cache
_LARGEST_CHUNK = 1 << 15  # largest chunk whose work arrays are reused
_TOGETHER = 1 << 17  # points counted together; the array of their buckets is reused
_DISCRETE = 4096  # scores with fewer occupied buckets may have one value per bucket
_WHOLE = 2.0**52  # doubles from here to 2**53 are the whole numbers
_WHOLE_BITS = int(np.float64(_WHOLE).view(np.int64))


@dataclass(frozen=True)
class RankTable:
    """Partial order of the scores: some of the values, ascending, and their positions.

    ``shift[i]`` is the position of ``values[i]`` in the complete order, minus i; None if `values`
    contains all scores.
    """

    n: int
    values: Scores
    shift: Ints | None

    def at_least(self, needles: Scores) -> Ints:
        """Return the number of points with a score >= each needle."""
        if _falls(needles):
            return self.at_least(needles[::-1])[::-1]
        return self.n - self._lowest(self.values.searchsorted(needles))

    def counts(self, needles: Scores) -> tuple[Ints, Ints]:
        """Return the number of points with a score >= each needle, and > each needle."""
        if _falls(needles):
            at_least, above = self.counts(needles[::-1])
            return at_least[::-1], above[::-1]
        found = self.values.searchsorted(needles)
        return self.n - self._lowest(found), self.n - self._beyond(found, needles)

    def _lowest(self, found: Ints) -> Ints:
        return found if self.shift is None else found + self.shift[found]

    def _beyond(self, found: Ints, needles: Scores) -> Ints:
        # Most needles are unique; search again only for those with duplicates.
        twin = self.values.take(found + 1, mode="clip") == needles
        twin &= found + 1 < self.values.size
        last = found
        if twin.any():
            last = found.copy()
            last[twin] = self.values.searchsorted(needles[twin], side="right") - 1
        # `values` contains all points of a needle's bucket, so both ends have the same shift.
        return last + 1 if self.shift is None else last + 1 + self.shift[last]

    def at_rank(self, ranks: Ints) -> tuple[Scores, Ints]:
        """Return the scores at ranks (0 is the highest), and the number of points >= each."""
        position = self.n - 1 - ranks
        at = position
        if self.shift is not None:
            at = (np.arange(self.values.size) + self.shift).searchsorted(position)
        found = self.values[at]
        twin = self.values.take(at - 1, mode="clip") == found
        twin &= at > 0
        at_least = ranks + 1
        if twin.any():
            at_least[twin] = self.at_least(found[twin])
        return found, at_least


def _falls(needles: Scores) -> bool:
    """Whether needles are descending; ``searchsorted`` is faster for ascending needles."""
    return needles.size > 1 and bool(needles[0] > needles[-1])


def rank_table(scores: Scores, needles: Scores, ranks: Ints) -> RankTable:
    """Compute as much of the order of the scores as ``needles`` and ``ranks`` require.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Finite scores.
    needles : ndarray
        Values from ``scores`` whose ranks are queried.
    ranks : ndarray of int
        Ranks, counted from the highest score, whose values are queried.
    """
    n = scores.size
    queries = needles.size + ranks.size
    buckets = max(_PER_QUERY * queries, min(n // _PER_BUCKET, _CACHED_BUCKETS), _FEWEST_BUCKETS)
    most = max(_CACHED_BUCKETS, _PER_QUERY // 2 * queries) if n < _SHORT else _MOST_BUCKETS
    buckets = min(buckets, most, _MOST_BUCKETS, 2 * n)
    if n < _SMALL or scores.dtype.itemsize > 8 or 4 * queries > min(buckets, n):
        return _by_sorting(scores)
    quantizer = _Quantizer.spanning(scores, buckets)
    if quantizer is None:
        return _by_sorting(scores)
    return _by_buckets(scores, quantizer, needles, ranks)


@np.errstate(under="ignore")  # see ``_Quantizer``; once for all chunks, because it takes time
def _by_buckets(scores: Scores, quantizer: _Quantizer, needles: Scores, ranks: Ints) -> RankTable:
    n = scores.size
    placed = _Placed(scores, quantizer)
    counts = placed.count()
    ends = counts.cumsum()
    wanted = np.zeros(quantizer.buckets, dtype=np.bool_)
    for part in quantizer.chunks(needles):
        wanted[quantizer(part)] = True
    wanted[ends.searchsorted(n - 1 - ranks, side="right")] = True
    here = np.flatnonzero(wanted)
    kept = counts[here]
    n_wanted = int(kept.sum())
    if n_wanted > n // 4 and np.count_nonzero(counts) <= _DISCRETE:
        values = placed.one_value_per_bucket()
        if values is not None:
            return _of_discrete(values, counts)
    if n_wanted > n // 2:
        return _by_sorting(scores)
    values = np.sort(placed.collect(wanted))
    return RankTable(n, values, np.repeat(ends[here] - kept.cumsum(), kept))


def position_among(marks: Scores, values: Scores) -> Ints:
    """Return the number of ascending marks <= each value.

    For many values, buckets are computed first, and only values that share a bucket with a mark are
    searched.
    """
    if values.size < _SMALL or values.size < 8 * marks.size or values.dtype.itemsize > 8:
        return marks.searchsorted(values, side="right")
    quantizer = _Quantizer.spanning(values, min(_FEWEST_BUCKETS + 16 * marks.size, _MOST_BUCKETS))
    if quantizer is None:
        return marks.searchsorted(values, side="right")
    return _among_buckets(marks, values, quantizer)


@np.errstate(under="ignore")  # as for ``_by_buckets``
def _among_buckets(marks: Scores, values: Scores, quantizer: _Quantizer) -> Ints:
    # Only marks within the span of the values fall into buckets.
    inner = marks[(marks >= values.min()) & (marks <= values.max())]
    in_bucket = np.zeros(quantizer.buckets, dtype=np.intp)
    for part in quantizer.chunks(inner):
        in_bucket += np.bincount(quantizer(part), minlength=quantizer.buckets)
    base = in_bucket.cumsum() - in_bucket + np.count_nonzero(marks < values.min())
    positions = np.empty(values.size, dtype=np.intp)
    start = 0
    for part in quantizer.chunks(values):
        buckets = quantizer(part)
        found = base[buckets]
        unsure = np.flatnonzero(in_bucket[buckets])
        found[unsure] = marks.searchsorted(part[unsure], side="right")
        positions[start : start + part.size] = found
        start += part.size
    return positions


def _by_sorting(scores: Scores) -> RankTable:
    return RankTable(scores.size, np.sort(scores), None)


def _of_discrete(values: Scores, counts: Ints) -> RankTable:
    occupied = counts > 0
    return RankTable(int(counts.sum()), np.repeat(values[occupied], counts[occupied]), None)


class _Quantizer:
    """Monotone map from scores to bucket numbers, applied in chunks.

    Scores close to the lowest may underflow, which is harmless: they fall into the first bucket.
    Callers switch that error of NumPy off.
    """

    def __init__(self, low: float, scale: float, buckets: int) -> None:
        self.low = low
        self.scale = scale
        self.buckets = buckets
        self.chunk = min(max(_CHUNK, buckets), _LARGEST_CHUNK)

    @classmethod
    def spanning(cls, scores: Scores, buckets: int) -> _Quantizer | None:
        """Return buckets that span the scores; None if the span is 0 or infinite."""
        low, high = float(scores.min()), float(scores.max())
        if low == high:
            return None
        # Values are rounded, so the highest score falls into the middle of the last bucket.
        scale = (buckets - 1) / (high - low)
        if scale == 0.0 or not math.isfinite(scale):
            return None
        return cls(low, scale, buckets)

    def __call__(self, values: Scores, out: Floats | None = None) -> Ints:
        """Return the buckets of at most one chunk of values.

        Without ``out``, the result is valid until the next call.
        """
        work = scratch("scaled scores", values.shape) if out is None else out
        np.subtract(values, self.low, out=work, casting="unsafe", dtype=np.float64)
        np.multiply(work, self.scale, out=work)
        # Adding 2**52 puts the whole number into the last bits of the double. Reading these bits
        # is faster than a conversion, which is not vectorized.
        np.add(work, _WHOLE, out=work)
        whole = work.view(np.int64)
        return np.subtract(whole, _WHOLE_BITS, out=whole)

    def chunks(self, scores: Scores) -> Iterator[Scores]:
        """Yield the scores in chunks."""
        for start in range(0, scores.size, self.chunk):
            yield scores[start : start + self.chunk]


class _Placed:
    """All scores of a series with their buckets."""

    def __init__(self, scores: Scores, quantizer: _Quantizer) -> None:
        self.scores = scores
        self.quantizer = quantizer
        self.only: Ints | None = None  # buckets of a series that consists of one part

    def _parts(self) -> Iterator[tuple[Scores, Ints]]:
        """Yield scores and their buckets, valid until the next part."""
        for start in range(0, self.scores.size, _TOGETHER):
            part = self.scores[start : start + _TOGETHER]
            buckets = self._place(part) if self.only is None else self.only
            if part.size == self.scores.size:
                self.only = buckets
            yield part, buckets

    def _place(self, part: Scores) -> Ints:
        buckets = scratch("placed scores", part.shape)
        chunk = self.quantizer.chunk
        for start in range(0, part.size, chunk):
            self.quantizer(part[start : start + chunk], buckets[start : start + chunk])
        return buckets.view(np.int64)

    def count(self) -> Ints:
        """Return the number of scores in each bucket."""
        size = self.quantizer.buckets
        parts = (np.bincount(buckets, minlength=size) for _, buckets in self._parts())
        return reduce(operator.iadd, parts)

    def collect(self, wanted: NDArray[np.bool_]) -> Scores:
        """Return the scores in the wanted buckets."""
        return np.concatenate(
            [
                # No bucket is out of range; mode="clip" just avoids the check.
                scores.compress(wanted.take(buckets, mode="clip"))
                for scores, buckets in self._parts()
            ]
        )

    def one_value_per_bucket(self) -> Scores | None:
        """Return the value of each bucket if every bucket contains a single value, else None."""
        values = np.zeros(self.quantizer.buckets, dtype=self.scores.dtype)
        for scores, buckets in self._parts():
            values[buckets] = scores
        if all(np.array_equal(values[buckets], scores) for scores, buckets in self._parts()):
            return values
        return None
