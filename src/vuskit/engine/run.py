"""Run many tasks on an executor, resume after interruptions, and report progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from dataclasses import dataclass

from vuskit.engine.executors import Executor, ExecutorSettings, make_executor
from vuskit.engine.results import ResultFolder
from vuskit.engine.tasks import UNLIMITED, Limits, Outcome, Status, Task
from vuskit.errors import InvalidInputError

__all__ = ["TaskProgress", "run_tasks"]

_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class TaskProgress:
    """Progress of `run_tasks`.

    Attributes
    ----------
    done, total : int
        Number of finished tasks, including stored ones, and of all tasks.
    failed : int
        Number of tasks that failed.
    seconds_left : float or None
        Estimated remaining time; None before the first task finishes.
    name : str
        Title of the task that finished last.
    running : tuple of str
        Titles of the running tasks.
    stored : int
        Number of tasks whose results were already stored.
    """

    done: int
    total: int
    failed: int = 0
    seconds_left: float | None = None
    name: str = ""
    running: tuple[str, ...] = ()
    stored: int = 0


def run_tasks(
    tasks: Iterable[Task],
    *,
    total: int | None = None,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
    versions: Mapping[str, str] | None = None,
    results: ResultFolder | None = None,
    on_outcome: Callable[[Task, Outcome], None] | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
    one_at_a_time: bool = False,
) -> dict[str, Outcome]:
    """Run tasks and return their outcomes.

    A failed task does not stop the others. Values do not depend on the executor or the number of
    workers. Ctrl-C (KeyboardInterrupt) ends the workers and is raised again. After an
    interruption, including ``kill -9``, the same call with the same `results` resumes.

    Parameters
    ----------
    tasks : iterable of Task
        What to do. Tasks with equal keys run once.
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
    results : ResultFolder, optional
        Folder of results. Tasks with a stored result are skipped; new results are saved as they
        arrive.
    on_outcome : callable, optional
        Called with each task and its outcome when it finishes or is found in `results`.
    progress : callable, optional
        Called with a `TaskProgress` whenever tasks start or end.
    one_at_a_time : bool, default=False
        Never run two tasks at the same time, so that their times are comparable.

    Returns
    -------
    dict
        Outcomes by key, in the order of the tasks.

    Raises
    ------
    InvalidInputError
        If the Dask scheduler is unreachable, or limits are given together with an `Executor`.
    OSError
        If a result cannot be saved.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from vuskit.engine import Action, Task, run_tasks
    >>> @dataclass(frozen=True)
    ... class Square(Action):
    ...     number: float
    ...     def run(self):
    ...         return self.number**2
    >>> outcomes = run_tasks(Task(f"square-{n}", f"square of {n}", Square(n)) for n in (3, 4))
    >>> {key: outcome.value for key, outcome in outcomes.items()}
    {'square-3': 9, 'square-4': 16}
    """
    if isinstance(executor, Executor) and limits is not None:
        raise InvalidInputError(
            f"`limits` must be None with an Executor, got {limits}; set them when you create it"
        )
    if total is None:
        tasks = tasks if isinstance(tasks, Sized) else list(tasks)
        total = len(tasks)
    run = _Run(iter(tasks), total, results, on_outcome, progress)
    first = run.next_task()
    if first is not None:
        used = (
            nullcontext(executor)
            if isinstance(executor, Executor)
            else make_executor(
                executor or ExecutorSettings(), limits or UNLIMITED, versions=versions
            )
        )
        with used as open_executor:
            run.run_from(first, open_executor, one_at_a_time=one_at_a_time)
    return {key: run.outcomes[key] for key in run.tasks}


class _Run:
    """State of one call to `run_tasks`."""

    def __init__(
        self,
        waiting: Iterator[Task],
        total: int,
        results: ResultFolder | None,
        on_outcome: Callable[[Task, Outcome], None] | None,
        progress: Callable[[TaskProgress], None] | None,
    ) -> None:
        self.waiting = waiting
        self.total = total
        self.results = results
        self.on_outcome = on_outcome
        self.progress = progress
        self.tasks: dict[str, Task] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.running: tuple[Task, ...] = ()
        self.ran = self.failed = 0
        self.last_title = ""
        self.begin = time.perf_counter()
        self._report()

    def next_task(self) -> Task | None:
        """Next task without a stored result; None if there is none."""
        for task in self.waiting:
            if task.key in self.tasks:
                self.total -= 1
                continue
            self.tasks[task.key] = task
            found = None if self.results is None else self.results.load(task.key)
            if found is None:
                return task
            self._add(task, found)
        return None

    def run_from(self, task: Task | None, executor: Executor, *, one_at_a_time: bool) -> None:
        """Run a task and all following tasks."""
        while task is not None or len(self.outcomes) < len(self.tasks):
            room = 1 - len(executor.running) if one_at_a_time else executor.free
            while task is not None and room > 0:
                executor.submit(task)
                room -= 1
                self.running = executor.running
                self._report()
                task = self.next_task()
            for ended, outcome in executor.collect(_POLL_SECONDS):
                if self.tasks.get(ended.key) is not ended:
                    continue  # left over from an interrupted call
                if self.results is not None and outcome.status is Status.OK:
                    self.results.save(ended.key, outcome.value)
                self.running = executor.running
                self._add(ended, outcome)

    def _add(self, task: Task, outcome: Outcome) -> None:
        self.outcomes[task.key] = outcome
        self.ran += not outcome.stored
        self.failed += outcome.status.failed
        self.last_title = task.title
        if self.on_outcome is not None:
            self.on_outcome(task, outcome)
        self._report()

    def _report(self) -> None:
        if self.progress is None:
            return
        done = len(self.outcomes)
        spent = time.perf_counter() - self.begin
        self.progress(
            TaskProgress(
                done=done,
                total=self.total,
                failed=self.failed,
                seconds_left=spent / self.ran * (self.total - done) if self.ran else None,
                name=self.last_title,
                running=tuple(task.title for task in self.running),
                stored=done - self.ran,
            )
        )
