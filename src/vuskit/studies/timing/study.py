"""Execution time and memory of the measures, following the paper's study.

On generated series, one property of the series or one parameter of the measure varies at a time,
while the others keep their defaults. The study also accepts real series. Each cell is warmed up and
timed several times; its peak memory is measured in a separate run.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from vuskit._util.environment import describe_environment, installed_versions
from vuskit.engine import (
    UNLIMITED,
    Action,
    ExecutorSettings,
    Limits,
    Status,
    Task,
    make_executor,
    run_tasks,
)
from vuskit.errors import InvalidInputError
from vuskit.kernels.backend import core_name
from vuskit.studies.base import Study
from vuskit.studies.registry import study
from vuskit.studies.result import Failure
from vuskit.studies.timing.cases import PARAMETERS, Arrays, Case, Setting, is_generated
from vuskit.studies.timing.contestants import Contestant, choose
from vuskit.studies.timing.results import TimingResult
from vuskit.studies.timing.sampling import CLOCKS, Timer, peak_memory
from vuskit.studies.timing.storage import Key, Sample, TimingStore

__all__ = ["Forecast", "Job", "Measurement", "Progress", "TimingStudy", "jobs_of", "timing_study"]

WARM_UP_RUNS = 1
MEMORY_RUNS = 1


@dataclass(frozen=True)
class Job:
    """One contestant on one case, timed by one clock."""

    case: Case
    contestant: Contestant
    clock: str = "wall"

    @property
    def key(self) -> Key:
        """Key of the measured cell."""
        return self.case.name, self.contestant.name, self.case.setting, self.clock

    @property
    def identity(self) -> str:
        """Key for the engine."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:32]

    @property
    def title(self) -> str:
        """Contestant and series; for a generated series, the values that are not the default.

        Examples
        --------
        >>> from vuskit.studies.timing import CONTESTANTS, Setting, synthetic_cases
        >>> case, = synthetic_cases([Setting(max_buffer=1000)])
        >>> Job(case, CONTESTANTS["naive"]).title
        'VUS, maximum buffer length 1000'
        """
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


@dataclass(frozen=True)
class Progress:
    """Passed to the callback before each job and after the last.

    Attributes
    ----------
    done, total : int
        Number of finished jobs and of all jobs, without dropped ones.
    seconds_left : float
        Forecast of the remaining time.
    job : Job or None
        Job that starts now; None at the end.
    """

    done: int
    total: int
    seconds_left: float
    job: Job | None


@study(
    title="Execution time",
    question="What do the measures cost, and what does that depend on?",
    better="lower",
    name="timing",
    input="cases",
    order=6,
)
@dataclass(frozen=True)
class TimingStudy(Study[TimingResult]):
    """Execution time and memory of the measures and of the paper's algorithms."""

    def run(self, source: Any = None, **how: Any) -> TimingResult:
        """Run the study; parameters as for :func:`timing_study`."""
        return timing_study(source, **how)


def jobs_of(
    cases: Sequence[Case], contestants: Sequence[Contestant], clock: str = "wall"
) -> list[Job]:
    """Return every contestant on every case that is informative about it, cheapest case first.

    The contestants of a case run one after another, under the same conditions, so that their times
    can be compared.

    Raises
    ------
    InvalidInputError
        If two cases have the same name and setting, or the clock is unknown.
    """
    if clock not in CLOCKS:
        known = ", ".join(map(repr, CLOCKS))
        raise InvalidInputError(f"`clock` must be one of {known}, got {clock!r}")
    jobs = [
        Job(case, contestant, clock)
        for case in cases
        for contestant in contestants
        if contestant.takes(case.setting)
    ]
    seen = set()
    for job in jobs:
        if job.key in seen:
            raise InvalidInputError(
                f"`cases` must differ in name or setting, got {job.case.name!r} twice"
            )
        seen.add(job.key)
    cost: defaultdict[Case, float] = defaultdict(float)
    for job in jobs:
        cost[job.case] += job.expected_ns
    return sorted(jobs, key=lambda job: (cost[job.case], job.case.name, job.expected_ns))


class Forecast:
    """Forecast of run times, from estimates and the measurements so far.

    Parameters
    ----------
    budget : float or None
        Time limit for all jobs together, in seconds from now.
    """

    def __init__(self, budget: float | None) -> None:
        self._deadline = None if budget is None else time.perf_counter() + budget
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
        if self._deadline is None:
            return needed
        return min(needed, max(self._deadline - time.perf_counter(), 0.0))

    def allows(self, job: Job, waiting: Mapping[Job, int]) -> bool:
        """Whether there is time for a job and for all cheaper waiting jobs.

        Therefore the most expensive jobs are dropped first.
        """
        if self._deadline is None:
            return True
        own = self.seconds(job, waiting[job])
        needed = sum(
            seconds
            for seconds in (self.seconds(other, repeats) for other, repeats in waiting.items())
            if seconds <= own
        )
        return time.perf_counter() + needed <= self._deadline


@dataclass(frozen=True)
class Measurement(Action):
    """Takes the samples of one job; runs on the engine.

    Attributes
    ----------
    job : Job
        Job to measure.
    repeats : int
        Number of samples.
    arrays : tuple of arrays, optional
        Labels and scores, for workers that cannot load the case.
    """

    job: Job
    repeats: int
    arrays: Arrays | None = None

    @property
    def group(self) -> str:
        """All measurements share a warm-up, which imports the study before limits apply."""
        return "timing"

    def load(self) -> Measurement:
        """Attach labels and scores."""
        return replace(self, arrays=self.job.case.load())

    def run(self) -> list[Sample]:
        """Warm up, take the samples, then run once more to measure the memory."""
        job, setting = self.job, self.job.case.setting
        labels, scores = self.arrays or job.case.load()

        def call() -> object:
            return job.contestant.run(labels, scores, setting)

        timer = Timer(call, clock=job.clock)
        timer.warm_up(WARM_UP_RUNS)
        seconds = [timer.sample().seconds for _ in range(self.repeats)]
        peak = peak_memory(call)
        return [
            Sample(job.case.name, job.contestant.name, setting, value, peak, job.clock)
            for value in seconds
        ]


def timing_study(
    cases: Sequence[Case],
    *,
    contestants: Iterable[str] | None = None,
    repeats: int = 10,
    clock: str = "wall",
    budget: float | None = None,
    executor: ExecutorSettings | None = None,
    limits: Limits | None = None,
    store: TimingStore | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TimingResult:
    """Measure every contestant on every case, cheapest case first.

    Parameters
    ----------
    cases : sequence of Case
        From `synthetic_cases` or `real_cases`.
    contestants : iterable of str, optional
        Keys of `CONTESTANTS`. Default: all.
    repeats : int, default=10
        Timed runs of each cell, in addition to one warm-up run and one memory run.
    clock : {"wall", "cpu"}
        Wall time or CPU time. CPU time is steadier while other processes run, but adds up the
        threads of a contestant.
    budget : float, optional
        Time limit for the study, in seconds. Jobs that exceed it are dropped.
    executor : ExecutorSettings, optional
        Where to measure: in this process by default, or on workers, one job at a time. Workers of
        a cluster must run on machines like this one; those with another version of vuskit or
        NumPy, or with another core, get no jobs.
    limits : Limits, optional
        Time and memory limits per job. A job that exceeds them fails, and the study continues.
    store : TimingStore, optional
        Stores the samples; stored samples are not measured again.
    progress : callable, optional
        Called with a `Progress` before each job and at the end.

    Returns
    -------
    TimingResult
        The samples of these cases, including those from the store, and the jobs that failed.

    Raises
    ------
    InvalidInputError
        If a contestant or the clock is unknown, or a number is out of range.

    Examples
    --------
    >>> from vuskit.studies.timing import Setting, synthetic_cases
    >>> cases = synthetic_cases([Setting(n_points=300, n_anomalies=2)])
    >>> result = timing_study(cases, contestants=["naive", "opt"], repeats=2)
    >>> result.to_frame().groupby("contestant").size().to_dict()
    {'naive': 2, 'opt': 2}
    """
    if repeats < 1:
        raise InvalidInputError(f"`repeats` must be an int >= 1, got {repeats}")
    if budget is not None and budget <= 0:
        raise InvalidInputError(f"`budget` must be a number of seconds > 0, got {budget}")
    jobs = jobs_of(cases, choose(contestants), clock)
    samples: dict[Key, list[Sample]] = {job.key: [] for job in jobs}
    for sample in store.read() if store is not None else ():
        if sample.key in samples:
            samples[sample.key].append(sample)
    missing = {job: repeats - len(samples[job.key]) for job in jobs}
    waiting = {job: runs for job, runs in missing.items() if runs > 0}
    forecast = Forecast(budget)
    dropped: list[Job] = []
    failures: list[Failure] = []

    def report(job: Job | None) -> None:
        if progress is not None:
            total = len(jobs) - len(dropped)
            left = forecast.seconds_left(waiting)
            progress(Progress(total - len(waiting), total, left, job))

    with make_executor(
        executor or ExecutorSettings(), limits or UNLIMITED, versions=installed_versions()
    ) as workers:
        for job, runs in list(waiting.items()):
            if not forecast.allows(job, waiting):
                dropped.append(job)
                del waiting[job]
                continue
            report(job)
            begin = time.perf_counter()
            task = Task(job.identity, job.title, Measurement(job, runs))
            outcome = run_tasks([task], executor=workers, one_at_a_time=True)[task.key]
            forecast.learn(job, runs, outcome.seconds or time.perf_counter() - begin)
            del waiting[job]
            if outcome.status is not Status.OK:
                failures.append(Failure(job.title, outcome.reason or str(outcome.status)))
                continue
            samples[job.key].extend(outcome.value)
            if store is not None:
                store.add(outcome.value)
    report(None)
    gathered = tuple(sample for job in jobs for sample in samples[job.key])
    return TimingResult(
        gathered,
        tuple(dropped),
        describe_environment(),
        failures=tuple(failures),
        core=core_name(),
    )
