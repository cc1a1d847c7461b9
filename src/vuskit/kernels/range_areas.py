"""R-AUC for all buffer widths at once, on a grid of thresholds or on every distinct score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.areas import Levels, area_sums, rates
from vuskit.kernels.buffers import BufferPlan
from vuskit.kernels.products import product
from vuskit.kernels.ranking import RankTable, Scores, position_among
from vuskit.kernels.sweep import SweepInput, sweep

__all__ = [
    "DynamicScores",
    "exact_areas",
    "grid_areas",
    "grid_ranks",
    "grid_rates",
    "perfect_grid_areas",
]

Floats = NDArray[np.float64]

_BLOCK = 1 << 18  # (widths x points) weighed together
_PRODUCT_STEPS = 25  # multiplications of a matrix product in the time of weighing one point


@dataclass(frozen=True)
class DynamicScores:
    """Scores of the dynamic points, and the order of those that matter."""

    plan: BufferPlan
    values: Scores  # of plan.positions
    kept: Ints  # dynamic points from the highest score down, without those that change nothing
    levels: Scores  # distinct scores among them, from high to low
    level: Ints  # level of each kept point

    @classmethod
    def of(cls, plan: BufferPlan, scores: Scores) -> DynamicScores:
        """Order the dynamic points of one score."""
        values = scores[plan.positions]
        if plan.definition.positives == "predicted":
            # Below the lowest anomalous point every anomalous point is found: T stays at one.
            candidates = np.flatnonzero(values >= values[: plan.n_inside].min())
        else:
            candidates = np.arange(values.size)
        kept = candidates[np.argsort(values[candidates])[::-1]]
        ordered = values[kept]
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        return cls(plan, values, kept, ordered[new], np.cumsum(new) - 1)

    def count(self, ranks: RankTable) -> Levels:
        """Points at or above each level, and anomalous ones among them."""
        inside = self.kept < self.plan.n_inside
        found = np.cumsum(np.bincount(self.level[inside], minlength=self.levels.size))
        return Levels(ranks.at_least(self.levels), ranks.above(self.levels), found)


def exact_areas(scores: Scores, dynamic: DynamicScores, levels: Levels) -> tuple[Floats, Floats]:
    """R-AUC-ROC and R-AUC-PR of every width, with every distinct score as a threshold."""
    plan = dynamic.plan
    peaks = _peak_levels(plan, scores, dynamic.values, dynamic.levels)
    return sweep(plan, SweepInput(dynamic.kept, dynamic.level, levels, *peaks))


def grid_ranks(n: int, size: int) -> Ints:
    """Ranks of the thresholds of a grid, counted from the highest score."""
    return np.linspace(0, n - 1, size).astype(np.intp)


def grid_areas(
    scores: Scores, plan: BufferPlan, ranks: RankTable, size: int
) -> tuple[Floats, Floats]:
    """R-AUC-ROC and R-AUC-PR of every width, on a grid of thresholds."""
    return _areas(plan, _on_grid(scores, plan, ranks, ranks.at_rank(grid_ranks(plan.n, size))))


def grid_rates(
    scores: Scores, plan: BufferPlan, ranks: RankTable, thresholds: Scores
) -> tuple[Floats, Floats, Floats]:
    """(FPR, TPR, precision) by (width, threshold)."""
    grid = _on_grid(scores, plan, ranks, thresholds)
    parts = [
        rates(part, grid.sums(part), grid.levels, grid.existence(part))
        for part in map(plan.part, plan.parts())
    ]
    fpr, tpr, precision = (np.concatenate(found) for found in zip(*parts, strict=True))
    return fpr, tpr, precision


def perfect_grid_areas(plan: BufferPlan, size: int) -> tuple[Floats, Floats]:
    """Areas of a perfect detector without ties on a grid of thresholds.

    It puts the points inside events first, one of each event, then the others, and after them the
    points around events, nearest first.
    """
    # By their weights at the longest buffer, which fall with the distance.
    weight = plan.part(slice(-1, None)).table[0, plan.code[plan.n_inside :]]
    near = np.argsort(-weight, kind="stable") + plan.n_inside
    rank = np.arange(plan.positions.size)
    rank[near] = np.arange(plan.n_inside, plan.positions.size)
    predicted = grid_ranks(plan.n, size) + 1
    needed = min(int(np.searchsorted(predicted, plan.positions.size)) + 1, size)
    predicted = predicted[:needed]
    column = np.searchsorted(predicted, rank + 1)
    n_events = plan.existence.n_events[:, None]
    found = np.minimum(predicted, n_events) / n_events
    return _areas(plan, _OnGrid(column, _grid_levels(plan, column, predicted), found))


@dataclass(frozen=True)
class _OnGrid:
    """Where the dynamic points and the buffered events come into a grid of thresholds."""

    column: Ints  # first threshold that each dynamic point reaches
    levels: Levels
    found: Floats  # share of buffered events found, by (row, threshold)

    def sums(self, part: BufferPlan) -> Floats:
        """Running sums by (width, threshold)."""
        size = self.levels.size
        if part.code.size * _PRODUCT_STEPS < part.n_codes * size:
            sums = _weight_sums(part, self.column, size)
        else:
            at = part.code * size + self.column
            counts = np.bincount(at, minlength=part.n_codes * size).reshape(-1, size)
            sums = product(part.table, np.cumsum(counts, axis=1, dtype=np.float64))
        if part.doubled.size:
            sums += _second_touch(part, self.column, size)
        if part.definition.positives == "predicted":
            sums += part.n_inside
        return sums

    def existence(self, part: BufferPlan) -> Floats:
        """Share of buffered events found, by (width, threshold)."""
        return self.found[part.existence.row_of_width]


def _areas(plan: BufferPlan, grid: _OnGrid) -> tuple[Floats, Floats]:
    found = []
    for part in map(plan.part, plan.parts()):
        running = area_sums(part)
        running.add(grid.sums(part), grid.levels, grid.existence(part))
        found.append(running.areas())
    return np.concatenate([roc for roc, _ in found]), np.concatenate([pr for _, pr in found])


def _on_grid(scores: Scores, plan: BufferPlan, ranks: RankTable, thresholds: Scores) -> _OnGrid:
    values = scores[plan.positions]
    size = thresholds.size
    column = _first_reached(thresholds, values)
    rows, level = _peak_levels(plan, scores, values, thresholds)
    n_events = plan.existence.n_events[:, None]
    new = np.bincount(rows * size + level, minlength=n_events.size * size).reshape(-1, size)
    levels = _grid_levels(plan, column, ranks.at_least(thresholds))
    return _OnGrid(column, levels, np.cumsum(new, axis=1) / n_events)


def _grid_levels(plan: BufferPlan, column: Ints, predicted: Ints) -> Levels:
    found = np.cumsum(np.bincount(column[: plan.n_inside], minlength=predicted.size))
    return Levels(predicted, np.concatenate(([0], predicted[:-1])), found)


def _weight_sums(plan: BufferPlan, column: Ints, size: int) -> Floats:
    """What the points add by the weight of the nearer event."""

    def weight(points: Ints, rows: slice) -> Floats:
        return np.take(plan.table[rows], plan.code[points], axis=1)

    return _sums_of_points(plan, np.arange(plan.code.size), column, size, weight)


def _second_touch(plan: BufferPlan, column: Ints, size: int) -> Floats:
    """What the points that touch two events add beyond the weight of the nearer one."""

    def gain(points: Ints, rows: slice) -> Floats:
        reached = plan.halves[rows, None] >= plan.second[points]
        return reached * (plan.full_weight - np.take(plan.table[rows], plan.code[points], axis=1))

    return _sums_of_points(plan, plan.doubled, column, size, gain)


def _sums_of_points(
    plan: BufferPlan,
    points: Ints,
    column: Ints,
    size: int,
    weights: Callable[[Ints, slice], Floats],
) -> Floats:
    """Running sums by (width, threshold) of the weights of some points, one by one."""
    points = points[np.argsort(column[points], kind="stable")]
    at = column[points]
    first = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
    sums = np.zeros((plan.widths.size, size))
    height = max(1, _BLOCK // points.size)
    for top in range(0, plan.widths.size, height):
        rows = slice(top, top + height)
        sums[rows, at[first]] = np.add.reduceat(weights(points, rows), first, axis=1)
    return np.cumsum(sums, axis=1, out=sums)


def _peak_levels(
    plan: BufferPlan, scores: Scores, values: Scores, thresholds: Scores
) -> tuple[Ints, Ints]:
    """For each buffered event of each half-length: its row and the level at which it is found."""
    rows, levels = [], []
    for peak_rows, peaks in plan.existence.peaks(scores, values[: plan.n_inside]):
        rows.append(peak_rows)
        levels.append(_first_reached(thresholds, peaks))
    return np.concatenate(rows), np.concatenate(levels)


def _first_reached(thresholds: Scores, values: Scores) -> Ints:
    """Index of the first threshold, from high to low, that is not above each value."""
    return thresholds.size - position_among(thresholds[::-1], values)
