"""R-AUC with every distinct score as a threshold.

The sweep visits every dynamic point from the highest score down, all buffer widths side by side.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels._arrays import LANE, running_sums, scratch, whole_lanes
from vuskit.kernels.labels.buffers import BufferPlan
from vuskit.kernels.ranking import RankTable, Scores, position_among
from vuskit.kernels.sweep.areas import Levels, area_sums, joined

__all__ = [
    "DynamicScores",
    "SweepInput",
    "first_reached",
    "peak_levels",
    "sweep",
    "sweep_longest",
]

Floats = NDArray[np.float64]

_BLOCK = 1 << 14  # (widths x points) per block; several such arrays fit into the cache
_ROWS = 32  # widths per run, so that shorter buffers skip the points that they do not reach


@dataclass(frozen=True)
class DynamicScores:
    """Scores of the dynamic points, and the order of those that affect the areas."""

    plan: BufferPlan
    values: Scores  # scores of plan.positions
    kept: Ints  # dynamic points that affect the areas, from the highest score down
    levels: Scores  # distinct scores of these points, from high to low
    level: Ints  # level of each kept point

    @classmethod
    def of(cls, plan: BufferPlan, scores: Scores) -> DynamicScores:
        """Order the dynamic points of one score."""
        values = scores[plan.positions]
        if plan.definition.positives == "predicted":
            # Below the lowest anomalous score all anomalous points are found, and T stays 1.
            candidates = np.flatnonzero(values >= values[: plan.n_inside].min())
        else:
            candidates = np.arange(values.size)
        kept = candidates[np.argsort(values[candidates])[::-1]]
        ordered = values[kept]
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        return cls(plan, values, kept, ordered[new], new.cumsum() - 1)

    def count(self, ranks: RankTable) -> Levels:
        """Count the points and the anomalous points at or above each level."""
        inside = self.kept < self.plan.n_inside
        found = np.cumsum(np.bincount(self.level[inside], minlength=self.levels.size))
        return Levels(*ranks.counts(self.levels), found)


@dataclass(frozen=True)
class SweepInput:
    """Dynamic points in descending order of their scores, and their levels.

    ``points[i]`` (an index into the plan's points) has level ``level[i]``. For every buffered
    event, ``peak_rows`` is the row of its half-length and ``peak_levels`` the level that finds it.
    """

    points: Ints
    level: Ints
    levels: Levels
    peak_rows: Ints
    peak_levels: Ints

    @classmethod
    def of(cls, scores: Scores, dynamic: DynamicScores, levels: Levels) -> SweepInput:
        """Return the input of a sweep with every distinct score as a threshold."""
        peaks = peak_levels(dynamic.plan, scores, dynamic.values, dynamic.levels)
        return cls(dynamic.kept, dynamic.level, levels, *peaks)


def sweep(plan: BufferPlan, order: SweepInput) -> tuple[Floats, Floats]:
    """Return R-AUC-ROC and R-AUC-PR of every width."""
    work = plan.widths.size * order.points.size
    n_parts = max(1, min(round(plan.widths.size / _ROWS), work // (4 * _BLOCK)))
    bounds = np.linspace(0, plan.widths.size, n_parts + 1).astype(int)
    parts = [slice(first, last) for first, last in itertools.pairwise(bounds.tolist())]
    return joined([_sweep_rows(plan, order, rows) for rows in parts])


def sweep_longest(plan: BufferPlan, order: SweepInput) -> tuple[Floats, Floats]:
    """Return R-AUC-ROC and R-AUC-PR of the last width, as if it were the only one."""
    return _sweep_rows(plan, order, plan.last_row)


def _sweep_rows(plan: BufferPlan, order: SweepInput, rows: slice) -> tuple[Floats, Floats]:
    """Sweep some widths, over the points that the longest of them reaches."""
    reached = np.flatnonzero(plan.active_from[order.points] < rows.stop)
    points = order.points[reached]
    level = order.level[reached]
    ends = np.flatnonzero(np.concatenate((level[1:] != level[:-1], [True])))
    levels = order.levels[level[ends]]
    existence = _Existence(plan, order, rows, level[ends])
    plan = plan.part(rows)
    size = plan.widths.size
    second = plan.second[points]
    touches_two = second <= plan.halves[-1]
    block = max(LANE, min(_BLOCK // size, points.size + LANE) // LANE * LANE)
    running = area_sums(plan)
    carry = np.full(size, plan.n_inside if plan.definition.positives == "predicted" else 0.0)
    done = 0
    for start in range(0, points.size, block):
        stop = min(start + block, points.size)
        shape = (size, whole_lanes(stop - start))
        weights = _weights(plan, points[start:stop], scratch("weights", shape))
        if touches_two[start:stop].any():
            which = touches_two[start:stop].nonzero()[0]
            beyond = plan.halves[:, None] >= second[start:stop][which]
            weights[:, which] = np.where(beyond, plan.full_weight, weights[:, which])
        sums = running_sums(weights, carry, scratch("sums", shape))
        carry = sums[:, stop - start - 1].copy()
        first, done = done, int(ends.searchsorted(stop))
        n_levels = done - first
        if n_levels == 0:
            continue  # the level continues in the next block
        if sums.shape[1] != n_levels:
            # Points with the same level count together, at the last of them.
            at_levels = scratch("weights", (size, n_levels))
            sums = sums.take(ends[first:done] - start, axis=1, out=at_levels, mode="clip")
        running.add(sums, levels[first:done], existence.block(first, done))
        if running.is_complete:
            break
    return running.areas()


def _weights(plan: BufferPlan, points: Ints, out: Floats) -> Floats:
    """Return the weights by (width, point), padded with zeros to whole lanes."""
    code = plan.code[points]
    if code.size == out.shape[1]:
        return plan.table.take(code, axis=1, out=out, mode="clip")
    out[:, code.size :] = 0.0
    out[:, : code.size] = plan.table.take(code, axis=1)
    return out


class _Existence:
    """Fraction of found events by (width, level), computed in blocks until all are found."""

    def __init__(self, plan: BufferPlan, order: SweepInput, rows: slice, levels: Ints) -> None:
        row_of_width = plan.existence.row_of_width[rows]
        first, last = int(row_of_width[0]), int(row_of_width[-1]) + 1
        here = np.flatnonzero((order.peak_rows >= first) & (order.peak_rows < last))
        by_level = here[np.argsort(order.peak_levels[here], kind="stable")]
        self.rows = order.peak_rows[by_level] - first
        self.levels = levels.searchsorted(order.peak_levels[by_level])
        self.row_of_width = row_of_width - first
        self.share = 1.0 / plan.existence.n_events[first:last]
        self.found = np.zeros(last - first)

    def block(self, start: int, stop: int) -> Floats | None:
        """Return existence at levels ``start, ..., stop - 1``; None if all events are found."""
        if start > self.levels[-1]:
            return None
        first, last = self.levels.searchsorted([start, stop])
        size = stop - start
        padded = whole_lanes(size)
        at = self.rows[first:last] * padded + self.levels[first:last] - start
        new = np.bincount(at, minlength=self.found.size * padded).astype(np.float64)
        found = running_sums(new.reshape(-1, padded), self.found)
        self.found = found[:, size - 1].copy()
        found *= self.share[:, None]
        return found.take(self.row_of_width, axis=0)[:, :size]


def peak_levels(
    plan: BufferPlan, scores: Scores, values: Scores, thresholds: Scores
) -> tuple[Ints, Ints]:
    """Return the row of each buffered event and the level at which it is found."""
    rows, levels = [], []
    for peak_rows, peaks in plan.existence.peaks(scores, values[: plan.n_inside]):
        rows.append(peak_rows)
        levels.append(first_reached(thresholds, peaks))
    return np.concatenate(rows), np.concatenate(levels)


def first_reached(thresholds: Scores, values: Scores) -> Ints:
    """Return the index of the first threshold, from high to low, that is <= each value."""
    return thresholds.size - position_among(thresholds[::-1], values)
