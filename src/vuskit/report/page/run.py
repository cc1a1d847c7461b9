"""The page of a benchmark run: its values, tests and sections."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.names import did_you_mean
from vuskit._util.optional import require
from vuskit._util.text import plural
from vuskit.bench import (
    Failure,
    Run,
    RunSeries,
    RunStatus,
    Status,
    Values,
)
from vuskit.bench._leaderboard import measure_called, measures_in_order
from vuskit.bench.in_memory import EvaluatedSeries
from vuskit.bench.jobs import Kind
from vuskit.bench.run import FailureCause, ScoreRecord
from vuskit.datasets import ScoredSeries, Series
from vuskit.detectors.families import detector_family
from vuskit.errors import InvalidInputError
from vuskit.figures._families import FAMILY_TITLES, family_of
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, main_measure
from vuskit.measures.results import Comparison, Evaluation
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import (
    CHART_ASSETS,
    Section,
    element,
    fill,
    page_document,
    part,
    safe_json,
    table,
)
from vuskit.report.page.series import (
    SERIES_ASSETS,
    Detail,
    encoded_floats,
    encoded_shares,
    series_section,
    whole_scores,
)
from vuskit.report.page.series_filters import filter_data
from vuskit.report.page.studies import study_sections

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import TableComparison

Floats = NDArray[np.float64]

FAILED = tuple(status for status in Status if status.failed)
_MOST_CHANGES = 20
_MOST_FAILURES = 200


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

    def comparison(self, settings: str, measure: str) -> TableComparison:
        """Compare the detectors by a measure, on the series on which all of them have a value.

        Detectors without any value are excluded; see `without_values`.

        Raises
        ------
        InvalidInputError
            If fewer than two detectors, or too few series, remain.
        """
        from vuskit.statistics.comparison import compare_columns

        pandas = require("pandas", purpose="a comparison")
        place = self.settings.index(settings), self.measures.index(measure)
        table = pandas.DataFrame(self.values[place].T, columns=list(self.detectors))
        return compare_columns(
            table.dropna(axis="columns", how="all"),
            title=measure,
            higher_is_better=self.measure(measure).higher_is_better,
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


# -- series of a run -------------------------------------------------------------------------------


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


# -- tests -----------------------------------------------------------------------------------------


MOST_BYTES = 600_000
_RESAMPLES = 2  # the minimum, because the page shows no intervals


def run_comparisons(
    run: RunReport, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Compare the detectors by every measure, under every settings.

    The page holds values in single precision, where distinct differences may tie. Therefore the
    tests are computed here, and the page selects among them.
    """
    pairs = [(s, m) for s in range(len(run.settings)) for m in range(len(run.measures))]
    found: dict[str, Any] = {}
    for done, (s, m) in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        found[f"{s},{m}"] = compare_series(run, s, m, np.arange(len(run.series)))
    places = {name: place for place, name in enumerate(run.datasets)}
    if len(places) < 2:
        return {**found, **{f"{key},0": one for key, one in found.items()}}
    owner = np.array([places[one.dataset] for one in run.series])
    room = MOST_BYTES
    for dataset, _ in Counter(owner.tolist()).most_common():
        series = np.flatnonzero(owner == dataset)
        own = {f"{s},{m},{dataset}": compare_series(run, s, m, series) for s, m in pairs}
        room -= len(json.dumps(own))
        if room < 0:
            break
        found |= own
    return found


def compare_series(
    run: RunReport, settings: int, measure: int, series: NDArray[np.intp]
) -> dict[str, Any]:
    """Compare the detectors by a measure on some series; return ranks and tests, or an error."""
    from vuskit.statistics.comparison import compare_columns

    values = run.values[settings, measure][:, series]
    present = np.flatnonzero(np.isfinite(values).any(axis=1))
    pandas = require("pandas", purpose="a comparison")
    table = pandas.DataFrame(values[present].T, columns=present)
    complete = len(table.dropna())
    if present.size < 2 or complete < 2:
        return {"error": _too_few(present.size, complete, series.size)}
    try:
        compared = compare_columns(
            table,
            title=run.measures[measure],
            higher_is_better=run.measure(run.measures[measure]).higher_is_better,
            n_resamples=_RESAMPLES,
        )
    except InvalidInputError as error:
        return {"error": str(error)}
    return {
        "detectors": [int(place) for place in compared.summary.index],
        "ranks": [round(float(rank), 4) for rank in compared.summary["mean_rank"]],
        "groups": [[int(str(place)) for place in group] for group in compared.groups],
        "tests": " ".join(f"{text}." for text in compared.tests),
        "n": complete,
    }


def _too_few(detectors: int, complete: int, series: int) -> str:
    if detectors < 2:
        return f"tests need two or more detectors with values, got {detectors}."
    return (
        f"tests need two or more series with values of all detectors, got {complete} of {series}."
    )


# -- numbers ---------------------------------------------------------------------------------------


PAGE_BYTES = 5_500_000  # of the whole page, so that it can be sent by mail
_EXACT_BYTES = 2_000_000  # of values in single precision; beyond, values are rounded
_BASE64 = 4 / 3
_OUTCOMES = ("", *(status.value for status in Status))


def run_that_fits(run: RunReport, room: int) -> tuple[RunReport, tuple[str, ...]]:
    """Omit measures until the values of the others fit into a page."""
    if not run.values.size:
        return run, ()
    each = run.values.size / len(run.measures) * 2 * _BASE64
    most = int(room / each)
    if most < 1:
        fitting = max(int(room / 2 / _BASE64), 0)
        raise InvalidInputError(
            f"the run must have fewer than {fitting:,} values of a measure to fit into a page, "
            f"got {len(run.detectors):,} detectors on {len(run.series):,} series; "
            "`vuskit bench export` writes them as a table"
        )
    main = main_measure(run.measures)
    ranked = sorted(run.measures, key=lambda name: name != main)
    kept = [place for place, name in enumerate(run.measures) if name in ranked[:most]]
    smaller = dataclasses.replace(
        run, measures=tuple(run.measures[place] for place in kept), values=run.values[:, kept]
    )
    return smaller, tuple(ranked[most:])


def fits_exactly(run: RunReport, room: int) -> bool:
    """Return whether values and seconds fit in single precision."""
    return (run.values.size + run.seconds.size) * 4 * _BASE64 <= min(_EXACT_BYTES, room)


def run_data(
    run: RunReport, comparisons: Mapping[str, Any], *, exact: bool = True
) -> dict[str, Any]:
    """Return everything that the views of a run show, ready for JSON."""
    measures = [run.measure(name) for name in run.measures]
    families = dict.fromkeys(map(family_of, measures))
    datasets = run.datasets
    return {
        "settings": run.settings,
        "measures": [
            {
                "name": measure.name,
                "title": measure.title,
                "family": family_of(measure),
                "higher": measure.higher_is_better,
            }
            for measure in measures
        ],
        "favorite": main_measure(run.measures) if run.measures else "",
        "families": {family: FAMILY_TITLES[family] for family in families},
        "detectors": run.detectors,
        "detector_families": run.families,
        "datasets": datasets,
        "series": {
            "dataset": [datasets.index(one.dataset) for one in run.series],
            "name": [one.name for one in run.series],
            "points": [one.n_points for one in run.series],
            "anomalies": [one.n_anomalies for one in run.series],
            "anomalous": [one.anomalous_points for one in run.series],
        },
        "filters": filter_data(run.series),
        "values": encoded_floats(run.values) if exact else packed_rows(_by_measure(run)),
        "seconds": encoded_floats(run.seconds) if exact else packed_rows(run.seconds, log=True),
        "digits": 7 if exact else 5,
        "outcomes": _outcomes(run),
        "outcome_names": _OUTCOMES,
        "comparisons": comparisons,
        "command": "" if run.memory else f"vuskit report {shlex.quote(str(run.folder))} --series",
        "explore": f"vuskit explore {shlex.quote(str(run.folder))}",
    }


def packed_rows(rows: Floats, *, log: bool = False) -> dict[str, Any]:
    """Encode numbers in two bytes each, evenly between the minimum and maximum of their row."""
    taken = np.full(rows.shape, np.nan)
    np.log10(rows, out=taken, where=rows > 0) if log else np.copyto(taken, rows)
    there = np.isfinite(taken)
    low = np.where(there, taken, np.inf).min(axis=1, initial=np.inf)
    high = np.where(there, taken, -np.inf).max(axis=1, initial=-np.inf)
    low, high = np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)
    span = np.where(high > low, high - low, 1.0)
    shares = (taken - low[:, None]) / span[:, None]
    return {
        "data": encoded_shares(shares),
        "low": low.tolist(),
        "high": high.tolist(),
        "log": log,
    }


def _by_measure(run: RunReport) -> Floats:
    rows, columns = len(run.settings) * len(run.measures), len(run.detectors) * len(run.series)
    return run.values.reshape(rows, columns)


def _outcomes(run: RunReport) -> str:
    """Encode the outcomes: one digit per detector and series."""
    letters = {name: str(place) for place, name in enumerate(_OUTCOMES)}
    return "".join(letters[str(outcome)] for outcome in run.outcomes.ravel())


# -- sections --------------------------------------------------------------------------------------


Progress = Callable[[int, int], None]

RUN_ASSETS = (
    *CHART_ASSETS,
    "run.js",
    "detectors.js",
    "run.css",
    *SERIES_ASSETS,
)
_PAGE_BYTES = PAGE_BYTES
_LINE_BYTES = 16_000  # of all channels of a series: 6,000 numbers
_SCORE_BYTES = 16_000  # of one score: 6,000 codes, or 3,000 numbers
_OTHER_BYTES = 320_000  # of scripts, styles and markup


def run_sections(
    run: RunReport,
    *,
    series: Sequence[str] = (),
    others: Sequence[Section] = (),
    progress: Progress | None = None,
) -> list[Section]:
    """Create the sections of a run."""
    wanted = [run.find_series(name) for name in series]
    fixed = [*([_failures(run)] if run.failures else []), *others]
    room = _room_for_values(run, fixed)
    held, left_out = run_that_fits(run, room)
    steps = len(run.settings) * len(held.measures)
    told = progress or (lambda done, total: None)
    total = steps + len(run.series)
    comparisons = run_comparisons(held, lambda done, _: told(done, total))
    data = run_data(held, comparisons, exact=fits_exactly(held, room))
    room = _PAGE_BYTES - len(safe_json(data)) - sum(map(_size, fixed))
    embedded: dict[str, str] = {}
    reasons: dict[str, str] = {}
    drawn: list[Section] = []
    for count, section in enumerate(_drawn(run, wanted, room, reasons)):
        told(steps + count, total)
        embedded[section.key.removeprefix("series-")] = section.key
        drawn.append(section)
    told(total, total)
    drawn.sort(key=lambda section: int(section.key.removeprefix("series-")))
    data["embedded"] = embedded
    data["not_drawn"] = reasons
    series_view = Section(
        "series",
        "series-values",
        "Series",
        part("run_series_values.html"),
        {},
        RUN_ASSETS,
        parent="table",
    )
    views = view_sections(run, data, series_view, left_out=left_out, drawn=len(drawn))
    return [*views, *fixed, *drawn]


def view_sections(
    run: RunReport,
    data: dict[str, Any],
    series_view: Section,
    *,
    left_out: Sequence[str] = (),
    drawn: int | None = None,
    live: bool = False,
) -> list[Section]:
    """Create the sections that show the values of a run, for its page and for a server."""
    board = _run_html(run, data, left_out, live)
    return [
        Section("run", "run", "Leaderboard", board, data, RUN_ASSETS),
        Section("detectors", "detectors", "Detectors", part("run_detectors.html"), {}, RUN_ASSETS),
        Section("table", "table", "Series", _table_html(run, drawn), {}, RUN_ASSETS),
        series_view,
    ]


def _size(section: Section) -> int:
    return len(section.html.encode()) + len(safe_json(section.data))


def _room_for_values(run: RunReport, fixed: Sequence[Section]) -> int:
    """Return the bytes of a page that remain for values."""
    no_values = dataclasses.replace(run, values=run.values[:, :0], measures=())
    listed = len(safe_json(run_data(no_values, {}, exact=False))) + MOST_BYTES
    return PAGE_BYTES - _OTHER_BYTES - listed - sum(map(_size, fixed))


# -- drawings of series ------------------------------------------------------------------------


def _drawn(
    run: RunReport, wanted: list[int], room: int, reasons: dict[str, str]
) -> Iterator[Section]:
    """Yield sections of series while they fit, the requested ones first.

    Series that cannot be drawn are skipped, with the reason in `reasons`.
    """
    for place in dict.fromkeys([*wanted, *_in_turn(run)]):
        try:
            with warnings.catch_warnings():
                # Warnings about coarse grids concern the plan, not the drawings.
                warnings.simplefilter("ignore")
                section = _series(run, place)
        except InvalidInputError as error:
            if place in wanted:
                raise
            reasons[str(place)] = str(error)
            continue  # the table of series still shows its values
        room -= _size(section)
        if room < 0 and place in wanted:
            raise InvalidInputError(
                f"`series` must fit into a page of {_PAGE_BYTES / 1e6:.1f} MB, got "
                f"{len(wanted)}, of which {wanted.index(place)} fit; write several pages"
            )
        if room < 0:
            return
        yield section


def _in_turn(run: RunReport) -> Iterator[int]:
    """Yield places of series: the first of each data set, then the second of each, and so on."""
    by_dataset: dict[str, list[int]] = {}
    for place, one in enumerate(run.series):
        by_dataset.setdefault(one.dataset, []).append(place)
    for turn in zip_longest(*by_dataset.values()):
        yield from (place for place in turn if place is not None)


def _series(run: RunReport, place: int) -> Section:
    report = series_report(run, place, run.settings[0] if run.settings else "")
    detail = Detail(score_bytes=_SCORE_BYTES * len(report.scores), line_bytes=_LINE_BYTES)
    notes = [f"Series of the run {run.name}."]
    if not whole_scores(report, detail):
        notes.append("Scores are thinned to fit into the file; original values are exact.")
    if run.seeds > 1:
        notes.append("Values are means over the seeds; drawn scores are those of the first seed.")
    return series_section(
        report,
        key=f"series-{place}",
        parent="table",
        detail=detail,
        note=" ".join(notes),
        detectors=run.detectors,
    )


# -- markup ------------------------------------------------------------------------------------


_OVERVIEW = 'Progress and failures: <a href="#overview">Overview</a>.'


def _run_html(run: RunReport, data: dict[str, Any], left_out: Sequence[str], live: bool) -> str:
    failed = plural(run.failures, "failed job")
    summary = [
        html.escape(run.state[:1].upper() + run.state[1:]),
        f'<a href="#failures">{failed}</a>' if run.failures else "none failed",
        plural(len(run.series), "series", "series"),
        plural(len(run.datasets), "data set"),
        plural(len(run.detectors), "detector"),
        plural(len(run.measures), "measure"),
    ]
    details = [f"Settings: {text}." for text in run.settings]
    if run.seeds > 1:
        details.append(f"Values are means over up to {run.seeds} seeds per detector.")
    details.append(f"{_started(run.status.run)} with vuskit {run.status.run['vuskit']}.")
    if isinstance(data["values"], dict):
        details.append(
            "Values are rounded to 1/65,534 of each measure's range, to fit into the page."
        )
    blank = [one.title for name, one in run.known.items() if name not in run.measures]
    if blank and run.measures:
        details.append(f"No value on any series: {', '.join(blank)}.")
    if left_out:
        details.append(
            f"{plural(len(left_out), 'measure')} did not fit into the page: "
            f"{', '.join(left_out)}; `vuskit bench export` writes all values as a table."
        )
    if run.changes:
        details.append(f"{run.change_summary}.")
    told = [*islice(run.changes.values(), _MOST_CHANGES), *run.status.notes]
    notes = "".join(element("li", note) for note in told)
    listed = plural(len(told), "note")
    return fill(
        part("run.html"),
        {
            "name": html.escape(run.title or run.name),
            "text": "".join(element("p", one) for one in _paragraphs(run.notes)),
            "summary": _OVERVIEW if live else ", ".join(summary) + ".",
            "details": html.escape(" ".join(details)),
            "notes": f"<details><summary>{listed}</summary><ul>{notes}</ul></details>"
            if notes
            else "",
        },
    )


def _paragraphs(text: str) -> list[str]:
    """Split a text into paragraphs at empty lines."""
    return [one for part in re.split(r"\n\s*\n", text) if (one := part.strip())]


def _started(facts: Mapping[str, Any]) -> str:
    """Return when the run started and when it was resumed, if that ran any job."""
    first, latest = (str(facts[name])[:16].replace("T", " ") for name in ("begun", "started"))
    if str(facts["last_job"] or "") <= str(facts["started"]) or first == latest:
        return f"Started {first} UTC"
    return f"Started {first} UTC, resumed {latest} UTC"


def _table_html(run: RunReport, drawn: int | None) -> str:
    if drawn is None:
        text = "Click a name to open the series."
    elif drawn == len(run.series):
        text = "This page draws all series. Click a name to open the series."
    else:
        text = (
            f"This page draws {drawn:,} of {len(run.series):,} series. The others show their "
            "values and the commands that draw them."
        )
    return fill(part("run_table.html"), {"embedded": html.escape(text)})


def _failures(run: RunReport) -> Section:
    """Create the section of failures by cause; the copied table has one row per job."""
    listed, causes = run.status.failures, run.status.causes
    shown = sum(one.n_jobs for one in causes)
    told = f"{plural(len(causes), 'cause')}, the most frequent first, each with its latest job."
    if shown < run.failures:
        rest = plural(run.failures - shown, "job")
        told += f" {rest} failed for other causes; see `vuskit bench status`."
    pieces = {
        "summary": html.escape(f"{plural(run.failures, 'job')} of {run.name} failed."),
        "counts": _failure_counts(run),
        "listed": html.escape(told),
        "failures": "\n".join(map(_cause, causes)),
    }
    return Section(
        key="failures",
        view="failures",
        title="Failures",
        html=fill(part("run_failures.html"), pieces),
        data=[[one.status.value, one.title, one.message, one.command] for one in listed],
        assets=RUN_ASSETS,
    )


def _failure_counts(run: RunReport) -> str:
    """Return the table of series by detector and outcome (of scores or evaluation)."""
    shown = [Status.OK, *FAILED, Status.SKIPPED]
    rows = []
    for name, outcomes in zip(run.detectors, run.outcomes, strict=True):
        counts = [int(np.sum(outcomes == status.value)) for status in shown]
        cells = [element("td", f"{count:,}", data_value=str(count)) for count in counts]
        rows.append(element("th", name, scope="row") + "".join(cells))
    return table("counts", "Series by outcome", ["detector", *(s.value for s in shown)], rows)


def _cause(cause: FailureCause) -> str:
    failure, others = cause.example, cause.n_jobs - 1
    trace = element("pre", failure.traceback) if failure.traceback else ""
    command = element("p", "Run it again: ") + element("pre", failure.command)
    more = f" and {plural(others, 'other job')}" if others else ""
    return (
        f'<details class="failure"><summary><strong class="missed">{failure.status.value}</strong> '
        f"{html.escape(failure.title)}{more}<br>{html.escape(failure.message)}</summary>"
        f"{command if failure.command else ''}{trace}</details>"
    )


def run_page_html(
    report: RunReport,
    *,
    studies: Sequence[object] = (),
    series: Sequence[str] = (),
    title: str = "",
    notes: str = "",
    progress: Progress | None = None,
) -> str:
    """Return the page of a benchmark run.

    It contains the leaderboard, critical differences, ranks, times, failures, all values, and
    drawings of as many series as fit into a file that can be sent by mail.

    Parameters
    ----------
    report : RunReport
        The run, see `RunReport.read`.
    studies : sequence, optional
        Results of studies to show as further sections.
    series : sequence of str, optional
        Series that the page must draw, by data set and name.
    title : str, optional
        Title of the page; the name of the run by default.
    notes : str, optional
        Plain text below the title; empty lines separate paragraphs.
    progress : callable, optional
        Called with the number of finished steps and their maximum.

    Returns
    -------
    str
        One self-contained HTML document; it uses no network.

    Raises
    ------
    InvalidInputError
        If a series is not in the run.
    """
    others = study_sections(studies) if studies else []
    shown = dataclasses.replace(report, title=title or report.title, notes=notes or report.notes)
    own = run_sections(shown, series=series, others=others, progress=progress)
    return page_document(shown.title or shown.name, own)
