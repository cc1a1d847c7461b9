"""Intermediate results shared by measures: buffered labels, ranks of scores, and predictions.

Measures get these from a :class:`Workspace`. Each part is computed on first use and cached, so an
evaluation of all measures ranks the scores only once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.algorithms import areas as areas_of_rates
from vuskit.algorithms import range_rates
from vuskit.buffers import BufferChoice, excess_of_buffer
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    LongBufferWarning,
    PredictionAsScoreWarning,
    warn,
)
from vuskit.inputs import Labels
from vuskit.intervals import Ints, event_bounds
from vuskit.kernels.ranking import Scores
from vuskit.measures.areas import Areas, AreaSettings, BufferedLabels, Ranks, rank_score
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
    "Finder",
    "Needs",
    "Prediction",
    "PreparedLabels",
    "Workspace",
    "changes_key",
]

Finder = Callable[..., Any]  # (scores, labels, **options) -> the best threshold
Changes = tuple[tuple[str, Any], ...]
# Required parts by changed settings: "levels" (AUC and Precision@k), "range_auc", "vus".
Needs = Mapping[Changes, frozenset[str]]

_AREA_FIELDS = ("buffer", "thresholds", "definition", "step", "side", "volume_factor")
_AREA_NEEDS = frozenset(("range_auc", "vus"))


class PreparedLabels:
    """Labels of one series, prepared once for many scores and settings."""

    def __init__(self, labels: Labels, values: ArrayLike | None = None) -> None:
        self.labels = labels
        self._values = values
        self._chosen: dict[tuple[str, int | None], BufferChoice | BufferNotFoundError] = {}
        self._buffered: dict[AreaSettings, BufferedLabels] = {}

    def choose_buffer(self, settings: EvaluationSettings) -> BufferChoice:
        """Return the buffer of this series."""
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

    def warn_if_long(self, settings: EvaluationSettings) -> None:
        """Warn if random scores reach high values because of the buffer."""
        excess = excess_of_buffer(self.labels, self.choose_buffer(settings).length, settings.side)
        if excess is not None:
            warn_long_buffer(excess)

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
    """One score of one series, the settings, and everything computed from them so far."""

    def __init__(
        self,
        prepared: PreparedLabels,
        scores: Scores | None,
        settings: EvaluationSettings,
        needs: Needs | None = None,
        prediction: NDArray[np.bool_] | None = None,
        threads: int = 1,
    ) -> None:
        self.threads = threads
        self.prepared = prepared
        self.labels = prepared.labels
        self.settings = settings
        self._scores = scores
        self._needs = needs or {}
        self._given = prediction
        self._ranked: dict[Any, Ranks] = {}
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
    def ranked(self) -> Ranks:
        """Ranks at the anomalous points, and for the areas if these are needed too."""
        needs = self._needs.get((), frozenset())
        if "levels" in needs and needs & _AREA_NEEDS:
            return self._for_areas
        return rank_score(self.labels, self.scores, threads=self.threads)

    @cached_property
    def _for_areas(self) -> Ranks:
        return self._rank(self.settings, self._needs[()])

    def _rank(self, settings: EvaluationSettings, needs: frozenset[str]) -> Ranks:
        buffered = self.prepared.buffered(settings, with_volume="vus" in needs)
        return rank_score(
            self.labels,
            self.scores,
            buffered,
            settings.thresholds,
            with_levels="levels" in needs,
            threads=self.threads,
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
        return ranked.buffer_areas or self._ranked_for(key, changes, frozenset({need})).areas

    def _ranked_for(self, key: Changes, changes: Mapping[str, Any], needs: frozenset[str]) -> Ranks:
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
        """Return the prediction at the threshold of the settings."""
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


def warn_long_buffer(excess: str) -> None:
    """Warn about the values of buffers that are too long."""
    warn(
        f"{excess}: even random scores get high values. Compare with `result.chance` of "
        "evaluate(), or shorten the buffer.",
        LongBufferWarning,
    )


def check_k(k: int, n: int) -> int:
    """Check that the k of Precision@k is at most the number of points."""
    if k > n:
        raise InvalidInputError(f"`k` must be at most the number of points {n}, got {k}; use less")
    return k
