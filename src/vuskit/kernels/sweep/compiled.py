"""R-AUC for all buffer widths at once, with compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.backend import Kernels, compiled_kernels
from vuskit.kernels.labels.buffers import BufferPlan
from vuskit.kernels.labels.definitions import Definition
from vuskit.kernels.ranking import Scores
from vuskit.kernels.sweep.areas import Levels, joined
from vuskit.kernels.sweep.grid import grid_ranks

__all__ = ["CompiledPlan", "CompiledScore"]

Floats = NDArray[np.float64]

_MOST_COPIED = 1 << 20  # maximum number of scores to copy into contiguous doubles
_FIT_DOUBLES = ("f2", "f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4")


@dataclass(frozen=True)
class CompiledPlan:
    """Buffer plan in the form of the compiled kernels, computed once for many scores."""

    plan: BufferPlan

    def rank(self, scores: Scores, grid: int | None, n_worth: int) -> CompiledScore | None:
        """Rank a score at every distinct value or on a grid; None if NumPy should be used.

        ``n_worth`` is the number of widths that decides whether compiled kernels are faster.
        """
        plan = self.plan
        if not _is_compiled(plan.definition) or not _fits_doubles(scores):
            return None
        size = plan.positions.size
        kernels = compiled_kernels(plan.widths.size * size, worth=n_worth * size)
        if kernels is None:
            return None
        doubles = np.require(np.asarray(scores), dtype=np.float64, requirements=["C", "A"])
        if grid is None:
            found = kernels.point_levels(
                doubles, plan.positions, plan.n_inside, plan.far_starts, plan.far_stops
            )
        else:
            ranks = grid_ranks(plan.n, grid)
            span = doubles.min(), doubles.max()
            found = kernels.grid_levels(doubles, plan.positions, plan.n_inside, ranks, *span)
        levels = Levels(*found[:3])
        return CompiledScore(kernels, self, levels, found[3:]) if levels.size else None

    @cached_property
    def gaps(self) -> tuple[Any, ...]:
        """Starts of events and gaps, lengths of gaps, and when buffers merge events."""
        plan = self.plan
        starts, stops = plan.starts, plan.stops
        touching = plan.definition.events == "touch"
        return (
            np.append(plan.existence.inside_starts, plan.n_inside),
            plan.gap_starts,
            np.append(starts, plan.n) - np.concatenate(([0], stops)),
            plan.ramps.joined_from(starts[1:] - stops[:-1], touching),
            plan.ramps.before,
            plan.ramps.after,
        )

    def parts(self) -> Iterable[tuple[Any, ...]]:
        """Return runs of widths that are swept together; cached if the table is small."""
        return self._kept_parts if self.plan.keeps_table else self._made_parts()

    @cached_property
    def _kept_parts(self) -> list[tuple[Any, ...]]:
        return list(self._made_parts())

    @cached_property
    def longest_part(self) -> tuple[Any, ...]:
        """Run that consists of the last width."""
        return _part(self.plan, self.plan.last_row)

    def _made_parts(self) -> Iterator[tuple[Any, ...]]:
        from vuskit.kernels.sweep._numba import MOST_WIDTHS  # already loaded, with the kernels

        for widths in self.plan.parts(most=MOST_WIDTHS):
            yield _part(self.plan, widths)


def _part(plan: BufferPlan, widths: slice) -> tuple[Any, ...]:
    """Return the weights and rows of some widths as arguments of ``sweep``."""
    from vuskit.kernels.sweep._numba import LANE  # already loaded, with the kernels

    part = plan.part(widths)
    size = part.widths.size
    first_width = np.clip(plan.active_from - widths.start, 0, size)
    second_width = np.maximum(np.searchsorted(part.halves, plan.second), first_width)
    existence = part.existence
    first, last = int(existence.row_of_width[0]), int(existence.row_of_width[-1]) + 1
    row_start = np.searchsorted(existence.row_of_width, np.arange(first, last + 1))
    table = np.zeros((part.table.shape[1], size + -size % LANE))
    table[:, :size] = part.table.T
    return (
        table,
        plan.code,
        first_width,
        second_width,
        existence.n_events[first:last],
        row_start,
        part.halves[row_start[:-1]],
    )


@dataclass(frozen=True)
class CompiledScore:
    """Ranks of one score at the levels required for its areas."""

    kernels: Kernels
    prepared: CompiledPlan
    levels: Levels
    points: tuple[Ints, Ints, Ints]  # level of each dynamic point; points by level; their ends

    def areas(self) -> tuple[Floats, Floats]:
        """Return R-AUC-ROC and R-AUC-PR of every width."""
        return joined([self._sweep(part) for part in self.prepared.parts()])

    def longest_areas(self) -> tuple[Floats, Floats]:
        """Return the areas of the last width, as if it were the only one."""
        return self._sweep(self.prepared.longest_part)

    def _sweep(self, part: tuple[Any, ...]) -> tuple[Floats, Floats]:
        plan, levels = self.prepared.plan, self.levels
        counts = levels.predicted, levels.predicted_before, levels.found
        found: tuple[Floats, Floats] = self.kernels.sweep(
            plan.n, plan.n_inside, *part, *counts, *self.points, *self.prepared.gaps
        )
        return found


def _is_compiled(definition: Definition) -> bool:
    """Whether there are compiled kernels for a definition."""
    return (
        definition.positives == "predicted"
        and definition.pr_area == "step"
        and definition.events != "apart"
        and not definition.after_is_shorter
    )


def _fits_doubles(scores: Scores) -> bool:
    """Whether scores can be converted to contiguous doubles exactly and with little memory."""
    if scores.dtype.str[1:] not in _FIT_DOUBLES:
        return False
    flags = scores.flags
    as_they_are = scores.dtype == np.float64 and flags.c_contiguous and flags.aligned
    return as_they_are or scores.size <= _MOST_COPIED
