"""A worker process, and a second one for jobs that have cost their process before."""

from __future__ import annotations

from concurrent.futures import Future, wait
from pathlib import Path

from vuskit.bench.executors.base import lost
from vuskit.bench.executors.slot import Slot
from vuskit.bench.jobs import Outcome, Task
from vuskit.bench.plan import Limits

__all__ = ["ATTEMPTS", "WorkerPair"]

ATTEMPTS = 3
"""How often a task is started whose process dies before it begins."""

_LOOK_SECONDS = 1.0
_QUICK_SECONDS = 1.0


class WorkerPair:
    """One task at a time, in one of two processes.

    Compiling takes longer than many jobs, and a process that is killed takes what it has compiled
    along. So a detector that got its process killed, and is quickly loaded itself, does its next
    jobs in the second process, which is started when it is first needed.

    Parameters
    ----------
    limits : Limits
        Of each job.
    scratch : Path
        Folder for what the processes write.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._steady, self._other = Slot(limits, scratch), Slot(limits, scratch)
        self._used = self._steady
        self._engine: str | None = None
        self._slow: set[str] = set()  # engines that take long to load
        self._apart: set[str] = set()
        self._closed = False

    def start(self, task: Task) -> Future[Outcome]:
        """Start a task."""
        self._engine = task.job.engine
        self._used = self._other if self._engine in self._apart else self._steady
        return self._used.start(task)

    @property
    def lost(self) -> bool:
        """Whether a task is under way that nobody will finish."""
        return self._used.lost

    def outcome(self, future: Future[Outcome]) -> Outcome | None:
        """Outcome of a task that ended; None if its process died before it began."""
        outcome = self._used.outcome(future)
        if outcome is not None and self._engine is not None:
            if (outcome.warm_up_seconds or 0.0) > _QUICK_SECONDS:
                self._slow.add(self._engine)
            ended_its_process = outcome.worker is None
            if ended_its_process and self._engine not in self._slow:
                self._apart.add(self._engine)
        return outcome

    def run(self, task: Task) -> Outcome:
        """Do a task and wait for it."""
        for _ in range(ATTEMPTS):
            future = self.start(task)
            while wait([future], timeout=_LOOK_SECONDS).not_done and not self.lost:
                pass
            outcome = self.outcome(future)
            if outcome is not None:
                return outcome
            if self._closed:
                return lost("the worker was closed")
        return lost(f"no worker process could be started, {ATTEMPTS} times")

    def close(self, *, kill: bool = False) -> None:
        """End the processes for good."""
        self._closed = True
        for slot in (self._steady, self._other):
            slot.close(kill=kill)
