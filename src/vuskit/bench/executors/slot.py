"""One worker process under limits: a job that breaks them, or the process, costs that job only."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import multiprocessing
import os
import signal
import sys
import uuid
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from vuskit._util.optional import require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.bench.executors.base import lost
from vuskit.bench.executors.offspring import end_offspring_with_this_process
from vuskit.bench.executors.witness import ALARM_MARK, stack_written_late
from vuskit.bench.jobs import Outcome, Task, run_task_safely, warm_up
from vuskit.bench.memory import (
    OVER_MEMORY_EXIT,
    die_with_parent,
    limit_memory,
    limit_threads,
    watch,
)
from vuskit.bench.plan import Limits
from vuskit.bench.states import Status

__all__ = ["Slot"]

_OUTPUT_TAIL = 8000


class Slot:
    """A pool of one process that is replaced when it dies.

    One process per pool, because then it is always known which job a death belongs to.

    Parameters
    ----------
    limits : Limits
        Of each job.
    scratch : Path
        Folder for files with what the process prints, and where it was when its time was over.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._pebble = require("pebble", purpose="running jobs under limits")
        self._limits = limits
        name = f"worker-{uuid.uuid4().hex[:12]}"
        self._output, self._stack = scratch / f"{name}.log", scratch / f"{name}.stack"
        self._pool: Any = None
        self._future: Future[Outcome] | None = None
        self._warm: set[str] = set()  # engines that the process has loaded
        self._unwarmable: set[str] = set()  # those that broke it, or took too long
        self._warm_up_seconds: float | None = None

    def start(self, task: Task) -> Future[Outcome]:
        """Start a task, after what it needs has been loaded and compiled."""
        if self._pool is not None and not self._pool.active:
            self._end_process(kill=True)  # it died while it had nothing to do
        if self._pool is None:
            self._pool = self._new_pool()
        self._warm_up_seconds = None
        engine = task.job.engine
        with ignore_sigint_in_children():  # what is scheduled first starts the process
            if engine is None or engine in self._warm | self._unwarmable:
                self._future = self._schedule(task)
            else:
                self._future = self._schedule_warm(task, engine)
        return self._future

    def _schedule(self, task: Task) -> Future[Outcome]:
        future: Future[Outcome] = self._pool.schedule(
            _perform_under_limits,
            args=(task, self._limits.seconds, str(self._stack)),
            timeout=self._limits.seconds,
        )
        return future

    def _schedule_warm(self, task: Task, engine: str) -> Future[Outcome]:
        """Let the process get ready under a limit of its own; the task's time begins after it."""
        promised: Future[Outcome] = Future()
        promised.set_running_or_notify_cancel()
        bare = dataclasses.replace(task, series=None, scores=None)
        warming: Future[float] = self._pool.schedule(
            warm_up, args=(bare,), timeout=self._limits.warm_up_seconds
        )

        def go_on(done: Future[float]) -> None:
            try:
                self._note_warm_up(done, engine)
                _pass_on(self._schedule(task), promised)
            except BaseException as error:  # the pool was stopped meanwhile
                promised.set_exception(BrokenProcessPool(str(error)))

        warming.add_done_callback(go_on)
        return promised

    def _note_warm_up(self, done: Future[float], engine: str) -> None:
        try:
            self._warm_up_seconds = done.result()
            self._warm.add(engine)
        except (TimeoutError, self._pebble.ProcessExpired) as error:
            # The task goes on in a new process: what it does there, under its own limits, counts.
            self._warm.clear()
            self._unwarmable.add(engine)
            if isinstance(error, TimeoutError):
                self._warm_up_seconds = self._limits.warm_up_seconds

    @property
    def lost(self) -> bool:
        """Whether a task is under way that nobody will finish.

        A process that dies at the moment at which it is given a task can take the pool with it
        before the pool knows of the task.
        """
        future, pool = self._future, self._pool
        return future is not None and not future.done() and (pool is None or not pool.active)

    def outcome(self, future: Future[Outcome]) -> Outcome | None:
        """Outcome of a task that ended; None if its process died before it began."""
        if not future.done():  # it was lost
            self._end_process(kill=True)
            return None
        outcome = self._judged(future)
        if outcome is None:
            self._end_process(kill=True)
            return None
        if outcome.status is Status.OOM:
            # What the job held may never be given back to the system.
            self._end_process(kill=True)
        return dataclasses.replace(outcome, warm_up_seconds=self._warm_up_seconds)

    def _judged(self, future: Future[Outcome]) -> Outcome | None:
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
            return lost(f"the worker could not send its result: {error}", self._tail())

    def _timeout(self, how: str = "") -> Outcome:
        return Outcome(
            Status.TIMEOUT,
            message=f"took more than {self._limits.seconds:g} s{how}",
            traceback=self._tail(),
            seconds=self._limits.seconds,
        )

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
        with contextlib.suppress(OSError):  # not empty: others use it too
            self._output.parent.rmdir()

    def _new_pool(self) -> Any:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        return self._pebble.ProcessPool(
            max_workers=1,
            initializer=_prepare_worker,
            initargs=(self._limits, os.getpid(), str(self._output)),
            # Nothing of this process is inherited: no lock, no database, no threads.
            context=multiprocessing.get_context("spawn"),
        )

    def _died(self, code: int | None) -> Outcome:
        output = self._tail()
        if code == OVER_MEMORY_EXIT:
            return Outcome(Status.OOM, message="took more memory than allowed", traceback=output)
        if code is None or code >= 0:
            return lost(f"the worker process ended with exit code {code}", output)
        name = signal.Signals(-code).name
        if -code == signal.SIGKILL:
            message = "the worker process was killed (SIGKILL), most likely for want of memory"
            return Outcome(Status.OOM, message=message, traceback=output)
        if ALARM_MARK in _read_tail(self._stack):
            # Its time was as good as over, and the alarm may be what killed it.
            return self._timeout(f", at the end of which it died of signal {-code} ({name})")
        return lost(f"the worker process died of signal {-code} ({name})", output)

    def _tail(self) -> str | None:
        """What the job printed last, and where it was when its time was over."""
        return "\n".join(filter(None, map(_read_tail, (self._output, self._stack)))) or None


def _read_tail(path: Path) -> str:
    try:
        return path.read_bytes()[-_OUTPUT_TAIL:].decode(errors="replace").strip()
    except OSError:
        return ""


def _pass_on(source: Future[Outcome], target: Future[Outcome]) -> None:
    """Let one future end as another does."""

    def copy(done: Future[Outcome]) -> None:
        try:
            target.set_result(done.result())
        except BaseException as error:  # CancelledError too
            target.set_exception(error)

    source.add_done_callback(copy)


def _prepare_worker(limits: Limits, parent: int, output: str) -> None:
    """Set up a fresh worker process."""
    # The default action works at once, also while compiled code holds the interpreter.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_offspring_with_this_process()
    die_with_parent()
    watch(parent, limits.memory)
    _redirect_output(output)
    limit_threads(limits.threads)
    limit_memory(limits.memory)


def _redirect_output(path: str) -> None:
    """Send what detectors print to a file, where it cannot disturb the progress display."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    # A crash leaves the Python stack in the file.
    faulthandler.enable(file=2)


def _perform_under_limits(task: Task, seconds: float, stack: str) -> Outcome:
    """Do a task; shortly before the time is over, write down where it is."""
    os.ftruncate(1, 0)
    with stack_written_late(seconds, stack):
        return run_task_safely(task)
