"""Every value that a run was asked for, with what became of it: also those that are not there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit.bench.measures import measures_of
from vuskit.bench.reading import latest_run, open_for_reading
from vuskit.bench.results import read_values_table
from vuskit.bench.states import Kind, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_outcomes_table"]

_SCORED = """
SELECT series.dataset, series.name AS series, label AS detector, seed, status,
       fit_seconds, score_seconds, warm_up_seconds, peak_bytes, cold,
       identity AS detector_identity, key AS score_key, scores_hash, series_hash
FROM jobs JOIN series ON series.hash = series_hash
WHERE kind IN (?, ?) AND run_id = ?
"""
_EVALUATED = """
SELECT series_hash, scores_hash, identity, measures, status, key, buffer, buffer_reason
FROM jobs WHERE kind = ? AND run_id = ? ORDER BY id
"""
# What may be absent is of a kind that can say so.
_KINDS = {
    **dict.fromkeys(["seed", "buffer", "peak_bytes"], "Int64"),
    **dict.fromkeys(["value", "fit_seconds", "score_seconds", "warm_up_seconds"], "float64"),
    "higher_is_better": "bool",
    "cold": "int64",
}
_ORDER = ["dataset", "series", "detector", "seed", "settings"]


def read_outcomes_table(folder: Path) -> pd.DataFrame:
    """One row per series, detector, seed, settings and measure that the latest plan asks for.

    As `read_values_table`, with a column ``status``: of the scores, where they failed or were
    skipped, else of their evaluation. Where there is no value the cell is empty, also of a measure
    that is not defined there. What has not run yet has no row.

    Raises
    ------
    InvalidInputError
        If there is no run.
    MissingDependencyError
        If pandas is not installed.

    Examples
    --------
    >>> read_outcomes_table(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    pandas = require("pandas", purpose="a table of values")
    values = read_values_table(folder)
    there = set(zip(values["score_key"], values["settings"], values["measure"], strict=True))
    with closing(open_for_reading(folder)) as connection:
        run = latest_run(connection, folder)
        measures = measures_of(connection, run)
        place = dict(connection.execute("SELECT name, id FROM measures ORDER BY id").fetchall())
        absent = [
            {
                **row,
                "measure_title": measures[row["measure"]].title,
                "higher_is_better": measures[row["measure"]].higher_is_better,
            }
            for row in _asked_for(connection, run)
            if (row["score_key"], row["settings"], row["measure"]) not in there
        ]
    values.insert(list(values).index("value"), "status", str(Status.OK))
    rows = pandas.DataFrame(absent, columns=list(values))
    kinds = {**values.dtypes, **_KINDS}
    parts = [part.astype(kinds) for part in (values, rows) if len(part)] or [values]
    table: pd.DataFrame = pandas.concat(parts)
    return table.sort_values(
        [*_ORDER, "measure"],
        key=lambda column: column.map(place) if column.name == "measure" else column,
        kind="stable",
        na_position="first",
        ignore_index=True,
    )


def _asked_for(connection: sqlite3.Connection, run: sqlite3.Row) -> Iterator[dict[str, Any]]:
    """Rows of all values that finished jobs were to give, without the values."""
    wanted = dict.fromkeys(map(tuple, json.loads(run["wanted"])))
    evaluated = _evaluations(connection, run)
    for scored in connection.execute(_SCORED, (Kind.SCORE, Kind.IMPORT, run["id"])):
        facts = dict(scored)
        subject = facts.pop("series_hash"), facts.pop("scores_hash")
        for settings, measure, *identity in wanted:
            asked = {
                **facts,
                "settings": settings,
                "measure": measure,
                "measure_identity": identity[0] if identity else None,
            }
            if scored["status"] != Status.OK:
                yield asked
                continue
            evaluation = evaluated.get((*subject, settings, measure))
            if evaluation is not None:
                yield {**asked, **evaluation}


def _evaluations(
    connection: sqlite3.Connection, run: sqlite3.Row
) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    """What became of each measure of stored scores; of several attempts the last."""
    found = {}
    for row in connection.execute(_EVALUATED, (Kind.EVALUATE, run["id"])):
        facts = {
            "status": row["status"],
            "buffer": row["buffer"],
            "buffer_reason": row["buffer_reason"],
            "evaluate_key": row["key"],
        }
        for identity in json.loads(row["measures"]):
            name = identity.rpartition(" @ ")[0]
            found[row["series_hash"], row["scores_hash"], row["identity"], name] = facts
    return found
