"""Evaluate series with saved scores in memory, in batches, without a run folder."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.text import listed, plural
from vuskit.alignment import fill_missing_ends
from vuskit.bench.plan import usable_cores
from vuskit.bench.saved_scores import SavedSeries, length_problem
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.unique_names import SeriesName, unique_names
from vuskit.engine import (
    Action,
    ExecutorSettings,
    MemoryResults,
    NotApplicableError,
    Outcome,
    Status,
    Task,
    run_tasks,
)
from vuskit.errors import BufferNotFoundError, InvalidInputError, MeasureError, VuskitError
from vuskit.measures.evaluate import NO_BUFFER, Evaluator
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.settings import EvaluationSettings

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EvaluatedScore",
    "EvaluatedSeries",
    "FailedScore",
    "InputEvaluator",
    "InputProgress",
    "Source",
    "Values",
    "evaluate_inputs",
    "split_by_labels",
]

AUTO = "auto"
_ONE_CLASS = "the measures are undefined: only one class in the labels"
_SHOWN = 6
_BATCHES_PER_WORKER = 4
_MOST_PER_BATCH = 16
_FIRST_SECONDS = 0.5  # of series whose time is a fair estimate
_SERIAL_SECONDS = 2.0  # of work that does not repay the start of processes

Floats = NDArray[np.float64]
_FailedMeasures = tuple[tuple[Measure, ...], Exception]


class Source(Protocol):
    """A series with scores that can be read on demand; picklable for several processes."""

    @property
    def name(self) -> str:
        """Data set and series."""

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""


@dataclass(frozen=True)
class FailedScore:
    """Why a score has no values, or none of some measures.

    Attributes
    ----------
    status : Status
        ERROR, OOM, KILLED or SKIPPED.
    message : str
        The reason.
    title : str
        What failed, in words.
    """

    status: Status
    message: str
    title: str


@dataclass(frozen=True)
class EvaluatedScore:
    """Values of one score.

    Attributes
    ----------
    detector : str
        Name of the detector.
    values : tuple of float
        One per measure; NaN if undefined or failed.
    statuses : tuple of Status
        How the computation of each measure ended.
    failures : tuple of FailedScore
        Reasons for missing values.
    filled : int
        Number of points at the ends that had no score and got the nearest one.
    path : Path or None
        File of the score.
    """

    detector: str
    values: tuple[float, ...]
    statuses: tuple[Status, ...]
    failures: tuple[FailedScore, ...] = ()
    filled: int = 0
    path: Path | None = None


@dataclass(frozen=True)
class EvaluatedSeries:
    """Values of the scores of one series.

    Attributes
    ----------
    dataset, name : str
        Data set and name.
    hash : str
        Digest of its content.
    n_points, n_channels, n_anomalies, anomalous_points : int
        Sizes.
    buffer : int or None
        Buffer length; None if none was found or nothing was evaluated.
    buffer_reason : str or None
        How the buffer was chosen, or why there is none.
    scores : tuple of EvaluatedScore
        Values by score.
    sources : tuple of Source
        Where series and scores are read from.
    path : Path or None
        File of the labels.
    train_length : int or None
        Training points that the series declares.
    """

    dataset: str
    name: str
    hash: str
    n_points: int
    n_channels: int
    n_anomalies: int
    anomalous_points: int
    buffer: int | None
    buffer_reason: str | None
    scores: tuple[EvaluatedScore, ...]
    sources: tuple[Source, ...] = ()
    path: Path | None = None
    train_length: int | None = None

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    def read(self) -> ScoredSeries:
        """Read the series and its scores again.

        Raises
        ------
        InvalidInputError
            If a file can no longer be read.
        """
        usable = {one.detector for one in self.scores if Status.ERROR not in one.statuses}
        found = [_only(source, usable).read() for source in self.sources]
        scores = {name: score for one in found[::-1] for name, score in one.scores.items()}
        kept = {one.detector: scores[one.detector] for one in self.scores if one.detector in scores}
        return ScoredSeries(replace(found[0].series, dataset=self.dataset, name=self.name), kept)


@dataclass(frozen=True, eq=False)
class Values:
    r"""Values of many series in memory.

    Attributes
    ----------
    measures : tuple of Measure
        The computed measures.
    settings : EvaluationSettings
        Their settings.
    series : tuple of EvaluatedSeries
        Sorted by data set and name.
    notes : tuple of str
        Notes on unreadable and identical series.
    train_length : int, "auto" or None
        Leading points that were not evaluated.
    lost : tuple of FailedScore
        Series whose process died.
    unread : tuple of FailedScore
        Series that cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile, vuskit
    >>> from vuskit.studies import open_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("value,label,mine\n1,0,0.1\n2,0,0.2\n9,1,0.9\n")
    >>> settings = vuskit.EvaluationSettings(buffer=1)
    >>> values = evaluate_inputs(open_scores(path), measures="auc_pr", settings=settings)
    >>> [(row["series"], row["detector"], row["value"]) for row in values.records()]
    [('a', 'mine', 1.0)]
    """

    measures: tuple[Measure, ...]
    settings: EvaluationSettings
    series: tuple[EvaluatedSeries, ...]
    notes: tuple[str, ...] = ()
    train_length: int | str | None = None
    lost: tuple[FailedScore, ...] = ()
    unread: tuple[FailedScore, ...] = ()

    @property
    def settings_text(self) -> str:
        """Settings and the excluded training part, in one line."""
        length = f", train_length={self.train_length}" if self.train_length else ""
        return f"{self.settings}{length}"

    @property
    def alignments(self) -> tuple[str, ...]:
        """How window scores were aligned to points."""
        saved = [one for series in self.series for one in series.sources]
        found = {
            (one.align or "center", one.window)
            for one in saved
            if isinstance(one, SavedSeries) and one.window is not None
        }
        return tuple(f"{at} of windows of {window:,} points" for at, window in sorted(found))

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the detectors, sorted."""
        return tuple(sorted({one.detector for series in self.series for one in series.scores}))

    @property
    def failures(self) -> tuple[FailedScore, ...]:
        """Everything that failed; scores to which the measures do not apply are not failures."""
        found = (why for series in self.series for one in series.scores for why in one.failures)
        return (*(one for one in found if one.status.failed), *self.lost)

    @property
    def filled(self) -> int:
        """Number of scores that lacked values at the ends."""
        return sum(bool(one.filled) for series in self.series for one in series.scores)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per series, detector and measure; undefined values are None."""
        for series in self.series:
            for score in sorted(series.scores, key=lambda one: one.detector):
                rows = zip(self.measures, score.values, score.statuses, strict=True)
                for measure, value, status in rows:
                    evaluated = status is Status.OK
                    yield {
                        "dataset": series.dataset,
                        "series": series.name,
                        "detector": score.detector,
                        "settings": self.settings_text,
                        "measure": measure.name,
                        "measure_title": measure.title,
                        "higher_is_better": measure.higher_is_better,
                        "status": str(status),
                        "value": None if math.isnan(value) else value,
                        "buffer": series.buffer if evaluated else None,
                        "buffer_reason": series.buffer_reason if evaluated else None,
                    }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per series, detector and measure, as `Run.outcomes` does.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="a table of values")
        frame = pandas.DataFrame(list(self.records()))
        return frame.astype({"value": float, "buffer": "Int64"}) if len(frame) else frame

    def evaluated_part(self, series: Series) -> Series:
        """Return the points of a series that are evaluated."""
        return series.after(_first_point(series, self.train_length))

    def series_settings(self, series: EvaluatedSeries) -> EvaluationSettings:
        """Return the settings of a series' evaluation, with the chosen buffer."""
        if series.buffer is None:
            return self.settings
        strategy, _, reason = (series.buffer_reason or "number: given").partition(": ")
        return self.settings.replace(buffer=BufferChoice(series.buffer, strategy, reason))


@dataclass(frozen=True)
class InputProgress:
    """Progress of `evaluate_inputs`.

    Attributes
    ----------
    done, total : int
        Number of evaluated series, and of all.
    seconds_left : float or None
        Estimated remaining time; None before the first series is evaluated.
    """

    done: int
    total: int
    seconds_left: float | None = None


def evaluate_inputs(
    inputs: Iterable[Source],
    *,
    measures: Measures = "paper",
    settings: EvaluationSettings,
    train_length: int | str | None = None,
    executor: ExecutorSettings | None = None,
    progress: Callable[[InputProgress], None] | None = None,
) -> Values:
    """Evaluate the scores of many series in memory.

    Series that cannot be read become notes. A score or measure that fails leaves out its values.

    Parameters
    ----------
    inputs : iterable of Source
        Series with scores, such as `vuskit.bench.saved_scores.SavedSeries`.
    measures : "paper", "extra", "all", name, title, function, or iterable of these, default="paper"
        Measures to compute.
    settings : EvaluationSettings
        Settings of the measures.
    train_length : int, "auto" or None
        Leading points to exclude; "auto": the training part that a series declares.
    executor : ExecutorSettings, optional
        Where to run. Default: in this process, or one process per core if that saves time.
    progress : callable, optional
        Called with an `InputProgress` after each series.

    Returns
    -------
    Values
        The values, with statuses and notes.

    Raises
    ------
    InvalidInputError
        If no series can be read, or `train_length` fits none of them.
    """
    evaluator = InputEvaluator(resolve_measures(measures), settings, train_length)
    sources = [part for one in inputs for part in split_by_labels(one)]
    report = progress or (lambda _: None)
    found = _evaluate_here(evaluator, sources, executor, report)
    found += _evaluate_in_processes(evaluator, sources, len(found), executor, report)
    values = evaluator.collect(found)
    if not values.series and not values.lost:
        raise InvalidInputError(
            f"`inputs` must hold at least one readable series, got none: {'; '.join(values.notes)}"
        )
    return values


def _evaluate_here(
    evaluator: InputEvaluator,
    sources: Sequence[Source],
    executor: ExecutorSettings | None,
    report: Callable[[InputProgress], None],
) -> list[EvaluatedSeries | FailedScore]:
    """Evaluate series until processes would save time."""
    alone = executor is not None and executor.kind == "local" and executor.workers == 1
    if executor is not None and not alone:
        return []
    begin = time.perf_counter()
    found: list[EvaluatedSeries | FailedScore] = []
    for source in sources:
        found.append(evaluator.evaluate(source))
        spent, left = time.perf_counter() - begin, len(sources) - len(found)
        seconds_left = spent / len(found) * left
        report(InputProgress(len(found), len(sources), seconds_left))
        if not alone and spent > _FIRST_SECONDS and seconds_left > _SERIAL_SECONDS:
            break
    return found


def _evaluate_in_processes(
    evaluator: InputEvaluator,
    sources: Sequence[Source],
    before: int,
    executor: ExecutorSettings | None,
    report: Callable[[InputProgress], None],
) -> list[EvaluatedSeries | FailedScore]:
    """Evaluate the series that are left in worker processes, several at a time."""
    left = sources[before:]
    if not left:
        return []
    used = executor or ExecutorSettings("local", usable_cores())
    size = math.ceil(len(left) / (used.workers * _BATCHES_PER_WORKER))
    size = min(size, _MOST_PER_BATCH)
    batches = [left[start : start + size] for start in range(0, len(left), size)]
    tasks = [
        Task(f"{place}", f"evaluate {some[0].name}", partial(_Batch, evaluator, tuple(some)))
        for place, some in enumerate(batches)
    ]
    begin, done = time.perf_counter(), 0

    def count(task: Task, _: Outcome) -> None:
        nonlocal done
        done += len(batches[int(task.key)])
        seconds_left = (time.perf_counter() - begin) / done * (len(left) - done)
        report(InputProgress(before + done, len(sources), seconds_left))

    found: list[EvaluatedSeries | FailedScore] = []
    results = MemoryResults()
    run_tasks(tasks, results=results, executor=used, on_outcome=count)
    for task, some in zip(tasks, batches, strict=True):
        outcome = results.outcomes[task.key]
        found += outcome.value or [
            FailedScore(outcome.status, outcome.message or "", f"evaluate {source.name}")
            for source in some
        ]
    return found


def _only(source: Source, detectors: set[str]) -> Source:
    """Return a source without unusable scores, unless all are."""
    if not isinstance(source, SavedSeries):
        return source
    kept = tuple(one for one in source.scores if one.detector in detectors)
    return replace(source, scores=kept or source.scores)


def split_by_labels(source: Source) -> Sequence[Source]:
    """Split a source whose scores have labels in several files, which need not agree."""
    return source.by_labels() if isinstance(source, SavedSeries) else (source,)


# -- one series --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A score as read from its file, or why it is unusable."""

    detector: str
    numbers: Floats | None
    error: Exception | None = None
    filled: int = 0
    path: Path | None = None

    def said(self, measures: Sequence[Measure]) -> str:
        """Describe the evaluation, or the import of an unusable score."""
        if self.error is not None:
            return f"import {self.detector} (external)"
        named = measures[0].name if len(measures) == 1 else f"{len(measures)} measures"
        return f"evaluate {named} of {self.detector}"


@dataclass(frozen=True)
class _Loaded:
    """A series with its scores, for workers without access to our files."""

    source: Source
    series: Series
    scores: tuple[_Read, ...]

    @property
    def name(self) -> str:
        return self.source.name

    def read(self) -> ScoredSeries:
        return self.source.read()


@dataclass(frozen=True)
class _Batch(Action):
    """Some series, for a worker process."""

    evaluator: InputEvaluator
    sources: tuple[Source, ...]

    def load(self) -> _Batch:
        return replace(self, sources=tuple(map(_loaded, self.sources)))

    def run(self) -> list[EvaluatedSeries | FailedScore]:
        return [self.evaluator.evaluate(source) for source in self.sources]


@dataclass(frozen=True)
class InputEvaluator:
    """Evaluates one series after the other; `collect` makes a table of them."""

    measures: tuple[Measure, ...]
    settings: EvaluationSettings
    train_length: int | str | None = None

    def evaluate(self, source: Source) -> EvaluatedSeries | FailedScore:
        """Evaluate the scores of a series; one that cannot be read is SKIPPED."""
        try:
            series, scores = _read(source)
        except (VuskitError, OSError) as error:
            return FailedScore(Status.SKIPPED, str(error), f"evaluate {source.name}")
        origin = source.source if isinstance(source, _Loaded) else source
        path = origin.scores[0].labels.path if isinstance(origin, SavedSeries) else None
        buffer, reason, found = self._evaluated(series, scores)
        return EvaluatedSeries(
            dataset=series.dataset,
            name=series.name,
            hash=_digest(series),
            n_points=series.n_points,
            n_channels=series.n_channels,
            n_anomalies=series.n_anomalies,
            anomalous_points=series.anomalous_points,
            buffer=buffer,
            buffer_reason=reason,
            scores=found,
            sources=(origin,),
            path=path,
            train_length=series.train_length,
        )

    def collect(self, found: Sequence[EvaluatedSeries | FailedScore]) -> Values:
        """Merge series with equal content, give them unique names, and note what is unusual."""
        missing = [one for one in found if isinstance(one, FailedScore)]
        unread = [one for one in missing if one.status is Status.SKIPPED]
        notes = [f"skipped a series that cannot be read: {one.message}" for one in unread]
        merged = _merged([one for one in found if isinstance(one, EvaluatedSeries)], notes)
        notes += _training_notes(merged, self.train_length)
        return Values(
            measures=self.measures,
            settings=self.settings,
            series=tuple(sorted(merged, key=lambda one: (one.dataset, one.name))),
            notes=tuple(notes),
            train_length=self.train_length,
            lost=tuple(one for one in missing if one.status is not Status.SKIPPED),
            unread=tuple(unread),
        )

    def _evaluated(
        self, series: Series, scores: Sequence[_Read]
    ) -> tuple[int | None, str | None, tuple[EvaluatedScore, ...]]:
        """Return the buffer, its reason, and the values of each score."""
        title, first = f"{series.dataset}/{series.name}", _first_point(series, self.train_length)
        buffer: tuple[int | None, str | None] = None, None
        try:
            _check_classes(series, "")
            if first:
                series = series.after(first)
                _check_classes(series, " after the training part")
            evaluator = self._evaluator(series, self.measures)
            buffer = evaluator.buffer_record
        except Exception as error:
            failed = [(self.measures, error)]
            return *buffer, tuple(self._result(one, title, {}, failed) for one in scores)
        found = [
            self._result(one, title, {}, [])
            if one.numbers is None
            else self._result(one, title, *self._computed(evaluator, series, one.numbers[first:]))
            for one in scores
        ]
        return *buffer, tuple(found)

    def _evaluator(self, series: Series, measures: tuple[Measure, ...]) -> Evaluator:
        try:
            with warnings.catch_warnings():
                # The user chose any coarse grid, and undefined values are simply missing.
                warnings.simplefilter("ignore")
                return Evaluator(
                    series.labels, measures=measures, settings=self.settings, values=series.values
                )
        except BufferNotFoundError as error:
            raise NotApplicableError(f"{NO_BUFFER}{error}") from error

    def _computed(
        self, evaluator: Evaluator, series: Series, numbers: Floats
    ) -> tuple[dict[str, float], list[_FailedMeasures]]:
        """Return the values of a score, and measures that failed; the user's fail one by one."""
        try:
            return _values(evaluator, numbers), []
        except MeasureError:
            values: dict[str, float] = {}
        except Exception as error:
            return {}, [(self.measures, error)]
        failed: list[_FailedMeasures] = []
        own = [one for one in self.measures if not one.function.__module__.startswith("vuskit.")]
        package = tuple(one for one in self.measures if one not in own)
        for part in (package, *((one,) for one in own)):
            try:
                values |= _values(self._evaluator(series, part), numbers) if part else {}
            except Exception as error:
                failed.append((part, error))
        return values, failed

    def _result(
        self,
        one: _Read,
        title: str,
        values: Mapping[str, float],
        failed: Sequence[_FailedMeasures],
    ) -> EvaluatedScore:
        if one.error is not None:
            failed = [(self.measures, one.error)]
        statuses = {measure.name: _status(error) for part, error in failed for measure in part}
        names = [measure.name for measure in self.measures]
        return EvaluatedScore(
            detector=one.detector,
            values=tuple(values.get(name, math.nan) for name in names),
            statuses=tuple(statuses.get(name, Status.OK) for name in names),
            failures=tuple(
                FailedScore(_status(error), _message(error), f"{one.said(part)} on {title}")
                for part, error in failed
            ),
            filled=one.filled,
            path=one.path,
        )


def _check_classes(series: Series, where: str) -> None:
    if series.anomalous_points in (0, series.n_points):
        raise NotApplicableError(f"{_ONE_CLASS}{where}")


def _digest(series: Series) -> str:
    """Return a digest of a series; those without values differ even if their labels agree."""
    if not np.isnan(series.values).all():
        return series.content_hash
    names = f"{series.content_hash} {series.dataset}/{series.name}"
    return hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest()


def _first_point(series: Series, train_length: int | str | None) -> int:
    """Return the first point that is evaluated."""
    return int(series.train_length or 0) if train_length == AUTO else int(train_length or 0)


def _values(evaluator: Evaluator, numbers: Floats) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = evaluator(numbers)
        except MeasureError as error:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
    return {name: value if math.isfinite(value) else math.nan for name, value in found.items()}


def _status(error: Exception) -> Status:
    if isinstance(error, NotApplicableError):
        return Status.SKIPPED
    return Status.OOM if isinstance(error, MemoryError) else Status.ERROR


def _message(error: Exception) -> str:
    applies = not isinstance(error, NotApplicableError)
    return f"{type(error).__name__}: {error}" if applies else str(error)


def _loaded(source: Source) -> Source:
    try:
        return _Loaded(source, *_read(source))
    except (VuskitError, OSError):
        return source  # the worker reports the error


def _read(source: Source) -> tuple[Series, tuple[_Read, ...]]:
    """Read a series and its scores; scores of saved files may be unusable one by one."""
    if isinstance(source, _Loaded):
        return source.series, source.scores
    if isinstance(source, SavedSeries):
        series = source.read_series()
        return series, tuple(_read_scores(source, series))
    scored = source.read()
    return scored.series, tuple(_Read(name, numbers) for name, numbers in scored.scores.items())


def _read_scores(source: SavedSeries, series: Series) -> Iterator[_Read]:
    for one, columns in source.read_columns():
        try:
            numbers = columns.scores(one.column)
            aligned = source.aligned(numbers, series.n_points)
            if aligned is None:
                # The message names no file, so that failures with the same cause are grouped.
                problem = length_problem(numbers.size, series.n_points)
                raise InvalidInputError(f"there must be one score per label, got {problem}")
            filled = 0
            if not np.isfinite(aligned[[0, -1]]).all():
                ends = fill_missing_ends(aligned)
                aligned, filled = ends.scores, ends.leading + ends.trailing
            checked = ScoredSeries(series, {one.detector: aligned}).scores[one.detector]
        except (VuskitError, OSError) as error:
            yield _Read(one.detector, None, error, path=one.path)
            continue
        yield _Read(one.detector, checked, None, filled, one.path)


# -- many series -------------------------------------------------------------------------------


def _merged(found: Sequence[EvaluatedSeries], notes: list[str]) -> list[EvaluatedSeries]:
    """Return series with distinct content and unique names.

    The same series under two names would count twice in every mean.
    """
    groups: dict[str, list[EvaluatedSeries]] = {}
    for one in found:
        groups.setdefault(one.hash, []).append(one)
    firsts = [same[0] for same in groups.values()]
    names = [(one.dataset, one.name) for one in firsts]
    if len(set(names)) < len(names):
        names = unique_names(
            [SeriesName(one.dataset, one.name, one.path, one.hash) for one in firsts]
        )
    merged = []
    for same, (dataset, name) in zip(groups.values(), names, strict=True):
        scores: dict[str, EvaluatedScore] = {}
        for score in (score for one in same for score in one.scores):
            known = scores.setdefault(score.detector, score)
            if not _agree(known, score):
                notes.append(
                    f"{score.path} is ignored: its scores of {score.detector} on {dataset}/{name} "
                    f"differ from those in {known.path}, although values and labels are the same"
                )
        sources = tuple(source for one in same for source in one.sources)
        kept = tuple(scores.values())
        merged.append(replace(same[0], dataset=dataset, name=name, scores=kept, sources=sources))
    return merged


def _agree(first: EvaluatedScore, second: EvaluatedScore) -> bool:
    return first is second or np.array_equal(first.values, second.values, equal_nan=True)


def _training_notes(
    series: Sequence[EvaluatedSeries], train_length: int | str | None
) -> Iterator[str]:
    """Describe training parts that are evaluated, and series without a known training part."""
    declared = [one for one in series if 0 < (one.train_length or 0) < one.n_points]
    if isinstance(train_length, int) and series:
        longest = max(one.n_points for one in series)
        if longest <= train_length:
            raise InvalidInputError(
                f"`train_length` must be less than the {longest:,} points of the longest series, "
                f"got {train_length:,}; choose a smaller number"
            )
    if declared and train_length is None:
        yield (
            f"{plural(len(declared), 'series starts', 'series start')} with training data, "
            f"according to the file name, and this part is evaluated too ({declared[0].title}: "
            f"{declared[0].train_length:,} points); "
            'train_length = "auto" leaves it out, train_length = 0 hides this note'
        )
    if train_length == AUTO:
        unknown = [one for one in series if one.train_length is None]
        if unknown and len(unknown) == len(series):
            raise InvalidInputError(
                '`train_length = "auto"` needs files with names such as '
                "001_NAB_id_1_Web_tr_500_1st_800.csv, got none "
                f"({unknown[0].name}, ...); give the number of training points"
            )
        if unknown:
            yield (
                f"{plural(len(unknown), 'series has', 'series have')} no known training part and "
                f"{'is' if len(unknown) == 1 else 'are'} evaluated in full: "
                f"{listed([one.title for one in unknown], most=_SHOWN)}"
            )
