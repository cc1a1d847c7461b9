"""R-AUC and its rates on a grid of thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels._arrays import product, scratch
from vuskit.kernels.labels.buffers import BufferPlan
from vuskit.kernels.ranking import RankTable, Scores
from vuskit.kernels.sweep.areas import Levels, area_sums, joined, rates
from vuskit.kernels.sweep.exact import first_reached, peak_levels

__all__ = [
    "ScoreOnGrid",
    "grid_of",
    "grid_ranks",
    "grid_rates",
    "perfect_pr_areas",
]

Floats = NDArray[np.float64]

_BLOCK = 1 << 13  # (widths x points) per block
_STRIP = 32  # widths per matrix product, which stops at the longest buffer among them
_PRODUCT_STEPS = 25  # multiplications of a matrix product that take as long as adding one point


@lru_cache(maxsize=8)
def grid_ranks(n: int, size: int) -> Ints:
    """Return the ranks of the thresholds of a grid, counted from the highest score (read-only)."""
    ranks = np.linspace(0, n - 1, size).astype(np.intp)
    ranks.flags.writeable = False
    return ranks


def grid_of(scores: Scores, plan: BufferPlan, ranks: RankTable, size: int) -> ScoreOnGrid:
    """Place one score on a grid of `size` thresholds."""
    thresholds, predicted = ranks.at_rank(grid_ranks(plan.n, size))
    return _on_grid(scores, plan, thresholds, predicted)


def grid_rates(
    scores: Scores, plan: BufferPlan, ranks: RankTable, thresholds: Scores
) -> tuple[Floats, Floats, Floats]:
    """Return FPR, TPR and precision by (width, threshold)."""
    grid = _on_grid(scores, plan, thresholds, ranks.at_least(thresholds))
    parts = [
        rates(part, grid.sums(part), grid.levels, grid.existence(part))
        for part in map(plan.part, plan.parts(thresholds.size))
    ]
    fpr, tpr, precision = (np.concatenate(found) for found in zip(*parts, strict=True))
    return fpr, tpr, precision


def perfect_pr_areas(plan: BufferPlan, size: int) -> Floats:
    """Return R-AUC-PR of a perfect detector without ties on a grid, for each width.

    A perfect detector ranks the points inside events first, starting with one point of each event,
    and then the points around events, nearest first.
    """
    predicted = grid_ranks(plan.n, size) + 1
    near = plan.n_inside + plan.reached_from[plan.n_inside :].argsort(kind="stable")
    if plan.definition.positives == "fixed" or plan.definition.pr_area == "trapezoid":
        return _perfect_by_levels(plan, predicted, near)
    last = int(predicted.searchsorted(plan.n_inside))  # first threshold that finds all
    before = int(predicted[last - 1]) if last else 0
    n_events = plan.existence.n_events[plan.existence.row_of_width]
    rate = before / plan.n_inside * np.minimum(before / n_events, 1.0)
    hits = plan.n_inside + plan.soft_total(near[: predicted[last] - plan.n_inside])
    return np.asarray(rate + (1.0 - rate) * hits / predicted[last])


def _perfect_by_levels(plan: BufferPlan, predicted: Ints, near: Ints) -> Floats:
    """Return the same areas if the true-positive rate continues to rise outside events."""
    rank = np.arange(plan.positions.size)
    rank[near] = np.arange(plan.n_inside, plan.positions.size)
    predicted = predicted[: int(predicted.searchsorted(plan.positions.size)) + 1]
    column = predicted.searchsorted(rank + 1)
    n_events = plan.existence.n_events[:, None]
    found = np.minimum(predicted, n_events) / n_events
    grid = ScoreOnGrid(plan, column, _grid_levels(plan, column, predicted), found)
    return grid.areas()[1]


@dataclass(frozen=True)
class ScoreOnGrid:
    """First thresholds of a grid that dynamic points and buffered events reach."""

    plan: BufferPlan
    column: Ints  # first threshold that each dynamic point reaches
    levels: Levels
    found: Floats  # fraction of buffered events found, by (row, threshold), until all are found

    def areas(self) -> tuple[Floats, Floats]:
        """Return R-AUC-ROC and R-AUC-PR of every width."""
        return joined([self._areas(rows) for rows in self.plan.parts(self.levels.size)])

    def longest_areas(self) -> tuple[Floats, Floats]:
        """Return the areas of the last width, as if it were the only one."""
        return self._areas(self.plan.last_row)

    def _areas(self, rows: slice) -> tuple[Floats, Floats]:
        part = self.plan.part(rows)
        running = area_sums(part)
        running.add(self.sums(part), self.levels, self.existence(part))
        return running.areas()

    @cached_property
    def _counts(self) -> Floats | None:
        """Number of points by (code, threshold); None if adding points one by one is faster."""
        size, n_codes = self.levels.size, self.plan.n_codes
        if self.column.size * _PRODUCT_STEPS < n_codes * size:
            return None
        return _cumulative(self.plan.code, self.column, n_codes, size)

    @cached_property
    def _points(self) -> _PointsByColumn:
        return _PointsByColumn.of(np.arange(self.column.size), self.column, self.levels.size)

    @cached_property
    def _doubled(self) -> _PointsByColumn:
        return _PointsByColumn.of(self.plan.doubled, self.column, self.levels.size)

    def sums(self, part: BufferPlan) -> Floats:
        """Return running sums by (width, threshold), valid until the next call."""
        n_widths, size = part.widths.size, self.levels.size
        sums = scratch("sums", (n_widths, size))
        if self._counts is None:
            self._points.sums(slice(0, n_widths), partial(_weight, part), sums)
        else:
            _weighted_sums(part, self._counts, sums)
        if part.doubled.size:
            # Only wider buffers contain points that lie in the buffers of two events.
            first = int(part.halves.searchsorted(part.second[part.doubled].min()))
            extra = scratch("extra sums", (n_widths - first, size))
            self._doubled.sums(slice(first, n_widths), partial(_second_touch, part), extra)
            sums[first:] += extra
        if part.definition.positives == "predicted":
            sums += part.n_inside
        return sums

    def existence(self, part: BufferPlan) -> Floats:
        """Return ``found`` by (width, threshold), valid until the next call."""
        rows = part.existence.row_of_width
        out = scratch("existence", (rows.size, self.found.shape[1]))
        return self.found.take(rows, axis=0, out=out, mode="clip")


@dataclass(frozen=True)
class _PointsByColumn:
    """Some dynamic points, ordered by the first threshold that they reach."""

    points: Ints
    reached: Ints  # number of these points at or above each threshold

    @classmethod
    def of(cls, points: Ints, column: Ints, size: int) -> _PointsByColumn:
        at = column[points]
        return cls(points[at.argsort(kind="stable")], np.bincount(at, minlength=size).cumsum())

    def sums(self, widths: slice, weights: Callable[[Ints, slice], Floats], out: Floats) -> None:
        """Write running sums of ``weights(points, rows)`` by (width, column) into ``out``."""
        n_points = self.points.size
        height = max(1, _BLOCK // n_points)
        for top in range(widths.start, widths.stop, height):
            rows = slice(top, min(top + height, widths.stop))
            running = np.empty((rows.stop - top, 1 + n_points))
            running[:, 0] = 0.0
            weights(self.points, rows).cumsum(axis=1, out=running[:, 1:])
            here = out[top - widths.start : rows.stop - widths.start]
            running.take(self.reached, axis=1, out=here, mode="clip")


def _weighted_sums(part: BufferPlan, counts: Floats, out: Floats) -> None:
    """Compute ``part.table @ counts`` without the codes that the widths do not reach."""
    height = part.widths.size if part.ramps.shorter else _STRIP
    for top in range(0, part.widths.size, height):
        rows = slice(top, min(top + height, part.widths.size))
        reached = part.n_codes if part.ramps.shorter else 1 + int(part.halves[rows.stop - 1])
        product(part.table[rows, :reached], counts[:reached], out[rows])


def _weight(part: BufferPlan, points: Ints, rows: slice) -> Floats:
    """Return the weights of points from the nearer event."""
    return part.table[rows].take(part.code[points], axis=1)


def _second_touch(part: BufferPlan, points: Ints, rows: slice) -> Floats:
    """Return the additional weights of points in the buffers of two events."""
    extra = part.full_weight - _weight(part, points, rows)
    np.copyto(extra, 0.0, where=part.second[points] > part.halves[rows, None])
    return extra


def _cumulative(rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> Floats:
    """Return the number of (row, column) pairs in each row up to each column."""
    counts = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    # Sum integers before the conversion, because sums of doubles are slower.
    return counts.reshape(n_rows, n_columns).cumsum(axis=1).astype(np.float64)


def _on_grid(scores: Scores, plan: BufferPlan, thresholds: Scores, predicted: Ints) -> ScoreOnGrid:
    values = scores[plan.positions]
    column = first_reached(thresholds, values)
    rows, level = peak_levels(plan, scores, values, thresholds)
    n_events = plan.existence.n_events
    found = _cumulative(rows, level, n_events.size, int(level.max()) + 1)
    found /= n_events[:, None]
    return ScoreOnGrid(plan, column, _grid_levels(plan, column, predicted), found)


def _grid_levels(plan: BufferPlan, column: Ints, predicted: Ints) -> Levels:
    found = np.cumsum(np.bincount(column[: plan.n_inside], minlength=predicted.size))
    return Levels(predicted, np.concatenate(([0], predicted[:-1])), found)
