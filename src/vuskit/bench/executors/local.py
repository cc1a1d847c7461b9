"""Jobs in processes of this machine."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

from vuskit.bench.executors.base import Executor, lost
from vuskit.bench.executors.pair import ATTEMPTS, WorkerPair
from vuskit.bench.jobs import Outcome, Task
from vuskit.bench.plan import Limits

__all__ = ["LocalExecutor"]


class LocalExecutor(Executor):
    """Worker processes of this machine, one job each at a time.

    Parameters
    ----------
    workers : int
        Number of processes.
    limits : Limits
        Of each job.
    scratch : Path
        Folder for what the workers print.
    """

    def __init__(self, *, workers: int, limits: Limits, scratch: Path) -> None:
        super().__init__()
        self._slots = [WorkerPair(limits, scratch) for _ in range(workers)]
        self._idle = list(self._slots)
        self._busy: dict[str, WorkerPair] = {}
        self._starts: dict[str, int] = {}
        self._futures: dict[str, Future[Outcome]] = {}

    @property
    def capacity(self) -> int:
        """Number of processes."""
        return len(self._slots)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; look after lost tasks when there is none."""
        found = super().collect(timeout)
        if not found:
            for key, slot in self._busy.items():
                if slot.lost:
                    self._ended.put((key, self._futures[key]))
        return found

    def _start(self, task: Task) -> None:
        key = task.job.key
        slot = self._busy[key] = self._busy.get(key) or self._idle.pop()
        self._starts[key] = self._starts.get(key, 0) + 1
        future = self._futures[key] = slot.start(task)
        future.add_done_callback(lambda done: self._ended.put((key, done)))

    def _outcome(self, key: str, handle: Future[Any]) -> Outcome | None:
        if handle is not self._futures.get(key):
            return None  # of an attempt that was given up
        outcome = self._busy[key].outcome(handle)
        if outcome is None and self._starts[key] < ATTEMPTS:
            self._start(self._running[key])
            return None
        self._idle.append(self._busy.pop(key))
        del self._starts[key], self._futures[key]
        return outcome or lost(f"no worker process could be started, {ATTEMPTS} times")

    def close(self, *, kill: bool) -> None:
        """End the processes."""
        for slot in self._slots:
            slot.close(kill=kill)
