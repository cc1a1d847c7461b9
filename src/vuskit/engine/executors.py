"""Where tasks run: in this process, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import logging
import multiprocessing
import queue
import shutil
import tempfile
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from vuskit._util.names import did_you_mean
from vuskit._util.optional import require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.engine._pickling import PackedValue, unpack
from vuskit.engine._process import run_action, warm_up_action
from vuskit.engine._worker import ATTEMPTS, PackedTask, Worker, lost_task
from vuskit.engine.tasks import UNLIMITED, Limits, Outcome, Status, Task
from vuskit.errors import InvalidInputError

__all__ = [
    "EXECUTOR_KINDS",
    "DaskExecutor",
    "Executor",
    "ExecutorSettings",
    "InProcessExecutor",
    "LocalExecutor",
    "make_executor",
]

EXECUTOR_KINDS = ("local", "dask")
"""Kinds of executors that settings can name."""

# Two tasks per thread: a worker has its next one while the outcome of the last travels.
_TASKS_PER_THREAD = 2
_CONNECT_SECONDS = 30
_COUNT_SECONDS = 1.0  # between two counts of the cluster's workers
_IDLE_SECONDS = 300.0  # after which processes of another, probably killed, run are closed


@dataclass(frozen=True)
class ExecutorSettings:
    """Where tasks run.

    Attributes
    ----------
    kind : str
        ``"local"``: processes of this machine; ``"dask"``: a Dask cluster.
    workers : int
        Number of processes. Ignored with an address: the cluster decides.
    address : str or None
        A Dask scheduler, or the ``.json`` file that it writes with ``--scheduler-file``. Without
        it, ``"dask"`` starts a cluster on this machine.

    Raises
    ------
    InvalidInputError
        If a setting is invalid.

    Examples
    --------
    >>> ExecutorSettings(workers=4)
    ExecutorSettings(kind='local', workers=4, address=None)
    >>> ExecutorSettings(kind="cloud")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `kind` must be one of 'local', 'dask', got 'cloud'
    """

    kind: str = "local"
    workers: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in EXECUTOR_KINDS:
            known = ", ".join(map(repr, EXECUTOR_KINDS))
            hint = did_you_mean(self.kind, EXECUTOR_KINDS)
            raise InvalidInputError(f"`kind` must be one of {known}, got {self.kind!r}{hint}")
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise InvalidInputError(f"`workers` must be an integer >= 1, got {self.workers!r}")
        if self.address is not None and self.kind != "dask":
            raise InvalidInputError(
                f"`address` must be left out for local processes, got {self.address!r}; "
                "choose the dask executor"
            )


class Executor(abc.ABC):
    """Takes tasks and returns their outcomes, in any order.

    Every task gets an outcome, whatever happens to its process. Executors store nothing.

    Use it as a context manager: leaving the block normally ends the idle workers, leaving it with
    an exception also kills what runs.
    """

    def __init__(self) -> None:
        self._running: dict[str, Task] = {}
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    @property
    @abc.abstractmethod
    def capacity(self) -> int:
        """Number of tasks that it takes at a time."""

    @property
    def name(self) -> str:
        """Description for people."""
        return f"{type(self).__name__.removesuffix('Executor').lower()}, {self.capacity} at a time"

    @property
    def free(self) -> int:
        """Number of tasks that it takes now."""
        return self.capacity - len(self._running)

    @property
    def running(self) -> tuple[Task, ...]:
        """Tasks that were submitted and have no outcome yet."""
        return tuple(self._running.values())

    def submit(self, task: Task) -> None:
        """Start a task; check `free` first."""
        self._running[task.key] = task
        self._start(task)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; return an empty list if there is none in time."""
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
                found.append((self._running.pop(key), _unpacked(outcome)))
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
        """End the workers; ``kill`` also ends running tasks."""


def _unpacked(outcome: Outcome) -> Outcome:
    if not isinstance(outcome.value, PackedValue):
        return outcome
    try:
        return dataclasses.replace(outcome, value=unpack(outcome.value.data))
    except Exception as error:
        message = f"the result of the worker could not be loaded: {error}"
        return lost_task(message, traceback.format_exc())


def _not_sent(error: Exception) -> Outcome:
    """Outcome of a task that could not be read or pickled."""
    return Outcome(
        Status.ERROR,
        message=f"{type(error).__name__}: {error}",
        traceback=traceback.format_exc(),
        error_type=type(error).__name__,
    )


class InProcessExecutor(Executor):
    """Runs one task at a time in this process, without limits of time and memory.

    Parameters
    ----------
    threads : int, default=1
        Threads of BLAS and OpenMP during a task: sums over several threads round differently.
    """

    def __init__(self, *, threads: int = 1) -> None:
        super().__init__()
        self._threadpoolctl = require("threadpoolctl", purpose="running tasks")
        self._threads = threads
        self._warm: set[str] = set()

    @property
    def capacity(self) -> int:
        """One."""
        return 1

    @property
    def name(self) -> str:
        """Description for people."""
        return "in this process"

    def _start(self, task: Task) -> None:
        self._ended.put((task.key, task))

    def _outcome(self, key: str, handle: Task) -> Outcome:
        action, group = handle.action, handle.action.group
        with self._threadpoolctl.threadpool_limits(self._threads):
            if group is None or group in self._warm:
                return run_action(action)
            begin = time.perf_counter()
            warm_up_action(lambda: action)
            seconds = time.perf_counter() - begin
            self._warm.add(group)
            return dataclasses.replace(run_action(action), warm_up_seconds=seconds)

    def close(self, *, kill: bool) -> None:
        """Forget tasks that have not run."""
        self._running.clear()


class LocalExecutor(Executor):
    """Worker processes of this machine, each with one task at a time.

    Parameters
    ----------
    workers : int, default=1
        Number of processes.
    limits : Limits
        Limits of each task.
    scratch : Path, optional
        Folder for the output of the workers. Default: a temporary folder.
    """

    def __init__(
        self, *, workers: int = 1, limits: Limits = UNLIMITED, scratch: Path | None = None
    ) -> None:
        super().__init__()
        self._temporary = None if scratch else Path(tempfile.gettempdir()) / _private_name()
        folder = scratch or self._temporary
        assert folder is not None
        self._workers = [Worker(limits, folder) for _ in range(workers)]
        self._idle = list(self._workers)
        self._busy: dict[str, Worker] = {}
        self._packed: dict[str, PackedTask] = {}
        self._starts: dict[str, int] = {}
        self._futures: dict[str, Future[Outcome]] = {}

    @property
    def capacity(self) -> int:
        """Number of processes."""
        return len(self._workers)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; if there is none, look for lost tasks."""
        found = super().collect(timeout)
        if not found:
            for key, worker in self._busy.items():
                if worker.lost:
                    self._ended.put((key, self._futures[key]))
        return found

    def _start(self, task: Task) -> None:
        try:
            packed = PackedTask.of(task)
        except Exception as error:
            self._ended.put((task.key, _not_sent(error)))
            return
        self._packed[task.key] = packed
        self._busy[task.key] = self._idle.pop()
        self._starts[task.key] = 0
        self._start_packed(task.key)

    def _start_packed(self, key: str) -> None:
        self._starts[key] += 1
        future = self._futures[key] = self._busy[key].start(self._packed[key])
        future.add_done_callback(lambda done: self._ended.put((key, done)))

    def _outcome(self, key: str, handle: Any) -> Outcome | None:
        if isinstance(handle, Outcome):
            return handle
        future = self._futures.get(key)
        if future is None or handle is not future:
            return None  # an earlier attempt
        outcome = self._busy[key].outcome(future)
        if outcome is None and self._starts[key] < ATTEMPTS:
            self._start_packed(key)
            return None
        self._idle.append(self._busy.pop(key))
        del self._starts[key], self._futures[key], self._packed[key]
        return outcome or lost_task(f"no worker process could be started, {ATTEMPTS} times")

    def close(self, *, kill: bool) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close(kill=kill)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


class DaskExecutor(Executor):
    """Workers of a ``dask.distributed`` cluster; each task runs in its own process under limits.

    Inputs travel with the tasks and values travel back, so that workers need no access to the
    files of this machine. If a worker dies, another one repeats its tasks.

    Parameters
    ----------
    address : str or None
        A scheduler, or the ``.json`` file that it writes with ``--scheduler-file``. Default: a
        cluster of processes on this machine.
    workers : int, default=1
        Number of processes of that cluster.
    limits : Limits
        Limits of each task.

    Raises
    ------
    InvalidInputError
        If no scheduler answers at the address.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        workers: int = 1,
        limits: Limits = UNLIMITED,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._distributed = require("distributed", purpose="the dask executor")
        self._limits = limits
        self._versions = dict(versions or {})
        self._run = uuid.uuid4().hex[:12]
        self._remote = address is not None
        self._cluster: Any = None
        if address is None:
            with ignore_sigint_in_children():
                self._cluster = self._distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",  # any free port, for this machine only
                    silence_logs=logging.ERROR,
                )
        try:
            by_file = address is not None and address.endswith(".json")
            place = {"scheduler_file": address} if by_file else {"address": address}
            if self._cluster is not None:
                place = {"address": self._cluster}
            self._client = self._distributed.Client(
                **place, timeout=_CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise InvalidInputError(
                "`executor.address` must be a Dask scheduler that answers, "
                f"got {address!r}: {error}"
            ) from error
        self._futures: dict[str, Any] = {}
        self._threads, self._counted = 1, float("-inf")

    @property
    def capacity(self) -> int:
        """Twice the threads of all current workers."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._threads = max(1, int(sum(self._client.nthreads().values())))
            self._counted = time.monotonic()
        return _TASKS_PER_THREAD * self._threads

    def _start(self, task: Task) -> None:
        key = task.key
        try:
            packed = PackedTask.of(task, load=True, portable=self._remote)
        except Exception as error:
            self._ended.put((key, _not_sent(error)))
            return
        config = require("dask.config", purpose="the dask executor")
        # Series travel with their tasks; Dask would print a warning about large ones.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            future = self._client.submit(
                _run_beside_dask_worker,
                packed,
                self._limits,
                self._run,
                # No two runs share a future: their limits and code may differ.
                key=f"vuskit-{self._run}-{key}",
                pure=False,
            )
        self._futures[key] = future
        future.add_done_callback(lambda done: self._ended.put((key, done)))

    def _outcome(self, key: str, handle: Any) -> Outcome | None:
        if isinstance(handle, Outcome):
            return handle
        future = self._futures.pop(key)
        try:
            outcome: Outcome = future.result()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if self._client.status != "running":
                raise InvalidInputError(
                    "`executor.address` must be a Dask scheduler that answers, "
                    f"got none any more: {error}"
                ) from error
            # Dask has tried other workers already, as often as it is configured to.
            return lost_task(f"{type(error).__name__}: {error}")
        finally:
            future.release()
        return outcome

    def close(self, *, kill: bool) -> None:
        """Cancel running tasks, end the processes beside the workers, disconnect."""
        try:
            if kill:
                self._client.cancel(list(self._futures.values()), force=True)
            if self._client.status == "running":
                self._client.run(_close_processes, self._run, kill=kill)
        except (OSError, TimeoutError):
            pass  # nobody left to tell
        finally:
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()


# --- On a Dask worker -------------------------------------------------------------------------


@dataclass
class _RunProcesses:
    """Processes of one run beside a Dask worker."""

    idle: queue.SimpleQueue[Worker] = field(default_factory=queue.SimpleQueue)
    busy: set[Worker] = field(default_factory=set)
    last_used: float = field(default_factory=time.monotonic)

    def close(self, *, kill: bool) -> None:
        if kill:
            for worker in tuple(self.busy):
                worker.close(kill=True)
        with contextlib.suppress(queue.Empty):
            while True:
                self.idle.get_nowait().close(kill=kill)


_processes_of_runs: dict[str, _RunProcesses] = {}


def _run_beside_dask_worker(task: PackedTask, limits: Limits, run: str) -> Outcome:
    """Run a task in a limited process beside the Dask worker."""
    _allow_children()
    _close_abandoned(run)
    processes = _processes_of_runs.setdefault(run, _RunProcesses())
    try:
        worker = processes.idle.get_nowait()
    except queue.Empty:
        # Dask removes this folder, also the one of a worker that was killed.
        distributed = require("distributed", purpose="the dask executor")
        worker = Worker(limits, Path(distributed.get_worker().local_directory) / "vuskit")
    processes.busy.add(worker)
    try:
        return worker.run(task)
    finally:
        processes.busy.discard(worker)
        processes.idle.put(worker)
        processes.last_used = time.monotonic()


def _allow_children() -> None:
    """Let this process start others.

    Dask marks its workers as daemons, and multiprocessing does not let daemons have children,
    because these might outlive them. Ours cannot: they end with their parent.
    """
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    config.pop("daemon", None)


def _close_abandoned(run: str) -> None:
    """End idle processes of other runs whose main process was probably killed."""
    for other, processes in tuple(_processes_of_runs.items()):
        idle = time.monotonic() - processes.last_used
        if other != run and not processes.busy and idle > _IDLE_SECONDS:
            _close_processes(other, kill=False)


def _close_processes(run: str, *, kill: bool) -> None:
    """End the processes of a run beside this Dask worker."""
    processes = _processes_of_runs.pop(run, None)
    if processes is not None:
        processes.close(kill=kill)


# --- Making one -------------------------------------------------------------------------------


def _make_local(
    settings: ExecutorSettings,
    limits: Limits,
    scratch: Path | None,
    versions: Mapping[str, str] | None,
) -> Executor:
    if settings.workers == 1 and limits.seconds is None and limits.memory is None:
        return InProcessExecutor(threads=limits.threads)
    return LocalExecutor(workers=settings.workers, limits=limits, scratch=scratch)


def _make_dask(
    settings: ExecutorSettings,
    limits: Limits,
    scratch: Path | None,
    versions: Mapping[str, str] | None,
) -> Executor:
    return DaskExecutor(
        address=settings.address, workers=settings.workers, limits=limits, versions=versions
    )


_MAKERS: dict[
    str,
    Callable[[ExecutorSettings, Limits, Path | None, Mapping[str, str] | None], Executor],
] = {"local": _make_local, "dask": _make_dask}


def make_executor(
    settings: ExecutorSettings,
    limits: Limits = UNLIMITED,
    *,
    scratch: Path | None = None,
    versions: Mapping[str, str] | None = None,
) -> Executor:
    """Make an executor.

    Parameters
    ----------
    settings : ExecutorSettings
        Where tasks run.
    limits : Limits
        Limits of each task. One local worker without limits of time and memory works in this
        process.
    scratch : Path, optional
        Folder for the output of local workers. Default: a temporary folder.
    versions : mapping of str to str, optional
        Expected versions of libraries. Dask workers with other versions get no tasks. Local
        executors ignore it.

    Returns
    -------
    Executor
        Close it, or use it as a context manager.

    Raises
    ------
    InvalidInputError
        If no Dask scheduler answers, or no Dask worker has the expected versions.

    Examples
    --------
    >>> with make_executor(ExecutorSettings()) as executor:
    ...     executor.name
    'in this process'
    """
    return _MAKERS[settings.kind](settings, limits, scratch, versions)


def _private_name() -> str:
    return f".vuskit-{uuid.uuid4().hex[:12]}"
