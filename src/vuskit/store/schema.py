"""Tables of a store.

Results are keyed by content: data, code and settings. Names of detectors, series and data sets come
from the plan of the latest start. They are in the tables ``planned``, ``series`` and ``measures``,
which every start replaces, and are never part of a key.
"""

from __future__ import annotations

import sqlite3

from vuskit.errors import InvalidInputError

SCHEMA_VERSION = 6

TABLES = ("starts", "results", "planned", "series", "measures", "sources")
"""Names of the tables; rows refer only to rows of the same table."""

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
