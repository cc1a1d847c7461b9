"""What changed since the latest plan: why jobs run again, and how their values differ."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.files import write_atomically
from vuskit._util.optional import installed_versions, require
from vuskit._util.tables import frame_csv
from vuskit._util.text import listed, plural
from vuskit.bench.jobs import EvaluateJob, ImportJob, Job, Kind, ScoreJob
from vuskit.bench.run import Run
from vuskit.store.store import Named, Result, Store

if TYPE_CHECKING:
    import pandas as pd

BEFORE = "values-before.csv"
"""Values of the previous plan, in the run folder; written when a run repeats finished jobs."""

_SHOWN_FILES = 3
_PLACE = ["dataset", "series", "detector", "seed", "measure"]
_COLUMNS = ["dataset", "series", "detector", "seed", "settings", "measure", "value"]
_TOLERANCE = 1e-9  # other libraries and processors round differently


@dataclass(frozen=True)
class ValueChanges:
    """How values differ from the previous ones."""

    path: Path
    n_compared: int
    n_changed: int
    largest: str

    def __str__(self) -> str:
        if not self.n_changed:
            return f"none of the {plural(self.n_compared, 'earlier value')} changed"
        return (
            f"{self.n_changed:,} of {plural(self.n_compared, 'value')} changed; largest change: "
            f"{self.largest}"
        )


def keep_values(run: Run) -> Path | None:
    """Write the values of a run to a file in its folder, before a new plan replaces them."""
    values = run.values()
    if not len(values):
        return None
    path = run.folder / BEFORE
    write_atomically(path, frame_csv(values[_COLUMNS]) + "\n")
    return path


def find_changes(run: Run, path: Path) -> ValueChanges:
    """Compare the values of a run, by name, with those that `keep_values` saved."""
    pandas = require("pandas", purpose="a comparison of values")
    text = dict.fromkeys(("dataset", "series", "detector", "settings", "measure"), str)
    old = pandas.read_csv(path, dtype=text, keep_default_na=False, na_values={"seed": [""]})
    new = run.values()
    keys = list(_PLACE)
    if max(old["settings"].nunique(), new["settings"].nunique()) > 1:
        keys.append("settings")
    both = _by_place(old, keys).to_frame("old").join(_by_place(new, keys).to_frame("new"))
    both = both.dropna()
    difference = (both["new"] - both["old"]).abs()
    changed = both[difference > _TOLERANCE]
    largest = ""
    if len(changed):
        place = difference.idxmax()
        names = dict(zip(keys, place, strict=True))
        row = both.loc[place]
        seed = "" if math.isnan(names["seed"]) or names["seed"] < 0 else f" seed {names['seed']:g}"
        largest = (
            f"{names['measure']} of {names['detector']}{seed} on "
            f"{names['dataset']}/{names['series']}, {row['old']:.3f} -> {row['new']:.3f}"
        )
    return ValueChanges(path, len(both), len(changed), largest)


def _by_place(values: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Values by name; a missing seed becomes -1, because NaN never compares equal."""
    seeds = values["seed"].astype("float64").fillna(-1.0)
    found: pd.Series = values.assign(seed=seeds).groupby(keys)["value"].last()
    return found


# -- reasons ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StaleJobs:
    """Jobs that run again although they were finished under the latest plan."""

    kind: Kind
    reason: str
    jobs: int

    def __str__(self) -> str:
        noun = "evaluation" if self.kind is Kind.EVALUATE else "job"
        return f"{self.jobs:,} {noun}{'s' * (self.jobs != 1)}: {self.reason}"


def find_stale_jobs(todo: Iterable[Job], store: Store) -> tuple[StaleJobs, ...]:
    """Match the jobs to run, by name, with the results of the latest plan."""
    todo = list(todo)
    repeated = {job.key for job in todo}
    before: dict[tuple[Any, ...], Result] = {}
    for named, result in store.planned():
        if result is not None:
            before |= dict.fromkeys(_matches(named, result.about.get("measures", ())), result)
    files = {
        (row["dataset"], row["name"]): json.loads(row["files"]) for row in store.rows("series")
    }
    counts: Counter[tuple[Kind, str]] = Counter()
    for job in todo:
        if isinstance(job, EvaluateJob) and job.parent in repeated:
            continue
        measures = [one.full_name for one in job.measures] if isinstance(job, EvaluateJob) else ()
        found = [before[one] for one in _matches(job.named, measures) if one in before]
        old = files.get((job.series.dataset, job.series.name))
        reason = "; ".join(_reasons(job, found[0], old)) if found else ""
        if reason:
            counts[job.kind, reason] += 1
    stale = [StaleJobs(kind, reason, count) for (kind, reason), count in counts.items()]
    return tuple(sorted(stale, key=lambda one: (-one.jobs, one.reason)))


def _matches(named: Named, measures: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Names by which a job matches one of the latest plan, the most exact first."""
    names = named.dataset, named.series, named.detector, named.seed
    if named.kind != Kind.EVALUATE:
        yield names
        return
    for measure in measures:
        yield *names, named.settings, measure
    for measure in measures:
        yield *names, measure


def _reasons(job: Job, old: Result, files: Mapping[str, str] | None) -> Iterator[str]:
    """Differences between what two keys are made of, in words."""
    before, now = old.about, job.about
    if old.kind != job.kind:
        how = "imported" if job.kind is Kind.IMPORT else "computed"
        yield f"scores of {job.label} are {how} now"
        return
    if any(before.get(name) != now.get(name) for name in ("values", "series", "train_length")):
        yield _changed_data(job, files)
    match job:
        case ImportJob():
            if before["sha256"] != now["sha256"]:
                yield f"scores in {Path(job.path).name} changed"
            yield from _differences("", before, now, ("column", "align", "window"))
            return
        case ScoreJob(detector=detector):
            if before["detector"] != now["detector"]:
                yield f"{job.label} is `{now['detector']}` now, was `{before['detector']}`"
                return
            yield from _differences("parameter ", before["params"], now["params"])
            what = f"code of `{detector.name}`"
        case EvaluateJob(measures=measures):
            yield from _differences("settings: ", before["settings"], now["settings"])
            what = f"measure {measures[0].full_name}" if len(measures) == 1 else "measures"
    if before["code"] != now["code"]:
        yield f"{what} changed{_changed_code(before['code'], now['code'])}"


def _differences(
    what: str, old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str] | None = None
) -> Iterator[str]:
    """Name the values that differ, if any."""

    def shown(content: Mapping[str, Any], name: str) -> str:
        return json.dumps(content[name]) if name in content else "default"

    chosen = sorted({*old, *new}) if names is None else names
    changed = [name for name in chosen if old.get(name) != new.get(name)]
    if changed:
        yield what + ", ".join(f"{one} {shown(old, one)} -> {shown(new, one)}" for one in changed)


def _changed_data(job: Job, old: Mapping[str, str] | None) -> str:
    """Describe which files of a series changed."""
    new = job.series.files
    changed = [path for path in new if old is not None and old.get(path) != new[path]]
    if not changed:
        return f"data of {job.series.title} changed"
    names = sorted({Path(path).name for path in changed})
    main = job.series.source.path
    if len(changed) == 1 and main is not None and Path(changed[0]) != main.absolute():
        return f"labels or other data in {names[0]} changed"
    return f"{listed(names, most=_SHOWN_FILES)} changed"


def _changed_code(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Name the files and versions that changed."""
    shown = []
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            versions = f" {old.get(name, 'none')} -> {new.get(name, 'none')}"
            shown.append(name.removeprefix("dist:") + versions * name.startswith("dist:"))
    return f" ({listed(shown, most=_SHOWN_FILES)})" if shown else ""


def note_library_versions(results: Iterable[Result]) -> list[str]:
    """Note in one line which finished results come from another core or other versions."""
    installed: dict[str, str] = {}
    found: Counter[tuple[str, str]] = Counter()
    for result in results:
        for name, version in result.environment.items():
            if name not in installed:
                installed[name] = installed_versions([name]).get(name, "not installed")
            if installed[name] != version:
                found[name, version] += 1
    shown = [
        f"{count:,} with {name} {version} (now {installed[name]})"
        for (name, version), count in sorted(found.items())
    ]
    return [f"kept results from other library versions: {listed(shown, most=4)}"] * bool(shown)
