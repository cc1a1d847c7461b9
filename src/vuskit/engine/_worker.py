"""Worker processes under limits: a task that breaks them costs that task only."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import signal
import uuid
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vuskit._util.optional import require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.engine._pickling import pack
from vuskit.engine._process import (
    ALARM_MARK,
    OVER_MEMORY_EXIT,
    prepare_worker,
    run_packed_action,
    warm_up_packed_action,
)
from vuskit.engine.tasks import Limits, Outcome, Status, Task

__all__ = ["ATTEMPTS", "PackedTask", "Worker", "WorkerProcess", "lost_task"]

ATTEMPTS = 3
"""Number of starts of a task whose process dies before it begins."""

_OUTPUT_TAIL = 8000
_POLL_SECONDS = 1.0
_QUICK_SECONDS = 1.0


@dataclass(frozen=True)
class PackedTask:
    """A pickled task; ``bare`` is its action without inputs, which is enough for the warm-up."""

    group: str | None
    action: bytes
    bare: bytes

    @classmethod
    def of(cls, task: Task, *, load: bool = False, portable: bool = False) -> PackedTask:
        """Pickle a task; ``load`` attaches its inputs."""
        bare = pack(task.action, portable=portable)
        action = pack(task.action.load(), portable=portable) if load else bare
        return cls(task.action.group, action, bare)


def lost_task(message: str, output: str | None = None) -> Outcome:
    """Outcome of a task whose worker is gone, with the last output."""
    return Outcome(Status.ERROR, message=message, traceback=output)


class WorkerProcess:
    """One process that runs one task at a time and is replaced when it dies.

    Each process has its own pool, so that a death always belongs to a known task.

    Parameters
    ----------
    limits : Limits
        Limits of each task.
    scratch : Path
        Folder for the output of the process and its stack dumps.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._pebble = require("pebble", purpose="running tasks under limits")
        self._limits = limits
        name = f"worker-{uuid.uuid4().hex[:12]}"
        self._output, self._stack = scratch / f"{name}.log", scratch / f"{name}.stack"
        self._pool: Any = None
        self._future: Future[Outcome] | None = None
        self._warm: set[str] = set()  # groups that the process has warmed up
        self._not_warmable: set[str] = set()  # groups whose warm-up broke it or took too long
        self._warm_up_seconds: float | None = None

    def start(self, task: PackedTask) -> Future[Outcome]:
        """Start a task, after a warm-up if its group needs one."""
        try:
            self._future = self._start(task)
        except RuntimeError:
            # The process died while idle, and the pool noticed between our check and the request.
            self._end_process(kill=True)
            self._future = self._start(task)
        return self._future

    def _start(self, task: PackedTask) -> Future[Outcome]:
        if self._pool is not None and not self._pool.active:
            self._end_process(kill=True)  # it died while idle
        if self._pool is None:
            self._pool = self._new_pool()
        self._warm_up_seconds = None
        group = task.group
        with ignore_sigint_in_children():  # scheduling starts the process
            if group is None or group in self._warm | self._not_warmable:
                return self._schedule(task)
            return self._schedule_after_warm_up(task, group)

    def _schedule(self, task: PackedTask) -> Future[Outcome]:
        future: Future[Outcome] = self._pool.schedule(
            run_packed_action,
            args=(task.action, self._limits.seconds, str(self._stack)),
            timeout=self._limits.seconds,
        )
        return future

    def _schedule_after_warm_up(self, task: PackedTask, group: str) -> Future[Outcome]:
        """Warm up under a separate limit; the task's time begins afterwards."""
        promised: Future[Outcome] = Future()
        promised.set_running_or_notify_cancel()
        warming: Future[float] = self._pool.schedule(
            warm_up_packed_action, args=(task.bare,), timeout=self._limits.warm_up_seconds
        )

        def continue_with_task(done: Future[float]) -> None:
            try:
                self._note_warm_up(done, group)
                _forward(self._schedule(task), promised)
            except BaseException as error:  # the pool was stopped meanwhile
                promised.set_exception(BrokenProcessPool(str(error)))

        warming.add_done_callback(continue_with_task)
        return promised

    def _note_warm_up(self, done: Future[float], group: str) -> None:
        try:
            self._warm_up_seconds = done.result()
            self._warm.add(group)
        except (TimeoutError, self._pebble.ProcessExpired) as error:
            # The task runs in a new process under its own limits, and its outcome counts.
            self._warm.clear()
            self._not_warmable.add(group)
            if isinstance(error, TimeoutError):
                self._warm_up_seconds = self._limits.warm_up_seconds

    @property
    def lost(self) -> bool:
        """Whether a task was started that will never finish.

        A process that dies while it receives a task can end the pool before the pool knows of
        the task.
        """
        future, pool = self._future, self._pool
        return future is not None and not future.done() and (pool is None or not pool.active)

    def outcome(self, future: Future[Outcome]) -> Outcome | None:
        """Outcome of a task that ended; None if its process died before it began."""
        outcome = self._result(future) if future.done() else None
        if outcome is None or outcome.status is Status.OOM:
            # After OOM: the process may never return its memory to the system.
            self._end_process(kill=True)
        if outcome is None:
            return None
        return dataclasses.replace(outcome, warm_up_seconds=self._warm_up_seconds)

    def _result(self, future: Future[Outcome]) -> Outcome | None:
        try:
            return future.result()
        except TimeoutError:
            self._warm.clear()
            return self._timeout()
        except (BrokenProcessPool, CancelledError):
            return None
        except self._pebble.ProcessExpired as error:
            self._warm.clear()
            return self._died(error.exitcode)
        except Exception as error:
            return lost_task(f"the worker could not send its result: {error}", self._tail())

    def _timeout(self, detail: str = "") -> Outcome:
        return Outcome(
            Status.TIMEOUT,
            message=f"took more than {self._limits.seconds:g} s{detail}",
            traceback=self._tail(),
            seconds=self._limits.seconds,
        )

    def _died(self, code: int | None) -> Outcome:
        output = self._tail()
        if code == OVER_MEMORY_EXIT:
            return Outcome(Status.OOM, message="took more memory than allowed", traceback=output)
        if code is None or code >= 0:
            return lost_task(f"the worker process ended with exit code {code}", output)
        name = signal.Signals(-code).name
        if -code == signal.SIGKILL:
            message = "the worker process was killed (SIGKILL), most likely for want of memory"
            return Outcome(Status.OOM, message=message, traceback=output)
        if ALARM_MARK in _read_tail(self._stack):
            # Its time was nearly over, and the alarm may have killed it.
            return self._timeout(f", at the end of which it died of signal {-code} ({name})")
        return lost_task(f"the worker process died of signal {-code} ({name})", output)

    def _tail(self) -> str | None:
        """The last output of the task, and where it was when its time was over."""
        return "\n".join(filter(None, map(_read_tail, (self._output, self._stack)))) or None

    def close(self, *, kill: bool = False) -> None:
        """End the process."""
        self._end_process(kill=kill)

    def _end_process(self, *, kill: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop() if kill else pool.close()
            with contextlib.suppress(Exception):
                pool.join()
        self._warm.clear()
        for file in (self._output, self._stack):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: other processes use it too
            self._output.parent.rmdir()

    def _new_pool(self) -> Any:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        return self._pebble.ProcessPool(
            max_workers=1,
            initializer=prepare_worker,
            initargs=(self._limits, os.getpid(), str(self._output)),
            # Nothing is inherited from this process: no lock, no database, no threads.
            context=multiprocessing.get_context("spawn"),
        )


class Worker:
    """One task at a time, in one of two processes.

    Compiling takes longer than many tasks, and a killed process loses what it has compiled. So a
    group that got its process killed, and warms up quickly itself, runs its next tasks in a spare
    process, which is started when first needed.

    Parameters
    ----------
    limits : Limits
        Limits of each task.
    scratch : Path
        Folder for the output of the processes.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._main, self._spare = WorkerProcess(limits, scratch), WorkerProcess(limits, scratch)
        self._used = self._main
        self._group: str | None = None
        self._slow_groups: set[str] = set()  # their warm-up takes long
        self._spare_groups: set[str] = set()  # they run in the spare process
        self._closed = False

    def start(self, task: PackedTask) -> Future[Outcome]:
        """Start a task."""
        self._group = task.group
        self._used = self._spare if task.group in self._spare_groups else self._main
        return self._used.start(task)

    @property
    def lost(self) -> bool:
        """Whether a task was started that will never finish."""
        return self._used.lost

    def outcome(self, future: Future[Outcome]) -> Outcome | None:
        """Outcome of a task that ended; None if its process died before it began."""
        outcome = self._used.outcome(future)
        if outcome is not None and self._group is not None:
            if (outcome.warm_up_seconds or 0.0) > _QUICK_SECONDS:
                self._slow_groups.add(self._group)
            process_ended = outcome.worker is None
            if process_ended and self._group not in self._slow_groups:
                self._spare_groups.add(self._group)
        return outcome

    def run(self, task: PackedTask) -> Outcome:
        """Run a task and wait for it."""
        for _ in range(ATTEMPTS):
            future = self.start(task)
            while wait([future], timeout=_POLL_SECONDS).not_done and not self.lost:
                pass
            outcome = self.outcome(future)
            if outcome is not None:
                return outcome
            if self._closed:
                return lost_task("the worker was closed")
        return lost_task(f"no worker process could be started, {ATTEMPTS} times")

    def close(self, *, kill: bool = False) -> None:
        """End the processes for good."""
        self._closed = True
        for process in (self._main, self._spare):
            process.close(kill=kill)


def _read_tail(path: Path) -> str:
    try:
        return path.read_bytes()[-_OUTPUT_TAIL:].decode(errors="replace").strip()
    except OSError:
        return ""


def _forward(source: Future[Outcome], target: Future[Outcome]) -> None:
    """End one future as another ends."""

    def copy(done: Future[Outcome]) -> None:
        try:
            target.set_result(done.result())
        except BaseException as error:  # CancelledError too
            target.set_exception(error)

    source.add_done_callback(copy)
