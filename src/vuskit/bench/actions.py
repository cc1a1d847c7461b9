"""How a worker runs a job: compute scores, import them, or evaluate them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import listed
from vuskit.alignment import fill_missing_ends
from vuskit.bench.jobs import EvaluateJob, ImportJob, Job, ScoreJob
from vuskit.bench.series import CHANGED_DURING_RUN, SeriesRef
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import aligned_scores
from vuskit.datasets.long_tables import LongTable
from vuskit.datasets.row_times import in_time_order
from vuskit.datasets.tables import EXACT_RULE, LARGEST_EXACT, Table, open_table
from vuskit.engine import Action
from vuskit.engine.tasks import NotApplicableError, StaleWorkerError
from vuskit.errors import (
    BufferNotFoundError,
    ChangedInputError,
    InvalidInputError,
    MeasureError,
)
from vuskit.inputs import rank_missing_lowest
from vuskit.measures.evaluate import NO_BUFFER, Evaluator
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.identity import (
    changed_modules,
    import_object,
    importable,
    key_of,
    scores_digest,
)
from vuskit.store.store import read_scores

Scores = NDArray[np.float64]

_LONG_INTEGER = re.compile(rb"(?<![\d.])\d{16,}(?![\d.eE])")


@dataclass(frozen=True)
class ScoreResult:
    """Scores of a detector, or from a file."""

    scores: Scores
    fit_seconds: float | None = None
    score_seconds: float | None = None
    cold: bool = False
    filled: int = 0
    missing: int = 0  # points without a score, which rank below all others


@dataclass(frozen=True)
class EvaluateResult:
    """Values of measures."""

    values: dict[str, float]
    buffer: int | None
    buffer_reason: str


@dataclass(frozen=True)
class JobAction(Action):
    """A job as an engine action; `load` attaches the arrays for workers without file access."""

    job: Job
    imports: tuple[str, ...] = ()
    base: Path | None = None
    scores_path: Path | None = None
    digest: str | None = None
    series: Series | None = None
    scores: Scores | None = None

    @property
    def group(self) -> str | None:
        """Name shared by jobs that need the same loaded and compiled code."""
        match self.job:
            case ScoreJob(detector=detector):
                return detector.name
            case EvaluateJob(measures=measures):
                return "\n".join(one.full_name for one in measures)
        return None

    @property
    def code(self) -> str | None:
        """Version of the expected code."""
        return str(self.job.code) if self.job.code.parts else None

    def run(self) -> ScoreResult | EvaluateResult:
        """Run the job."""
        # Functions may import modules when they run.
        with importable(self.base):
            try:
                self._import_modules()
                self._check_code()
            except ChangedInputError as error:  # of a file that this process has imported
                raise StaleWorkerError(f"{error}, or run the same command again") from error
            with _seeded(self.job):
                return self._run()

    def _run(self) -> ScoreResult | EvaluateResult:
        match self.job:
            case ScoreJob(obstacle=obstacle):
                if obstacle is not None:
                    raise NotApplicableError(obstacle)
                return _score(self.job, self._series())
            case ImportJob():
                scores = _external_scores(self.job) if self.scores is None else self.scores
                job = self.job
                return import_scores(
                    scores, self._series(), job.label, job.window, job.anchor, job.nan
                )
            case EvaluateJob(series=ref):
                check_classes(ref)
                return evaluate_scores(self.job, self._stored_scores(), self._series())

    def warm_up(self) -> None:
        """Load and compile what the job needs, before its time is measured."""
        self._import_modules()
        match self.job:
            case ScoreJob(detector=detector):
                if detector.build(self.job.seed or 0).warm_up():
                    _seen_detectors.add(detector.name)
            case EvaluateJob():
                _warm_measures(self.job)

    def load(self) -> JobAction:
        """Attach the series and the scores."""
        scores = None
        if isinstance(self.job, ImportJob):
            scores = _external_scores(self.job)
        elif isinstance(self.job, EvaluateJob):
            scores = self._stored_scores()
        return replace(self, series=self.job.series.load(), scores=scores)

    def _stored_scores(self) -> Scores:
        if self.scores is None:
            assert self.scores_path is not None
            return read_scores(self.scores_path, self.digest)
        if scores_digest(self.scores) != self.digest:
            raise ChangedInputError("scores must not change on the way to a worker")
        return self.scores

    def _series(self) -> Series:
        ref = self.job.series
        return ref.load() if self.series is None else ref.verified(self.series)

    def _import_modules(self) -> None:
        for module in self.imports:
            import_object(module, self.base)

    def _check_code(self) -> None:
        """Compare the code in this process with the expected code."""
        match self.job:
            case ScoreJob(detector=detector):
                found = {detector.name: detector.loaded_code()}
            case EvaluateJob(measures=measures):
                found = {one.name: one.loaded_code() for one in measures}
            case _:
                return
        parts = {name: digest for one in found.values() for name, digest in one.parts.items()}
        changed = changed_modules(self.job.code.parts, parts)
        if changed:
            raise StaleWorkerError(
                f"`{next(iter(found))}` must not change during a run, got a different version of "
                f"{listed(changed, most=3)}; run the same command again, and update copies of the "
                "module on other machines"
            )


@contextlib.contextmanager
def _seeded(job: Job) -> Iterator[None]:
    """Seed the global generators from data and settings, so that a job can be repeated."""
    about = {name: value for name, value in job.about.items() if name != "code"}
    seed = int(key_of(job.kind, about)[:8], 16)
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


# -- scores ----------------------------------------------------------------------------------------

_seen_detectors: set[str] = set()


def _score(job: ScoreJob, series: Series) -> ScoreResult:
    detector = job.detector.build(job.seed or 0)
    cold = job.detector.name not in _seen_detectors
    _seen_detectors.add(job.detector.name)
    fitting = _Stopwatch(detector._fit)
    # Every detector implements `_fit`. The remaining time of fit_score is preparation and scoring.
    detector._fit = fitting  # type: ignore[method-assign]
    # Scores do not depend on labels, and are kept when labels are edited.
    unlabeled = replace(series, labels=np.zeros(series.n_points, dtype=bool))
    begin = time.perf_counter()
    scores = detector.fit_score(unlabeled)  # type: ignore[arg-type]
    total = time.perf_counter() - begin
    return ScoreResult(scores, fitting.seconds, total - fitting.seconds, cold)


class _Stopwatch:
    """Adds up the seconds spent in a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        try:
            return self._function(*args, **kwargs)
        finally:
            self.seconds += time.perf_counter() - begin


def import_scores(
    scores: Scores,
    series: Series,
    detector: str,
    window: int | None,
    align: str | None,
    nan: str = "error",
) -> ScoreResult:
    """Check imported scores, align those of windows, and fill missing ends or rank all lowest."""
    filled = missing = 0
    if scores.ndim == 1:
        scores = aligned_scores(scores, series.n_points, window, align)
    if scores.ndim == 1 and nan == "lowest":
        scores, missing = rank_missing_lowest(scores)
    elif scores.ndim == 1 and scores.dtype.kind == "f":
        ends = fill_missing_ends(scores)
        scores, filled = ends.scores, ends.leading + ends.trailing
    checked = ScoredSeries(series, {detector: scores}).scores[detector]
    return ScoreResult(np.array(checked), filled=filled, missing=missing)


def _external_scores(job: ImportJob) -> Scores:
    path = Path(job.path)
    if job.column is not None:
        table = _table(job)
        reading: dict[str, Any] = dict(job.reading)
        columns = Columns(score=job.column, **reading)
        rank = in_time_order(table, columns, job.series.title).rank
        scores = table.scores(job.column)
        return scores if rank is None else scores[rank]
    data = _file_content(job)
    if path.suffix == ".npy":
        numbers = np.load(io.BytesIO(data), allow_pickle=False)
        rounded = numbers.dtype.kind in "iu"
    else:
        numbers = np.loadtxt(io.BytesIO(data), delimiter=",", ndmin=1)
        rounded = _LONG_INTEGER.search(data) is not None
    if rounded and (np.abs(numbers.astype(np.float64)) >= LARGEST_EXACT).any():
        raise InvalidInputError(f"{path}: the scores must hold {EXACT_RULE}")
    return numbers  # type: ignore[no-any-return]


# One file may hold the scores of many detectors, and their jobs follow each other. Each job reads
# only its own column, so that an invalid column does not affect the others.
_recent_table: dict[tuple[str, tuple[str, ...]], Table | LongTable] = {}


def _table(job: ImportJob) -> Table:
    """Table with the content that the job expects, even if the file has changed since."""
    path, by = Path(job.path), tuple(name for name, _ in job.part)
    known = _recent_table.get((job.digest, by))
    if known is None:
        known = open_table(path, texts=by, data=_file_content(job), threads=False)
        if by:
            known = LongTable(path, by, known)
        _recent_table.clear()
        _recent_table[job.digest, by] = known
    if isinstance(known, Table):
        return known
    place = known.keys.index(tuple(cell for _, cell in job.part))
    return known.rows(int(known.bounds[place]), int(known.bounds[place + 1]))


def _file_content(job: ImportJob) -> bytes:
    """Read an imported file and check its digest."""
    try:
        data = Path(job.path).read_bytes()
    except FileNotFoundError as error:
        raise ChangedInputError(
            f"{job.path} must exist, got no such file; {CHANGED_DURING_RUN}"
        ) from error
    if hashlib.sha256(data).hexdigest() != job.digest:
        raise ChangedInputError(
            f"{job.path} must not change during a run, got different content; {CHANGED_DURING_RUN}"
        )
    return data


# -- evaluations -----------------------------------------------------------------------------------

_WARM_UP_POINTS = 200


def _warm_measures(job: EvaluateJob) -> None:
    labels = np.arange(_WARM_UP_POINTS) // 10 % 5 == 1
    buffer = BufferChoice(5, "number", "given")
    measures = tuple(measure.build() for measure in job.measures)
    settings = job.evaluation.replace(buffer=buffer)
    evaluator = Evaluator(labels, measures=measures, settings=settings)
    evaluator(np.sin(np.arange(float(len(labels)))))


def evaluate_scores(job: EvaluateJob, scores: Scores, series: Series) -> EvaluateResult:
    """Compute the measures of a job."""
    first = job.about["train_length"]
    if first:
        series, scores = series.after(first), scores[first:]
        check_classes(series, " after the training part")
    measures = tuple(measure.build() for measure in job.measures)
    evaluator = make_evaluator(series.labels, series.values, measures, job.evaluation)
    return EvaluateResult(measure_scores(evaluator, scores), *evaluator.buffer_record)


def check_classes(series: Series | SeriesRef, where: str = "") -> None:
    """Refuse a series without anomalous or without normal points."""
    if series.anomalous_points in (0, series.n_points):
        raise NotApplicableError(f"the measures are undefined: only one class in the labels{where}")


def make_evaluator(
    labels: NDArray[np.bool_],
    values: NDArray[np.float64],
    measures: tuple[Measure, ...],
    settings: EvaluationSettings,
) -> Evaluator:
    """Prepare the evaluation of a series; it does not apply if there is no buffer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user chose any coarse grid
            return Evaluator(labels, measures=measures, settings=settings, values=values)
    except BufferNotFoundError as error:
        raise NotApplicableError(f"{NO_BUFFER}{error}") from error


def measure_scores(evaluator: Evaluator, scores: Scores) -> dict[str, float]:
    """Return values by measure; undefined ones are missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evaluator(scores)
    except MeasureError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        raise
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}
