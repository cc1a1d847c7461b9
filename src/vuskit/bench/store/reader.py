"""Read the store of a run folder, also during a run and on read-only disks."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Self

from vuskit._util.escapes import is_utf8
from vuskit._util.files import PRIVATE_PREFIX
from vuskit._util.text import quoted
from vuskit.bench.jobs import (
    Job,
    Kind,
    MeasureVersion,
    SeriesRef,
    SeriesSource,
    job_from_spec,
)
from vuskit.bench.store.portable import Rows, portable_tables
from vuskit.bench.store.schema import create_schema, has_tables
from vuskit.engine import Status
from vuskit.errors import InvalidInputError
from vuskit.measures.evaluate import NO_BUFFER

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DATABASE",
    "LOCK",
    "SERIES_FACTS",
    "WAIT_SECONDS",
    "StoreReader",
    "check_run_folder",
    "find_damages",
    "open_store",
    "open_store_or_empty",
    "path_to_text",
    "text_to_path",
]

DATABASE = "bench.sqlite"
LOCK = f"{PRIVATE_PREFIX}lock"  # also marks a folder as a run folder
# Created by operating systems and git; a folder with only these counts as empty.
_HARMLESS = {".DS_Store", ".gitignore", ".gitkeep", "Thumbs.db", "desktop.ini", "lost+found"}
_SHOWN_ENTRIES = 3
WAIT_SECONDS = 60  # to wait for another process that is writing

SERIES_FACTS = tuple(
    entry.name for entry in fields(SeriesRef) if entry.name not in ("source", "left_out", "files")
)
"""Columns that describe a series."""

_LATEST = "SELECT * FROM runs ORDER BY id DESC LIMIT 1"
_VALUES = """
SELECT planned_series.dataset, planned_series.name AS series, detector, seed,
       second.settings, measures.name AS measure, value, second.buffer, second.buffer_reason,
       first.fit_seconds, first.score_seconds, first.warm_up_seconds, first.peak_bytes, first.cold,
       rtrim(first.settings || ' ' || first.code) AS detector_identity,
       measures.name || ' @ ' || measures.version AS measure_identity,
       first.key AS score_key, second.key AS evaluate_key
FROM planned_scores
JOIN jobs AS first ON first.key = planned_scores.key
JOIN planned_series ON planned_series.hash = first.series_hash
JOIN jobs AS second ON second.scores_hash = first.scores_hash
    AND second.series_hash = first.series_hash AND second.kind = 'evaluate'
JOIN "values" ON job_id = second.id
JOIN planned_values ON planned_values.settings = second.settings
    AND planned_values.measure_id = "values".measure_id
JOIN measures ON measures.id = "values".measure_id
ORDER BY planned_series.dataset, planned_series.name, detector, seed, second.settings,
    measures.id, second.id
"""
_SCORED = """
SELECT planned_series.dataset, planned_series.name AS series, detector, seed, status,
       fit_seconds, score_seconds, warm_up_seconds, peak_bytes, cold,
       rtrim(settings || ' ' || code) AS detector_identity, jobs.key AS score_key,
       scores_hash, jobs.series_hash
FROM planned_scores
JOIN jobs ON jobs.key = planned_scores.key
JOIN planned_series ON planned_series.hash = jobs.series_hash
ORDER BY jobs.id, detector
"""
_WITHOUT_VALUE = """
SELECT series_hash, scores_hash, jobs.settings, job_measures.measure_id, status, key, buffer,
       buffer_reason
FROM jobs
JOIN job_measures ON job_measures.job_id = jobs.id
JOIN planned_values ON planned_values.settings = jobs.settings
    AND planned_values.measure_id = job_measures.measure_id
LEFT JOIN "values" ON "values".job_id = jobs.id
    AND "values".measure_id = job_measures.measure_id
WHERE kind = 'evaluate' AND run_id = ? AND value IS NULL
ORDER BY jobs.id
"""
_SERIES = """
SELECT series.*, planned_series.dataset, planned_series.name, source, stamp, sources.files
FROM planned_series
JOIN series ON series.hash = planned_series.hash
LEFT JOIN sources ON sources.spec = source AND sources.series_hash = series.hash
WHERE series.hash IN
    (SELECT jobs.series_hash FROM jobs JOIN planned_scores ON planned_scores.key = jobs.key)
ORDER BY planned_series.dataset, planned_series.name, series.hash
"""
_SERIES_FOR_JOB = """
SELECT series.*, coalesce(planned_series.dataset, sources.dataset, '') AS dataset,
       coalesce(planned_series.name, sources.name, substr(series.hash, 1, 12)) AS name,
       coalesce(source, spec, '{}') AS source
FROM series
LEFT JOIN planned_series ON planned_series.hash = series.hash
LEFT JOIN sources ON series_hash = series.hash
WHERE series.hash = ? ORDER BY spec LIMIT 1
"""
# CROSS JOIN fixes the join order: SQLite would start with the jobs, which is slower.
_COUNTS = """
SELECT detector, kind, status, count(*) AS jobs FROM planned_scores
CROSS JOIN jobs ON jobs.key = planned_scores.key WHERE run_id = :run GROUP BY detector, kind, status
UNION ALL
-- Several detectors may share scores; the evaluations count for each of them.
SELECT detector, second.kind, second.status, count(DISTINCT second.id) FROM planned_scores
CROSS JOIN jobs AS first ON first.key = planned_scores.key
CROSS JOIN jobs AS second ON second.scores_hash = first.scores_hash
    AND second.series_hash = first.series_hash AND second.kind = 'evaluate'
WHERE second.run_id = :run GROUP BY detector, second.status
ORDER BY 1, 2 DESC, 3
"""
_NAMES_OF_SCORES = """
SELECT detector, seed FROM planned_scores WHERE key = ? ORDER BY detector LIMIT 1
"""
_NAMES_OF_EVALUATION = """
SELECT detector, NULL AS seed FROM jobs JOIN planned_scores ON planned_scores.key = jobs.key
WHERE scores_hash = ? AND jobs.series_hash = ? AND kind != 'evaluate'
ORDER BY jobs.id, detector LIMIT 1
"""


def path_to_text(path: Path) -> str:
    """Text of a path that SQLite can store; `text_to_path` restores any path."""
    text = str(path)
    return text if is_utf8(text) else json.dumps(text)


def text_to_path(text: str) -> Path:
    r"""Undo `path_to_text`.

    Examples
    --------
    >>> [text_to_path(path_to_text(Path(one))).name for one in ("/a b", "/caf\udce9")]
    ['a b', 'caf\udce9']
    """
    return Path(json.loads(text) if text.startswith('"') else text)


class StoreReader:
    """Read-only queries of a store.

    Parameters
    ----------
    connection : sqlite3.Connection
        Connection to the store, with `sqlite3.Row` rows.
    folder : Path, optional
        The run folder, for error messages.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path | None = None) -> None:
        self._connection = connection
        self._place = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # -- earlier runs ---------------------------------------------------------------------------

    def known_series(self) -> dict[tuple[str, str], SeriesRef]:
        """Series read in earlier runs, by source and stamp."""
        rows = self._connection.execute(
            "SELECT spec, stamp, hash, sources.dataset, sources.name, n_points, n_channels, "
            "n_anomalies, anomalous_points, n_missing, left_out, files FROM sources "
            "JOIN series ON hash = series_hash"
        )
        return {
            (row["spec"], row["stamp"]): SeriesRef(
                **{name: row[name] for name in SERIES_FACTS},
                source=SeriesSource(row["spec"]),
                left_out=tuple(json.loads(row["left_out"])),
                files=json.loads(row["files"]),
            )
            for row in rows
        }

    def add_series(self, series: Iterable[tuple[SeriesRef, str]]) -> None:
        """Do nothing; `Store` overrides this to save the series."""

    def finished_scores(self) -> dict[str, sqlite3.Row]:
        """Finished score and import jobs by key."""
        rows = self._connection.execute(
            "SELECT id, key, status, scores_hash FROM jobs WHERE kind IN ('score', 'import')"
        )
        return {row["key"]: row for row in rows}

    def finished_evaluations(self) -> Iterator[tuple[sqlite3.Row, tuple[MeasureVersion, ...]]]:
        """Finished evaluations with their measures."""
        known = {
            str(row["id"]): MeasureVersion(row["name"], row["version"])
            for row in self._connection.execute("SELECT id, name, version FROM measures")
        }
        decoded: dict[str, tuple[MeasureVersion, ...]] = {}
        rows = self._connection.execute(
            "SELECT id, key, status, series_hash, scores_hash, settings, (SELECT "
            "group_concat(measure_id) FROM job_measures WHERE job_id = jobs.id) AS measures "
            "FROM jobs WHERE kind = 'evaluate'"
        )
        for row in rows:
            listed = row["measures"] or ""
            if listed not in decoded:
                decoded[listed] = tuple(known[one] for one in listed.split(",") if one)
            yield row, decoded[listed]

    def planned_results(self) -> list[sqlite3.Row]:
        """Finished score and import jobs of the latest plan, with names and identities."""
        return self._connection.execute(
            "SELECT detector, seed, source, files, jobs.series_hash, kind, settings, code, spec "
            "FROM planned_scores JOIN jobs ON jobs.key = planned_scores.key "
            "JOIN planned_series ON planned_series.hash = jobs.series_hash"
        ).fetchall()

    def code_parts(self, version: str) -> dict[str, str]:
        """Digests of the parts of a version of local code; empty if unknown."""
        rows = self._connection.execute(
            "SELECT part, digest FROM code_parts WHERE version = ?", (version,)
        )
        return dict(rows.fetchall())

    def library_versions(self) -> dict[int, dict[str, str]]:
        """Core and library versions that jobs were computed with, by job id."""
        known = {
            row["id"]: json.loads(row["versions"])
            for row in self._connection.execute("SELECT id, versions FROM environments")
        }
        rows = self._connection.execute(
            "SELECT id, environment_id FROM jobs WHERE environment_id IS NOT NULL"
        )
        return {job: known[environment] for job, environment in rows}

    # -- the latest start ------------------------------------------------------------------------

    def latest_run(self) -> sqlite3.Row:
        """Row of the latest start of the command.

        Raises
        ------
        InvalidInputError
            If there is no run.
        """
        run: sqlite3.Row | None = self._connection.execute(_LATEST).fetchone()
        if run is None:
            raise _no_run(self._place or Path())
        return run

    def times(self) -> tuple[str, str | None]:
        """Time of the first start in this folder, and of the end of the latest plan's last job."""
        (first,) = self._connection.execute("SELECT min(started) FROM runs").fetchone()
        (last,) = self._connection.execute(
            "SELECT max(finished) FROM jobs WHERE run_id = ?", (self.latest_run()["id"],)
        ).fetchone()
        return first, last

    def count_jobs(self) -> dict[tuple[Kind, Status], int]:
        """Number of finished jobs of the latest plan, by kind and status."""
        counted = self._connection.execute(
            "SELECT kind, status, count(*) FROM jobs WHERE run_id = ? GROUP BY kind, status",
            (self.latest_run()["id"],),
        )
        return {(Kind(kind), Status(status)): count for kind, status, count in counted}

    def count_jobs_by_detector(self) -> dict[tuple[str, Kind, Status], int]:
        """Number of finished jobs of the latest plan, by detector, kind and status."""
        counted = self._connection.execute(_COUNTS, {"run": self.latest_run()["id"]})
        return {(name, Kind(k), Status(s)): count for name, k, s, count in counted}

    def count_values(self) -> int:
        """Number of values that the latest plan requests."""
        count: int = self._connection.execute(f"SELECT count(*) FROM ({_VALUES})").fetchone()[0]
        return count

    def alignments(self) -> tuple[str, ...]:
        """How imported window scores of the latest plan were aligned to points."""
        rows = self._connection.execute(
            "SELECT DISTINCT json_extract(spec, '$.align'), json_extract(spec, '$.window') "
            "FROM jobs JOIN planned_scores ON planned_scores.key = jobs.key "
            "WHERE kind = 'import' AND json_extract(spec, '$.window') IS NOT NULL ORDER BY 1, 2"
        )
        return tuple(f"{at or 'center'} of windows of {window:,} points" for at, window in rows)

    def failed_jobs(self, limit: int) -> list[sqlite3.Row]:
        """Failed jobs of the latest plan, latest first."""
        failed = [status for status in Status if status.failed]
        return self._connection.execute(
            "SELECT jobs.*, dataset, name AS series FROM jobs JOIN planned_series ON hash = "
            f"series_hash WHERE run_id = ? AND status IN ({', '.join('?' * len(failed))}) "
            "ORDER BY jobs.id DESC LIMIT ?",
            (self.latest_run()["id"], *failed, limit),
        ).fetchall()

    def failure_causes(self, limit: int) -> list[sqlite3.Row]:
        """Failed jobs of the latest plan, grouped by status and first line of the message.

        Returns the latest job of each group with the number of jobs, largest group first.
        """
        failed = [status for status in Status if status.failed]
        return self._connection.execute(
            "SELECT jobs.*, dataset, name AS series, count(*) AS n_jobs, max(jobs.id) FROM jobs "
            "JOIN planned_series ON hash = series_hash "
            f"WHERE run_id = ? AND status IN ({', '.join('?' * len(failed))}) "
            "GROUP BY status, substr(message, 1, instr(message || char(10), char(10))) "
            "ORDER BY n_jobs DESC, jobs.id DESC LIMIT ?",
            (self.latest_run()["id"], *failed, limit),
        ).fetchall()

    def names_of(self, job: sqlite3.Row) -> tuple[str | None, int | None]:
        """Detector and seed of a job in the latest plan; the first of several detectors."""
        if job["kind"] == Kind.EVALUATE:
            subject = job["scores_hash"], job["series_hash"]
            found = self._connection.execute(_NAMES_OF_EVALUATION, subject).fetchone()
        else:
            found = self._connection.execute(_NAMES_OF_SCORES, (job["key"],)).fetchone()
        return (None, None) if found is None else (found["detector"], found["seed"])

    def measures_of(self, job_id: int) -> list[str]:
        """Names of the measures of an evaluation."""
        rows = self._connection.execute(
            "SELECT name FROM job_measures JOIN measures ON measures.id = measure_id "
            "WHERE job_id = ?",
            (job_id,),
        )
        return [name for (name,) in rows]

    def measure_versions_of(self, job_id: int) -> list[MeasureVersion]:
        """Names and versions of the measures of an evaluation."""
        rows = self._connection.execute(
            "SELECT name, version FROM job_measures JOIN measures ON measures.id = measure_id "
            "WHERE job_id = ?",
            (job_id,),
        )
        return [MeasureVersion(name, version) for name, version in rows]

    def detectors(self) -> tuple[str, ...]:
        """Detectors of the latest plan with a finished job."""
        rows = self._connection.execute(
            "SELECT DISTINCT detector FROM planned_scores "
            "JOIN jobs ON jobs.key = planned_scores.key ORDER BY detector"
        )
        return tuple(detector for (detector,) in rows)

    def series(self) -> list[sqlite3.Row]:
        """Series of the latest plan with a finished job, each with its source."""
        return self._connection.execute(_SERIES).fetchall()

    def scored_jobs(self) -> list[sqlite3.Row]:
        """Finished score and import jobs of the latest plan, in the order they finished."""
        return self._connection.execute(_SCORED).fetchall()

    def evaluation_statuses(self) -> dict[tuple[str, str], Status]:
        """Status of the evaluations by series and scores; OK if at least one succeeded."""
        rows = self._connection.execute(
            "SELECT series_hash, scores_hash, status FROM jobs "
            "WHERE kind = 'evaluate' AND run_id = ? ORDER BY status = 'OK'",
            (self.latest_run()["id"],),
        )
        return {(series, scores): Status(status) for series, scores, status in rows}

    def evaluations_without_value(self) -> list[sqlite3.Row]:
        """Evaluations of the latest plan with each of their measures that has no value."""
        return self._connection.execute(_WITHOUT_VALUE, (self.latest_run()["id"],)).fetchall()

    def evaluations_without_buffer(self) -> list[sqlite3.Row]:
        """Reasons why evaluations of the latest plan have no buffer, with the number of series."""
        return self._connection.execute(
            "SELECT settings, coalesce(buffer_reason, message) AS reason, "
            "count(DISTINCT series_hash) AS n_series FROM jobs "
            "WHERE run_id = ? AND kind = ? AND buffer IS NULL AND reason LIKE ? "
            "GROUP BY settings, reason ORDER BY min(id)",
            (self.latest_run()["id"], Kind.EVALUATE, f"{NO_BUFFER}%"),
        ).fetchall()

    def values(self) -> pd.DataFrame:
        """One row per value that the latest plan requests; two rows if it was computed twice."""
        import pandas

        try:
            frame: pd.DataFrame = pandas.read_sql_query(_VALUES, self._connection)
        except pandas.errors.DatabaseError as error:
            # pandas wraps the error of SQLite, which is more informative.
            raise error.__cause__ or error from None
        return frame

    def value_rows(self) -> list[sqlite3.Row]:
        """Return the rows of `values`."""
        return self._connection.execute(_VALUES).fetchall()

    def unexpected_values(self) -> list[str]:
        """Keys of jobs that have values but are not successful evaluations."""
        rows = self._connection.execute(
            'SELECT DISTINCT key FROM jobs JOIN "values" ON job_id = id '
            "WHERE kind != 'evaluate' OR status != 'OK' ORDER BY key"
        )
        return [key for (key,) in rows]

    def planned_measures(self) -> list[sqlite3.Row]:
        """Measures of the latest plan with their settings, in the order of the plan."""
        return self._connection.execute(
            "SELECT settings, measures.* FROM planned_values "
            "JOIN measures ON measures.id = measure_id ORDER BY place, measures.id"
        ).fetchall()

    def evaluation(self, series_hash: str, settings: str) -> sqlite3.Row | None:
        """Latest successful evaluation of a series under these settings."""
        row: sqlite3.Row | None = self._connection.execute(
            "SELECT spec, buffer, buffer_reason FROM jobs WHERE series_hash = ? AND settings = ? "
            "AND kind = 'evaluate' AND status = 'OK' ORDER BY id DESC LIMIT 1",
            (series_hash, settings),
        ).fetchone()
        return row

    def unsuccessful_jobs(self, series_hash: str) -> dict[str, int]:
        """Number of failed and skipped jobs of the latest plan on a series, by status."""
        rows = self._connection.execute(
            "SELECT status, count(*) FROM jobs WHERE series_hash = ? AND status != 'OK' "
            "AND run_id = ? GROUP BY status",
            (series_hash, self.latest_run()["id"]),
        )
        return dict(rows.fetchall())

    # -- single jobs -----------------------------------------------------------------------------

    def find_job(self, key: str) -> sqlite3.Row:
        """Row of the job whose key starts with `key`.

        Raises
        ------
        InvalidInputError
            If there is no such job, or more than one.
        """
        rows = self._connection.execute(
            "SELECT * FROM jobs WHERE substr(key, 1, ?) = ? LIMIT 2", (len(key), key)
        ).fetchall()
        if len(rows) != 1 or not key:
            found = "several jobs; give more characters" if rows else "no job"
            raise InvalidInputError(
                f"`key` must be the key of a job, or its start, got {key!r}, which matches {found}"
            )
        row: sqlite3.Row = rows[0]
        return row

    def read_job(self, row: sqlite3.Row) -> Job:
        """Return the job of a row, with the names of the latest plan if known."""
        spec = json.loads(row["spec"])
        label, _ = self.names_of(row)
        if label is None:
            label = spec["detector"]["name"] if "detector" in spec else "unknown detector"
        found = self._connection.execute(_SERIES_FOR_JOB, (row["series_hash"],)).fetchone()
        series = SeriesRef(
            **{name: found[name] for name in SERIES_FACTS},
            source=SeriesSource(found["source"]),
        )
        return job_from_spec(
            row["kind"], spec, series=series, label=label, scores_hash=row["scores_hash"]
        )

    def successful_evaluations(self) -> list[str]:
        """Keys of all successful evaluations, sorted."""
        rows = self._connection.execute(
            "SELECT key FROM jobs WHERE kind = 'evaluate' AND status = 'OK' ORDER BY key"
        )
        return [key for (key,) in rows]

    def current_measures_of(self, row: sqlite3.Row) -> set[str]:
        """Measures of an evaluation that the latest plan requests in the same version."""
        if row["run_id"] != self.latest_run()["id"]:
            return set()
        rows = self._connection.execute(
            "SELECT name FROM job_measures JOIN measures ON measures.id = job_measures.measure_id "
            "JOIN planned_values ON planned_values.measure_id = measures.id "
            "WHERE job_id = ? AND planned_values.settings = ?",
            (row["id"], row["settings"]),
        )
        return {name for (name,) in rows}

    def values_of(self, key: str) -> dict[str, float]:
        """Values of one evaluation by measure."""
        rows = self._connection.execute(
            'SELECT measures.name, value FROM "values" JOIN jobs ON jobs.id = job_id '
            "JOIN measures ON measures.id = measure_id WHERE key = ?",
            (key,),
        )
        return dict(rows.fetchall())

    def portable_tables(self) -> dict[str, Rows]:
        """Results of the latest plan as plain tables, without details of the machine."""
        return portable_tables(self._connection)

    def score_sizes(self) -> dict[str, int]:
        """Number of points of each stored score, by digest."""
        rows = self._connection.execute("SELECT hash, n_points FROM scores ORDER BY hash")
        return dict(rows.fetchall())

    def score_digests(self) -> set[str]:
        """Digests of all stored scores."""
        return {digest for (digest,) in self._connection.execute("SELECT hash FROM scores")}


def find_damages(folder: Path) -> list[str]:
    """Return the problems that SQLite's integrity checks find in a store.

    Raises
    ------
    InvalidInputError
        If the folder has no store.
    """
    path = folder / DATABASE
    if not path.is_file():
        raise _no_run(folder)
    connection, _ = _opened(path)
    try:
        lines = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()
    loose = [f"{len(broken)} rows refer to missing rows"] * bool(broken)
    return [line for line in lines if line != "ok"] + loose


def open_store(folder: Path) -> StoreReader:
    """Open the store of a run folder for reading, also during a run.

    Raises
    ------
    InvalidInputError
        If the folder has no store, or one of another version.

    Examples
    --------
    >>> open_store(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    connection = _open_if_any(folder)
    if connection is None:
        raise _no_run(folder)
    return StoreReader(connection, folder)


def check_run_folder(folder: Path) -> None:
    """Refuse a folder with unrelated files, before anything is written to it.

    Raises
    ------
    InvalidInputError
        If the folder has files but no run.

    Examples
    --------
    >>> check_run_folder(Path("nowhere"))
    """
    if not folder.is_dir() or (folder / LOCK).is_file() or _has_tables(folder / DATABASE):
        return
    own = {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"} | _HARMLESS
    found = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if found:
        raise InvalidInputError(
            f"`folder` must be a new or empty folder or hold a benchmark run, got {str(folder)!r} "
            f"with {quoted(found, most=_SHOWN_ENTRIES)}; nothing was changed there. "
            f'Choose another folder in the plan, such as folder = "{folder / "run"}"'
        )


def _has_tables(path: Path) -> bool:
    """Whether the file is a store with tables; an error if it is something else."""
    if not path.is_file():
        return False
    connection, found = _opened(path)
    connection.close()
    return found


def open_store_or_empty(folder: Path) -> StoreReader:
    """Open a store like `open_store`, or an empty one if the folder is new or empty.

    Raises
    ------
    InvalidInputError
        If the store cannot be read, or the folder has other files but no run.

    Examples
    --------
    >>> open_store_or_empty(Path("nowhere")).known_series()
    {}
    """
    check_run_folder(folder)
    connection = _open_if_any(folder)
    if connection is None:
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        create_schema(connection)
    return StoreReader(connection, folder)


def _open_if_any(folder: Path) -> sqlite3.Connection | None:
    path = folder / DATABASE
    if not path.is_file():
        return None
    connection, found = _opened(path)
    if not found:
        connection.close()
        return None
    connection.row_factory = sqlite3.Row
    return connection


def _no_run(folder: Path) -> InvalidInputError:
    return InvalidInputError(f"`folder` must hold a benchmark run, got {str(folder)!r}")


def _opened(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Connection, and whether there are tables."""
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError as reason:
        # Readers of a write-ahead log need a shared file next to it. It cannot be created on a
        # read-only disk or in another user's folder, where no process can write to the store.
        log = path.with_name(f"{path.name}-wal")
        try:
            if log.is_file() and log.stat().st_size:
                return _copied(path, log)
            return _connected(path, "mode=ro&immutable=1")
        except (OSError, sqlite3.OperationalError):
            raise InvalidInputError(f"{path} must be a readable store, got: {reason}") from reason


def _connected(path: Path, options: str) -> tuple[sqlite3.Connection, bool]:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{options}", uri=True, timeout=WAIT_SECONDS
    )
    try:
        return connection, has_tables(connection, str(path))
    except BaseException:
        connection.close()
        raise


def _copied(path: Path, log: Path) -> tuple[sqlite3.Connection, bool]:
    """Read a store whose last transactions are still in the log of a killed run."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder) / file.name)
        copy, found = _connected(Path(folder) / path.name, "mode=rw")
        memory = sqlite3.connect(":memory:")
        copy.backup(memory)
        copy.close()
    return memory, found
