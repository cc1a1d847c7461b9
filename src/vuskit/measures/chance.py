"""Chance levels: values that random scores reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import align_to_labels, check_int, check_labels
from vuskit.measures.registry import Measures, warn_undefined
from vuskit.measures.settings import (
    EvaluationSettings,
    SettingOptions,
    settings_from,
    with_setting_keywords,
)

if TYPE_CHECKING:
    from vuskit.measures.evaluate import Evaluator

__all__ = ["ChanceLevel", "chance_level", "chance_of"]

_DRAWS = 20


@dataclass(frozen=True)
class ChanceLevel:
    """Mean and spread of each measure over random scores.

    Attributes
    ----------
    mean, std : dict
        Mean and standard deviation by measure name.
    draws : int
        Number of random scores.
    seed : int
        Seed of the random generator.
    best : dict
        Best possible value by measure name; 1 if a measure is missing.
    """

    mean: dict[str, float]
    std: dict[str, float]
    draws: int
    seed: int
    best: dict[str, float] = field(default_factory=dict)

    def adjust(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return ``(value - chance) / (best - chance)`` by measure name.

        The result is NaN if the best value equals the chance level or is not finite.
        """
        return {name: self._adjusted(name, value) for name, value in values.items()}

    def _adjusted(self, name: str, value: float) -> float:
        room = self.best.get(name, 1.0) - self.mean[name]
        return (value - self.mean[name]) / room if math.isfinite(room) and room else math.nan


@with_setting_keywords
def chance_level(
    y_true: ArrayLike,
    *,
    measures: Measures = "paper",
    settings: EvaluationSettings | None = None,
    values: ArrayLike | None = None,
    draws: int = _DRAWS,
    seed: int = 0,
    **options: Unpack[SettingOptions],
) -> ChanceLevel:
    """Compute the mean and spread of measures over random scores.

    With range-aware measures, random scores reach ROC areas above 0.5, because buffers are easy to
    hit.

    Random scores are independent and exponentially distributed, roughly like the scores of
    detectors. With this distribution, 1.8% of the points exceed the mean plus three standard
    deviations; with a uniform distribution, none would. A fixed threshold has no meaning for random
    scores. ``Evaluation.chance`` therefore lets random scores predict as many points as the
    evaluated score did.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a BufferChoice. Required unless `settings` is given.
    draws : int, default=20
        Number of random scores.
    seed : int, default=0
        Seed of the random scores.
    measures, settings, values
        As for :class:`vuskit.Evaluator`.
    thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor,
    nan
        As for :class:`vuskit.Evaluator`.

    Returns
    -------
    ChanceLevel

    Raises
    ------
    InvalidInputError
        If the labels or a parameter are invalid.

    Warns
    -----
    UndefinedMeasureWarning
        If only one class is present; the values are NaN.

    Examples
    --------
    >>> from vuskit import chance_level
    >>> labels = [0] * 50 + [1] + [0] * 50
    >>> chance_level(labels, buffer=20, measures="vus_roc").mean["vus_roc"] > 0.6
    True
    """
    from vuskit.measures.evaluate import Evaluator

    y_true, values = align_to_labels(y_true, values=values)
    labels = check_labels(y_true)
    evaluator = Evaluator._of_many(
        labels, measures=measures, settings=settings_from(settings, options), values=values
    )
    rule = evaluator.settings.threshold
    is_number = not isinstance(rule, str) and not callable(rule)
    if is_number and any(measure.takes("threshold") for measure in evaluator.measures):
        raise InvalidInputError(
            f"`threshold` must be a rule for random scores, got {rule!r}; use a rule such as "
            "'sigma', or evaluate(...).chance"
        )
    if not labels.has_both_classes:
        warn_undefined("chance_level")
    return chance_of(evaluator, draws, seed)


def chance_of(
    evaluator: Evaluator, draws: int = _DRAWS, seed: int = 0, n_predicted: float | None = None
) -> ChanceLevel:
    """Compute the chance level of an evaluator's measures; NaN if only one class is present.

    Unless the threshold is a named rule, random scores predict `n_predicted` points.
    """
    draws = check_int("draws", draws, minimum=1)
    seed = check_int("seed", seed, minimum=0)
    labels = evaluator._prepared.labels
    if labels.has_both_classes:
        rng = np.random.default_rng(seed)
        settings = evaluator.settings
        if n_predicted is not None and not isinstance(settings.threshold, str):
            settings = settings.replace(threshold=_Highest(round(n_predicted)))
        scores = (_random_score(rng, labels.n) for _ in range(draws))
        found = [evaluator._values(evaluator._workspace(score, settings)) for score in scores]
        values = {name: np.array([one[name] for one in found]) for name in found[0]}
    else:
        values = {measure.name: np.array([np.nan]) for measure in evaluator.measures}
    return ChanceLevel(
        {name: float(value.mean()) for name, value in values.items()},
        {name: float(value.std()) for name, value in values.items()},
        draws,
        seed,
        {measure.name: measure.bounds[measure.higher_is_better] for measure in evaluator.measures},
    )


@dataclass(frozen=True)
class _Highest:
    """Threshold that the `count` highest scores reach."""

    count: int

    def __call__(self, scores: NDArray[Any]) -> float:
        if self.count == 0:
            return math.inf
        return float(np.partition(scores, -self.count)[-self.count])


def _random_score(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw exponentially distributed scores."""
    score: NDArray[np.float64] = -np.log1p(-rng.random(n))
    return score
