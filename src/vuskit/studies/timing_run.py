"""Running one contestant on one series, and foreseeing how long the next will take."""

from __future__ import annotations

import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vuskit.errors import InvalidInputError
from vuskit.studies.timing_cases import Case
from vuskit.studies.timing_contestants import Contestant
from vuskit.studies.timing_store import Key, Sample

__all__ = ["CLOCKS", "Forecast", "Job", "Progress", "jobs_of", "measure"]

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
"""Time as it passes, or the processor time of this process: steadier on a busy machine."""

WARM_UP_RUNS = 1
MEMORY_RUNS = 1


@dataclass(frozen=True)
class Job:
    """One contestant on one case, by one clock."""

    case: Case
    contestant: Contestant
    clock: str = "wall"

    @property
    def key(self) -> Key:
        """What is measured."""
        return self.case.name, self.contestant.name, self.case.setting, self.clock

    @cached_property
    def expected_ns(self) -> float:
        """Rough guess of the time of a run."""
        return self.contestant.expected_ns(self.case.setting)


@dataclass(frozen=True)
class Progress:
    """Told to the callback before each job and after the last.

    Attributes
    ----------
    done, total : int
        Jobs finished, and all of them, those that were dropped aside.
    seconds_left : float
        Forecast for the rest.
    job : Job or None
        What starts now; None at the end.
    """

    done: int
    total: int
    seconds_left: float
    job: Job | None


def jobs_of(
    cases: Sequence[Case], contestants: Sequence[Contestant], clock: str = "wall"
) -> list[Job]:
    """Every contestant on every case that says something about it, the cheapest case first.

    The contestants of a case follow each other, so that they meet the same state of the machine
    and their times can be divided.

    Raises
    ------
    InvalidInputError
        If two cases cannot be told apart, or there is no such clock.
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
    """How long jobs will take, from the guesses and what was measured so far.

    Parameters
    ----------
    budget : float or None
        Seconds from now that all jobs together may take.
    """

    def __init__(self, budget: float | None) -> None:
        self._deadline = None if budget is None else time.perf_counter() + budget
        self._corrections: dict[str, float] = {}

    def learn(self, job: Job, repeats: int, seconds: float) -> None:
        """Correct the guess for a contestant by its latest, and so largest, case."""
        runs = repeats + WARM_UP_RUNS + MEMORY_RUNS
        self._corrections[job.contestant.name] = seconds / runs / job.expected_ns

    def seconds(self, job: Job, repeats: int) -> float:
        """Return the forecast for a job with its warm-up and the run for the memory."""
        correction = self._corrections.get(job.contestant.name, 1e-9)
        return job.expected_ns * correction * (repeats + WARM_UP_RUNS + MEMORY_RUNS)

    def seconds_left(self, jobs: Mapping[Job, int]) -> float:
        """Return the forecast for jobs with their repeats, or the rest of the budget if less."""
        needed = sum(self.seconds(job, repeats) for job, repeats in jobs.items())
        if self._deadline is None:
            return needed
        return min(needed, max(self._deadline - time.perf_counter(), 0.0))

    def allows(self, job: Job, waiting: Mapping[Job, int]) -> bool:
        """Whether there is time for a job and for everything that waits and costs less.

        So what is dropped is always the most expensive.
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


def measure(job: Job, repeats: int) -> list[Sample]:
    """Warm up, time the runs, then run once more under a memory tracer."""
    labels, scores = job.case.load()
    setting, run = job.case.setting, job.contestant.run
    for _ in range(WARM_UP_RUNS):
        run(labels, scores, setting)
    clock, seconds = CLOCKS[job.clock], []
    for _ in range(repeats):
        begin = clock()
        run(labels, scores, setting)
        seconds.append(clock() - begin)
    # Tracing slows Python down, so it has no part in the timed runs.
    tracemalloc.start()
    try:
        run(labels, scores, setting)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return [
        Sample(job.case.name, job.contestant.name, setting, value, peak, job.clock)
        for value in seconds
    ]
