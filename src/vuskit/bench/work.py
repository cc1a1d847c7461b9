"""What a worker does with a task. Runs in a process of its own, under limits."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import platform
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import vuskit
from vuskit._util.optional import is_installed
from vuskit.bench.identity import import_object, scores_digest
from vuskit.bench.jobs import EvaluateJob, ImportJob, Outcome, ScoreJob, Task
from vuskit.bench.memory import peak_memory, reset_peak_memory
from vuskit.bench.specs import EvaluationSpec
from vuskit.bench.states import Kind, Status
from vuskit.buffers import BufferChoice, choose_buffer
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.readers import Table, open_scores
from vuskit.detectors import read_values
from vuskit.errors import InvalidInputError, MeasureError

__all__ = ["carry_out", "load_inputs", "perform", "warm_up"]

Scores = NDArray[np.float64]

_WARM_UP_POINTS = 200

_seen_detectors: set[str] = set()


class _NotApplicableError(Exception):
    """The job does not apply; its text says why."""


def perform(task: Task) -> Outcome:
    """Do a task; whatever happens is told in the outcome.

    Examples
    --------
    >>> from vuskit.bench.jobs import ScoreJob
    >>> from vuskit.bench.sources import SeriesSource, describe_series
    >>> from vuskit.bench.specs import DetectorSpec
    >>> series = describe_series(SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1}))
    >>> outcome = perform(Task(ScoreJob(series, DetectorSpec("random", "{}", "Random"), seed=4)))
    >>> str(outcome.status), outcome.scores.shape
    ('OK', (4000,))
    """
    reset_peak_memory()
    begin = time.perf_counter()
    try:
        outcome = carry_out(task)
    except _NotApplicableError as reason:
        outcome = Outcome(Status.SKIPPED, message=str(reason))
    except MemoryError as error:
        # The frames still hold what filled the memory; telling what happened takes some, too.
        traceback.clear_frames(error.__traceback__)
        text = f"out of memory: {error}" if str(error) else "out of memory"
        outcome = Outcome(Status.OOM, message=text, traceback=_traceback())
    except KeyboardInterrupt:
        raise  # meant for whoever waits: workers do not hear Ctrl-C
    except BaseException as error:
        # SystemExit too: a detector that calls exit() must not take the worker along.
        text = f"{type(error).__name__}: {error}"
        outcome = Outcome(Status.ERROR, message=text, traceback=_traceback())
    return dataclasses.replace(
        outcome,
        seconds=time.perf_counter() - begin,
        peak_bytes=peak_memory(),
        worker=f"{platform.node()}:{os.getpid()}",
    )


def _traceback() -> str:
    return traceback.format_exc(limit=-20)


def carry_out(task: Task) -> Outcome:
    """Do a task and let errors through.

    Raises
    ------
    Exception
        Whatever the detector raises.
    """
    _import_modules(task)
    return _ACTIONS[task.job.kind](task)


def _import_modules(task: Task) -> None:
    for module in task.imports:
        import_object(module, task.base)


def warm_up(task: Task) -> float:
    """Load and compile what a task needs, before its time begins; return the seconds it took.

    What goes wrong is left to the task itself to tell.

    Examples
    --------
    >>> from vuskit.bench.jobs import ScoreJob
    >>> from vuskit.bench.sources import SeriesSource, describe_series
    >>> from vuskit.bench.specs import DetectorSpec
    >>> series = describe_series(SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1}))
    >>> warm_up(Task(ScoreJob(series, DetectorSpec("pca", "{}", "PCA"), seed=None))) < 60
    True
    """
    begin = time.perf_counter()
    # Anything but KeyboardInterrupt: SystemExit too would take the worker along.
    with contextlib.suppress(Exception, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _import_modules(task)
        _WARM_UPS[task.job.kind](task.job)
    return time.perf_counter() - begin


def _warm_detector(job: ScoreJob) -> None:
    if job.detector.build(job.used_seed).warm_up():
        _seen_detectors.add(job.detector.name)


def _warm_measures(job: EvaluateJob) -> None:
    _compile_once()
    labels = np.arange(_WARM_UP_POINTS) // 10 % 5 == 1
    buffer = BufferChoice(5, "number", "given")
    measures = tuple(measure.build() for measure in job.measures)
    job.evaluation.evaluator(labels, buffer, measures)(np.sin(np.arange(float(len(labels)))))


def load_inputs(task: Task) -> Task:
    """Put the arrays into a task, for a worker that cannot read the files.

    Raises
    ------
    InvalidInputError
        If a file cannot be read.
    """
    job = task.job
    scores = None
    if isinstance(job, ImportJob):
        scores = _external_scores(job)
    elif isinstance(job, EvaluateJob):
        scores = _stored_scores(task)
    return dataclasses.replace(task, series=job.series.load(), scores=scores)


def _score(task: Task) -> Outcome:
    job = task.job
    assert isinstance(job, ScoreJob)
    if not job.detector.accepts(job.series.n_channels):
        raise _NotApplicableError(f"{job.label} takes one channel, {job.series.title} has more")
    series = _series(task)
    detector = job.detector.build(job.used_seed)
    cold = job.detector.name not in _seen_detectors
    _seen_detectors.add(job.detector.name)
    fitting = _Stopwatch(detector._fit)
    # The hook that every detector implements: what is left of fit_score is preparing and scoring.
    detector._fit = fitting  # type: ignore[method-assign]
    begin = time.perf_counter()
    scores = detector.fit_score(series)  # type: ignore[arg-type]
    total = time.perf_counter() - begin
    return Outcome(
        Status.OK,
        scores=scores,
        fit_seconds=fitting.seconds,
        score_seconds=total - fitting.seconds,
        cold=cold,
    )


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


def _import(task: Task) -> Outcome:
    job = task.job
    assert isinstance(job, ImportJob)
    scores = _external_scores(job) if task.scores is None else task.scores
    series = _series(task)
    checked = ScoredSeries(series, {job.label: scores}).scores[job.label]
    return Outcome(Status.OK, scores=np.array(checked))


def _external_scores(job: ImportJob) -> Scores:
    path = Path(job.path)
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)  # type: ignore[no-any-return]
    if job.column is not None:
        return _recent_table(path).numbers(job.column)
    return np.loadtxt(path, delimiter=",", ndmin=1)


# A file holds the scores of many detectors, and their jobs follow each other. Each looks at its
# own column: what is wrong with one is no concern of the others.
@functools.lru_cache(maxsize=1)
def _recent_table(path: Path) -> Table:
    return open_scores(path)


def _evaluate(task: Task) -> Outcome:
    job = task.job
    assert isinstance(job, EvaluateJob)
    if job.series.anomalous_points in (0, job.series.n_points):
        raise _NotApplicableError("the measures are undefined: only one class in the labels")
    scores = _stored_scores(task) if task.scores is None else task.scores
    _compile_once()
    series = _series(task)
    with warnings.catch_warnings():
        # Coarse grids are the plan's choice, and undefined values stay absent.
        warnings.simplefilter("ignore")
        buffer = _buffer(series, job.evaluation)
        measures = tuple(measure.build() for measure in job.measures)
        try:
            found = job.evaluation.evaluator(series.labels, buffer, measures)(scores)
        except MeasureError as error:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
    values = {name: value for name, value in found.items() if np.isfinite(value)}
    return Outcome(
        Status.OK,
        values=values,
        buffer=buffer.length,
        buffer_reason=f"{buffer.strategy}: {buffer.reason}",
    )


@functools.cache
def _compile_once() -> None:
    # Compiled and interpreted sweeps differ in the last digits. Always the compiled one where
    # there is one: so a value does not depend on what else its worker has done.
    if is_installed("numba") and os.environ.get("VUSKIT_NUMBA") != "0":
        vuskit.warm_up()


def _stored_scores(task: Task) -> Scores:
    assert isinstance(task.job, EvaluateJob)
    assert task.scores_path is not None
    scores: Scores = np.load(task.scores_path, allow_pickle=False)
    if scores_digest(scores) != task.job.scores_hash:
        raise InvalidInputError(
            f"{task.scores_path} must hold the scores that were stored, got another content"
        )
    return scores


def _buffer(series: Series, evaluation: EvaluationSpec) -> BufferChoice:
    if not isinstance(evaluation.buffer, str):
        return choose_buffer(evaluation.buffer)
    values = read_values("series", series, impute="linear")
    try:
        return choose_buffer(evaluation.buffer, values=values, y_true=series.labels)
    except InvalidInputError as error:
        if evaluation.buffer_fallback is None:
            raise InvalidInputError(f"{error}; or set `buffer_fallback` in the plan") from error
        return BufferChoice(evaluation.buffer_fallback, "fallback", str(error))


def _series(task: Task) -> Series:
    return task.job.series.load() if task.series is None else task.series


_WARM_UPS: dict[Kind, Callable[[Any], None]] = {
    Kind.SCORE: _warm_detector,
    Kind.EVALUATE: _warm_measures,
}
_ACTIONS: dict[Kind, Callable[[Task], Outcome]] = {
    Kind.SCORE: _score,
    Kind.IMPORT: _import,
    Kind.EVALUATE: _evaluate,
}
