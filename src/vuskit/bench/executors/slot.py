"""One worker process under limits: a job that breaks them, or the process, costs that job only."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import uuid
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from vuskit.bench.executors.base import lost
from vuskit.bench.jobs import Outcome, Task
from vuskit.bench.memory import (
    OVER_MEMORY_EXIT,
    die_with_parent,
    limit_memory,
    limit_threads,
    watch,
)
from vuskit.bench.plan_parts import Limits
from vuskit.bench.states import Status
from vuskit.bench.work import perform
from vuskit.datasets.optional import require

__all__ = ["Slot"]

_OUTPUT_TAIL = 8000
_LOOK_SECONDS = 1.0


class Slot:
    """A pool of one process that is replaced when it dies.

    One process per pool, because then it is always known which job a death belongs to.

    Parameters
    ----------
    limits : Limits
        Of each job.
    scratch : Path
        Folder for a file with what the process prints.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._pebble = require("pebble", purpose="running jobs under limits")
        self._limits = limits
        self._output = scratch / f"worker-{uuid.uuid4().hex[:12]}.log"
        self._pool: Any = None
        self._future: Future[Outcome] | None = None
        self._closed = False

    def start(self, task: Task) -> Future[Outcome]:
        """Start a task."""
        if self._pool is not None and not self._pool.active:
            self._end_process(kill=True)  # it died while it had nothing to do
        if self._pool is None:
            self._pool = self._new_pool()
        future: Future[Outcome] = self._pool.schedule(
            _perform_under_limits,
            args=(task, self._limits.seconds),
            timeout=self._limits.seconds,
        )
        self._future = future
        return future

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
        try:
            outcome = future.result()
        except TimeoutError:
            message = f"took more than {self._limits.seconds:g} s"
            return Outcome(
                Status.TIMEOUT,
                message=message,
                traceback=self._tail(),
                seconds=self._limits.seconds,
            )
        except (BrokenProcessPool, CancelledError):
            self._end_process(kill=True)
            return None
        except self._pebble.ProcessExpired as error:
            return self._died(error.exitcode)
        except Exception as error:
            return lost(f"the worker could not send its result: {error}", self._tail())
        if outcome.status is Status.OOM:
            # What the job held may never be given back to the system.
            self._end_process(kill=True)
        return outcome

    def run(self, task: Task, attempts: int = 3) -> Outcome:
        """Do a task and wait for it."""
        for _ in range(attempts):
            future = self.start(task)
            while wait([future], timeout=_LOOK_SECONDS).not_done and not self.lost:
                pass
            outcome = self.outcome(future)
            if outcome is not None:
                return outcome
            if self._closed:
                return lost("the worker was closed")
        return lost(f"no worker process could be started, {attempts} times")

    def close(self, *, kill: bool = False) -> None:
        """End the process for good."""
        self._closed = True
        self._end_process(kill=kill)

    def _end_process(self, *, kill: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop() if kill else pool.close()
            with contextlib.suppress(Exception):
                pool.join()
        self._output.unlink(missing_ok=True)
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
        return lost(f"the worker process died of signal {-code} ({name})", output)

    def _tail(self) -> str | None:
        try:
            text = self._output.read_bytes()[-_OUTPUT_TAIL:].decode(errors="replace").strip()
        except OSError:
            return None
        return text or None


def _prepare_worker(limits: Limits, parent: int, output: str) -> None:
    """Set up a fresh worker process."""
    # The default action works at once, also while compiled code holds the interpreter.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
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


def _perform_under_limits(task: Task, seconds: float) -> Outcome:
    """Do a task; shortly before the time is over, write down where it is."""
    os.ftruncate(1, 0)
    faulthandler.dump_traceback_later(max(0.9 * seconds, seconds - 2.0), file=2)
    try:
        return perform(task)
    finally:
        faulthandler.cancel_dump_traceback_later()
