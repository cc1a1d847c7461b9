"""R-AUC for every buffer length of one series: settings, buffered labels, and ranks of a score.

The native core or NumPy computes the ranks and areas, behind one interface (:class:`Ranks`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit._util.memory import available_memory
from vuskit.errors import InvalidInputError, ThresholdResolutionWarning, warn
from vuskit.inputs import Labels
from vuskit.intervals import Ints
from vuskit.kernels.backend import (
    NO_BUFFER,
    NativePlan,
    NativeScore,
    NativeWidths,
    native_core,
    rules_of,
)
from vuskit.kernels.labels import DEFINITIONS, BufferPlan, plan_buffers
from vuskit.kernels.ranking import RankTable, Scores, rank_table
from vuskit.kernels.sweep import (
    DynamicScores,
    Levels,
    ScoreOnGrid,
    SweepInput,
    grid_of,
    grid_ranks,
    perfect_pr_areas,
    plain_areas,
    sweep,
    sweep_longest,
)
from vuskit.measures.settings import EvaluationSettings

__all__ = [
    "COARSE",
    "SMALL_GRID",
    "AreaSettings",
    "Areas",
    "BufferedLabels",
    "Curve",
    "NativeRanks",
    "NumpyRanks",
    "Ranks",
    "rank_score",
]

Floats = NDArray[np.float64]
Curve = Literal["roc", "pr"]

COARSE = 4  # a grid is coarse when its step exceeds P / 4 points
_MOST_WIDTHS = 1 << 28  # buffer lengths of one volume
# Memory in bytes, measured with every definition and rounded up.
_WIDTH_BYTES = 256  # per buffer length of a volume
_THRESHOLD_BYTES = 128  # per threshold of a grid
_LANE_BYTES = 96  # per threshold and buffer length swept together
_ROW_BYTES = 32  # per threshold and set of buffered events
_CELL_BYTES = 80  # per cell of a surface
_LANES = 8  # buffer lengths swept together on a large grid
_ALWAYS_THERE = 1 << 26  # bytes that are allocated without a check
_ALMOST_ONE = 0.9995  # rounds to 1.000

SMALL_GRID = 1 << 14  # number of thresholds that needs no memory check
_MOST_CACHED = 1 << 14  # longest buffer of settings that are cached between calls
_FEWER_THRESHOLDS = "or thresholds=None, which uses every distinct score"


def _check_memory(name: str, number: int, bytes_each: float, otherwise: str) -> None:
    """Reject a number of buffer lengths or thresholds that needs too much memory."""
    needed = number * bytes_each
    if needed <= _ALWAYS_THERE:
        return
    available = available_memory()
    if needed > available:
        raise InvalidInputError(
            f"`{name}` must be at most {int(available / bytes_each)} with "
            f"{available / 1e9:.3g} GB of available memory, got {number}; use less, {otherwise}"
        )


@dataclass(frozen=True)
class AreaSettings:
    """Settings of the buffered labels of one series.

    ``longest`` is the longest buffer of VUS; None computes only R-AUC at ``buffer``.
    """

    buffer: int
    longest: int | None
    definition: str
    step: int
    side: str

    @classmethod
    def of(
        cls, settings: EvaluationSettings, buffer: int, *, with_volume: bool = True
    ) -> AreaSettings:
        """Return the area settings for validated settings and a chosen buffer."""
        longest = None
        if with_volume:
            longest = round(settings.volume_factor * buffer)
            if longest > _MOST_WIDTHS * settings.step:
                raise InvalidInputError(
                    f"`buffer` must be at most {_MOST_WIDTHS * settings.step}, got {longest}; use "
                    "less, or a larger `step`"
                )
            _check_memory("buffer", longest, _WIDTH_BYTES / settings.step, "or use a larger `step`")
        make = _cached_settings if max(buffer, longest or 0) <= _MOST_CACHED else cls
        return make(buffer, longest, settings.definition, settings.step, settings.side)

    @cached_property
    def n_volume(self) -> int:
        """Number of buffer lengths of the volume."""
        return 0 if self.longest is None else self.longest // self.step + 1

    @cached_property
    def widths(self) -> Ints:
        """Buffer lengths 0, step, 2 step, ... of the volume and that of R-AUC, ascending."""
        lengths = np.arange(self.n_volume, dtype=np.intp) * self.step
        if self._buffer_is_in_volume:
            return lengths
        return np.insert(lengths, self.buffer_row, self.buffer)

    @cached_property
    def _buffer_is_in_volume(self) -> bool:
        row, rest = divmod(self.buffer, self.step)
        return rest == 0 and row < self.n_volume

    @cached_property
    def buffer_row(self) -> int:
        """Index of R-AUC's buffer in ``widths``."""
        if self._buffer_is_in_volume:
            return self.buffer // self.step
        return min(self.buffer // self.step + 1, self.n_volume)

    @property
    def shares_ranks(self) -> bool:
        """Whether R-AUC's buffer is the longest of the volume; then both need the same ranks."""
        return self._buffer_is_in_volume and self.buffer_row == self.n_volume - 1

    @property
    def without_volume(self) -> AreaSettings:
        """The same settings for R-AUC alone."""
        return replace(self, longest=None)

    @cached_property
    def native_widths(self) -> NativeWidths | None:
        """The buffer lengths for the native core; None if it does not support the definition."""
        side: Any = self.side
        rules = rules_of(DEFINITIONS[self.definition], side)
        return None if rules is None else NativeWidths(rules, self.widths)

    def in_volume(self, areas: Floats) -> Floats:
        """Return the areas of the buffer lengths of the volume."""
        if self._buffer_is_in_volume:
            return areas
        row = self.buffer_row
        return areas[:row] if row == self.n_volume else np.delete(areas, row)


# Short series share their settings, whose weights take longer to compute than their areas.
_cached_settings = lru_cache(maxsize=32)(AreaSettings)


@dataclass(frozen=True)
class BufferedLabels:
    """Labels of one series with the buffers around their events."""

    labels: Labels
    settings: AreaSettings

    @cached_property
    def plan(self) -> BufferPlan:
        """Dynamic points and weights."""
        labels, settings = self.labels, self.settings
        return plan_buffers(
            labels.inside,
            labels.starts,
            labels.stops,
            labels.n,
            settings.widths,
            DEFINITIONS[settings.definition],
            settings.side,  # type: ignore[arg-type]  # checked with the settings
        )

    @cached_property
    def native(self) -> NativePlan | None:
        """The same for the native core; None if NumPy computes the areas."""
        core, widths = native_core(), self.settings.native_widths
        if core is None or widths is None:
            return None
        return NativePlan(core, self.labels.bounds, self.labels.n, widths)

    def check_grid(self, thresholds: int | None) -> None:
        """Reject a grid of thresholds that does not fit into the available memory."""
        if thresholds is not None and thresholds > SMALL_GRID:
            lanes = min(self.settings.widths.size, _LANES)
            rows = self.plan.existence.n_events.size
            each = _THRESHOLD_BYTES + _LANE_BYTES * lanes + _ROW_BYTES * rows
            _check_memory("thresholds", thresholds, each, _FEWER_THRESHOLDS)

    def check_surface(self, thresholds: int) -> None:
        """Reject a surface (buffer lengths x thresholds) that does not fit into memory."""
        each = _CELL_BYTES * self.settings.widths.size
        _check_memory("thresholds", thresholds, each, "or use a larger `step`")

    def warn_if_coarse(self, thresholds: int | None) -> None:
        """Warn if one step of the grid exceeds a quarter of the anomalous points."""
        labels = self.labels
        if thresholds is None or not labels.has_both_classes:
            return
        step = labels.n / thresholds
        if step * COARSE <= labels.n_anomalous:
            return
        areas = perfect_pr_areas(self.plan, thresholds)
        with_volume = self.settings.longest is not None
        best = float(self.settings.in_volume(areas).mean() if with_volume else areas[0])
        if best > _ALMOST_ONE:
            return
        warn(
            f"{thresholds} thresholds step over {step:.4g} points at a time, but only "
            f"{labels.n_anomalous} points are anomalous: on this grid a perfect detector "
            f"reaches {'VUS-PR' if with_volume else 'R-AUC-PR'} {best:.3f}; thresholds=None uses "
            "every score.",
            ThresholdResolutionWarning,
        )


def _mean(areas: Floats) -> float:
    return float(areas.sum() / areas.size)  # np.mean would take longer


@dataclass(frozen=True)
class Areas:
    """R-AUC-ROC and R-AUC-PR of one score for every buffer length."""

    settings: AreaSettings
    roc: Floats
    pr: Floats
    mean: Callable[[Floats], float] = _mean

    def range_auc(self, curve: Curve) -> float:
        """Return the area at R-AUC's buffer."""
        return _within_bounds(getattr(self, curve)[self.settings.buffer_row])

    def volume(self, curve: Curve) -> float:
        """Return the mean area over the buffer lengths of the volume."""
        return _within_bounds(self.mean(self.settings.in_volume(getattr(self, curve))))


def _within_bounds(area: float) -> float:
    """Clip rounding errors beyond 0 or 1."""
    return min(max(float(area), 0.0), 1.0)


class Ranks(Protocol):
    """Ranks of one score, as needed for areas and levels."""

    @property
    def grid(self) -> int | None:
        """Number of thresholds of the areas; None uses every distinct score."""

    @property
    def levels(self) -> Levels:
        """Counts at every score of an anomalous point, and possibly at others."""

    @property
    def plain_areas(self) -> tuple[float, float]:
        """AUC-ROC and AUC-PR."""

    @property
    def areas(self) -> Areas:
        """R-AUC-ROC and R-AUC-PR for every buffer length."""

    @property
    def buffer_areas(self) -> Areas | None:
        """Areas at R-AUC's buffer, bit-identical to those without the volume.

        None if this requires other ranks.
        """


def rank_score(
    labels: Labels,
    scores: Scores,
    buffered: BufferedLabels | None = None,
    grid: int | None = None,
    *,
    with_levels: bool = True,
    threads: int = 1,
) -> Ranks:
    """Rank one score with the core in use."""
    core = native_core()
    if core is not None and (buffered is None or buffered.native is not None):
        return NativeRanks(core, labels, scores, buffered, grid, threads)
    return NumpyRanks(labels, scores, buffered, grid, with_levels)


class NativeRanks:
    """Ranks computed by the native core."""

    def __init__(
        self,
        core: Any,
        labels: Labels,
        scores: Scores,
        buffered: BufferedLabels | None,
        grid: int | None,
        threads: int,
    ) -> None:
        self.grid = grid
        self._core = core
        self._labels = labels
        self._scores = scores
        self._buffered = buffered
        self._threads = threads
        self._for_areas: NativeScore | None = None
        self._for_levels: NativeScore | None = None
        self._areas: Areas | None = None

    def _rank_for_areas(self) -> NativeScore:
        assert self._buffered is not None
        assert self._buffered.native is not None
        if self._for_areas is None:
            self._for_areas = self._buffered.native.rank(self._scores, self.grid)
        return self._for_areas

    def _rank_for_levels(self) -> NativeScore:
        if self._buffered is not None and self.grid is None:
            return self._rank_for_areas()
        if self._for_levels is None:
            labels = self._labels
            plan = NativePlan(self._core, labels.bounds, labels.n, NO_BUFFER)
            self._for_levels = plan.rank(self._scores)
        return self._for_levels

    @property
    def levels(self) -> Levels:
        """Counts at every score of an anomalous point, and possibly at others."""
        return self._rank_for_levels().levels

    @property
    def plain_areas(self) -> tuple[float, float]:
        """AUC-ROC and AUC-PR."""
        return self._rank_for_levels().plain_areas

    @property
    def areas(self) -> Areas:
        """R-AUC-ROC and R-AUC-PR for every buffer length."""
        if self._areas is None:
            assert self._buffered is not None
            roc, pr = self._rank_for_areas().areas(self._threads)
            self._areas = Areas(self._buffered.settings, roc, pr, self._core.mean)
        return self._areas

    @property
    def buffer_areas(self) -> Areas:
        """The same areas: none depends on the other buffer lengths."""
        return self.areas


@dataclass(frozen=True)
class NumpyRanks:
    """Ranks computed by NumPy.

    ``grid`` is the number of thresholds of the areas; None uses every distinct score. With
    ``with_levels``, the same pass over the scores also finds the ranks of the anomalous points.
    """

    labels: Labels
    scores: Scores
    buffered: BufferedLabels | None = None
    grid: int | None = None
    with_levels: bool = True

    @cached_property
    def _dynamic(self) -> DynamicScores | None:
        """Order of the points near anomalies, if NumPy computes the exact areas."""
        if self.buffered is None or self.grid is not None:
            return None
        return DynamicScores.of(self.buffered.plan, self.scores)

    @cached_property
    def _inside_scores(self) -> Scores:
        return np.sort(self.scores[self.labels.inside])

    @cached_property
    def _ranks(self) -> RankTable:
        """All required ranks."""
        needles = self.scores[:0]
        if self._dynamic is not None:
            needles = self._dynamic.levels
        elif self.with_levels:
            needles = self._inside_scores
        ranks = np.zeros(0, dtype=np.intp)
        if self.grid is not None:
            ranks = grid_ranks(self.labels.n, self.grid)
        return rank_table(self.scores, needles, ranks)

    @cached_property
    def _dynamic_levels(self) -> Levels:
        assert self._dynamic is not None
        return self._dynamic.count(self._ranks)

    @cached_property
    def levels(self) -> Levels:
        """Counts at every score of an anomalous point, and possibly at others."""
        if self._dynamic is not None:
            return self._dynamic_levels
        inside = self._inside_scores
        levels = inside[np.append(True, inside[1:] != inside[:-1])][::-1]
        found = inside.size - np.searchsorted(inside, levels[::-1], side="left")[::-1]
        return Levels(*self._ranks.counts(levels), found)

    @cached_property
    def plain_areas(self) -> tuple[float, float]:
        """AUC-ROC and AUC-PR."""
        return plain_areas(self.levels, self.labels.n)

    @cached_property
    def areas(self) -> Areas:
        """R-AUC-ROC and R-AUC-PR for every buffer length."""
        assert self.buffered is not None
        if self._order is not None:
            found = sweep(self.buffered.plan, self._order)
        else:
            found = self._on_grid.areas()
        return Areas(self.buffered.settings, *found)

    @cached_property
    def buffer_areas(self) -> Areas | None:
        """Areas at R-AUC's buffer, bit-identical to those without the volume."""
        assert self.buffered is not None
        if not self.buffered.settings.shares_ranks:
            return None
        if self._order is not None:
            found = sweep_longest(self.buffered.plan, self._order)
        else:
            found = self._on_grid.longest_areas()
        return Areas(self.buffered.settings.without_volume, *found)

    @cached_property
    def _order(self) -> SweepInput | None:
        if self._dynamic is None:
            return None
        return SweepInput.of(self.scores, self._dynamic, self._dynamic_levels)

    @cached_property
    def _on_grid(self) -> ScoreOnGrid:
        assert self.buffered is not None
        assert self.grid is not None
        return grid_of(self.scores, self.buffered.plan, self._ranks, self.grid)
