"""Work that measures share: labels prepared once, scores ranked once.

A measure asks a :class:`Workspace` for what it needs; every part is made on first use and kept, so
that one evaluation of all thirteen measures ranks the scores once and walks the labels once.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import (
    InvalidInputError,
    PredictionAsScoreWarning,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    warn,
)
from vuskit.inputs import Labels
from vuskit.intervals import Ints, event_bounds
from vuskit.kernels.areas import Levels, plain_areas
from vuskit.kernels.buffers import BufferPlan, plan_buffers
from vuskit.kernels.compiled_areas import CompiledPlan, CompiledScore
from vuskit.kernels.definitions import DEFINITIONS
from vuskit.kernels.range_areas import (
    DynamicScores,
    exact_areas,
    grid_areas,
    grid_ranks,
    perfect_pr_areas,
)
from vuskit.kernels.ranking import RankTable, rank_table
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.thresholds import (
    ThresholdRule,
    is_best,
    looks_predicted,
    positions_from,
    threshold_value,
)

__all__ = [
    "AreaSettings",
    "PreparedLabels",
    "Workspace",
    "defined",
    "range_auc",
    "volume_under_surface",
]

Floats = NDArray[np.float64]

_COARSE = 4  # a grid is coarse when its step exceeds P / 4 points
_MOST_WIDTHS = 1 << 28  # buffer lengths of one volume; beyond, memory ends
_ALMOST_ONE = 0.9995  # shown as 1.000


@dataclass(frozen=True)
class AreaSettings:
    """What the areas of one series depend on: the chosen buffer and the settings of R-AUC and VUS.

    ``longest`` is the longest buffer of VUS; None: only R-AUC at ``buffer`` is wanted.
    """

    buffer: int
    longest: int | None
    thresholds: int | None
    definition: str
    step: int
    side: str

    @classmethod
    def of(
        cls,
        settings: EvaluationSettings,
        buffer: int,
        *,
        with_volume: bool = True,
        name: str = "buffer",
    ) -> AreaSettings:
        """Area settings of checked settings, for a chosen buffer.

        Raises
        ------
        InvalidInputError
            If the volume would have too many buffer lengths.
        """
        longest = round(settings.volume_factor * buffer) if with_volume else None
        most = _MOST_WIDTHS * settings.step
        if longest is not None and longest > most:
            raise InvalidInputError(f"`{name}` must be at most {most}, got {longest}")
        return cls(
            buffer,
            longest,
            settings.thresholds,
            settings.definition,
            settings.step,
            settings.side,
        )

    @property
    def n_volume(self) -> int:
        """Number of buffer lengths of the volume."""
        return 0 if self.longest is None else self.longest // self.step + 1

    @cached_property
    def widths(self) -> Ints:
        """Buffer lengths 0, step, 2 step, ... of the volume, and R-AUC's own, ascending."""
        lengths = np.arange(self.n_volume, dtype=np.intp) * self.step
        if self._buffer_is_in_volume:
            return lengths
        return np.insert(lengths, self.buffer_row, self.buffer)

    @property
    def _buffer_is_in_volume(self) -> bool:
        row, rest = divmod(self.buffer, self.step)
        return rest == 0 and row < self.n_volume

    @property
    def buffer_row(self) -> int:
        """Index of R-AUC's buffer in ``widths``."""
        if self._buffer_is_in_volume:
            return self.buffer // self.step
        return min(self.buffer // self.step + 1, self.n_volume)

    def volume(self, areas: Floats) -> float:
        """Mean of the areas over the buffer lengths of the volume."""
        if not self._buffer_is_in_volume:
            row = self.buffer_row
            areas = areas[:row] if row == self.n_volume else np.delete(areas, row)
        # Not np.mean, which takes longer than the sum.
        return float(areas.sum() / self.n_volume)


@dataclass(frozen=True)
class PreparedLabels:
    """Labels of one series and the buffers around their events."""

    labels: Labels
    options: AreaSettings | None

    @cached_property
    def plan(self) -> BufferPlan:
        """Dynamic points and weights; made on first use."""
        if self.options is None:
            raise InvalidInputError("`buffer` must be an int >= 0, got None")
        labels, options = self.labels, self.options
        return plan_buffers(
            labels.inside,
            labels.starts,
            labels.stops,
            labels.n,
            options.widths,
            DEFINITIONS[options.definition],
            options.side,  # type: ignore[arg-type]  # checked with the settings
        )

    @cached_property
    def compiled(self) -> CompiledPlan:
        """The same for compiled kernels."""
        return CompiledPlan(self.plan)

    def best_on_grid(self) -> float:
        """VUS-PR (R-AUC-PR where one buffer is asked for) of a perfect detector on the grid."""
        assert self.options is not None
        assert self.options.thresholds is not None
        areas = perfect_pr_areas(self.plan, self.options.thresholds)
        return float(areas[0]) if self.options.longest is None else self.options.volume(areas)

    def warn_if_coarse(self) -> None:
        """Warn when the grid steps over a quarter of the anomalous points or more."""
        size = None if self.options is None else self.options.thresholds
        if size is None or not self.labels.has_both_classes:
            return
        assert self.options is not None
        measure = "R-AUC-PR" if self.options.longest is None else "VUS-PR"
        step = self.labels.n / size
        if step * _COARSE <= self.labels.n_anomalous:
            return
        best = self.best_on_grid()
        if best > _ALMOST_ONE:
            return
        warn(
            f"{size} thresholds step over {step:.4g} points at a time, but only "
            f"{self.labels.n_anomalous} points are anomalous: on this grid a perfect detector "
            f"reaches {measure} {best:.3f}; thresholds=None uses every score.",
            ThresholdResolutionWarning,
        )


@dataclass
class Workspace:
    """One score of one series, and everything computed from it so far.

    ``needs`` says which ranks will be asked for, so that one look at the scores finds them all:
    ``"areas"`` (R-AUC and VUS), ``"levels"`` (the plain AUCs and Precision@k).
    """

    prepared: PreparedLabels
    scores: NDArray[Any] | None
    threshold: ThresholdRule = "sigma"
    prediction: NDArray[np.bool_] | None = None
    k: int | None = None
    needs: Set[str] = frozenset()
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> Labels:
        """Labels of the series."""
        return self.prepared.labels

    @property
    def top(self) -> int:
        """The k of Precision@k: the number of anomalous points unless given."""
        return self.labels.n_anomalous if self.k is None else self.k

    @property
    def ranked_scores(self) -> NDArray[Any]:
        """The scores, for measures that cannot do with a prediction."""
        if self.scores is None:
            raise InvalidInputError("`y_score` must be given for this measure, got None")
        return self.scores

    @property
    def _grid(self) -> int | None:
        """Number of thresholds of the areas, where they are on a grid."""
        options = self.prepared.options
        return options.thresholds if options is not None and "areas" in self.needs else None

    @cached_property
    def _compiled(self) -> CompiledScore | None:
        """Ranks for the areas by compiled kernels, where they are used."""
        if "areas" not in self.needs:
            return None
        return self.prepared.compiled.rank(self.ranked_scores, self._grid)

    @property
    def _compiled_exactly(self) -> CompiledScore | None:
        return self._compiled if self._grid is None else None

    @cached_property
    def _dynamic(self) -> DynamicScores | None:
        """Order of the points near anomalies, where NumPy finds the exact areas."""
        if "areas" not in self.needs or self._grid is not None or self._compiled is not None:
            return None
        return DynamicScores.of(self.prepared.plan, self.ranked_scores)

    @cached_property
    def _inside_scores(self) -> NDArray[Any]:
        return np.sort(self.ranked_scores[self.labels.inside])

    @cached_property
    def _ranks(self) -> RankTable:
        """Ranks of everything that will be asked for."""
        dynamic = self._dynamic
        needles = self.ranked_scores[:0]
        if dynamic is not None:
            needles = dynamic.levels
        elif "levels" in self.needs:
            needles = self._inside_scores
        ranks = np.zeros(0, dtype=np.intp)
        if self._grid is not None and self._compiled is None:
            ranks = grid_ranks(self.labels.n, self._grid)
        return rank_table(self.ranked_scores, needles, ranks)

    @cached_property
    def _dynamic_levels(self) -> Levels:
        assert self._dynamic is not None
        return self._dynamic.count(self._ranks)

    @cached_property
    def point_levels(self) -> Levels:
        """Counts at every score that an anomalous point has, and perhaps at others."""
        if self._compiled_exactly is not None:
            return self._compiled_exactly.levels
        if self._dynamic is not None:
            return self._dynamic_levels
        inside = self._inside_scores
        levels = inside[np.append(True, inside[1:] != inside[:-1])][::-1]
        found = inside.size - np.searchsorted(inside, levels[::-1], side="left")[::-1]
        return Levels(*self._ranks.counts(levels), found)

    @cached_property
    def plain_areas(self) -> tuple[float, float]:
        """AUC-ROC and AUC-PR."""
        if self._compiled_exactly is not None:
            return self._compiled_exactly.plain_areas()
        return plain_areas(self.point_levels, self.labels.n)

    def top_counts(self) -> tuple[float, int]:
        """Anomalous points among the ``top`` highest scores (ties by their share), and ``top``."""
        levels = self.point_levels
        # Every anomalous point is at a level: between two of them nothing is found.
        at = int(levels.predicted.searchsorted(self.top))
        sure = int(levels.found[at - 1]) if at else 0
        if at == levels.size or levels.predicted_before[at] >= self.top:
            return float(sure), self.top
        tied, above = int(levels.found[at]) - sure, int(levels.predicted_before[at])
        return sure + tied * (self.top - above) / (int(levels.predicted[at]) - above), self.top

    @cached_property
    def areas(self) -> tuple[Floats, Floats]:
        """R-AUC-ROC and R-AUC-PR for every buffer length."""
        if self._compiled is not None:
            return self._compiled.areas()
        scores = self.ranked_scores
        if self._dynamic is not None:
            return exact_areas(scores, self._dynamic, self._dynamic_levels)
        assert self._grid is not None
        return grid_areas(scores, self.prepared.plan, self._ranks, self._grid)

    @cached_property
    def _threshold(self) -> np.float64:
        return threshold_value(self.threshold, self.ranked_scores)

    def warn_if_predicted(self) -> None:
        """Warn when the score is a prediction, of which the threshold would leave nothing."""
        if self.scores is None or is_best(self.threshold) or not isinstance(self.threshold, str):
            return
        if looks_predicted(self.scores, self._threshold):
            warn(
                f"`y_score` holds only 0 and 1, and the threshold {self.threshold!r} of "
                f"{self._threshold:.3g} is above both: nothing counts as predicted. If it is a "
                "prediction, pass it as y_pred, or use threshold=1.",
                PredictionAsScoreWarning,
            )

    @property
    def n_predicted(self) -> int | None:
        """Number of points at or above the threshold, where a measure has asked for it."""
        return int(self.predicted.size) if "predicted" in self.__dict__ else None

    @cached_property
    def predicted(self) -> Ints:
        """Positions of the points at or above the threshold."""
        if self.prediction is not None:
            return np.flatnonzero(self.prediction)
        return positions_from(self.ranked_scores, self._threshold)

    @cached_property
    def confusion(self) -> tuple[int, int]:
        """Predicted anomalous points, and predicted points."""
        if self.prediction is not None:
            inside = self.prediction[self.labels.inside]
        else:
            inside = self.ranked_scores[self.labels.inside] >= self._threshold
        return int(np.count_nonzero(inside)), int(self.predicted.size)

    @cached_property
    def predicted_ranges(self) -> tuple[Ints, Ints]:
        """Starts and stops of the predicted ranges."""
        return event_bounds(self.predicted)

    def keep(self, key: str, make: Callable[[], Any]) -> Any:
        """Value of ``make()``, made once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def defined(labels: Labels, name: str) -> bool:
    """Whether both classes are present; warn where they are not."""
    if labels.has_both_classes:
        return True
    warn(
        f"{name} needs both normal and anomalous points; returning NaN.",
        UndefinedMeasureWarning,
    )
    return False


def range_auc(workspace: Workspace, curve: int) -> float:
    """Area at R-AUC's buffer; curve 0 is ROC, 1 is PR."""
    options = workspace.prepared.options
    assert options is not None
    return _within_bounds(workspace.areas[curve][options.buffer_row])


def volume_under_surface(workspace: Workspace, curve: int) -> float:
    """Mean area over the buffer lengths of the volume; curve 0 is ROC, 1 is PR."""
    options = workspace.prepared.options
    assert options is not None
    return _within_bounds(options.volume(workspace.areas[curve]))


def _within_bounds(area: float) -> float:
    """Take back a rounding error beyond 0 or 1."""
    return min(max(float(area), 0.0), 1.0)
