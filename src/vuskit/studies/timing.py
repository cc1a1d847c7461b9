"""Execution time and memory of the measures, after the paper's study.

One property of the series, or one parameter of the measure, varies at a time while the others
keep their default; or the series are real ones. Every cell is warmed up and timed several
times; the peak of its memory is taken in a run of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.studies.timing_cases import Case, is_generated, real_cases, synthetic_cases
from vuskit.studies.timing_contestants import CONTESTANTS, choose
from vuskit.studies.timing_run import Forecast, Job, Progress, jobs_of, measure
from vuskit.studies.timing_settings import PARAMETERS, Setting
from vuskit.studies.timing_store import Key, Sample, TimingStore, describe_environment

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CONTESTANTS",
    "PARAMETERS",
    "Case",
    "Job",
    "Progress",
    "Setting",
    "TimingResult",
    "TimingStore",
    "real_cases",
    "synthetic_cases",
    "timing_study",
]


@dataclass(frozen=True)
class TimingResult:
    """Samples of a study.

    Attributes
    ----------
    samples : tuple of Sample
        Every timed run.
    dropped : tuple of Job
        What the budget did not allow.
    environment : dict
        Versions and machine.
    """

    samples: tuple[Sample, ...]
    dropped: tuple[Job, ...]
    environment: dict[str, Any]

    @property
    def generated(self) -> bool:
        """Whether the series are those of the synthetic study."""
        return all(is_generated(sample.series) for sample in self.samples)

    def to_frame(self) -> pd.DataFrame:
        """One row for each timed run.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame([sample.as_row() for sample in self.samples])
        return frame

    def summary(self) -> pd.DataFrame:
        """One row for each cell: median, quartiles, extremes and number of runs, peak memory.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        frame = self.to_frame()
        keys = [name for name in frame.columns if name not in ("seconds", "peak_bytes")]
        cells = frame.groupby(keys, sort=False)
        seconds = cells["seconds"]
        table: pd.DataFrame = cells["peak_bytes"].max().to_frame()
        table.insert(0, "runs", seconds.size())
        statistics = {
            "median": seconds.median(),
            "lower_quartile": seconds.quantile(0.25),
            "upper_quartile": seconds.quantile(0.75),
            "fastest": seconds.min(),
            "slowest": seconds.max(),
        }
        for position, (name, values) in enumerate(statistics.items(), start=1):
            table.insert(position, name, values)
        return table.reset_index()


def timing_study(
    cases: Sequence[Case],
    *,
    contestants: Iterable[str] | None = None,
    repeats: int = 10,
    clock: str = "wall",
    budget: float | None = None,
    store: TimingStore | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TimingResult:
    """Measure every contestant on every case, the cheapest case first.

    Parameters
    ----------
    cases : sequence of Case
        From `synthetic_cases` or `real_cases`.
    contestants : iterable of str, optional
        Keys of `CONTESTANTS`; all by default.
    repeats : int, default=10
        Timed runs of each; one to warm up and one for the memory come on top.
    clock : {"wall", "cpu"}
        Time as it passes, or processor time: steadier where other processes run, but it adds up
        the threads of a contestant that uses several.
    budget : float, optional
        Seconds that the measuring may take. What is too expensive for it is dropped.
    store : TimingStore, optional
        Keeps the samples; what it holds already is not measured again.
    progress : callable, optional
        Called with a `Progress` before each job and at the end.

    Returns
    -------
    TimingResult
        The samples of these cases, those from the store included.

    Raises
    ------
    InvalidInputError
        If a contestant or the clock is unknown, or a number out of range.

    Examples
    --------
    >>> cases = synthetic_cases([Setting(n_points=300, n_anomalies=2)])
    >>> result = timing_study(cases, contestants=["naive", "opt"], repeats=2)
    >>> result.to_frame().groupby("contestant").size().to_dict()
    {'naive': 2, 'opt': 2}
    """
    if repeats < 1:
        raise InvalidInputError(f"`repeats` must be an int >= 1, got {repeats}")
    if budget is not None and budget <= 0:
        raise InvalidInputError(f"`budget` must be a number of seconds > 0, got {budget}")
    jobs = jobs_of(cases, choose(contestants), clock)
    samples: dict[Key, list[Sample]] = {job.key: [] for job in jobs}
    for sample in store.read() if store is not None else ():
        if sample.key in samples:
            samples[sample.key].append(sample)
    missing = {job: repeats - len(samples[job.key]) for job in jobs}
    waiting = {job: runs for job, runs in missing.items() if runs > 0}
    forecast = Forecast(budget)
    dropped: list[Job] = []

    def report(job: Job | None) -> None:
        if progress is not None:
            total = len(jobs) - len(dropped)
            left = forecast.seconds_left(waiting)
            progress(Progress(total - len(waiting), total, left, job))

    for job, runs in list(waiting.items()):
        if not forecast.allows(job, waiting):
            dropped.append(job)
            del waiting[job]
            continue
        report(job)
        begin = time.perf_counter()
        new = measure(job, runs)
        forecast.learn(job, runs, time.perf_counter() - begin)
        del waiting[job]
        samples[job.key].extend(new)
        if store is not None:
            store.add(new)
    report(None)
    gathered = tuple(sample for job in jobs for sample in samples[job.key])
    return TimingResult(gathered, tuple(dropped), describe_environment())
