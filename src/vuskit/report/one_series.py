"""Evaluate the scores of one series as they were read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vuskit.bench.jobs import TrainingPart, TrainLength, evaluated_from, training_notes
from vuskit.buffers import BufferChoice
from vuskit.datasets.columns import time_range
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    MeasureError,
    UndefinedMeasureWarning,
)
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import Measure
from vuskit.measures.results import Comparison
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.evaluation import EvaluationReport

if TYPE_CHECKING:
    from vuskit.datasets.inputs import Loaded

_DRAWS = 20
_POINTS_DRAWN = 2_000_000  # random points for the chance level of a long series


@dataclass(frozen=True)
class EvaluatedSeries:
    """The evaluation of a series, and what to tell about it."""

    report: EvaluationReport
    decisions: tuple[str, ...]
    notes: tuple[str, ...]
    failures: tuple[str, ...]


def evaluate_loaded(
    loaded: Loaded,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    *,
    train_length: TrainLength = None,
    interval: float | None = None,
    chance: int | None = None,
) -> EvaluatedSeries:
    """Evaluate all scores of a series; measures of the user that fail are left out."""
    scored = loaded.scored()
    n_points, declared = scored.series.n_points, scored.series.train_length
    part = TrainingPart(loaded.file_name, loaded.file_name, n_points, declared)
    notes = list(training_notes([part], [train_length]))
    first = evaluated_from(scored.series, train_length)
    decisions = [f"left out: the first {first:,} points (training data)"] if first else []
    series = scored.series.after(first) if first else scored.series
    if series.anomalous_points in (0, series.n_points):
        kind = "anomalous" if series.anomalous_points else "normal"
        raise InvalidInputError(
            f"{loaded.path}: label column {loaded.label!r} must hold both normal and "
            f"anomalous points, got {kind} ones only; every measure needs both"
        )
    scores = {name: score[first:] for name, score in scored.scores.items()}
    channels = dict(zip(series.channels, np.atleast_2d(series.values.T), strict=True))
    known = next(iter(channels.values()))
    values = None if np.isnan(known).all() else known
    choice = _buffer(settings, series.labels, values, measures, notes)
    if choice is not None:
        settings = settings.replace(buffer=choice.length, buffer_fallback=None)
        decisions.append(f"buffer: {choice.length} ({choice.strategy}: {choice.reason})")
        if choice.length > series.n_points:
            notes.append(f"the buffer is longer than the series of {series.n_points:,} points")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # already in the notes
        table, failures = _evaluated(
            measures,
            partial(
                evaluate_many,
                series.labels,
                scores,
                settings=settings,
                values=values,
                interval=interval,
            ),
        )
    # Long series need few random scores.
    draws = int(np.clip(_POINTS_DRAWN // series.n_points, 2, _DRAWS)) if chance is None else chance
    report = EvaluationReport(
        name=loaded.file_name,
        labels=series.labels,
        values=values,
        scores=scores,
        table=table,
        buffer=choice,
        threshold=settings.threshold,
        draws=draws,
        times=time_range(loaded.dates),
        channels={} if values is None else channels,
        dates=None if loaded.dates is None else loaded.dates[first:],
    )
    return EvaluatedSeries(report, tuple(decisions), tuple(notes), tuple(failures))


def _evaluated(
    wanted: Sequence[Measure], evaluating: Callable[..., Comparison]
) -> tuple[Comparison, list[str]]:
    """Return values and error messages; custom measures that fail are left out."""
    try:
        return evaluating(measures=wanted), []
    except MeasureError as error:
        first = error
    failures = {}
    for measure in (one for one in wanted if one.declaration is None):
        try:
            evaluating(measures=measure)
        except MeasureError as error:
            failures[measure.name] = str(error)
    rest = [measure for measure in wanted if measure.name not in failures]
    if not rest:
        raise first
    return evaluating(measures=rest), list(failures.values())


def _buffer(
    settings: EvaluationSettings,
    labels: NDArray[np.bool_],
    values: NDArray[np.float64] | None,
    wanted: Sequence[Measure],
    notes: list[str],
) -> BufferChoice | None:
    """Return the buffer; None, with a note, if there is none but some measures need none."""
    try:
        return settings.choose_buffer(values=values, y_true=labels)
    except BufferNotFoundError as error:
        reason = str(error)
        if values is None:
            reason = (
                f"`buffer` {settings.buffer} needs the series itself; name its column with "
                "`value`, or use `buffer` median-anomaly"
            )
            if settings.buffer == "authors":
                reason += " (not for published values)"
        lacking = [measure.title for measure in wanted if measure.uses_buffer]
        if len(lacking) == len(wanted):
            raise InvalidInputError(reason) from error
        if lacking:
            notes.append(f"no value of {', '.join(lacking)}: {reason}")
        return None
