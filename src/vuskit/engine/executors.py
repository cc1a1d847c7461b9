"""Executors: run tasks in this process, in local processes, or on a Dask cluster."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import logging
import queue
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from vuskit._util.names import did_you_mean
from vuskit._util.optional import require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.engine._pickling import PackedValue, unpack
from vuskit.engine._pool import PackedTask, Pool
from vuskit.engine._process import allow_children, outcome_of, run_action, warm_up_action
from vuskit.engine.tasks import UNLIMITED, Limits, Outcome, Status, Task
from vuskit.errors import ClusterError, InvalidInputError, warn

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

# Two tasks per thread, so that a worker need not wait while the last outcome is sent.
_TASKS_PER_THREAD = 2
_CONNECT_SECONDS = 30
_COUNT_SECONDS = 1.0  # between two counts of the workers in the cluster
_IDLE_SECONDS = 300.0  # after which idle processes of other runs, probably killed, are closed


@dataclass(frozen=True)
class ExecutorSettings:
    """Where tasks run.

    Attributes
    ----------
    kind : str
        ``"local"``: processes on this machine; ``"dask"``: a Dask cluster.
    workers : int
        Number of processes. Ignored with an address, where the cluster decides.
    address : str or None
        Address of a Dask scheduler, or the ``.json`` file that it writes with
        ``--scheduler-file``. Default: ``"dask"`` starts a cluster on this machine.

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
                f"`address` must be omitted for local processes, got {self.address!r}; "
                "set kind='dask' to use it"
            )


class Executor(abc.ABC):
    """Takes tasks and returns their outcomes, in any order.

    Every task gets an outcome, even if its process dies. Executors store nothing.

    Use an executor as a context manager. Leaving the block ends the idle workers; leaving it with
    an exception also kills running tasks.
    """

    def __init__(self) -> None:
        self._running: dict[str, Task] = {}

    @property
    @abc.abstractmethod
    def capacity(self) -> int:
        """Maximum number of submitted tasks."""

    @property
    def name(self) -> str:
        """Description for logs and messages."""
        return f"{type(self).__name__.removesuffix('Executor').lower()}, {self.capacity} at a time"

    @property
    def free(self) -> int:
        """Number of tasks that can be submitted now."""
        return self.capacity - len(self._running)

    @property
    def running(self) -> tuple[Task, ...]:
        """Submitted tasks without an outcome."""
        return tuple(self._running.values())

    def submit(self, task: Task) -> None:
        """Start a task; check `free` first."""
        self._running[task.key] = task
        self._start(task)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; return an empty list after the timeout."""
        found = self._wait(timeout) if self._running else []
        return [(self._running.pop(key), _unpacked(outcome)) for key, outcome in found]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.close(kill=kind is not None)

    @abc.abstractmethod
    def _start(self, task: Task) -> None:
        """Start a task."""

    @abc.abstractmethod
    def _wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        """Wait for tasks; return their keys and outcomes."""

    @abc.abstractmethod
    def close(self, *, kill: bool) -> None:
        """End the workers; ``kill`` also ends running tasks."""


def _unpacked(outcome: Outcome) -> Outcome:
    value = outcome.value
    if not isinstance(value, PackedValue):
        return outcome
    loaded = outcome_of(lambda: unpack(value.data))
    if loaded.status is Status.OK:
        return dataclasses.replace(outcome, value=loaded.value)
    message = f"the result of the worker could not be loaded: {loaded.message}"
    return Outcome(Status.ERROR, message=message, traceback=loaded.traceback)


class InProcessExecutor(Executor):
    """Runs one task at a time in this process, without limits on time and memory.

    Parameters
    ----------
    threads : int, default=1
        Threads of BLAS and OpenMP during a task. Sums over several threads round differently.
    """

    def __init__(self, *, threads: int = 1) -> None:
        super().__init__()
        self._threadpoolctl = require("threadpoolctl", purpose="running tasks")
        self._threads = threads
        self._warm: set[str | None] = {None}

    @property
    def capacity(self) -> int:
        """One."""
        return 1

    @property
    def name(self) -> str:
        """Description for logs and messages."""
        return "in this process"

    def _start(self, task: Task) -> None:
        pass

    def _wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        key, task = next(iter(self._running.items()))
        seconds = None
        with self._threadpoolctl.threadpool_limits(self._threads):
            if task.action.group not in self._warm:
                seconds = warm_up_action(task.action)
                self._warm.add(task.action.group)
            outcome = run_action(task.action)
        return [(key, dataclasses.replace(outcome, warm_up_seconds=seconds))]

    def close(self, *, kill: bool) -> None:
        """Forget tasks that have not run."""
        self._running.clear()


class LocalExecutor(Executor):
    """Worker processes on this machine, each with one task at a time.

    Parameters
    ----------
    workers : int, default=1
        Number of processes.
    limits : Limits
        Limits of each task. A limit on memory needs psutil.
    scratch : Path, optional
        Folder for the output of the workers. Default: a temporary folder.
    """

    def __init__(
        self, *, workers: int = 1, limits: Limits = UNLIMITED, scratch: Path | None = None
    ) -> None:
        super().__init__()
        folder = scratch or Path(tempfile.gettempdir()) / f".vuskit-{uuid.uuid4().hex[:12]}"
        self._workers = workers
        self._pool = Pool(workers, limits, folder)
        self._failed: list[tuple[str, Outcome]] = []  # tasks that could not be pickled

    @property
    def capacity(self) -> int:
        """Number of processes."""
        return self._workers

    def _start(self, task: Task) -> None:
        packed = outcome_of(lambda: PackedTask.of(task))
        if packed.status is Status.OK:
            self._pool.submit(task.key, packed.value)
        else:
            self._failed.append((task.key, packed))

    def _wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        failed, self._failed = self._failed, []
        return failed + self._pool.poll(0 if failed else timeout)

    def close(self, *, kill: bool) -> None:
        """End the processes."""
        self._pool.close(kill=kill)


class DaskExecutor(Executor):
    """Workers of a ``dask.distributed`` cluster; each task runs in its own process under limits.

    Inputs are sent with the tasks and values are sent back, so that workers need no access to the
    files of this machine. If a worker dies, another one repeats its tasks.

    Parameters
    ----------
    address : str or None
        Address of a scheduler, or the ``.json`` file that it writes with ``--scheduler-file``.
        Default: start a cluster on this machine.
    workers : int, default=1
        Number of processes of the cluster on this machine.
    limits : Limits
        Limits of each task.
    versions : mapping of str to str, optional
        Expected library versions by distribution name; ``core`` is the name of vuskit's core.
        Workers with other versions are reported and get no tasks, including workers that join
        later.

    Raises
    ------
    InvalidInputError
        If the scheduler is unreachable, or no worker has the expected versions.
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
            raise ClusterError(
                f"`executor.address` must be a reachable Dask scheduler, got {address!r}: {error}; "
                "check that the scheduler is running"
            ) from error
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._packed: dict[str, PackedTask] = {}
        self._futures: dict[str, Any] = {}
        self._allowed: dict[str, set[str]] = {}  # workers that a task may run on
        self._threads, self._counted = 1, float("-inf")
        self._fitting: set[str] = set()
        self._had_fitting = False
        self._unfit: dict[str, str] = {}  # versions of workers that get no tasks
        try:
            self._count()
        except BaseException:
            self.close(kill=True)
            raise

    @property
    def capacity(self) -> int:
        """Twice the threads of all current workers that have the expected versions."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._count()
        return _TASKS_PER_THREAD * self._threads

    def _count(self) -> None:
        workers = self._client.nthreads()
        self._counted = time.monotonic()
        if not self._versions:
            self._threads = max(1, int(sum(workers.values())))
            return
        self._check_versions(set(workers))
        self._threads = int(sum(workers[one] for one in self._fitting))

    def _check_versions(self, workers: set[str]) -> None:
        """Compare the library versions of new workers."""
        self._fitting &= workers
        joined = workers - self._fitting - set(self._unfit)
        if joined:
            found = self._client.run(
                _function_to_find_versions(),
                list(self._versions),
                workers=sorted(joined),
                on_error="ignore",  # the worker may have left already
            )
            for address, versions in found.items():
                self._note_versions(address, versions)
        self._had_fitting |= bool(self._fitting)
        # After a suitable worker was seen once, wait for it to return instead.
        if workers and not self._had_fitting and workers <= set(self._unfit):
            raise ClusterError(
                "the Dask cluster must have a worker with the library versions of this machine, "
                f"got none: {'; '.join(self._unfit[one] for one in sorted(workers))}; install "
                "the same versions there"
            )

    def _note_versions(self, address: str, versions: dict[str, str | None]) -> None:
        wrong = [
            f"{name} {versions[name] or '(not installed)'} instead of {expected}"
            for name, expected in self._versions.items()
            if versions[name] != expected
        ]
        if not wrong:
            self._fitting.add(address)
            return
        self._unfit[address] = f"worker {address} has {', '.join(wrong)}"
        warn(f"{self._unfit[address]} and gets no tasks", RuntimeWarning)

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; restart tasks whose workers have all left."""
        found = super().collect(timeout)
        if not found and self._versions:
            if not self._running:
                time.sleep(timeout)  # a worker may join meanwhile
            available = bool(self.capacity)
            stranded = [
                key for key, allowed in self._allowed.items() if not allowed & self._fitting
            ]
            for key in stranded if available else ():
                # Dask would wait for a worker with the same address.
                self._client.cancel([self._futures.pop(key)], force=True)
                self._submit(key)
        return found

    def _wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        found: list[tuple[str, Outcome]] = []
        deadline = time.monotonic() + timeout
        with contextlib.suppress(queue.Empty):
            while len(found) < len(self._running):
                left = 0.0 if found else max(0.0, deadline - time.monotonic())
                key, ended = self._ended.get(block=left > 0, timeout=left or None)
                if isinstance(ended, Outcome):
                    found.append((key, ended))
                elif ended is self._futures.get(key):  # otherwise the task was restarted
                    found.append((key, self._result(key)))
        return found

    def _start(self, task: Task) -> None:
        packed = outcome_of(lambda: PackedTask.of(task, load=True, portable=self._remote))
        if packed.status is not Status.OK:
            self._ended.put((task.key, packed))
            return
        self._packed[task.key] = packed.value
        self._submit(task.key)

    def _submit(self, key: str) -> None:
        config = require("dask.config", purpose="the dask executor")
        restriction: dict[str, Any] = {}
        if self._versions:
            self._allowed[key] = set(self._fitting)
            restriction = {"workers": sorted(self._fitting), "allow_other_workers": False}
        # Inputs are sent with their tasks, and Dask would warn about large ones.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            future = self._client.submit(
                _run_beside_dask_worker,
                self._packed[key],
                self._limits,
                self._run,
                # Runs must not share futures, because their limits and code may differ.
                key=f"vuskit-{self._run}-{key}-{uuid.uuid4().hex[:6]}",
                pure=False,
                **restriction,
            )
        self._futures[key] = future
        future.add_done_callback(lambda done: self._ended.put((key, future)))

    def _result(self, key: str) -> Outcome:
        future = self._futures.pop(key)
        del self._packed[key]
        self._allowed.pop(key, None)
        try:
            outcome: Outcome = future.result()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if self._client.status != "running":
                raise ClusterError(
                    "`executor.address` must be a reachable Dask scheduler, but the connection was "
                    f"lost: {error}; restart the scheduler and run the same command again"
                ) from error
            # Dask has already retried on other workers, as often as configured.
            killed = isinstance(error, self._distributed.KilledWorker)
            status = Status.KILLED if killed else Status.ERROR
            return Outcome(status, message=f"{type(error).__name__}: {error}")
        finally:
            future.release()
        return outcome

    def close(self, *, kill: bool) -> None:
        """End the processes of the workers and disconnect; ``kill`` also cancels running tasks."""
        try:
            if kill:
                self._client.cancel(list(self._futures.values()), force=True)
            if self._client.status == "running":
                workers = None
                if self._versions:
                    workers = sorted(self._fitting.intersection(self._client.nthreads()))
                self._client.run(
                    _close_pools, self._run, kill=kill, workers=workers, on_error="ignore"
                )
        except (OSError, TimeoutError):
            pass  # the scheduler or the workers are gone
        finally:
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()


def _function_to_find_versions() -> Callable[[list[str]], dict[str, str | None]]:
    """Function to run on workers, sent by value because their vuskit version may differ."""

    def find_versions(names: list[str]) -> dict[str, str | None]:
        from importlib import import_module, metadata

        found: dict[str, str | None] = {}
        for name in names:
            try:
                # The metadata of an editable install may belong to an older version.
                if name == "vuskit":
                    found[name] = import_module(name).__version__
                elif name == "core":
                    found[name] = import_module("vuskit.kernels.backend").core_name()
                else:
                    found[name] = metadata.version(name)
            except Exception:
                found[name] = None
        return found

    return find_versions


# --- On a Dask worker -------------------------------------------------------------------------


@dataclass
class _RunPools:
    """Pools of one run on a Dask worker, by thread: processes end with their thread."""

    pools: dict[int, Pool] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)
    last_used: float = field(default_factory=time.monotonic)


_pools_of_runs: dict[str, _RunPools] = {}


def _run_beside_dask_worker(task: PackedTask, limits: Limits, run: str) -> Outcome:
    """Run a task under limits, in a separate process started by the Dask worker."""
    allow_children()
    _close_abandoned(run)
    used, thread = _pools_of_runs.setdefault(run, _RunPools()), threading.get_ident()
    if thread not in used.pools:
        # Dask removes this folder, even if the worker was killed.
        distributed = require("distributed", purpose="the dask executor")
        folder = Path(distributed.get_worker().local_directory) / "vuskit"
        used.pools[thread] = Pool(1, limits, folder)
    used.busy.add(thread)
    try:
        return used.pools[thread].run(task)
    finally:
        used.busy.discard(thread)
        used.last_used = time.monotonic()


def _close_abandoned(run: str) -> None:
    """End processes of other runs that were idle for long: their main process probably died."""
    for other, used in tuple(_pools_of_runs.items()):
        idle = time.monotonic() - used.last_used
        if other != run and not used.busy and idle > _IDLE_SECONDS:
            _close_pools(other, kill=False)


def _close_pools(run: str, *, kill: bool) -> None:
    """End the processes of a run that belong to this Dask worker."""
    used = _pools_of_runs.pop(run, _RunPools())
    for thread, pool in used.pools.items():
        if thread not in used.busy:
            pool.close(kill=kill)
        elif kill:
            pool.kill()


# --- Factory ----------------------------------------------------------------------------------


def make_executor(
    settings: ExecutorSettings,
    limits: Limits = UNLIMITED,
    *,
    scratch: Path | None = None,
    versions: Mapping[str, str] | None = None,
) -> Executor:
    """Create an executor.

    Parameters
    ----------
    settings : ExecutorSettings
        Where tasks run.
    limits : Limits
        Limits of each task. A single local worker without limits on time and memory runs in
        this process.
    scratch : Path, optional
        Folder for the output of local workers. Default: a temporary folder.
    versions : mapping of str to str, optional
        Expected library versions. Dask workers with other versions get no tasks. Ignored by
        local executors.

    Returns
    -------
    Executor
        Close it, or use it as a context manager.

    Raises
    ------
    InvalidInputError
        If the Dask scheduler is unreachable, or no Dask worker has the expected versions.

    Examples
    --------
    >>> with make_executor(ExecutorSettings()) as executor:
    ...     executor.name
    'in this process'
    """
    if settings.kind == "dask":
        return DaskExecutor(
            address=settings.address, workers=settings.workers, limits=limits, versions=versions
        )
    if settings.workers == 1 and limits.seconds is None and limits.memory is None:
        return InProcessExecutor(threads=limits.threads)
    return LocalExecutor(workers=settings.workers, limits=limits, scratch=scratch)
