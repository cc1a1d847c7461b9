"""The store of a folder or a pack: one class with one small interface."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import platform
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.files import PRIVATE_PREFIX, atomic_path
from vuskit._util.optional import installed_versions
from vuskit._util.text import escape_surrogates, quoted
from vuskit.engine import Outcome, Status, Task
from vuskit.errors import ChangedInputError, InvalidInputError, VuskitError
from vuskit.store.identity import canonical, scores_digest

if TYPE_CHECKING:
    from vuskit.store.pack import Archive

DATABASE = "results.sqlite"
LOCK = f"{PRIVATE_PREFIX}lock"  # also marks a folder as one of vuskit
SCORES = "scores"

_SCRATCH = f"{PRIVATE_PREFIX}tmp-"
# Created by operating systems and git; a folder with only these counts as empty.
_HARMLESS = {".DS_Store", ".gitignore", ".gitkeep", "Thumbs.db", "desktop.ini", "lost+found"}
_SHOWN_ENTRIES = 3
_WAIT_SECONDS = 60  # for another process that is writing
_KEY = re.compile("[0-9a-f]{32}")

Scores = NDArray[np.float64]


class StoreError(VuskitError):
    """A folder cannot be written: full, read-only, or in use by another process."""


class DamagedStoreError(InvalidInputError):
    """The file of a store is damaged."""


@dataclass(frozen=True)
class Result:
    """A finished task."""

    key: str
    kind: str
    status: Status
    parent: str | None
    about_json: str = field(repr=False)
    stored: str | bytes | None = field(repr=False)
    digest: str | None
    seconds: float | None
    warm_up_seconds: float | None
    peak_bytes: int | None
    worker: str | None
    environment_json: str = field(repr=False)
    finished: str
    message: str | None
    traceback: str | None

    @cached_property
    def about(self) -> dict[str, Any]:
        """Data, code and settings that the key is a digest of."""
        return _object(self.key, "about", self.about_json)

    @cached_property
    def value(self) -> Any:
        """What the task returned, without scores; None if it failed."""
        if not isinstance(self.stored, str):
            return self.stored
        return _loaded(self.key, "value", self.stored)

    @cached_property
    def environment(self) -> dict[str, str]:
        """Library versions and the core."""
        return _object(self.key, "environment", self.environment_json)


@dataclass(frozen=True)
class Named:
    """A task of the latest plan with its names."""

    key: str
    kind: str
    parent: str | None
    dataset: str
    series: str
    hash: str
    detector: str
    seed: int | None = None
    settings: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Start:
    """A start of the command; see the table ``starts``."""

    id: int
    started: str
    finished: str | None
    state: str
    host: str
    pid: int
    vuskit: str
    environment: dict[str, str]
    executor: str
    plan: str
    base: str
    imports: tuple[str, ...]
    notes: tuple[str, ...]
    progress: dict[str, Any]


_RESULT_NAMES = (
    "key", "kind", "status", "parent", "about", "value", "digest", "seconds", "warm_up_seconds",
    "peak_bytes", "worker", "environment", "finished", "message", "traceback",
)  # fmt: skip
_RESULT = ", ".join(f"results.{name}" for name in _RESULT_NAMES)
_NAMED = ", ".join(f"planned.{one.name}" for one in dataclasses.fields(Named))
_FINISHED = "FROM planned JOIN results USING (key)"
_START_JSON = ("environment", "imports", "notes", "progress")


class Store:
    """Results of tasks in a folder: one SQLite file, one writer, and score files.

    Creating a `Store` opens it for writing. `Store.read` opens a folder or a pack for reading, also
    while another process writes, and on read-only disks.

    Parameters
    ----------
    folder : str or Path
        New, empty, or with a store. Created if it does not exist.

    Raises
    ------
    StoreError
        If the folder cannot be written or another process writes to it.
    InvalidInputError
        If the folder has other files but no store, or a store of another version. Nothing is
        changed in this case.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.engine import Outcome, Status, Task
    >>> from vuskit.store import Store
    >>> task = Task("a" * 32, "a square", None, "square", {"number": 3})
    >>> with Store(tempfile.mkdtemp()) as store:
    ...     store.save([(task, Outcome(Status.OK, 9))])
    ...     store.get(task.key).value
    9
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.archive: Archive | None = None
        self._lock: int | None = None
        _check_folder(self.folder)
        with self._storage_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(self.folder / LOCK)
            try:
                self._connection = self._connect()
            except BaseException:
                os.close(self._lock)
                raise
        self._clean()
        self._scratch: Path | None = None
        self._start: int | None = None
        self._environments: dict[tuple[str, ...], str] = {}
        self._remove_unsaved_scores()
        # This process has the lock, so earlier starts have ended.
        if self._rows("SELECT 1 FROM starts WHERE state = 'running'"):
            with self._transaction():
                self._execute("UPDATE starts SET state = 'interrupted' WHERE state = 'running'")

    @classmethod
    def read(cls, place: str | Path) -> Self:
        """Open a folder or a pack for reading.

        Raises
        ------
        InvalidInputError
            If there is no store, or one of another version.

        Examples
        --------
        >>> Store.read("nowhere")
        Traceback (most recent call last):
        vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
        """
        path = Path(place)
        if path.suffix.lower() == ".zip" and path.is_file():
            from vuskit.store.pack import Archive

            archive = Archive(path)
            return cls._reader(path, archive.connection(), archive)
        connection = _open_if_any(path)
        if connection is None:
            raise InvalidInputError(f"`folder` must hold a benchmark run, got {str(path)!r}")
        return cls._reader(path, connection)

    @classmethod
    def read_or_empty(cls, folder: str | Path) -> Self:
        """Open a folder for reading like `read`, or as an empty store if it is new or empty.

        Raises
        ------
        InvalidInputError
            If the store cannot be read, or the folder has other files but no store.
        """
        _check_folder(Path(folder))
        return cls._reader(Path(folder), _open_if_any(Path(folder)) or memory_store())

    @classmethod
    def _reader(
        cls, folder: Path, connection: sqlite3.Connection, archive: Archive | None = None
    ) -> Self:
        found = cls.__new__(cls)
        found.folder, found.archive, found._lock = folder, archive, None
        found._connection = connection
        return found

    def _connect(self) -> sqlite3.Connection:
        path = self.folder / DATABASE
        # Transactions are explicit, see `_transaction`.
        connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if not has_tables(connection, str(path)):
                connection.execute("PRAGMA journal_mode = WAL")
                create_schema(connection)
            # In WAL mode, data survive any crash of the process. A power failure can lose the last
            # transactions, but cannot damage the file.
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def writable(self) -> bool:
        """Whether this process writes to the store."""
        return self._lock is not None

    def close(self) -> None:
        """Close the files and release the lock."""
        if self._lock is not None:
            self._clean()
        self._connection.close()
        if self.archive is not None:
            self.archive.close()
        if self._lock is not None:
            os.close(self._lock)

    # -- results ---------------------------------------------------------------------------------

    def statuses(self) -> dict[str, Status]:
        """Statuses of all results by key."""
        with self._damage():
            rows = self._rows("SELECT key, status FROM results")
            return {key: Status(status) for key, status in rows}

    def get(self, key: str) -> Result | None:
        """Result of a task; None if it is not finished."""
        rows = self._rows(f"SELECT {_RESULT} FROM results WHERE key = ?", key)
        return self._result(rows[0]) if rows else None

    def find(self, key: str) -> Result:
        """Result whose key starts with `key`.

        Raises
        ------
        InvalidInputError
            If there is no such result, or more than one.
        """
        rows = self._rows(
            f"SELECT {_RESULT} FROM results WHERE substr(key, 1, ?) = ? LIMIT 2", len(key), key
        )
        if len(rows) != 1 or not key:
            found = "several jobs; give more characters" if rows else "no job"
            raise InvalidInputError(
                f"`key` must be the key of a job, or its start, got {key!r}, which matches {found}"
            )
        return self._result(rows[0])

    def results(self) -> Iterator[Result]:
        """All results, also of earlier plans, in the order they finished."""
        return map(self._result, self._rows(f"SELECT {_RESULT} FROM results ORDER BY id"))

    def planned(self, **names: str) -> Iterator[tuple[Named, Result | None]]:
        """Tasks of the latest plan in its order, each with its result.

        Parameters
        ----------
        **names : str
            Values of `Named` that the tasks must have, such as ``hash``. Default: all tasks.
        """
        wanted = " AND ".join(f"planned.{name} = ?" for name in names)
        return self._pairs(wanted or "true", tuple(names.values()))

    def _pairs(
        self, wanted: str, parameters: Sequence[str]
    ) -> Iterator[tuple[Named, Result | None]]:
        count = len(dataclasses.fields(Named))
        for row in self._rows(
            f"SELECT {_NAMED}, {_RESULT} FROM planned LEFT JOIN results "
            f"ON results.key = planned.key WHERE {wanted} ORDER BY place",
            *parameters,
        ):
            named, found = row[:count], row[count:]
            yield Named(*named), None if found[0] is None else self._result(found)

    def failures(self) -> list[tuple[Named, Result]]:
        """Failed tasks of the latest plan, each under its first names; the latest comes first."""
        found = self._pairs("status NOT IN ('OK', 'SKIPPED')", ())
        once = {named.key: (named, result) for named, result in reversed(list(found)) if result}
        return sorted(once.values(), key=lambda pair: pair[1].finished, reverse=True)

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of finished tasks of the latest plan by detector, kind and status.

        The empty name counts those of all detectors, each task once.
        """
        return {
            (detector, kind, Status(status)): count
            for name in ("''", "planned.detector")
            for detector, kind, status, count in self._rows(
                f"SELECT {name}, results.kind, status, count(DISTINCT key) {_FINISHED} "
                "GROUP BY 1, 2, 3 ORDER BY min(place)"
            )
        }

    def last_finished(self) -> str | None:
        """Time when the last task of the latest plan ended."""
        found: str | None = self._rows(f"SELECT max(finished) {_FINISHED}")[0][0]
        return found

    def count_values(self, kind: str) -> int:
        """Number of stored values of tasks of this kind; JSON is counted by SQLite."""
        counted = f"SELECT count(*) {_FINISHED}, json_each(results.value, '$.values')"
        return int(self._rows(f"{counted} WHERE results.kind = ?", kind)[0][0])

    def reasons(self, kind: str, start: str) -> list[tuple[str, str, int]]:
        """Settings, reasons without a buffer that start like this, and their number of series."""
        return self._rows(
            "SELECT settings, coalesce(json_extract(value, '$.buffer_reason'), message) AS reason, "
            f"count(DISTINCT hash) {_FINISHED} WHERE results.kind = ? "
            "AND substr(reason, 1, ?) = ? GROUP BY 1, 2 ORDER BY min(place)",
            kind,
            len(start),
            start,
        )

    def _result(self, row: Sequence[Any]) -> Result:
        with self._damage():
            return _result(row)

    def named(self, key: str) -> Named | None:
        """First task of the latest plan with this key; None if there is none."""
        rows = self._rows(f"SELECT {_NAMED} FROM planned WHERE key = ? ORDER BY place", key)
        return Named(*rows[0]) if rows else None

    def save(self, batch: Iterable[tuple[Task, Outcome]]) -> None:
        """Save finished tasks: score files first, then all rows in one transaction.

        Values are plain data, dataclasses of plain data, or bytes. An array ``scores`` is saved
        in a separate file.

        Raises
        ------
        StoreError
            If the disk is full or read-only; no task of the batch is saved in this case.
        """
        with self._storage_errors():
            rows = [self._row(task, outcome) for task, outcome in batch]
        with self._transaction():
            # Deleting first removes results that were computed from an earlier attempt.
            self._many("DELETE FROM results WHERE key = ?", [(row[0],) for row in rows])
            self._many(_insertion("results", _RESULT_NAMES), rows)

    def _row(self, task: Task, outcome: Outcome) -> tuple[Any, ...]:
        value, digest = outcome.value, None
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        if isinstance(value, dict) and isinstance(value.get("scores"), np.ndarray):
            value = dict(value)
            digest = self._write_scores(task.key, value.pop("scores"))
        data = None if outcome.status is not Status.OK else encoded(value)
        if digest is None and data is not None:
            digest = value_digest(data)
        return (
            task.key,
            task.kind,
            str(outcome.status),
            task.parent,
            canonical(task.about),
            data,
            digest,
            outcome.seconds,
            outcome.warm_up_seconds,
            outcome.peak_bytes,
            outcome.worker,
            self._environment_of(task.libraries),
            _now(),
            outcome.message,
            outcome.traceback,
        )

    def _environment_of(self, libraries: tuple[str, ...]) -> str:
        if libraries not in self._environments:
            self._environments[libraries] = canonical(installed_versions(libraries))
        return self._environments[libraries]

    def forget(self, keys: Iterable[str]) -> int:
        """Remove results and everything computed from them; return the number of given results.

        The next run repeats them.
        """
        chosen = list(keys)
        with self._transaction():
            self._many("DELETE FROM results WHERE key = ?", [(key,) for key in chosen])
        with self._storage_errors():
            for key in chosen:
                self.score_path(key).unlink(missing_ok=True)
        return len(chosen)

    # -- scores ----------------------------------------------------------------------------------

    def score_path(self, key: str) -> Path:
        """Score file of a task.

        Raises
        ------
        InvalidInputError
            If `key` is invalid, so that the path could be anywhere.
        """
        if not _KEY.fullmatch(key):
            raise InvalidInputError(
                f"`key` must be 32 hexadecimal digits, got {key[:80]!r}; the store is damaged: "
                "restore a copy"
            )
        return self.folder / SCORES / key[:2] / f"{key}.npy"

    def scores(self, key: str) -> Scores:
        """Read the scores of a task and check their digest.

        Raises
        ------
        ChangedInputError
            If the file is missing, damaged or changed.
        InvalidInputError
            If a pack has no scores.
        """
        rows = self._rows("SELECT digest FROM results WHERE key = ?", key)
        expected = rows[0][0] if rows else None
        if self.archive is not None:
            return self.archive.scores(key, expected)
        return read_scores(self.score_path(key), expected)

    def _write_scores(self, key: str, scores: Scores) -> str:
        final = self.score_path(key)
        final.parent.mkdir(parents=True, exist_ok=True)
        data = np.ascontiguousarray(scores, dtype="<f8")
        with (
            atomic_path(final, durable=True, scratch=self.scratch) as temporary,
            temporary.open("wb") as stream,
        ):
            # Like `np.save`, but reports the reason if the disk is full.
            header = np.lib.format.header_data_from_array_1_0(data)
            np.lib.format.write_array_header_1_0(stream, header)
            stream.write(data.data)
        return scores_digest(data)

    @property
    def scratch(self) -> Path:
        """Folder for temporary files, created when first needed."""
        if self._scratch is None or not self._scratch.is_dir():
            self._scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self.folder))
        return self._scratch

    def _clean(self) -> None:
        """Remove temporary files, including those of killed runs."""
        for folder in self.folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self._scratch = None

    def _remove_unsaved_scores(self) -> None:
        """Remove score files of the latest start if it ended before it could record their jobs."""
        rows = self._rows("SELECT started, state FROM starts ORDER BY id DESC LIMIT 1")
        if not rows or rows[0][1] == "finished":
            return
        since = datetime.datetime.fromisoformat(rows[0][0]).timestamp()
        known = self.statuses()
        for key, path in self.score_files().items():
            if key not in known and path.stat().st_mtime >= since - 1:  # clocks of disks are coarse
                path.unlink()

    # -- starts ----------------------------------------------------------------------------------

    def begin(
        self,
        *,
        plan: str = "",
        base: Path | str = "",
        imports: Sequence[str] = (),
        executor: str = "",
        notes: Sequence[str] = (),
        planned: Iterable[Named] = (),
        series: Iterable[Mapping[str, Any]] = (),
        measures: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Record a start of the command. Its names replace those of the previous plan."""
        with self._transaction():
            cursor = self._execute(
                "INSERT INTO starts (started, state, host, pid, vuskit, environment, executor, "
                "plan, base, imports, notes, progress) "
                "VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}')",
                (_now(), platform.node(), os.getpid(), __version__,
                 canonical({"python": platform.python_version(), **installed_versions()}),
                 executor, plan, json.dumps(str(base)), json.dumps(imports), json.dumps(notes)),
            )  # fmt: skip
            self._start = cursor.lastrowid
            for table, rows in (
                ("planned", map(dataclasses.asdict, planned)),
                ("series", series),
                ("measures", measures),
            ):
                self._execute(f"DELETE FROM {table}")
                self.insert(table, rows)

    def end(self, state: str, *, notes: Sequence[str] | None = None) -> None:
        """Record how the latest start ended, and its notes if given."""
        with self._transaction():
            self._execute(
                "UPDATE starts SET state = ?, finished = ?, notes = coalesce(?, notes) "
                "WHERE id = ?",
                (state, _now(), None if notes is None else json.dumps(notes), self._start),
            )

    def note_progress(self, progress: Mapping[str, Any]) -> None:
        """Save the progress for ``vuskit bench status`` in another terminal."""
        with self._transaction():
            self._execute(
                "UPDATE starts SET progress = ? WHERE id = ?", (json.dumps(progress), self._start)
            )

    def latest(self) -> Start:
        """Return the latest start of the command.

        Raises
        ------
        InvalidInputError
            If there is none.
        """
        names = [one.name for one in dataclasses.fields(Start)]
        rows = self._rows(f"SELECT {', '.join(names)} FROM starts ORDER BY id DESC LIMIT 1")
        if not rows:
            raise InvalidInputError(f"`folder` must hold a benchmark run, got {str(self.folder)!r}")
        facts = dict(zip(names, rows[0], strict=True))
        with self._damage():
            facts |= {name: json.loads(facts[name]) for name in _START_JSON}
            facts["base"] = json.loads(facts["base"] or '""')
        return Start(
            **{**facts, "imports": tuple(facts["imports"]), "notes": tuple(facts["notes"])}
        )

    def first_start(self) -> str | None:
        """Time of the first start in this folder."""
        found: str | None = self._rows("SELECT min(started) FROM starts")[0][0]
        return found

    # -- series and measures of the plan, files --------------------------------------------------

    def rows(self, table: str, **values: Any) -> list[dict[str, Any]]:
        """All rows of a table, or those with these values."""
        names = [row[1] for row in self._rows(f"PRAGMA table_info({table})")]
        chosen = " AND ".join(f"{name} = ?" for name in values)
        where = f" WHERE {chosen}" if chosen else ""
        rows = self._rows(f"SELECT * FROM {table}{where} ORDER BY 1", *values.values())
        return [dict(zip(names, row, strict=True)) for row in rows]

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows to a table, replacing those with equal keys."""
        batch = list(rows)
        if batch:
            sql = _insertion(table, list(batch[0]))
            self._many(sql, [tuple(row.values()) for row in batch])

    def add_sources(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Save what was read from files: source, version of the reader, and facts."""
        if self.writable:
            with self._transaction():
                self._many("INSERT OR REPLACE INTO sources VALUES (?, ?, ?)", rows)

    # -- checks ----------------------------------------------------------------------------------

    def damages(self) -> list[str]:
        """Problems that SQLite's integrity checks find."""
        lines = [row[0] for row in self._rows("PRAGMA integrity_check")]
        broken = self._rows("PRAGMA foreign_key_check")
        loose = [f"{len(broken)} rows refer to missing rows"] * bool(broken)
        return [line for line in lines if line != "ok"] + loose

    def score_files(self) -> dict[str, Path]:
        """Score files in the folder by the key in their names."""
        return {path.stem: path for path in sorted((self.folder / SCORES).rglob("*.npy"))}

    # -- SQL -------------------------------------------------------------------------------------

    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        with self._damage():
            return self._connection.execute(sql, _storable(parameters))

    def _many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._damage():
            self._connection.executemany(sql, map(_storable, rows))

    def _rows(self, sql: str, *parameters: Any) -> list[Any]:
        with self._damage():
            return self._connection.execute(sql, _storable(parameters)).fetchall()

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        """Report damage in one sentence: SQLite finds it, or texts are not what was written."""
        try:
            yield
        except (VuskitError, sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except (sqlite3.DatabaseError, ValueError) as error:
            # Only errors of SQLite itself have a code; others are about unreadable texts.
            known = hasattr(error, "sqlite_errorcode") and str(error) != "malformed JSON"
            if isinstance(error, sqlite3.OperationalError) and known:
                raise
            reason = str(error) if known else "unreadable text"
            raise DamagedStoreError(
                f"{self.folder if self.archive else self.folder / DATABASE} must be an intact "
                f"store, got a damaged file: {reason}; restore a copy, or remove it and run the "
                "plan again"
            ) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._storage_errors():
            try:
                self._execute("BEGIN IMMEDIATE")
                yield
                self._execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _storage_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise StoreError(
                f"`folder` must be writable and have space left, got {str(self.folder)!r}: "
                f"{reason}. Finished jobs are kept; fix the problem and run the same command again"
            ) from error


def read_scores(path: Path, digest: str | None) -> Scores:
    """Read a score file and check its digest."""
    repair = (
        "remove it with `vuskit bench verify --repair`, then run the command that created the run "
        "(`vuskit bench run` or `vuskit evaluate`) again"
    )
    try:
        scores: Scores = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ChangedInputError(
            f"{path} must hold the scores of the run, got: {error}; {repair}"
        ) from error
    if scores_digest(scores) != digest:
        raise ChangedInputError(
            f"{path} must hold the scores of the run, got different content; {repair}"
        )
    return scores


def memory_store() -> sqlite3.Connection:
    """Return an empty store in memory."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    create_schema(connection)
    return connection


def is_gone(host: str, pid: int) -> bool:
    """Whether a process is known to have ended; False for processes on other machines."""
    if host != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _result(row: Sequence[Any]) -> Result:
    key, kind, status, *rest = row
    return Result(key, kind, Status(status), *rest)


def _loaded(key: str, name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DamagedStoreError(
            f"job {key}: its `{name}` must be JSON, got unreadable text; the store is damaged: "
            "restore a copy"
        ) from error


def _object(key: str, name: str, text: str) -> dict[str, Any]:
    found = _loaded(key, name, text)
    if not isinstance(found, dict):
        raise DamagedStoreError(
            f"job {key}: its `{name}` must be an object, got {found!r}; the store is damaged: "
            "restore a copy"
        )
    return found


def encoded(value: Any) -> str | bytes:
    """Return plain data as JSON; bytes are stored as they are."""
    try:
        return value if isinstance(value, bytes) else json.dumps(value)
    except TypeError as error:
        raise InvalidInputError(
            f"a stored result must consist of plain data or bytes, got: {error}"
        ) from error


def value_digest(data: bytes | str) -> str:
    """Digest of an encoded value."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def _insertion(table: str, columns: Sequence[str]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})"


def _storable(parameters: Sequence[Any]) -> tuple[Any, ...]:
    """Escape lone surrogates, which SQLite cannot store, so that no name can stop a run."""
    return tuple(escape_surrogates(one) if isinstance(one, str) else one for one in parameters)


def _now() -> str:
    """Current time in UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


# -- files -----------------------------------------------------------------------------------------


def _check_folder(folder: Path) -> None:
    """Refuse a folder with unrelated files, before anything is written to it."""
    if not folder.is_dir() or (folder / LOCK).is_file():
        return
    connection = _open_if_any(folder)
    if connection is not None:
        connection.close()
        return
    own = {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"} | _HARMLESS
    found = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if found:
        raise InvalidInputError(
            f"`folder` must be a new or empty folder or hold a benchmark run, got {str(folder)!r} "
            f"with {quoted(found, most=_SHOWN_ENTRIES)}; nothing was changed there. "
            f"Choose another folder, such as {str(folder / 'run')!r}"
        )


def _open_if_any(folder: Path) -> sqlite3.Connection | None:
    path = folder / DATABASE
    if not path.is_file():
        return None
    connection, found = _opened(path)
    if not found:
        connection.close()
        return None
    return connection


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
        f"{path.resolve().as_uri()}?{options}", uri=True, timeout=_WAIT_SECONDS
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
        raise StoreError(
            f"`folder` must not be in use, got {str(path.parent)!r}: process {owner} is writing to "
            "it; wait until that run has ended"
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


# -- tables ----------------------------------------------------------------------------------------
# Names of detectors, series and data sets come from the plan of the latest start. They are in the
# tables `planned`, `series` and `measures`, which every start replaces, and never part of a key.


SCHEMA_VERSION = 6

_SCHEMA = """
-- One row per start of the command; the last one is the current plan.
CREATE TABLE starts (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    finished TEXT,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    vuskit TEXT NOT NULL,
    environment TEXT NOT NULL,
    executor TEXT NOT NULL,
    plan TEXT NOT NULL,
    base TEXT NOT NULL,
    imports TEXT NOT NULL,
    notes TEXT NOT NULL,
    progress TEXT NOT NULL
);
-- One row per finished task. `about` is what the key is a digest of.
CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('OK', 'ERROR', 'TIMEOUT', 'OOM', 'KILLED', 'SKIPPED')),
    parent TEXT REFERENCES results (key) ON DELETE CASCADE,
    about TEXT NOT NULL,
    value BLOB,
    digest TEXT,
    seconds REAL,
    warm_up_seconds REAL,
    peak_bytes INTEGER,
    worker TEXT,
    environment TEXT NOT NULL,
    finished TEXT NOT NULL,
    message TEXT,
    traceback TEXT
);
CREATE INDEX results_by_parent ON results (parent);
-- Tasks of the latest plan under their names. Tasks that differ only by name share a key.
CREATE TABLE planned (
    place INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent TEXT,
    dataset TEXT NOT NULL,
    series TEXT NOT NULL,
    hash TEXT NOT NULL,
    detector TEXT NOT NULL,
    seed INTEGER,
    settings TEXT,
    file TEXT
);
CREATE INDEX planned_by_key ON planned (key);
CREATE INDEX planned_by_series ON planned (hash);
-- Series of the latest plan, with their anomalies.
CREATE TABLE series (
    hash TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    n_points INTEGER NOT NULL,
    n_channels INTEGER NOT NULL,
    n_missing INTEGER NOT NULL,
    train_length INTEGER,
    events TEXT NOT NULL,
    source TEXT NOT NULL,
    files TEXT NOT NULL
) WITHOUT ROWID;
-- Measures of the latest plan, in its order.
CREATE TABLE measures (
    place INTEGER PRIMARY KEY,
    settings TEXT NOT NULL,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    title TEXT NOT NULL,
    family TEXT NOT NULL,
    lowest REAL NOT NULL,
    highest REAL NOT NULL,
    higher_is_better INTEGER NOT NULL,
    reference TEXT NOT NULL
);
-- What was read from files, so that unchanged files are not read again.
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    facts TEXT NOT NULL
) WITHOUT ROWID;
"""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, in one transaction."""
    connection.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")


def has_tables(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the store has tables; False for an empty file."""
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.OperationalError:
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{path} must be a store of vuskit, got a damaged file: {error}; restore a copy, or "
            "remove it and run the plan again"
        ) from error
    if tables and version != SCHEMA_VERSION:
        raise InvalidInputError(
            f"{path} must have schema version {SCHEMA_VERSION}, got {version} of another version "
            "of vuskit; use a new folder, and evaluate the score files in scores/ again with "
            "`vuskit evaluate` or [[scores]] in a plan"
        )
    return bool(tables)
