"""Run a plan on the engine, and keep its results in the store of its folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vuskit.bench.changes import ValueChanges, find_changes, keep_values
from vuskit.bench.expand import ExpandedPlan, expand_plan
from vuskit.bench.jobs import EvaluateJob, Job, JobAction
from vuskit.bench.plan import Plan
from vuskit.bench.run import Run
from vuskit.engine import (
    Outcome,
    Progress,
    Task,
    make_executor,
    run_tasks,
)
from vuskit.engine.run import Executor
from vuskit.store.store import Store

_END_ATTEMPTS = 5
_STORE_SECONDS = 1.0  # between two updates of the progress in the store


@dataclass(frozen=True)
class RunSummary:
    """Result of `run_plan`.

    Attributes
    ----------
    folder : Path
        The run folder.
    progress : Progress
        The final progress.
    notes : tuple of str
        Notes about the plan, such as unreadable or duplicate series.
    changes : ValueChanges or None
        How values differ from the previous ones, if finished jobs were repeated because data, code
        or settings changed.
    """

    folder: Path
    progress: Progress
    notes: tuple[str, ...]
    changes: ValueChanges | None = None

    @property
    def not_computed(self) -> tuple[str, ...]:
        """Messages about jobs that stay unfinished because their data or code changed."""
        return self.progress.not_computed


def run_plan(
    plan: Plan,
    *,
    executor: Executor | None = None,
    observer: Callable[[Progress], None] | None = None,
    on_outcome: Callable[[Task, Outcome], None] | None = None,
    reading: Callable[[int], None] | None = None,
    planned: Callable[[ExpandedPlan], None] | None = None,
    reread: bool = False,
) -> RunSummary:
    """Run the unfinished jobs of a plan.

    Finished jobs are not repeated. After an interruption (Ctrl-C, ``kill -9``, power failure) the
    same call resumes.

    Parameters
    ----------
    plan : Plan
        From `load_plan`.
    executor : Executor, optional
        Used instead of the executor of the plan; it stays open.
    observer : callable, optional
        Called with a `Progress` whenever jobs start or end.
    on_outcome : callable, optional
        Called with each job that ended, as a task, and its outcome.
    reading : callable, optional
        Called with the number of series read so far, while the plan is expanded.
    planned : callable, optional
        Called with the expanded plan before the first job starts.
    reread : bool, default=False
        Read every series again, even if its file has not changed.

    Returns
    -------
    RunSummary
        Counts, and the folder with the results.

    Raises
    ------
    StoreError
        If the folder cannot be written.
    InvalidInputError
        If the plan selects no series.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from vuskit.bench import load_plan
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bench.toml"
    >>> _ = path.write_text('''
    ... series = [{family = "ecg", n = 2000, n_anomalies = 4}]
    ... detectors = [{name = "values"}, {name = "random"}]
    ... evaluate = [{measures = ["auc_pr"], buffer = 50}]
    ... executor = {workers = 1}
    ... ''')
    >>> summary = run_plan(load_plan(path))
    >>> summary.progress.done, summary.progress.failed
    (4, 0)
    """
    with Store(plan.folder) as store:
        expanded = expand_plan(plan, store, reread=reread, progress=reading)
        if planned is not None:
            planned(expanded)
        own = executor is None
        used = executor or make_executor(
            plan.executor, plan.limits, scratch=store.scratch, versions=expanded.library_versions
        )
        try:
            kept = keep_values(Run(plan.folder)) if expanded.stale else None
            _begin(store, expanded, used.name)
            progress = run_tasks(
                list(_tasks(expanded, store)),
                results=store,
                executor=used,
                on_outcome=on_outcome,
                progress=_Reporter(store, observer),
            )
            if own:
                used.close(kill=False)
            store.note_progress(progress.as_json())
            store.end(
                "interrupted" if progress.not_computed else "finished",
                notes=[*expanded.notes, *progress.not_computed],
            )
        except BaseException as error:
            state = (
                "interrupted" if isinstance(error, (KeyboardInterrupt, SystemExit)) else "failed"
            )
            _end_quietly(store, state)
            if own:
                used.close(kill=True)
            raise
    changes = find_changes(Run(plan.folder), kept) if kept is not None else None
    return RunSummary(plan.folder, progress, tuple(expanded.notes), changes)


def _begin(store: Store, expanded: ExpandedPlan, executor: str) -> None:
    plan = expanded.plan
    series = {job.series.hash: job.series for job in expanded.planned}
    store.begin(
        plan=plan.text,
        base=plan.base,
        imports=plan.imports,
        executor=executor,
        notes=expanded.notes,
        planned=[job.named for job in expanded.planned],
        series=[
            {
                "hash": ref.hash,
                "dataset": ref.dataset,
                "name": ref.name,
                "n_points": ref.n_points,
                "n_channels": ref.n_channels,
                "n_missing": ref.n_missing,
                "train_length": ref.train_length,
                "events": json.dumps(ref.events),
                "source": ref.source.spec,
                "files": json.dumps(ref.files),
            }
            for ref in series.values()
        ],
        measures=_measures(plan),
    )


def _measures(plan: Plan) -> list[dict[str, Any]]:
    """Describe the measures, for readers without the modules that define them."""
    rows = []
    for entry in plan.evaluations:
        for spec in dict.fromkeys(entry.measures):
            measure = spec.build()
            lowest, highest = measure.bounds
            rows.append(
                {
                    "settings": entry.text,
                    "name": measure.name,
                    "code": str(spec.code),
                    "title": measure.title,
                    "family": measure.family,
                    "lowest": lowest,
                    "highest": highest,
                    "higher_is_better": int(measure.higher_is_better),
                    "reference": measure.reference,
                }
            )
    return rows


def _tasks(expanded: ExpandedPlan, store: Store) -> Iterator[Task]:
    plan = expanded.plan

    def action(job: Job) -> JobAction:
        if not isinstance(job, EvaluateJob):
            return JobAction(job, plan.imports, plan.base)
        scores = store.get(job.parent)
        assert scores is not None
        path = store.score_path(job.parent)
        return JobAction(job, plan.imports, plan.base, path, scores.digest)

    for job in expanded.planned:
        yield Task(
            job.key,
            job.title,
            partial(action, job),
            job.kind,
            job.about,
            job.parent,
            job.code.libraries,
        )


class _Reporter:
    """Reports progress to the observer, and once per second to the store."""

    def __init__(self, store: Store, observer: Callable[[Progress], None] | None) -> None:
        self._store = store
        self._observer = observer
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        if time.perf_counter() - self._last > _STORE_SECONDS:
            self._store.note_progress(progress.as_json())
            self._last = time.perf_counter()
        if self._observer is not None:
            self._observer(progress)


def _end_quietly(store: Store, state: str) -> None:
    """Record how the run ended, even if Ctrl-C is pressed again.

    Errors such as a full disk are suppressed, so that they do not hide the original error.
    """
    for _ in range(_END_ATTEMPTS):
        try:
            store.end(state)
        except KeyboardInterrupt:
            continue
        except Exception:
            return
        return
