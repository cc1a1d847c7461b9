"""Read a benchmark run: its progress, failures, values, scores and checks."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.files import write_atomically
from vuskit._util.optional import require
from vuskit._util.tables import frame_csv
from vuskit._util.text import plural
from vuskit.bench._leaderboard import (
    AVERAGES,
    leaderboard,
    measure_called,
    measures_in_order,
    no_common_series,
)
from vuskit.bench.identity import scores_digest, values_checksum
from vuskit.bench.jobs import (
    EvaluateJob,
    EvaluateResult,
    JobAction,
    Kind,
    Scores,
    SeriesSource,
    changed_files,
    evaluated_from,
    where_changed,
)
from vuskit.bench.plan import Plan, parse_plan
from vuskit.bench.store import (
    DATABASE,
    ScoreFiles,
    StoreReader,
    find_damages,
    is_gone,
    open_store,
    text_to_path,
)
from vuskit.bench.stored_code import permitted, plan_code, refused_code, stored_code
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.engine import Status
from vuskit.errors import ChangedInputError, InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.evaluate import NO_BUFFER
from vuskit.measures.inversion import looks_inverted
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.bench.pack import PackSummary

__all__ = [
    "FORMATS",
    "SHAPES",
    "Failure",
    "FailureCause",
    "Run",
    "RunSeries",
    "RunStatus",
    "ScoreRecord",
    "StoredScores",
    "Verification",
    "requested_values",
    "value_problems",
]

FORMATS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: write_atomically(path, frame_csv(frame) + "\n"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}
"""Writers of exported tables, by file suffix."""

# The native core, NumPy and different machines agree within this tolerance.
_TOLERANCE = 1e-9
_LONG = ("plan", "imports", "notes", "progress")
_TRAIN_LENGTH = re.compile(r"\btrain_length=(\w+)")
_VALUE = ["score_key", "detector", "settings"]
_ORDER = ["dataset", "series", "detector", "seed", "settings"]
_BUFFER = ["buffer", "buffer_reason"]
_OF_A_VALUE = [
    "measure",
    "measure_title",
    "higher_is_better",
    "value",
    "measure_identity",
    "evaluate_key",
]
# Columns that may be missing use nullable dtypes.
_DTYPES = {
    **dict.fromkeys(["seed", "buffer", "peak_bytes"], "Int64"),
    **dict.fromkeys(["value", "fit_seconds", "score_seconds", "warm_up_seconds"], "float64"),
    "higher_is_better": "bool",
    "cold": "int64",
}


@dataclass(frozen=True)
class Failure:
    """A failed job."""

    key: str
    status: Status
    kind: Kind
    detector: str
    dataset: str
    series: str
    seed: int | None
    title: str
    message: str
    command: str
    traceback: str | None


@dataclass(frozen=True)
class FailureCause:
    """Group of failed jobs with the same status and first line of the message."""

    n_jobs: int
    example: Failure


@dataclass(frozen=True)
class RunStatus:
    """Progress of a run.

    Attributes
    ----------
    run : dict
        The latest start: state, times, host, process, versions. The state is ``killed`` if the
        process ended without recording it. ``begun`` is the time of the first start in this
        folder, ``last_job`` the time when the last job ended.
    progress : dict
        The last recorded progress: total, done, rate, running jobs.
    counts : dict
        Finished jobs of the plan by kind and status.
    by_detector : dict
        The same by detector, kind and status.
    n_values : int
        Number of values that the latest plan requests.
    failures : tuple of Failure
        Failures, latest first, up to the requested number.
    causes : tuple of FailureCause
        Failures by cause, most frequent first, up to the requested number of causes.
    notes : tuple of str
        Notes about the plan, such as unreadable or duplicate series.
    """

    run: dict[str, Any]
    progress: dict[str, Any]
    counts: dict[tuple[Kind, Status], int]
    by_detector: dict[tuple[str, Kind, Status], int]
    n_values: int
    failures: tuple[Failure, ...]
    causes: tuple[FailureCause, ...]
    notes: tuple[str, ...]

    def count(self, *statuses: Status) -> int:
        """Number of finished jobs with one of these statuses."""
        return sum(number for (_, status), number in self.counts.items() if status in statuses)


@dataclass(frozen=True)
class ScoreRecord:
    """A finished score or import job.

    Attributes
    ----------
    dataset, series, detector : str
        Names.
    series_hash : str
        Digest of the series' content.
    seed : int or None
        None if the scores do not depend on a seed.
    status : Status
        How the job ended.
    evaluated : Status or None
        How the evaluations of the scores ended: OK if at least one succeeded; None without any.
    scores_hash : str or None
        Digest of the scores; None without scores.
    fit_seconds, score_seconds : float or None
        Measured times.
    cold : bool
        Whether the times include imports and compilation.
    identity : str
        Name, parameters and code digest of the detector.
    """

    dataset: str
    series: str
    detector: str
    series_hash: str
    seed: int | None
    status: Status
    evaluated: Status | None
    scores_hash: str | None
    fit_seconds: float | None
    score_seconds: float | None
    cold: bool
    identity: str = ""


@dataclass(frozen=True)
class RunSeries:
    """A series of a run.

    Attributes
    ----------
    dataset, name : str
        Data set and name.
    hash : str
        Digest of its content.
    source : str
        File or generator, as a spec of `vuskit.bench.jobs.SeriesSource`.
    n_points, n_channels, n_anomalies, anomalous_points : int
        Sizes.
    scores : tuple
        Detector and digest of the stored scores; for several seeds, those of the first.
    files : dict
        Files that the series was read from, each with its state at that time; empty in packs.
    """

    dataset: str
    name: str
    hash: str
    source: str
    n_points: int
    n_channels: int
    n_anomalies: int
    scores: tuple[tuple[str, str], ...]
    files: dict[str, str] = field(default_factory=dict, compare=False)
    anomalous_points: int = 0

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    def read(self) -> Series:
        """Read the series and check that it has not changed since the run.

        Raises
        ------
        ChangedInputError
            If its values or labels changed since the run.
        InvalidInputError
            If it cannot be read.
        """
        source = SeriesSource(self.source)
        if not json.loads(self.source):
            raise InvalidInputError(
                f"values of {self.title} must be read from the original file, got a pack, which "
                "holds only labels and scores; use the run folder"
            )
        try:
            found = source.load()
        except (OSError, KeyError) as error:
            raise InvalidInputError(f"{self.title} cannot be read: {error}") from error
        if found.content_hash != self.hash:
            raise ChangedInputError(
                f"values or labels of {self.title} changed since the run"
                f"{where_changed(source, self.files)}; run the command that created the "
                "run (`vuskit bench run` or `vuskit evaluate`) again"
            )
        # The run gives unique names to series with equal file names.
        return replace(found, dataset=self.dataset, name=self.name)

    def find_change(self) -> str | None:
        """Describe what changed since the run; None if nothing did or the series is unreadable."""
        source = SeriesSource(self.source)
        try:
            if source.path is None or (self.files and not changed_files(source, self.files)):
                return None
            self.read()
        except ChangedInputError as error:
            return str(error)
        except InvalidInputError:
            return None
        return None


@dataclass(frozen=True)
class StoredScores:
    """A series of a run with the paths of its score files; small and picklable.

    Attributes
    ----------
    series : RunSeries
        The series.
    place : Path
        The run folder.
    scores : tuple
        Name, score file and digest of the scores of each run of a detector.
    repeats : tuple
        Detectors that ran with several seeds, each with the names of its runs.
    """

    series: RunSeries
    place: Path
    scores: tuple[tuple[str, Path, str], ...]
    repeats: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def name(self) -> str:
        """Data set and name of the series."""
        return self.series.title

    def read(self) -> ScoredSeries:
        """Read the series and the scores, and check that they have not changed.

        Raises
        ------
        ChangedInputError
            If the series or a score file changed since the run.
        InvalidInputError
            If a file is missing or damaged.
        """
        series = self.series.read()
        scores = {name: _read_scores(path, digest) for name, path, digest in self.scores}
        return ScoredSeries(series, scores, dict(self.repeats))


@dataclass(frozen=True)
class Verification:
    """Result of `Run.verify`.

    Attributes
    ----------
    n_files, n_values : int
        Number of score files read, and of values recomputed.
    problems : tuple of str
        One message per problem; empty if everything is correct.
    broken : tuple of str
        Digests of score files that are missing or changed; see `Store.forget_scores`.
    n_checksums : int
        Number of evaluations compared with their checksum.
    n_skipped : int
        Number of evaluations not recomputed, because that would run custom code.
    n_earlier : int
        Number of evaluations from earlier plans that the latest plan does not request. They are
        not recomputed, because their data and code may have changed.
    code : tuple of str
        The code that was not run, as ``module`` or ``module:object`` with its file.
    n_members : int
        Number of members of a pack that were compared with their digests.
    without_scores : bool
        Whether this is a pack without scores, so that no value can be recomputed.
    """

    n_files: int
    n_values: int
    problems: tuple[str, ...]
    broken: tuple[str, ...]
    n_checksums: int = 0
    n_skipped: int = 0
    n_earlier: int = 0
    code: tuple[str, ...] = ()
    n_members: int = 0
    without_scores: bool = False


class Run:
    """Read-only access to a run folder; works during a run and on read-only disks.

    Names (of detectors, series, data sets) and the selection of values follow the plan of the
    latest start.

    Parameters
    ----------
    folder : str or Path
        The run folder.

    Raises
    ------
    InvalidInputError
        By every method, if the folder does not hold a run.

    Examples
    --------
    >>> Run("nowhere").status()
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run."""
        return (self.folder / DATABASE).is_file()

    def _open(self) -> StoreReader:
        return open_store(self.folder)

    # -- progress and failures -------------------------------------------------------------------

    def status(self, *, failures: int = 10) -> RunStatus:
        """Return the progress of the run.

        Parameters
        ----------
        failures : int, default=10
            Maximum number of failures, and of causes, to list.
        """
        with self._open() as store:
            run = store.latest_run()
            facts = {key: value for key, value in dict(run).items() if key not in _LONG}
            facts["begun"], facts["last_job"] = store.times()
            if facts["state"] == "running" and is_gone(facts["host"], facts["pid"]):
                facts["state"] = "killed"
            return RunStatus(
                run=facts,
                progress=json.loads(run["progress"]),
                counts=store.count_jobs(),
                by_detector=store.count_jobs_by_detector(),
                n_values=store.count_values(),
                failures=tuple(self._failure(store, one) for one in store.failed_jobs(failures)),
                causes=tuple(
                    FailureCause(one["n_jobs"], self._failure(store, one))
                    for one in store.failure_causes(failures)
                ),
                notes=(*json.loads(run["notes"]), *_missing_buffers(store)),
            )

    def _failure(self, store: StoreReader, row: sqlite3.Row) -> Failure:
        name, seed = store.names_of(row)
        detector = name or "unknown detector"
        measures = store.measures_of(row["id"])
        what = f"{measures[0]} of " if len(measures) == 1 else ""
        shown = f" seed {seed}" if seed else ""  # as in job titles
        return Failure(
            key=row["key"],
            status=Status(row["status"]),
            kind=Kind(row["kind"]),
            detector=detector,
            dataset=row["dataset"],
            series=row["series"],
            seed=seed,
            title=f"{row['kind']} {what}{detector}{shown} on {row['dataset']}/{row['series']}",
            message=row["message"] or "",
            command=shlex.join(["vuskit", "bench", "run-job", str(self.folder), row["key"]]),
            traceback=row["traceback"],
        )

    def unsuccessful_jobs(self, series_hash: str) -> dict[str, int]:
        """Count the failed and skipped jobs on a series, by status."""
        with self._open() as store:
            return store.unsuccessful_jobs(series_hash)

    # -- names -----------------------------------------------------------------------------------

    def plan(self, *, allow_code: bool = False) -> Plan:
        """Return the plan of the latest start; its results go to this folder, even if moved.

        Parameters
        ----------
        allow_code : bool, default=False
            Accept a plan that names code other than vuskit's own; reading the plan imports it.

        Raises
        ------
        InvalidInputError
            If files of the plan are missing, or the plan needs `allow_code`.
        """
        with self._open() as store:
            run = store.latest_run()
        base = text_to_path(run["base"])
        code = plan_code(run["plan"], base)
        if code and not allow_code:
            raise refused_code(f"the plan of {self.folder}", code)
        plan = parse_plan(run["plan"], base=base, name=f"the plan of {self.folder}")
        return replace(plan, folder=self.folder)

    def alignments(self) -> tuple[str, ...]:
        """Return how imported window scores were aligned to points.

        Examples
        --------
        >>> Run("nowhere").alignments()
        Traceback (most recent call last):
        vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
        """
        with self._open() as store:
            return store.alignments()

    def detectors(self) -> tuple[str, ...]:
        """Return the detectors with a finished job, including those that always failed."""
        with self._open() as store:
            return store.detectors()

    def series(self) -> tuple[RunSeries, ...]:
        """Return the series with a finished job, sorted by data set and name."""
        with self._open() as store:
            rows, jobs = store.series(), store.scored_jobs()
        scores: dict[str, dict[str, tuple[int, str]]] = {}
        for job in jobs:
            if job["scores_hash"] is not None:
                found = scores.setdefault(job["series_hash"], {})
                known, seed = found.get(job["detector"]), job["seed"] or 0
                if known is None or seed < known[0]:
                    found[job["detector"]] = seed, job["scores_hash"]
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
                files=json.loads(row["files"] or "{}"),
                anomalous_points=row["anomalous_points"],
            )
            for row in rows
        )

    def measures(self) -> dict[str, Measure]:
        """Return the measures of the plan by name, in table order.

        Title, family, bounds and direction come from the run. So user-defined measures are
        described even if the module that registers them is missing, but cannot be computed then.
        """
        with self._open() as store:
            return _measures(store)

    def measures_by_settings(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the plan's measures, grouped by settings."""
        with self._open() as store:
            rows = store.planned_measures()
        found: dict[str, dict[str, None]] = {}
        for row in rows:
            found.setdefault(row["settings"], {})[row["name"]] = None
        return {settings: tuple(names) for settings, names in found.items()}

    # -- tables ----------------------------------------------------------------------------------

    def values(self) -> pd.DataFrame:
        """Return all values: one row per series, detector, seed, settings and measure.

        The seed is missing if the scores do not depend on it. ``measure_title`` and
        ``higher_is_better`` describe the measure when it was computed.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        require("pandas", purpose="a table of values")
        with self._open() as store:
            store.latest_run()
            measures = _measures(store)
            frame = store.values()
        frame = frame.drop_duplicates([*_VALUE, "measure"], keep="last", ignore_index=True)
        frame["seed"] = frame["seed"].astype("Int64")
        place = list(frame).index("value")
        titles = frame["measure"].map({name: one.title for name, one in measures.items()})
        higher = frame["measure"].map({n: one.higher_is_better for n, one in measures.items()})
        frame.insert(place, "measure_title", titles)
        frame.insert(place + 1, "higher_is_better", higher.astype(bool))
        return frame

    def outcomes(self) -> pd.DataFrame:
        """Return one row per requested value, including missing values.

        Same columns as `values`, plus ``status``: that of the score job if it failed or was
        skipped, otherwise that of the evaluation. ``value`` is empty if the job failed or the
        measure is undefined. Unfinished jobs have no row.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="a table of values")
        values = self.values()
        there = set(zip(*(values[name] for name in (*_VALUE, "measure")), strict=True))
        with self._open() as store:
            measures = _measures(store)
            place = {row["name"]: row["id"] for row in store.planned_measures()}
            absent = [
                {
                    **row,
                    "measure_title": measures[row["measure"]].title,
                    "higher_is_better": measures[row["measure"]].higher_is_better,
                }
                for row in requested_values(store)
                if (*(row[name] for name in _VALUE), row["measure"]) not in there
            ]
        values.insert(list(values).index("value"), "status", str(Status.OK))
        rows = pandas.DataFrame(absent, columns=list(values))
        dtypes = {**values.dtypes, **_DTYPES}
        parts = [part.astype(dtypes) for part in (values, rows) if len(part)] or [values]
        table: pd.DataFrame = pandas.concat(parts)
        return table.sort_values(
            [*_ORDER, "measure"],
            key=lambda column: column.map(place) if column.name == "measure" else column,
            kind="stable",
            na_position="first",
            ignore_index=True,
        )

    def leaderboard(self, *, by: str = "series") -> pd.DataFrame:
        """Return means per detector and settings; see :func:`vuskit.bench.leaderboard`.

        Parameters
        ----------
        by : {"series", "dataset"}, default="series"
            Unit that counts once in the means.
        """
        return leaderboard(
            self.values(), by=by, detectors=self.detectors(), measures=self.measures()
        )

    def inverted_detectors(self) -> dict[str, float]:
        """Return the mean AUC-ROC of each detector whose scores look inverted.

        Empty if the run has no values of ``auc_roc``.
        """
        if "auc_roc" not in self.measures():
            return {}
        values = self.values()
        values = values[values["measure"] == "auc_roc"]
        sizes = {(one.dataset, one.name): (one.n_points, one.n_anomalies) for one in self.series()}
        found = {}
        for detector, rows in values.groupby("detector", sort=False):
            means = rows.groupby(["dataset", "series"])["value"].mean()
            known = [sizes[place] for place in means.index if place in sizes]
            n_points, n_events = (sum(size[place] for size in known) for place in range(2))
            if looks_inverted(float(means.mean()), n_points=n_points, n_events=n_events):
                found[str(detector)] = float(means.mean())
        return found

    def table(self, *, shape: str = "values", by: str = "series") -> pd.DataFrame:
        """Return the values as a table.

        Failed and skipped jobs also have rows, with a status but without values.

        Parameters
        ----------
        shape : {"values", "wide", "leaderboard"}, default="values"
            One row per value; one row per score; or means per detector.
        by : {"series", "dataset"}, default="series"
            Unit that counts once in the means of a leaderboard.

        Raises
        ------
        InvalidInputError
            If `shape` is unknown, or `by` is given for a shape without means.
        """
        check_choice("shape", shape, SHAPES)
        check_choice("by", by, AVERAGES)
        if by != "series" and shape != "leaderboard":
            raise InvalidInputError(
                f"`by` must be 'series' for shape {shape!r}, got {by!r}; use shape 'leaderboard'"
            )
        require("pandas", purpose="export")
        return SHAPES[shape](self, by)

    def export(self, target: str | Path, *, shape: str = "values", by: str = "series") -> Any:
        """Write the values to a file.

        Parameters
        ----------
        target : str or Path
            The file, with suffix ``.csv`` or ``.parquet``.
        shape, by : str
            As for `table`.

        Returns
        -------
        pandas.DataFrame
            The table that was written.

        Raises
        ------
        InvalidInputError
            If the suffix is unknown, or as for `table`.
        """
        place = Path(target)
        kind = check_choice("target", place.suffix.removeprefix(".") or place.name, FORMATS)
        frame = self.table(shape=shape, by=by)
        place.parent.mkdir(parents=True, exist_ok=True)
        FORMATS[kind](frame, place)
        return frame

    # -- scores ----------------------------------------------------------------------------------

    def score_records(self) -> tuple[ScoreRecord, ...]:
        """Return all finished score and import jobs, in the order they finished."""
        with self._open() as store:
            jobs, evaluated = store.scored_jobs(), store.evaluation_statuses()
        return tuple(
            ScoreRecord(
                dataset=row["dataset"],
                series=row["series"],
                detector=row["detector"],
                series_hash=row["series_hash"],
                seed=row["seed"],
                status=Status(row["status"]),
                evaluated=evaluated.get((row["series_hash"], row["scores_hash"])),
                scores_hash=row["scores_hash"],
                fit_seconds=row["fit_seconds"],
                score_seconds=row["score_seconds"],
                cold=bool(row["cold"]),
                identity=row["detector_identity"],
            )
            for row in jobs
        )

    def scored_series(self) -> Iterator[StoredScores]:
        """Iterate over the series with stored scores, without failed detectors.

        Runs of a detector with several seeds are named ``label (seed 1)`` and so on.
        """
        files = ScoreFiles(self.folder)
        with self._open() as store:
            jobs = [row for row in store.scored_jobs() if row["scores_hash"] is not None]
        by_series: dict[str, dict[str, list[sqlite3.Row]]] = {}
        for job in sorted(jobs, key=lambda row: (row["detector"], row["seed"] or 0)):
            by_detector = by_series.setdefault(job["series_hash"], {})
            by_detector.setdefault(job["detector"], []).append(job)
        for one in self.series():
            scores: list[tuple[str, Path, str]] = []
            repeats: list[tuple[str, tuple[str, ...]]] = []
            for detector, several in by_series.get(one.hash, {}).items():
                names: tuple[str, ...] = (detector,)
                if len(several) > 1:
                    names = tuple(f"{detector} (seed {job['seed']})" for job in several)
                    repeats.append((detector, names))
                digests = [job["scores_hash"] for job in several]
                paths = map(files.path, digests)
                scores += zip(names, paths, digests, strict=True)
            if scores:
                yield StoredScores(one, self.folder, tuple(scores), tuple(repeats))

    def read_series(self, series: RunSeries) -> Series:
        """Read a series of the run and check that it has not changed.

        Raises
        ------
        ChangedInputError
            If its values or labels changed since the run.
        InvalidInputError
            If it cannot be read.
        """
        return series.read()

    def changes(self) -> dict[str, str]:
        """Find series whose values or labels changed since the run. Reads only changed files.

        Returns
        -------
        dict
            What changed and what to do, by data set and name.
        """
        found = ((one.title, one.find_change()) for one in self.series())
        return {title: change for title, change in found if change is not None}

    def scores(self, series: RunSeries) -> dict[str, Scores]:
        """Read the scores of a series by detector; for several seeds, those of the first.

        Raises
        ------
        ChangedInputError
            If a file does not hold the scores of the run.
        """
        files = ScoreFiles(self.folder)
        return {name: _read_scores(files.path(digest), digest) for name, digest in series.scores}

    def evaluation_settings(self, series: RunSeries, settings: str) -> EvaluationSettings | None:
        """Return the settings of a series' evaluation, with the chosen buffer.

        None if no evaluation of the series under these settings succeeded.
        """
        with self._open() as store:
            row = store.evaluation(series.hash, settings)
        if row is None:
            return None
        found = EvaluationSettings.from_dict(json.loads(row["spec"])["settings"])
        if row["buffer"] is None:
            return found
        strategy, _, reason = (row["buffer_reason"] or "number: given").partition(": ")
        return found.replace(buffer=BufferChoice(row["buffer"], strategy, reason))

    def evaluated_from(self, series: Series, settings: str) -> int:
        """Return the first point that evaluations under these settings use.

        Parameters
        ----------
        series : Series
            A series of the run.
        settings : str
            One of the settings of the run.
        """
        found = _TRAIN_LENGTH.search(settings)
        asked = None if found is None else found[1]
        return evaluated_from(series, int(asked) if asked and asked.isdecimal() else asked)

    def pack(
        self,
        path: str | Path,
        *,
        scores: bool | None = None,
        partial: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> PackSummary:
        """Write the results of the latest plan to one file, to share them.

        The file holds the plan, values, names, settings, versions, digests and failures. Equal
        results give equal files. It names no host, user or folder, except in the text of the plan
        and in error messages.

        Parameters
        ----------
        path : str or Path
            The file; its name should end in ``.vuskit.zip``.
        scores : bool, optional
            Whether to add labels and scores, so that others can recompute the values. Default:
            only if the scores take at most 256 MB.
        partial : bool, default=False
            Accept an unfinished run.
        progress : callable, optional
            Called with the number of finished steps and their total.

        Returns
        -------
        PackSummary
            Summary of the pack.

        Raises
        ------
        InvalidInputError
            If the run is not finished, or labels can no longer be read.
        ChangedInputError
            If series or score files changed since the run.
        """
        from vuskit.bench.pack import write_pack

        return write_pack(self, path, scores=scores, partial=partial, progress=progress)

    # -- jobs and checks -------------------------------------------------------------------------

    def action(self, key: str, *, allow_code: bool = False) -> tuple[JobAction, Status]:
        """Return the action of a stored job, to run it again, and its status.

        Parameters
        ----------
        key : str
            Key of the job, or a prefix of it.
        allow_code : bool, default=False
            Accept a job that runs code other than vuskit's own.

        Raises
        ------
        InvalidInputError
            If `key` does not match exactly one job, or the job needs `allow_code`.
        """
        with self._open() as store:
            row = store.find_job(key)
            action = self._action(store, row)
        return permitted(action, allow_code=allow_code), Status(row["status"])

    def _action(self, store: StoreReader, row: sqlite3.Row) -> JobAction:
        run = store.latest_run()
        job = store.read_job(row)
        files = ScoreFiles(self.folder)
        path = files.path(job.scores_hash) if isinstance(job, EvaluateJob) else None
        return JobAction(job, path, tuple(json.loads(run["imports"])), text_to_path(run["base"]))

    def verify(
        self,
        *,
        sample: int | None = 20,
        seed: int = 0,
        allow_code: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check the database, every stored score file, and a sample of evaluations.

        Compares the values of each evaluation with their checksum. Recomputes those that the
        latest plan requests.

        Parameters
        ----------
        sample : int or None, default=20
            Number of evaluations to check; None: all.
        seed : int, default=0
            Seed for drawing the sample.
        allow_code : bool, default=False
            Run custom code: detectors and measures that are not part of vuskit. Without it,
            evaluations that need such code are only compared with their checksums.
        progress : callable, optional
            Called with the number of finished checks and their total.

        Returns
        -------
        Verification
            With a problem for each error in the database, each missing, changed or unknown file,
            each evaluation that differs from its checksum, and each value that differs when
            recomputed.
        """
        found = _Findings()
        try:
            found.problems += [f"database: {line}" for line in find_damages(self.folder)]
            with self._open() as store:
                report = progress or (lambda done, total: None)
                self._check(store, found, sample, seed, report, allow_code=allow_code)
        except sqlite3.DatabaseError as error:
            found.problems.append(
                f"database: {error}; the rest cannot be checked. Restore a copy of {DATABASE}, "
                "or remove it and run the plan again"
            )
        return Verification(
            n_files=found.n_files,
            n_values=found.n_values,
            problems=tuple(found.problems),
            broken=tuple(found.broken),
            n_checksums=found.n_checksums,
            n_skipped=found.n_skipped,
            n_earlier=found.n_earlier,
            code=tuple(found.code),
        )

    def _check(
        self,
        store: StoreReader,
        found: _Findings,
        sample: int | None,
        seed: int,
        progress: Callable[[int, int], None],
        *,
        allow_code: bool,
    ) -> None:
        """Check all score files and a sample of evaluations."""
        files = ScoreFiles(self.folder)
        known = store.score_digests()
        keys = store.successful_evaluations()
        order = np.random.default_rng(seed).permutation(len(keys))[:sample]
        chosen = [keys[place] for place in sorted(order.tolist())]
        total = len(known) + len(chosen)
        for place, digest in enumerate(sorted(known)):
            try:
                wrong = _file_problems(files.path(digest), digest)
                found.broken += [digest] * bool(wrong)
            except InvalidInputError as error:
                wrong = [f"database: {error}"]
            found.problems += wrong
            found.n_files += 1
            progress(place + 1, total)
        found.problems += _unknown_files(files, known)
        for place, key in enumerate(chosen):
            try:
                self._check_evaluation(store, key, found, allow_code=allow_code)
            except (KeyError, TypeError, ValueError) as error:
                found.problems.append(f"job {key}: its row in the database is invalid: {error}")
            progress(len(known) + place + 1, total)

    def _check_evaluation(
        self, store: StoreReader, key: str, found: _Findings, *, allow_code: bool
    ) -> None:
        row, stored = store.find_job(key), store.values_of(key)
        found.n_checksums += 1
        if values_checksum(stored) != row["checksum"]:
            found.problems.append(f"job {key}: its values differ from their checksum")
        measures = store.current_measures_of(row)
        if not measures:
            found.n_earlier += 1
            return
        action = self._action(store, row)
        code = stored_code(action)
        if code and not allow_code:
            found.n_skipped += 1
            found.code.update(dict.fromkeys(code))
            return
        found.n_values += len(stored.keys() & measures)
        allowed = permitted(action, allow_code=allow_code)

        def compute() -> dict[str, float]:
            result = allowed.run()
            assert isinstance(result, EvaluateResult)
            return result.values

        where = f"job {key} ({action.job.title})"
        found.problems += value_problems(where, compute, stored, measures)


# -- tables ------------------------------------------------------------------------------------


def _wide(run: Run, by: str) -> pd.DataFrame:
    """One row per series, detector, seed and settings; one column per measure.

    The status is that of the first measure that is not OK, otherwise OK.
    """
    values = run.outcomes()
    keys = _VALUE
    table = values.pivot(index=keys, columns="measure", values="value")
    table = table[measures_in_order(table.columns)]
    # Keep one row of metadata per score, even if some measures have no value.
    worst = values.sort_values("status", key=lambda status: status == Status.OK, kind="stable")
    facts = worst.drop(columns=_OF_A_VALUE).drop_duplicates(keys).sort_index()
    # A failed measure has no buffer, but another measure of the same score may have one.
    buffers = values.groupby(keys, sort=False)[_BUFFER].first().reset_index()
    facts = facts.drop(columns=_BUFFER).merge(buffers, on=keys)
    names = ["dataset", "series", "detector", "seed", "settings"]
    names += ["status", *_BUFFER]
    rest = [name for name in facts if name not in names]
    wide = facts.merge(table.reset_index(), on=keys)
    return wide[[*names, *table.columns, *rest]]


def _means(run: Run, by: str) -> pd.DataFrame:
    """Means per detector; an error if no series has values of all detectors."""
    table = run.leaderboard(by=by)
    values = run.values()
    names = [name for name in table if name in set(values["measure"])]
    for settings, rows in table.groupby("settings", sort=False) if len(values) else ():
        if not rows[names].notna().to_numpy().any():
            own = values[values["settings"] == settings]
            raise InvalidInputError(no_common_series(own, str(settings)))
    return table


SHAPES: dict[str, Callable[[Run, str], Any]] = {
    "values": lambda run, by: run.outcomes(),
    "wide": _wide,
    "leaderboard": _means,
}
"""Shapes of exported tables."""


def requested_values(store: StoreReader) -> Iterator[dict[str, Any]]:
    """Rows of requested values that are missing although their jobs finished."""
    wanted = store.planned_measures()
    # The last of several attempts counts.
    failed = {
        (row["series_hash"], row["scores_hash"], row["settings"], row["measure_id"]): {
            "status": row["status"],
            "buffer": row["buffer"],
            "buffer_reason": row["buffer_reason"],
            "evaluate_key": row["key"],
        }
        for row in store.evaluations_without_value()
    }
    for scored in store.scored_jobs():
        facts = dict(scored)
        subject = facts.pop("series_hash"), facts.pop("scores_hash")
        for measure in wanted:
            asked = {
                **facts,
                "settings": measure["settings"],
                "measure": measure["name"],
                "measure_identity": f"{measure['name']} @ {measure['version']}",
            }
            if scored["status"] != Status.OK:
                yield asked
                continue
            evaluation = failed.get((*subject, measure["settings"], measure["id"]))
            if evaluation is not None:
                yield {**asked, **evaluation}


def _missing_buffers(store: StoreReader) -> Iterator[str]:
    """Note for how many series no buffer was found, by reason."""
    for row in store.evaluations_without_buffer():
        reason = row["reason"].removeprefix(NO_BUFFER)
        lacking = plural(row["n_series"], "series has", "series have")
        yield f"{lacking} no values of measures that need a buffer ({row['settings']}): {reason}"


# -- measures ----------------------------------------------------------------------------------


def _measures(store: StoreReader) -> dict[str, Measure]:
    store.latest_run()
    found = {row["name"]: _stored_measure(row) for row in store.planned_measures()}
    return {name: found[name] for name in measures_in_order(found)}


def _stored_measure(row: sqlite3.Row) -> Measure:
    return replace(
        measure_called(row["name"]),
        title=row["title"],
        family=row["family"],
        bounds=(row["lowest"], row["highest"]),
        higher_is_better=bool(row["higher_is_better"]),
        reference=row["reference"],
    )


# -- checks ------------------------------------------------------------------------------------


def _read_scores(path: Path, digest: str) -> Scores:
    """Read scores and check their digest."""
    problems = f"{path} must hold the scores of the run"
    repair = (
        "remove it with `vuskit bench verify --repair`, then run the command that created the run "
        "(`vuskit bench run` or `vuskit evaluate`) again"
    )
    try:
        scores: Scores = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ChangedInputError(f"{problems}, got: {error}; {repair}") from error
    if scores_digest(scores) != digest:
        raise ChangedInputError(f"{problems}, got different content; {repair}")
    return scores


@dataclass
class _Findings:
    """Results of a verification so far."""

    n_files: int = 0
    n_values: int = 0
    n_checksums: int = 0
    n_skipped: int = 0
    n_earlier: int = 0
    problems: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    code: dict[str, None] = field(default_factory=dict)


def _file_problems(path: Path, digest: str) -> list[str]:
    try:
        scores = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        return [f"{path}: cannot be read: {error}"]
    if scores_digest(scores) != digest:
        return [f"{path}: does not hold the stored scores"]
    return []


def _unknown_files(files: ScoreFiles, known: set[str]) -> list[str]:
    return [
        f"{path}: belongs to no job; a killed run probably left it, and the next run reuses it"
        for path in sorted(files.folder.rglob("*.npy"))
        if path.stem not in known
    ]


def value_problems(
    where: str,
    compute: Callable[[], Mapping[str, float]],
    stored: Mapping[str, float],
    measures: Iterable[str],
) -> list[str]:
    """Recompute values and return a message for each that differs.

    Parameters
    ----------
    where : str
        Start of each message.
    compute : callable
        Returns the values by measure.
    stored : mapping from str to float
        Stored values.
    measures : iterable of str
        Measures to compare.
    """
    try:
        values = compute()
    except Exception as error:  # measures can raise anything
        return [f"{where}: cannot be recomputed: {type(error).__name__}: {error}"]
    problems = []
    for name in sorted({*measures} & {*stored, *values}):
        then, again = stored.get(name), values.get(name)
        if then is None or again is None or not abs(then - again) <= _TOLERANCE:
            problems.append(f"{where}: {name} is stored as {then}, but recomputed as {again}")
    return problems
