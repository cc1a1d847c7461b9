"""Execution time and memory of the measures, following the paper's study.

On generated series, one property of the series or one parameter of the measure varies at a time,
while the others keep their defaults. The study also accepts real series. Each cell is warmed up and
timed several times; its peak memory is measured in a separate run.

This module alone computes the keys of cells and knows how their runs are stored.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vuskit._util.environment import describe_environment, installed_versions
from vuskit.engine import (
    Action,
    ExecutorSettings,
    Limits,
    NotApplicableError,
    Outcome,
    ResultFolder,
    Status,
    Task,
    TaskProgress,
    run_tasks,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.kernels.backend import core_name
from vuskit.studies.base import Study
from vuskit.studies.identity import short_digest
from vuskit.studies.registry import study
from vuskit.studies.result import Failure
from vuskit.studies.timing.cases import PARAMETERS, Arrays, Case, Setting, is_generated
from vuskit.studies.timing.contestants import Contestant, choose
from vuskit.studies.timing.results import Sample, TimingResult
from vuskit.studies.timing.sampling import CLOCKS, Timer, peak_memory

__all__ = ["Forecast", "Job", "TimingStudy", "timing_study"]

WARM_UP_RUNS = 1
MEMORY_RUNS = 1
Runs = list[tuple[float, int]]
"""Seconds and peak memory in bytes of each timed run."""


@study(
    title="Execution time",
    question="What do the measures cost, and what does that depend on?",
    better="lower",
    name="timing",
    input="cases",
    order=6,
    known=(Sample, Setting),
)
@dataclass(frozen=True)
class TimingStudy(Study[TimingResult]):
    """Execution time and memory of the measures and of the paper's algorithms."""

    def run(self, source: Any = None, **how: Any) -> TimingResult:
        """Run the study; parameters as for :func:`timing_study`."""
        return timing_study(source, **how)


def timing_study(
    cases: Sequence[Case],
    *,
    contestants: Iterable[str] | None = None,
    repeats: int = 10,
    clock: str = "wall",
    budget: float | None = None,
    executor: ExecutorSettings | None = None,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
) -> TimingResult:
    """Measure every algorithm on every case, cheapest case first.

    Parameters
    ----------
    cases : sequence of Case
        From `synthetic_cases`, `real_cases` or `scored_cases`.
    contestants : iterable of str, optional
        Algorithms for VUS (``"naive"``, ``"opt"``, ``"opt_mem"``, ``"fast_grid"``,
        ``"fast_exact"``) and other measures (``"auc"``, ``"r_auc"``). Default: all.
    repeats : int, default=10
        Timed runs of each algorithm on each case, in addition to one warm-up run and one memory
        run.
    clock : {"wall", "cpu"}
        Wall time or CPU time. CPU time is steadier while other processes run, but adds up the
        threads of an algorithm.
    budget : float, optional
        Time limit for the study, in seconds. The most expensive measurements are dropped.
    executor : ExecutorSettings, optional
        Where to measure: in this process by default, or on workers, one job at a time. Workers of
        a cluster must run on machines like this one; those with another version of vuskit or
        NumPy, or with another core, get no jobs.
    limits : Limits, optional
        Time and memory limits per job. A job that exceeds them fails, and the study continues.
    folder : str or Path, optional
        Stores finished runs, which are not measured again on the same machine with the same code.
    progress : callable, optional
        Called with a :class:`vuskit.engine.TaskProgress`.

    Returns
    -------
    TimingResult
        The timed runs, including stored ones, and what was dropped or failed.

    Raises
    ------
    InvalidInputError
        If a parameter is invalid, or two cases have the same name and setting.

    Examples
    --------
    >>> from vuskit.studies.timing import Setting, synthetic_cases
    >>> cases = synthetic_cases([Setting(n_points=300, n_anomalies=2)])
    >>> result = timing_study(cases, contestants=["naive", "opt"], repeats=2)
    >>> result.to_frame().groupby("contestant").size().to_dict()
    {'naive': 2, 'opt': 2}
    """
    check_int("repeats", repeats, minimum=1)
    check_choice("clock", clock, CLOCKS)
    if budget is not None and budget <= 0:
        raise InvalidInputError(f"`budget` must be a number of seconds > 0, got {budget}")
    jobs = jobs_of(cases, choose(contestants), clock)
    work = _Work(jobs, repeats, Forecast(budget), folder)
    run_tasks(
        work.tasks(),
        total=len(work.waiting),
        executor=executor,
        limits=limits,
        versions=installed_versions(),
        on_outcome=work.add,
        progress=None if progress is None else lambda state: progress(work.progress(state)),
        one_at_a_time=True,
    )
    return TimingResult(
        tuple(
            Sample(job.case.name, job.contestant.name, job.case.setting, seconds, peak, clock)
            for job in jobs
            for seconds, peak in work.runs[job]
        ),
        tuple(job.title for job in jobs if job in work.dropped),
        work.environment,
        failures=tuple(work.failures),
        core=core_name(),
    )


# ---- jobs ----


@dataclass(frozen=True)
class Job:
    """One contestant on one case, timed by one clock."""

    case: Case
    contestant: Contestant
    clock: str = "wall"

    @property
    def title(self) -> str:
        """Contestant and series; for a generated series, the values that are not the default."""
        if not is_generated(self.case.name):
            return f"{self.contestant.title}, {self.case.name}"
        setting = self.case.setting
        changed = [
            f"{PARAMETERS[name].title} {getattr(setting, name):g}"
            for name in setting.differs_in(Setting())
        ]
        return f"{self.contestant.title}, {', '.join(changed) or 'defaults'}"

    @cached_property
    def expected_ns(self) -> float:
        """Rough estimate of the time of a run, in nanoseconds."""
        return self.contestant.expected_ns(self.case.setting)

    def key(self, environment: Mapping[str, Any]) -> str:
        """Key of the stored runs."""
        setting = {name: float(value) for name, value in asdict(self.case.setting).items()}
        return short_digest(
            [environment, self.case.name, setting, self.contestant.name, self.clock]
        )


def jobs_of(cases: Sequence[Case], contestants: Sequence[Contestant], clock: str) -> list[Job]:
    """Return every contestant on every case that is informative about it, cheapest case first.

    The contestants of a case run one after another, under the same conditions, so that their times
    can be compared.
    """
    for place, case in enumerate(cases):
        if case in cases[:place]:
            raise InvalidInputError(
                f"`cases` must differ in name or setting, got {case.name!r} twice"
            )
    jobs = [
        Job(case, contestant, clock)
        for case in cases
        for contestant in contestants
        if contestant.takes(case.setting)
    ]
    cost: defaultdict[Case, float] = defaultdict(float)
    for job in jobs:
        cost[job.case] += job.expected_ns
    return sorted(jobs, key=lambda job: (cost[job.case], job.case.name, job.expected_ns))


class Forecast:
    """Forecast of run times, from estimates and the measurements so far.

    `budget` is the time limit for all jobs together, in seconds from now.
    """

    def __init__(self, budget: float | None) -> None:
        self.deadline = None if budget is None else time.time() + budget
        self._corrections: dict[str, float] = {}

    def learn(self, job: Job, repeats: int, seconds: float) -> None:
        """Correct the estimate for a contestant by its latest case, which is the largest so far."""
        runs = repeats + WARM_UP_RUNS + MEMORY_RUNS
        self._corrections[job.contestant.name] = seconds / runs / job.expected_ns

    def seconds(self, job: Job, repeats: int) -> float:
        """Return the forecast for a job, including its warm-up and memory runs."""
        correction = self._corrections.get(job.contestant.name, 1e-9)
        return job.expected_ns * correction * (repeats + WARM_UP_RUNS + MEMORY_RUNS)

    def seconds_left(self, jobs: Mapping[Job, int]) -> float:
        """Return the forecast for several jobs, at most the rest of the budget."""
        needed = sum(self.seconds(job, repeats) for job, repeats in jobs.items())
        if self.deadline is None:
            return needed
        return min(needed, max(self.deadline - time.time(), 0.0))

    def allows(self, job: Job, waiting: Mapping[Job, int]) -> bool:
        """Whether there is time for a job and for all cheaper waiting jobs.

        Therefore the most expensive jobs are dropped first.
        """
        if self.deadline is None:
            return True
        own = self.seconds(job, waiting[job])
        times = (self.seconds(other, repeats) for other, repeats in waiting.items())
        needed = sum(seconds for seconds in times if seconds <= own)
        return time.time() + needed <= self.deadline


# ---- running ----


@dataclass(frozen=True)
class Measurement(Action):
    """Takes timed runs of one job; runs on the engine."""

    job: Job
    repeats: int
    deadline: float | None = None
    arrays: Arrays | None = None  # for workers that cannot load the case

    @property
    def group(self) -> str:
        """All measurements share a warm-up, which imports the study before limits apply."""
        return "timing"

    def load(self) -> Measurement:
        """Attach labels and scores."""
        return replace(self, arrays=self.job.case.load())

    def run(self) -> Runs:
        """Warm up, time the runs, then run once more to measure the memory."""
        if self.deadline is not None and time.time() > self.deadline:
            raise NotApplicableError("the budget is used up")
        labels, scores = self.arrays or self.job.case.load()

        def call() -> object:
            return self.job.contestant.run(labels, scores, self.job.case.setting)

        timer = Timer(call, clock=self.job.clock)
        timer.warm_up(WARM_UP_RUNS)
        seconds = [timer.sample().seconds for _ in range(self.repeats)]
        peak = peak_memory(call)
        return [(one, peak) for one in seconds]


class _Work:
    """Runs of all jobs: stored, measured, waiting, dropped and failed."""

    def __init__(
        self, jobs: Sequence[Job], repeats: int, forecast: Forecast, folder: str | Path | None
    ) -> None:
        self.environment = describe_environment()
        self._results = None if folder is None else ResultFolder(Path(folder))
        self._forecast = forecast
        self.runs = {job: self._stored(job) for job in jobs}
        missing = {job: repeats - len(runs) for job, runs in self.runs.items()}
        self.waiting = {job: count for job, count in missing.items() if count > 0}
        self._stored_jobs = len(jobs) - len(self.waiting)
        self.dropped: set[Job] = set()
        self.failures: list[Failure] = []
        self._latest = time.time()

    def _stored(self, job: Job) -> Runs:
        found = None if self._results is None else self._results.load(job.key(self.environment))
        return [] if found is None else list(found.value)

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks that the budget allows, each with what was learned until then."""
        for job, count in list(self.waiting.items()):
            if self._forecast.allows(job, self.waiting):
                measurement = Measurement(job, count, self._forecast.deadline)
                yield Task(job.key(self.environment), job.title, measurement)
            else:
                self._drop(job)

    def _drop(self, job: Job) -> None:
        self.dropped.add(job)
        del self.waiting[job]

    def add(self, task: Task, outcome: Outcome) -> None:
        """Store the runs of a finished job."""
        assert isinstance(task.action, Measurement)
        job, count, begin = task.action.job, task.action.repeats, self._latest
        self._latest = time.time()
        if outcome.status is Status.SKIPPED:
            self._drop(job)
            return
        self._forecast.learn(job, count, outcome.seconds or self._latest - begin)
        del self.waiting[job]
        if outcome.status is not Status.OK:
            self.failures.append(Failure(job.title, outcome.reason or str(outcome.status)))
            return
        self.runs[job] += outcome.value
        if self._results is not None:
            self._results.save(task.key, self.runs[job])

    def progress(self, state: TaskProgress) -> TaskProgress:
        """Return the progress of all jobs, with stored ones and without dropped ones."""
        total = len(self.runs) - len(self.dropped)
        return replace(
            state,
            done=total - len(self.waiting),
            total=total,
            seconds_left=self._forecast.seconds_left(self.waiting),
            stored=self._stored_jobs,
        )
