"""Evaluation of one series: scores and measures, for tables and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit.buffers import BufferChoice
from vuskit.inputs import check_labels
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_of
from vuskit.measures.registry import Measure
from vuskit.measures.results import Comparison
from vuskit.measures.thresholds import ThresholdRule

RECORD_FIELDS = (
    "score",
    "measure",
    "title",
    "value",
    "lower",
    "upper",
    "chance",
    "adjusted",
    "buffer",
    "thresholds",
    "definition",
    "step",
    "side",
)


@dataclass(frozen=True)
class EvaluationReport:
    """Evaluated scores of one series.

    Attributes
    ----------
    name : str
        Name of the series, usually its file.
    labels : ndarray of bool
        One label per point.
    values : ndarray or None
        The series.
    scores : dict of str to ndarray
        Scores by name.
    table : Comparison
        Values of the measures.
    buffer : BufferChoice or None
        The buffer and how it was chosen; None if none was found.
    threshold : str, number or callable
        Rule of the threshold-based measures.
    draws : int
        Number of random scores for the chance level; 0 for none.
    times : tuple of str or None
        First and last time.
    channels : dict of str to ndarray
        All channels of the series by name, if there are several or the name is known.
    dates : ndarray of datetime64 or None
        Time of each point, in ascending order.
    """

    name: str
    labels: NDArray[np.bool_]
    values: NDArray[np.float64] | None
    scores: dict[str, NDArray[np.float64]]
    table: Comparison
    buffer: BufferChoice | None
    threshold: ThresholdRule = "sigma"
    draws: int = 20
    times: tuple[str, str] | None = None
    channels: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    dates: NDArray[np.datetime64] | None = None

    @property
    def length(self) -> int:
        """Length of the buffer; 0 if none was found."""
        return 0 if self.buffer is None else self.buffer.length

    @property
    def buffer_reason(self) -> tuple[str, str]:
        """Strategy of the buffer, and why its length was chosen or is missing."""
        if self.buffer is not None:
            return self.buffer.strategy, self.buffer.reason
        reasons = iter(self.table.without_buffer.values())
        return str(self.table.settings.buffer), f"none found: {next(reasons, 'not needed')}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The computed measures."""
        return self.table.measures

    @cached_property
    def chance(self) -> ChanceLevel | None:
        """Values of random scores; None if `draws` is 0."""
        if not self.draws:
            return None
        return chance_of(self.table._evaluator, self.draws, n_predicted=self.table.n_predicted)

    @cached_property
    def adjusted(self) -> dict[str, dict[str, float]] | None:
        """Values adjusted for chance, by score and measure."""
        if self.chance is None:
            return None
        return {name: self.chance.adjust(values) for name, values in self.table.items()}

    @cached_property
    def events(self) -> dict[str, EventTable]:
        """Anomalies that each score detects, with the buffer of the evaluation."""
        return {
            name: events(
                self.labels,
                score,
                buffer=self.length,
                side=self.table.side,
                threshold=self.threshold,
            )
            for name, score in self.scores.items()
        }

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """First point of each anomaly, and one past its last."""
        checked = check_labels(self.labels)
        return list(zip(checked.starts.tolist(), checked.stops.tolist(), strict=True))

    def best(self, measure: Measure) -> set[str]:
        """Return the scores with the best value of a measure; none if all values are equal."""
        values = {name: self.table[name][measure.name] for name in self.table}
        defined = {value for value in values.values() if not math.isnan(value)}
        if len(defined) < 2:
            return set()
        top = max(defined) if measure.higher_is_better else min(defined)
        return {name for name, value in values.items() if value == top}

    @property
    def interval_notes(self) -> list[str]:
        """Method of the intervals, or why there are none; the same for all scores."""
        found = (one.intervals for one in self.table.values())
        return list(dict.fromkeys(str(one) for one in found if one is not None))

    def interval(self, score: str, measure: Measure) -> tuple[float | None, float | None]:
        """Return the confidence interval of a value; None if there is none."""
        found = self.table[score].intervals
        if found is None or math.isnan(found[measure.name][0]):
            return None, None
        return found[measure.name]

    def records(self) -> Iterator[tuple[Any, ...]]:
        """Yield one row per score and measure, see ``RECORD_FIELDS``; None for missing values."""
        for name, values in self.table.items():
            for measure in self.measures:
                yield (
                    name,
                    measure.name,
                    measure.title,
                    values[measure.name],
                    *self.interval(name, measure),
                    None if self.chance is None else self.chance.mean[measure.name],
                    None if self.adjusted is None else self.adjusted[name][measure.name],
                    self.table.buffer,
                    self.table.thresholds,
                    self.table.definition,
                    self.table.step,
                    self.table.side,
                )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        chance = self.chance
        return {
            "vuskit": __version__,
            "series": {
                "name": self.name,
                "points": int(self.labels.size),
                "anomalies": len(self.bounds),
                "anomalous_points": int(self.labels.sum()),
                "times": None if self.times is None else list(self.times),
            },
            "settings": {
                "buffer": self.table.buffer,
                "buffer_strategy": self.buffer_reason[0],
                "buffer_reason": self.buffer_reason[1],
                "thresholds": self.table.thresholds,
                "definition": self.table.definition,
                "step": self.table.step,
                "side": self.table.side,
                "threshold": self.threshold
                if isinstance(self.threshold, (str, float, int))
                else repr(self.threshold),
                "k": self.table.k,
            },
            "interval": self.interval_notes,
            "chance": None if chance is None else {"draws": chance.draws, "seed": chance.seed},
            "measures": [
                {
                    "name": measure.name,
                    "title": measure.title,
                    "family": measure.family,
                    "chance": None if chance is None else chance.mean[measure.name],
                    "chance_std": None if chance is None else chance.std[measure.name],
                }
                for measure in self.measures
            ],
            "scores": [
                {
                    "name": name,
                    "values": values.to_dict(),
                    "intervals": {
                        measure.name: self.interval(name, measure) for measure in self.measures
                    }
                    if values.intervals is not None
                    else None,
                    "adjusted": None if self.adjusted is None else self.adjusted[name],
                }
                for name, values in self.table.items()
            ],
        }
