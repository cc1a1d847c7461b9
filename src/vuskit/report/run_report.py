"""Values of a benchmark run, arranged for tables and pages, and the evaluation of one series."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.optional import require
from vuskit._util.text import did_you_mean, plural
from vuskit.bench import Failure, Run, RunSeries, RunStatus, Status, Values
from vuskit.bench.in_memory import EvaluatedSeries
from vuskit.bench.jobs import Kind
from vuskit.bench.run import FailureCause, ScoreRecord
from vuskit.datasets import ScoredSeries, Series
from vuskit.detectors.families import detector_family
from vuskit.errors import InvalidInputError
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, measure_called, measures_in_order
from vuskit.measures.results import Comparison, Evaluation
from vuskit.report.evaluation import EvaluationReport

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import TableComparison

Floats = NDArray[np.float64]

FAILED = tuple(status for status in Status if status.failed)
_MOST_FAILURES = 200
_MOST_DRAWS = 20  # random scores of a series
_RANDOM_POINTS = 2_000_000  # of all random scores, unless one of each series has more
_MOST_POINTS = 20_000_000  # of all series


@dataclass(frozen=True, eq=False)
class RunReport:
    """Values of a benchmark run known so far; read them with :meth:`read`.

    Attributes
    ----------
    folder : Path
        The run folder.
    status : RunStatus
        Progress and the latest failures.
    settings, measures, detectors : tuple of str
        Names along the first three axes of the values. Detectors are sorted by name; their order
        determines their colors on all pages.
    series : tuple of RunSeries or EvaluatedSeries
        The last axis of the values.
    values : ndarray, shape (settings, measures, detectors, series)
        Means over the seeds; NaN if missing.
    seconds : ndarray, shape (detectors, series)
        Time of fitting and scoring, the mean over the seeds; NaN if not measured.
    outcomes : ndarray of str, shape (detectors, series)
        Status of the scores, or of their evaluation if that failed; empty if not run yet.
    seeds : int
        Largest number of seeds of a detector.
    known : dict
        Title, family, bounds and direction of the measures, as stored in the run.
    changes : dict
        Series whose values or labels changed since the run, with a description of the change.
    registered : dict
        Registered names of the detectors; imported scores have none.
    title, notes : str
        Title of the page, if not the name of the folder, and a text below it.
    memory : Values or None
        Values in memory; the folder is then that of the scores.
    chance : ndarray, shape (settings, measures, series), or None
        Mean values of random scores, see :meth:`with_chance`; NaN if missing.
    """

    folder: Path
    status: RunStatus
    settings: tuple[str, ...]
    measures: tuple[str, ...]
    detectors: tuple[str, ...]
    series: tuple[RunSeries | EvaluatedSeries, ...]
    values: Floats
    seconds: Floats
    outcomes: NDArray[np.str_]
    seeds: int
    known: Mapping[str, Measure]
    changes: Mapping[str, str] = field(default_factory=dict)
    registered: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    notes: str = ""
    memory: Values | None = None
    chance: Floats | None = None

    @classmethod
    def of_values(
        cls, values: Values, place: str | Path, *, status: RunStatus | None = None
    ) -> RunReport:
        """Arrange values in memory for a page; the name of the place is its title."""
        detectors, series = values.detectors, values.series
        numbers = np.full((1, len(values.measures), len(detectors), len(series)), np.nan)
        outcomes = np.full(numbers.shape[2:], "", dtype="<U7")
        of_detector = _index(detectors)
        for s, one in enumerate(series):
            for score in one.scores:
                d = of_detector[score.detector]
                numbers[0, :, d, s] = score.values
                ended = (ok for ok in score.statuses if ok is Status.OK)
                outcomes[d, s] = next(ended, score.statuses[0])
        names = [measure.name for measure in values.measures]
        order = [names.index(name) for name in measures_in_order(names)]
        present = [m for m in order if np.isfinite(numbers[0, m]).any()]
        return cls(
            folder=Path(place),
            status=status or values_status(values),
            settings=(values.settings_text,),
            measures=tuple(names[m] for m in present),
            detectors=detectors,
            series=series,
            values=numbers[:, present],
            seconds=np.full(numbers.shape[2:], np.nan),
            outcomes=outcomes,
            seeds=1,
            known={names[m]: values.measures[m] for m in order},
            memory=values,
        )

    @classmethod
    def read(cls, folder: str | Path) -> RunReport:
        """Read the results of the latest plan of a run folder, also during the run.

        Parameters
        ----------
        folder : str or Path
            The run folder.

        Raises
        ------
        InvalidInputError
            If it holds no run.
        MissingDependencyError
            If pandas is not installed.

        Examples
        --------
        >>> RunReport.read("nowhere")
        Traceback (most recent call last):
        vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
        """
        place = Path(folder)
        run = Run(place)
        status = run.status(failures=_MOST_FAILURES)
        table = run.values()
        jobs = run.score_records()
        detectors = run.detectors()
        series = run.series()
        known = run.measures()
        present = set(table["measure"])
        measures = tuple(name for name in known if name in present)
        settings = tuple(dict.fromkeys(table["settings"]))
        seconds, outcomes = _costs(jobs, detectors, series)
        return cls(
            folder=place,
            status=status,
            settings=settings,
            measures=measures,
            detectors=detectors,
            series=series,
            values=_values(table, settings, measures, detectors, series),
            seconds=seconds,
            outcomes=outcomes,
            seeds=_most_seeds(jobs),
            known=known,
            changes=run.changes(),
            registered={job.detector: job.identity.partition("(")[0] for job in jobs},
        )

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.resolve().name

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets of the series, in order."""
        return tuple(dict.fromkeys(one.dataset for one in self.series))

    @property
    def families(self) -> tuple[str, ...]:
        """Family of each detector; empty if unknown."""
        return tuple(
            detector_family(self.registered.get(name, "")) or detector_family(name)
            for name in self.detectors
        )

    @property
    def failures(self) -> int:
        """Number of failed jobs."""
        return self.status.count(*FAILED)

    @property
    def state(self) -> str:
        """Progress of the run in words."""
        done, total = self.status.progress.get("done", 0), self.status.progress.get("total", 0)
        state = self.status.run["state"]
        if state == "finished":
            return f"finished: {done:,} jobs"
        told = {"running": "unfinished", "failed": "stopped"}
        return f"{told.get(state, state)}: {done:,} of {total:,} jobs"

    @property
    def change_summary(self) -> str:
        """How many series changed since the run, and what to do."""
        return (
            f"Values or labels of {plural(len(self.changes), 'series', 'series')} changed since "
            "the run. The page shows the values of the run and does not draw these series. Repeat "
            "the command that created the run (`vuskit bench run` or `vuskit evaluate`) to compute "
            "new values"
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {one.title: place for place, one in enumerate(self.series)}

    def find_series(self, name: str) -> int:
        """Return the place of a series, by data set and name, or by its name if it is unique.

        Raises
        ------
        InvalidInputError
            If no series, or several, have this name.
        """
        if name in self._places:
            return self._places[name]
        found = [place for place, one in enumerate(self.series) if one.name == name]
        if len(found) > 1:
            titles = ", ".join(repr(self.series[place].title) for place in found[:3])
            raise InvalidInputError(f"`series` must name one series, got {name!r}: {titles}")
        if not found:
            hint = did_you_mean(name, sorted({*self._places, *(one.name for one in self.series)}))
            raise InvalidInputError(
                f"`series` must be one of the {len(self.series):,} series of the run, "
                f"got {name!r}{hint}"
            )
        return found[0]

    def measure(self, name: str) -> Measure:
        """Return a measure as stored in the run; see `vuskit.bench.Run.measures`."""
        return self.known.get(name) or measure_called(name)

    def without_values(self, settings: str, measure: str) -> tuple[str, ...]:
        """Return the detectors without any value, which a comparison excludes."""
        values = self.values[self.settings.index(settings), self.measures.index(measure)]
        missing = np.isnan(values).all(axis=1)
        return tuple(name for name, none in zip(self.detectors, missing, strict=True) if none)

    def with_chance(self) -> RunReport:
        """Return the report with values of random scores; the same if there are none.

        There are none if labels cannot be read, or if the series are very long.
        """
        from vuskit.report.publication import chance_by_series

        total = max(sum(one.n_points for one in self.series), 1)
        if self.chance is not None or total > _MOST_POINTS:
            return self
        draws = int(np.clip(_RANDOM_POINTS // total, 1, _MOST_DRAWS))
        found = np.full((len(self.settings), len(self.measures), len(self.series)), np.nan)
        try:
            source = self.memory or Run(self.folder)
            for s, settings in enumerate(self.settings):
                levels, _ = chance_by_series(source, settings, self.measures, draws)
                for m, measure in enumerate(self.measures):
                    for i, one in enumerate(self.series):
                        found[s, m, i] = levels.get((one.dataset, one.name, measure), np.nan)
        except (InvalidInputError, OSError):
            return self
        return dataclasses.replace(self, chance=found)

    def chance_of(self, settings: str, measure: str, series: NDArray[np.intp]) -> float | None:
        """Return the mean of random scores over some series; None if it is not known."""
        if self.chance is None:
            return None
        place = self.settings.index(settings), self.measures.index(measure)
        found = float(self.chance[place][series].mean())
        return found if np.isfinite(found) else None

    def comparison(
        self,
        settings: str,
        measure: str,
        *,
        series: NDArray[np.intp] | None = None,
        n_resamples: int = 2000,
    ) -> TableComparison:
        """Compare the detectors by a measure, on the series on which all of them have a value.

        Detectors without any value are excluded; see `without_values`. Rows are the places of the
        series; by default, all series are compared.

        Raises
        ------
        InvalidInputError
            If fewer than two detectors, or too few series, remain.
        """
        from vuskit.statistics.comparison import compare_columns

        pandas = require("pandas", purpose="a comparison")
        place = self.settings.index(settings), self.measures.index(measure)
        table = pandas.DataFrame(self.values[place].T, columns=list(self.detectors))
        table = (table if series is None else table.iloc[series]).dropna(axis="columns", how="all")
        complete, chosen = len(table.dropna()), len(table)
        if table.shape[1] < 2:
            raise InvalidInputError(
                f"tests need two or more detectors with values, got {table.shape[1]}"
            )
        if complete < 2:
            raise InvalidInputError(
                "tests need two or more series with values of all detectors, "
                f"got {complete} of {chosen}"
            )
        return compare_columns(
            table,
            title=self.measure(measure).title,
            higher_is_better=self.measure(measure).higher_is_better,
            n_resamples=n_resamples,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per value (settings, series, detector, measure), means over seeds."""
        pandas = require("pandas", purpose="a table of values")
        at = np.argwhere(np.isfinite(self.values))
        return pandas.DataFrame(
            {
                "settings": [self.settings[i] for i in at[:, 0]],
                "dataset": [self.series[i].dataset for i in at[:, 3]],
                "series": [self.series[i].name for i in at[:, 3]],
                "detector": [self.detectors[i] for i in at[:, 2]],
                "measure": [self.measures[i] for i in at[:, 1]],
                "value": self.values[tuple(at.T)],
            }
        )


def values_status(
    values: Values,
    *,
    done: int | None = None,
    total: int | None = None,
    started: str = "",
    running: str = "",
) -> RunStatus:
    """Describe the progress of an evaluation in memory; by default, it is finished."""
    scores = [score for one in values.series for score in one.scores]
    unread = (dataclasses.replace(one, status=Status.ERROR) for one in values.unread)
    failed = [*values.failures, *unread]
    causes: dict[str, list[Failure]] = {}
    for one in failed:
        causes.setdefault(one.message.partition("\n")[0], []).append(one)
    started = started or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    done = len(values.series) if done is None else done
    return RunStatus(
        run={
            "state": "running" if running else "finished",
            "begun": started,
            "started": started,
            "last_job": started,
            "vuskit": __version__,
        },
        progress={
            "total": done if total is None else total,
            "done": done,
            "running": [running] if running else [],
        },
        counts={
            (Kind.EVALUATE, Status.OK): sum(Status.OK in score.statuses for score in scores),
            (Kind.EVALUATE, Status.ERROR): len(failed),
        },
        by_detector={},
        n_values=sum(bool(np.isfinite(value)) for score in scores for value in score.values),
        failures=tuple(failed[::-1]),
        causes=tuple(FailureCause(len(same), same[-1]) for same in causes.values()),
        notes=values.notes,
    )


def _index(names: tuple[Any, ...]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(names)}


def _values(
    table: pd.DataFrame,
    settings: tuple[str, ...],
    measures: tuple[str, ...],
    detectors: tuple[str, ...],
    series: tuple[RunSeries, ...],
) -> Floats:
    """Arrange the values as an array; means over the seeds."""
    axes = settings, measures, detectors, tuple((one.dataset, one.name) for one in series)
    names = zip(table["dataset"], table["series"], strict=True)
    columns = table["settings"], table["measure"], table["detector"], names
    at = tuple(
        np.array([place[name] for name in column], dtype=np.intp)
        for place, column in zip(map(_index, axes), columns, strict=True)
    )
    shape = tuple(map(len, axes))
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, at, table["value"].to_numpy(dtype=np.float64))
    np.add.at(counts, at, 1.0)
    means: Floats = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return means


def _costs(
    jobs: tuple[ScoreRecord, ...],
    detectors: tuple[str, ...],
    series: tuple[RunSeries, ...],
) -> tuple[Floats, NDArray[np.str_]]:
    """Return seconds and outcomes by detector and series."""
    shape = len(detectors), len(series)
    warm: dict[tuple[int, int], list[float]] = {}
    cold: dict[tuple[int, int], list[float]] = {}
    outcomes = np.full(shape, "", dtype="<U7")
    of_detector = _index(detectors)
    of_series = _index(tuple((one.dataset, one.name) for one in series))
    for job in jobs:
        at = of_detector[job.detector], of_series[job.dataset, job.series]
        # One successful seed is enough; failures of other seeds are listed separately.
        if outcomes[at] != Status.OK:
            outcomes[at] = job.evaluated or job.status
        if job.fit_seconds is not None and job.score_seconds is not None:
            # The first job of a detector in a worker includes imports and compilation.
            kept = cold if job.cold else warm
            kept.setdefault(at, []).append(job.fit_seconds + job.score_seconds)
    seconds = np.full(shape, np.nan)
    for at, found in {**cold, **warm}.items():
        seconds[at] = np.mean(found)
    return seconds, outcomes


def _most_seeds(jobs: tuple[ScoreRecord, ...]) -> int:
    seen: dict[tuple[str, str], set[int]] = {}
    for job in jobs:
        seen.setdefault((job.detector, job.series_hash), set()).add(job.seed or 0)
    return max((len(found) for found in seen.values()), default=1)


def series_report(
    run: RunReport, place: int, settings: str, *, scored: ScoredSeries | None = None
) -> EvaluationReport:
    """Return the evaluation of one series from stored scores and values; computes nothing."""
    about: Any = run.series[place]
    source: Any = run.memory or Run(run.folder)
    used = source.evaluation_settings(about, settings)
    if used is None:
        raise InvalidInputError(f"{about.title} has no values{_why(run, about)}")
    if scored is None and run.memory:
        scored = about.read()
    if scored is None:
        series, scores = about.read(), source.scores(about)
    else:
        series = scored.series
        scores = {name: scored.runs(name)[0] for name in scored.detectors}
    series = series.after(source.evaluated_from(about, settings))
    scores = {name: score[-series.n_points :] for name, score in scores.items()}
    measures = tuple(run.measure(name) for name in run.measures)
    evaluator = Evaluator(series.labels, measures=measures, settings=used)
    values = run.values[run.settings.index(settings), :, :, place]
    table = Comparison(
        {
            name: Evaluation(
                dict(zip(run.measures, values[:, run.detectors.index(name)].tolist(), strict=True)),
                evaluator,
            )
            for name in scores
        },
        evaluator,
    )
    return EvaluationReport(
        name=about.title,
        labels=np.asarray(series.labels, dtype=bool),
        values=first_channel(series),
        channels=_channels(series),
        scores=scores,
        table=table,
        buffer=evaluator.buffer,
        threshold=used.threshold,
        draws=0,
    )


def first_channel(series: Series) -> Floats | None:
    """Return the first channel of a series; None if all values are missing, as in a pack."""
    values = np.asarray(series.values, dtype=np.float64).reshape(series.n_points, -1)
    return None if np.isnan(values).all() else values[:, 0]


def _channels(series: Series) -> dict[str, Floats]:
    """Return the channels with at least one value, by name."""
    values = np.asarray(series.values, dtype=np.float64).reshape(series.n_points, -1)
    named = zip(series.channels, values.T, strict=True)
    return {name: channel for name, channel in named if not np.isnan(channel).all()}


def _why(run: RunReport, series: RunSeries | EvaluatedSeries) -> str:
    """Explain why a series has no values."""
    if isinstance(series, EvaluatedSeries):
        reasons = {why.message for score in series.scores for why in score.failures}
        return f": {'; '.join(sorted(reasons))}"
    ended = Run(run.folder).unsuccessful_jobs(series.hash)
    if ended:
        listed = ", ".join(f"{count:,} {status}" for status, count in sorted(ended.items()))
        return f": its jobs ended with {listed}"
    return "" if run.status.run["state"] == "finished" else " yet"
