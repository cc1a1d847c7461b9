"""The loop: hand out jobs, write down what comes back, tell how it goes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vuskit.bench.executors import Executor, make_executor
from vuskit.bench.expand import ExpandedPlan, expand_plan
from vuskit.bench.jobs import EvaluateJob, Job, MeasureVersion, Outcome, Task
from vuskit.bench.plan import Plan
from vuskit.bench.states import Status
from vuskit.bench.store import Store

__all__ = ["Progress", "RunSummary", "run_plan"]

_POLL_SECONDS = 0.25
_NOTE_SECONDS = 1.0


@dataclass(frozen=True)
class Progress:
    """How a run goes.

    Attributes
    ----------
    total : int
        Jobs of the plan as far as they are known: the evaluations of a failed detector fall away.
    before : int
        Those that earlier runs finished.
    failed_before : int
        Those of them that failed.
    counts : dict
        Jobs that this run finished, by status.
    seconds : float
        Since the first job was handed out.
    running : tuple of str
        What is under way.
    """

    total: int
    before: int
    failed_before: int
    counts: dict[Status, int]
    seconds: float
    running: tuple[str, ...]

    @property
    def ran(self) -> int:
        """Jobs that this run finished."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Finished jobs, of this run and earlier ones."""
        return self.before + self.ran

    @property
    def failed(self) -> int:
        """Jobs of this run that went wrong."""
        return sum(count for status, count in self.counts.items() if status.failed)

    @property
    def per_minute(self) -> float:
        """Jobs per minute of this run."""
        return 60 * self.ran / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Forecast for the rest; None before the first job is done."""
        rate = self.per_minute / 60
        return (self.total - self.done) / rate if rate > 0 else None

    def as_json(self) -> dict[str, Any]:
        """For the store."""
        return {
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "per_minute": self.per_minute,
            "seconds_left": self.seconds_left,
            "running": list(self.running),
        }


@dataclass(frozen=True)
class RunSummary:
    """What a run has done.

    Attributes
    ----------
    folder : Path
        The run folder.
    progress : Progress
        The last state.
    notes : tuple of str
        Series that could not be read, or are there twice.
    """

    folder: Path
    progress: Progress
    notes: tuple[str, ...]


Observer = Callable[[Progress, list[tuple[Job, Outcome]]], None]


def run_plan(
    plan: Plan,
    *,
    executor: Executor | None = None,
    observer: Observer | None = None,
    reading: Callable[[int], None] | None = None,
    reread: bool = False,
) -> RunSummary:
    """Run what is left of a plan.

    Finished jobs are never run again. An interruption (KeyboardInterrupt, SIGKILL, power) leaves
    a folder from which the same call goes on.

    Parameters
    ----------
    plan : Plan
        From `load_plan`.
    executor : Executor, optional
        Instead of the one that the plan names; it is not closed.
    observer : callable, optional
        Called with a `Progress` and the jobs that have just ended.
    reading : callable, optional
        Called with the number of series so far, while the plan is expanded.
    reread : bool, default=False
        Read every series again, even where the file has not changed.

    Returns
    -------
    RunSummary
        Counts, and the folder with the results.

    Raises
    ------
    BenchStorageError
        If the folder cannot be written.
    InvalidInputError
        If the plan selects nothing.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from vuskit.bench import load_plan
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bench.toml"
    >>> _ = path.write_text('''
    ... series = [{family = "ecg", n = 2000, n_anomalies = 4}]
    ... detectors = [{name = "values"}, {name = "random"}]
    ... evaluate = [{measures = ["auc_pr"], buffer = 50}]
    ... executor = {workers = 1}
    ... ''')
    >>> summary = run_plan(load_plan(path))
    >>> summary.progress.done, summary.progress.failed
    (4, 0)
    """
    with Store(plan.folder) as store:
        expanded = expand_plan(plan, store, reread=reread, progress=reading)
        own = executor is None
        used = executor or make_executor(plan.executor, plan.limits, store.files.scratch)
        try:
            done = set(expanded.done_ids())
            store.begin_run(
                plan, expanded.planned, done=done, executor=used.name, notes=expanded.notes
            )
            progress = _Loop(expanded, store, used, observer, done).run()
        except BaseException as error:
            _end_quietly(store, "interrupted" if _is_interruption(error) else "failed")
            if own:
                used.close(kill=True)
            raise
        if own:
            used.close(kill=False)
        store.end_run("finished")
    return RunSummary(plan.folder, progress, tuple(expanded.notes))


def _is_interruption(error: BaseException) -> bool:
    return isinstance(error, (KeyboardInterrupt, SystemExit))


def _end_quietly(store: Store, state: str) -> None:
    """Enter how the run ended; where the disk is full, the error under way says more."""
    try:
        store.end_run(state)
    except Exception:
        return


@dataclass
class _Loop:
    """One run."""

    expanded: ExpandedPlan
    store: Store
    executor: Executor
    observer: Observer | None
    adopted: set[int]
    counts: dict[Status, int] = field(default_factory=dict)
    failed_measures: set[MeasureVersion] = field(default_factory=set)

    def __post_init__(self) -> None:
        store, expanded = self.store, self.expanded
        self.failed_before = store.count_failed()
        self.first: deque[Job] = deque(expanded.todo())
        # Evaluations go first: they are short, and a stopped run then has whole results.
        self.second: deque[Job] = deque(expanded.waiting_evaluations())
        self.seen = {job.key for job in self.second}
        self.awaited = len(self.first) * len(expanded.plan.evaluations)
        self.begin = time.perf_counter()
        self.noted = 0.0

    def run(self) -> Progress:
        """Run until nothing is left."""
        self._tell([])
        while self.first or self.second or self.executor.running:
            self._hand_out()
            ended = self.executor.collect(_POLL_SECONDS)
            results = self._taken_apart([(task.job, outcome) for task, outcome in ended])
            if results:
                self._write(results)
            self._tell(results)
        self._note(force=True)
        return self._progress()

    def _hand_out(self) -> None:
        for _ in range(self.executor.free):
            waiting = self.second or self.first
            if not waiting:
                return
            self.executor.submit(self._task(waiting.popleft()))

    def _task(self, job: Job) -> Task:
        path = self.store.files.path(job.scores_hash) if isinstance(job, EvaluateJob) else None
        plan = self.expanded.plan
        return Task(job, path, plan.imports, plan.base)

    def _taken_apart(self, ended: list[tuple[Job, Outcome]]) -> list[tuple[Job, Outcome]]:
        """Return what is final: measures that failed together are tried again, users' own alone."""
        final = []
        for job, outcome in ended:
            parts = job.apart() if isinstance(job, EvaluateJob) and outcome.status.failed else ()
            if len(parts) > 1:
                self._follow(parts)
                continue
            final.append((job, outcome))
            if len(parts) == 1:
                self.failed_measures.update(parts[0].measure_identities)
        return final

    def _follow(self, evaluations: Iterable[EvaluateJob]) -> None:
        for evaluation in evaluations:
            # A measure that has failed once is likely to do so again: no need to find out twice.
            doubtful = self.failed_measures.intersection(evaluation.measure_identities)
            for part in evaluation.apart() if doubtful else (evaluation,):
                if part.key not in self.seen:
                    self.seen.add(part.key)
                    self.second.append(part)

    def _write(self, ended: list[tuple[Job, Outcome]]) -> None:
        digests = self.store.record(ended)
        for job, outcome in ended:
            self.counts[outcome.status] = self.counts.get(outcome.status, 0) + 1
            if isinstance(job, EvaluateJob):
                continue
            self.awaited -= len(self.expanded.plan.evaluations)
            if job.key in digests:
                # Scores that an earlier run knew by another detector or another name.
                known = set(self.expanded.evaluation_ids(job, digests[job.key])) - self.adopted
                self.store.adopt(known)
                self.adopted |= known
                self._follow(self.expanded.followers(job, digests[job.key]))

    def _tell(self, ended: list[tuple[Job, Outcome]]) -> None:
        self._note()
        if self.observer is not None:
            self.observer(self._progress(), ended)

    def _note(self, *, force: bool = False) -> None:
        if force or time.perf_counter() - self.noted > _NOTE_SECONDS:
            self.store.note_progress(self._progress().as_json())
            self.noted = time.perf_counter()

    def _progress(self) -> Progress:
        waiting = len(self.first) + len(self.second) + len(self.executor.running)
        return Progress(
            total=len(self.adopted) + sum(self.counts.values()) + waiting + self.awaited,
            before=len(self.adopted),
            failed_before=self.failed_before,
            counts=dict(self.counts),
            seconds=time.perf_counter() - self.begin,
            running=tuple(task.job.title for task in self.executor.running),
        )
