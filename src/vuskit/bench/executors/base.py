"""The one interface of executors."""

from __future__ import annotations

import abc
import queue
import time
from typing import Any, Self

from vuskit.bench.jobs import Outcome, Task
from vuskit.bench.states import Status

__all__ = ["Executor"]


class Executor(abc.ABC):
    """Takes tasks, gives outcomes, in any order.

    An outcome comes back for every task, whatever happens to the process that does it. Nothing is
    stored here: results go to the one writer.
    """

    def __init__(self) -> None:
        self._running: dict[str, Task] = {}
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    @property
    @abc.abstractmethod
    def capacity(self) -> int:
        """How many tasks it takes at a time."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{type(self).__name__.removesuffix('Executor').lower()}, {self.capacity} at a time"

    @property
    def free(self) -> int:
        """How many more tasks it takes now."""
        return self.capacity - len(self._running)

    @property
    def running(self) -> tuple[Task, ...]:
        """Tasks that are under way."""
        return tuple(self._running.values())

    def submit(self, task: Task) -> None:
        """Start a task; ask `free` first."""
        self._running[task.job.key] = task
        self._start(task)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; an empty list when there is none in time."""
        deadline = time.monotonic() + timeout
        found: list[tuple[Task, Outcome]] = []
        while self._running:
            left = 0.0 if found else max(0.0, deadline - time.monotonic())
            try:
                key, handle = self._ended.get(timeout=left) if left else self._ended.get_nowait()
            except queue.Empty:
                break
            outcome = self._outcome(key, handle)
            if outcome is not None:
                found.append((self._running.pop(key), outcome))
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.close(kill=kind is not None)

    @abc.abstractmethod
    def _start(self, task: Task) -> None:
        """Start a task; put its key and a handle into ``_ended`` when it ends."""

    @abc.abstractmethod
    def _outcome(self, key: str, handle: Any) -> Outcome | None:
        """Outcome of a task that ended; None if it was started again."""

    @abc.abstractmethod
    def close(self, *, kill: bool) -> None:
        """Give the workers back; ``kill`` ends what runs."""


def lost(message: str, output: str | None = None) -> Outcome:
    """Outcome of a task whose worker is gone, with what it wrote last."""
    return Outcome(Status.ERROR, message=message, traceback=output)
