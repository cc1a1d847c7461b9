"""Run a study on every series; finished series are stored by content and reused.

This module alone computes the keys of series and knows how their values are stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vuskit._util.optional import installed_versions
from vuskit._util.text import listed
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.datasets.series import SeriesName, unique_names
from vuskit.engine import (
    Action,
    ExecutorSettings,
    Limits,
    Outcome,
    Progress,
    Status,
    Task,
    run_tasks,
)
from vuskit.engine.run import Executor
from vuskit.engine.tasks import StaleWorkerError
from vuskit.errors import (
    ChangedInputError,
    InvalidInputError,
    LongBufferWarning,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.inputs import check_int
from vuskit.kernels.backend import core_name
from vuskit.measures.registry import Measure
from vuskit.store.identity import Code, changed_modules, code_of, key_of
from vuskit.store.store import Store
from vuskit.studies.base import Result, Study, get_study
from vuskit.studies.result import (
    KNOWN,
    UNREADABLE,
    Failure,
    SeriesNames,
    SeriesValues,
    StudyInput,
    content_of,
    pack,
    unpack,
    without_names,
)


def run_study(
    study: Study[Result] | type[Study[Result]] | str,
    source: Any = None,
    *,
    processes: int = 1,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Result:
    """Run a study on every series.

    Parameters
    ----------
    study : Study, its class, or its name
        The study.
    source : path, ScoredSeries, or iterable of these
        Series with scores, as :func:`vuskit.studies.open_scores` accepts them. Each is read once,
        when a worker is free.
    processes : int, default=1
        Number of local processes. With 1 and without limits, the study runs in this process.
    executor : ExecutorSettings or Executor, optional
        Where to run instead, such as ``ExecutorSettings("dask", address=...)``.
    limits : Limits, optional
        Time and memory limits per series; a series that exceeds them fails. Default: no limits.
    folder : str or Path, optional
        Stores finished series, so that a second run resumes, even after ``kill -9``.
    progress : callable, optional
        Called with a :class:`vuskit.engine.Progress`.
    **options
        With a class or a name: measures, options of the study and fields of
        :class:`vuskit.EvaluationSettings`, as for :meth:`Study.create`.

    Returns
    -------
    StudyResult
        Identical, byte for byte, for every executor and number of processes.

    Raises
    ------
    InvalidInputError
        If there are no series or a parameter is invalid. A single series that fails is listed in
        the result's ``failures`` instead.

    Examples
    --------
    >>> from vuskit.datasets.synthetic import three_scores
    >>> found = run_study("robustness", three_scores(), measures=["auc_pr"], count=3)
    >>> type(found).__name__, found.study.count
    ('RobustnessResult', 3)
    """
    chosen = get_study(study) if isinstance(study, str) else study
    if isinstance(chosen, Study) and options:
        raise InvalidInputError(
            f"`options` must be left out with a study that has its own, got {', '.join(options)}"
        )
    task: Study[Result] = chosen if isinstance(chosen, Study) else chosen.create(**options)
    check_int("processes", processes, minimum=1)
    if executor is None:
        executor = ExecutorSettings(workers=processes)
    elif processes != 1:
        raise InvalidInputError(
            f"`processes` must be left out with an executor, got {processes}; set the number of "
            "workers of the executor instead"
        )
    sources = task.sources(source)
    tasks = _SeriesTasks(task, sources)
    with nullcontext() if folder is None else Store(folder) as store:
        results = _SeriesResults(task, store)
        run_tasks(
            iter(tasks),
            total=len(sources),
            results=results,
            executor=executor,
            limits=limits,
            versions=installed_versions(tasks.code.libraries),
            repeat_failed=True,
            progress=progress,
        )
        outcomes = {read.key: results.outcome(read.key) for read in tasks.read}
    found: list[tuple[Source, _Read]] = []
    failures: list[Failure] = []
    for one, read in zip(sources, tasks.read, strict=True):
        outcome = outcomes[read.key]
        if outcome.status is Status.OK:
            found.append((one, read))
        else:
            failures.append(Failure(one.name, outcome.reason or str(outcome.status)))
    if failures and task.input == "none":
        raise InvalidInputError(failures[0].reason)
    if failures and not found:
        raise InvalidInputError(
            f"{task.name} must succeed on at least one series, got none: all {len(failures):,} "
            f"failed; the first one, {failures[0].name}: {failures[0].reason}"
        )
    named = _unique_names([read for _, read in found])
    result = task.combine(
        [
            _named_value(task, outcomes[read.key].value, names)
            for (_, read), names in zip(found, named, strict=True)
        ]
    )
    inputs = [
        StudyInput.of(one, names, read.digest)
        for (one, read), names in zip(found, named, strict=True)
        if task.input != "none"
    ]
    return replace(
        result, study=task, failures=tuple(failures), inputs=tuple(inputs), core=core_name()
    )


def _unique_names(series: list[_Read]) -> list[SeriesNames]:
    """Rename series of custom sources that have the name of another series.

    Names of files, runs and series in memory are already unique.
    """
    names = unique_names(
        [SeriesName(one.names.dataset, one.names.series, None, one.digest) for one in series]
    )
    return [
        replace(one.names, dataset=dataset, series=name)
        for one, (dataset, name) in zip(series, names, strict=True)
    ]


def _named_value(study: Study[Any], value: Any, names: SeriesNames) -> Any:
    if not study.uses_names:
        return study.with_names(value, names)
    if isinstance(value, SeriesValues) and value.name != names.title:
        return replace(value, dataset=names.dataset, series=names.series)
    return value


# ---- tasks ----


@dataclass(frozen=True)
class _Read:
    """A series that was read: the key of its task, its names, and the digest of its content."""

    key: str
    names: SeriesNames
    digest: str


class _SeriesTasks:
    """Tasks of a study, one per source; a source is read when its task is requested."""

    def __init__(self, study: Study[Any], sources: Sequence[Source]) -> None:
        # Stored values must not depend on options that are declared to affect the result only.
        self.study = _with_default_result_options(study.resolved())
        self._about, self.code = about_study(self.study)
        self._sources = sources
        self.read: list[_Read] = []
        """The series read so far, in the order of the sources."""

    def __iter__(self) -> Iterator[Task]:
        for number, source in enumerate(self._sources):
            yield self._task(number, source)

    def _task(self, number: int, source: Source) -> Task:
        read = _Read(f"{self.study.name}-{number}", SeriesNames("", "", (), ()), "")
        action = _SeriesAction(self.study, self.code, os.getpid())
        about: dict[str, Any] = {}
        try:
            scored = source.read()
        except Exception as error:  # custom sources may raise anything
            action = replace(action, error=_reason(error))
        else:
            names, digest = SeriesNames.of(scored), content_of(scored)
            about = {**self._about, "series": digest}
            if self.study.uses_names:
                about["names"] = [names.dataset, names.series, names.runs, names.detectors]
            read = _Read(key_of("study", about), names, digest)
            given = scored if self.study.uses_names else without_names(scored)
            action = replace(action, series=given)
        self.read.append(read)
        libraries = self.code.libraries
        return Task(read.key, source.name, lambda: action, "study", about, libraries=libraries)


def _with_default_result_options(study: Study[Any]) -> Study[Any]:
    defaults = {
        name: one.default
        for name, one in study.options().items()
        if one.stage == "result" and one.default is not MISSING
    }
    return replace(study, **defaults)


def _reason(error: Exception) -> str:
    """Return the message of an error as outcomes show it."""
    return str(error) if isinstance(error, VuskitError) else f"{type(error).__name__}: {error}"


class _SeriesResults:
    """Outcomes of this run, and values of earlier runs in a store."""

    def __init__(self, study: Study[Any], store: Store | None) -> None:
        self._store = store
        self._known: tuple[Callable[..., Any], ...] = (*KNOWN, *study.known)
        self._outcomes: dict[str, Outcome] = {}

    def statuses(self) -> dict[str, Status]:
        return {} if self._store is None else self._store.statuses()

    def save(self, batch: Iterable[tuple[Task, Outcome]]) -> None:
        ended = list(batch)
        self._outcomes.update((task.key, outcome) for task, outcome in ended)
        if self._store is not None:
            self._store.save(
                (task, replace(one, value=pack(one.value)) if one.status is Status.OK else one)
                for task, one in ended
                if task.about  # a series that cannot be read has no content
            )

    def outcome(self, key: str) -> Outcome:
        if key in self._outcomes:
            return self._outcomes[key]
        found = None if self._store is None else self._store.get(key)
        if found is None:  # its code changed during the run
            return Outcome(Status.ERROR, message="the code of the study changed; run it again")
        if found.status is not Status.OK:
            return Outcome(found.status, message=found.message)
        try:
            return Outcome(Status.OK, unpack(found.value, self._known)[1])
        except UNREADABLE as error:
            return Outcome(
                Status.ERROR,
                message=f"the stored value cannot be read ({type(error).__name__}: {error}); "
                "declare its class in `known` of the study, and use another folder",
            )


@dataclass(frozen=True)
class _SeriesAction(Action):
    """Evaluates a study on one series; runs on a worker."""

    study: Study[Any]
    expected: Code
    main_process: int
    error: str = ""  # why the series could not be read
    series: ScoredSeries | None = None

    @property
    def group(self) -> str:
        """All series share a warm-up, which imports the study before limits apply."""
        return "studies"

    def run(self) -> Any:
        if self.error:
            raise InvalidInputError(self.error)
        if os.getpid() != self.main_process:
            check_code(self.study, self.expected)
        assert self.series is not None
        with _without_expected_warnings() as coarse:
            value = self.study.per_series(self.series)
        if isinstance(value, SeriesValues):
            value = replace(value, notes={**value.notes, "coarse_grid": bool(coarse)})
        return value


@contextmanager
def _without_expected_warnings() -> Iterator[list[str]]:
    """Collect warnings about coarse grids, drop those about undefined values and long buffers.

    Studies count coarse grids and undefined values themselves.
    """
    coarse: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ThresholdResolutionWarning)
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        warnings.simplefilter("ignore", LongBufferWarning)
        yield coarse
    for warning in caught:
        if issubclass(warning.category, ThresholdResolutionWarning):
            coarse.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


# ---- keys ----


def about_study(study: Study[Any]) -> tuple[dict[str, Any], Code]:
    """Return what the key of every series is made of, without the series, and all code involved.

    Options that are declared to affect the result only do not count.
    """
    study = study.resolved()
    excluded = {name for name, one in study.options().items() if one.stage == "result"}
    found = _Description()
    options = {
        one.name: found.of(getattr(study, one.name))
        for one in fields(study)
        if one.name not in excluded
    }
    found.code(type(study))
    # Results of studies are compared byte by byte, and the cores round differently.
    about = {"study": study.name, "options": options, "code": found.parts, "core": core_name()}
    return about, Code(found.parts, tuple(sorted(found.libraries)))


class _Description:
    """Converts values to plain data, and collects the code they depend on."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.libraries: set[str] = set()

    def code(self, thing: Any) -> str:
        """Note the code of a function, a class or another callable, and return its name."""
        found = code_of(thing)
        self.parts |= found.parts
        self.libraries |= set(found.libraries)
        return f"{getattr(thing, '__qualname__', type(thing).__qualname__)} {found}"

    def of(self, value: Any) -> Any:
        """Return plain data for a value: code of functions and classes, content of arrays."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, str, int, float):
            return value
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
        if isinstance(value, Measure):
            options, code = self.of(value.options), self.code(value.function)
            higher = value.higher_is_better
            return {"measure": value.name, "higher": higher, "options": options, "code": code}
        if isinstance(value, Mapping):
            items = [[self.of(key), self.of(item)] for key, item in value.items()]
            return {"mapping": sorted(items, key=json.dumps)}
        if isinstance(value, (set, frozenset)):
            return {"set": sorted(map(self.of, value), key=json.dumps)}
        if isinstance(value, (list, tuple)):
            return list(map(self.of, value))
        if is_dataclass(value) and not isinstance(value, type):
            state = {one.name: self.of(getattr(value, one.name)) for one in fields(value)}
            return {"object": self.code(type(value)), "fields": state}
        if callable(value):
            return {"code": self.code(value)}
        try:
            pickled = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
        except Exception:  # methods of the object may raise anything
            pickled = uuid.uuid4().hex  # never the same, so results are not reused
        return {"object": self.code(type(value)), "pickle": pickled}


_checked: set[str] = set()  # code that matches that of this process


def check_code(study: Study[Any], expected: Code) -> None:
    """Check that the user's modules in this process are those that the study was started with.

    Code that was sent by value needs no check. A module that this process imported itself may be a
    different version if its file was edited after the main process imported it.
    """
    if str(expected) in _checked:
        return
    try:
        found = about_study(study)[1].parts
    except ChangedInputError as error:
        raise StaleWorkerError(str(error)) from error
    known = {name: expected.parts.get(name, digest) for name, digest in found.items()}
    imported = sys.modules.keys() - {"__main__"}
    changed = [name for name in changed_modules(known, found) if name in imported]
    if changed:
        raise StaleWorkerError(
            f"{listed(changed, most=3)} must be the code that the study was started with, got "
            "another version; import it again, or restart the program"
        )
    _checked.add(str(expected))
