"""Running a study over many series: in parallel, resumable, the same however it is divided."""

from __future__ import annotations

import importlib.util
import itertools
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path

from vuskit.datasets.optional import require
from vuskit.errors import VuskitError
from vuskit.inputs import check_int
from vuskit.interrupts import deaf_children
from vuskit.kernels.compiled import warm_up
from vuskit.measures.registry import list_measures
from vuskit.studies.scored import Source
from vuskit.studies.series_values import SeriesStore, SeriesValues
from vuskit.studies.task import Task, fingerprint, quiet

__all__ = ["Failure", "Progress", "run_study", "same_arithmetic"]


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
                with deaf_children():
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
    if importlib.util.find_spec("numba") is not None:
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
