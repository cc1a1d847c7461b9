"""What earlier runs know: series that they have read, jobs that they have finished."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from vuskit.bench.reading import open_if_any
from vuskit.bench.schema import create_schema
from vuskit.bench.sources import SeriesRef, SeriesSource
from vuskit.bench.states import Kind

__all__ = ["SERIES_FACTS", "Knowledge", "read_knowledge"]

SERIES_FACTS = tuple(
    entry.name for entry in fields(SeriesRef) if entry.name not in ("source", "left_out")
)
"""Columns that describe a series."""


class Knowledge:
    """What a store knows; nothing is added to it.

    Parameters
    ----------
    connection : sqlite3.Connection
        To the tables of a store, with rows that have names.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known_series(self) -> dict[tuple[str, str], SeriesRef]:
        """Series by their source and its stamp, as read in earlier runs.

        Those that an earlier version has entered are read once more: it knew less of them, and
        took other columns of tables for channels.
        """
        rows = self._connection.execute(
            "SELECT spec, stamp, hash, sources.dataset, sources.name, n_points, n_channels, "
            "n_anomalies, anomalous_points, n_missing, left_out FROM sources "
            "JOIN series ON hash = series_hash WHERE n_missing IS NOT NULL"
        )
        return {
            (row["spec"], row["stamp"]): SeriesRef(
                **{name: row[name] for name in SERIES_FACTS},
                source=SeriesSource(row["spec"]),
                left_out=tuple(json.loads(row["left_out"] or "[]")),
            )
            for row in rows
        }

    def add_series(self, series: Iterable[tuple[SeriesRef, str]]) -> None:
        """Forget series that were read: only a `Store` keeps them."""

    def finished_jobs(self, *kinds: Kind) -> dict[str, sqlite3.Row]:
        """Finished jobs of these kinds by key."""
        marks = ", ".join("?" * len(kinds))
        rows = self._connection.execute(
            "SELECT id, key, status, series_hash, scores_hash, identity, measures FROM jobs "
            f"WHERE kind IN ({marks})",
            kinds,
        )
        return {row["key"]: row for row in rows}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def read_knowledge(folder: Path) -> Knowledge:
    """What the runs of a folder know so far, without writing to it or keeping a run from it.

    A folder that is not there, or holds no run, knows nothing.

    Raises
    ------
    InvalidInputError
        If there is a store that cannot be read.

    Examples
    --------
    >>> read_knowledge(Path("nowhere")).known_series()
    {}
    """
    connection = open_if_any(folder)
    if connection is None:
        connection = sqlite3.connect(":memory:")
        connection.row_factory = sqlite3.Row
        create_schema(connection)
    return Knowledge(connection)
