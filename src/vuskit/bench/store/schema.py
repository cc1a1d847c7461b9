"""Tables of the store, and conversion from earlier schema versions.

Results (``jobs``, ``values``) are keyed by content: data, code and settings. Names of detectors,
series and data sets come from the plan of the latest start. They are in the tables ``planned_*``,
which every start replaces, and are never part of a key.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

from vuskit.bench.identity import canonical, content_key
from vuskit.errors import InvalidInputError

__all__ = ["SCHEMA_VERSION", "create_schema", "migrate_schema", "stored_version"]

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

# Columns added by versions 2, 3 and 5; they are empty in existing rows.
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
    5: {
        "planned_series": {"files": "TEXT"},
        "jobs": {"environment_id": "INTEGER REFERENCES environments (id)"},
    },
}
_NEW_IN_5 = ("code_parts", "environments")


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, in one transaction."""
    connection.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")


def stored_version(connection: sqlite3.Connection, path: str) -> int:
    """Return the schema version; 0 if there are no tables yet.

    Raises
    ------
    InvalidInputError
        If a newer version of vuskit wrote the file, or it is not a store.
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
    if tables == 0:
        return 0
    if not 1 <= version <= SCHEMA_VERSION:
        raise InvalidInputError(
            f"{path} must have schema version {SCHEMA_VERSION} or earlier, got {version}; "
            "another version of vuskit wrote it: update vuskit"
        )
    return version


def migrate_schema(connection: sqlite3.Connection, version: int) -> None:
    """Convert the tables of an earlier version to the current schema, in one transaction."""
    connection.execute("PRAGMA foreign_keys = OFF")  # has no effect inside a transaction
    level, connection.isolation_level = connection.isolation_level, None
    factory, connection.row_factory = connection.row_factory, sqlite3.Row
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version <= 3:
                for later in range(version + 1, 4):
                    _add_columns(connection, _ADDED[later])
                _convert_3(connection)
            else:
                _convert_4(connection)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    finally:
        connection.isolation_level = level
        connection.row_factory = factory
        connection.execute("PRAGMA foreign_keys = ON")


def _add_columns(connection: sqlite3.Connection, added: dict[str, dict[str, str]]) -> None:
    for table, columns in added.items():
        for name, kind in columns.items():
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def _convert_4(connection: sqlite3.Connection) -> None:
    """Convert version 4; requires a transaction and disabled foreign keys."""
    for statement in _statements(_SCHEMA):
        if statement.strip().startswith(tuple(f"CREATE TABLE {name} " for name in _NEW_IN_5)):
            connection.execute(statement)
    _add_columns(connection, _ADDED[5])


# -- version 3: names stored with results, measures as "name @ version" ----------------------------

_TABLES_3 = ("runs", "series", "sources", "scores", "measures", "jobs", "values")
_SAME_IN_4 = (
    "id, kind, status, run_id, series_hash, scores_hash, fit_seconds, score_seconds, seconds, "
    "peak_bytes, cold, worker, finished, buffer, buffer_reason, message, traceback, warm_up_seconds"
)
_CODE = re.compile(r"(.*) (vuskit \S+|sha256:[0-9a-f]+|unknown)", re.DOTALL)


def _convert_3(connection: sqlite3.Connection) -> None:
    """Convert version 3; requires a transaction and disabled foreign keys."""
    for index in ("jobs_by_state", "jobs_by_scores"):
        connection.execute(f"DROP INDEX {index}")
    for table in _TABLES_3:
        connection.execute(f'ALTER TABLE "{table}" RENAME TO old_{table}')
    for statement in _statements(_SCHEMA):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO runs SELECT id, started, finished, state, host, pid, vuskit, environment, "
        "executor, plan, base, imports, notes, progress FROM old_runs"
    )
    connection.execute(
        "INSERT INTO series SELECT hash, n_points, n_channels, n_anomalies, anomalous_points, "
        "n_missing FROM old_series"
    )
    connection.execute(
        "INSERT INTO sources SELECT spec, stamp, dataset, name, series_hash, left_out, NULL "
        "FROM old_sources"
    )
    connection.execute("INSERT INTO scores SELECT hash, n_points FROM old_scores")
    measures = _convert_measures(connection)
    _convert_jobs(connection, measures)
    connection.execute(
        'INSERT INTO "values" SELECT job_id, measure_id, value FROM old_values '
        "WHERE job_id IN (SELECT id FROM jobs)"
    )
    _convert_plan(connection, measures)
    for table in _TABLES_3:
        connection.execute(f"DROP TABLE old_{table}")


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]


def _convert_measures(connection: sqlite3.Connection) -> dict[str, int]:
    """Split identities into name and version; return ids by identity, including failed ones."""
    for row in connection.execute("SELECT * FROM old_measures ORDER BY id").fetchall():
        version = row["identity"].rpartition(" @ ")[2]
        connection.execute(
            "INSERT INTO measures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row["id"], row["name"], version, row["title"], row["family"], row["lowest"],
             row["highest"], row["higher_is_better"], row["reference"]),
        )  # fmt: skip
    ids = dict(connection.execute("SELECT identity, id FROM old_measures").fetchall())
    for (listed,) in connection.execute("SELECT DISTINCT measures FROM old_jobs").fetchall():
        for identity in json.loads(listed or "[]"):
            if identity not in ids:
                name, _, version = identity.rpartition(" @ ")
                cursor = connection.execute(
                    "INSERT INTO measures (name, version) VALUES (?, ?)", (name, version)
                )
                ids[identity] = cursor.lastrowid
    return ids


def _convert_jobs(connection: sqlite3.Connection, measures: dict[str, int]) -> None:
    names = [name.strip() for name in _SAME_IN_4.split(",")]
    columns = [*names, "key", "settings", "code", "spec"]
    marks = ", ".join("?" * len(columns))
    rows = connection.execute("SELECT * FROM old_jobs ORDER BY id")
    seen: set[str] = set()
    while batch := rows.fetchmany(1000):
        for row in batch:
            spec = json.loads(row["spec"])
            key, settings, code = _identity(row, spec)
            if key in seen:  # the same file was imported under two names
                continue
            seen.add(key)
            connection.execute(
                f"INSERT INTO jobs ({', '.join(columns)}) VALUES ({marks})",
                (*(row[name] for name in names), key, settings, code, _without_names(spec)),
            )
            connection.executemany(
                "INSERT INTO job_measures VALUES (?, ?)",
                [(row["id"], measures[one]) for one in json.loads(row["measures"] or "[]")],
            )


def _identity(row: sqlite3.Row, spec: dict[str, Any]) -> tuple[str, str, str]:
    """Key, settings and code of a job."""
    if row["kind"] == "import":
        key = content_key("import", row["series_hash"], spec["digest"], spec["column"])
        return key, f"sha256:{spec['digest'][:16]} column={spec['column']}", ""
    found = _CODE.fullmatch(row["identity"]) if row["kind"] == "score" else None
    settings, code = found.groups() if found else (row["identity"], "")
    return row["key"], settings, code


def _without_names(spec: dict[str, Any]) -> str:
    """Spec needed to repeat a job, without its series and names."""
    kept = {key: value for key, value in spec.items() if key not in ("series", "label")}
    if "detector" in kept:
        kept["detector"] = {k: v for k, v in kept["detector"].items() if k != "label"}
    if "evaluation" in kept:
        kept["settings"] = kept.pop("evaluation")
        del kept["scores_hash"]
    return canonical(kept)


def _convert_plan(connection: sqlite3.Connection, measures: dict[str, int]) -> None:
    """Copy the names of the latest start from the tables of version 3."""
    run = connection.execute("SELECT id, wanted FROM old_runs ORDER BY id DESC LIMIT 1").fetchone()
    if run is None:
        return
    rows = connection.execute(
        "SELECT id, key, kind, series_hash, label, seed, identity, spec FROM old_jobs "
        "WHERE run_id = ? AND kind IN ('score', 'import') ORDER BY id",
        (run["id"],),
    ).fetchall()
    for row in rows:
        key = _identity(row, json.loads(row["spec"]))[0]
        connection.execute(
            "INSERT OR IGNORE INTO planned_scores VALUES (?, ?, ?, ?)",
            (key, row["label"], row["seed"], row["series_hash"]),
        )
    connection.execute(
        "INSERT INTO planned_series SELECT hash, dataset, name, coalesce((SELECT spec FROM sources "
        "WHERE series_hash = hash ORDER BY spec LIMIT 1), '{}'), NULL FROM old_series "
        "WHERE hash IN (SELECT series_hash FROM old_jobs WHERE run_id = ?)",
        (run["id"],),
    )
    for place, (settings, name, *identity) in enumerate(json.loads(run["wanted"])):
        # Version 1 does not store the version of a measure, so all known versions count.
        known = [measures[one] for one in identity if one in measures] or [
            number for one, number in measures.items() if one.rpartition(" @ ")[0] == name
        ]
        if not known:
            version = identity[0].rpartition(" @ ")[2] if identity else "unknown"
            cursor = connection.execute(
                "INSERT INTO measures (name, version) VALUES (?, ?)", (name, version)
            )
            known = [cursor.lastrowid or 0]
        connection.executemany(
            "INSERT OR IGNORE INTO planned_values VALUES (?, ?, ?)",
            [(settings, number, place) for number in known],
        )
