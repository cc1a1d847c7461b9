"""Execution time and memory of the measures, following the paper's study.

On generated series, one property of the series or one parameter of the measure varies at a time,
while the others keep their defaults. The study also accepts real series. Each cell is warmed up and
timed several times; its peak memory is measured in a separate run.

This module alone computes the keys of cells and knows how their runs are stored.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import vuskit
from vuskit._util.optional import describe_environment, installed_versions
from vuskit.engine import (
    Action,
    ExecutorSettings,
    Limits,
    MemoryResults,
    Outcome,
    Progress,
    Status,
    Task,
    run_tasks,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.kernels.backend import core_name
from vuskit.parameters import Param, one_of, param, whole
from vuskit.store.identity import code_of, key_of
from vuskit.store.store import Store
from vuskit.studies.base import Study, study
from vuskit.studies.result import Failure
from vuskit.studies.timing.cases import PARAMETERS, Arrays, Case, Setting, is_generated
from vuskit.studies.timing.contestants import Contestant, choose
from vuskit.studies.timing.results import Sample, TimingResult

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
"""Wall time, and CPU time of this process, which varies less on a busy machine."""

_OTHER_RUNS = 2  # to warm up, and to measure the memory
Runs = list[list[float]]
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

    repeats: int = param(10, whole(1), "Timed runs of each algorithm on each case.", metavar="N")
    clock: str = param("wall", one_of(*CLOCKS), "Wall time, or CPU time of all threads.")
    average: str = param(
        "median",
        one_of("median", "mean"),
        "Average in figures: median with quartiles, or mean with standard deviation.",
    )

    @classmethod
    def options(cls) -> dict[str, Param]:
        """Return the options by name; those of measures are not timed."""
        return {name: one for name, one in super().options().items() if name != "measure_options"}

    def run(self, source: Any = None, **how: Any) -> TimingResult:
        """Run the study; other parameters as for :func:`timing_study`."""
        found = timing_study(source, repeats=self.repeats, clock=self.clock, **how)
        return replace(found, average=self.average)


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
    progress: Callable[[Progress], None] | None = None,
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
        Called with a :class:`vuskit.engine.Progress`.

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
    environment = describe_environment()
    with nullcontext(MemoryResults()) if folder is None else Store(folder) as results:
        work = _Work(jobs, repeats, Forecast(budget), environment, results)
        run_tasks(
            work.tasks(),
            total=len(work.waiting),
            results=results,
            executor=executor,
            limits=limits,
            versions=installed_versions(),
            at_most=1,
            repeat_failed=True,
            on_outcome=work.add,
            progress=None if progress is None else lambda state: progress(work.progress(state)),
        )
        runs = {job: work.runs_of(job) for job in jobs}
    return TimingResult(
        tuple(
            Sample(job.case.name, job.contestant.name, job.case.setting, seconds, int(peak), clock)
            for job in jobs
            for seconds, peak in runs[job]
        ),
        tuple(job.title for job in jobs if job in work.dropped),
        environment,
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

    def about(self, environment: Mapping[str, Any], repeats: int) -> dict[str, Any]:
        """What the key of the stored runs is made of."""
        setting = {name: float(value) for name, value in asdict(self.case.setting).items()}
        return {
            "case": self.case.name,
            "setting": setting,
            "algorithm": self.contestant.name,
            "clock": self.clock,
            "repeats": repeats,
            "environment": dict(environment),
            "code": code_of(vuskit).parts,
        }


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
        self._corrections[job.contestant.name] = seconds / (repeats + _OTHER_RUNS) / job.expected_ns

    def seconds(self, job: Job, repeats: int) -> float:
        """Return the forecast for a job, including its warm-up and memory runs."""
        correction = self._corrections.get(job.contestant.name, 1e-9)
        return job.expected_ns * correction * (repeats + _OTHER_RUNS)

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
        labels, scores = self.arrays or self.job.case.load()

        def call() -> object:
            return self.job.contestant.run(labels, scores, self.job.case.setting)

        call()
        seconds = [_seconds(call, CLOCKS[self.job.clock]) for _ in range(self.repeats)]
        peak = _peak_memory(call)
        return [[one, peak] for one in seconds]


def _seconds(call: Callable[[], object], clock: Callable[[], float]) -> float:
    with paused_collection():
        begin = clock()
        call()
        return clock() - begin


@contextmanager
def paused_collection() -> Iterator[None]:
    """Time without garbage collection."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _peak_memory(call: Callable[[], object]) -> int:
    """Return the peak memory that Python allocates during a call, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class _Work:
    """Jobs of a study: stored, waiting, dropped and failed."""

    def __init__(
        self,
        jobs: Sequence[Job],
        repeats: int,
        forecast: Forecast,
        environment: Mapping[str, Any],
        results: Store | MemoryResults,
    ) -> None:
        self._about = {job: job.about(environment, repeats) for job in jobs}
        self._keys = {job: key_of("timing", about) for job, about in self._about.items()}
        self._results = results
        self._forecast = forecast
        self._repeats = repeats
        stored = {key for key, status in results.statuses().items() if status is Status.OK}
        self.waiting = {job: repeats for job in jobs if self._keys[job] not in stored}
        self.dropped: set[Job] = set()
        self.failures: list[Failure] = []
        self._latest = time.time()

    def runs_of(self, job: Job) -> Runs:
        """Return the timed runs of a job."""
        found = self._results.get(self._keys[job])
        return found.value if found is not None and found.status is Status.OK else []

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks that the budget allows, each with what was learned until then."""
        for job in list(self.waiting):
            if self._forecast.allows(job, self.waiting):
                make = partial(Measurement, job, self._repeats)
                yield Task(self._keys[job], job.title, make, "timing", self._about[job])
            else:
                self.dropped.add(job)
                del self.waiting[job]

    def add(self, task: Task, outcome: Outcome) -> None:
        """Learn from a finished job."""
        assert isinstance(task.action, Measurement)
        job, begin = task.action.job, self._latest
        self._latest = time.time()
        self._forecast.learn(job, self._repeats, outcome.seconds or self._latest - begin)
        del self.waiting[job]
        if outcome.status is not Status.OK:
            self.failures.append(Failure(job.title, outcome.reason or str(outcome.status)))

    def progress(self, state: Progress) -> Progress:
        """Return the progress of all jobs, with stored ones and without dropped ones."""
        total = len(self._keys) - len(self.dropped)
        return replace(
            state,
            total=total,
            before=total - len(self.waiting) - state.ran,
            forecast=self._forecast.seconds_left(self.waiting),
        )
