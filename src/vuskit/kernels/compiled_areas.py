"""R-AUC for all buffer widths at once, by the compiled kernels where they are loaded and pay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.areas import Levels
from vuskit.kernels.buffers import BufferPlan
from vuskit.kernels.compiled import MOST_WIDTHS, Kernels, compiled_kernels
from vuskit.kernels.range_areas import grid_ranks
from vuskit.kernels.ranking import Scores

__all__ = ["CompiledPlan", "CompiledScore"]

Floats = NDArray[np.float64]

_MOST_COPIED = 1 << 20  # scores that may be copied into contiguous doubles
_FIT_DOUBLES = ("f2", "f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4")


@dataclass(frozen=True)
class CompiledPlan:
    """The labels' part as the compiled kernels take it, made once for many scores."""

    plan: BufferPlan

    def rank(self, scores: Scores, grid: int | None) -> CompiledScore | None:
        """Rank a score at every distinct value or on a grid; None where NumPy has to do it."""
        plan = self.plan
        if plan.definition.positives != "predicted":
            return None
        kernels = compiled_kernels(plan.widths.size * plan.positions.size)
        doubles = None if kernels is None else _as_doubles(scores)
        if kernels is None or doubles is None:
            return None
        if grid is None:
            found = kernels.point_levels(doubles, plan.positions, plan.n_inside)
        else:
            ranks = grid_ranks(plan.n, grid)
            span = doubles.min(), doubles.max()
            found = kernels.grid_levels(doubles, plan.positions, plan.n_inside, ranks, *span)
        thresholds, *counts, level = found
        if thresholds.size == 0:
            return None
        return CompiledScore(kernels, self, doubles, thresholds, Levels(*counts), level)

    @cached_property
    def peak_search(self) -> tuple[Any, ...]:
        """What ``event_peaks`` needs beside the levels of the points."""
        plan = self.plan
        starts, stops, rows = plan.starts, plan.stops, plan.existence
        touching = plan.definition.events == "touch"
        return (
            np.append(rows.inside_starts, plan.n_inside),
            plan.gap_starts,
            np.append(starts, plan.n) - np.concatenate(([0], stops)),
            plan.ramps.joined_from(starts[1:] - stops[:-1], touching),
            plan.halves[np.searchsorted(rows.row_of_width, np.arange(rows.n_events.size))],
            plan.ramps.before,
            plan.ramps.after,
            int(rows.n_events.sum()),
        )

    def parts(self) -> Iterable[_Part]:
        """Runs of widths that are swept together; kept where their weights are few."""
        return self._kept_parts if self.plan.keeps_table else self._made_parts()

    @cached_property
    def _kept_parts(self) -> list[_Part]:
        return list(self._made_parts())

    def _made_parts(self) -> Iterator[_Part]:
        for widths in self.plan.parts(most=MOST_WIDTHS):
            yield _Part.of(self.plan, widths)


@dataclass(frozen=True)
class _Part:
    """Weights and rows of some widths."""

    points: tuple[Any, ...]  # weights by (code, width); code, first and second width of each point
    rows: slice  # of the existence plan
    n_events: Ints
    row_start: Ints

    @classmethod
    def of(cls, plan: BufferPlan, widths: slice) -> _Part:
        part = plan.part(widths)
        size = part.widths.size
        first_width = np.clip(plan.active_from - widths.start, 0, size)
        second_width = np.maximum(np.searchsorted(part.halves, plan.second), first_width)
        existence = part.existence
        first, last = int(existence.row_of_width[0]), int(existence.row_of_width[-1]) + 1
        return cls(
            (np.ascontiguousarray(part.table.T), plan.code, first_width, second_width),
            slice(first, last),
            existence.n_events[first:last],
            np.searchsorted(existence.row_of_width, np.arange(first, last + 1)),
        )


@dataclass(frozen=True)
class CompiledScore:
    """One score, ranked at the levels that its areas need."""

    kernels: Kernels
    prepared: CompiledPlan
    scores: Floats
    thresholds: Floats
    levels: Levels
    level: Ints  # of each dynamic point

    def at_rank(self, rank: int) -> tuple[float, int, int]:
        """Score at a rank (0: the highest), the number of points above it, and at or above it."""
        levels = self.levels
        cut, above, at_least = self.kernels.score_at_rank(
            self.scores, self.thresholds, levels.predicted, levels.predicted_before, rank
        )
        return cut, above, at_least

    def areas(self) -> tuple[Floats, Floats]:
        """R-AUC-ROC and R-AUC-PR of every width."""
        prepared = self.prepared
        rows, levels = self.kernels.event_peaks(self.level, *prepared.peak_search)
        found = []
        for part in prepared.parts():
            # Peaks are in the order of their rows.
            first, last = np.searchsorted(rows, (part.rows.start, part.rows.stop))
            here = slice(first, last)
            found.append(self._swept(part, rows[here] - part.rows.start, levels[here]))
        return np.concatenate([roc for roc, _ in found]), np.concatenate([pr for _, pr in found])

    def _swept(self, part: _Part, peak_rows: Ints, peak_levels: Ints) -> tuple[Floats, Floats]:
        plan, levels = self.prepared.plan, self.levels
        roc, pr = self.kernels.sweep(
            plan.n,
            plan.n_inside,
            *part.points,
            self.level,
            levels.predicted,
            levels.predicted_before,
            levels.found,
            part.n_events,
            part.row_start,
            peak_rows,
            peak_levels,
        )
        return roc, pr


def _as_doubles(scores: Scores) -> Floats | None:
    """The scores as the kernels take them; None where that would cost precision or memory."""
    if scores.dtype.str[1:] not in _FIT_DOUBLES:
        return None
    if scores.dtype == np.float64 and scores.flags.c_contiguous and scores.flags.aligned:
        return np.asarray(scores)
    if scores.size > _MOST_COPIED:
        return None
    return np.require(scores, dtype=np.float64, requirements=["C", "A"])
