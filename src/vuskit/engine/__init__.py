"""Run many tasks under limits, in this process, in local processes or on a Dask cluster.

The engine knows nothing about series or measures. Benchmarks, studies and timings describe their
work as `Action` objects. `run_tasks` runs them, records failures, and resumes after interruptions.
"""

from vuskit.engine.run import (
    ExecutorSettings,
    MemoryResults,
    Progress,
    make_executor,
    run_tasks,
)
from vuskit.engine.tasks import (
    Action,
    Limits,
    Outcome,
    Status,
    Task,
)

__all__ = [
    "Action",
    "ExecutorSettings",
    "Limits",
    "MemoryResults",
    "Outcome",
    "Progress",
    "Status",
    "Task",
    "make_executor",
    "run_tasks",
]
