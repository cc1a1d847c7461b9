"""Checking a store: every score file against its digest, a sample of values computed again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vuskit.bench.files import ScoreFiles
from vuskit.bench.identity import scores_digest
from vuskit.bench.jobs import Job, Task, job_from_spec
from vuskit.bench.reading import DATABASE, open_for_reading
from vuskit.bench.stored import task_maker
from vuskit.bench.work import perform

__all__ = ["Verification", "verify_run"]

# The compiled sweep and its NumPy twin agree to this; another machine's values do too.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verification:
    """What was checked and what was wrong.

    Attributes
    ----------
    n_files, n_values : int
        Score files read, and values computed again.
    problems : tuple of str
        A sentence for each; empty when all is well.
    broken : tuple of str
        Digests of score files that are missing or changed; see `Store.forget_scores`.
    """

    n_files: int
    n_values: int
    problems: tuple[str, ...]
    broken: tuple[str, ...]


def verify_run(
    folder: Path,
    *,
    sample: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check the database, every stored score file, and a sample of values.

    Parameters
    ----------
    folder : Path
        The run folder.
    sample : int, default=20
        How many evaluations to compute again.
    seed : int, default=0
        Which ones.
    progress : callable, optional
        Called with the number of checks done and in all.

    Returns
    -------
    Verification
        With a problem for each damage of the database, each file that is missing or changed, each
        file that nobody knows, and each value that comes out differently.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> verify_run(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    found = _Findings()
    with closing(open_for_reading(folder)) as connection:
        try:
            found.problems += _damages(connection)
            found.problems += _loose_ends(connection)
            _check(connection, folder, found, sample, seed, progress or (lambda done, total: None))
        except sqlite3.DatabaseError as error:
            found.problems.append(
                f"database: {error}, the rest cannot be checked; put back a copy of {DATABASE}, "
                "or remove it and run the plan again"
            )
    return Verification(found.n_files, found.n_values, tuple(found.problems), tuple(found.broken))


@dataclass
class _Findings:
    """What is known so far."""

    n_files: int = 0
    n_values: int = 0
    problems: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def _check(
    connection: sqlite3.Connection,
    folder: Path,
    found: _Findings,
    sample: int,
    seed: int,
    told: Callable[[int, int], None],
) -> None:
    """Check all score files and a sample of values."""
    files, make_task = ScoreFiles(folder), task_maker(folder)
    known = {row["hash"] for row in connection.execute("SELECT hash FROM scores")}
    rows = _chosen(connection, sample, seed)
    total = len(known) + len(rows)
    for place, digest in enumerate(sorted(known)):
        wrong = _file_problems(files.path(digest), digest)
        found.problems += wrong
        found.broken += [digest] * bool(wrong)
        found.n_files += 1
        told(place + 1, total)
    found.problems += _unknown_files(files, known)
    for place, row in enumerate(rows):
        stored = _stored_values(connection, row["id"])
        found.n_values += len(stored)
        found.problems += _value_problems(make_task, row, stored)
        told(len(known) + place + 1, total)


def _damages(connection: sqlite3.Connection) -> list[str]:
    said = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    return [f"database: {line}" for line in said if line != "ok"]


def _loose_ends(connection: sqlite3.Connection) -> list[str]:
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    return [f"database: {len(broken)} rows refer to rows that are gone"] * bool(broken)


def _file_problems(path: Path, digest: str) -> list[str]:
    try:
        scores = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        return [f"{path}: cannot be read: {error}"]
    if scores_digest(scores) != digest:
        return [f"{path}: does not hold the scores that were stored"]
    return []


def _unknown_files(files: ScoreFiles, known: set[str]) -> list[str]:
    return [
        f"{path}: belongs to no job; a killed run may have left it, the next run takes it up"
        for path in sorted(files.folder.rglob("*.npy"))
        if path.stem not in known
    ]


def _chosen(connection: sqlite3.Connection, sample: int, seed: int) -> list[sqlite3.Row]:
    ids = [
        row["id"]
        for row in connection.execute(
            "SELECT id FROM jobs WHERE kind = 'evaluate' AND status = 'OK' ORDER BY key"
        )
    ]
    chosen = np.random.default_rng(seed).permutation(len(ids))[:sample]
    return [
        connection.execute("SELECT * FROM jobs WHERE id = ?", (ids[index],)).fetchone()
        for index in sorted(chosen.tolist())
    ]


def _stored_values(connection: sqlite3.Connection, job_id: int) -> dict[str, float]:
    rows = connection.execute(
        'SELECT name, value FROM "values" JOIN measures ON id = measure_id WHERE job_id = ?',
        (job_id,),
    )
    return {row["name"]: row["value"] for row in rows}


def _value_problems(
    make_task: Callable[[Job], Task], row: sqlite3.Row, stored: dict[str, float]
) -> list[str]:
    job = job_from_spec(row["kind"], json.loads(row["spec"]))
    outcome = perform(make_task(job))
    where = f"job {row['key']} ({job.title})"
    if outcome.values is None:
        return [f"{where}: cannot be computed again: {outcome.message}"]
    problems = []
    for name in sorted({*stored, *outcome.values}):
        then, again = stored.get(name), outcome.values.get(name)
        if then is None or again is None or not abs(then - again) <= _TOLERANCE:
            problems.append(f"{where}: {name} is stored as {then}, computed again it is {again}")
    return problems
