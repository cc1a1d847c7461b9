"""Running a study: its settings, its work on one series, many series in parallel, saved parts."""

from __future__ import annotations

import hashlib
import inspect
import io
import itertools
import json
import multiprocessing
import signal
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from importlib.machinery import PathFinder
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.environment import describe_environment
from vuskit._util.files import write_atomically
from vuskit._util.optional import is_installed, require
from vuskit._util.signals import ignore_sigint_in_children
from vuskit.buffers import buffer_strategy_title, parse_buffer
from vuskit.datasets import ScoredSeries
from vuskit.errors import (
    InvalidInputError,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.inputs import check_int
from vuskit.kernels.compiled import warm_up
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, list_measures, resolve_measures
from vuskit.studies.sources import Source, content_of

__all__ = [
    "BufferUse",
    "Failure",
    "MeasureSettings",
    "Progress",
    "SeriesEvaluator",
    "SeriesStore",
    "SeriesValues",
    "Task",
    "evaluate_scores",
    "fingerprint",
    "quiet",
    "run_study",
    "same_arithmetic",
]

_UNREADABLE = (OSError, ValueError, KeyError, zipfile.BadZipFile)


@dataclass(frozen=True, eq=False)
class SeriesValues:
    """Values of measures on one series.

    Attributes
    ----------
    dataset, series : str
        Names.
    buffer : int
        Buffer of R-AUC and longest buffer of VUS.
    axes : mapping from str to tuple of str
        What the axes of `values` are, in order, and the name of each place on them.
    values : array
        NaN where a measure is undefined.
    notes : mapping
        Further facts, of kinds that JSON knows.
    """

    dataset: str
    series: str
    buffer: int
    axes: Mapping[str, tuple[str, ...]]
    values: NDArray[np.float64]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    def to_bytes(self) -> bytes:
        """Everything in one block of bytes; the same values give the same bytes."""
        header = {
            "dataset": self.dataset,
            "series": self.series,
            "buffer": self.buffer,
            "axes": {axis: list(names) for axis, names in self.axes.items()},
            "notes": dict(self.notes),
        }
        stream = io.BytesIO()
        text = np.frombuffer(json.dumps(header, sort_keys=False).encode(), dtype=np.uint8)
        np.savez(stream, header=text, values=self.values)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> SeriesValues:
        """Undo `to_bytes`.

        Raises
        ------
        ValueError, KeyError, zipfile.BadZipFile
            If the bytes are something else.
        """
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes().decode())
            values = arrays["values"]
        axes = {axis: tuple(names) for axis, names in header["axes"].items()}
        return cls(
            header["dataset"], header["series"], header["buffer"], axes, values, header["notes"]
        )


@dataclass(frozen=True)
class SeriesStore:
    """One file for each finished series of a study, named by what went into it.

    A file is complete or not there: it is written beside its place and moved. Other settings,
    other data or other code give other names, so nothing stale is ever read.

    Examples
    --------
    >>> store = SeriesStore(Path(tempfile.mkdtemp()))
    >>> found = SeriesValues("docs", "a", 10, {"measure": ("vus_pr",)}, np.array([0.5]))
    >>> store.save("0123", found)
    >>> store.load("0123").values.tolist(), store.load("4567")
    ([0.5], None)
    """

    folder: Path

    def load(self, key: str) -> SeriesValues | None:
        """What was saved under the key; None if nothing was, or the file is damaged."""
        try:
            return SeriesValues.from_bytes(self._path(key).read_bytes())
        except _UNREADABLE:
            return None

    def save(self, key: str, values: SeriesValues) -> None:
        """Save under the key."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(key), values.to_bytes())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


@dataclass(frozen=True)
class MeasureSettings:
    """Which measures, with which buffer and options.

    Attributes
    ----------
    measures : tuple of Measure
        What is computed.
    buffer : str or int
        Strategy of :func:`vuskit.choose_buffer`, or the length itself.
    volume_factor : float
        The longest buffer of VUS, in buffers of R-AUC.
    options : mapping
        Further options of :class:`vuskit.Evaluator`.
    """

    measures: tuple[Measure, ...]
    buffer: str | int = "authors"
    volume_factor: float = 2.0
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        measures: str | Measure | Iterable[str | Measure],
        buffer: str | int,
        volume_factor: float,
        options: Mapping[str, Any],
    ) -> MeasureSettings:
        """Settings of checked measures.

        Raises
        ------
        InvalidInputError
            If a measure or the buffer's strategy is unknown, or the factor not positive.
        """
        if not volume_factor > 0:
            raise InvalidInputError(f"`volume_factor` must be a number > 0, got {volume_factor}")
        return cls(
            resolve_measures(measures), parse_buffer(buffer), float(volume_factor), dict(options)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(measure.name for measure in self.measures)

    def evaluator(self, labels: ArrayLike, buffer: int) -> SeriesEvaluator:
        """Evaluator of the measures for these labels."""
        longest = round(self.volume_factor * buffer)
        groups = self._groups(buffer, longest) if longest != buffer else [(self.measures, {})]
        return SeriesEvaluator(
            tuple(
                Evaluator(labels, measures=group, **{"buffer": buffer, **self.options, **own})
                for group, own in groups
                if group
            ),
            self.names,
        )

    def _groups(
        self, buffer: int, longest: int
    ) -> list[tuple[tuple[Measure, ...], dict[str, Any]]]:
        """Measures that can share work, with the options that only they take."""
        volumes = tuple(measure for measure in self.measures if measure.family == "vus")
        others = [measure for measure in self.measures if measure.family != "vus"]
        shared = tuple(measure for measure in others if measure.shared is not None)
        alone = tuple(measure for measure in others if measure.shared is None)
        # Without volumes no buffer between none and the longest is needed.
        return [(volumes, {"buffer": longest}), (shared, {"step": max(buffer, 1)}), (alone, {})]


@dataclass(frozen=True)
class SeriesEvaluator:
    """Labels of one series, prepared for many scores; measures with different buffers."""

    evaluators: tuple[Evaluator, ...]
    names: tuple[str, ...]

    def __call__(self, score: ArrayLike) -> list[float]:
        """Values of the measures, in order."""
        values: dict[str, float] = {}
        for evaluator in self.evaluators:
            values |= evaluator(score)
        return [values[name] for name in self.names]


class Task(Protocol):
    """A study, as far as one series goes; a frozen dataclass."""

    @property
    def study(self) -> str:
        """Name of the study."""

    @property
    def settings(self) -> MeasureSettings:
        """The measures."""

    def run(self, scored: ScoredSeries) -> SeriesValues:
        """Values of the measures on one series."""


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Collect warnings of too coarse grids and drop those of undefined values.

    The studies count both; other warnings are passed on.
    """
    coarse: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ThresholdResolutionWarning)
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        yield coarse
    for warning in caught:
        if issubclass(warning.category, ThresholdResolutionWarning):
            coarse.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def evaluate_scores(evaluator: SeriesEvaluator, scores: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Values of all measures (columns) for each score (rows)."""
    return np.array([evaluator(score) for score in scores], dtype=np.float64)


def fingerprint(task: Task, scored: ScoredSeries) -> str:
    """Digest of everything that the values depend on: study, settings, measures, code, data."""
    parts = {
        entry.name: _identity(getattr(task, entry.name))
        for entry in fields(task)  # type: ignore[arg-type]  # tasks are dataclasses
    }
    parts |= {"study": task.study, "code": _code_digest(), "content": content_of(scored)}
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_known_digests: dict[str, str] = {}


def _code_digest() -> str:
    if "code" not in _known_digests:
        _known_digests["code"] = describe_environment()["code"]
    return _known_digests["code"]


def _identity(value: Any) -> Any:
    """The value as JSON knows it; functions by their code, so that an edit is noticed."""
    if isinstance(value, MeasureSettings):
        return {entry.name: _identity(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Measure):
        return [
            value.name,
            value.higher_is_better,
            _identity(value.options),
            _source(value.function),
        ]
    if isinstance(value, Mapping):
        return {str(key): _identity(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_identity(item) for item in value]
    if callable(value):
        return _source(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _source(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        # Typed at a prompt, or made by other code: what it compiles to will do.
        text = repr(function) if code is None else f"{code.co_code!r}{code.co_consts!r}"
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Failure:
    """A series that could not be studied.

    Attributes
    ----------
    name : str
        The series or its file.
    reason : str
        Why not.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class Progress:
    """Told to the callback at the start and after each series.

    Attributes
    ----------
    done, total : int
        Series finished, and all of them.
    seconds_left : float
        Forecast for the rest; NaN before the first is finished.
    name : str
        The series finished last.
    """

    done: int
    total: int
    seconds_left: float
    name: str = ""


Outcome = SeriesValues | Failure


def run_study(
    task: Task,
    sources: Sequence[Source],
    *,
    processes: int = 1,
    folder: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[tuple[SeriesValues, ...], tuple[Failure, ...]]:
    """Run a task on every series.

    Parameters
    ----------
    task : Task
        What to do with a series.
    sources : sequence of Source
        The series.
    processes : int, default=1
        How many work at once; 1 works in this process.
    folder : str or Path, optional
        Keeps what is finished; what it holds already is not computed again.
    progress : callable, optional
        Called with a `Progress`.

    Returns
    -------
    tuple of SeriesValues, tuple of Failure
        In the order of the sources, whatever the number of processes.

    Raises
    ------
    InvalidInputError
        If the number of processes is not positive.
    """
    check_int("processes", processes, minimum=1)
    store = None if folder is None else SeriesStore(Path(folder))
    run = _in_processes if processes > 1 and len(sources) > 1 else _here
    outcomes: dict[int, Outcome] = {}
    begin = time.perf_counter()
    _report(progress, 0, len(sources), begin, "")
    for index, outcome in run(task, sources, store, processes):
        outcomes[index] = outcome
        _report(progress, len(outcomes), len(sources), begin, outcome.name)
    ordered = [outcomes[index] for index in range(len(sources))]
    return (
        tuple(outcome for outcome in ordered if isinstance(outcome, SeriesValues)),
        tuple(outcome for outcome in ordered if isinstance(outcome, Failure)),
    )


def _report(
    progress: Callable[[Progress], None] | None, done: int, total: int, begin: float, name: str
) -> None:
    if progress is not None:
        spent = time.perf_counter() - begin
        left = spent / done * (total - done) if done else float("nan")
        progress(Progress(done, total, left, name))


def _here(
    task: Task, sources: Sequence[Source], store: SeriesStore | None, processes: int
) -> Iterator[tuple[int, Outcome]]:
    with same_arithmetic():
        for index, source in enumerate(sources):
            yield index, _study(task, source, store)


def _in_processes(
    task: Task, sources: Sequence[Source], store: SeriesStore | None, processes: int
) -> Iterator[tuple[int, Outcome]]:
    workers = min(processes, len(sources))
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(_pickled(task), store),
    )
    waiting = iter(enumerate(sources))
    running: dict[Future[Outcome], int] = {}
    try:
        while True:
            # No more than the workers can take: what waits in their queue cannot be called back.
            for index, source in itertools.islice(waiting, workers - len(running)):
                with ignore_sigint_in_children():
                    future = pool.submit(_study_in_worker, source)
                running[future] = index
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        # Also when the caller stops early: what runs is finished, what waits is not begun.
        pool.shutdown(cancel_futures=True)


def _pickled(task: Task) -> bytes:
    """The task for another process, with the measures that their module cannot bring there.

    A measure may come from a notebook, a script or a module that only this process can find.
    """
    cloudpickle = require("cloudpickle", purpose="more than one process")
    homes = {measure.function.__module__ for measure in list_measures()}
    own = [
        sys.modules[home]
        for home in sorted(homes & sys.modules.keys())
        if home != "__main__" and PathFinder.find_spec(home.partition(".")[0]) is None
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(task))
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


@contextmanager
def same_arithmetic() -> Iterator[None]:
    """Same sums in every process and run.

    Sums over several threads, or by NumPy instead of the compiled sweep, round differently.
    """
    _warm_up()
    with require("threadpoolctl", purpose="a study").threadpool_limits(1):
        yield


def _warm_up() -> None:
    if is_installed("numba"):
        warm_up()


_worker: dict[str, tuple[Task, SeriesStore | None]] = {}


def _start_worker(pickled: bytes, store: SeriesStore | None) -> None:
    # Ctrl-C reaches every process of a terminal; the first one decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Kept for as long as the process lives, so the limit of threads is never taken back.
    require("threadpoolctl", purpose="a study").threadpool_limits(1)
    _warm_up()
    _worker["task"] = require("cloudpickle", purpose="a study").loads(pickled), store


def _study_in_worker(source: Source) -> Outcome:
    return _study(_worker["task"][0], source, _worker["task"][1])


def _study(task: Task, source: Source, store: SeriesStore | None) -> Outcome:
    try:
        scored = source.read()
        key = fingerprint(task, scored)
        known = store.load(key) if store is not None else None
        if known is not None:
            return known
        with quiet() as coarse:
            values = task.run(scored)
        values = replace(values, notes={**values.notes, "coarse_grid": bool(coarse)})
    except VuskitError as error:
        return Failure(source.name, str(error))
    if store is not None:
        store.save(key, values)
    return values


@dataclass(frozen=True)
class BufferUse:
    """The buffers of the series of a study.

    Attributes
    ----------
    strategy : str or int
        What chose them, or the number that was given.
    shortest, typical, longest : int
        Least, median and greatest buffer of R-AUC.
    volume_factor : float
        The longest buffer of VUS, in buffers of R-AUC.
    """

    strategy: str | int
    shortest: int
    typical: int
    longest: int
    volume_factor: float

    @classmethod
    def of(cls, settings: MeasureSettings, values: Iterable[SeriesValues]) -> BufferUse:
        """Buffers that some series were studied with.

        Examples
        --------
        >>> rows = [("a", 20), ("b", 50), ("c", 30)]
        >>> found = [SeriesValues("docs", name, length, {}, None) for name, length in rows]
        >>> print(BufferUse.of(MeasureSettings((), "median_anomaly", volume_factor=1.0), found))
        the median length of the anomalies (median_anomaly): 20 to 50 points, median 30
        >>> print(BufferUse.of(MeasureSettings((), 24), found))
        24 points; VUS up to 2 times that
        """
        lengths = [one.buffer for one in values] or [0]
        return cls(
            settings.buffer,
            min(lengths),
            round(median(lengths)),
            max(lengths),
            settings.volume_factor,
        )

    @classmethod
    def of_one(cls, strategy: str | int, length: int, volume_factor: float) -> BufferUse:
        """Buffer of a single series."""
        return cls(strategy, length, length, length, volume_factor)

    def __str__(self) -> str:
        longer = self.volume_factor != 1
        return self._lengths() + f"; VUS up to {self.volume_factor:g} times that" * longer

    def _lengths(self) -> str:
        if not isinstance(self.strategy, str):
            return f"{self.strategy} points"
        rule = f"{buffer_strategy_title(self.strategy)} ({self.strategy})"
        if self.shortest == self.longest:
            return f"{rule}: {self.longest} points"
        return f"{rule}: {self.shortest} to {self.longest} points, median {self.typical}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "strategy": self.strategy if isinstance(self.strategy, str) else "number",
            "shortest": self.shortest,
            "median": self.typical,
            "longest": self.longest,
            "volume_factor": self.volume_factor,
        }
