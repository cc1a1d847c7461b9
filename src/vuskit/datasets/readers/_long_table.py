"""Long tables: rows of many series in one file, and a column that names the series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import quoted
from vuskit.datasets.input_files import file_state
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
        Rows of the first series, then those of the second, and so on.
    bounds : array of int
        Where each series begins in `order`, and its end.
    """

    table: Table
    names: tuple[str, ...]
    order: NDArray[np.intp]
    bounds: NDArray[np.intp]

    def select(self, part: str | None) -> tuple[str, Table]:
        """Return name and rows of a series, in the order of the file.

        Raises
        ------
        InvalidInputError
            If there is no such series, or several and `part` is None.
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
        If it cannot be read.
    """
    return read_parquet(path) if Candidate(path).suffix in PARQUET else read_csv(path)


def open_long_table(path: Path, by: str) -> LongTable:
    """Read a file with many series; the latest one is kept, because its parts follow each other.

    Parameters
    ----------
    path : Path
        The file.
    by : str
        Column with the name of the series of each row.

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
