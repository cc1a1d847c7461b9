"""Intermediate results shared by measures: buffered labels, ranks of scores, and predictions.

Measures get these from a :class:`Workspace`. Each part is computed on first use and cached, so an
evaluation of all measures ranks the scores only once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.memory import available_memory
from vuskit.algorithms import areas as areas_of_rates
from vuskit.algorithms import range_rates
from vuskit.buffers import BufferChoice
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    PredictionAsScoreWarning,
    ThresholdResolutionWarning,
    warn,
)
from vuskit.inputs import Labels
from vuskit.intervals import Ints, event_bounds
from vuskit.kernels.labels import DEFINITIONS, BufferPlan, plan_buffers
from vuskit.kernels.ranking import RankTable, Scores, rank_table
from vuskit.kernels.sweep import (
    CompiledPlan,
    CompiledScore,
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
from vuskit.measures.thresholds import (
    ThresholdRule,
    at_or_above,
    is_best,
    looks_predicted,
    positions_from,
    threshold_value,
)

__all__ = [
    "AreaSettings",
    "Areas",
    "BufferedLabels",
    "Finder",
    "Needs",
    "Prediction",
    "PreparedLabels",
    "RankedScore",
    "Workspace",
    "changes_key",
]

Floats = NDArray[np.float64]
Curve = Literal["roc", "pr"]
Finder = Callable[..., Any]  # (scores, labels, **options) -> the best threshold
Changes = tuple[tuple[str, Any], ...]
# Required parts by changed settings: "levels" (AUC and Precision@k), "range_auc", "vus".
Needs = Mapping[Changes, frozenset[str]]

_AREA_FIELDS = ("buffer", "thresholds", "definition", "step", "side", "volume_factor")
_AREA_NEEDS = frozenset(("range_auc", "vus"))
_COARSE = 4  # a grid is coarse when its step exceeds P / 4 points
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


_SMALL_GRID = 1 << 14  # number of thresholds that needs no memory check
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
        """Return the area settings for validated settings and a chosen buffer.

        Raises
        ------
        InvalidInputError
            If the volume would have too many buffer lengths.
        """
        longest = None
        if with_volume:
            longest = round(settings.volume_factor * buffer)
            if longest > _MOST_WIDTHS * settings.step:
                raise InvalidInputError(
                    f"`buffer` must be at most {_MOST_WIDTHS * settings.step}, got {longest}; use "
                    "less, or a larger `step`"
                )
            _check_memory("buffer", longest, _WIDTH_BYTES / settings.step, "or use a larger `step`")
        return cls(buffer, longest, settings.definition, settings.step, settings.side)

    @property
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

    @property
    def shares_ranks(self) -> bool:
        """Whether R-AUC's buffer is the longest of the volume; then both need the same ranks."""
        return self._buffer_is_in_volume and self.buffer_row == self.n_volume - 1

    @property
    def n_worth(self) -> int:
        """Number of buffer lengths that decides whether to use compiled kernels.

        For R-AUC, it is the same with and without the volume, and for every step of the volume.
        """
        for_range_auc = self.longest is None or self.shares_ranks
        return self.buffer + 1 if for_range_auc else self.widths.size

    @property
    def without_volume(self) -> AreaSettings:
        """The same settings for R-AUC alone."""
        return replace(self, longest=None)

    def volume(self, areas: Floats) -> float:
        """Return the mean area over the buffer lengths of the volume."""
        if not self._buffer_is_in_volume:
            row = self.buffer_row
            areas = areas[:row] if row == self.n_volume else np.delete(areas, row)
        # np.mean would take longer than the sum.
        return float(areas.sum() / self.n_volume)


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
    def compiled(self) -> CompiledPlan:
        """The plan for compiled kernels."""
        return CompiledPlan(self.plan)

    def check_grid(self, thresholds: int | None) -> None:
        """Reject a grid of thresholds that does not fit into the available memory.

        Raises
        ------
        InvalidInputError
            If the grid is too large. The message gives the largest possible grid.
        """
        if thresholds is not None and thresholds > _SMALL_GRID:
            lanes = min(self.settings.widths.size, _LANES)
            rows = self.plan.existence.n_events.size
            each = _THRESHOLD_BYTES + _LANE_BYTES * lanes + _ROW_BYTES * rows
            _check_memory("thresholds", thresholds, each, _FEWER_THRESHOLDS)

    def check_surface(self, thresholds: int) -> None:
        """Reject a surface (buffer lengths x thresholds) that does not fit into memory.

        Raises
        ------
        InvalidInputError
            If the surface is too large. The message gives the largest number of thresholds.
        """
        each = _CELL_BYTES * self.settings.widths.size
        _check_memory("thresholds", thresholds, each, "or use a larger `step`")

    def warn_if_coarse(self, thresholds: int | None) -> None:
        """Warn if one step of the grid exceeds a quarter of the anomalous points."""
        labels = self.labels
        if thresholds is None or not labels.has_both_classes:
            return
        step = labels.n / thresholds
        if step * _COARSE <= labels.n_anomalous:
            return
        areas = perfect_pr_areas(self.plan, thresholds)
        with_volume = self.settings.longest is not None
        best = self.settings.volume(areas) if with_volume else float(areas[0])
        if best > _ALMOST_ONE:
            return
        warn(
            f"{thresholds} thresholds step over {step:.4g} points at a time, but only "
            f"{labels.n_anomalous} points are anomalous: on this grid a perfect detector "
            f"reaches {'VUS-PR' if with_volume else 'R-AUC-PR'} {best:.3f}; thresholds=None uses "
            "every score.",
            ThresholdResolutionWarning,
        )


class PreparedLabels:
    """Labels of one series, prepared once for many scores and settings."""

    def __init__(self, labels: Labels, values: ArrayLike | None = None) -> None:
        self.labels = labels
        self._values = values
        self._chosen: dict[tuple[str, int | None], BufferChoice | BufferNotFoundError] = {}
        self._buffered: dict[AreaSettings, BufferedLabels] = {}

    def choose_buffer(self, settings: EvaluationSettings) -> BufferChoice:
        """Return the buffer of this series.

        Raises
        ------
        InvalidInputError
            As for :meth:`EvaluationSettings.choose_buffer`.
        """
        if not isinstance(settings.buffer, str):
            return settings.choose_buffer()
        key = settings.buffer, settings.buffer_fallback
        if key not in self._chosen:
            self._check_values()
            try:
                self._chosen[key] = settings.choose_buffer(
                    y_true=self.labels.as_array(), values=self._values
                )
            except BufferNotFoundError as error:
                self._chosen[key] = error
        found = self._chosen[key]
        if isinstance(found, BufferNotFoundError):
            raise found
        return found

    def _check_values(self) -> None:
        """Reject values of another length, because a wrong period would go unnoticed."""
        shape = np.shape(self._values) if self._values is not None else (self.labels.n,)
        if shape and shape[0] != self.labels.n:
            raise InvalidInputError(
                f"`values` must have one entry per label, got {shape[0]} for {self.labels.n} "
                "labels; pass the values of the same series"
            )

    def buffered(self, settings: EvaluationSettings, *, with_volume: bool) -> BufferedLabels:
        """Return the labels with the buffers of some settings."""
        length = self.choose_buffer(settings).length
        key = AreaSettings.of(settings, length, with_volume=with_volume)
        if key not in self._buffered:
            self._buffered[key] = BufferedLabels(self.labels, key)
        found = self._buffered[key]
        if self.labels.has_both_classes:
            found.check_grid(settings.thresholds)
        return found


@dataclass(frozen=True)
class Areas:
    """R-AUC-ROC and R-AUC-PR of one score for every buffer length."""

    settings: AreaSettings
    roc: Floats
    pr: Floats

    def range_auc(self, curve: Curve) -> float:
        """Return the area at R-AUC's buffer."""
        return _within_bounds(getattr(self, curve)[self.settings.buffer_row])

    def volume(self, curve: Curve) -> float:
        """Return the mean area over the buffer lengths of the volume."""
        return _within_bounds(self.settings.volume(getattr(self, curve)))


def _within_bounds(area: float) -> float:
    """Clip rounding errors beyond 0 or 1."""
    return min(max(float(area), 0.0), 1.0)


@dataclass(frozen=True)
class RankedScore:
    """Ranks of one score, as needed for areas and levels.

    ``grid`` is the number of thresholds of the areas; None uses every distinct score. With
    ``with_levels``, the same pass over the scores also finds the ranks of the anomalous points.
    """

    labels: Labels
    scores: Scores
    buffered: BufferedLabels | None = None
    grid: int | None = None
    with_levels: bool = True

    @cached_property
    def _compiled(self) -> CompiledScore | None:
        """Ranks from compiled kernels; None if these are not used."""
        if self.buffered is None:
            return None
        return self.buffered.compiled.rank(self.scores, self.grid, self.buffered.settings.n_worth)

    @property
    def _compiled_exactly(self) -> CompiledScore | None:
        return self._compiled if self.grid is None else None

    @cached_property
    def _dynamic(self) -> DynamicScores | None:
        """Order of the points near anomalies, if NumPy computes the exact areas."""
        if self.buffered is None or self.grid is not None or self._compiled is not None:
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
        if self.grid is not None and self._compiled is None:
            ranks = grid_ranks(self.labels.n, self.grid)
        return rank_table(self.scores, needles, ranks)

    @cached_property
    def _dynamic_levels(self) -> Levels:
        assert self._dynamic is not None
        return self._dynamic.count(self._ranks)

    @cached_property
    def levels(self) -> Levels:
        """Counts at every score of an anomalous point, and possibly at others."""
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
        return plain_areas(self.levels, self.labels.n)

    @cached_property
    def areas(self) -> Areas:
        """R-AUC-ROC and R-AUC-PR for every buffer length."""
        assert self.buffered is not None
        if self._compiled is not None:
            found = self._compiled.areas()
        elif self._order is not None:
            found = sweep(self.buffered.plan, self._order)
        else:
            found = self._on_grid.areas()
        return Areas(self.buffered.settings, *found)

    @cached_property
    def buffer_areas(self) -> Areas:
        """Areas at R-AUC's buffer, bit-identical to those without the volume."""
        assert self.buffered is not None
        if self._compiled is not None:
            found = self._compiled.longest_areas()
        elif self._order is not None:
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


@dataclass(frozen=True)
class Prediction:
    """Points predicted at one threshold, or given as a prediction."""

    labels: Labels
    scores: Scores | None = None
    threshold: Any = None
    given: NDArray[np.bool_] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def positions(self) -> Ints:
        """Positions of the predicted points."""
        if self.given is not None:
            return np.flatnonzero(self.given)
        assert self.scores is not None
        return positions_from(self.scores, self.threshold)

    @cached_property
    def confusion(self) -> tuple[int, int]:
        """Number of predicted anomalous points, and number of predicted points."""
        if self.given is not None:
            inside = self.given[self.labels.inside]
        else:
            assert self.scores is not None
            inside = at_or_above(self.scores[self.labels.inside], self.threshold)
        return int(np.count_nonzero(inside)), int(self.positions.size)

    @cached_property
    def ranges(self) -> tuple[Ints, Ints]:
        """Starts and stops of the predicted ranges."""
        return event_bounds(self.positions)

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return ``make()``, computed once per key."""
        return _kept_in(self._kept, key, make)


class Workspace:
    """One score of one series, the settings, and everything computed from them so far.

    Parameters
    ----------
    prepared : PreparedLabels
        The labels.
    scores : ndarray or None
        Checked scores; None if a prediction is given.
    settings : EvaluationSettings
        Settings of all measures, unless a measure fixes its own.
    needs : mapping
        Parts that will be needed, so that one pass over the scores computes all; see ``Needs``.
    prediction : ndarray of bool, optional
        A prediction instead of scores.
    """

    def __init__(
        self,
        prepared: PreparedLabels,
        scores: Scores | None,
        settings: EvaluationSettings,
        needs: Needs | None = None,
        prediction: NDArray[np.bool_] | None = None,
    ) -> None:
        self.prepared = prepared
        self.labels = prepared.labels
        self.settings = settings
        self._scores = scores
        self._needs = needs or {}
        self._given = prediction
        self._ranked: dict[Any, RankedScore] = {}
        self._predictions: dict[Any, Prediction] = {}

    @property
    def n(self) -> int:
        """Number of points."""
        return self.labels.n

    @property
    def scores(self) -> Scores:
        """The scores; an error if only a prediction was given."""
        if self._scores is None:
            raise InvalidInputError(
                "`y_score` must be given for this measure, got None; pass scores instead of y_pred"
            )
        return self._scores

    def at(self, changes: Mapping[str, Any]) -> EvaluationSettings:
        """Return the settings with the changes that a measure fixes."""
        return self.settings.replace(**changes) if changes else self.settings

    # Ranks

    @cached_property
    def ranked(self) -> RankedScore:
        """Ranks at the anomalous points, and for the areas if these are needed too."""
        needs = self._needs.get((), frozenset())
        if "levels" in needs and needs & _AREA_NEEDS:
            return self._for_areas
        return RankedScore(self.labels, self.scores)

    @cached_property
    def _for_areas(self) -> RankedScore:
        return self._rank(self.settings, self._needs[()])

    def _rank(self, settings: EvaluationSettings, needs: frozenset[str]) -> RankedScore:
        buffered = self.prepared.buffered(settings, with_volume="vus" in needs)
        return RankedScore(
            self.labels, self.scores, buffered, settings.thresholds, "levels" in needs
        )

    def areas(
        self,
        need: Literal["range_auc", "vus"],
        changes: Mapping[str, Any],
        algorithm: str = "fast",
        memory_limit: int | None = None,
    ) -> Areas:
        """Return R-AUC-ROC and R-AUC-PR for every buffer length, cached by settings."""
        if algorithm != "fast":
            return self._areas_by(algorithm, memory_limit, need, self.at(changes))
        key = changes_key(changes)
        needs = self._needs.get(key, frozenset()) | {need}
        ranked = self._ranked_for(key, changes, needs)
        if need == "vus" or "vus" not in needs:
            return ranked.areas
        assert ranked.buffered is not None
        if ranked.buffered.settings.shares_ranks:
            return ranked.buffer_areas
        return self._ranked_for(key, changes, frozenset({need})).areas

    def _ranked_for(
        self, key: Changes, changes: Mapping[str, Any], needs: frozenset[str]
    ) -> RankedScore:
        """Return the ranks for the areas of some settings."""
        if not key and needs == self._needs.get(key):
            return self._for_areas
        place = key, "vus" in needs
        if place not in self._ranked:
            self._ranked[place] = self._rank(self.at(changes), needs - {"levels"})
        return self._ranked[place]

    def _areas_by(
        self, algorithm: str, memory_limit: int | None, need: str, settings: EvaluationSettings
    ) -> Areas:
        """Return the areas computed by an algorithm of the paper."""
        assert settings.thresholds is not None
        buffered = self.prepared.buffered(settings, with_volume=need == "vus")
        buffered.check_surface(settings.thresholds)
        area_settings = buffered.settings
        rates = range_rates(
            self.labels.as_array(),
            self.scores,
            area_settings.widths.tolist(),
            settings.thresholds,
            algorithm=algorithm,
            memory_limit=memory_limit,
        )
        return Areas(area_settings, *areas_of_rates(rates))

    def warn_if_coarse(self) -> None:
        """Warn if a grid of thresholds is too coarse for these labels."""
        warn_if_coarse(self.prepared, self.settings, self._needs)

    def top_k(self, changes: Mapping[str, Any]) -> int:
        """Return the k of Precision@k; by default the number of anomalous points."""
        k = changes.get("k", self.settings.k)
        return self.labels.n_anomalous if k is None else check_k(k, self.n)

    def top_counts(self, changes: Mapping[str, Any]) -> tuple[float, int]:
        """Return the number of anomalous points among the k highest scores, and k.

        Points tied at the k-th place count fractionally.
        """
        k = self.top_k(changes)
        levels = self.ranked.levels
        # Anomalous points occur only at levels, so nothing is found between two levels.
        at = int(levels.predicted.searchsorted(k))
        sure = int(levels.found[at - 1]) if at else 0
        if at == levels.size or levels.predicted_before[at] >= k:
            return float(sure), k
        tied, above = int(levels.found[at]) - sure, int(levels.predicted_before[at])
        return sure + tied * (k - above) / (int(levels.predicted[at]) - above), k

    @property
    def known_auc_roc(self) -> float | None:
        """AUC-ROC if the required ranks are already computed, else None."""
        if "ranked" in self.__dict__:
            return self.ranked.plain_areas[0]
        if "_for_areas" in self.__dict__ and self._for_areas.grid is None:
            return self._for_areas.plain_areas[0]
        return None

    # Predictions

    def predict(self, best: Finder, changes: Mapping[str, Any], **options: Any) -> Prediction:
        """Return the prediction at the threshold of the settings.

        Parameters
        ----------
        best : callable
            ``best(scores, labels, **options)`` returns the threshold for ``"best"``.
        changes : mapping
            May contain a ``threshold`` that overrides the settings.
        **options
            Options of ``best``.
        """
        if self._given is not None:
            return self._keep("given", lambda: Prediction(self.labels, given=self._given))
        rule = changes.get("threshold", self.settings.threshold)
        if not is_best(rule):
            return self._keep(rule, lambda: self._cut(threshold_value(rule, self.scores)))
        options = {**(best.__kwdefaults__ or {}), **options}  # equal calls have equal keys
        key = best, *sorted(options.items())
        return self._keep(key, lambda: self._cut(best(self.scores, self.labels, **options)))

    def _cut(self, threshold: Any) -> Prediction:
        return Prediction(self.labels, self.scores, threshold)

    def _keep(self, key: Any, make: Callable[[], Prediction]) -> Prediction:
        found: Prediction = _kept_in(self._predictions, key, make)
        return found

    def _cut_at(self, rule: ThresholdRule) -> Prediction | None:
        """Return the prediction for a rule if a measure has used the rule."""
        if self._given is not None or is_best(rule):
            return None
        return self._predictions.get(rule) if isinstance(rule, Hashable) else None

    @property
    def n_predicted(self) -> int | None:
        """Number of predicted points at the settings' threshold; None if no measure used it."""
        prediction = self._cut_at(self.settings.threshold)
        return None if prediction is None else int(prediction.positions.size)

    def warn_if_predicted(self) -> None:
        """Warn if the score holds only 0 and 1, and the threshold is above both."""
        for rule, prediction in self._predictions.items():
            if (
                isinstance(rule, str)
                and prediction.scores is not None
                and looks_predicted(prediction.scores, prediction.threshold)
            ):
                warn(
                    f"`y_score` holds only 0 and 1, and the threshold {rule!r} of "
                    f"{prediction.threshold:.3g} is above both: no point is predicted. If "
                    "`y_score` is a prediction, pass it as y_pred, or use threshold=1.",
                    PredictionAsScoreWarning,
                )
                return


def _kept_in(kept: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """Return ``make()``, computed once per key; keys without a hash are not cached."""
    try:
        if key in kept:
            return kept[key]
    except TypeError:
        return make()
    value = kept[key] = make()
    return value


def changes_key(changes: Mapping[str, Any]) -> Changes:
    """Return the changed settings that affect areas, as a key of ``Needs``."""
    return (
        tuple((name, changes[name]) for name in _AREA_FIELDS if name in changes) if changes else ()
    )


def warn_if_coarse(prepared: PreparedLabels, settings: EvaluationSettings, needs: Needs) -> None:
    """Warn once for each grid of thresholds that is too coarse for the labels."""
    checked = set()
    for key, what in needs.items():
        if not what & _AREA_NEEDS:
            continue
        changed = settings.replace(**dict(key))
        if changed.thresholds is not None and changed.thresholds not in checked:
            checked.add(changed.thresholds)
            buffered = prepared.buffered(changed, with_volume="vus" in what)
            buffered.warn_if_coarse(changed.thresholds)


def check_k(k: int, n: int) -> int:
    """Check that the k of Precision@k is at most the number of points.

    Raises
    ------
    InvalidInputError
        If k is larger.
    """
    if k > n:
        raise InvalidInputError(f"`k` must be at most the number of points {n}, got {k}; use less")
    return k
