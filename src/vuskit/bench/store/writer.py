"""Write to the store of a run folder: one SQLite file, one writer, atomic transactions."""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from vuskit import __version__
from vuskit._util.environment import installed_versions
from vuskit._util.escapes import escape_surrogates
from vuskit.bench.identity import canonical, values_checksum
from vuskit.bench.jobs import (
    EvaluateJob,
    EvaluateResult,
    ImportJob,
    Job,
    Kind,
    MeasureSpec,
    MeasureVersion,
    ScoreJob,
    ScoreResult,
    SeriesRef,
)
from vuskit.bench.plan import Plan
from vuskit.bench.store.reader import (
    DATABASE,
    LOCK,
    SERIES_FACTS,
    WAIT_SECONDS,
    StoreReader,
    check_run_folder,
    path_to_text,
)
from vuskit.bench.store.schema import create_schema, has_tables
from vuskit.bench.store.score_files import ScoreFiles
from vuskit.engine import Outcome, Status
from vuskit.errors import VuskitError
from vuskit.kernels.backend import core_name

__all__ = ["BenchStorageError", "Store", "is_gone"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "stumpy", "torch")
_FACTS = ("title", "family", "lowest", "highest", "higher_is_better", "reference")
_CONTENT = tuple(fact for fact in SERIES_FACTS if fact not in ("dataset", "name"))
_ENTER_SERIES = (
    f"INSERT OR IGNORE INTO series ({', '.join(_CONTENT)}) "
    f"VALUES ({', '.join('?' for _ in _CONTENT)})"
)
_ENTER_MEASURE = (
    f"INSERT INTO measures (name, version, {', '.join(_FACTS)}) "
    f"VALUES (?, ?, {', '.join('?' for _ in _FACTS)}) ON CONFLICT (name, version) DO UPDATE SET "
    + ", ".join(f"{fact} = excluded.{fact}" for fact in _FACTS)
)


class BenchStorageError(VuskitError):
    """The run folder cannot be written: full, read-only, or in use by another run."""


class _TextSafeConnection(sqlite3.Connection):
    """Escapes lone surrogates, which SQLite cannot store, so that no name can stop a run."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql, _storable(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, map(_storable, parameters))


def _storable(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {
            key: escape_surrogates(value) if isinstance(value, str) else value
            for key, value in parameters.items()
        }
    return tuple(
        escape_surrogates(value) if isinstance(value, str) else value for value in parameters
    )


class Store(StoreReader):
    """The only writer of a run folder.

    Parameters
    ----------
    folder : str or Path
        New, empty, or with a run. Created if it does not exist.

    Raises
    ------
    BenchStorageError
        If the folder cannot be written or another process writes to it.
    InvalidInputError
        If the folder has other files but no run, or a store of another version. Nothing is
        changed in this case.

    Examples
    --------
    >>> import tempfile
    >>> with Store(tempfile.mkdtemp()) as store:
    ...     store.integrity()
    'ok'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        check_run_folder(self.folder)
        with _storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(self.folder / LOCK)
            try:
                super().__init__(self._connect(), self.folder)
            except BaseException:
                os.close(self._lock)
                raise
        self.files = ScoreFiles(self.folder)
        self.files.clean()
        self._mark_killed_runs()
        self.run_id: int | None = None
        self._measure_ids: dict[MeasureVersion, int] = {}
        self._environment_ids: dict[str, int] = {}

    def _connect(self) -> sqlite3.Connection:
        path = self.folder / DATABASE
        # Transactions are explicit, see `transaction`.
        connection = sqlite3.connect(
            path, timeout=WAIT_SECONDS, isolation_level=None, factory=_TextSafeConnection
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if not has_tables(connection, str(path)):
                connection.execute("PRAGMA journal_mode = WAL")
                create_schema(connection)
        except BaseException:
            connection.close()
            raise
        # In WAL mode, data survive any crash of the process. A power failure can lose the last
        # transactions, but cannot damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _mark_killed_runs(self) -> None:
        """Mark unfinished runs as interrupted: this process has the lock, so they have ended."""
        killed = self._connection.execute("SELECT 1 FROM runs WHERE state = 'running'").fetchone()
        if killed is not None:
            with self.transaction() as connection:
                connection.execute(
                    "UPDATE runs SET state = 'interrupted', finished = NULL WHERE state = 'running'"
                )

    def close(self) -> None:
        """Close the file and release the lock."""
        self.files.clean()
        super().close()
        os.close(self._lock)

    def integrity(self) -> str:
        """Result of SQLite's integrity check; ``ok`` if the file is intact."""
        return str(self._connection.execute("PRAGMA integrity_check").fetchone()[0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction.

        Raises
        ------
        BenchStorageError
            If the store cannot be written.
        """
        with _storage_errors(self.folder):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    # -- series --------------------------------------------------------------------------------

    def add_series(self, series: Iterable[tuple[SeriesRef, str]]) -> None:
        """Save series with the stamps of their sources and their input files."""
        with self.transaction() as connection:
            for ref, stamp in series:
                connection.execute(_ENTER_SERIES, tuple(getattr(ref, name) for name in _CONTENT))
                connection.execute(
                    "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (ref.source.spec, stamp, ref.dataset, ref.name, ref.hash,
                     json.dumps(ref.left_out), json.dumps(ref.files)),
                )  # fmt: skip

    # -- runs ----------------------------------------------------------------------------------

    def begin_run(
        self,
        plan: Plan,
        jobs: Iterable[ScoreJob | ImportJob],
        *,
        done: Iterable[int],
        executor: str,
        notes: list[str],
    ) -> int:
        """Record the start of a run.

        Parameters
        ----------
        plan : Plan
            The plan.
        jobs : iterable of ScoreJob or ImportJob
            Its jobs; their names replace those of the previous plan.
        done : iterable of int
            Ids of finished jobs that belong to the plan.
        executor : str
            Description of the executor.
        notes : list of str
            Notes about the files of the plan.
        """
        with self.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (started, state, host, pid, vuskit, environment, executor, plan, "
                "base, imports, notes, progress) "
                "VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}')",
                (_now(), platform.node(), os.getpid(), __version__, _environment(),
                 executor, plan.text, path_to_text(plan.base), json.dumps(plan.imports),
                 json.dumps(notes)),
            )  # fmt: skip
            self.run_id = cursor.lastrowid
            self._enter_names(connection, plan, jobs)
            self._enter_code(connection, plan)
            self._adopt(connection, done)
        assert self.run_id is not None
        return self.run_id

    def _enter_names(
        self, connection: sqlite3.Connection, plan: Plan, jobs: Iterable[ScoreJob | ImportJob]
    ) -> None:
        """Replace the names of the previous plan."""
        for table in ("planned_scores", "planned_series", "planned_values"):
            connection.execute(f"DELETE FROM {table}")
        series: dict[str, SeriesRef] = {}
        for job in jobs:
            series.setdefault(job.series.hash, job.series)
            connection.execute(
                "INSERT OR IGNORE INTO planned_scores VALUES (?, ?, ?, ?)",
                (job.key, job.label, job.seed, job.series.hash),
            )
        connection.executemany(
            "INSERT INTO planned_series (hash, dataset, name, source, files) "
            "VALUES (?, ?, ?, ?, ?)",
            [
                (ref.hash, ref.dataset, ref.name, ref.source.spec, json.dumps(ref.files))
                for ref in series.values()
            ],
        )
        wanted = [(e.text, measure) for e in plan.evaluations for measure in e.measures]
        self._enter_measures(connection, (measure for _, measure in wanted))
        connection.executemany(
            "INSERT OR IGNORE INTO planned_values VALUES (?, ?, ?)",
            [
                (settings, self._measure_ids[measure.identity], place)
                for place, (settings, measure) in enumerate(wanted)
            ],
        )

    def _enter_code(self, connection: sqlite3.Connection, plan: Plan) -> None:
        """Save the code parts of a plan, so that later changes can be described."""
        digests = [detector.digest for detector in plan.detectors]
        digests += [measure.digest for entry in plan.evaluations for measure in entry.measures]
        connection.executemany(
            "INSERT OR IGNORE INTO code_parts VALUES (?, ?, ?)",
            [(one.version, *part) for one in digests for part in one.parts.items()],
        )

    def _environment_id(self, connection: sqlite3.Connection, job: Job) -> int:
        """Id of the row with the core and the library versions of a job."""
        libraries = sorted({x for one in job.code_digests().values() for x in one.libraries})
        versions = canonical({**_versions_of(tuple(libraries)), "core": core_name()})
        if versions not in self._environment_ids:
            connection.execute(
                "INSERT OR IGNORE INTO environments (versions) VALUES (?)", (versions,)
            )
            (self._environment_ids[versions],) = connection.execute(
                "SELECT id FROM environments WHERE versions = ?", (versions,)
            ).fetchone()
        return self._environment_ids[versions]

    def end_run(self, state: str, *, notes: list[str] | None = None) -> None:
        """Record how the run ended, and new notes if given."""
        with self.transaction() as connection:
            if notes is not None:
                connection.execute(
                    "UPDATE runs SET notes = ? WHERE id = ?", (json.dumps(notes), self.run_id)
                )
            connection.execute(
                "UPDATE runs SET state = ?, finished = ? WHERE id = ?", (state, _now(), self.run_id)
            )

    def note_progress(self, progress: dict[str, Any]) -> None:
        """Save the progress for ``vuskit bench status`` in another terminal."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE runs SET progress = ? WHERE id = ?", (json.dumps(progress), self.run_id)
            )

    # -- jobs ----------------------------------------------------------------------------------

    def adopt(self, job_ids: Iterable[int]) -> None:
        """Count finished jobs of earlier runs as part of this one."""
        with self.transaction() as connection:
            self._adopt(connection, job_ids)

    def _adopt(self, connection: sqlite3.Connection, job_ids: Iterable[int]) -> None:
        connection.executemany(
            "UPDATE jobs SET run_id = ? WHERE id = ?",
            ((self.run_id, job_id) for job_id in job_ids),
        )

    def count_failed(self) -> int:
        """Number of failed jobs of this run, including adopted ones."""
        failed = [status for status in Status if status.failed]
        marks = ", ".join("?" * len(failed))
        count: int = self._connection.execute(
            f"SELECT count(*) FROM jobs WHERE run_id = ? AND status IN ({marks})",
            (self.run_id, *failed),
        ).fetchone()[0]
        return count

    def record(self, results: Iterable[tuple[Job, Outcome]]) -> dict[str, str]:
        """Save finished jobs, scores first, and return the digests of the scores by job key.

        Raises
        ------
        BenchStorageError
            If the disk is full or read-only; no job of the batch is saved in this case.
        """
        batch = list(results)
        digests: dict[str, str] = {}
        with _storage_errors(self.folder):
            for job, outcome in batch:
                if isinstance(outcome.value, ScoreResult):
                    digests[job.key] = self.files.write(outcome.value.scores)
        with self.transaction() as connection:
            for job, outcome in batch:
                self._insert(connection, job, outcome, digests.get(job.key))
        return digests

    def _insert(
        self, connection: sqlite3.Connection, job: Job, outcome: Outcome, digest: str | None
    ) -> None:
        scored = outcome.value if isinstance(outcome.value, ScoreResult) else None
        evaluated = outcome.value if isinstance(outcome.value, EvaluateResult) else None
        if scored is not None:
            connection.execute(
                "INSERT OR IGNORE INTO scores VALUES (?, ?)", (digest, scored.scores.size)
            )
        row = {
            "key": job.key,
            "kind": job.kind,
            "status": outcome.status,
            "run_id": self.run_id,
            "series_hash": job.series.hash,
            "settings": job.settings,
            "code": job.code,
            "scores_hash": job.scores_hash if isinstance(job, EvaluateJob) else digest,
            "spec": canonical(job.spec()),
            "fit_seconds": scored and scored.fit_seconds,
            "score_seconds": scored and scored.score_seconds,
            "seconds": outcome.seconds,
            "peak_bytes": outcome.peak_bytes,
            "cold": int(scored is not None and scored.cold),
            "worker": outcome.worker,
            "finished": _now(),
            "buffer": evaluated and evaluated.buffer,
            "buffer_reason": evaluated and evaluated.buffer_reason,
            "message": outcome.message,
            "traceback": outcome.traceback,
            "warm_up_seconds": outcome.warm_up_seconds,
            "checksum": evaluated and values_checksum(evaluated.values),
            "environment_id": self._environment_id(connection, job),
        }
        marks = ", ".join("?" * len(row))
        cursor = connection.execute(
            f"INSERT INTO jobs ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
        if isinstance(job, EvaluateJob):
            values = {} if evaluated is None else evaluated.values
            self._insert_values(connection, job, values, cursor.lastrowid)

    def _insert_values(
        self,
        connection: sqlite3.Connection,
        job: EvaluateJob,
        values: dict[str, float],
        row: int | None,
    ) -> None:
        self._enter_measures(connection, job.measures)
        ids = {one.name: self._measure_ids[one] for one in job.measure_identities}
        connection.executemany(
            "INSERT INTO job_measures VALUES (?, ?)", [(row, number) for number in ids.values()]
        )
        connection.executemany(
            'INSERT INTO "values" VALUES (?, ?, ?)',
            [(row, ids[name], value) for name, value in values.items()],
        )

    def _enter_measures(self, connection: sqlite3.Connection, specs: Iterable[MeasureSpec]) -> None:
        """Save the metadata of measures, for readers without the modules that define them."""
        for spec in specs:
            if spec.identity in self._measure_ids:
                continue
            measure = spec.build()
            lowest, highest = measure.bounds
            facts = (measure.title, measure.family, lowest, highest,
                     int(measure.higher_is_better), measure.reference)  # fmt: skip
            connection.execute(_ENTER_MEASURE, (*spec.identity, *facts))
            (self._measure_ids[spec.identity],) = connection.execute(
                "SELECT id FROM measures WHERE name = ? AND version = ?", spec.identity
            ).fetchone()

    def forget_scores(self, digests: Iterable[str]) -> int:
        """Remove damaged score files, their score jobs, and evaluations that failed on them.

        The next run repeats these jobs. Returns the number of removed jobs.
        """
        count = 0
        failed = [status for status in Status if status.failed]
        marks = ", ".join("?" * len(failed))
        with self.transaction() as connection:
            for digest in digests:
                self.files.path(digest).unlink(missing_ok=True)
                cursor = connection.execute(
                    "DELETE FROM jobs WHERE scores_hash = ? "
                    f"AND (kind != ? OR status IN ({marks}))",
                    (digest, Kind.EVALUATE, *failed),
                )
                count += cursor.rowcount
        return count

    def forget(
        self, statuses: Iterable[Status], *, of: Callable[[str, str], bool] | None = None
    ) -> int:
        """Remove jobs with these statuses, so that the next run repeats them.

        Parameters
        ----------
        statuses : iterable of Status
            Statuses of the jobs to remove.
        of : callable, optional
            Called with the detector and the series (data set and name) of a job; returns whether
            to remove it. Default: remove all.

        Returns
        -------
        int
            Number of removed jobs.
        """
        wanted = tuple(statuses)
        marks = ", ".join("?" * len(wanted))
        with self.transaction() as connection:
            rows = connection.execute(
                "SELECT jobs.*, dataset || '/' || name AS series FROM jobs "
                f"LEFT JOIN planned_series ON hash = series_hash WHERE status IN ({marks})",
                wanted,
            ).fetchall()
            chosen = [
                row
                for row in rows
                if of is None or of(self.names_of(row)[0] or "", row["series"] or "")
            ]
            ids = [(row["id"],) for row in chosen]
            connection.executemany("DELETE FROM jobs WHERE id = ?", ids)
        return len(ids)


def _now() -> str:
    """Current time in UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@contextlib.contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    """Convert errors of the disk and of SQLite to `BenchStorageError`."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BenchStorageError(
            f"`folder` must be writable and have space left, got {str(folder)!r}: {reason}. "
            "Finished jobs are kept; fix the problem and run the same command again"
        ) from error


@functools.lru_cache(maxsize=256)
def _versions_of(libraries: tuple[str, ...]) -> dict[str, str]:
    return installed_versions(libraries)


def _environment() -> str:
    """Versions of Python and of libraries that affect results, and the core."""
    versions = {"python": platform.python_version(), "core": core_name()}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return json.dumps(versions)


def is_gone(host: str, pid: int) -> bool:
    """Whether a process is known to have ended; False for processes on other machines.

    Examples
    --------
    >>> is_gone(platform.node(), os.getpid()), is_gone("another machine", 1)
    (False, False)
    """
    if host != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _take_lock(path: Path) -> int:
    """Lock a file until this process ends, and return its descriptor."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not a POSIX system; SQLite's locks must suffice
        pass
    except BlockingIOError:
        owner = os.read(handle, 32).decode(errors="replace").strip()
        os.close(handle)
        raise BenchStorageError(
            f"`folder` must not be in use, got {str(path.parent)!r}: process {owner} is writing to "
            "it; wait until that run has ended"
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle
