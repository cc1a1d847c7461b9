"""Opening the store of a run folder without writing to it, wherever it lies."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path

from vuskit.bench.jobs import Job, job_from_spec
from vuskit.bench.schema import SCHEMA_VERSION, show_in_present_form, stored_version
from vuskit.errors import InvalidInputError

__all__ = [
    "DATABASE",
    "WAIT_SECONDS",
    "latest_run",
    "open_for_reading",
    "open_if_any",
    "read_job",
]

DATABASE = "bench.sqlite"
WAIT_SECONDS = 60  # for another process that is writing
_LATEST = "SELECT * FROM runs ORDER BY id DESC LIMIT 1"


def open_for_reading(folder: Path) -> sqlite3.Connection:
    """Connect to the store of a run folder without writing to it, also while a run goes on.

    A store of an earlier version is shown in the present form, with nothing in the columns that
    it does not have.

    Raises
    ------
    InvalidInputError
        If there is none.

    Examples
    --------
    >>> open_for_reading(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    connection = open_if_any(folder)
    if connection is None:
        raise _no_run(folder)
    return connection


def open_if_any(folder: Path) -> sqlite3.Connection | None:
    """Connect as `open_for_reading`; None if no run has begun there.

    Raises
    ------
    InvalidInputError
        If there is a store that cannot be read.

    Examples
    --------
    >>> open_if_any(Path("nowhere")) is None
    True
    """
    path = folder / DATABASE
    if not path.is_file():
        return None
    connection, version = _opened(path)
    if not version:
        connection.close()
        return None
    connection.row_factory = sqlite3.Row
    if version < SCHEMA_VERSION:
        show_in_present_form(connection, version)
    return connection


def _no_run(folder: Path) -> InvalidInputError:
    return InvalidInputError(f"`folder` must hold a benchmark run, got {str(folder)!r}")


def _opened(path: Path) -> tuple[sqlite3.Connection, int]:
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError as reason:
        # Readers of a write-ahead log share a file beside it, which cannot be made on a read-only
        # disk or in the folder of somebody else. Nobody can be writing to it there.
        log = path.with_name(f"{path.name}-wal")
        try:
            if log.is_file() and log.stat().st_size:
                return _copied(path, log)
            return _connected(path, "mode=ro&immutable=1")
        except (OSError, sqlite3.OperationalError):
            raise InvalidInputError(
                f"{path} must be a store that can be read, got: {reason}"
            ) from reason


def _connected(path: Path, options: str) -> tuple[sqlite3.Connection, int]:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{options}", uri=True, timeout=WAIT_SECONDS
    )
    try:
        return connection, stored_version(connection, str(path))
    except BaseException:
        connection.close()
        raise


def _copied(path: Path, log: Path) -> tuple[sqlite3.Connection, int]:
    """Read a store whose last transactions are still in the log that a killed run left."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder) / file.name)
        copy, version = _connected(Path(folder) / path.name, "mode=rw")
        memory = sqlite3.connect(":memory:")
        copy.backup(memory)
        copy.close()
    return memory, version


def latest_run(connection: sqlite3.Connection, folder: Path) -> sqlite3.Row:
    """Row of the latest start of the command.

    Raises
    ------
    InvalidInputError
        If there is none.
    """
    run: sqlite3.Row | None = connection.execute(_LATEST).fetchone()
    if run is None:
        raise _no_run(folder)
    return run


def read_job(connection: sqlite3.Connection, key: str) -> tuple[Job, sqlite3.Row]:
    """Read the job whose key begins so, with its row.

    Raises
    ------
    InvalidInputError
        If there is none or more than one.
    """
    rows = connection.execute(
        "SELECT * FROM jobs WHERE substr(key, 1, ?) = ? LIMIT 2", (len(key), key)
    ).fetchall()
    if len(rows) != 1 or not key:
        found = "more than one" if rows else "none"
        raise InvalidInputError(f"`key` must begin the key of one job, got {key!r}: {found} does")
    return job_from_spec(rows[0]["kind"], json.loads(rows[0]["spec"])), rows[0]
