"""Run tasks in this process, in local processes or on Dask: executors, and the loop over them."""

from __future__ import annotations

import abc
import dataclasses
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from vuskit._util.optional import require
from vuskit._util.text import did_you_mean, plural
from vuskit.engine._pool import PackedTask, Pool
from vuskit.engine._process import PackedValue, unpack
from vuskit.engine.tasks import (
    UNLIMITED,
    Limits,
    Outcome,
    StaleWorkerError,
    Status,
    Task,
    outcome_of,
    run_action,
    warm_up_action,
)
from vuskit.errors import InvalidInputError

_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class Progress:
    """Progress of `run_tasks`.

    Attributes
    ----------
    total : int
        Number of tasks, without those whose parent failed.
    before : int
        Tasks with a result from earlier runs.
    failed_before : int
        How many of them failed.
    counts : dict
        Tasks finished by this run, by status.
    seconds : float
        Time since the first task started.
    running : tuple of str
        Titles of the running tasks.
    name : str
        Title of the task that finished last.
    forecast : float or None
        Estimated remaining time, if it is known better than from the rate.
    not_computed : tuple of str
        Reasons why tasks were not computed, because their data or code changed during the run.
        They stay unfinished; the same call runs them.
    """

    total: int
    before: int = 0
    failed_before: int = 0
    counts: dict[Status, int] = field(default_factory=dict)
    seconds: float = 0.0
    running: tuple[str, ...] = ()
    name: str = ""
    forecast: float | None = None
    not_computed: tuple[str, ...] = ()

    @property
    def ran(self) -> int:
        """Number of tasks finished by this run."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Number of finished tasks, including those of earlier runs."""
        return self.before + self.ran

    @property
    def failed(self) -> int:
        """Number of tasks that failed in this run."""
        return sum(count for status, count in self.counts.items() if status.failed)

    @property
    def per_minute(self) -> float:
        """Tasks per minute in this run."""
        return 60 * self.ran / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining time; None before the first task finishes."""
        if self.forecast is not None:
            return self.forecast
        rate = self.per_minute / 60
        return (self.total - self.done) / rate if rate > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return plain data for a store."""
        return {
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "per_minute": self.per_minute,
            "seconds_left": self.seconds_left,
            "running": list(self.running),
        }


class Results(Protocol):
    """Where `run_tasks` keeps results, such as `vuskit.store.Store`."""

    def statuses(self) -> Mapping[str, Status]:
        """Statuses of finished tasks by key."""

    def save(self, batch: Iterable[tuple[Task, Outcome]]) -> None:
        """Save finished tasks."""


class MemoryResults:
    """Outcomes in memory, by key.

    Examples
    --------
    >>> MemoryResults().statuses()
    {}
    """

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}

    def statuses(self) -> dict[str, Status]:
        """Statuses of finished tasks by key."""
        return {key: outcome.status for key, outcome in self.outcomes.items()}

    def save(self, batch: Iterable[tuple[Task, Outcome]]) -> None:
        """Keep the outcomes of finished tasks."""
        self.outcomes.update((task.key, outcome) for task, outcome in batch)

    def get(self, key: str) -> Outcome | None:
        """Outcome of a task; None if it is not finished."""
        return self.outcomes.get(key)


def run_tasks(
    tasks: Iterable[Task],
    *,
    results: Results,
    total: int | None = None,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
    versions: Mapping[str, str] | None = None,
    at_most: int | None = None,
    repeat_failed: bool = False,
    on_outcome: Callable[[Task, Outcome], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Run the tasks that have no result yet.

    A failed task does not stop the others, but tasks that need its result are dropped. Values do
    not depend on the executor or the number of workers. Ctrl-C (KeyboardInterrupt) ends the workers
    and is raised again. After an interruption, including ``kill -9``, the same call with the same
    `results` resumes.

    Parameters
    ----------
    tasks : iterable of Task
        What to do; parents come before their children. Tasks with equal keys run once.
    results : Results
        Where results are kept.
    total : int, optional
        Number of tasks. If given, `tasks` is read lazily: the next task is requested when a worker
        is free, so that creating tasks may take time.
    executor : ExecutorSettings or Executor, optional
        Where to run the tasks. Default: in this process, or in one worker process if there are
        limits. An `Executor` stays open.
    limits : Limits, optional
        Limits of each task; an `Executor` has its own. Default: none.
    versions : mapping of str to str, optional
        Library versions that Dask workers must have, as for `make_executor`.
    at_most : int, optional
        Number of tasks that run at the same time. One, so that their times are comparable.
    repeat_failed : bool, default=False
        Run tasks again that failed in earlier runs.
    on_outcome : callable, optional
        Called with each task and its outcome after it was saved.
    progress : callable, optional
        Called with a `Progress` whenever tasks start or end, or a lazily read task has a result.

    Returns
    -------
    Progress
        The final progress.

    Raises
    ------
    InvalidInputError
        If the Dask scheduler is unreachable, or limits are given together with an `Executor`.
    StoreError
        If a result cannot be saved.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from vuskit.engine import Action, MemoryResults, Task, run_tasks
    >>> @dataclass(frozen=True)
    ... class Square(Action):
    ...     number: float
    ...     def run(self):
    ...         return self.number**2
    >>> results = MemoryResults()
    >>> tasks = [Task(f"square-{n}", f"square of {n}", lambda n=n: Square(n)) for n in (3, 4)]
    >>> run_tasks(tasks, results=results).done
    2
    >>> {key: outcome.value for key, outcome in results.outcomes.items()}
    {'square-3': 9, 'square-4': 16}
    """
    if isinstance(executor, Executor) and limits is not None:
        raise InvalidInputError(
            f"`limits` must be None with an Executor, got {limits}; set them when you create it"
        )
    loop = _Loop(tasks, total, results, repeat_failed, on_outcome, progress)
    loop.report()
    first = loop.next_task()
    if first is not None:
        loop.ready.appendleft(first)
        used = (
            nullcontext(executor)
            if isinstance(executor, Executor)
            else make_executor(
                executor or ExecutorSettings(), limits or UNLIMITED, versions=versions
            )
        )
        with used as open_executor:
            loop.run(open_executor, at_most)
    return loop.progress()


class _Loop:
    """State of one call to `run_tasks`."""

    def __init__(
        self,
        tasks: Iterable[Task],
        total: int | None,
        results: Results,
        repeat_failed: bool,
        on_outcome: Callable[[Task, Outcome], None] | None,
        observer: Callable[[Progress], None] | None,
    ) -> None:
        self._results = results
        self._on_outcome = on_outcome
        self._observer = observer
        self._statuses = {
            key: status
            for key, status in results.statuses().items()
            if not (repeat_failed and status.failed)
        }
        self.ready: deque[Task] = deque()  # tasks whose parents have finished
        self._children: dict[str, list[Task]] = {}  # tasks that wait for a parent
        self._known: set[str] = set()
        self._counts: dict[Status, int] = {}
        self._unfinished: Counter[str] = Counter()
        self._changed_code: dict[str | None, str] = {}
        self._before = self._failed_before = 0
        self._running: tuple[Task, ...] = ()
        self._name = ""
        self._begin = time.perf_counter()
        if total is None:
            tasks = list(tasks)
        self._is_known = isinstance(tasks, list)  # otherwise, tasks are made when they can start
        self._total = len(tasks) if isinstance(tasks, list) else total or 0
        self._startable = self._read(tasks)
        if self._is_known:  # so that the progress is known from the beginning
            self._startable = iter(list(self._startable))

    def next_task(self) -> Task | None:
        """Return the next task that can start; None if there is none at the moment."""
        return self.ready.popleft() if self.ready else next(self._startable, None)

    def _read(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks that can start, and keep those that wait for their parents."""
        for task in tasks:
            if task.key in self._known:
                self._total -= 1
                continue
            self._known.add(task.key)
            status = self._statuses.get(task.key)
            if status is not None:
                self._before += 1
                self._failed_before += status.failed
                if not self._is_known:
                    self.report()
            elif task.parent is None or self._statuses.get(task.parent) is Status.OK:
                found = [task]
                del task  # it may hold a series, which is freed when the task has ended
                yield found.pop()
            elif task.parent in self._known and task.parent not in self._statuses:
                self._children.setdefault(task.parent, []).append(task)
            else:
                self._total -= 1  # its parent failed

    def run(self, executor: Executor, at_most: int | None) -> None:
        """Run until nothing is left."""
        while self._start_some(executor, at_most) or executor.running:
            ended = executor.collect(_POLL_SECONDS)
            if ended and self._is_known:  # so that no worker waits for the disk
                self._start_some(executor, at_most)
            self._finish(ended, executor)
            del ended  # it may hold series, which are freed before the next one is read

    def _start_some(self, executor: Executor, at_most: int | None) -> bool:
        """Start tasks while there is room; return whether some are left."""
        while True:
            room = executor.free
            if at_most is not None:
                room = min(room, at_most - len(executor.running))
            if room <= 0 and (executor.running or self.ready):
                return True
            task = self.next_task()
            if task is None:
                return False
            if room <= 0:  # an executor without workers
                self.ready.appendleft(task)
                return True
            if task.action.code in self._changed_code:
                self._leave(task, self._changed_code[task.action.code])
                continue
            executor.submit(task)
            self._running = executor.running
            self.report()

    def _finish(self, ended: list[tuple[Task, Outcome]], executor: Executor) -> None:
        self._running = executor.running
        final = [(task, outcome) for task, outcome in ended if not outcome.is_unfinished]
        if final:
            self._results.save(final)
        for task, outcome in ended:
            self._name = task.title
            if outcome.is_unfinished:
                reason = (outcome.message or "").removeprefix(f"{outcome.error_type}: ")
                if outcome.error_type == StaleWorkerError.__name__ and task.action.code:
                    # New processes would refuse every other task with this code, too.
                    self._changed_code[task.action.code] = reason
                self._leave(task, reason)
                continue
            children = self._children.pop(task.key, [])
            self._statuses[task.key] = outcome.status
            self._counts[outcome.status] = self._counts.get(outcome.status, 0) + 1
            if outcome.status is Status.OK:
                # They go first: they are short, so an interrupted run has complete results.
                self.ready.extend(children)
            else:
                self._total -= len(children)
            if self._on_outcome is not None:
                self._on_outcome(task, outcome)
        self.report()

    def _leave(self, task: Task, reason: str) -> None:
        """Leave a task unfinished, and those that need its result."""
        self._unfinished[reason] += 1
        self._children.pop(task.key, None)

    def progress(self) -> Progress:
        return Progress(
            total=self._total,
            before=self._before,
            failed_before=self._failed_before,
            counts=dict(self._counts),
            seconds=time.perf_counter() - self._begin,
            running=tuple(task.title for task in self._running),
            name=self._name,
            not_computed=tuple(
                f"{plural(count, 'job was', 'jobs were')} not computed: {reason}"
                for reason, count in self._unfinished.items()
            ),
        )

    def report(self) -> None:
        if self._observer is not None:
            self._observer(self.progress())


EXECUTOR_KINDS = ("local", "dask")
"""Kinds of executors that settings can name."""


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
        from vuskit.engine._dask import DaskExecutor

        return DaskExecutor(
            address=settings.address, workers=settings.workers, limits=limits, versions=versions
        )
    if settings.workers == 1 and limits.seconds is None and limits.memory is None:
        return InProcessExecutor(threads=limits.threads)
    return LocalExecutor(workers=settings.workers, limits=limits, scratch=scratch)
