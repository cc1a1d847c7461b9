"""Columns of a csv or parquet file as arrays; errors that name file, line and value."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError

__all__ = ["Table", "read_csv", "read_parquet"]

_MISSING = ("", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None")
_LABEL_WORDS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


class Table:
    """The columns of one file, converted on demand.

    Parameters
    ----------
    path : Path
        The file, for messages.
    columns : dict of str to pyarrow array
        By name, in the file's order.
    header_lines : int or None
        Lines before the first row; None for files without lines.
    """

    def __init__(self, path: Path, columns: dict[str, Any], header_lines: int | None) -> None:
        self.path = path
        self._columns = columns
        self._header_lines = header_lines

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def check_columns(self, wanted: Sequence[str]) -> None:
        """Refuse names that the file does not have.

        Raises
        ------
        InvalidInputError
            Naming the first one and the columns there are.
        """
        for name in wanted:
            if name not in self._columns:
                raise InvalidInputError(
                    f"{self.path}: column {name!r} must be one of {list(self._columns)}"
                )

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as float64; empty cells and NaN are missing values.

        Raises
        ------
        InvalidInputError
            If a cell is not a finite number; names file, line and value.
        """
        column = self._columns[name]
        if _is_numeric(column):
            numbers = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
        else:
            numbers = self._each(name, _number, "a number")
        infinite = np.isinf(numbers)
        if infinite.any():
            self._refuse(int(np.argmax(infinite)), name, "a finite number")
        return numbers

    def labels(self, name: str) -> NDArray[np.bool_]:
        """Return a column as labels: 0/1 in digits, as 0.0/1.0 or as True/False.

        Raises
        ------
        InvalidInputError
            If a cell is anything else; names file, line and value.
        """
        column = self._columns[name]
        if _is_numeric(column) and column.null_count == 0:
            array = column.to_numpy(zero_copy_only=False)
            wrong = ~np.isin(array, (0, 1))
            if wrong.any():
                self._refuse(int(np.argmax(wrong)), name, "a label (0, 1, True or False)")
            return np.asarray(array, dtype=np.bool_)
        return self._each(name, _label, "a label (0, 1, True or False)").astype(np.bool_)

    def texts(self, name: str) -> list[str]:
        """Return a column as text."""
        return [str(cell) for cell in self._columns[name].to_pylist()]

    def _each(self, name: str, convert: Callable[[Any], float], rule: str) -> NDArray[Any]:
        # Each distinct cell is converted once: columns that end here repeat a few words.
        distinct: dict[Any, float] = {}
        cells = self._columns[name].to_pylist()
        for row, cell in enumerate(cells):
            if cell not in distinct:
                try:
                    distinct[cell] = convert(cell)
                except ValueError:
                    self._refuse(row, name, rule)
        return np.array([distinct[cell] for cell in cells])

    def _refuse(self, row: int, name: str, rule: str) -> None:
        cell = self._columns[name][row].as_py()
        shown = "an empty cell" if cell is None else repr(cell)
        if self._header_lines is None:
            place = f"row {row}"
        else:
            place = f"line {_line_of_row(self.path, row + bool(self._header_lines))}"
        raise InvalidInputError(
            f"{self.path}, {place}: column {name!r} must hold {rule}, got {shown}"
        )


def read_csv(path: Path, *, columns: Sequence[str] | None = None) -> Table:
    """Read a comma-separated file, gzipped or not.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str, optional
        Names of the columns of a file without a header line.

    Raises
    ------
    InvalidInputError
        If the file is empty or a line has the wrong number of cells; names file and line.
    MissingDependencyError
        If pyarrow is not installed.
    """
    pyarrow = require("pyarrow", purpose="reading csv files")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files")
    try:
        # One thread: the files are small, and worker processes read many of them at once.
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=None if columns is None else list(columns)
            ),
            convert_options=arrow_csv.ConvertOptions(
                null_values=_MISSING, strings_can_be_null=True
            ),
        )
        named = _columns(path, table)
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInputError(_csv_complaint(path, columns, error)) from error
    return Table(path, named, 0 if columns is not None else 1)


def read_parquet(path: Path) -> Table:
    """Read a parquet file.

    Raises
    ------
    InvalidInputError
        If it is not one.
    MissingDependencyError
        If pyarrow is not installed.
    """
    pyarrow = require("pyarrow", purpose="reading parquet files")
    parquet = require("pyarrow.parquet", purpose="reading parquet files")
    try:
        table = parquet.read_table(path, use_threads=False, partitioning=None)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{path}: not a readable parquet file: {error}") from error
    return Table(path, _columns(path, table), None)


def _columns(path: Path, table: Any) -> dict[str, Any]:
    if table.num_rows == 0:
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    names = [name.strip() for name in table.column_names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(f"{path}: names of columns must be distinct, got {twice} twice")
    arrays = (column.combine_chunks() for column in table.columns)
    return dict(zip(names, arrays, strict=True))


def _is_numeric(column: Any) -> bool:
    types = require("pyarrow", purpose="reading files").types
    kind = column.type
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _number(cell: Any) -> float:
    if cell is None:
        return float("nan")
    if not isinstance(cell, str):
        raise ValueError
    return float(cell)


def _label(cell: Any) -> bool:
    word = str(cell).strip().lower()
    if word not in _LABEL_WORDS:
        raise ValueError
    return _LABEL_WORDS[word]


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers (from 1), without the blank ones, which the parser skips too."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            if line.rstrip("\n"):
                yield number, line.rstrip("\n")


def _line_of_row(path: Path, row: int) -> int:
    return next(islice(_filled_lines(path), row, None))[0]


def _csv_complaint(path: Path, columns: Sequence[str] | None, error: Exception) -> str:
    """Name the first line with the wrong number of cells, if that is what is wrong."""
    expected = None if columns is None else len(columns)
    try:
        for number, line in _filled_lines(path):
            cells = len(next(csv.reader([line])))
            expected = expected or cells
            if cells != expected:
                return (
                    f"{path}, line {number}: every line must have {expected} cells, "
                    f"got {cells}: {line[:80]!r}"
                )
    except (OSError, EOFError, csv.Error, zlib.error):
        pass  # not even the lines can be read: the parser's own words must do
    return f"{path}: not a readable csv file: {error}"
