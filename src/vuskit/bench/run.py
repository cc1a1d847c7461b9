"""Read a benchmark run, from its folder or from a pack: progress, failures, values and scores.

`open_scores` opens runs and everything that `vuskit.datasets.open_inputs` reads.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.files import write_atomically
from vuskit._util.optional import require
from vuskit._util.tables import frame_csv
from vuskit._util.text import plural
from vuskit.bench.jobs import (
    JobAction,
    Kind,
    Scores,
    detector_text,
)
from vuskit.bench.means import AVERAGES, leaderboard, no_common_series
from vuskit.bench.permission import (
    permitted,
    plan_code,
    refused_code,
    stored_action,
    stored_buffer,
)
from vuskit.bench.plan import Plan, parse_plan, planned_folder
from vuskit.bench.series import RunSeries, SeriesSource
from vuskit.datasets import ScoredSeries
from vuskit.datasets.columns import Columns, Windows
from vuskit.datasets.inputs import Inputs, alignment_texts, open_inputs, select_sources
from vuskit.datasets.series import SeriesName
from vuskit.engine import Status
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.evaluate import NO_BUFFER
from vuskit.measures.registry import Measure, list_measures, measure_called, measures_in_order
from vuskit.measures.results import inverted_note
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.store import DATABASE, Named, Result, Start, Store, is_gone

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.bench.verify import Verification
    from vuskit.store.pack import PackSummary

FORMATS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: write_atomically(path, frame_csv(frame) + "\n"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}
"""Writers of exported tables, by file suffix."""

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
_SCORE_FACTS = (
    "fit_seconds", "score_seconds", "warm_up_seconds", "peak_bytes", "cold", "detector_identity",
)  # fmt: skip
_COLUMNS = [
    "dataset", "series", "detector", "seed", "settings", "measure", "measure_title",
    "higher_is_better", "status", "value", "buffer", "buffer_reason", *_SCORE_FACTS,
    "measure_identity", "score_key", "evaluate_key", "message",
]  # fmt: skip
# Columns that may be missing use nullable dtypes.
_DTYPES = {
    **dict.fromkeys(["seed", "buffer", "peak_bytes"], "Int64"),
    **dict.fromkeys(["value", "fit_seconds", "score_seconds", "warm_up_seconds"], "float64"),
    "higher_is_better": "bool",
    "cold": "int64",
}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failed job."""

    key: str = ""
    status: Status
    kind: Kind = Kind.EVALUATE
    detector: str = ""
    dataset: str = ""
    series: str = ""
    seed: int | None = None
    title: str
    message: str
    command: str = ""
    traceback: str | None = None


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
    key : str
        Key of the job, and of its scores.
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
    key: str
    fit_seconds: float | None
    score_seconds: float | None
    cold: bool
    identity: str = ""


@dataclass(frozen=True)
class StoredScores:
    """A series of a run with its scores; small and picklable.

    Attributes
    ----------
    series : RunSeries
        The series.
    place : Path
        The run folder or pack.
    scores : tuple
        Name and key of the scores of each run of a detector.
    repeats : tuple
        Detectors that ran with several seeds, each with the names of its runs.
    """

    series: RunSeries
    place: Path
    scores: tuple[tuple[str, str], ...]
    repeats: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def name(self) -> str:
        """Data set and name of the series."""
        return self.series.title

    @property
    def series_name(self) -> SeriesName:
        """Name of the series, and what can make it unique."""
        one = self.series
        return SeriesName(one.dataset, one.name, SeriesSource(one.source).path, one.hash)

    def read(self) -> ScoredSeries:
        """Read the series and the scores, and check that they have not changed.

        A pack has no values of series: they are NaN, unless the series is synthetic.

        Raises
        ------
        ChangedInputError
            If the series or a score file changed since the run.
        InvalidInputError
            If a file is missing or damaged.
        """
        one = self.series
        series = one.read() if one.has_values else one.without_values()
        with Store.read(self.place) as store:
            scores = {name: store.scores(key) for name, key in self.scores}
        return ScoredSeries(series, scores, dict(self.repeats))


class Run:
    """Read-only access to a run folder or a pack; works during a run and on read-only disks.

    Names (of detectors, series, data sets) and the selection of values follow the plan of the
    latest start.

    Parameters
    ----------
    folder : str or Path
        The run folder, its plan, or a file that `Run.pack` or ``vuskit bench pack`` wrote.

    Raises
    ------
    InvalidInputError
        If it is a plan that cannot be read; by every method, if there is no run.

    Examples
    --------
    >>> Run("nowhere").status()
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder)
        is_plan = path.suffix == _PLAN and not path.is_dir()
        self.folder = planned_folder(path) if is_plan else path

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def is_pack(self) -> bool:
        """Whether this is a pack, which holds results but cannot run."""
        return self.folder.suffix.lower() == ".zip" and self.folder.is_file()

    @property
    def exists(self) -> bool:
        """Whether there is a run."""
        return self.is_pack or (self.folder / DATABASE).is_file()

    def _open(self) -> Store:
        return Store.read(self.folder)

    def _planned(self) -> tuple[Start, list[tuple[Named, Result | None]]]:
        with self._open() as store:
            return store.latest(), list(store.planned())

    # -- progress and failures -------------------------------------------------------------------

    def status(self, *, failures: int = 10) -> RunStatus:
        """Return the progress of the run.

        Parameters
        ----------
        failures : int, default=10
            Maximum number of failures, and of causes, to list.
        """
        with self._open() as store:
            start, counts, failed = store.latest(), store.counts(), store.failures()
            n_values = store.count_values(Kind.EVALUATE)
            without_buffer = store.reasons(Kind.EVALUATE, NO_BUFFER)
            facts = asdict(start)
            facts |= {"begun": store.first_start(), "last_job": store.last_finished()}
        for name in ("plan", "imports", "notes", "progress"):
            del facts[name]
        if start.state == "running" and is_gone(start.host, start.pid):
            facts["state"] = "killed"
        causes: dict[tuple[Status, str], list[tuple[Named, Result]]] = {}
        for pair in failed:
            line = (pair[1].message or "").partition("\n")[0]
            causes.setdefault((pair[1].status, line), []).append(pair)
        largest = sorted(causes.values(), key=len, reverse=True)
        by_detector = {(who, Kind(kind), status): n for (who, kind, status), n in counts.items()}
        return RunStatus(
            run=facts,
            progress=start.progress,
            counts={(kind, status): n for (who, kind, status), n in by_detector.items() if not who},
            by_detector={place: n for place, n in by_detector.items() if place[0]},
            n_values=n_values,
            failures=tuple(self._failure(*pair) for pair in failed[:failures]),
            causes=tuple(
                FailureCause(len(pairs), self._failure(*pairs[0])) for pairs in largest[:failures]
            ),
            notes=(*start.notes, *(_missing_buffers(*one) for one in without_buffer)),
        )

    def _failure(self, named: Named, result: Result) -> Failure:
        measures = list(result.about.get("measures", ()))
        what = f"{measures[0]} of " if len(measures) == 1 else ""
        seed = f" seed {named.seed}" if named.seed and named.kind != Kind.EVALUATE else ""
        command = ["vuskit", "bench", "run-job", str(self.folder), named.key]
        return Failure(
            key=named.key,
            status=result.status,
            kind=Kind(named.kind),
            detector=named.detector,
            dataset=named.dataset,
            series=named.series,
            seed=named.seed,
            title=f"{named.kind} {what}{named.detector}{seed} on {named.dataset}/{named.series}",
            message=result.message or "",
            command="" if self.is_pack else shlex.join(command),
            traceback=result.traceback,
        )

    def unsuccessful_jobs(self, series_hash: str) -> dict[str, int]:
        """Count the failed and skipped jobs on a series, by status."""
        with self._open() as store:
            found = {
                result.key: str(result.status)
                for _, result in store.planned(hash=series_hash)
                if result is not None and result.status is not Status.OK
            }
        return dict(sorted(Counter(found.values()).items()))

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
            If files of the plan are missing, the plan needs `allow_code`, or this is a pack.
        """
        self._refuse_pack()
        with self._open() as store:
            start = store.latest()
        base = Path(start.base)
        code = plan_code(start.plan, base)
        if code and not allow_code:
            raise refused_code(f"the plan of {self.folder}", code)
        plan = parse_plan(start.plan, base=base, name=f"the plan of {self.folder}")
        return replace(plan, folder=self.folder)

    def _refuse_pack(self) -> None:
        if self.is_pack:
            raise InvalidInputError(
                f"`RUN` must be a run folder or a plan, got the pack {str(self.folder)!r}, which "
                "holds only results and cannot run; its plan is in the member plan.toml"
            )

    def alignments(self) -> tuple[str, ...]:
        """Return how imported window scores were aligned to points.

        Examples
        --------
        >>> Run("nowhere").alignments()
        Traceback (most recent call last):
        vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
        """
        _, planned = self._planned()
        found = {
            (named.detector, result.about["align"], result.about["window"])
            for named, result in planned
            if result is not None and result.kind == Kind.IMPORT and "window" in result.about
        }
        return alignment_texts(found)

    def detectors(self) -> tuple[str, ...]:
        """Return the detectors with a finished job, including those that always failed."""
        return tuple(sorted({one.detector for one in self.score_records()}))

    def series(self) -> tuple[RunSeries, ...]:
        """Return the series with a finished job, sorted by data set and name."""
        with self._open() as store:
            rows, planned = store.rows("series"), list(store.planned())
        scores: dict[str, dict[str, tuple[int, str]]] = {}
        for named, result in planned:
            if result is None or named.kind == Kind.EVALUATE:
                continue
            found = scores.setdefault(named.hash, {})
            known, seed = found.get(named.detector), named.seed or 0
            if result.status is Status.OK and (known is None or seed < known[0]):
                found[named.detector] = seed, named.key
        series = [
            RunSeries.of(row, tuple((name, key) for name, (_, key) in scores[row["hash"]].items()))
            for row in rows
            if row["hash"] in scores
        ]
        return tuple(sorted(series, key=lambda one: (one.dataset, one.name, one.hash)))

    def measures(self) -> dict[str, Measure]:
        """Return the measures of the plan by name, in table order.

        Title, family, bounds and direction come from the run. So user-defined measures are
        described even if the module that registers them is missing, but cannot be computed then.
        """
        with self._open() as store:
            store.latest()
            rows = store.rows("measures")
        found = {row["name"]: _stored_measure(row) for row in rows}
        return {name: found[name] for name in measures_in_order(found)}

    def measures_by_settings(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the plan's measures, grouped by settings."""
        with self._open() as store:
            rows = store.rows("measures")
        found: dict[str, dict[str, None]] = {}
        for row in rows:
            found.setdefault(row["settings"], {})[row["name"]] = None
        return {settings: tuple(names) for settings, names in found.items()}

    # -- tables ----------------------------------------------------------------------------------

    def value_rows(self) -> list[dict[str, Any]]:
        """Return one row per requested value whose job has finished; see `outcomes`."""
        with self._open() as store:
            store.latest()
            measures, planned = store.rows("measures"), list(store.planned())
        wanted: dict[str, list[dict[str, Any]]] = {}
        for row in measures:
            wanted.setdefault(row["settings"], []).append(row)
        place = {(row["settings"], row["name"]): row["place"] for row in measures}
        described = {(row["settings"], row["name"]): row for row in measures}
        scored = {named.key: result for named, result in planned if named.settings is None}
        rows = []
        for named, result in planned:
            score = scored.get(named.parent or named.key)
            if score is None:
                continue
            if named.kind != Kind.EVALUATE:
                if score.status is not Status.OK:
                    rows += [
                        _value_row(named, settings, row, score, None)
                        for settings, several in wanted.items()
                        for row in several
                    ]
            elif result is not None:
                rows += [
                    _value_row(
                        named, named.settings, described[named.settings, name], score, result
                    )
                    for name in result.about["measures"]
                    if (named.settings, name) in described
                ]
        rows.sort(
            key=lambda row: (
                row["dataset"],
                row["series"],
                row["detector"],
                -1 if row["seed"] is None else row["seed"],
                row["settings"],
                place[row["settings"], row["measure"]],
            )
        )
        return rows

    def values(self) -> pd.DataFrame:
        """Return all values: one row per series, detector, seed, settings and measure.

        The seed is missing if the scores do not depend on it. ``measure_title`` and
        ``higher_is_better`` describe the measure when it was computed.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="a table of values")
        rows = [row for row in self.value_rows() if row["value"] is not None]
        columns = [name for name in _COLUMNS if name not in ("status", "message")]
        frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
        frame["seed"] = frame["seed"].astype("Int64")
        return frame

    def outcomes(self) -> pd.DataFrame:
        """Return one row per requested value, including missing values.

        Same columns as `values`, plus ``status`` and ``message``: those of the score job if it
        failed or was skipped, otherwise those of the evaluation. ``value`` is empty if the job
        failed or the measure is undefined. Unfinished jobs have no row.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="a table of values")
        frame: pd.DataFrame = pandas.DataFrame(self.value_rows(), columns=_COLUMNS)
        return frame.astype(_DTYPES)

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

    def inverted_note(self) -> str:
        """Return a warning about detectors whose scores look inverted; empty without any."""
        values = self.values()
        values = values[values["measure"] == "auc_roc"]
        if not len(values):
            return ""
        sizes = {one.title: (one.n_points, one.n_anomalies) for one in self.series()}
        found: dict[str, dict[str, float]] = {}
        means = values.groupby(["detector", "dataset", "series"], sort=False)["value"].mean()
        for (detector, dataset, series), mean in means.items():
            if f"{dataset}/{series}" in sizes:
                found.setdefault(str(detector), {})[f"{dataset}/{series}"] = float(mean)
        return inverted_note(found, sizes)

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
        _, planned = self._planned()
        evaluated: dict[tuple[str | None, str], Status] = {}
        for named, result in planned:
            if result is not None and named.kind == Kind.EVALUATE:
                place = named.parent, named.hash
                if evaluated.get(place) is not Status.OK:
                    evaluated[place] = result.status
        ended = [(named, r) for named, r in planned if r and named.kind != Kind.EVALUATE]
        return tuple(
            ScoreRecord(
                dataset=named.dataset,
                series=named.series,
                detector=named.detector,
                series_hash=named.hash,
                seed=named.seed,
                status=result.status,
                evaluated=evaluated.get((named.key, named.hash)),
                key=named.key,
                fit_seconds=_fact(result, "fit_seconds"),
                score_seconds=_fact(result, "score_seconds"),
                cold=bool(_fact(result, "cold")),
                identity=detector_text(result.kind, result.about),
            )
            for named, result in sorted(ended, key=lambda pair: pair[1].finished)
        )

    def scored_series(self) -> Iterator[StoredScores]:
        """Iterate over the series with stored scores, without failed detectors.

        Runs of a detector with several seeds are named ``label (seed 1)`` and so on.

        Raises
        ------
        InvalidInputError
            If a pack holds no scores.
        """
        with self._open() as store:
            if store.archive is not None:
                store.archive.check_scores()
        by_series: dict[str, dict[str, list[ScoreRecord]]] = {}
        for one in sorted(self.score_records(), key=lambda one: (one.detector, one.seed or 0)):
            if one.status is Status.OK:
                by_detector = by_series.setdefault(one.series_hash, {})
                by_detector.setdefault(one.detector, []).append(one)
        for series in self.series():
            scores: list[tuple[str, str]] = []
            repeats: list[tuple[str, tuple[str, ...]]] = []
            for detector, several in by_series.get(series.hash, {}).items():
                names: tuple[str, ...] = (detector,)
                if len(several) > 1:
                    names = tuple(f"{detector} (seed {one.seed})" for one in several)
                    repeats.append((detector, names))
                scores += zip(names, (one.key for one in several), strict=True)
            if scores:
                yield StoredScores(series, self.folder, tuple(scores), tuple(repeats))

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
        InvalidInputError
            If a pack holds no scores, or they are damaged.
        """
        with self._open() as store:
            return {name: store.scores(key) for name, key in series.scores}

    def _evaluations(self, series: RunSeries, settings: str) -> Iterator[Result]:
        """Successful evaluations of a series under these settings."""
        with self._open() as store:
            for _, result in store.planned(hash=series.hash, settings=settings):
                if result is not None and result.status is Status.OK:
                    yield result

    def evaluation_settings(self, series: RunSeries, settings: str) -> EvaluationSettings | None:
        """Return the settings of a series' evaluation, with the chosen buffer.

        None if no evaluation of the series under these settings succeeded.
        """
        found = list(self._evaluations(series, settings))
        if not found:
            return None
        # A measure of the user may need no buffer.
        one = next((r for r in found if r.value["buffer"] is not None), found[0])
        used = EvaluationSettings.from_dict(one.about["settings"])
        if one.value["buffer"] is None:
            return used
        return used.replace(buffer=stored_buffer(one.value))

    def evaluation_measures(self, series: RunSeries, settings: str) -> dict[str, Measure]:
        """Return the measures of a series' evaluations that are registered in this process.

        Names are those of the run; options are those of the plan.
        """
        known = {one.name: one for one in list_measures()}
        return {
            name: replace(known[one["measure"]], name=name, options=one["options"])
            for found in self._evaluations(series, settings)
            for name, one in found.about["measures"].items()
            if one["measure"] in known
        }

    def evaluated_from(self, series: RunSeries, settings: str) -> int:
        """Return the first point that evaluations of a series under these settings use.

        Parameters
        ----------
        series : RunSeries
            A series of the run.
        settings : str
            One of the settings of the run.
        """
        found = next(self._evaluations(series, settings), None)
        return 0 if found is None else int(found.about["train_length"])

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
            Whether to add scores, so that others can recompute the values. Default:
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
        from vuskit.bench.verify import packed_values
        from vuskit.store.pack import write_pack

        self._refuse_pack()
        state = self.status(failures=0).run["state"]
        if state != "finished" and not partial:
            raise InvalidInputError(
                f"`RUN` must be finished, got one that is {state}; run the command that created it "
                "(`vuskit bench run` or `vuskit evaluate`) again, or pack the results so far with "
                "--partial (partial=True)"
            )
        values = packed_values(self.value_rows())
        with self._open() as store:
            return write_pack(
                store, Path(path), values=values, scores=scores, state=state, progress=progress
            )

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
        self._refuse_pack()
        with self._open() as store:
            result = store.find(key)
            action = stored_action(store, result)
        return permitted(action, allow_code=allow_code), result.status

    def verify(
        self,
        *,
        sample: int | None = 20,
        seed: int = 0,
        allow_code: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check the store, every score file, and a sample of evaluations.

        Recomputes evaluations from the stored settings, labels and scores.

        Parameters
        ----------
        sample : int or None, default=20
            Number of evaluations to recompute; None: all.
        seed : int, default=0
            Seed for drawing the sample.
        allow_code : bool, default=False
            Run custom code: measures that are not part of vuskit. Without it, evaluations that
            need such code are not recomputed.
        progress : callable, optional
            Called with the number of finished checks and their total.

        Returns
        -------
        Verification
            With a problem for each damaged, missing or unknown file, each result that differs from
            its key or digest, and each value that differs when recomputed.
        """
        from vuskit.bench.verify import verify_run

        return verify_run(self, sample=sample, seed=seed, allow_code=allow_code, progress=progress)


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


def _value_row(
    named: Named,
    settings: str | None,
    measure: dict[str, Any],
    score: Result,
    result: Result | None,
) -> dict[str, Any]:
    """Row of one requested value; without an evaluation if the scores failed."""
    value = {} if result is None or result.value is None else result.value
    return {
        "dataset": named.dataset,
        "series": named.series,
        "detector": named.detector,
        "seed": named.seed,
        "settings": settings,
        "measure": measure["name"],
        "measure_title": measure["title"],
        "higher_is_better": bool(measure["higher_is_better"]),
        "status": str((score if result is None else result).status),
        "value": value.get("values", {}).get(measure["name"]),
        "buffer": value.get("buffer"),
        "buffer_reason": value.get("buffer_reason"),
        "fit_seconds": _fact(score, "fit_seconds"),
        "score_seconds": _fact(score, "score_seconds"),
        "warm_up_seconds": score.warm_up_seconds,
        "peak_bytes": score.peak_bytes,
        "cold": int(_fact(score, "cold") or 0),
        "detector_identity": detector_text(score.kind, score.about),
        "measure_identity": f"{measure['name']} @ {measure['code']}",
        "score_key": score.key,
        "evaluate_key": None if result is None else result.key,
        "message": _first_line(score if result is None else result),
    }


def _first_line(result: Result) -> str | None:
    return (result.message or "").partition("\n")[0] or None


def _fact(result: Result, name: str) -> Any:
    return None if result.value is None else result.value.get(name)


def _missing_buffers(settings: str, reason: str, count: int) -> str:
    lacking = plural(count, "series has", "series have")
    shown = reason.removeprefix(NO_BUFFER)
    return f"{lacking} no values of measures that need a buffer ({settings}): {shown}"


def _stored_measure(row: dict[str, Any]) -> Measure:
    return replace(
        measure_called(row["name"]),
        title=row["title"],
        family=row["family"],
        bounds=(row["lowest"], row["highest"]),
        higher_is_better=bool(row["higher_is_better"]),
        reference=row["reference"],
    )


_PLAN = ".toml"


# -- scores of any kind ----------------------------------------------------------------------------


def find_run(target: str | Path) -> Run | None:
    """Return the run of a folder, a plan or a pack; None if there is no run."""
    run = Run(target)
    return run if run.exists else None


def open_scores(
    source: Any,
    *,
    labels: str | Path | None = None,
    pattern: str | None = None,
    columns: Columns | None = None,
    align: str | None = None,
    window: Windows = None,
    select: str | Iterable[str] | None = None,
) -> Inputs:
    """Open series with scores: a benchmark run, or everything that ``vuskit evaluate`` reads.

    Parameters
    ----------
    source : str, Path, data frame, ScoredSeries, Source, or iterable of these
        A run folder, its plan or a pack, or any input of `vuskit.datasets.open_inputs`.
    labels, pattern, columns, align, window
        As for `vuskit.datasets.open_inputs`; not for runs.
    select : str or iterable of str, optional
        Selects series by name, such as ``"ECG/*"``: the path below the folder or its last part.

    Returns
    -------
    Inputs
        In the order given; files of a folder by path. Names are unique, see
        `vuskit.datasets.series`.

    Raises
    ------
    InvalidInputError
        If there are no scores, or `select` matches no series.

    Examples
    --------
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> scored = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> [source.name for source in open_scores([scored])]
    ['docs/a']
    """
    several = [source] if isinstance(source, str | Path) else source
    is_list = isinstance(several, list | tuple)
    runs = [find_run(one) for one in several if isinstance(one, str | Path)] if is_list else []
    reading = {"labels": labels, "pattern": pattern, "columns": columns, "align": align}
    if not any(runs):
        return open_inputs(source, window=window, select=select, **reading)  # type: ignore[arg-type]
    if (given := [name for name, value in reading.items() if value is not None]) or window:
        name = given[0] if given else "window"
        raise InvalidInputError(
            f"`--{name}` must be used with saved scores, got {str(several[0])!r}, which is a run; "
            "omit it"
        )
    parts: list[Any] = []
    for one in several:
        run = find_run(one) if isinstance(one, str | Path) else None
        stored = [] if run is None else list(run.scored_series())
        if run is not None and not stored:
            raise InvalidInputError(f"`source` must hold saved scores, got none in {str(one)!r}")
        parts += [one] if run is None else stored
    return select_sources(open_inputs(parts), select)
