"""Areas under range-aware ROC and PR curves, computed in blocks of levels.

A curve is a list of levels (thresholds from high to low). Summation by parts turns both areas into
sums over the jumps dT of the true-positive rate T:

    ROC area = 1 - sum dT * (FPR just before the jump + FPR after it) / 2
    PR area  = sum dT * precision after it               (step)
             = sum dT * (precision before + after) / 2   (trapezoid)

Thresholds at which T does not change can therefore be skipped. All arrays have the shape
(buffer widths, levels of the block).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels._arrays import row_dots, scratch
from vuskit.kernels.labels.buffers import BufferPlan

__all__ = ["AreaSums", "Levels", "area_sums", "joined", "plain_areas", "rates"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """Counts at each level, from high to low.

    ``predicted`` is the number of points at or above the level, ``predicted_before`` that number at
    the preceding threshold, and ``found`` the number of anomalous points at or above the level.
    """

    predicted: Ints
    predicted_before: Ints
    found: Ints

    def __getitem__(self, which: slice | Ints) -> Levels:
        """Return some of the levels."""
        return Levels(self.predicted[which], self.predicted_before[which], self.found[which])

    @property
    def size(self) -> int:
        """Number of levels."""
        return int(self.predicted.size)

    def with_hits(self) -> Levels:
        """Return the levels of anomalous points.

        The other levels depend on which measures are computed. Without them, sums are bit-identical
        for any selection of measures.
        """
        hits = np.diff(self.found, prepend=0) > 0
        return self if hits.all() else self[np.flatnonzero(hits)]


def plain_areas(levels: Levels, n: int) -> tuple[float, float]:
    """Return AUC-ROC and AUC-PR of ``n`` points."""
    levels = levels.with_hits()
    n_inside = int(levels.found[-1])
    found_before = np.concatenate(([0], levels.found[:-1]))
    hits = levels.found - found_before
    false = levels.predicted - levels.found
    false += levels.predicted_before - found_before
    roc = 1.0 - float(hits @ false) / (2.0 * n_inside * (n - n_inside))
    # Avoid a matrix product, whose rounding may depend on the number of threads.
    precise = float((hits * (levels.found / levels.predicted)).sum())
    return roc, min(precise / n_inside, 1.0)


class AreaSums(abc.ABC):
    """Running areas of every buffer width."""

    def __init__(self, plan: BufferPlan) -> None:
        size = plan.widths.size
        self.n, self.n_inside = plan.n, plan.n_inside
        self.with_trapezoids = plan.definition.pr_area == "trapezoid"
        self.roc, self.pr = np.zeros(size), np.zeros(size)

    @abc.abstractmethod
    def add(self, sums: Floats, levels: Levels, existence: Floats | None) -> None:
        """Add the next block; ``sums`` (see ``BufferPlan.table``) may be overwritten.

        If ``existence`` has fewer levels, all events are found at the remaining ones.
        """

    @property
    @abc.abstractmethod
    def is_complete(self) -> bool:
        """Whether T is 1 for all widths; it stays 1, so the remaining levels add nothing."""

    @abc.abstractmethod
    def areas(self) -> tuple[Floats, Floats]:
        """Return the areas under the ROC and the PR curve for each width."""

    def add_trapezoids(
        self, jump: Floats, hits: Floats, hits_before: Floats, levels: Levels
    ) -> None:
        """Add a block to the PR areas; before the first threshold the precision is 1."""
        r_before = levels.predicted_before
        with np.errstate(divide="ignore", invalid="ignore"):
            before = np.where(r_before > 0, hits_before / r_before, 1.0)
        self.pr += 0.5 * np.einsum("ij,ij->i", jump, hits / levels.predicted + before)


def joined(parts: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Concatenate the areas of runs of widths."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([roc for roc, _ in parts]), np.concatenate([pr for _, pr in parts])


def area_sums(plan: BufferPlan) -> AreaSums:
    """Return empty running areas for the plan's definition."""
    if plan.definition.positives == "predicted":
        return _FollowingPositives(plan)
    return _FixedPositives(plan)


class _FollowingPositives(AreaSums):
    """Areas if P' grows with the prediction. ``sums`` is P' = P + B / 2, so TP = A - 2 P + 2 P'.

    All rates are rational functions of P' with one numerator per level:
    TP / P' = 2 - (2 P - A) / P',  FPR = 2 + (r - A - 2 (n - P)) / N',  N' = n - P'.
    """

    def __init__(self, plan: BufferPlan) -> None:
        super().__init__(plan)
        size = plan.widths.size
        self.last_miss = np.full(size, 2.0)
        self.last_inverse = np.full(size, 1.0 / (plan.n - plan.n_inside))
        self.last_positives = np.full(size, float(plan.n_inside))
        self.last_found = 0

    def add(self, sums: Floats, levels: Levels, existence: Floats | None) -> None:
        found, predicted = levels.found, levels.predicted
        jump, inverse = scratch("jump", sums.shape), scratch("inverse", sums.shape)
        found_before = np.concatenate(([self.last_found], found[:-1]))
        self.last_found = int(found[-1])
        self._jumps(sums, found, existence, miss=inverse, jump=jump)
        np.subtract(self.n, sums, out=inverse)
        np.divide(1.0, inverse, out=inverse)

        if self.with_trapezoids:
            before = np.concatenate((self.last_positives[:, None], sums[:, :-1]), axis=1)
            self.last_positives = sums[:, -1].copy()
            hits = found - 2.0 * self.n_inside + 2.0 * sums
            hits_before = found_before - 2.0 * self.n_inside + 2.0 * before
            self.add_trapezoids(jump, hits, hits_before, levels)
        else:
            self.pr += row_dots(jump, (found - 2.0 * self.n_inside) / predicted)
            sums *= jump
            self.pr += row_dots(sums, 2.0 / predicted)

        constant = 2.0 * (self.n - self.n_inside)
        # Shift by one column in flattened order; the first column uses the previous block.
        np.multiply(jump.ravel()[1:], inverse.ravel()[:-1], out=sums.ravel()[1:])
        np.multiply(jump[:, 0], self.last_inverse, out=sums[:, 0])
        self.last_inverse = inverse[:, -1].copy()
        self.roc += row_dots(sums, levels.predicted_before - found_before - constant)
        inverse *= jump
        self.roc += row_dots(inverse, predicted - found - constant)

    def _jumps(
        self, sums: Floats, found: Ints, existence: Floats | None, miss: Floats, jump: Floats
    ) -> None:
        """Write the jumps of T = min(2 - miss, 1) * existence into ``jump``."""
        np.divide(2.0 * self.n_inside - found, sums, out=miss)
        if miss[:, -1].min() < 1.0:  # miss is descending, so the last column suffices
            np.maximum(miss, 1.0, out=miss)
        if existence is not None:
            first = miss[:, : existence.shape[1]]
            np.subtract(2.0, first, out=first)
            first *= existence
            np.subtract(2.0, first, out=first)
        np.subtract(miss.ravel()[:-1], miss.ravel()[1:], out=jump.ravel()[1:])
        np.subtract(self.last_miss, miss[:, 0], out=jump[:, 0])
        self.last_miss = miss[:, -1].copy()

    @property
    def is_complete(self) -> bool:
        return bool((self.last_miss == 1.0).all())

    def areas(self) -> tuple[Floats, Floats]:
        # The jumps sum to 1, so the constant 2 of both FPRs adds 2 in total.
        return 1.0 - (2.0 + 0.5 * self.roc), self.pr


class _FixedPositives(AreaSums):
    """Areas if P' is one number per width. ``sums`` is TP."""

    def __init__(self, plan: BufferPlan) -> None:
        super().__init__(plan)
        size = plan.widths.size
        positives = plan.n_inside + plan.near_total() / 2
        self.inverse_positives = (1.0 / positives)[:, None]
        with np.errstate(divide="ignore"):
            self.inverse_negatives = (1.0 / (plan.n - positives))[:, None]
        self.last_rate = np.zeros(size)
        self.last_hits = np.zeros(size)

    def add(self, sums: Floats, levels: Levels, existence: Floats | None) -> None:
        before = np.concatenate((self.last_hits[:, None], sums[:, :-1]), axis=1)
        self.last_hits = sums[:, -1].copy()
        rate = sums * self.inverse_positives
        np.minimum(rate, 1.0, out=rate)
        if existence is not None:
            rate[:, : existence.shape[1]] *= existence
        jump = np.diff(rate, axis=1, prepend=self.last_rate[:, None])
        self.last_rate = rate[:, -1].copy()

        r, r_before = levels.predicted, levels.predicted_before
        if self.with_trapezoids:
            self.add_trapezoids(jump, sums, before, levels)
        else:
            self.pr += np.einsum("ij,ij->i", jump, sums / r)
        fpr = (r - sums) * self.inverse_negatives
        fpr_before = (r_before - before) * self.inverse_negatives
        self.roc += 0.5 * np.einsum("ij,ij->i", jump, fpr + fpr_before)

    @property
    def is_complete(self) -> bool:
        return bool((self.last_rate == 1.0).all())

    def areas(self) -> tuple[Floats, Floats]:
        return 1.0 - self.roc, self.pr


def rates(
    plan: BufferPlan, sums: Floats, levels: Levels, existence: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return FPR, TPR and precision at every width and level."""
    if plan.definition.positives == "predicted":
        positives = sums
        hits = levels.found - 2.0 * plan.n_inside + 2.0 * sums
    else:
        positives = (plan.n_inside + plan.near_total() / 2)[:, None]
        hits = sums
    tpr = np.minimum(hits / positives, 1.0)
    tpr[:, : existence.shape[1]] *= existence
    fpr = (levels.predicted - hits) / (plan.n - positives)
    return fpr, tpr, hits / levels.predicted
