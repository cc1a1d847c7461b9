"""The store of a run folder: one SQLite file, one writer, any number of readers."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from vuskit import __version__
from vuskit.bench.files import ScoreFiles
from vuskit.bench.identity import canonical
from vuskit.bench.jobs import EvaluateJob, Job, Outcome
from vuskit.bench.knowledge import SERIES_FACTS, Knowledge
from vuskit.bench.plan_parts import Plan
from vuskit.bench.reading import DATABASE, WAIT_SECONDS
from vuskit.bench.schema import (
    SCHEMA_VERSION,
    create_schema,
    migrate_schema,
    stored_version,
)
from vuskit.bench.sources import SeriesRef
from vuskit.bench.specs import MeasureSpec
from vuskit.bench.states import Kind, Status
from vuskit.bench.storage import environment, now, storage_errors, take_lock

__all__ = ["Store"]

_LOCK = "lock"
_FACTS = ("title", "family", "lowest", "highest", "higher_is_better", "reference")
_ENTER_SERIES = (
    f"INSERT INTO series ({', '.join(SERIES_FACTS)}) "
    f"VALUES ({', '.join('?' for _ in SERIES_FACTS)}) "
    "ON CONFLICT (hash) DO UPDATE SET n_missing = excluded.n_missing"
)
_ENTER_MEASURE = (
    f"INSERT INTO measures (identity, name, {', '.join(_FACTS)}) "
    f"VALUES (?, ?, {', '.join('?' for _ in _FACTS)}) ON CONFLICT (identity) DO UPDATE SET "
    + ", ".join(f"{fact} = excluded.{fact}" for fact in _FACTS)
)


class Store(Knowledge):
    """The one writer of a run folder.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist.

    Raises
    ------
    BenchStorageError
        If the folder cannot be written or another process writes to it.
    InvalidInputError
        If it holds a store of another version.

    Examples
    --------
    >>> import tempfile
    >>> with Store(tempfile.mkdtemp()) as store:
    ...     store.integrity()
    'ok'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(self.folder / _LOCK)
            try:
                super().__init__(self._connect())
            except BaseException:
                os.close(self._lock)
                raise
        self.files = ScoreFiles(self.folder)
        self.files.clean()
        self.run_id: int | None = None
        self._measure_ids: dict[str, int] = {}

    def _connect(self) -> sqlite3.Connection:
        path = self.folder / DATABASE
        # Transactions are begun and ended by hand.
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            version = stored_version(connection, str(path))
            if not version:
                connection.execute("PRAGMA journal_mode = WAL")
                create_schema(connection)
            elif version < SCHEMA_VERSION:
                migrate_schema(connection, version)
        except BaseException:
            connection.close()
            raise
        # In WAL mode this survives every crash of the process; only a power failure can take
        # the last moments back, never break the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let others write."""
        self.files.clean()
        super().close()
        os.close(self._lock)

    def integrity(self) -> str:
        """Result of SQLite's own check of the file: ``ok``."""
        return str(self._connection.execute("PRAGMA integrity_check").fetchone()[0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing.

        Raises
        ------
        BenchStorageError
            If it cannot be written.
        """
        with storage_errors(self.folder):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    # -- series --------------------------------------------------------------------------------

    def add_series(self, series: Iterable[tuple[SeriesRef, str]]) -> None:
        """Enter series with the stamps of their sources."""
        with self.transaction() as connection:
            for ref, stamp in series:
                connection.execute(
                    _ENTER_SERIES, tuple(getattr(ref, name) for name in SERIES_FACTS)
                )
                connection.execute(
                    "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)",
                    (ref.source.spec, stamp, ref.dataset, ref.name, ref.hash,
                     json.dumps(ref.left_out)),
                )  # fmt: skip

    # -- runs ----------------------------------------------------------------------------------

    def begin_run(self, plan: Plan, *, executor: str, notes: list[str]) -> int:
        """Enter that a run begins; one that never said it ended was killed."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE runs SET state = 'interrupted', finished = NULL WHERE state = 'running'"
            )
            cursor = connection.execute(
                "INSERT INTO runs (started, state, host, pid, vuskit, environment, executor, plan, "
                "base, imports, wanted, notes, progress) "
                "VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}')",
                (now(), platform.node(), os.getpid(), __version__, environment(),
                 executor, plan.text, str(plan.base), json.dumps(plan.imports),
                 json.dumps(plan.wanted), json.dumps(notes)),
            )  # fmt: skip
            self.run_id = cursor.lastrowid
            self._enter_measures(
                connection, (one for entry in plan.evaluations for one in entry.measures)
            )
        assert self.run_id is not None
        return self.run_id

    def end_run(self, state: str) -> None:
        """Enter how the run ended."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE runs SET state = ?, finished = ? WHERE id = ?", (state, now(), self.run_id)
            )

    def note_progress(self, progress: dict[str, Any]) -> None:
        """Leave word for ``status`` in another terminal."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE runs SET progress = ? WHERE id = ?", (json.dumps(progress), self.run_id)
            )

    # -- jobs ----------------------------------------------------------------------------------

    def adopt(self, job_ids: Iterable[int]) -> None:
        """Count finished jobs of earlier runs as part of this one."""
        with self.transaction() as connection:
            connection.executemany(
                "UPDATE jobs SET run_id = ? WHERE id = ?",
                ((self.run_id, job_id) for job_id in job_ids),
            )

    def count_failed(self) -> int:
        """Jobs of this run that went wrong, adopted ones included."""
        failed = [status for status in Status if status.failed]
        marks = ", ".join("?" * len(failed))
        count: int = self._connection.execute(
            f"SELECT count(*) FROM jobs WHERE run_id = ? AND status IN ({marks})",
            (self.run_id, *failed),
        ).fetchone()[0]
        return count

    def record(self, results: Iterable[tuple[Job, Outcome]]) -> dict[str, str]:
        """Enter finished jobs, their scores first; return the scores' digests by key.

        Raises
        ------
        BenchStorageError
            If the disk is full or read-only; nothing of the batch is entered then.
        """
        batch = list(results)
        digests: dict[str, str] = {}
        with storage_errors(self.folder):
            for job, outcome in batch:
                if outcome.scores is not None:
                    digests[job.key] = self.files.write(outcome.scores)
        with self.transaction() as connection:
            for job, outcome in batch:
                self._insert(connection, job, outcome, digests.get(job.key))
        return digests

    def _insert(
        self, connection: sqlite3.Connection, job: Job, outcome: Outcome, digest: str | None
    ) -> None:
        if digest is not None and outcome.scores is not None:
            connection.execute(
                "INSERT OR IGNORE INTO scores VALUES (?, ?)", (digest, outcome.scores.size)
            )
        measures = job.measure_identities if isinstance(job, EvaluateJob) else None
        row = {
            "key": job.key,
            "kind": job.kind,
            "status": outcome.status,
            "run_id": self.run_id,
            "series_hash": job.series.hash,
            "label": job.label,
            "identity": job.identity,
            "seed": job.seed,
            "scores_hash": job.scores_hash if isinstance(job, EvaluateJob) else digest,
            "measures": None if measures is None else json.dumps(measures),
            "spec": canonical(job.spec()),
            "fit_seconds": outcome.fit_seconds,
            "score_seconds": outcome.score_seconds,
            "seconds": outcome.seconds,
            "peak_bytes": outcome.peak_bytes,
            "cold": int(outcome.cold),
            "worker": outcome.worker,
            "finished": now(),
            "buffer": outcome.buffer,
            "buffer_reason": outcome.buffer_reason,
            "message": outcome.message,
            "traceback": outcome.traceback,
            "command": None if outcome.status is Status.OK else self.command(job.key),
            "warm_up_seconds": outcome.warm_up_seconds,
        }
        marks = ", ".join("?" * len(row))
        cursor = connection.execute(
            f"INSERT INTO jobs ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
        if isinstance(job, EvaluateJob) and outcome.values is not None:
            self._enter_measures(connection, job.measures)
            ids = {
                identity.rpartition(" @ ")[0]: self._measure_ids[identity]
                for identity in job.measure_identities
            }
            connection.executemany(
                'INSERT INTO "values" VALUES (?, ?, ?)',
                [(cursor.lastrowid, ids[name], value) for name, value in outcome.values.items()],
            )

    def _enter_measures(self, connection: sqlite3.Connection, specs: Iterable[MeasureSpec]) -> None:
        """Enter what is known of measures, for readers that cannot import the user's modules."""
        for spec in specs:
            if spec.identity in self._measure_ids:
                continue
            measure = spec.build()
            lowest, highest = measure.bounds
            facts = (measure.title, measure.family, lowest, highest,
                     int(measure.higher_is_better), measure.reference)  # fmt: skip
            connection.execute(_ENTER_MEASURE, (spec.identity, measure.name, *facts))
            (self._measure_ids[spec.identity],) = connection.execute(
                "SELECT id FROM measures WHERE identity = ?", (spec.identity,)
            ).fetchone()

    def command(self, key: str) -> str:
        """Return the command that does a job again, in the open."""
        return shlex.join(["vuskit", "bench", "run-job", str(self.folder), key])

    def forget_scores(self, digests: Iterable[str]) -> int:
        """Remove broken score files and the jobs that made them, so that the next run does both."""
        count = 0
        with self.transaction() as connection:
            for digest in digests:
                self.files.path(digest).unlink(missing_ok=True)
                cursor = connection.execute(
                    "DELETE FROM jobs WHERE scores_hash = ? AND kind != ?", (digest, Kind.EVALUATE)
                )
                count += cursor.rowcount
        return count

    def forget(
        self, statuses: Iterable[Status], *, of: Callable[[str, str], bool] | None = None
    ) -> int:
        """Remove jobs with these statuses, so that the next run does them again.

        Parameters
        ----------
        statuses : iterable of Status
            How they ended.
        of : callable, optional
            Called with the detector and the series (data set and name) of a job; whether it is
            meant. All are, unless given.

        Returns
        -------
        int
            How many there were.
        """
        wanted = tuple(statuses)
        marks = ", ".join("?" * len(wanted))
        with self.transaction() as connection:
            rows = connection.execute(
                "SELECT id, label, dataset || '/' || name FROM jobs "
                f"JOIN series ON hash = series_hash WHERE status IN ({marks})",
                wanted,
            ).fetchall()
            ids = [(job,) for job, detector, series in rows if of is None or of(detector, series)]
            connection.executemany("DELETE FROM jobs WHERE id = ?", ids)
        return len(ids)
