"""The labels' part of range-AUC and VUS: which points a buffer reaches, and with which weight.

Nothing here depends on the scores, so it is prepared once for many scores of one series. Only the
points inside events and those within half a buffer of one appear; the rest of the series is never
looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.definitions import Definition, Ramps, Side
from vuskit.kernels.existence import ExistencePlan, plan_existence
from vuskit.kernels.products import row_dots

__all__ = ["BufferPlan", "plan_buffers"]

Floats = NDArray[np.float64]

_NEVER = np.iinfo(np.intp).max // 4
_BLOCK = 1 << 14  # numbers by (width, something) that are held at a time
_REMEMBERED = 1 << 15  # weights of a table that is kept from call to call
_MOST_WEIGHTS = 1 << 21  # weights by (width, code) that are held at a time


@dataclass(frozen=True)
class BufferPlan:
    """Dynamic points (inside an event or near one) and their weights for every buffer width.

    Column ``code[i]`` of ``table`` holds the weight of point ``positions[i]`` for each width. The
    first ``n_inside`` points are the anomalous ones (code 0). A point that touches a second event
    from half-length ``second[i]`` on has weight 1 from there on; ``doubled`` lists such points.
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
    active_from: Ints  # first index into `widths` at which the point has a weight
    second: Ints
    doubled: Ints
    ramps: Ramps
    existence: ExistencePlan
    starts: Ints
    stops: Ints
    gap_starts: Ints  # first point near each gap between events (and the ends), and beyond all
    far_starts: Ints  # of the part of each gap that no buffer reaches; may be empty
    far_stops: Ints

    @property
    def n_codes(self) -> int:
        """Number of columns of ``table``."""
        # No distance in the series is longer than the series.
        longest = min(int(self.longest), self.n)
        return 1 + longest * (2 if self.ramps.shorter else 1)

    @cached_property
    def table(self) -> Floats:
        """What one predicted point adds to the running sum of the sweep, by (width, code).

        Half a soft label where P' follows the prediction (then the sum is P' itself), else the soft
        label (then the sum is TP, and points inside events add one).
        """
        longest = min(int(self.longest), self.n)
        if self.widths.size * self.n_codes > _REMEMBERED:
            return _weight_table(self.definition, self.ramps, self.widths, longest)
        widths = self.widths.tobytes()
        return _remembered_table(self.definition, self.ramps, widths, longest)

    def parts(self, columns: int = 1, most: int | None = None) -> Iterator[slice]:
        """Runs of widths for which the table, and arrays of so many columns, stay small."""
        height = max(1, min(_MOST_WEIGHTS // self.n_codes, max(8, 2 * _BLOCK // columns)))
        height = min(height, most or height)
        for first in range(0, self.widths.size, height):
            yield slice(first, min(first + height, self.widths.size))

    @property
    def full_weight(self) -> float:
        """What a soft label of one adds to the running sum: see ``table``."""
        return 0.5 if self.definition.positives == "predicted" else 1.0

    @property
    def keeps_table(self) -> bool:
        """Whether the table of all widths is small enough to be kept."""
        return self.widths.size * self.n_codes <= _MOST_WEIGHTS

    def part(self, rows: slice) -> BufferPlan:
        """The same points for some of the widths."""
        part = replace(
            self,
            widths=self.widths[rows],
            halves=self.halves[rows],
            existence=replace(self.existence, row_of_width=self.existence.row_of_width[rows]),
        )
        if self.keeps_table:
            part.__dict__["table"] = self.table[rows]  # made once for all parts and scores
        return part

    def soft_total(self, points: slice | Ints) -> Floats:
        """Sum of the soft labels of some points outside events, for each width."""
        code, second = self.code[points], self.second[points]
        counts = np.bincount(code, minlength=self.n_codes)
        total = row_dots(self.table, counts.astype(np.float64))
        doubled = np.flatnonzero(second <= self.halves[-1])
        block = max(1, _BLOCK // self.widths.size)
        for start in range(0, doubled.size, block):
            here = doubled[start : start + block]
            extra = self.full_weight - self.table.take(code[here], axis=1)
            extra *= self.halves[:, None] >= second[here]
            total += extra.sum(axis=1)
        return total / self.full_weight

    def near_total(self) -> Floats:
        """Sum of the soft labels of all points outside events, for each width."""
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
    longest = min(int(halves[-1]), n)  # no distance in the series is longer
    near = _near_points(starts, stops, n, halves[-1:], ramps)
    positions, distance, activation, second, gap_starts, far_starts, far_stops = near
    if definition.overlap == "larger":
        second = np.full_like(second, _NEVER)
    # Equal distances on the two sides share a column unless the sides differ in reach.
    code = distance + np.where(activation > distance, longest, 0)
    n_inside = inside.size
    code = np.concatenate((np.zeros(n_inside, dtype=np.intp), code))
    second = np.concatenate((np.full(n_inside, _NEVER), second))
    reached_from = np.concatenate((np.zeros(n_inside, dtype=np.intp), activation))
    return BufferPlan(
        definition=definition,
        n=n,
        n_inside=n_inside,
        widths=widths,
        halves=halves,
        positions=np.concatenate((inside, positions)),
        code=code,
        reached_from=reached_from,
        active_from=halves.searchsorted(reached_from),
        second=second,
        doubled=np.flatnonzero(second <= longest),
        ramps=ramps,
        longest=int(halves[-1]),
        existence=plan_existence(starts, stops, n, halves, definition, ramps),
        starts=starts,
        stops=stops,
        gap_starts=n_inside + gap_starts,
        far_starts=far_starts,
        far_stops=far_stops,
    )


def _near_points(
    starts: Ints, stops: Ints, n: int, longest: Ints, ramps: Ramps
) -> tuple[Ints, ...]:
    """Points outside events that the longest buffer reaches.

    Returns their positions, the distance to the event that reaches them first, the half-length from
    which that event reaches them, the half-length from which a second one does, and the number of
    them before each gap between events and after the last; then the bounds of what is left of each
    gap.
    """
    reach_after, reach_before = ramps.reach_after(longest), ramps.reach_before(longest)
    gap_start = np.concatenate(([0], stops))
    gap_stop = np.concatenate((starts, [n]))
    from_left = np.minimum(gap_stop - gap_start, reach_after)
    from_left[0] = 0
    from_right = np.minimum(gap_stop - gap_start - from_left, reach_before)
    from_right[-1] = 0
    count = from_left + from_right
    first = np.concatenate(([0], np.cumsum(count)))
    total = int(first[-1])
    gap = np.repeat(np.arange(count.size), count)
    offset = np.arange(total) - first[gap]
    skipped = gap_stop - gap_start - count
    positions = gap_start[gap] + offset + np.where(offset < from_left[gap], 0, skipped[gap])

    never = np.array([_NEVER], dtype=np.intp)
    # Last anomalous point of the event before the gap and of the one before that, and so on.
    ends = np.concatenate((-never, -never, stops - 1))
    begins = np.concatenate((starts, never, never))
    left = positions - ends[gap + 1]
    left_two = positions - ends[gap]
    right = begins[gap] - positions
    right_two = begins[gap + 1] - positions
    if not ramps.after:
        left, left_two = np.full(total, _NEVER), np.full(total, _NEVER)
    if not ramps.before:
        right, right_two = np.full(total, _NEVER), np.full(total, _NEVER)
    reached_left, reached_left_two = left + ramps.shorter, left_two + ramps.shorter
    left_first = reached_left <= right
    activation = np.where(left_first, reached_left, right)
    distance = np.where(left_first, left, right)
    second = np.minimum(np.maximum(reached_left, right), np.minimum(reached_left_two, right_two))
    far = gap_start + from_left, gap_stop - from_right
    return positions, distance, activation, second, first, *far


def _weight_table(definition: Definition, ramps: Ramps, widths: Ints, longest: int) -> Floats:
    """See ``BufferPlan.table``; code d is distance d, code longest + d the shorter side's."""
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
def _remembered_table(definition: Definition, ramps: Ramps, widths: bytes, longest: int) -> Floats:
    """The same, kept for the next series of the same buffers."""
    table = _weight_table(definition, ramps, np.frombuffer(widths, dtype=np.intp), longest)
    table.flags.writeable = False
    return table
