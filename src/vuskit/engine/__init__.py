"""Run many tasks under limits, in this process, in local processes or on a Dask cluster.

The engine knows nothing about series or measures. Benchmarks, studies and timings describe their
work as `Action` objects. `run_tasks` runs them, records failures, and resumes after interruptions.
"""

from vuskit.engine._process import run_action
from vuskit.engine.executors import (
    EXECUTOR_KINDS,
    DaskExecutor,
    Executor,
    ExecutorSettings,
    InProcessExecutor,
    LocalExecutor,
    make_executor,
)
from vuskit.engine.run import MemoryResults, Progress, Results, run_tasks
from vuskit.engine.tasks import (
    UNLIMITED,
    Action,
    Limits,
    NotApplicableError,
    Outcome,
    StaleWorkerError,
    Status,
    Task,
)

__all__ = [
    "EXECUTOR_KINDS",
    "UNLIMITED",
    "Action",
    "DaskExecutor",
    "Executor",
    "ExecutorSettings",
    "InProcessExecutor",
    "Limits",
    "LocalExecutor",
    "MemoryResults",
    "NotApplicableError",
    "Outcome",
    "Progress",
    "Results",
    "StaleWorkerError",
    "Status",
    "Task",
    "make_executor",
    "run_action",
    "run_tasks",
]
