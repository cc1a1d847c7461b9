"""Run a plan on the engine: submit jobs, record their outcomes, report progress."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vuskit._util.text import plural
from vuskit.bench.changes import ValueChanges, find_changes, keep_values
from vuskit.bench.expand import ExpandedPlan, expand_plan
from vuskit.bench.jobs import EvaluateJob, Job, JobAction, MeasureVersion, ScoreJob
from vuskit.bench.plan import Plan
from vuskit.bench.run import Run
from vuskit.bench.store import Store
from vuskit.engine import Executor, Outcome, Status, Task, make_executor

__all__ = ["Progress", "RunSummary", "run_plan"]

_POLL_SECONDS = 0.25
_END_ATTEMPTS = 5
# These errors are not failures of the job: its data or code changed while it waited.
_CHANGED = ("ChangedInputError", "StaleWorkerError")
_STORE_SECONDS = 1.0  # between two updates of the progress in the store


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes
    ----------
    total : int
        Number of jobs known so far; scores that fail have no evaluations.
    before : int
        Jobs finished by earlier runs.
    failed_before : int
        Jobs that failed in earlier runs.
    counts : dict
        Jobs finished by this run, by status.
    seconds : float
        Time since the first job was submitted.
    running : tuple of str
        Titles of the running jobs.
    """

    total: int
    before: int
    failed_before: int
    counts: dict[Status, int]
    seconds: float
    running: tuple[str, ...]

    @property
    def ran(self) -> int:
        """Number of jobs finished by this run."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Number of finished jobs, including those of earlier runs."""
        return self.before + self.ran

    @property
    def failed(self) -> int:
        """Number of jobs that failed in this run."""
        return sum(count for status, count in self.counts.items() if status.failed)

    @property
    def per_minute(self) -> float:
        """Jobs per minute in this run."""
        return 60 * self.ran / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining time; None before the first job finishes."""
        rate = self.per_minute / 60
        return (self.total - self.done) / rate if rate > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-serializable dict for the store."""
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
    """Result of `run_plan`.

    Attributes
    ----------
    folder : Path
        The run folder.
    progress : Progress
        The final progress.
    notes : tuple of str
        Notes about the plan, such as unreadable or duplicate series.
    not_computed : tuple of str
        Messages about jobs that were not computed because their data or code changed during the
        run. They stay unfinished; calling `run_plan` again runs them.
    changes : ValueChanges or None
        How values differ from the previous ones, if finished jobs were repeated because data, code
        or settings changed.
    """

    folder: Path
    progress: Progress
    notes: tuple[str, ...]
    not_computed: tuple[str, ...] = ()
    changes: ValueChanges | None = None


Observer = Callable[[Progress, list[tuple[Job, Outcome]]], None]


def run_plan(
    plan: Plan,
    *,
    executor: Executor | None = None,
    observer: Observer | None = None,
    reading: Callable[[int], None] | None = None,
    planned: Callable[[ExpandedPlan], None] | None = None,
    reread: bool = False,
) -> RunSummary:
    """Run the unfinished jobs of a plan.

    Finished jobs are not repeated. After an interruption (Ctrl-C, ``kill -9``, power failure) the
    same call resumes.

    Parameters
    ----------
    plan : Plan
        From `load_plan`.
    executor : Executor, optional
        Used instead of the executor of the plan; it stays open.
    observer : callable, optional
        Called with a `Progress` and the jobs that just ended, with their outcomes.
    reading : callable, optional
        Called with the number of series read so far, while the plan is expanded.
    planned : callable, optional
        Called with the expanded plan before the first job starts.
    reread : bool, default=False
        Read every series again, even if its file has not changed.

    Returns
    -------
    RunSummary
        Counts, and the folder with the results.

    Raises
    ------
    BenchStorageError
        If the folder cannot be written.
    InvalidInputError
        If the plan selects no series.

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
        if planned is not None:
            planned(expanded)
        own = executor is None
        used = executor or make_executor(
            plan.executor,
            plan.limits,
            scratch=store.files.scratch,
            versions=expanded.library_versions,
        )
        try:
            done = set(expanded.done_ids())
            kept = keep_values(Run(plan.folder)) if expanded.stale else None
            store.begin_run(
                expanded.plan, expanded.planned, done=done, executor=used.name, notes=expanded.notes
            )
            loop = _Loop(expanded, store, used, observer, done)
            progress = loop.run()
            if own:
                used.close(kill=False)
            not_computed = loop.not_computed_notes()
            store.end_run(
                "interrupted" if not_computed else "finished",
                notes=[*expanded.notes, *not_computed],
            )
        except BaseException as error:
            state = "interrupted" if _is_interruption(error) else "failed"
            recorded = _end_quietly(store, state)
            if own:
                used.close(kill=True)
            if not recorded:
                store.files.clean()  # makes room on a full disk
                _end_quietly(store, state)
            raise
    changes = find_changes(Run(plan.folder), kept) if kept is not None else None
    return RunSummary(plan.folder, progress, tuple(expanded.notes), tuple(not_computed), changes)


def _is_interruption(error: BaseException) -> bool:
    return isinstance(error, (KeyboardInterrupt, SystemExit))


def _end_quietly(store: Store, state: str) -> bool:
    """Record how the run ended, even if Ctrl-C is pressed again; return whether it succeeded.

    Errors such as a full disk are suppressed, so that they do not hide the original error.
    """
    for _ in range(_END_ATTEMPTS):
        try:
            store.end_run(state)
        except KeyboardInterrupt:
            continue
        except Exception:
            return False
        return True
    return False


@dataclass
class _Loop:
    """Main loop of a run: submits jobs, records outcomes, adds evaluations of new scores."""

    expanded: ExpandedPlan
    store: Store
    executor: Executor
    observer: Observer | None
    adopted: set[int]
    counts: dict[Status, int] = field(default_factory=dict)
    failed_measures: set[MeasureVersion] = field(default_factory=set)
    not_computed: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        expanded = self.expanded
        self.failed_before = self.store.count_failed()
        self.score_jobs: deque[Job] = deque(expanded.todo())
        # Evaluations go first: they are short, so an interrupted run has complete results.
        self.evaluate_jobs: deque[Job] = deque(expanded.waiting_evaluations())
        self.known_evaluations = {job.key for job in self.evaluate_jobs}
        self.submitted: dict[str, Job] = {}
        # Evaluations of scores that do not exist yet.
        self.expected = len(self.score_jobs) * len(expanded.plan.evaluations)
        self.begin = time.perf_counter()
        self.last_stored = 0.0

    def run(self) -> Progress:
        """Run until nothing is left."""
        self._report(self._skip_inapplicable())
        while self.score_jobs or self.evaluate_jobs or self.submitted:
            self._submit_jobs()
            ended = [
                (self.submitted.pop(task.key), outcome)
                for task, outcome in self.executor.collect(_POLL_SECONDS)
            ]
            results = self._final_results(ended)
            if results:
                self._record(results)
            self._report(results)
        self._store_progress(force=True)
        return self._progress()

    def _skip_inapplicable(self) -> list[tuple[Job, Outcome]]:
        """Record jobs as skipped whose detector cannot score the series, without starting them."""
        skipped: list[tuple[Job, Outcome]] = []
        left: deque[Job] = deque()
        for job in self.score_jobs:
            obstacle = job.obstacle if isinstance(job, ScoreJob) else None
            if obstacle is None:
                left.append(job)
            else:
                skipped.append((job, Outcome(Status.SKIPPED, message=obstacle)))
        self.score_jobs = left
        if skipped:
            self._record(skipped)
        return skipped

    def _submit_jobs(self) -> None:
        for _ in range(self.executor.free):
            waiting = self.evaluate_jobs or self.score_jobs
            if not waiting:
                return
            job = waiting.popleft()
            self.submitted[job.key] = job
            self.executor.submit(Task(job.key, job.title, self._action(job)))

    def _action(self, job: Job) -> JobAction:
        path = self.store.files.path(job.scores_hash) if isinstance(job, EvaluateJob) else None
        plan = self.expanded.plan
        return JobAction(job, path, plan.imports, plan.base, job.code_digests())

    def _final_results(self, ended: list[tuple[Job, Outcome]]) -> list[tuple[Job, Outcome]]:
        """Return final outcomes: without jobs whose input changed, or that are split and retried.

        A failed evaluation is retried with each user-defined measure in its own job.
        """
        final = []
        for job, outcome in ended:
            if outcome.status.failed and outcome.error_type in _CHANGED:
                self.not_computed.append(outcome)
                continue
            parts = job.apart() if isinstance(job, EvaluateJob) and outcome.status.failed else ()
            if len(parts) > 1:
                self._add_evaluations(parts)
                continue
            final.append((job, outcome))
            if len(parts) == 1:
                self.failed_measures.update(parts[0].measure_identities)
        return final

    def not_computed_notes(self) -> list[str]:
        """One message per reason why jobs were not computed."""
        counts = Counter(
            (outcome.message or "").removeprefix(f"{outcome.error_type}: ")
            for outcome in self.not_computed
        )
        return [
            f"{plural(count, 'job was', 'jobs were')} not computed: {reason}"
            for reason, count in counts.items()
        ]

    def _add_evaluations(self, evaluations: Iterable[EvaluateJob]) -> None:
        for evaluation in evaluations:
            # A measure that has failed once will probably fail again, so it runs separately.
            doubtful = self.failed_measures.intersection(evaluation.measure_identities)
            for part in evaluation.apart() if doubtful else (evaluation,):
                if part.key not in self.known_evaluations:
                    self.known_evaluations.add(part.key)
                    self.evaluate_jobs.append(part)

    def _record(self, results: list[tuple[Job, Outcome]]) -> None:
        digests = self.store.record(results)
        for job, outcome in results:
            self.counts[outcome.status] = self.counts.get(outcome.status, 0) + 1
            if isinstance(job, EvaluateJob):
                continue
            self.expected -= len(self.expanded.plan.evaluations)
            if job.key in digests:
                # An earlier run may have evaluated identical scores under another name.
                known = set(self.expanded.evaluation_ids(job, digests[job.key])) - self.adopted
                self.store.adopt(known)
                self.adopted |= known
                self._add_evaluations(self.expanded.followers(job, digests[job.key]))

    def _report(self, results: list[tuple[Job, Outcome]]) -> None:
        self._store_progress()
        if self.observer is not None:
            self.observer(self._progress(), results)

    def _store_progress(self, *, force: bool = False) -> None:
        if force or time.perf_counter() - self.last_stored > _STORE_SECONDS:
            self.store.note_progress(self._progress().as_json())
            self.last_stored = time.perf_counter()

    def _progress(self) -> Progress:
        waiting = len(self.score_jobs) + len(self.evaluate_jobs) + len(self.submitted)
        waiting += len(self.not_computed)
        return Progress(
            total=len(self.adopted) + sum(self.counts.values()) + waiting + self.expected,
            before=len(self.adopted),
            failed_before=self.failed_before,
            counts=dict(self.counts),
            seconds=time.perf_counter() - self.begin,
            running=tuple(job.title for job in self.submitted.values()),
        )
