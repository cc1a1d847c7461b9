"""Run many tasks on an executor, resume them, and report progress."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
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
    """State of a run of tasks.

    Attributes
    ----------
    done, total : int
        Finished tasks, stored ones included, and all tasks.
    failed : int
        Finished tasks that failed.
    seconds_left : float or None
        Forecast for the rest; None before the first task has finished.
    name : str
        Title of the task that finished last.
    running : tuple of str
        Titles of the tasks that run now.
    """

    done: int
    total: int
    failed: int = 0
    seconds_left: float | None = None
    name: str = ""
    running: tuple[str, ...] = ()


def run_tasks(
    tasks: Iterable[Task],
    *,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
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
    executor : ExecutorSettings or Executor, optional
        Where to run them. Default: in this process, or in one worker process if there are limits.
        An `Executor` stays open.
    limits : Limits, optional
        Limits of each task; an `Executor` has its own. Default: none.
    results : ResultFolder, optional
        Tasks with a result there are not run. New results are saved there as they arrive.
    on_outcome : callable, optional
        Called with a task and its outcome, stored ones first, the others as they finish.
    progress : callable, optional
        Called with a `TaskProgress` whenever tasks start or end.
    one_at_a_time : bool, default=False
        Never run two tasks at the same time, so that their times can be compared.

    Returns
    -------
    dict
        Outcomes by key, in the order of the tasks.

    Raises
    ------
    InvalidInputError
        If no Dask scheduler answers, or limits are given together with an `Executor`.
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
        raise InvalidInputError("`limits` must be None with an Executor, which has its own limits")
    unique = {task.key: task for task in tasks}
    run = _Run(unique, results, on_outcome, progress)
    run.load_stored()
    if run.waiting:
        used = (
            nullcontext(executor)
            if isinstance(executor, Executor)
            else make_executor(executor or ExecutorSettings(), limits or UNLIMITED)
        )
        with used as open_executor:
            run.run_rest(open_executor, one_at_a_time=one_at_a_time)
    return {key: run.outcomes[key] for key in unique}


class _Run:
    """State of one call of `run_tasks`."""

    def __init__(
        self,
        tasks: dict[str, Task],
        results: ResultFolder | None,
        on_outcome: Callable[[Task, Outcome], None] | None,
        progress: Callable[[TaskProgress], None] | None,
    ) -> None:
        self.tasks = tasks
        self.results = results
        self.on_outcome = on_outcome
        self.progress = progress
        self.outcomes: dict[str, Outcome] = {}
        self.waiting: deque[Task] = deque()
        self.last_title = ""
        self.stored = 0
        self.begin = time.perf_counter()

    def load_stored(self) -> None:
        for task in self.tasks.values():
            found = None if self.results is None else self.results.load(task.key)
            if found is None:
                self.waiting.append(task)
            else:
                self._add(task, found)
        self.stored = len(self.outcomes)
        self.begin = time.perf_counter()
        self._report(())

    def run_rest(self, executor: Executor, *, one_at_a_time: bool) -> None:
        while self.waiting or len(self.outcomes) < len(self.tasks):
            room = 1 - len(executor.running) if one_at_a_time else executor.free
            started = min(room, len(self.waiting))
            for _ in range(started):
                executor.submit(self.waiting.popleft())
            if started > 0:
                self._report(executor.running)
            for task, outcome in executor.collect(_POLL_SECONDS):
                if self.tasks.get(task.key) is not task:
                    continue  # left over from an interrupted call
                if self.results is not None and outcome.status is Status.OK:
                    self.results.save(task.key, outcome.value)
                self._add(task, outcome)
                self._report(executor.running)

    def _add(self, task: Task, outcome: Outcome) -> None:
        self.outcomes[task.key] = outcome
        self.last_title = task.title
        if self.on_outcome is not None:
            self.on_outcome(task, outcome)

    def _report(self, running: tuple[Task, ...]) -> None:
        if self.progress is None:
            return
        done, total = len(self.outcomes), len(self.tasks)
        ran = done - self.stored
        spent = time.perf_counter() - self.begin
        self.progress(
            TaskProgress(
                done=done,
                total=total,
                failed=sum(outcome.status.failed for outcome in self.outcomes.values()),
                seconds_left=spent / ran * (total - done) if ran else None,
                name=self.last_title,
                running=tuple(task.title for task in running),
            )
        )
