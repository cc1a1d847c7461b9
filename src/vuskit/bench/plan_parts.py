"""What a plan consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vuskit.bench.specs import DetectorSpec, EvaluationSpec, MeasureSpec

__all__ = ["Evaluations", "ExecutorSpec", "Limits", "Plan", "ScoresRequest", "SeriesRequest"]


@dataclass(frozen=True)
class SeriesRequest:
    """One ``[[series]]`` entry: files of a folder, or a synthetic family."""

    folder: Path | None = None
    names: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    min_points: int = 1
    max_points: int | None = None
    min_anomalies: int = 0
    sample: int | None = None
    sample_seed: int = 0
    synthetic: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class ScoresRequest:
    """One ``[[scores]]`` entry: scores that somebody else computed."""

    folder: Path
    pattern: str | None = None
    detectors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluations:
    """One ``[[evaluate]]`` entry: settings, and the measures under them."""

    spec: EvaluationSpec
    measures: tuple[MeasureSpec, ...]


@dataclass(frozen=True)
class Limits:
    """What one job may take.

    Attributes
    ----------
    seconds : float
        Wall time, after which the job is killed.
    warm_up_seconds : float
        Wall time for loading and compiling what a job needs, before its own time begins.
    memory : int or None
        Bytes of the worker process, libraries included; None: no limit.
    threads : int
        Threads of BLAS, OpenMP, numba and torch.
    """

    seconds: float = 3600.0
    warm_up_seconds: float = 300.0
    memory: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class ExecutorSpec:
    """Where jobs run: ``local`` processes, or a ``dask`` scheduler."""

    kind: str = "local"
    workers: int = 1
    address: str | None = None


@dataclass(frozen=True)
class Plan:
    """A checked plan; see `load_plan`."""

    folder: Path
    series: tuple[SeriesRequest, ...]
    detectors: tuple[DetectorSpec, ...]
    seeds: tuple[int, ...]
    scores: tuple[ScoresRequest, ...]
    evaluations: tuple[Evaluations, ...]
    limits: Limits
    executor: ExecutorSpec
    imports: tuple[str, ...]
    base: Path
    text: str

    @property
    def wanted(self) -> list[tuple[str, str, str]]:
        """Settings, measures and their identities that belong into the tables."""
        return [
            (entry.spec.identity, measure.build().name, measure.identity)
            for entry in self.evaluations
            for measure in entry.measures
        ]
