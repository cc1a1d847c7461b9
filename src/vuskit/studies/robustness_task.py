"""Perturbing the scores of one series and evaluating every measure on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets import ScoredSeries
from vuskit.studies.perturbations import add_noise, crops_by_ratio, even_lags, generator, shift
from vuskit.studies.scored import buffer_of
from vuskit.studies.series_values import SeriesValues
from vuskit.studies.task import MeasureSettings, evaluate_scores

__all__ = ["PERTURBATIONS", "RobustnessTask"]

Values = NDArray[np.float64]


@dataclass(frozen=True)
class RobustnessTask:
    """Perturbations and measures; see :func:`vuskit.studies.robustness_study`."""

    settings: MeasureSettings
    perturbations: tuple[str, ...] = ("lag", "noise", "ratio")
    count: int = 10
    lag: float = 0.25
    lag_fill: str = "edge"
    noise: float = 0.05
    ratio: tuple[float, float] = (0.01, 0.2)
    ratio_tolerance: float = 0.05
    seed: int = 0

    @property
    def study(self) -> str:
        """Name of the study."""
        return "robustness"

    def run(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures under every perturbation of every detector's score."""
        choice = buffer_of(scored, self.settings.buffer)
        values = [PERTURBATIONS[name](self, scored, choice.length) for name in self.perturbations]
        return SeriesValues(
            scored.series.dataset,
            scored.series.name,
            choice.length,
            {
                "perturbation": self.perturbations,
                "detector": scored.detectors,
                "repeat": tuple(map(str, range(self.count))),
                "measure": self.settings.names,
            },
            np.stack(values),
            {"buffer_reason": choice.reason},
        )


def _on_whole_series(
    task: RobustnessTask,
    scored: ScoredSeries,
    buffer: int,
    variants: Callable[[str, Values], Iterator[Values]],
) -> Values:
    # The labels stay as they are, so their work is done once for all scores.
    evaluator = task.settings.evaluator(scored.series.labels, buffer)
    return np.stack(
        [evaluate_scores(evaluator, variants(name, score)) for name, score in scored.scores.items()]
    )


def _lag(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    lags = even_lags(buffer, count=task.count, fraction=task.lag)

    def variants(detector: str, score: Values) -> Iterator[Values]:
        return (shift(score, lag, fill=task.lag_fill) for lag in lags)

    return _on_whole_series(task, scored, buffer, variants)


def _noise(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    def variants(detector: str, score: Values) -> Iterator[Values]:
        names = (scored.series.dataset, scored.series.name, detector, "noise")
        random = generator(task.seed, *names)
        return (add_noise(score, random, amplitude=task.noise) for _ in range(task.count))

    return _on_whole_series(task, scored, buffer, variants)


def _ratio(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    labels = scored.series.labels
    low, high = task.ratio
    crops = crops_by_ratio(
        labels, count=task.count, low=low, high=high, tolerance=task.ratio_tolerance
    )
    values = np.full((len(scored.detectors), task.count, len(task.settings.measures)), np.nan)
    for place, crop in enumerate(crops):
        if crop.reached:
            part = slice(crop.start, crop.stop)
            evaluator = task.settings.evaluator(labels[part], buffer)
            cut = (score[part] for score in scored.scores.values())
            values[:, place] = evaluate_scores(evaluator, cut)
    return values


PERTURBATIONS: Mapping[str, Callable[[RobustnessTask, ScoredSeries, int], Values]] = {
    "lag": _lag,
    "noise": _noise,
    "ratio": _ratio,
}
"""Name to function of a task, a series and its buffer: values by detector, repeat and measure."""
