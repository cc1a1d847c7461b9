"""A benchmark run as the page and tables see it: one array of values, facts, failures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.bench.measures import measure_called, read_measures
from vuskit.bench.reading import open_for_reading
from vuskit.bench.results import RunStatus, read_status, read_values_table
from vuskit.bench.states import Kind, Status
from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import did_you_mean
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import TableComparison

__all__ = ["FAILED", "RunReport", "RunSeries", "measure_called"]

Floats = NDArray[np.float64]

FAILED = (Status.ERROR, Status.TIMEOUT, Status.OOM)
_MOST_FAILURES = 200
_JOBS = """
SELECT jobs.label, jobs.status, jobs.fit_seconds, jobs.score_seconds, jobs.cold,
       jobs.seed, jobs.scores_hash, series.*,
       (SELECT spec FROM sources WHERE series_hash = series.hash ORDER BY spec LIMIT 1) AS source
FROM jobs JOIN series ON series.hash = jobs.series_hash
WHERE jobs.kind IN (?, ?) AND jobs.run_id = (SELECT max(id) FROM runs)
ORDER BY jobs.id
"""

_EVALUATED = """
SELECT series_hash, scores_hash, status FROM jobs
WHERE kind = ? AND run_id = (SELECT max(id) FROM runs) ORDER BY status = ?
"""


@dataclass(frozen=True)
class RunSeries:
    """A series of a run.

    Attributes
    ----------
    dataset, name : str
        What it is called.
    hash : str
        Digest of its content.
    source : str
        File or generator, as `vuskit.bench.sources.SeriesSource` reads it.
    n_points, n_channels, n_anomalies : int
        Its size.
    scores : tuple
        Detector and digest of the stored scores; of several seeds the first.
    """

    dataset: str
    name: str
    hash: str
    source: str
    n_points: int
    n_channels: int
    n_anomalies: int
    scores: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"


@dataclass(frozen=True, eq=False)
class RunReport:
    """What a benchmark run found so far; read it with :meth:`read`.

    Attributes
    ----------
    folder : Path
        The run folder.
    status : RunStatus
        How far it is, and the latest failures.
    settings, measures, detectors : tuple of str
        Names along the axes of the values.
    series : tuple of RunSeries
        The last axis of the values.
    values : ndarray, shape (settings, measures, detectors, series)
        Means over the seeds; NaN where there is none.
    seconds : ndarray, shape (detectors, series)
        Of fitting and scoring, the mean over the seeds; NaN where it was not measured.
    outcomes : ndarray of str, shape (detectors, series)
        Status of the scores, or of their evaluation, if none of it went well; empty where there
        are none yet.
    seeds : int
        Most seeds that a detector ran with.
    known : dict
        What the run stored about its measures: title, family, bounds, direction.
    """

    folder: Path
    status: RunStatus
    settings: tuple[str, ...]
    measures: tuple[str, ...]
    detectors: tuple[str, ...]
    series: tuple[RunSeries, ...]
    values: Floats
    seconds: Floats
    outcomes: NDArray[np.str_]
    seeds: int
    known: Mapping[str, Measure]

    @classmethod
    def read(cls, folder: str | Path) -> RunReport:
        """Read the latest plan of a run folder, also while the run goes on.

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
        status = read_status(place, failures=_MOST_FAILURES)
        table = read_values_table(place)
        with closing(open_for_reading(place)) as connection:
            jobs = connection.execute(_JOBS, (Kind.SCORE, Kind.IMPORT)).fetchall()
            # Of several evaluations of the same scores one that went well comes last.
            found = connection.execute(_EVALUATED, (Kind.EVALUATE, Status.OK))
            evaluated = {(series, scores): status for series, scores, status in found}
        detectors = tuple(dict.fromkeys(row["label"] for row in jobs))
        series = _series_of(jobs)
        known = read_measures(place)
        present = set(table["measure"])
        measures = tuple(name for name in known if name in present)
        settings = tuple(dict.fromkeys(table["settings"]))
        seconds, outcomes = _costs(jobs, evaluated, detectors, series)
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
        )

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.folder.resolve().name

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets of the series, in order."""
        return tuple(dict.fromkeys(one.dataset for one in self.series))

    @property
    def failures(self) -> int:
        """Jobs that failed, all of them."""
        return self.status.count(*FAILED)

    @property
    def state(self) -> str:
        """How far the run is, in words.

        Jobs are counted as the run counts them: what waits for a score is added when it is there.
        """
        done, total = self.status.progress.get("done", 0), self.status.progress.get("total", 0)
        state = self.status.run["state"]
        if state == "finished":
            return f"finished: {done:,} jobs"
        told = {"running": "unfinished", "failed": "stopped"}
        return f"{told.get(state, state)}: {done:,} of {total:,} jobs"

    @cached_property
    def _places(self) -> dict[str, int]:
        return {one.title: place for place, one in enumerate(self.series)}

    def find_series(self, name: str) -> int:
        """Place of a series, by data set and name, or by its name if there is but one of it.

        Raises
        ------
        InvalidInputError
            If there is none, or several.
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
        """What the run stored about one of its measures; see `vuskit.bench.measures`."""
        return self.known.get(name) or measure_called(name)

    def without_values(self, settings: str, measure: str) -> tuple[str, ...]:
        """Detectors without any value, which a comparison leaves out."""
        values = self.values[self.settings.index(settings), self.measures.index(measure)]
        missing = np.isnan(values).all(axis=1)
        return tuple(name for name, none in zip(self.detectors, missing, strict=True) if none)

    def comparison(self, settings: str, measure: str) -> TableComparison:
        """Compare the detectors by a measure, over the series that all of them have a value for.

        Detectors without any value are left out, see `without_values`.

        Raises
        ------
        InvalidInputError
            If fewer than two detectors, or too few series, are left.
        """
        from vuskit.studies.statistics.comparison import compare_columns

        pandas = require("pandas", purpose="a comparison")
        place = self.settings.index(settings), self.measures.index(measure)
        table = pandas.DataFrame(self.values[place].T, columns=list(self.detectors))
        return compare_columns(
            table.dropna(axis="columns", how="all"),
            title=measure,
            higher_is_better=self.measure(measure).higher_is_better,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per settings, series, detector and measure with a value, means over seeds."""
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


def _series_of(jobs: list[sqlite3.Row]) -> tuple[RunSeries, ...]:
    first: dict[tuple[str, str], sqlite3.Row] = {}
    scores: dict[str, dict[str, tuple[int, str]]] = {}
    for row in jobs:
        first.setdefault((row["dataset"], row["name"]), row)
        if row["scores_hash"] is not None:
            found = scores.setdefault(row["hash"], {})
            known = found.get(row["label"])
            seed = row["seed"] or 0
            if known is None or seed < known[0]:
                found[row["label"]] = seed, row["scores_hash"]
    return tuple(
        RunSeries(
            dataset=row["dataset"],
            name=row["name"],
            hash=row["hash"],
            source=row["source"] or json.dumps({}),
            n_points=row["n_points"],
            n_channels=row["n_channels"],
            n_anomalies=row["n_anomalies"],
            scores=tuple((k, digest) for k, (_, digest) in scores.get(row["hash"], {}).items()),
        )
        for _, row in sorted(first.items())
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
    """Means over the seeds."""
    shape = tuple(map(len, (settings, measures, detectors, series)))
    titles = zip(table["dataset"], table["series"], strict=True)
    of_series = _index(tuple((one.dataset, one.name) for one in series))
    at = (
        table["settings"].map(_index(settings)).to_numpy(dtype=np.intp),
        table["measure"].map(_index(measures)).to_numpy(dtype=np.intp),
        table["detector"].map(_index(detectors)).to_numpy(dtype=np.intp),
        np.array([of_series[title] for title in titles], dtype=np.intp),
    )
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, at, table["value"].to_numpy(dtype=np.float64))
    np.add.at(counts, at, 1.0)
    means: Floats = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return means


def _costs(
    jobs: list[sqlite3.Row],
    evaluated: Mapping[tuple[str, str], str],
    detectors: tuple[str, ...],
    series: tuple[RunSeries, ...],
) -> tuple[Floats, NDArray[np.str_]]:
    """Seconds and outcomes by detector and series."""
    shape = len(detectors), len(series)
    warm: dict[tuple[int, int], list[float]] = {}
    cold: dict[tuple[int, int], list[float]] = {}
    outcomes = np.full(shape, "", dtype="<U7")
    of_detector = _index(detectors)
    of_series = _index(tuple((one.dataset, one.name) for one in series))
    for row in jobs:
        at = of_detector[row["label"]], of_series[row["dataset"], row["name"]]
        # Scores of one seed are scores; the failures of the others are listed as such.
        if outcomes[at] != Status.OK:
            outcomes[at] = evaluated.get((row["hash"], row["scores_hash"]), row["status"])
        if row["fit_seconds"] is not None and row["score_seconds"] is not None:
            # The first job of a detector in a worker holds imports and compilation.
            kept = cold if row["cold"] else warm
            kept.setdefault(at, []).append(row["fit_seconds"] + row["score_seconds"])
    seconds = np.full(shape, np.nan)
    for at, found in {**cold, **warm}.items():
        seconds[at] = np.mean(found)
    return seconds, outcomes


def _most_seeds(jobs: list[sqlite3.Row]) -> int:
    seen: dict[tuple[str, str], set[int]] = {}
    for row in jobs:
        seen.setdefault((row["label"], row["hash"]), set()).add(row["seed"] or 0)
    return max((len(found) for found in seen.values()), default=1)
