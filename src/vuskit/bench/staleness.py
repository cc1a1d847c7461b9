"""Find finished results that are outdated: changed data, code, measures or settings."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.code_identity import CodeDigest, changed_modules
from vuskit._util.environment import installed_versions
from vuskit._util.text import listed
from vuskit.bench.jobs import EvaluateJob, ImportJob, Kind, MeasureVersion, ScoreJob

if TYPE_CHECKING:
    from vuskit.bench.expand import ExpandedPlan
    from vuskit.bench.store.reader import StoreReader

__all__ = ["StaleJobs", "find_stale_jobs", "note_library_versions"]

_SHOWN_FILES = 3


@dataclass(frozen=True)
class StaleJobs:
    """Jobs that run again although they were finished under the latest plan.

    Attributes
    ----------
    kind : Kind
        Kind of the jobs.
    reason : str
        What changed.
    jobs : int
        Number of jobs.
    """

    kind: Kind
    reason: str
    jobs: int

    def __str__(self) -> str:
        noun = "evaluation" if self.kind is Kind.EVALUATE else "job"
        return f"{self.jobs:,} {noun}{'s' * (self.jobs != 1)}: {self.reason}"


def find_stale_jobs(expanded: ExpandedPlan, store: StoreReader) -> tuple[StaleJobs, ...]:
    """Match the jobs to run, by name, with the results of the latest plan.

    Parameters
    ----------
    expanded : ExpandedPlan
        The new plan.
    store : StoreReader
        Store with the latest plan and its results.

    Returns
    -------
    tuple of StaleJobs
        Grouped by reason, the most frequent first. New detectors, series and seeds are not stale.
    """
    counts: dict[tuple[Kind, str], int] = {}
    before = {(row["detector"], row["source"], row["seed"]): row for row in store.planned_results()}
    for job in expanded.todo():
        row = before.get((job.label, job.series.source.spec, job.seed))
        if row is not None:
            reason = "; ".join(_reasons(job, row, store)) or "the stored identity was incomplete"
            counts[job.kind, reason] = counts.get((job.kind, reason), 0) + 1
    for reason in _evaluation_reasons(expanded, store):
        counts[Kind.EVALUATE, reason] = counts.get((Kind.EVALUATE, reason), 0) + 1
    found = [StaleJobs(kind, reason, count) for (kind, reason), count in counts.items()]
    return tuple(sorted(found, key=lambda one: (-one.jobs, one.reason)))


def _reasons(job: ScoreJob | ImportJob, row: sqlite3.Row, store: StoreReader) -> Iterator[str]:
    if row["series_hash"] != job.series.hash:
        yield _changed_data(job, row)
    spec = json.loads(row["spec"])
    if isinstance(job, ImportJob):
        if row["kind"] != job.kind:
            yield f"scores of {job.label} are imported now"
        elif spec["digest"] != job.digest:
            yield f"scores in {Path(job.path).name} changed"
        elif spec["column"] != job.column:
            yield f"column {spec['column']} -> {job.column}"
        return
    if row["kind"] != job.kind:
        yield f"scores of {job.label} are computed now"
        return
    detector = spec["detector"]
    if detector["name"] != job.detector.name:
        yield f"{job.label} is `{job.detector.name}` now, was `{detector['name']}`"
        return
    if row["code"] != job.code:
        change = describe_change(row["code"], store.code_parts(row["code"]), job.detector.digest)
        yield f"code of `{job.detector.name}` {change}"
    if row["settings"] != job.settings:
        old, new = json.loads(detector["params"]), json.loads(job.detector.params)
        changes = list(_changes(old, new))
        yield f"parameter {', '.join(changes)}" if changes else f"settings of {job.label} changed"


def _changed_data(job: ScoreJob | ImportJob, row: sqlite3.Row) -> str:
    """Describe which files of a series changed."""
    old, new = json.loads(row["files"] or "{}"), job.series.files
    changed = [path for path in new if old.get(path) != new[path]]
    if not old or not changed:
        return f"data of {job.series.title} changed"
    names = sorted({Path(path).name for path in changed})
    main = job.series.source.path
    if len(changed) == 1 and main is not None and Path(changed[0]) != main.absolute():
        return f"labels or other data in {names[0]} changed"
    return f"{listed(names, most=_SHOWN_FILES)} changed"


def describe_change(version: str, parts: Mapping[str, str], now: CodeDigest) -> str:
    """Describe which files changed, as the end of a sentence.

    Parameters
    ----------
    version : str
        Previous version.
    parts : mapping
        Hashes of the files of that version; empty if unknown.
    now : CodeDigest
        Current code.

    Examples
    --------
    >>> now = CodeDigest("sha256:2", {"model": "3", "tools": "4"}, ())
    >>> describe_change("sha256:1", {"model": "3", "tools": "5"}, now)
    'changed (tools)'
    >>> describe_change("unknown", {}, now)
    'was not fully tracked'
    """
    if parts.keys() & now.parts.keys():
        changed = changed_modules(parts, now.parts)
        return f"changed ({listed(changed, most=_SHOWN_FILES)})" if changed else "changed"
    if version.startswith("sha256:") or version in ("unknown", ""):
        return "was not fully tracked"
    return f"changed ({version} -> {now.version})"


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name) or (name in old) != (name in new):
            before = json.dumps(old[name]) if name in old else "default"
            after = json.dumps(new[name]) if name in new else "default"
            yield f"{name} {before} -> {after}"


# -- evaluations -----------------------------------------------------------------------------------


def _evaluation_reasons(expanded: ExpandedPlan, store: StoreReader) -> Iterator[str]:
    """One reason per evaluation that the latest plan had with other measures or settings."""
    planned = [
        (row["settings"], MeasureVersion(row["name"], row["version"]))
        for row in store.planned_measures()
    ]
    kept = {entry.text for entry in expanded.plan.evaluations}
    for job in expanded.waiting_evaluations():
        reasons = dict.fromkeys(_job_reasons(expanded, store, job, planned, kept))
        if reasons:
            yield "; ".join(reasons)


def _job_reasons(
    expanded: ExpandedPlan,
    store: StoreReader,
    job: EvaluateJob,
    planned: Iterable[tuple[str, MeasureVersion]],
    kept: set[str],
) -> Iterator[str]:
    for measure in job.measures:
        name = measure.identity.name
        for settings, old in planned:
            if old.name != name or not expanded.has_evaluation(job, settings, old):
                continue
            if settings == job.settings:
                change = describe_change(old.version, store.code_parts(old.version), measure.digest)
                yield f"measure {name} {change}"
            elif settings not in kept:
                yield f"settings: {_changed_settings(settings, job.settings)}"


def _changed_settings(old: str, new: str) -> str:
    before, after = (
        dict(one.partition("=")[::2] for one in text.split(", ")) for text in (old, new)
    )
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return ", ".join(
        f"{name} {before.get(name, 'default')} -> {after.get(name, 'default')}" for name in names
    )


# -- libraries -------------------------------------------------------------------------------------


def note_library_versions(expanded: ExpandedPlan, store: StoreReader) -> list[str]:
    """Note in one line which finished results come from another core or other versions."""
    known = store.library_versions()
    installed: dict[str, str] = {}
    found: dict[tuple[str, str], int] = {}
    for job in expanded.done_ids() if known else ():
        for name, version in known.get(job, {}).items():
            if name not in installed:
                installed[name] = installed_versions([name]).get(name, "not installed")
            if installed[name] != version:
                found[name, version] = found.get((name, version), 0) + 1
    if not found:
        return []
    shown = [
        f"{count:,} with {name} {version} (now {installed[name]})"
        for (name, version), count in sorted(found.items())
    ]
    return [f"kept results from other library versions: {listed(shown, most=4)}"]
