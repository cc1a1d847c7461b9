"""R-AUC for all buffer widths at once, on a grid of thresholds or on every distinct score."""

from __future__ import annotations

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
    sums, levels, existence = _on_grid(scores, plan, ranks, ranks.at_rank(grid_ranks(plan.n, size)))
    running = area_sums(plan)
    running.add(sums, levels, existence)
    return running.areas()


def grid_rates(
    scores: Scores, plan: BufferPlan, ranks: RankTable, thresholds: Scores
) -> tuple[Floats, Floats, Floats]:
    """(FPR, TPR, precision) by (width, threshold)."""
    return rates(plan, *_on_grid(scores, plan, ranks, thresholds))


def perfect_grid_areas(plan: BufferPlan, size: int) -> tuple[Floats, Floats]:
    """Areas of a perfect detector without ties on a grid of thresholds.

    It puts the points inside events first, one of each event, then the others, and after them the
    points around events, nearest first.
    """
    near = np.argsort(plan.active_from[plan.n_inside :], kind="stable") + plan.n_inside
    rank = np.arange(plan.positions.size)
    rank[near] = np.arange(plan.n_inside, plan.positions.size)
    predicted = grid_ranks(plan.n, size) + 1
    needed = min(int(np.searchsorted(predicted, plan.positions.size)) + 1, size)
    predicted = predicted[:needed]
    column = np.searchsorted(predicted, rank + 1)
    n_events = plan.existence.n_events[:, None]
    found = np.minimum(predicted, n_events) / n_events
    sums, levels = _grid_sums(plan, column, predicted)
    running = area_sums(plan)
    running.add(sums, levels, found[plan.existence.row_of_width])
    return running.areas()


def _on_grid(
    scores: Scores, plan: BufferPlan, ranks: RankTable, thresholds: Scores
) -> tuple[Floats, Levels, Floats]:
    values = scores[plan.positions]
    size = thresholds.size
    sums, levels = _grid_sums(plan, _first_reached(thresholds, values), ranks.at_least(thresholds))
    rows, level = _peak_levels(plan, scores, values, thresholds)
    n_events = plan.existence.n_events[:, None]
    new = np.bincount(rows * size + level, minlength=n_events.size * size).reshape(-1, size)
    existence = np.cumsum(new, axis=1) / n_events
    return sums, levels, existence[plan.existence.row_of_width]


def _grid_sums(plan: BufferPlan, column: Ints, predicted: Ints) -> tuple[Floats, Levels]:
    """Running sums at every threshold, given the first one that each dynamic point reaches."""
    size = predicted.size
    n_codes = plan.table.shape[1]
    counts = np.bincount(plan.code * size + column, minlength=n_codes * size).reshape(n_codes, size)
    found = np.cumsum(np.bincount(column[: plan.n_inside], minlength=size))
    sums = product(plan.table, np.cumsum(counts, axis=1, dtype=np.float64))
    if plan.doubled.size:
        sums += _second_touch(plan, column, size)
    if plan.definition.positives == "predicted":
        sums += plan.n_inside
    return sums, Levels(predicted, np.concatenate(([0], predicted[:-1])), found)


def _second_touch(plan: BufferPlan, column: Ints, size: int) -> Floats:
    """What the points that touch two events add beyond the weight of the nearer one."""
    order = plan.doubled[np.argsort(column[plan.doubled], kind="stable")]
    extra = np.zeros((plan.widths.size, size))
    block = max(1, (1 << 18) // plan.widths.size)
    for start in range(0, order.size, block):
        points = order[start : start + block]
        reached = plan.halves[:, None] >= plan.second[points]
        gain = plan.full_weight - np.take(plan.table, plan.code[points], axis=1)
        gain *= reached
        at = column[points]
        first = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
        extra[:, at[first]] += np.add.reduceat(gain, first, axis=1)
    return np.cumsum(extra, axis=1)


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
