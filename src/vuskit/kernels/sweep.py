"""The exact sweep: every dynamic point from the highest score down, all buffer widths side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vuskit.events import Ints
from vuskit.kernels.areas import Levels, area_sums
from vuskit.kernels.buffers import BufferPlan

__all__ = ["sweep"]

Floats = NDArray[np.float64]

_BLOCK = 1 << 15  # (widths x points) worked on together; a handful of such arrays fit the cache
_LANE = 16  # points summed by one product with a triangle of ones


def sweep(
    plan: BufferPlan, kept: Ints, level: Ints, levels: Levels, peak_rows: Ints, peak_levels: Ints
) -> tuple[Floats, Floats]:
    """Areas of every width, from the dynamic points in descending order of their scores."""
    size = plan.widths.size
    block = max(_LANE, _BLOCK // size // _LANE * _LANE)
    running = area_sums(plan)
    carry = np.full(size, plan.n_inside if plan.definition.positives == "predicted" else 0.0)
    existence = _Existence(plan, peak_rows, peak_levels)
    is_doubled = np.zeros(plan.positions.size, dtype=np.bool_)
    is_doubled[plan.doubled] = True
    kept_doubled = is_doubled[kept]
    tied = levels.size < kept.size
    done = 0
    for start in range(0, kept.size, block):
        stop = min(start + block, kept.size)
        points = kept[start:stop]
        doubled = kept_doubled[start:stop]
        sums = _running_sums(plan.weights(points, doubled if doubled.any() else None), carry)
        carry = sums[:, -1].copy()
        if tied:
            here = level[start:stop]
            ends = np.flatnonzero(here[1:] != here[:-1])
            complete = stop == kept.size or level[stop] != here[-1]
            if complete:
                ends = np.concatenate((ends, [here.size - 1]))
            if ends.size == 0:
                continue
            sums = sums[:, ends]
        first, done = done, done + sums.shape[1]
        running.add(sums, levels.part(first, done), existence.block(first, done))
    return running.areas()


def _running_sums(weights: Floats, carry: Floats) -> Floats:
    """Cumulative sums along the points, from ``carry`` on.

    ``np.cumsum`` waits for every addition; products with a triangle of ones do not.
    """
    size, length = weights.shape
    if length % _LANE:
        weights[:, 0] += carry
        return np.cumsum(weights, axis=1)
    lanes = weights.reshape(size, -1, _LANE)
    totals = (weights.reshape(-1, _LANE) @ np.ones(_LANE)).reshape(size, -1)
    np.cumsum(totals, axis=1, out=totals)
    lanes[:, 0, 0] += carry
    lanes[:, 1:, 0] += totals[:, :-1] + carry[:, None]
    return (weights.reshape(-1, _LANE) @ np.triu(np.ones((_LANE, _LANE)))).reshape(size, length)


class _Existence:
    """Share of found events per (width, level), made block by block while it still changes."""

    def __init__(self, plan: BufferPlan, rows: Ints, levels: Ints) -> None:
        order = np.argsort(levels, kind="stable")
        self.rows, self.levels = rows[order], levels[order]
        self.plan = plan.existence
        self.found = np.zeros(self.plan.n_events.size)

    def block(self, start: int, stop: int) -> Floats | None:
        """Existence at levels ``start, ..., stop - 1``; None: all events are found."""
        if start > self.levels[-1]:
            return None
        first, last = np.searchsorted(self.levels, [start, stop])
        size = stop - start
        at = self.rows[first:last] * size + self.levels[first:last] - start
        found = np.bincount(at, minlength=self.found.size * size).reshape(-1, size).astype(float)
        found[:, 0] += self.found
        np.cumsum(found, axis=1, out=found)
        self.found = found[:, -1].copy()
        found /= self.plan.n_events[:, None]
        return found[self.plan.row_of_width]
