"""Run tasks on a ``dask.distributed`` cluster."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vuskit._util.interrupts import ignore_sigint_in_children
from vuskit._util.optional import require
from vuskit.engine._pool import PackedTask, Pool
from vuskit.engine._process import allow_children
from vuskit.engine.run import Executor
from vuskit.engine.tasks import UNLIMITED, Limits, Outcome, Status, Task, outcome_of
from vuskit.errors import ClusterError, warn

# Two tasks per thread, so that a worker need not wait while the last outcome is sent.
_TASKS_PER_THREAD = 2
_CONNECT_SECONDS = 30
_COUNT_SECONDS = 1.0  # between two counts of the workers in the cluster
_IDLE_SECONDS = 300.0  # after which idle processes of other runs, probably killed, are closed


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
