"""Reading a store: how far a run is, what failed, and all values as a table."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit.bench.means import AVERAGES, rows_of_mean
from vuskit.bench.measures import measure_called, measures_in_order, measures_of
from vuskit.bench.reading import latest_run, open_for_reading
from vuskit.bench.states import Kind, Status
from vuskit.bench.storage import is_gone
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Failure",
    "RunStatus",
    "directions",
    "leaderboard",
    "main_measure",
    "read_detectors",
    "read_status",
    "read_values_table",
]

_VALUES = """
SELECT series.dataset, series.name AS series, first.label AS detector, first.seed,
       second.identity AS settings, measures.name AS measure, value,
       second.buffer, second.buffer_reason,
       first.fit_seconds, first.score_seconds, first.warm_up_seconds, first.peak_bytes, first.cold,
       first.identity AS detector_identity, measures.identity AS measure_identity,
       first.key AS score_key, second.key AS evaluate_key
FROM jobs AS first
JOIN series ON series.hash = first.series_hash
JOIN jobs AS second ON second.scores_hash = first.scores_hash
    AND second.series_hash = first.series_hash AND second.kind = 'evaluate'
JOIN "values" ON job_id = second.id
JOIN measures ON measures.id = measure_id
WHERE first.kind IN ('score', 'import') AND first.run_id = :run AND second.run_id = :run
ORDER BY series.dataset, series.name, first.label, first.seed, second.identity, measures.id
"""
_WANTED = ["settings", "measure", "measure_identity"]
_LONG = ("plan", "wanted", "imports", "notes", "progress")
_FAVOURITES = ("vus_pr", "vus_roc", "auc_pr")


@dataclass(frozen=True)
class Failure:
    """A job that did not end well."""

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
class RunStatus:
    """How far a run is.

    Attributes
    ----------
    run : dict
        The latest start: state, times, host, process, versions. A run whose process has gone
        without a word has the state ``killed``. ``begun`` is the first start in this folder,
        ``last_job`` when the last job ended.
    progress : dict
        What the run said about itself last: total, done, rate, what is running.
    counts : dict
        Finished jobs of the plan by kind and status.
    by_detector : dict
        The same by detector, kind and status.
    n_values : int
        Values in the store.
    failures : tuple of Failure
        The latest first, as many as were asked for.
    notes : tuple of str
        Series that could not be read, or are there twice.
    """

    run: dict[str, Any]
    progress: dict[str, Any]
    counts: dict[tuple[Kind, Status], int]
    by_detector: dict[tuple[str, Kind, Status], int]
    n_values: int
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]

    def count(self, *statuses: Status) -> int:
        """Finished jobs with one of these statuses."""
        return sum(number for (_, status), number in self.counts.items() if status in statuses)


def read_status(folder: Path, *, failures: int = 10) -> RunStatus:
    """Read how far a run is, also while it goes on.

    Parameters
    ----------
    folder : Path
        The run folder.
    failures : int, default=10
        How many failures to list.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> read_status(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    with closing(open_for_reading(folder)) as connection:
        run = latest_run(connection, folder)
        counted = connection.execute(
            "SELECT label, kind, status, count(*) FROM jobs WHERE run_id = ? "
            "GROUP BY label, kind, status ORDER BY label, kind = 'evaluate'",
            (run["id"],),
        )
        by_detector = {(label, Kind(k), Status(s)): count for label, k, s, count in counted}
        counts: dict[tuple[Kind, Status], int] = {}
        for (_, kind, status), count in by_detector.items():
            counts[kind, status] = counts.get((kind, status), 0) + count
        listed = connection.execute(
            "SELECT jobs.*, series.dataset, series.name FROM jobs "
            "JOIN series ON hash = series_hash WHERE run_id = ? AND status IN (?, ?, ?) "
            "ORDER BY jobs.id DESC LIMIT ?",
            (run["id"], Status.ERROR, Status.TIMEOUT, Status.OOM, failures),
        )
        facts = {key: value for key, value in dict(run).items() if key not in _LONG}
        (facts["begun"],) = connection.execute("SELECT min(started) FROM runs").fetchone()
        (facts["last_job"],) = connection.execute(
            "SELECT max(finished) FROM jobs WHERE run_id = ?", (run["id"],)
        ).fetchone()
        if facts["state"] == "running" and is_gone(facts["host"], facts["pid"]):
            facts["state"] = "killed"
        return RunStatus(
            run=facts,
            progress=json.loads(run["progress"]),
            counts=counts,
            by_detector=by_detector,
            n_values=connection.execute('SELECT count(*) FROM "values"').fetchone()[0],
            failures=tuple(_failure(row) for row in listed),
            notes=tuple(json.loads(run["notes"])),
        )


def _failure(row: sqlite3.Row) -> Failure:
    seed = f" seed {row['seed']}" if row["seed"] else ""  # as titles of jobs say it
    measures = json.loads(row["measures"] or "[]")
    what = f"{measures[0].rpartition(' @ ')[0]} of " if len(measures) == 1 else ""
    return Failure(
        key=row["key"],
        status=Status(row["status"]),
        kind=Kind(row["kind"]),
        detector=row["label"],
        dataset=row["dataset"],
        series=row["name"],
        seed=row["seed"],
        title=f"{row['kind']} {what}{row['label']}{seed} on {row['dataset']}/{row['name']}",
        message=row["message"] or "",
        command=row["command"] or "",
        traceback=row["traceback"],
    )


def read_values_table(folder: Path) -> pd.DataFrame:
    """All values of the latest plan: one row per series, detector, seed, settings and measure.

    A detector that does not depend on a seed has none. ``measure_title`` and
    ``higher_is_better`` are those of the measure when it was computed.

    Raises
    ------
    InvalidInputError
        If there is no run.
    MissingDependencyError
        If pandas is not installed.

    Examples
    --------
    >>> read_values_table(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    pandas = require("pandas", purpose="a table of values")
    with closing(open_for_reading(folder)) as connection:
        run = latest_run(connection, folder)
        measures = measures_of(connection, run)
        try:
            frame: pd.DataFrame = pandas.read_sql_query(
                _VALUES, connection, params={"run": run["id"]}
            )
        except pandas.errors.DatabaseError as error:
            # An error of the operating system, for pandas: what SQLite says is beneath.
            raise error.__cause__ or error from None
    # The store may know more than the latest plan asks for.
    wanted = {tuple(entry) for entry in json.loads(run["wanted"])}
    columns = _WANTED[: min(map(len, wanted), default=len(_WANTED))]
    chosen = [entry in wanted for entry in zip(*(frame[name] for name in columns), strict=True)]
    frame = frame.loc[chosen].drop_duplicates(
        ["score_key", "settings", "measure"], keep="last", ignore_index=True
    )
    frame["seed"] = frame["seed"].astype("Int64")
    place = list(frame).index("value")
    titles = frame["measure"].map({name: one.title for name, one in measures.items()})
    higher = frame["measure"].map({name: one.higher_is_better for name, one in measures.items()})
    frame.insert(place, "measure_title", titles)
    frame.insert(place + 1, "higher_is_better", higher.astype(bool))
    return frame


def read_detectors(folder: Path) -> tuple[str, ...]:
    """Detectors of the latest plan with a finished job, also those that always failed.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> read_detectors(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    with closing(open_for_reading(folder)) as connection:
        rows = connection.execute(
            "SELECT DISTINCT label FROM jobs WHERE kind IN ('score', 'import') AND run_id = ? "
            "ORDER BY label",
            (latest_run(connection, folder)["id"],),
        )
        return tuple(label for (label,) in rows)


def leaderboard(
    values: pd.DataFrame,
    *,
    by: str = "series",
    apart: Iterable[str] = (),
    detectors: Iterable[str] = (),
    measures: Iterable[str] = (),
) -> pd.DataFrame:
    """Mean of every measure per detector and settings, best by `main_measure` first.

    Means are taken over the seeds of a series, then over the series that *every* detector of
    these settings has a value for: a detector that failed on hard series must not look better for
    it. ``series`` counts those, ``own`` the ones that the detector has values for. A detector
    without any value, which is not counted among "every", stands last.

    Parameters
    ----------
    values : pandas.DataFrame
        From `read_values_table`; the direction of a measure is that of its column
        ``higher_is_better``, or of the registry.
    by : {"series", "dataset"}, default="series"
        Whether every series counts the same, or every data set: then means are taken over the
        series of a data set first, and ``datasets`` counts these.
    apart : iterable of str, optional
        Further columns to keep apart, such as ``dataset``.
    detectors : iterable of str, optional
        Detectors that get a row also if they have no value, from `read_detectors`.
    measures : iterable of str, optional
        Measures that get a column also if they have no value on any series.

    Raises
    ------
    InvalidInputError
        If `by` is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "x", "LOF", 0.5), ("a", "y", "LOF", 0.9), ("a", "x", "PCA", 0.7)]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "series", "detector", "value"])
    >>> leaderboard(frame.assign(seed=0, settings="s", measure="vus_pr"))
      settings detector  series  own  vus_pr
    0        s      PCA       1    1     0.7
    1        s      LOF       1    2     0.5
    """
    check_choice("by", by, AVERAGES)
    if not len(values):
        return values
    place = ["dataset", "series"]
    groups = ["settings", *apart, "detector"]
    means = (
        values.groupby([*groups, *(p for p in place if p not in groups), "measure"])["value"]
        .mean()
        .unstack("measure")
        .reset_index()
    )
    means["_all"] = means.groupby(["settings"])["detector"].transform("nunique")
    shared = means.groupby(["settings", *place])["detector"].transform("nunique") == means["_all"]
    known = measures_in_order([name for name in means if name in set(values["measure"])])
    keys = list(dict.fromkeys([*groups, *place]))
    rows = rows_of_mean(means[shared].set_index(keys)[known], by)
    table = rows.groupby(level=groups).mean()
    if by == "dataset":
        table.insert(0, "datasets", rows.groupby(level=groups).size())
    table.insert(len(table.columns) - len(known), "series", means[shared].groupby(groups).size())
    own = means.groupby(groups).size().reindex(table.index)
    table.insert(len(table.columns) - len(known), "own", own)
    table = _with_rows_for(table, set(detectors) - set(values["detector"]), known)
    wanted = measures_in_order({*known, *measures})
    table = table.reindex(columns=[*(name for name in table if name not in known), *wanted])
    main = main_measure(known)
    ascending = [True, *(True for _ in apart), not directions(values)[main], True]
    table = table.reset_index().sort_values(
        ["settings", *apart, main, "detector"], ascending=ascending
    )
    return table.rename_axis(columns=None).reset_index(drop=True)


def _with_rows_for(table: pd.DataFrame, failed: set[str], measures: list[str]) -> pd.DataFrame:
    """Add a row without means for each of these detectors, beside those of the same settings."""
    pandas = require("pandas", purpose="a leaderboard")
    ones = table.groupby(level=list(table.index.names[:-1]), sort=False).head(1)
    rows = [ones.rename(index=lambda _, name=name: name, level="detector") for name in failed]
    blank = [one.assign(own=0, **dict.fromkeys(measures, float("nan"))) for one in rows]
    joined: pd.DataFrame = pandas.concat([table, *blank])
    return joined


def directions(values: pd.DataFrame) -> dict[str, bool]:
    """Whether higher values are better, by measure of a table of values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"measure": ["delay", "vus_pr"], "higher_is_better": [False, True]})
    >>> directions(frame)
    {'delay': False, 'vus_pr': True}
    """
    if "higher_is_better" in values.columns:
        stored = values.drop_duplicates("measure").set_index("measure")["higher_is_better"]
        return {str(name): bool(higher) for name, higher in stored.items()}
    names = map(str, dict.fromkeys(values["measure"]))
    return {name: measure_called(name).higher_is_better for name in names}


def main_measure(names: Sequence[str]) -> str:
    """Return the measure to order detectors by, unless told otherwise.

    Examples
    --------
    >>> main_measure(["auc_pr", "vus_pr", "my_own"])
    'vus_pr'
    >>> main_measure(["f_score", "my_own"])
    'my_own'
    """
    return next((name for name in _FAVOURITES if name in names), names[-1])
