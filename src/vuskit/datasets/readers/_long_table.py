"""Long tables: many series in one file, with a column that names the series of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vuskit._util.files import file_state
from vuskit._util.text import quoted
from vuskit.datasets.readers._columns import Table, read_csv, read_parquet
from vuskit.datasets.readers.registry import Candidate
from vuskit.errors import InvalidInputError

__all__ = ["PARQUET", "LongTable", "open_long_table", "open_table"]

PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class LongTable:
    """Rows of many series.

    Attributes
    ----------
    table : Table
        All rows.
    names : tuple of str
        Names of the series, in the order of their first rows.
    order : array of int
        Row numbers of the first series, then of the second, and so on.
    bounds : array of int
        Start of each series in `order`, followed by the length of `order`.
    """

    table: Table
    names: tuple[str, ...]
    order: NDArray[np.intp]
    bounds: NDArray[np.intp]

    def select(self, part: str | None) -> tuple[str, Table]:
        """Return the name and the rows of a series, in file order.

        Raises
        ------
        InvalidInputError
            If no series has this name, or if `part` is None and there are several series.
        """
        if part is None and len(self.names) == 1:
            part = self.names[0]
        if part not in self.names:
            got = "none" if part is None else repr(part)
            raise InvalidInputError(
                f"{self.table.path}: `part` must be one of {len(self.names):,} series, got {got}; "
                f"choose from {quoted(self.names, most=5)}"
            )
        place = self.names.index(part)
        rows = self.order[self.bounds[place] : self.bounds[place + 1]]
        return part, self.table.take(rows)


def open_table(path: Path) -> Table:
    """Read a csv, tsv or parquet file.

    Raises
    ------
    InvalidInputError
        If the file cannot be read.
    """
    return read_parquet(path) if Candidate(path).suffix in PARQUET else read_csv(path)


def open_long_table(path: Path, by: str) -> LongTable:
    """Read a file with many series; caches the last file, whose parts are read in turn.

    Parameters
    ----------
    path : Path
        The file.
    by : str
        Column that names the series of each row.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or a row does not name its series.
    """
    return _open(path, by, file_state(path))


@lru_cache(maxsize=1)
def _open(path: Path, by: str, state: str) -> LongTable:
    table = open_table(path)
    table.check_columns((by,))
    table.check_filled(by, "the name of a series")
    names, codes = table.distinct(by)
    order = np.argsort(codes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(names)))])
    return LongTable(table, tuple(names), order, bounds)
