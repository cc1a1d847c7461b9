"""Columns of a csv, parquet, npy or npz file, whatever its form."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.cli.csv_dialect import Dialect, header_of, sniff
from vuskit.cli.files import reason_of
from vuskit.datasets.optional import require
from vuskit.datasets.readers.tables import Table
from vuskit.errors import InvalidInputError
from vuskit.inputs import did_you_mean

__all__ = ["ArrayColumns", "Columns", "check_place", "column_names", "listed", "open_columns"]

_FEW = 12
_COLUMN_NUMBER = re.compile(r"[Cc]olumn #(\d+)")
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")


class Columns(Protocol):
    """What a file offers."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def form(self) -> str:
        """What is unusual about the way the file is written."""

    @property
    def unread(self) -> tuple[str, ...]:
        """Columns that were passed over."""

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers, NaN where a cell is empty."""

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Distinct cells as text, and which of them each row holds; ``"None"`` for empty ones."""

    def is_text(self, name: str) -> bool:
        """Whether a column holds words or dates, and not numbers with a bad cell among them."""


def open_columns(path: Path, *, unread: Collection[str] = ()) -> Columns:
    """Open a file by the ending of its name.

    Parameters
    ----------
    path : Path
        The file.
    unread : collection of str, optional
        Names (in small letters) of columns that nobody will ask for; they cost nothing then.

    Raises
    ------
    InvalidInputError
        If there is no such file or it cannot be read; says what to do.
    MissingDependencyError
        If the format needs a library that is not installed.
    """
    check_place(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in _WORKBOOKS:
        raise InvalidInputError(
            f"{path}: a workbook must be saved as csv first: in the spreadsheet with "
            "File > Save As, or in Python with pandas.read_excel(...).to_csv(..., index=False)"
        )
    if suffix not in _OPENERS:
        raise InvalidInputError(
            f"{path}: the name must end in {', '.join(_OPENERS)} or .csv.gz, got {suffix!r}"
        )
    return _OPENERS[suffix](path, unread)


def check_place(path: Path, *, holds: str = "labels and scores") -> None:
    """Refuse what is not a file with something in it.

    Raises
    ------
    InvalidInputError
        Saying what it is and what to do.
    """
    if path.is_dir():
        raise InvalidInputError(
            f"{path} is a folder, not a file; give one of its files, "
            "or run detectors on all of them with: vuskit bench"
        )
    if not path.exists():
        near = did_you_mean(path.name, _names_in(path.parent))
        raise InvalidInputError(f"{path}: there is no such file{near}")
    try:
        with path.open("rb") as stream:
            is_empty = not stream.read(1)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {reason_of(error)}") from error
    if is_empty:
        raise InvalidInputError(f"{path}: the file is empty; it must hold {holds}")


def _names_in(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def column_names(path: Path) -> list[str]:
    """Names of the columns of a csv file, and of others as far as that is quick; for completion."""
    if path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        return header_of(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        parquet = require("pyarrow.parquet", purpose="reading parquet files")
        return list(parquet.read_schema(path).names)
    return list(open_columns(path).names)


def listed(names: Sequence[str]) -> str:
    """Some names, in quotes."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(map(repr, names[:_FEW])) + more


class ArrowColumns:
    """Columns of a csv or parquet file.

    Parameters
    ----------
    path : Path
        The file.
    arrays : dict of str to pyarrow array
        By name.
    header_lines : int or None
        Lines before the first row; None for files without lines.
    form : str
        What is unusual about the way it is written.
    unread : tuple of str
        Columns that were passed over.
    """

    def __init__(
        self,
        path: Path,
        arrays: dict[str, Any],
        header_lines: int | None,
        form: str = "",
        unread: tuple[str, ...] = (),
    ) -> None:
        self.form = form
        self.unread = unread
        self._arrays = arrays
        self._table = Table(path, arrays, header_lines)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._table.names

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers; a cell that is none is refused by its line."""
        return self._table.numbers(name)

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Distinct cells as text, and which of them each row holds; ``"None"`` for empty ones."""
        encoded = self._arrays[name].dictionary_encode(null_encoding="encode")
        words = [str(cell) for cell in encoded.dictionary.to_pylist()]
        return words, encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)

    def is_text(self, name: str) -> bool:
        """Whether a column holds words or dates, and not numbers with a bad cell among them."""
        types = require("pyarrow", purpose="reading files").types
        column = self._arrays[name]
        kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
        if any(is_kind(column.type) for is_kind in kinds):
            return False
        first = column.is_valid().index(True).as_py()
        return first < 0 or not _is_number(column[first].as_py())


class ArrayColumns:
    """Named arrays of a NumPy file."""

    form = ""
    unread: tuple[str, ...] = ()

    def __init__(self, path: Path, arrays: dict[str, NDArray[Any]]) -> None:
        self.path = path
        self._arrays = arrays
        if len({array.shape[0] for array in arrays.values()}) > 1:
            sizes = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
            raise InvalidInputError(f"{path}: arrays must have equal length, got {sizes}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(self._arrays)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return an array as numbers."""
        try:
            return self._arrays[name].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self.path}: {name!r} must hold numbers, got dtype {self._arrays[name].dtype}"
            ) from error

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Distinct cells as text, and which of them each row holds."""
        words, codes = np.unique(self._arrays[name], return_inverse=True)
        return [str(word) for word in words.tolist()], codes

    def is_text(self, name: str) -> bool:
        """Whether an array holds anything but numbers."""
        return self._arrays[name].dtype.kind not in "fiub"


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _open_csv(path: Path, unread: Collection[str]) -> ArrowColumns:
    pyarrow = require("pyarrow", purpose="reading csv files")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files")
    dialect = sniff(path)
    reading = {
        "read_options": arrow_csv.ReadOptions(encoding=dialect.encoding),
        "parse_options": arrow_csv.ParseOptions(delimiter=dialect.separator),
    }
    try:
        every = _column_types(path, dialect, reading)
        types = {name: kind for name, kind in every.items() if not _among(name, unread)}
        table = _read_csv(path, dialect, reading, types)
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeError) as error:
        raise InvalidInputError(_csv_complaint(path, dialect, error)) from error
    passed_over = tuple(name.strip() for name in every if name not in types)
    return ArrowColumns(path, _named(path, table), 1, str(dialect), passed_over)


def _among(name: str, names: Collection[str]) -> bool:
    return name.strip().lower() in names


def _column_types(path: Path, dialect: Dialect, reading: dict[str, Any]) -> dict[str, Any]:
    """Types of the columns, from the beginning of the file.

    Whole numbers there may have fractions further down, so every number is a float.
    """
    pyarrow = require("pyarrow", purpose="reading csv files")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files")
    convert = arrow_csv.ConvertOptions(decimal_point=dialect.decimal, strings_can_be_null=True)
    with arrow_csv.open_csv(path, **reading, convert_options=convert) as stream:
        schema = stream.schema
    _check_distinct(path, schema.names)
    kinds = pyarrow.types
    return {
        field.name: pyarrow.float64()
        if kinds.is_integer(field.type) or kinds.is_null(field.type)
        else field.type
        for field in schema
    }


def _read_csv(path: Path, dialect: Dialect, reading: dict[str, Any], types: dict[str, Any]) -> Any:
    pyarrow = require("pyarrow", purpose="reading csv files")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files")

    def read(column_types: dict[str, Any]) -> Any:
        convert = arrow_csv.ConvertOptions(
            decimal_point=dialect.decimal,
            strings_can_be_null=True,
            include_columns=list(column_types),
            column_types=column_types,
        )
        return arrow_csv.read_csv(path, **reading, convert_options=convert)

    try:
        return read(types)
    except pyarrow.ArrowInvalid as error:
        # A cell further down is of another kind: read as text, its line can be named.
        found = _COLUMN_NUMBER.search(str(error))
        if found is None:
            raise
        names = header_of(path)
        return read({**types, names[int(found[1])]: pyarrow.string()})


def _csv_complaint(path: Path, dialect: Dialect, error: Exception) -> str:
    """Name the first line with the wrong number of cells, if that is what is wrong."""
    arrow_csv = require("pyarrow.csv", purpose="reading csv files")
    seen: list[Any] = []

    def look(row: Any) -> str:
        seen.append(row)
        return "error"

    try:
        arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(encoding=dialect.encoding, use_threads=False),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.separator, invalid_row_handler=look
            ),
        )
    except Exception:  # the second failure is looked at only for the row it is about
        if seen:
            row = seen[0]
            return (
                f"{path}, line {row.number}: every line must have {row.expected_columns} cells, "
                f"got {row.actual_columns}: {row.text[:80]!r}"
            )
    return f"{path}: not a readable csv file: {error}"


def _open_parquet(path: Path, unread: Collection[str]) -> ArrowColumns:
    pyarrow = require("pyarrow", purpose="reading parquet files")
    parquet = require("pyarrow.parquet", purpose="reading parquet files")
    try:
        names = parquet.read_schema(path).names
        _check_distinct(path, names)
        wanted = [name for name in names if not _among(name, unread)]
        table = parquet.read_table(path, columns=wanted, partitioning=None)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{path}: not a readable parquet file: {error}") from error
    passed_over = tuple(name.strip() for name in names if name not in wanted)
    return ArrowColumns(path, _named(path, table), None, unread=passed_over)


def _named(path: Path, table: Any) -> dict[str, Any]:
    if table.num_rows == 0:
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    arrays = (column.combine_chunks() for column in table.columns)
    return dict(zip(map(str.strip, table.column_names), arrays, strict=True))


def _check_distinct(path: Path, names: Sequence[str]) -> None:
    plain = [name.strip() for name in names]
    twice = sorted({name for name in plain if plain.count(name) > 1})
    if twice:
        raise InvalidInputError(f"{path}: names of columns must be distinct, got {twice} twice")


def _open_npy(path: Path, unread: Collection[str]) -> ArrayColumns:
    array = _loaded(path)
    if array.dtype.names:
        return ArrayColumns(path, {name: array[name] for name in array.dtype.names})
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(
            f"{path}: the array must have a column of labels and one for each score, "
            f"got shape {array.shape}"
        )
    return ArrayColumns(path, {str(i): array[:, i] for i in range(array.shape[1])})


def _open_npz(path: Path, unread: Collection[str]) -> ArrayColumns:
    with _loaded(path) as archive:
        try:
            arrays = {name: archive[name] for name in archive.files}
        except ValueError as error:  # Python objects, which are not loaded from strangers' files
            raise InvalidInputError(f"{path}: arrays must hold numbers or text") from error
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    if not flat:
        raise InvalidInputError(f"{path}: must hold 1-D arrays, got {listed(tuple(arrays))}")
    return ArrayColumns(path, flat)


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{path}: not a NumPy file of plain numbers; save one with np.save or np.savez"
        ) from error


_OPENERS: dict[str, Callable[[Path, Collection[str]], Columns]] = {
    ".csv": _open_csv,
    ".tsv": _open_csv,
    ".parquet": _open_parquet,
    ".pq": _open_parquet,
    ".npy": _open_npy,
    ".npz": _open_npz,
}
