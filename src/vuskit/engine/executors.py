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
from vuskit.engine._pool import PackedTask, Pool
from vuskit.engine._process import (
    PackedValue,
    allow_children,
    outcome_of,
    run_action,
    unpack,
    warm_up_action,
)
from vuskit.engine.tasks import UNLIMITED, Limits, Outcome, Status, Task
from vuskit.errors import ClusterError, InvalidInputError, warn

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


@dataclass
class _Sent:
    """A task on the cluster."""

    task: PackedTask
    future: Any = None
    workers: set[str] = field(default_factory=set)  # addresses of workers that it may run on


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
        self._sent: dict[str, _Sent] = {}
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
        self._check_versions(set(workers))
        self._threads = int(sum(workers[one] for one in self._fitting))

    def _check_versions(self, workers: set[str]) -> None:
        """Compare the library versions of new workers."""
        self._fitting &= workers
        joined = workers - self._fitting - set(self._unfit)
        if joined:
            found = self._client.run(
                _function_to_compare_versions(),
                self._versions,
                workers=sorted(joined),
                on_error="ignore",  # the worker may have left already
            )
            for address, differences in found.items():
                if differences:
                    self._unfit[address] = f"worker {address} has {', '.join(differences)}"
                    warn(f"{self._unfit[address]} and gets no tasks", RuntimeWarning)
                else:
                    self._fitting.add(address)
        self._had_fitting |= bool(self._fitting)
        # After a suitable worker was seen once, wait for it to return instead.
        if workers and not self._had_fitting and workers <= set(self._unfit):
            raise ClusterError(
                "the Dask cluster must have a worker with the library versions of this machine, "
                f"got none: {'; '.join(self._unfit[one] for one in sorted(workers))}; install "
                "the same versions there"
            )

    def collect(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Wait for outcomes; restart tasks whose workers have all left."""
        found = super().collect(timeout)
        if not found:
            if not self._running:
                time.sleep(timeout)  # a worker may join meanwhile
            if self.capacity:
                for key, sent in self._sent.items():
                    if not sent.workers & self._fitting:
                        # Dask would wait for a worker with the same address.
                        self._client.cancel([sent.future], force=True)
                        self._send(key, sent)
        return found

    def _wait(self, timeout: float) -> list[tuple[str, Outcome]]:
        ended: list[tuple[str, Any]] = []
        with contextlib.suppress(queue.Empty):
            ended.append(self._ended.get(timeout=timeout))
            while True:
                ended.append(self._ended.get_nowait())
        found = [(key, handle) for key, handle in ended if isinstance(handle, Outcome)]
        for key, handle in ended:
            if key in self._sent and handle is self._sent[key].future:
                found.append((key, self._result(handle)))
                del self._sent[key]
        return found

    def _start(self, task: Task) -> None:
        packed = outcome_of(lambda: PackedTask.of(task, load=True, portable=self._remote))
        if packed.status is Status.OK:
            self._sent[task.key] = _Sent(packed.value)
            self._send(task.key, self._sent[task.key])
        else:
            self._ended.put((task.key, packed))

    def _send(self, key: str, sent: _Sent) -> None:
        config = require("dask.config", purpose="the dask executor")
        sent.workers = set(self._fitting)
        # Inputs are sent with their tasks, and Dask would warn about large ones.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            future = self._client.submit(
                _run_beside_dask_worker,
                sent.task,
                self._limits,
                self._run,
                # Runs must not share futures, because their limits and code may differ.
                key=f"vuskit-{self._run}-{key}-{uuid.uuid4().hex[:6]}",
                pure=False,
                workers=sorted(sent.workers),
                allow_other_workers=False,
            )
        sent.future = future
        future.add_done_callback(lambda done: self._ended.put((key, future)))

    def _result(self, future: Any) -> Outcome:
        try:
            outcome: Outcome = future.result()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
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
                self._client.cancel([sent.future for sent in self._sent.values()], force=True)
            if self._client.status == "running":
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


def _function_to_compare_versions() -> Callable[[dict[str, str]], list[str]]:
    """Function to run on workers, sent by value because their vuskit version may differ."""

    def find(name: str) -> str:
        from importlib import import_module, metadata

        try:
            # The metadata of an editable install may belong to an older version.
            if name == "vuskit":
                return str(import_module(name).__version__)
            if name == "core":
                return str(import_module("vuskit.kernels.backend").core_name())
            return metadata.version(name)
        except Exception:
            return "(not installed)"

    def compare(expected: dict[str, str]) -> list[str]:
        found = {name: find(name) for name in expected}
        return [
            f"{name} {found[name]} instead of {version}"
            for name, version in expected.items()
            if found[name] != version
        ]

    return compare


# --- On a Dask worker -------------------------------------------------------------------------


# Processes end with the thread that started them, so every thread of every run has its own pool.
_pools: dict[tuple[str, int], Pool] = {}


def _run_beside_dask_worker(task: PackedTask, limits: Limits, run: str) -> Outcome:
    """Run a task under limits, in a separate process started by the Dask worker."""
    allow_children()
    _close_abandoned(run)
    own = (run, threading.get_ident())
    if own not in _pools:
        # Dask removes this folder, even if the worker was killed.
        distributed = require("distributed", purpose="the dask executor")
        folder = Path(distributed.get_worker().local_directory) / "vuskit"
        _pools[own] = Pool(1, limits, folder)
    return _pools[own].run(task)


def _close_abandoned(run: str) -> None:
    """End processes of other runs that were idle for long: their main process probably died."""
    for key, pool in tuple(_pools.items()):
        abandoned = key[0] != run and pool.idle_seconds > _IDLE_SECONDS
        if abandoned and _pools.pop(key, None) is not None:  # another thread may be faster
            pool.close(kill=False)


def _close_pools(run: str, *, kill: bool) -> None:
    """End the processes of a run that belong to this Dask worker."""
    for key in [key for key in tuple(_pools) if key[0] == run]:
        pool = _pools.pop(key, None)
        if pool is None:
            continue
        if pool.idle_seconds:
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
