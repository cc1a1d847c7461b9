"""Tables of the store.

Results (``jobs``, ``values``) are keyed by content: data, code and settings. Names of detectors,
series and data sets come from the plan of the latest start. They are in the tables ``planned_*``,
which every start replaces, and are never part of a key.
"""

from __future__ import annotations

import sqlite3

from vuskit.errors import InvalidInputError

__all__ = ["SCHEMA_VERSION", "create_schema", "has_tables"]

SCHEMA_VERSION = 5

_SCHEMA = """
-- One row per start of the command; the last one is the current plan.
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
    notes TEXT NOT NULL,
    progress TEXT NOT NULL
);

-- Names of series and detectors in the plan of the latest start, and the requested values.
CREATE TABLE planned_series (
    hash TEXT PRIMARY KEY REFERENCES series (hash),
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    files TEXT
) WITHOUT ROWID;
CREATE TABLE planned_scores (
    key TEXT NOT NULL,
    detector TEXT NOT NULL,
    seed INTEGER,
    series_hash TEXT NOT NULL REFERENCES series (hash),
    PRIMARY KEY (key, detector)
) WITHOUT ROWID;
CREATE TABLE planned_values (
    settings TEXT NOT NULL,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    place INTEGER NOT NULL,
    PRIMARY KEY (settings, measure_id)
) WITHOUT ROWID;

-- Content.
CREATE TABLE series (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL,
    n_channels INTEGER NOT NULL,
    n_anomalies INTEGER NOT NULL,
    anomalous_points INTEGER NOT NULL,
    n_missing INTEGER
) WITHOUT ROWID;
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    series_hash TEXT NOT NULL REFERENCES series (hash),
    left_out TEXT,
    files TEXT
) WITHOUT ROWID;
CREATE TABLE scores (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    title TEXT,
    family TEXT,
    lowest REAL,
    highest REAL,
    higher_is_better INTEGER,
    reference TEXT,
    UNIQUE (name, version)
);
-- Code: digests of the functions, classes and constants behind a version of local code.
CREATE TABLE code_parts (
    version TEXT NOT NULL,
    part TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (version, part)
) WITHOUT ROWID;
-- Core and library versions that results were computed with, as JSON.
CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    versions TEXT NOT NULL UNIQUE
);

-- Results. `run_id` is the latest start whose plan includes the job.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('score', 'import', 'evaluate')),
    status TEXT NOT NULL
        CHECK (status IN ('OK', 'ERROR', 'TIMEOUT', 'OOM', 'KILLED', 'SKIPPED')),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    series_hash TEXT NOT NULL REFERENCES series (hash),
    settings TEXT NOT NULL,
    code TEXT NOT NULL,
    scores_hash TEXT REFERENCES scores (hash),
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
    warm_up_seconds REAL,
    checksum TEXT,
    environment_id INTEGER REFERENCES environments (id)
);
CREATE INDEX jobs_by_state ON jobs (run_id, kind, status);
CREATE INDEX jobs_by_scores ON jobs (scores_hash, series_hash, kind, run_id, status);
CREATE TABLE job_measures (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
CREATE TABLE "values" (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    value REAL NOT NULL CHECK (typeof(value) = 'real'),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
"""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, in one transaction."""
    connection.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")


def has_tables(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the store has tables; False for an empty file.

    Raises
    ------
    InvalidInputError
        If another version of vuskit wrote the file, or it is not a store.
    sqlite3.OperationalError
        If the file cannot be opened.
    """
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise InvalidInputError(f"{path} must be a vuskit benchmark store, got: {error}") from error
    if tables and version != SCHEMA_VERSION:
        raise InvalidInputError(
            f"{path} must have schema version {SCHEMA_VERSION}, got {version} of another version "
            "of vuskit; use a new folder, and evaluate the score files in scores/ again with "
            "`vuskit evaluate` or [[scores]] in a plan"
        )
    return bool(tables)
