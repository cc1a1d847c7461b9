"""Export the results of the latest plan as plain tables, and load such tables.

The tables contain nothing specific to the machine: no host, process, folders, paths of data files,
workers or tracebacks. The plan, notes and error messages are not changed.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from vuskit.bench.store.schema import SCHEMA_VERSION, create_schema
from vuskit.errors import InvalidInputError

__all__ = ["PORTABLE_TABLES", "Rows", "load_tables", "portable_tables"]

Rows = dict[str, Any]
"""A table: ``{"columns": [names], "rows": [lists]}``."""

_LATEST = "(SELECT max(id) FROM runs)"
_JOBS = f"(SELECT id FROM jobs WHERE run_id = {_LATEST})"
# Ordered so that rows refer only to earlier tables.
_QUERIES = {
    "runs": f"SELECT * FROM runs WHERE id = {_LATEST}",
    "series": "SELECT * FROM series WHERE hash IN (SELECT hash FROM planned_series) ORDER BY hash",
    "scores": "SELECT * FROM scores WHERE hash IN (SELECT scores_hash FROM jobs "
    f"WHERE run_id = {_LATEST}) ORDER BY hash",
    "measures": "SELECT * FROM measures WHERE id IN (SELECT measure_id FROM planned_values UNION "
    f'SELECT measure_id FROM "values" WHERE job_id IN {_JOBS} UNION '
    f"SELECT measure_id FROM job_measures WHERE job_id IN {_JOBS}) ORDER BY id",
    "code_parts": "SELECT * FROM code_parts ORDER BY version, part",
    "environments": "SELECT * FROM environments WHERE id IN (SELECT environment_id FROM jobs "
    f"WHERE run_id = {_LATEST}) ORDER BY id",
    "planned_series": "SELECT * FROM planned_series ORDER BY hash",
    "planned_scores": "SELECT * FROM planned_scores ORDER BY key, detector",
    "planned_values": "SELECT * FROM planned_values ORDER BY settings, measure_id",
    "jobs": f"SELECT * FROM jobs WHERE run_id = {_LATEST} ORDER BY id",
    "job_measures": f"SELECT * FROM job_measures WHERE job_id IN {_JOBS} "
    "ORDER BY job_id, measure_id",
    "values": f'SELECT * FROM "values" WHERE job_id IN {_JOBS} ORDER BY job_id, measure_id',
}

PORTABLE_TABLES = tuple(_QUERIES)
"""Names of the tables."""


def _without_paths(spec: str) -> str:
    """Spec of a job without folders."""
    content = json.loads(spec)
    if isinstance(content.get("path"), str):
        content["path"] = PurePath(content["path"]).name
    if isinstance(content.get("detector"), dict):
        content["detector"]["folder"] = None
    return json.dumps(content, sort_keys=True)


def _only_synthetic(source: str) -> str:
    """Source of a synthetic series; empty for a file, which other machines do not have."""
    content = json.loads(source)
    return json.dumps(content if "synthetic" in content else {}, sort_keys=True)


def _numbers(progress: str) -> str:
    """Progress without job titles."""
    content = json.loads(progress)
    kept = {name: one for name, one in content.items() if not isinstance(one, (str, list, dict))}
    return json.dumps(kept, sort_keys=True)


def _state(state: str) -> str:
    return "interrupted" if state == "running" else state


# Replacements for cells that could reveal details of the machine.
_CLEANED: dict[str, dict[str, Callable[[Any], Any]]] = {
    "runs": {
        "state": _state,
        "host": lambda _: "",
        "pid": lambda _: 0,
        "base": lambda _: "",
        "executor": lambda text: re.split(r"[\s:,]", text)[0],
        "progress": _numbers,
    },
    "planned_series": {"source": _only_synthetic, "files": lambda _: None},
    "jobs": {"spec": _without_paths, "worker": lambda _: None, "traceback": lambda _: None},
}


def portable_tables(connection: sqlite3.Connection) -> dict[str, Rows]:
    """Return the results of the latest plan, without details of the machine."""
    tables = {}
    for table, query in _QUERIES.items():
        cursor = connection.execute(query)
        columns = [entry[0] for entry in cursor.description]
        cleaned = [_CLEANED.get(table, {}).get(name) for name in columns]
        tables[table] = {
            "columns": columns,
            "rows": [
                [
                    cell if change is None else change(cell)
                    for cell, change in zip(row, cleaned, strict=True)
                ]
                for row in cursor
            ],
        }
    return tables


def load_tables(tables: Mapping[str, Rows], *, version: int) -> sqlite3.Connection:
    """Load tables into an in-memory store.

    Parameters
    ----------
    tables : mapping from str to dict
        From `portable_tables`.
    version : int
        Schema version of the tables.

    Raises
    ------
    InvalidInputError
        If the tables have another version or are invalid.
    """
    if version != SCHEMA_VERSION:
        raise InvalidInputError(
            f"tables must have schema version {SCHEMA_VERSION}, got {version!r} of another version "
            "of vuskit; run the plan again with this version and pack the result"
        )
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.row_factory = sqlite3.Row
    create_schema(connection)
    try:
        for table in _QUERIES:
            _insert(connection, table, tables[table])
        connection.commit()
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except (sqlite3.Error, KeyError, TypeError, ValueError, OverflowError) as error:
        connection.close()
        reason = f"{type(error).__name__}: {error}"
        raise InvalidInputError(f"tables must be valid tables of a run, got {reason}") from error
    if broken is not None:
        connection.close()
        raise InvalidInputError(
            f"tables must be consistent, got a row of {broken[0]!r} that refers to a missing "
            f"row of {broken[2]!r}"
        )
    return connection


def _insert(connection: sqlite3.Connection, table: str, content: Rows) -> None:
    known = {row["name"] for row in connection.execute(f'PRAGMA table_info("{table}")')}
    columns = content["columns"]
    if unknown := set(columns) - known:  # names become part of the SQL statement
        raise ValueError(f"unknown columns {sorted(map(str, unknown))} of {table!r}")
    marks = ", ".join("?" * len(columns))
    connection.executemany(
        f'INSERT INTO "{table}" ({", ".join(columns)}) VALUES ({marks})', content["rows"]
    )
