"""Tables of the store."""

from __future__ import annotations

import sqlite3

from vuskit.errors import InvalidInputError

__all__ = [
    "SCHEMA_VERSION",
    "create_schema",
    "migrate_schema",
    "show_in_present_form",
    "stored_version",
]

SCHEMA_VERSION = 3

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
    anomalous_points INTEGER NOT NULL,
    n_missing INTEGER
) WITHOUT ROWID;
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    series_hash TEXT NOT NULL REFERENCES series (hash),
    left_out TEXT
) WITHOUT ROWID;
CREATE TABLE scores (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    title TEXT,
    family TEXT,
    lowest REAL,
    highest REAL,
    higher_is_better INTEGER,
    reference TEXT
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
    command TEXT,
    warm_up_seconds REAL
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


# What each version added to the one before it: columns by table, empty in what is there already.
_ADDED: dict[int, dict[str, dict[str, str]]] = {
    2: {
        "measures": {
            "title": "TEXT",
            "family": "TEXT",
            "lowest": "REAL",
            "highest": "REAL",
            "higher_is_better": "INTEGER",
            "reference": "TEXT",
        },
        "jobs": {"warm_up_seconds": "REAL"},
    },
    3: {"series": {"n_missing": "INTEGER"}, "sources": {"left_out": "TEXT"}},
}


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, all or none."""
    connection.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")


def stored_version(connection: sqlite3.Connection, path: str) -> int:
    """Version of the tables; 0 if there are none yet.

    Raises
    ------
    InvalidInputError
        If the file belongs to a newer version of vuskit or is no store at all.
    sqlite3.OperationalError
        If it cannot be opened here.
    """
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise InvalidInputError(f"{path} must be a store of vuskit bench, got: {error}") from error
    if tables == 0:
        return 0
    if not 1 <= version <= SCHEMA_VERSION:
        raise InvalidInputError(
            f"{path} must have schema version {SCHEMA_VERSION} or an earlier one, got {version}; "
            "it was made by another version of vuskit"
        )
    return version


def migrate_schema(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables of an earlier version to the present one, all or none."""
    steps = [
        f"ALTER TABLE {table} ADD COLUMN {name} {kind};"
        for later in range(version + 1, SCHEMA_VERSION + 1)
        for table, columns in _ADDED[later].items()
        for name, kind in columns.items()
    ]
    connection.executescript(
        f"BEGIN IMMEDIATE;{''.join(steps)}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
    )


def show_in_present_form(connection: sqlite3.Connection, version: int) -> None:
    """Let a reader of an earlier version see the present columns; the file stays as it is."""
    added: dict[str, list[str]] = {}
    for later in range(version + 1, SCHEMA_VERSION + 1):
        for table, columns in _ADDED[later].items():
            added.setdefault(table, []).extend(columns)
    connection.execute("PRAGMA temp_store = MEMORY")
    for table, names in added.items():
        empty = ", ".join(f"NULL AS {name}" for name in names)
        # A temporary view goes before the table of the same name.
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {empty} FROM main.{table}")
