"""Ranks of a few scores among many, for less than the cost of a sort.

A measure needs the rank of the scores near anomalies, or the scores at a few ranks, never the whole
order. Counting the points in equal-width buckets is a monotone map, so only the buckets that hold a
queried score have to be sorted. Where that does not pay (most buckets are queried), one ``np.sort``
answers instead; both ways give the same integers.
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

_SMALL = 1 << 12  # below this a sort is the cheapest way
_PER_QUERY = 32  # buckets per queried score, so that few points share a bucket with one
_PER_BUCKET = 4  # points at least, while the counts fit the cache
_FEWEST_BUCKETS, _CACHED_BUCKETS, _MOST_BUCKETS = 1 << 11, 1 << 16, 1 << 19
_SHORT = 1 << 18  # a shorter series is sorted in the time that many fresh counts take
_CHUNK = 1 << 14  # points at a time: the chunk and the counts stay in the second-level cache
_LARGEST_CHUNK = 1 << 15  # whose work arrays are kept from call to call
_TOGETHER = 1 << 17  # points counted together; their buckets are kept from call to call
_DISCRETE = 4096  # scores with fewer occupied buckets may have one value per bucket
_WHOLE = 2.0**52  # from here on doubles are whole numbers, one apart
_WHOLE_BITS = int(np.float64(_WHOLE).view(np.int64))


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
        if _falls(needles):
            return self.at_least(needles[::-1])[::-1]
        return self.n - self._lowest(self.values.searchsorted(needles))

    def counts(self, needles: Scores) -> tuple[Ints, Ints]:
        """Number of points with a score >= each needle, and > it."""
        if _falls(needles):
            at_least, above = self.counts(needles[::-1])
            return at_least[::-1], above[::-1]
        found = self.values.searchsorted(needles)
        return self.n - self._lowest(found), self.n - self._beyond(found, needles)

    def _lowest(self, found: Ints) -> Ints:
        return found if self.shift is None else found + self.shift[found]

    def _beyond(self, found: Ints, needles: Scores) -> Ints:
        # Most needles stand alone: only those with a twin are searched for again.
        twin = self.values.take(found + 1, mode="clip") == needles
        twin &= found + 1 < self.values.size
        last = found
        if twin.any():
            last = found.copy()
            last[twin] = self.values.searchsorted(needles[twin], side="right") - 1
        # A needle is one of `values`, and so are all points of its bucket: one shift for both ends.
        return last + 1 if self.shift is None else last + 1 + self.shift[last]

    def at_rank(self, ranks: Ints) -> tuple[Scores, Ints]:
        """Scores at the given ranks, counted from the highest (rank 0); points at or above them."""
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
    """Whether needles are in falling order; searching for rising ones goes on from where it was."""
    return needles.size > 1 and bool(needles[0] > needles[-1])


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
    buckets = max(_PER_QUERY * queries, min(n // _PER_BUCKET, _CACHED_BUCKETS), _FEWEST_BUCKETS)
    most = max(_CACHED_BUCKETS, _PER_QUERY // 2 * queries) if n < _SHORT else _MOST_BUCKETS
    buckets = min(buckets, most, _MOST_BUCKETS, 2 * n)
    if n < _SMALL or scores.dtype.itemsize > 8 or 4 * queries > min(buckets, n):
        return _by_sorting(scores)
    quantiser = _Quantiser.spanning(scores, buckets)
    if quantiser is None:
        return _by_sorting(scores)
    placed = _Placed(scores, quantiser)
    counts = placed.count()
    ends = counts.cumsum()
    wanted = np.zeros(buckets, dtype=np.bool_)
    for part in quantiser.chunks(needles):
        wanted[quantiser(part)] = True
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
    """Number of ascending marks that are not above each value.

    Many values are first told apart by buckets; only those that share one with a mark are searched.
    """
    if values.size < _SMALL or values.size < 8 * marks.size or values.dtype.itemsize > 8:
        return marks.searchsorted(values, side="right")
    quantiser = _Quantiser.spanning(values, min(_FEWEST_BUCKETS + 16 * marks.size, _MOST_BUCKETS))
    if quantiser is None:
        return marks.searchsorted(values, side="right")
    # Marks lie within the values' span, or beyond all of them.
    inner = marks[(marks >= values.min()) & (marks <= values.max())]
    in_bucket = np.zeros(quantiser.buckets, dtype=np.intp)
    for part in quantiser.chunks(inner):
        in_bucket += np.bincount(quantiser(part), minlength=quantiser.buckets)
    base = in_bucket.cumsum() - in_bucket + np.count_nonzero(marks < values.min())
    positions = np.empty(values.size, dtype=np.intp)
    start = 0
    for part in quantiser.chunks(values):
        buckets = quantiser(part)
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


class _Quantiser:
    """Monotone map of scores to bucket numbers, applied a chunk at a time."""

    def __init__(self, low: float, scale: float, buckets: int) -> None:
        self.low = low
        self.scale = scale
        self.buckets = buckets
        self.chunk = min(max(_CHUNK, buckets), _LARGEST_CHUNK)

    @classmethod
    def spanning(cls, scores: Scores, buckets: int) -> _Quantiser | None:
        """Buckets from the lowest to the highest score; None where their span is no number."""
        low, high = float(scores.min()), float(scores.max())
        if low == high:
            return None
        # Rounding carries the highest score to the middle of the last bucket.
        scale = (buckets - 1) / (high - low)
        if scale == 0.0 or not math.isfinite(scale):
            return None
        return cls(low, scale, buckets)

    def __call__(self, values: Scores, out: Floats | None = None) -> Ints:
        """Buckets of at most a chunk of values, in ``out`` or valid until the next call."""
        work = scratch("scaled scores", values.shape) if out is None else out
        np.subtract(values, self.low, out=work, casting="unsafe", dtype=np.float64)
        np.multiply(work, self.scale, out=work)
        # A double beyond 2**52 spells out a whole number in its last bits. To read it off there
        # takes the processor less than a conversion, which goes one by one.
        np.add(work, _WHOLE, out=work)
        whole = work.view(np.int64)
        return np.subtract(whole, _WHOLE_BITS, out=whole)

    def chunks(self, scores: Scores) -> Iterator[Scores]:
        """The scores, a chunk at a time."""
        for start in range(0, scores.size, self.chunk):
            yield scores[start : start + self.chunk]


class _Placed:
    """All scores of a series with their buckets."""

    def __init__(self, scores: Scores, quantiser: _Quantiser) -> None:
        self.scores = scores
        self.quantiser = quantiser
        self.only: Ints | None = None  # buckets of a series that is counted together

    def _parts(self) -> Iterator[tuple[Scores, Ints]]:
        """Scores and their buckets, valid until the next part."""
        for start in range(0, self.scores.size, _TOGETHER):
            part = self.scores[start : start + _TOGETHER]
            buckets = self._place(part) if self.only is None else self.only
            if part.size == self.scores.size:
                self.only = buckets
            yield part, buckets

    def _place(self, part: Scores) -> Ints:
        buckets = scratch("placed scores", part.shape)
        chunk = self.quantiser.chunk
        for start in range(0, part.size, chunk):
            self.quantiser(part[start : start + chunk], buckets[start : start + chunk])
        return buckets.view(np.int64)

    def count(self) -> Ints:
        """Number of scores in each bucket."""
        size = self.quantiser.buckets
        parts = (np.bincount(buckets, minlength=size) for _, buckets in self._parts())
        return reduce(operator.iadd, parts)

    def collect(self, wanted: NDArray[np.bool_]) -> Scores:
        """Scores in the wanted buckets."""
        return np.concatenate(
            [
                # Clipping changes nothing; it is faster than a check of every bucket.
                scores.compress(wanted.take(buckets, mode="clip"))
                for scores, buckets in self._parts()
            ]
        )

    def one_value_per_bucket(self) -> Scores | None:
        """The value of each bucket where every bucket holds one value only, else None."""
        values = np.zeros(self.quantiser.buckets, dtype=self.scores.dtype)
        for scores, buckets in self._parts():
            values[buckets] = scores
        if all(np.array_equal(values[buckets], scores) for scores, buckets in self._parts()):
            return values
        return None
