"""Evaluate series with saved scores in memory, in batches, without a run folder."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.text import listed, plural
from vuskit.bench.jobs import (
    TrainingPart,
    TrainLength,
    check_classes,
    evaluated_from,
    make_evaluator,
    measure_scores,
    settings_text,
    training_notes,
)
from vuskit.bench.plan import usable_cores
from vuskit.bench.run import Failure
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.inputs import (
    FileSource,
    Loaded,
    LoadedScore,
    Source,
    TableSource,
    alignment_texts,
    load_source,
)
from vuskit.datasets.row_times import Decision, summarized
from vuskit.datasets.series import SeriesName, content_hash, unique_names
from vuskit.engine import (
    Action,
    ExecutorSettings,
    MemoryResults,
    Outcome,
    Status,
    Task,
    run_tasks,
)
from vuskit.engine.tasks import NotApplicableError
from vuskit.errors import InvalidInputError, MeasureError, VuskitError
from vuskit.inputs import missing_note
from vuskit.intervals import Ints
from vuskit.measures.batch import can_batch, evaluate_batch, find_valid_series
from vuskit.measures.breakdown import alarms_text
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.results import inverted_note
from vuskit.measures.settings import EvaluationSettings

if TYPE_CHECKING:
    import pandas as pd

_BATCHES_PER_WORKER = 4
_MOST_PER_BATCH = 16
_SHOWN = 6
_ROWS = 1 << 17  # of a long table, evaluated together
_FIRST_SECONDS = 0.5  # of series whose time is a fair estimate
_SERIAL_SECONDS = 2.0  # of work that does not repay the start of processes

Floats = NDArray[np.float64]
Progress = Callable[[int, int, float], None]
_FailedMeasures = tuple[tuple[Measure, ...], Exception]


@dataclass(frozen=True, slots=True)
class EvaluatedScore:
    """Values of one score: one per measure, NaN if undefined or failed."""

    detector: str
    values: tuple[float, ...]
    statuses: tuple[Status, ...]
    failures: tuple[Failure, ...] = ()
    messages: Mapping[str, str] = field(default_factory=dict, hash=False)  # by measure
    filled: int = 0  # points at the ends without a score, which got the nearest one
    missing: int = 0  # points without a score, which rank below all others
    path: Path | None = None
    aligned: tuple[str, int] | None = None  # anchor and length of the windows


@dataclass(frozen=True, slots=True)
class EvaluatedSeries:
    """A series with the values of its scores."""

    dataset: str
    name: str
    hash: str
    n_points: int
    n_anomalies: int
    anomalous_points: int
    train_length: int | None  # as declared by the file
    evaluated_from: int
    buffer: int | None
    buffer_reason: str | None  # how the buffer was chosen; None if nothing was evaluated
    scores: tuple[EvaluatedScore, ...]
    sources: tuple[Source, ...]
    path: Path | None = None
    excess_of_buffer: str | None = None  # why random scores get high values
    decisions: tuple[Decision, ...] = ()  # about rows and intervals

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    def read(self) -> ScoredSeries:
        """Read the series and its usable scores again."""
        usable = {one.detector for one in self.scores if Status.ERROR not in one.statuses}
        found = [_only(source, usable).read() for source in self.sources]
        scores = {name: score for one in found[::-1] for name, score in one.scores.items()}
        kept = {one.detector: scores[one.detector] for one in self.scores if one.detector in scores}
        return ScoredSeries(replace(found[0].series, dataset=self.dataset, name=self.name), kept)


def _only(source: Source, detectors: set[str]) -> Source:
    """Return a source without unusable scores, unless all are."""
    if not isinstance(source, FileSource):
        return source
    kept = tuple(one for one in source.scores if one.detector in detectors)
    return replace(source, scores=kept or source.scores)


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
        Names, sizes, buffer and scores, sorted by data set and name.
    notes : tuple of str
        Notes on unreadable and identical series.
    train_length : int, "auto" or None
        Leading points that were not evaluated.
    lost : tuple of Failure
        Series whose process died.
    unread : tuple of Failure
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
    train_length: TrainLength = None
    lost: tuple[Failure, ...] = ()
    unread: tuple[Failure, ...] = ()

    @property
    def settings_text(self) -> str:
        """Settings and the excluded training part, in one line."""
        return settings_text(self.settings, self.train_length)

    def alignments(self) -> tuple[str, ...]:
        """How window scores were aligned to points."""
        scores = [one for series in self.series for one in series.scores]
        return alignment_texts((one.detector, *one.aligned) for one in scores if one.aligned)

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the detectors, sorted."""
        return tuple(sorted({one.detector for series in self.series for one in series.scores}))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Everything that failed; scores to which the measures do not apply are not failures."""
        found = (why for series in self.series for one in series.scores for why in one.failures)
        return (*(one for one in found if one.status.failed), *self.lost)

    @property
    def n_values(self) -> int:
        """Number of values that are defined."""
        scores = (score for series in self.series for score in series.scores)
        return sum(not math.isnan(value) for score in scores for value in score.values)

    @property
    def filled(self) -> int:
        """Number of scores that lacked values at the ends."""
        return sum(bool(one.filled) for series in self.series for one in series.scores)

    def inverted_note(self) -> str:
        """Return a warning about detectors whose scores look inverted; empty without any."""
        found: dict[str, dict[str, float]] = {}
        names = [measure.name for measure in self.measures]
        if "auc_roc" not in names:
            return ""
        place = names.index("auc_roc")
        for series, score in self.scores():
            if not math.isnan(value := score.values[place]):
                found.setdefault(score.detector, {})[series.title] = value
        sizes = {one.title: (one.n_points, one.n_anomalies) for one in self.series}
        return inverted_note(found, sizes)

    def scores(self) -> Iterator[tuple[EvaluatedSeries, EvaluatedScore]]:
        """Yield every score with its series, sorted by data set, series and detector."""
        for series in self.series:
            for score in sorted(series.scores, key=lambda one: one.detector):
                yield series, score

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per series, detector and measure; undefined values are None."""
        settings = self.settings_text
        for series, score in self.scores():
            rows = zip(self.measures, score.values, score.statuses, strict=True)
            for measure, value, status in rows:
                evaluated = status is Status.OK
                yield {
                    "dataset": series.dataset,
                    "series": series.name,
                    "detector": score.detector,
                    "settings": settings,
                    "measure": measure.name,
                    "measure_title": measure.title,
                    "higher_is_better": measure.higher_is_better,
                    "status": str(status),
                    "value": None if math.isnan(value) else value,
                    "buffer": series.buffer if evaluated else None,
                    "buffer_reason": series.buffer_reason if evaluated else None,
                    "message": score.messages.get(measure.name),
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

    def evaluated_from(self, series: EvaluatedSeries, settings: str) -> int:
        """Return the first point that is evaluated, as `Run.evaluated_from` does."""
        return series.evaluated_from

    def evaluation_measures(self, series: EvaluatedSeries, settings: str) -> dict[str, Measure]:
        """Return the measures by name."""
        return {measure.name: measure for measure in self.measures}

    def evaluation_settings(
        self, series: EvaluatedSeries, settings: str
    ) -> EvaluationSettings | None:
        """Return the settings with the chosen buffer; None if nothing was evaluated."""
        if series.buffer is None or series.buffer_reason is None:
            return None if series.buffer_reason is None else self.settings
        strategy, _, reason = series.buffer_reason.partition(": ")
        return self.settings.replace(buffer=BufferChoice(series.buffer, strategy, reason))


def evaluate_inputs(
    inputs: Iterable[Source],
    *,
    measures: Measures = "paper",
    settings: EvaluationSettings,
    train_length: TrainLength = None,
    executor: ExecutorSettings | None = None,
    progress: Progress | None = None,
) -> Values:
    """Evaluate the scores of many series in memory.

    Series that cannot be read become notes. A score or measure that fails leaves out its values.

    Parameters
    ----------
    inputs : iterable of Source
        Series with scores, such as those of `vuskit.datasets.open_inputs`.
    measures : "paper", "extra", "all", name, title, function, or iterable of these, default="paper"
        Measures to compute.
    settings : EvaluationSettings
        Settings of the measures.
    train_length : int, "auto" or None
        Leading points to exclude; "auto": the training part that a series declares.
    executor : ExecutorSettings, optional
        Where to run. Default: in this process, or one process per core if that saves time.
    progress : callable, optional
        Called after each series with the number of evaluated series, that of all, and the
        estimated seconds left.

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
    sources = list(inputs)
    report = progress or (lambda done, total, seconds_left: None)
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
    report: Progress,
) -> list[EvaluatedSeries | Failure]:
    """Evaluate series until processes would save time."""
    alone = executor is not None and executor.kind == "local" and executor.workers == 1
    if executor is not None and not alone:
        return []
    begin = time.perf_counter()
    found: list[EvaluatedSeries | Failure] = []
    for part in _parts(sources, 1):
        found += evaluator.evaluate_several(part)
        spent, left = time.perf_counter() - begin, len(sources) - len(found)
        seconds_left = spent / len(found) * left
        report(len(found), len(sources), seconds_left)
        if not alone and spent > _FIRST_SECONDS and seconds_left > _SERIAL_SECONDS:
            break
    return found


def _evaluate_in_processes(
    evaluator: InputEvaluator,
    sources: Sequence[Source],
    before: int,
    executor: ExecutorSettings | None,
    report: Progress,
) -> list[EvaluatedSeries | Failure]:
    """Evaluate the series that are left in worker processes, several at a time."""
    left = sources[before:]
    if not left:
        return []
    used = executor or ExecutorSettings("local", usable_cores())
    size = math.ceil(len(left) / (used.workers * _BATCHES_PER_WORKER))
    batches = list(_parts(left, min(size, _MOST_PER_BATCH)))
    tasks = [
        Task(f"{place}", f"evaluate {some[0].name}", partial(_Batch, evaluator, tuple(some)))
        for place, some in enumerate(batches)
    ]
    begin, done = time.perf_counter(), 0

    def count(task: Task, _: Outcome) -> None:
        nonlocal done
        done += len(batches[int(task.key)])
        seconds_left = (time.perf_counter() - begin) / done * (len(left) - done)
        report(before + done, len(sources), seconds_left)

    found: list[EvaluatedSeries | Failure] = []
    results = MemoryResults()
    run_tasks(tasks, results=results, executor=used, on_outcome=count)
    for task, some in zip(tasks, batches, strict=True):
        outcome = results.outcomes[task.key]
        found += outcome.value or [
            _lost(source, outcome.status, outcome.message or "") for source in some
        ]
    return found


def _parts(sources: Iterable[Source], size: int) -> Iterator[tuple[Source, ...]]:
    """Split sources into parts: some series, or adjacent series of a long table."""
    part: list[Source] = []
    for one in sources:
        if part and not _continues(part, one, size):
            yield tuple(part)
            part = []
        part.append(one)
    if part:
        yield tuple(part)


def _continues(part: Sequence[Source], one: Source, size: int) -> bool:
    first, last = part[0], part[-1]
    if isinstance(first, TableSource) and isinstance(last, TableSource):
        return (
            isinstance(one, TableSource)
            and one.table is first.table
            and one.start == last.stop
            and one.stop - first.start <= _ROWS
        )
    return not isinstance(one, TableSource) and len(part) < size


def _lost(source: Source, status: Status, message: str) -> Failure:
    return Failure(status=status, message=message, title=f"evaluate {source.name}")


# -- one series --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Batch(Action):
    """Some series, for a worker process."""

    evaluator: InputEvaluator
    sources: tuple[Source, ...]
    loaded: tuple[Loaded | Failure, ...] | None = None

    def load(self) -> _Batch:
        nan = self.evaluator.settings.nan
        return replace(self, loaded=tuple(_load(one, nan) for one in self.sources))

    def run(self) -> list[EvaluatedSeries | Failure]:
        if self.loaded is None:
            return self.evaluator.evaluate_several(self.sources)
        return list(map(self.evaluator.evaluate_loaded, self.sources, self.loaded))


def _load(source: Source, nan: str) -> Loaded | Failure:
    try:
        return load_source(source, nan)
    except (VuskitError, OSError) as error:
        return _lost(source, Status.SKIPPED, str(error))


@dataclass(frozen=True)
class InputEvaluator:
    """Evaluates one series after the other; `collect` makes a table of them."""

    measures: tuple[Measure, ...]
    settings: EvaluationSettings
    train_length: TrainLength = None

    def evaluate(self, source: Source) -> EvaluatedSeries | Failure:
        """Evaluate the scores of a series; one that cannot be read is SKIPPED."""
        return self.evaluate_loaded(source, _load(source, self.settings.nan))

    def evaluate_several(self, sources: Sequence[Source]) -> list[EvaluatedSeries | Failure]:
        """Evaluate some series; the rows of a long table are read and checked together."""
        found: list[EvaluatedSeries | Failure] = []
        for part in _parts(sources, len(sources)):
            rows = [one for one in part if isinstance(one, TableSource)]
            if rows and rows[0].table.intervals is None and not self.train_length:
                found += self._evaluate_rows(rows)
            else:
                found += map(self.evaluate, part)
        return found

    def _evaluate_rows(self, sources: Sequence[TableSource]) -> list[EvaluatedSeries | Failure]:
        """Evaluate adjacent series of a long table; those with problems one by one."""
        table, begin = sources[0].table, sources[0].start
        roles = table.found.roles
        try:
            rows = table.rows(begin, sources[-1].stop)
            labels = table.labels(rows)
            offsets = np.array([*(one.start for one in sources), sources[-1].stop]) - begin
            in_order = table.in_order(rows, offsets)
            scores = [rows.scores(name) for name in roles.scores]
            values = [rows.numbers(name) for name in roles.value]
        except (VuskitError, OSError):
            return list(map(self.evaluate, sources))
        valid = find_valid_series(labels, scores, offsets) & (len(values) < 2) & in_order
        n_anomalous = np.add.reduceat(labels, offsets[:-1], dtype=np.intp).tolist()
        rises = labels.copy()
        rises[1:] &= ~labels[:-1]
        rises[offsets[:-1]] = labels[offsets[:-1]]
        n_events = np.add.reduceat(rises, offsets[:-1], dtype=np.intp).tolist()
        together = self._areas(labels, scores, offsets, valid, has_values=bool(values))
        found: list[EvaluatedSeries | Failure] = []
        for place, source in enumerate(sources):
            if not valid[place]:
                found.append(self.evaluate(source))
                continue
            part, train = slice(offsets[place], offsets[place + 1]), source.train_length
            own = values[0][part] if values else np.full(source.stop - source.start, np.nan)
            own_labels = labels[part]
            try:
                numbers, buffer, excess = together.get(place) or self._values(
                    own_labels, own, [score[part] for score in scores]
                )
            except Exception:
                found.append(self.evaluate(source))  # records the failure of each score
                continue
            found.append(
                EvaluatedSeries(
                    dataset=source.dataset,
                    name=source.series,
                    hash=_digest(own, own_labels, source, train),
                    n_points=own_labels.size,
                    n_anomalies=n_events[place],
                    anomalous_points=n_anomalous[place],
                    train_length=train,
                    evaluated_from=0,
                    buffer=buffer[0],
                    buffer_reason=buffer[1],
                    excess_of_buffer=excess,
                    scores=tuple(
                        EvaluatedScore(name, tuple(one), self._all_ok, path=table.path)
                        for name, one in zip(roles.scores, numbers, strict=True)
                    ),
                    sources=(source,),
                    path=table.path,
                )
            )
        return found

    def _values(
        self, labels: NDArray[np.bool_], values: Floats, scores: Sequence[Floats]
    ) -> tuple[list[list[float]], tuple[int | None, str], str | None]:
        """Return the values of each score, the buffer, and why it is too long."""
        evaluator = make_evaluator(labels, values, self.measures, self.settings)
        found = [measure_scores(evaluator, score) for score in scores]
        numbers = [[one.get(m.name, math.nan) for m in self.measures] for one in found]
        return numbers, evaluator.buffer_record, evaluator._excess_of_buffer

    @cached_property
    def _all_ok(self) -> tuple[Status, ...]:
        return (Status.OK,) * len(self.measures)

    def _areas(
        self,
        labels: NDArray[np.bool_],
        scores: Sequence[Floats],
        offsets: Ints,
        valid: NDArray[np.bool_],
        *,
        has_values: bool,
    ) -> dict[int, tuple[Any, tuple[int, str], str | None]]:
        """Return the same for valid series by place, if all measures can be computed together."""
        if not valid.any() or not can_batch(self.measures, self.settings, has_values=has_values):
            return {}
        lengths = np.diff(offsets)
        if not valid.all():
            kept = np.repeat(valid, lengths)
            labels, scores = labels[kept], [score[kept] for score in scores]
            offsets = np.append(0, np.cumsum(lengths[valid]))
        names = [measure.name for measure in self.measures]
        try:
            found = evaluate_batch(labels, scores, offsets, self.settings, names)
        except VuskitError:
            return {}
        places = valid.nonzero()[0].tolist()
        values = np.where(np.isfinite(found.values), found.values, np.nan).tolist()
        rows = zip(values, found.buffers, found.excess, strict=True)
        return dict(zip(places, rows, strict=True))

    def evaluate_loaded(
        self, source: Source, loaded: Loaded | Failure
    ) -> EvaluatedSeries | Failure:
        """Evaluate the scores of a series that was read."""
        if isinstance(loaded, Failure):
            return loaded
        series = loaded.series
        first = evaluated_from(series, self.train_length)
        evaluator: Evaluator | Exception
        buffer: tuple[int | None, str | None] = None, None
        excess = None
        part = series
        try:
            check_classes(series)
            part = series.after(first) if first else series
            check_classes(part, " after the training part")
            evaluator = make_evaluator(part.labels, part.values, self.measures, self.settings)
            buffer, excess = evaluator.buffer_record, evaluator._excess_of_buffer
        except Exception as error:
            evaluator = error
        return EvaluatedSeries(
            dataset=series.dataset,
            name=series.name,
            hash=_digest(series.values, series.labels, series, series.train_length),
            n_points=series.n_points,
            n_anomalies=series.n_anomalies,
            anomalous_points=series.anomalous_points,
            train_length=series.train_length,
            evaluated_from=first,
            buffer=buffer[0],
            buffer_reason=buffer[1],
            scores=tuple(self._evaluated(one, evaluator, part, first) for one in loaded.scores),
            sources=(source,),
            path=loaded.path,
            excess_of_buffer=excess,
            decisions=loaded.decisions,
        )

    def _evaluated(
        self, one: LoadedScore, evaluator: Evaluator | Exception, series: Series, first: int
    ) -> EvaluatedScore:
        values: Mapping[str, float] = {}
        what, alarms = "evaluate", ""
        if isinstance(one.numbers, Exception):
            what, failed = "import", [(self.measures, one.numbers)]
        elif isinstance(evaluator, Exception):
            failed = [(self.measures, evaluator)]
            if not series.anomalous_points:
                alarms = alarms_text(one.numbers[first:], self.settings)
        else:
            values, failed = self._computed(evaluator, series, one.numbers[first:])
        statuses = {measure.name: _status(error) for part, error in failed for measure in part}
        names = [measure.name for measure in self.measures]
        return EvaluatedScore(
            detector=one.detector,
            values=tuple(values.get(name, math.nan) for name in names),
            statuses=tuple(statuses.get(name, Status.OK) for name in names),
            failures=tuple(
                Failure(
                    status=_status(error),
                    message=_message(error),
                    title=f"{_title(what, part, one.detector)} on {series.dataset}/{series.name}",
                )
                for part, error in failed
            ),
            messages={
                measure.name: _message(error).partition("\n")[0] + alarms
                for part, error in failed
                for measure in part
            },
            filled=one.filled,
            missing=one.missing,
            path=one.path,
            aligned=one.aligned,
        )

    def _computed(
        self, evaluator: Evaluator, series: Series, numbers: Floats
    ) -> tuple[dict[str, float], list[_FailedMeasures]]:
        """Return the values of a score, and measures that failed; the user's fail one by one."""
        try:
            return measure_scores(evaluator, numbers), []
        except MeasureError:
            values: dict[str, float] = {}
        except Exception as error:
            return {}, [(self.measures, error)]
        failed: list[_FailedMeasures] = []
        own = [one for one in self.measures if not one.function.__module__.startswith("vuskit.")]
        package = tuple(one for one in self.measures if one not in own)
        for part in (package, *((one,) for one in own)):
            try:
                alone = (
                    make_evaluator(series.labels, series.values, part, self.settings)
                    if part
                    else None
                )
                values |= measure_scores(alone, numbers) if alone else {}
            except Exception as error:
                failed.append((part, error))
        return values, failed

    def collect(self, found: Sequence[EvaluatedSeries | Failure]) -> Values:
        """Merge series with equal content, give them unique names, and note what is unusual."""
        missing = [one for one in found if isinstance(one, Failure)]
        unread = [one for one in missing if one.status is Status.SKIPPED]
        notes = [f"skipped a series that cannot be read: {one.message}" for one in unread]
        merged = _merged([one for one in found if isinstance(one, EvaluatedSeries)], notes)
        notes += summarized(decision for one in merged for decision in one.decisions)
        parts = [TrainingPart(o.title, o.name, o.n_points, o.train_length) for o in merged]
        notes += training_notes(parts, [self.train_length])
        lacking = {
            f"{score.detector} on {one.title}": score.missing
            for one in merged
            for score in one.scores
            if score.missing
        }
        notes += missing_notes(lacking)
        long = [one for one in merged if one.excess_of_buffer]
        if long:
            notes.append(
                f"{plural(len(long), 'series', 'series')} of {len(merged):,} with buffers so long "
                f"that even random scores get high values; compare with chance levels (first: "
                f"{long[0].title}, {long[0].excess_of_buffer})"
            )
        return Values(
            measures=self.measures,
            settings=self.settings,
            series=tuple(sorted(merged, key=lambda one: (one.dataset, one.name))),
            notes=tuple(notes),
            train_length=self.train_length,
            lost=tuple(one for one in missing if one.status is not Status.SKIPPED),
            unread=tuple(unread),
        )


def missing_notes(counts: Mapping[str, int]) -> list[str]:
    """Return a note on the missing scores of each detector and series, if there are any."""
    shown = [f"{name} ({count:,})" for name, count in counts.items()]
    return [f"{missing_note(sum(counts.values()))}: {listed(shown, most=_SHOWN)}"] if shown else []


def _title(what: str, measures: Sequence[Measure], detector: str) -> str:
    if what == "import":
        return f"import {detector} (external)"
    named = measures[0].name if len(measures) == 1 else f"{len(measures)} measures"
    return f"evaluate {named} of {detector}"


def _digest(
    values: Floats, labels: NDArray[np.bool_], series: Series | TableSource, train: int | None
) -> str:
    """Return a digest of a series; those without values differ even if their labels agree."""
    variant = series.variant if isinstance(series, Series) else 0
    digest = content_hash(values, labels, train, variant)
    if not np.isnan(values).all():
        return digest
    name = series.name if isinstance(series, TableSource) else f"{series.dataset}/{series.name}"
    return hashlib.sha256(f"{digest} {name}".encode("utf-8", "surrogateescape")).hexdigest()


def _status(error: Exception) -> Status:
    if isinstance(error, NotApplicableError):
        return Status.SKIPPED
    return Status.OOM if isinstance(error, MemoryError) else Status.ERROR


def _message(error: Exception) -> str:
    applies = not isinstance(error, NotApplicableError)
    return f"{type(error).__name__}: {error}" if applies else str(error)


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
        if len(same) == 1 and (same[0].dataset, same[0].name) == (dataset, name):
            merged += same
            continue
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
