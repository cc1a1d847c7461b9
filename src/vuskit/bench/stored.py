"""Doing again what a store holds: its plan, and tasks of its jobs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from vuskit.bench.files import ScoreFiles
from vuskit.bench.jobs import EvaluateJob, Job, Task
from vuskit.bench.plan import parse_plan
from vuskit.bench.plan_parts import Plan
from vuskit.bench.reading import latest_run, open_for_reading

__all__ = ["stored_plan", "task_maker"]


def _latest_run(folder: Path) -> sqlite3.Row:
    with closing(open_for_reading(folder)) as connection:
        return latest_run(connection, folder)


def stored_plan(folder: Path) -> Plan:
    """Read the plan of the latest run; it writes to this folder, wherever it was moved.

    Raises
    ------
    InvalidInputError
        If there is no run, or the plan's files are gone.

    Examples
    --------
    >>> stored_plan(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    run = _latest_run(folder)
    plan = parse_plan(run["plan"], base=Path(run["base"]), name=f"the plan of {folder}")
    return replace(plan, folder=folder)


def task_maker(folder: Path) -> Callable[[Job], Task]:
    """Return a function that makes tasks of stored jobs, to do them again.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> task_maker(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    run = _latest_run(folder)
    imports, base, files = tuple(json.loads(run["imports"])), Path(run["base"]), ScoreFiles(folder)

    def make(job: Job) -> Task:
        path = files.path(job.scores_hash) if isinstance(job, EvaluateJob) else None
        return Task(job, path, imports, base)

    return make
