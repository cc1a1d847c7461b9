"""Tables of the store."""

from __future__ import annotations

import sqlite3

from vuskit.errors import InvalidInputError

__all__ = ["SCHEMA_VERSION", "check_schema", "create_schema"]

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE runs (
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
    wanted TEXT NOT NULL,
    notes TEXT NOT NULL,
    progress TEXT NOT NULL
);
CREATE TABLE series (
    hash TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    n_points INTEGER NOT NULL,
    n_channels INTEGER NOT NULL,
    n_anomalies INTEGER NOT NULL,
    anomalous_points INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    series_hash TEXT NOT NULL REFERENCES series (hash)
) WITHOUT ROWID;
CREATE TABLE scores (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('score', 'import', 'evaluate')),
    status TEXT NOT NULL CHECK (status IN ('OK', 'ERROR', 'TIMEOUT', 'OOM', 'SKIPPED')),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    series_hash TEXT NOT NULL REFERENCES series (hash),
    label TEXT NOT NULL,
    identity TEXT NOT NULL,
    seed INTEGER,
    scores_hash TEXT REFERENCES scores (hash),
    measures TEXT,
    spec TEXT NOT NULL,
    fit_seconds REAL,
    score_seconds REAL,
    seconds REAL,
    peak_bytes INTEGER,
    cold INTEGER NOT NULL,
    worker TEXT,
    finished TEXT NOT NULL,
    buffer INTEGER,
    buffer_reason TEXT,
    message TEXT,
    traceback TEXT,
    command TEXT
);
CREATE INDEX jobs_by_state ON jobs (run_id, kind, status);
CREATE INDEX jobs_by_scores ON jobs (scores_hash, series_hash, kind);
CREATE TABLE "values" (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    value REAL NOT NULL CHECK (typeof(value) = 'real'),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
"""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, all or none."""
    connection.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")


def check_schema(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the tables are there.

    Raises
    ------
    InvalidInputError
        If the file belongs to another version of vuskit or is no store at all.
    """
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise InvalidInputError(f"{path} must be a store of vuskit bench, got: {error}") from error
    if tables == 0:
        return False
    if version != SCHEMA_VERSION:
        raise InvalidInputError(
            f"{path} must have schema version {SCHEMA_VERSION}, got {version}; "
            "it was made by another version of vuskit"
        )
    return True
