"""Jobs: what is done to what, under a key made from content."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.bench.identity import canonical, content_key
from vuskit.bench.sources import SeriesRef, SeriesSource
from vuskit.bench.specs import DetectorSpec, EvaluationSpec, MeasureSpec
from vuskit.bench.states import Kind, Status
from vuskit.datasets import Series

__all__ = ["EvaluateJob", "ImportJob", "Job", "Outcome", "ScoreJob", "Task", "job_from_spec"]


@dataclass(frozen=True)
class ScoreJob:
    """One detector with its parameters and seed on one series; None: the seed does not matter."""

    kind: ClassVar[Kind] = Kind.SCORE

    series: SeriesRef
    detector: DetectorSpec
    seed: int | None

    @property
    def used_seed(self) -> int:
        """The seed that the detector is given."""
        return self.seed or 0

    @property
    def engine(self) -> str:
        """What a process must have loaded and compiled for it."""
        return self.detector.name

    @cached_property
    def identity(self) -> str:
        """The detector with all parameters, seed and version of its code."""
        return self.detector.identity(self.used_seed)

    @cached_property
    def key(self) -> str:
        """Digest of the series' content and the detector's identity."""
        return content_key(self.kind, self.series.hash, self.identity)

    @property
    def label(self) -> str:
        """Name of the detector in tables."""
        return self.detector.label

    @property
    def title(self) -> str:
        """One line for people."""
        seed = f" seed {self.seed}" if self.seed else ""
        return f"{self.label}{seed} on {self.series.title}"

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again."""
        return {
            "series": _series_spec(self.series),
            "detector": asdict(self.detector),
            "seed": self.seed,
        }


@dataclass(frozen=True)
class ImportJob:
    """Scores that somebody else computed: read, checked, stored."""

    kind: ClassVar[Kind] = Kind.IMPORT
    seed: ClassVar[None] = None
    engine: ClassVar[None] = None

    series: SeriesRef
    path: str
    column: str | None
    label: str
    digest: str

    @property
    def identity(self) -> str:
        """The file's bytes and the column."""
        return f"external {self.label} sha256:{self.digest[:16]} column={self.column}"

    @cached_property
    def key(self) -> str:
        """Digest of the series' content and the file's."""
        return content_key(self.kind, self.series.hash, self.digest, self.column, self.label)

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.label} (external) on {self.series.title}"

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again."""
        names = ("path", "column", "label", "digest")
        own = {name: getattr(self, name) for name in names}
        return {"series": _series_spec(self.series), **own}


@dataclass(frozen=True)
class EvaluateJob:
    """Measures of stored scores."""

    kind: ClassVar[Kind] = Kind.EVALUATE
    seed: ClassVar[None] = None

    series: SeriesRef
    scores_hash: str
    evaluation: EvaluationSpec
    measures: tuple[MeasureSpec, ...]
    label: str

    @property
    def identity(self) -> str:
        """The settings."""
        return self.evaluation.identity

    @property
    def engine(self) -> str:
        """What a process must have loaded and compiled for it."""
        return "\n".join(self.measure_identities)

    @cached_property
    def measure_identities(self) -> tuple[str, ...]:
        """Names and versions of the measures."""
        return tuple(measure.identity for measure in self.measures)

    @cached_property
    def key(self) -> str:
        """Digest of the series' content, the scores, the settings and the measures' versions."""
        return content_key(
            self.kind,
            self.series.hash,
            self.scores_hash,
            self.identity,
            sorted(self.measure_identities),
        )

    @property
    def title(self) -> str:
        """One line for people."""
        what = (
            self.measures[0].name if len(self.measures) == 1 else f"{len(self.measures)} measures"
        )
        return f"{what} of {self.label} on {self.series.title}"

    def apart(self) -> tuple[EvaluateJob, ...]:
        """Return jobs of which one can fail without the others: users' measures, each alone."""
        package = tuple(measure for measure in self.measures if measure.of_package)
        own = ((measure,) for measure in self.measures if not measure.of_package)
        return tuple(replace(self, measures=part) for part in (package, *own) if part)

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again."""
        return {
            "series": _series_spec(self.series),
            "scores_hash": self.scores_hash,
            "evaluation": asdict(self.evaluation),
            "measures": [asdict(measure) for measure in self.measures],
            "label": self.label,
        }


Job: TypeAlias = ScoreJob | ImportJob | EvaluateJob


def _series_spec(series: SeriesRef) -> dict[str, Any]:
    content = {**asdict(series), "source": json.loads(series.source.spec)}
    del content["left_out"]  # for people who read plans
    return content


def _series_from_spec(spec: dict[str, Any]) -> SeriesRef:
    return SeriesRef(**{**spec, "source": SeriesSource(canonical(spec["source"]))})


def job_from_spec(kind: str, spec: dict[str, Any]) -> Job:
    """Undo ``spec()``.

    Examples
    --------
    >>> from vuskit.bench.sources import SeriesSource, describe_series
    >>> series = describe_series(SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1}))
    >>> job = ScoreJob(series, DetectorSpec("random", "{}", "Random"), seed=4)
    >>> job_from_spec("score", job.spec()).key == job.key
    True
    """
    return _REBUILD[Kind(kind)]({**spec, "series": _series_from_spec(spec["series"])})


def _evaluate_job(spec: dict[str, Any]) -> EvaluateJob:
    return EvaluateJob(
        spec["series"],
        spec["scores_hash"],
        EvaluationSpec(**spec["evaluation"]),
        tuple(MeasureSpec(**measure) for measure in spec["measures"]),
        spec["label"],
    )


_REBUILD: dict[Kind, Callable[[dict[str, Any]], Job]] = {
    Kind.SCORE: lambda spec: ScoreJob(
        spec["series"], DetectorSpec(**spec["detector"]), spec["seed"]
    ),
    Kind.IMPORT: lambda spec: ImportJob(**spec),
    Kind.EVALUATE: _evaluate_job,
}


@dataclass(frozen=True)
class Task:
    """A job on its way to a worker, with the arrays where the worker cannot read files."""

    job: Job
    scores_path: Path | None = None
    imports: tuple[str, ...] = ()
    base: Path | None = None
    series: Series | None = None
    scores: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes
    ----------
    status : Status
        How it ended.
    message, traceback : str or None
        Why, where it did not end well.
    scores : ndarray or None
        Of a score or import job.
    values : dict or None
        Of an evaluate job: numbers by measure; a measure without a value is absent.
    fit_seconds, score_seconds, seconds : float or None
        Time of fitting, of scoring, and of the whole job.
    peak_bytes : int or None
        Highest resident memory of the worker process during the job, libraries included.
    cold : bool
        Whether the worker had not run this detector before, so that the seconds hold imports
        and compilation.
    warm_up_seconds : float or None
        Time that loading and compiling took before the job's own time began, where it did.
    """

    status: Status
    message: str | None = None
    traceback: str | None = None
    scores: NDArray[np.float64] | None = None
    values: dict[str, float] | None = None
    fit_seconds: float | None = None
    score_seconds: float | None = None
    seconds: float | None = None
    peak_bytes: int | None = None
    cold: bool = False
    warm_up_seconds: float | None = None
    worker: str | None = None
    buffer: int | None = None
    buffer_reason: str | None = None
