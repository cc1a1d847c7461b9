"""Jobs on a Dask cluster: a scheduler that is there already, or one made for the run."""

from __future__ import annotations

import logging
import multiprocessing
import queue
import time
import traceback
from pathlib import Path
from typing import Any

from vuskit._util.optional import require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.bench.executors.base import Executor, lost
from vuskit.bench.executors.pair import WorkerPair
from vuskit.bench.jobs import Outcome, Task, load_inputs
from vuskit.bench.plan import Limits
from vuskit.bench.states import Status
from vuskit.errors import InvalidInputError

__all__ = ["DaskExecutor"]

# Two tasks per thread: a worker has its next one while the outcome of the last travels.
_TASKS_PER_THREAD = 2
_CONNECT_SECONDS = 30
_COUNT_SECONDS = 1.0  # between two looks at how many workers there are


class DaskExecutor(Executor):
    """Workers of a ``dask.distributed`` cluster, each job in a process of its own under limits.

    Arrays travel with the tasks and scores travel back, so that workers need no access to the
    files of this machine.

    Parameters
    ----------
    address : str or None
        Of a scheduler, or the ``.json`` file that it writes with ``--scheduler-file``; without
        it a cluster of processes on this machine is made.
    workers : int
        Number of processes of that cluster.
    limits : Limits
        Of each job.

    Raises
    ------
    InvalidInputError
        If no scheduler answers at the address.
    """

    def __init__(self, *, address: str | None, workers: int, limits: Limits) -> None:
        super().__init__()
        distributed = require("distributed", purpose="the dask executor")
        self._limits = limits
        self._cluster: Any = None
        if address is None:
            with ignore_sigint_in_children():
                self._cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",  # any free port: the usual one may be another's
                    silence_logs=logging.ERROR,
                )
        try:
            by_file = address is not None and address.endswith(".json")
            place = {"scheduler_file": address} if by_file else {"address": address}
            if self._cluster is not None:
                place = {"address": self._cluster}
            self._client = distributed.Client(
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
        """Twice the threads of all workers that are there now."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._threads = max(1, int(sum(self._client.nthreads().values())))
            self._counted = time.monotonic()
        return _TASKS_PER_THREAD * self._threads

    def _start(self, task: Task) -> None:
        key = task.job.key
        try:
            full = load_inputs(task)
        except Exception as error:
            failure = lost(f"{type(error).__name__}: {error}", traceback.format_exc())
            self._ended.put((key, failure))
            return
        future = self._client.submit(
            perform_on_worker, full, self._limits, key=f"vuskit-{key}", pure=False
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
            return Outcome(Status.ERROR, message=f"{type(error).__name__}: {error}")
        finally:
            future.release()
        return outcome

    def close(self, *, kill: bool) -> None:
        """Cancel what is left, end the processes on the workers, disconnect."""
        try:
            if kill:
                self._client.cancel(list(self._futures.values()), force=True)
            if self._client.status == "running":
                self._client.run(close_slots, kill=kill)
        except (OSError, TimeoutError):
            pass  # nobody left to tell
        finally:
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()


_slots: dict[Limits, queue.SimpleQueue[WorkerPair]] = {}
_in_use: set[WorkerPair] = set()


def perform_on_worker(task: Task, limits: Limits) -> Outcome:
    """Do a task in a limited process beside the Dask worker."""
    _allow_children()
    waiting = _slots.setdefault(limits, queue.SimpleQueue())
    try:
        slot = waiting.get_nowait()
    except queue.Empty:
        # Dask removes this folder, also when it finds one of a worker that was killed.
        distributed = require("distributed", purpose="the dask executor")
        slot = WorkerPair(limits, Path(distributed.get_worker().local_directory) / "vuskit")
    _in_use.add(slot)
    try:
        return slot.run(task)
    finally:
        _in_use.discard(slot)
        waiting.put(slot)


def _allow_children() -> None:
    """Let this process start others.

    Dask marks its workers as daemons, to which multiprocessing denies children, because they
    might outlive them. Ours cannot: they end with their parent.
    """
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    config.pop("daemon", None)


def close_slots(*, kill: bool) -> None:
    """End the processes beside this Dask worker."""
    if kill:
        for slot in tuple(_in_use):
            slot.close(kill=True)
    for waiting in _slots.values():
        while not waiting.empty():
            waiting.get_nowait().close(kill=kill)
