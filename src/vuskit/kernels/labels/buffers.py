"""Soft labels for range-AUC and VUS: the points that buffers reach, and their weights.

The result does not depend on the scores, so it is computed once for many scores of a series. It
contains only points inside events and within half a buffer of an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels._arrays import row_dots
from vuskit.kernels.labels.definitions import Definition, Ramps, Side
from vuskit.kernels.labels.existence import ExistencePlan, plan_existence

__all__ = ["BufferPlan", "plan_buffers"]

Floats = NDArray[np.float64]

_NEVER = np.iinfo(np.intp).max // 4
_BLOCK = 1 << 14  # maximum size of temporary arrays
_CACHED = 1 << 15  # maximum size of a weight table that is cached between calls
_MOST_WEIGHTS = 1 << 21  # maximum size of a weight table by (width, code)


@dataclass(frozen=True)
class BufferPlan:
    """Dynamic points (inside or near an event) and their weights for every buffer width.

    Column ``code[i]`` of ``table`` contains the weight of point ``positions[i]`` for each width.
    The first ``n_inside`` points are anomalous (code 0). From half-length ``second[i]`` on, a point
    also lies in the buffer of a second event and has weight 1.
    """

    definition: Definition
    n: int
    n_inside: int
    longest: int  # half-length of the longest buffer
    widths: Ints
    halves: Ints
    positions: Ints
    code: Ints
    reached_from: Ints  # half-length from which an event reaches the point; 0 inside
    second: Ints
    ramps: Ramps
    existence: ExistencePlan
    starts: Ints
    stops: Ints
    gap_starts: Ints  # index of the first near point of each gap (and series end); total number
    far_starts: Ints  # bounds of the part of each gap that no buffer reaches; may be empty
    far_stops: Ints

    @cached_property
    def active_from(self) -> Ints:
        """First index into ``widths`` at which each point has a nonzero weight."""
        return self.halves.searchsorted(self.reached_from)

    @cached_property
    def doubled(self) -> Ints:
        """Points in the buffers of two events."""
        return np.flatnonzero(self.second <= self.halves[-1])

    @property
    def n_codes(self) -> int:
        """Number of columns of ``table``."""
        # Distances cannot exceed the length of the series.
        longest = min(int(self.longest), self.n)
        return 1 + longest * (2 if self.ramps.shorter else 1)

    @cached_property
    def table(self) -> Floats:
        """Contribution of one predicted point to the running sum of the sweep, by (width, code).

        If P' follows the prediction, the sum is P' and a point adds half its soft label. Otherwise
        the sum is TP, and a point adds its soft label (1 inside events).
        """
        longest = min(int(self.longest), self.n)
        if self.widths.size * self.n_codes > _CACHED:
            return _weight_table(self.definition, self.ramps, self.widths, longest)
        widths = self.widths.tobytes()
        return _cached_table(self.definition, self.ramps, widths, longest)

    def parts(self, columns: int = 1, most: int | None = None) -> Iterator[slice]:
        """Yield runs of widths for which the table and arrays of `columns` columns stay small."""
        height = max(1, min(_MOST_WEIGHTS // self.n_codes, max(8, 2 * _BLOCK // columns)))
        height = min(height, most or height)
        for first in range(0, self.widths.size, height):
            yield slice(first, min(first + height, self.widths.size))

    @property
    def full_weight(self) -> float:
        """Contribution of a soft label of 1 to the running sum; see ``table``."""
        return 0.5 if self.definition.positives == "predicted" else 1.0

    @property
    def keeps_table(self) -> bool:
        """Whether the table of all widths is small enough to cache."""
        return self.widths.size * self.n_codes <= _MOST_WEIGHTS

    @property
    def last_row(self) -> slice:
        """Slice of the longest buffer, which reaches every point."""
        return slice(self.widths.size - 1, self.widths.size)

    def part(self, rows: slice) -> BufferPlan:
        """Return the plan for some of the widths."""
        if rows.start == 0 and rows.stop == self.widths.size:
            return self
        part = replace(
            self,
            widths=self.widths[rows],
            halves=self.halves[rows],
            existence=replace(self.existence, row_of_width=self.existence.row_of_width[rows]),
        )
        if self.keeps_table:
            part.__dict__["table"] = self.table[rows]  # computed once for all parts and scores
        return part

    def soft_total(self, points: slice | Ints) -> Floats:
        """Return the sum of the soft labels of some points outside events, for each width."""
        code, second = self.code[points], self.second[points]
        block = max(1, _BLOCK // self.widths.size)
        if code.size <= block:
            return np.asarray(self._weights(code, second).sum(axis=1) / self.full_weight)
        counts = np.bincount(code, minlength=self.n_codes)
        total = row_dots(self.table, counts.astype(np.float64))
        doubled = np.flatnonzero(second <= self.halves[-1])
        for start in range(0, doubled.size, block):
            here = doubled[start : start + block]
            extra = self._weights(code[here], second[here])
            extra -= self.table.take(code[here], axis=1)
            total += extra.sum(axis=1)
        return total / self.full_weight

    def _weights(self, code: Ints, second: Ints) -> Floats:
        """Return the contributions of points to the running sum, by (width, point)."""
        weights = self.table.take(code, axis=1)
        np.copyto(weights, self.full_weight, where=self.halves[:, None] >= second)
        return weights

    def near_total(self) -> Floats:
        """Return the sum of the soft labels of all points outside events, for each width."""
        return self.soft_total(slice(self.n_inside, None))


def plan_buffers(
    inside: Ints,
    starts: Ints,
    stops: Ints,
    n: int,
    widths: Ints,
    definition: Definition,
    side: Side,
) -> BufferPlan:
    """Prepare the labels for all ``widths`` (ascending) at once."""
    ramps = Ramps.of(definition, side)
    halves = widths // 2
    longest = int(halves[-1])
    near = _NearPoints.of(starts, stops, n, min(longest, n), ramps)
    n_inside = inside.size
    none = np.zeros(n_inside, dtype=np.intp)
    reached_from = np.concatenate((none, near.reached_from))
    second = np.full(reached_from.size, _NEVER)
    if definition.overlap == "one":
        second[n_inside:] = near.second
    return BufferPlan(
        definition=definition,
        n=n,
        n_inside=n_inside,
        longest=longest,
        widths=widths,
        halves=halves,
        positions=np.concatenate((inside, near.positions)),
        code=np.concatenate((none, near.code)) if ramps.shorter else reached_from,
        reached_from=reached_from,
        second=second,
        ramps=ramps,
        existence=plan_existence(starts, stops, n, halves, definition, ramps),
        starts=starts,
        stops=stops,
        gap_starts=n_inside + near.gap_starts,
        far_starts=near.far_starts,
        far_stops=near.far_stops,
    )


@dataclass(frozen=True)
class _NearPoints:
    """Points outside events that the longest buffer reaches."""

    positions: Ints
    code: Ints  # see ``BufferPlan``
    reached_from: Ints
    second: Ints
    gap_starts: Ints  # number of near points before each gap between events, and in total
    far_starts: Ints  # bounds of the rest of each gap
    far_stops: Ints

    @classmethod
    def of(cls, starts: Ints, stops: Ints, n: int, longest: int, ramps: Ramps) -> _NearPoints:
        begins, ends = np.concatenate(([0], stops)), np.concatenate((starts, [n]))
        # Count the near points of each gap after its first event and before its second event.
        counts = np.empty((begins.size, 2), dtype=np.intp)
        after, before = counts[:, 0], counts[:, 1]
        lengths = ends - begins
        reach = np.array([longest])
        np.minimum(lengths, ramps.reach_after(reach), out=after)
        after[0] = 0
        np.minimum(lengths - after, ramps.reach_before(reach), out=before)
        before[-1] = 0
        far_starts, far_stops = begins + after, ends - before
        last = counts.cumsum()

        # Values shared by the points of a run: position minus index, and two events on each side.
        runs = np.empty((5, *counts.shape), dtype=np.intp)
        runs[0, :, 0], runs[0, :, 1] = begins, far_stops
        runs[0] -= last.reshape(counts.shape) - counts
        runs[1:3], runs[3:] = -_NEVER, _NEVER
        if ramps.after:
            first_reached = stops[:, None] - 1 - ramps.shorter
            runs[1, 1:], runs[2, 2:] = first_reached, first_reached[:-1]
        if ramps.before:
            runs[3, :-1], runs[4, :-2] = starts[:, None], starts[1:, None]
        spread = np.repeat(runs.reshape(5, -1), counts.ravel(), axis=1)
        positions = spread[0]
        positions += np.arange(positions.size)
        np.subtract(positions, spread[1:3], out=spread[1:3])
        np.subtract(spread[3:], positions, out=spread[3:])
        left, left_two, right, right_two = spread[1:]

        code = reached_from = np.minimum(left, right)
        if ramps.shorter:
            # Both sides share the columns of the table unless their reach differs.
            code = np.where(left <= right, left - ramps.shorter + longest, right)
        second = np.maximum(left, right)
        np.minimum(second, left_two, out=second)
        np.minimum(second, right_two, out=second)
        gap_starts = np.concatenate(([0], last[1::2]))
        return cls(positions, code, reached_from, second, gap_starts, far_starts, far_stops)


def _weight_table(definition: Definition, ramps: Ramps, widths: Ints, longest: int) -> Floats:
    """Compute ``BufferPlan.table``; code d is distance d, or longest + d on a shorter side."""
    distance, halves = np.arange(longest + 1), widths // 2
    weights = definition.weight(distance[None, :], widths[:, None])
    table = np.where(distance[None, :] <= halves[:, None], weights, 0.0)
    if ramps.shorter:
        after = np.where(distance[None, 1:] + ramps.shorter <= halves[:, None], weights[:, 1:], 0.0)
        table = np.concatenate((table, after), axis=1)
    follows = definition.positives == "predicted"
    table *= 0.5 if follows else 1.0
    table[:, 0] = 0.0 if follows else 1.0
    return table


@lru_cache(maxsize=4)
def _cached_table(definition: Definition, ramps: Ramps, widths: bytes, longest: int) -> Floats:
    """Return a cached table for series with the same buffers."""
    table = _weight_table(definition, ramps, np.frombuffer(widths, dtype=np.intp), longest)
    table.flags.writeable = False
    return table
