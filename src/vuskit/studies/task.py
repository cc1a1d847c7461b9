"""What a study does with one series: choose the buffer, evaluate, say what was undefined."""

from __future__ import annotations

import hashlib
import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.datasets import ScoredSeries
from vuskit.errors import (
    InvalidInputError,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
)
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.suite import Evaluator
from vuskit.periods import parse_buffer
from vuskit.studies.scored import content_of
from vuskit.studies.series_values import SeriesValues
from vuskit.studies.timing_store import describe_environment

__all__ = ["MeasureSettings", "SeriesEvaluator", "Task", "evaluate_scores", "fingerprint", "quiet"]


@dataclass(frozen=True)
class MeasureSettings:
    """Which measures, with which buffer and options.

    Attributes
    ----------
    measures : tuple of Measure
        What is computed.
    buffer : str or int
        Strategy of :func:`vuskit.choose_buffer`, or the length itself.
    volume_factor : float
        The longest buffer of VUS, in buffers of R-AUC.
    options : mapping
        Further options of :class:`vuskit.Evaluator`.
    """

    measures: tuple[Measure, ...]
    buffer: str | int = "authors"
    volume_factor: float = 2.0
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        measures: str | Measure | Iterable[str | Measure],
        buffer: str | int,
        volume_factor: float,
        options: Mapping[str, Any],
    ) -> MeasureSettings:
        """Settings of checked measures.

        Raises
        ------
        InvalidInputError
            If a measure or the buffer's strategy is unknown, or the factor not positive.
        """
        if not volume_factor > 0:
            raise InvalidInputError(f"`volume_factor` must be a number > 0, got {volume_factor}")
        return cls(
            resolve_measures(measures), parse_buffer(buffer), float(volume_factor), dict(options)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(measure.name for measure in self.measures)

    def evaluator(self, labels: ArrayLike, buffer: int) -> SeriesEvaluator:
        """Evaluator of the measures for these labels."""
        longest = round(self.volume_factor * buffer)
        groups = self._groups(buffer, longest) if longest != buffer else [(self.measures, {})]
        return SeriesEvaluator(
            tuple(
                Evaluator(labels, measures=group, **{"buffer": buffer, **self.options, **own})
                for group, own in groups
                if group
            ),
            self.names,
        )

    def _groups(
        self, buffer: int, longest: int
    ) -> list[tuple[tuple[Measure, ...], dict[str, Any]]]:
        """Measures that can share work, with the options that only they take."""
        volumes = tuple(measure for measure in self.measures if measure.family == "vus")
        others = [measure for measure in self.measures if measure.family != "vus"]
        shared = tuple(measure for measure in others if measure.shared is not None)
        alone = tuple(measure for measure in others if measure.shared is None)
        # Without volumes no buffer between none and the longest is needed.
        return [(volumes, {"buffer": longest}), (shared, {"step": max(buffer, 1)}), (alone, {})]


@dataclass(frozen=True)
class SeriesEvaluator:
    """Labels of one series, prepared for many scores; measures with different buffers."""

    evaluators: tuple[Evaluator, ...]
    names: tuple[str, ...]

    def __call__(self, score: ArrayLike) -> list[float]:
        """Values of the measures, in order."""
        values: dict[str, float] = {}
        for evaluator in self.evaluators:
            values |= evaluator(score)
        return [values[name] for name in self.names]


class Task(Protocol):
    """A study, as far as one series goes; a frozen dataclass."""

    @property
    def study(self) -> str:
        """Name of the study."""

    @property
    def settings(self) -> MeasureSettings:
        """The measures."""

    def run(self, scored: ScoredSeries) -> SeriesValues:
        """Values of the measures on one series."""


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Collect warnings of too coarse grids and drop those of undefined values.

    The studies count both; other warnings are passed on.
    """
    coarse: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ThresholdResolutionWarning)
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        yield coarse
    for warning in caught:
        if issubclass(warning.category, ThresholdResolutionWarning):
            coarse.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def evaluate_scores(evaluator: SeriesEvaluator, scores: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Values of all measures (columns) for each score (rows)."""
    return np.array([evaluator(score) for score in scores], dtype=np.float64)


def fingerprint(task: Task, scored: ScoredSeries) -> str:
    """Digest of everything that the values depend on: study, settings, measures, code, data."""
    parts = {
        entry.name: _identity(getattr(task, entry.name))
        for entry in fields(task)  # type: ignore[arg-type]  # tasks are dataclasses
    }
    parts |= {"study": task.study, "code": _code_digest(), "content": content_of(scored)}
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_known_digests: dict[str, str] = {}


def _code_digest() -> str:
    if "code" not in _known_digests:
        _known_digests["code"] = describe_environment()["code"]
    return _known_digests["code"]


def _identity(value: Any) -> Any:
    """The value as JSON knows it; functions by their code, so that an edit is noticed."""
    if isinstance(value, MeasureSettings):
        return {entry.name: _identity(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Measure):
        return [
            value.name,
            value.higher_is_better,
            _identity(value.options),
            _source(value.function),
        ]
    if isinstance(value, Mapping):
        return {str(key): _identity(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_identity(item) for item in value]
    if callable(value):
        return _source(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _source(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        # Typed at a prompt, or made by other code: what it compiles to will do.
        text = repr(function) if code is None else f"{code.co_code!r}{code.co_consts!r}"
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
