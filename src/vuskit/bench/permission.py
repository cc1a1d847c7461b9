"""Rebuild stored jobs, find the code that they or plans refer to, and decide whether it may run.

A store may come from someone else. Commands that only read it run detectors and measures of
vuskit, of installed plug-ins, and those already registered in this process. Other code runs only
if the user allows it. Names decide, never the stored versions of code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from vuskit._util.text import listed
from vuskit.bench.jobs import (
    DetectorSpec,
    EvaluateJob,
    ImportJob,
    Job,
    JobAction,
    Kind,
    MeasureSpec,
    ScoreJob,
)
from vuskit.bench.series import RunSeries, SeriesRef, SeriesSource
from vuskit.buffers import BufferChoice
from vuskit.datasets.readers.registry import get_format
from vuskit.detectors.registry import detector_class
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import get_measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.identity import canonical
from vuskit.store.store import Result, Store

_SHOWN = 8


def stored_code(action: JobAction) -> tuple[str, ...]:
    """Return the code that a job would import, as ``module:object (file)``, without importing it.

    Empty for vuskit's own detectors and measures.
    """
    job = action.job
    imports = _with_files(action.imports, action.base)
    file_format = job.series.source.format_name
    if file_format is not None and not is_known(get_format, file_format):
        return imports
    match job:
        case ScoreJob(detector=detector) if ":" in detector.name:
            folder = Path(detector.folder) if detector.folder else None
            return (*imports, *_with_files([detector.name], folder))
        case ScoreJob(detector=detector):
            return () if is_known(detector_class, detector.name) else imports
        case EvaluateJob(measures=measures):
            known = all(is_known(get_measure, measure.name) for measure in measures)
            return () if known else imports
    return ()


def plan_code(text: str, base: Path) -> tuple[str, ...]:
    """Return the code that a plan refers to, like `stored_code`; empty for an invalid plan."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ()
    names = [name for name in _entries(document, "imports") if isinstance(name, str)]
    for entry in _entries(document, "detectors"):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and ":" in name:
            names.append(name)
    return _with_files(names, base)


def _entries(document: dict[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    return found if isinstance(found, list) else []


def permitted(action: JobAction, *, allow_code: bool) -> JobAction:
    """Return the action without imports if it needs no other code; check permission otherwise."""
    code = stored_code(action)
    if not code:
        # A module in the folder of the plan could shadow one of ours.
        return replace(action, imports=(), base=None)
    if not allow_code:
        raise refused_code(f"the job {action.job.title}", code)
    return action


def refused_code(what: str, code: Sequence[str]) -> InvalidInputError:
    """Return an error that lists the code and explains how to allow it."""
    return InvalidInputError(
        f"{what} would run custom code: {listed(list(code), most=_SHOWN)}; "
        "if you trust it, pass --allow-code (allow_code=True)"
    )


def is_known(look_up: Callable[[str], object], name: str) -> bool:
    """Whether a name is registered."""
    try:
        look_up(name)
    except InvalidInputError:
        return False
    return True


def _with_files(names: Sequence[str], folder: Path | None) -> tuple[str, ...]:
    return tuple(f"{name} ({_file_of(name, folder) or 'no file found'})" for name in names)


def _file_of(name: str, folder: Path | None) -> str | None:
    """File of a module, found without importing it or its packages."""
    search = None if folder is None else [str(folder)]
    for places in (search, None) if search else (None,):
        spec = None
        inside = places
        for part in name.partition(":")[0].split("."):
            spec = PathFinder.find_spec(part, inside)
            if spec is None:
                break
            inside = list(spec.submodule_search_locations or [])
        if spec is not None:
            return spec.origin
    return None


def stored_action(store: Store, result: Result) -> JobAction:
    """Return the action that computes a stored result again."""
    start = store.latest()
    named = store.named(result.key)
    rows = [] if named is None else store.rows("series", hash=named.hash)
    if named is None or not rows:
        raise InvalidInputError(
            f"`key` must be a job of the latest plan, got {result.key!r} of an earlier plan; "
            "run that plan again"
        )
    row = rows[0]
    one = RunSeries.of(row)
    about, base = result.about, Path(start.base)
    ref = SeriesRef(
        one.hash, about.get("values", ""), one.dataset, one.name, one.n_points, one.n_channels,
        row["n_missing"], one.train_length, one.events, SeriesSource(one.source),
    )  # fmt: skip
    job: Job
    match Kind(result.kind):
        case Kind.SCORE:
            given = about["params"]
            detector = DetectorSpec.of(about["detector"], given, named.detector, start.base)
            job = ScoreJob(ref, detector, named.seed)
        case Kind.IMPORT:
            align: dict[str, Any] = {n: about.get(n) for n in ("column", "align", "window")}
            job = ImportJob(
                ref,
                named.file or "",
                label=named.detector,
                digest=about["sha256"],
                part=tuple(about.get("part", {}).items()),
                nan=about.get("nan", "error"),
                **align,
            )
        case Kind.EVALUATE:
            measures = tuple(
                MeasureSpec(one["measure"], canonical(one["options"]))
                for one in about["measures"].values()
            )
            settings = EvaluationSettings.from_dict(about["settings"])
            job = EvaluateJob(
                ref, str(result.parent), settings, measures, named.detector, about["train_length"]
            )
    if not isinstance(job, EvaluateJob):
        return JobAction(job, start.imports, base)
    scores = store.get(job.parent)
    path = None if store.archive is not None else store.score_path(job.parent)
    return JobAction(job, start.imports, base, path, scores.digest if scores else None)


def stored_buffer(value: dict[str, Any]) -> BufferChoice:
    """Return the buffer that an evaluation used."""
    strategy, _, reason = (value["buffer_reason"] or "number: given").partition(": ")
    return BufferChoice(int(value["buffer"]), strategy, reason)
