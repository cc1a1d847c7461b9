"""Read columns of csv, parquet and Arrow files as arrays; errors name file, line and value."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.text import is_utf8
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_numbers, doubles_in_order

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Dialect",
    "Table",
    "doubles_from_texts",
    "header_of",
    "may_hold_large_integers",
    "read_arrow",
    "read_csv",
    "read_parquet",
    "sniff",
]

_MISSING = ("NAN", "None")  # in addition to pyarrow's null values
_LABEL_WORDS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_SNIFFED_BYTES = 1 << 16
_SNIFFED_LINES = 20
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"[+-]?\d+")
_EXACT = 2**53  # float64 represents every integer up to here
_SIGNATURES = {
    b"PK\x03\x04": "an Excel workbook or another archive; save the sheet as csv first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as csv first",
    b"\x1f\x8b": "gzipped; give it a name that ends in .csv.gz",
    b"PAR1": "a parquet file; give it a name that ends in .parquet",
    b"\x93NUMPY": "a NumPy file; give it a name that ends in .npy",
    b"%PDF": "a PDF; save the table as csv first",
}


class Table:
    """The columns of one file, converted on demand.

    Parameters
    ----------
    path : Path
        The file, for messages.
    columns : dict of str to pyarrow array
        Columns by name, in the file's order.
    dialect : Dialect, optional
        Separator, decimal sign and encoding; None for a binary file.
    header_lines : int, default=0
        Lines before the first row.
    unread : tuple of str, optional
        Columns that were skipped.
    data : bytes, optional
        Content of the file, if already read.
    read_texts : callable, optional
        Reads the unparsed cells of a column.
    """

    def __init__(
        self,
        path: Path,
        columns: dict[str, Any],
        *,
        dialect: Dialect | None = None,
        header_lines: int = 0,
        unread: tuple[str, ...] = (),
        data: bytes | None = None,
        read_texts: Callable[[str], list[str]] | None = None,
    ) -> None:
        self.path = path
        self.unread = unread
        self._data = data
        self._columns = columns
        self._dialect = dialect
        self._header_lines = header_lines
        self._read_texts = read_texts
        self._rows: NDArray[np.intp] | None = None  # row numbers in the file, if only some

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values())))

    @property
    def form(self) -> str:
        """Description of an unusual separator, decimal sign or encoding; usually empty."""
        return str(self._dialect or "")

    def check_columns(self, wanted: Sequence[str]) -> None:
        """Check that the file has these columns.

        Raises
        ------
        InvalidInputError
            If a column is missing; lists the columns of the file.
        """
        for name in wanted:
            if name not in self._columns:
                raise InvalidInputError(
                    f"{self.path}: there must be a column {name!r}, "
                    f"got columns {list(self._columns)}"
                )

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as float64; empty cells and NaN are missing values.

        Raises
        ------
        InvalidInputError
            If a cell is neither a finite number nor missing; names file, line and value.
        """
        column = self._columns[name]
        if _is_numeric(column):
            numbers = np.asarray(_array(column), dtype=np.float64)
        else:
            numbers = self._each(name, self._number, "a number")
        infinite = np.isinf(numbers)
        if infinite.any():
            self._refuse(int(np.argmax(infinite)), name, "a finite number")
        return numbers

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return a column like `numbers`, but keep the exact order of large integers.

        Distinct integers beyond 2**53 with the same nearest float64 remain distinct.

        Raises
        ------
        InvalidInputError
            As for `numbers`.
        """
        column = self._columns[name]
        types = require("pyarrow", purpose="reading files", extra="cli").types
        if types.is_integer(column.type) and column.null_count == 0:
            return doubles_in_order(name, _array(column))
        numbers = self.numbers(name)
        if self._read_texts is None or not may_hold_large_integers(numbers):
            return numbers
        return doubles_from_texts(name, self._read_texts(name))

    def labels(self, name: str) -> NDArray[np.bool_]:
        """Return a column as labels; cells are 0/1, 0.0/1.0 or True/False.

        Raises
        ------
        InvalidInputError
            If a cell is anything else; names file, line and value.
        """
        column = self._columns[name]
        if _is_numeric(column) and column.null_count == 0:
            array = _array(column)
            wrong = ~np.isin(array, (0, 1))
            if wrong.any():
                self._refuse(int(np.argmax(wrong)), name, "a label (0, 1, True or False)")
            return np.asarray(array, dtype=np.bool_)
        return self._each(name, _label, "a label (0, 1, True or False)").astype(np.bool_)

    def times(self, name: str, pattern: str) -> NDArray[np.datetime64]:
        """Return a column as times.

        Parameters
        ----------
        name : str
            The column.
        pattern : str
            Format of the times, as for `datetime.strptime`.

        Raises
        ------
        InvalidInputError
            If a cell does not have this format; names file, line and value.
        """

        def convert(cell: Any) -> datetime:
            return datetime.strptime(str(cell), pattern)

        example = datetime(2005, 4, 10, 18, 30).strftime(pattern)
        return self._each(name, convert, f"a time such as {example}").astype("datetime64[us]")

    def texts(self, name: str) -> list[str]:
        """Return a column as text."""
        return [str(cell) for cell in self._columns[name].to_pylist()]

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Return distinct cells as text (``"None"`` if empty), and each row's index into them."""
        encoded = self._columns[name].dictionary_encode(null_encoding="encode")
        words = [str(cell) for cell in encoded.dictionary.to_pylist()]
        return words, _array(encoded.indices).astype(np.intp)

    def check_filled(self, name: str, rule: str) -> None:
        """Check that a column has no empty cells; `rule` describes valid cells.

        Raises
        ------
        InvalidInputError
            If a cell is empty; names file, line and rule.
        """
        column = self._columns[name]
        if column.null_count:
            self._refuse(column.is_valid().index(False).as_py(), name, rule)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return a table of some rows; messages still refer to lines of the file."""
        columns = {name: column.take(rows) for name, column in self._columns.items()}
        part = Table(
            self.path,
            columns,
            dialect=self._dialect,
            header_lines=self._header_lines,
            unread=self.unread,
            data=self._data,
        )
        part._rows = rows
        return part

    def is_text(self, name: str) -> bool:
        """Whether a column holds words or dates; False for numbers with a few invalid cells."""
        column = self._columns[name]
        if _is_numeric(column):
            return False
        first = column.is_valid().index(True).as_py()
        try:
            self._number(column[first].as_py() if first >= 0 else "")
        except ValueError:
            return True
        return False

    def dates(self, name: str) -> NDArray[np.datetime64] | None:
        """Return a column of dates in UTC; None if a cell is empty or not a date."""
        column = self._columns[name]
        types = require("pyarrow", purpose="reading files", extra="cli").types
        dated = types.is_timestamp(column.type) or types.is_date(column.type)
        if not dated or column.null_count:
            return None
        times: NDArray[np.datetime64] = column.to_numpy(zero_copy_only=False)
        return times.astype("datetime64[us]")

    def to_arrow(self) -> Any:
        """Return all columns as a pyarrow table."""
        return require("pyarrow", purpose="reading files", extra="cli").table(self._columns)

    def to_frame(self) -> pd.DataFrame:
        """Return all columns as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def _number(self, cell: Any) -> float:
        if cell is None:
            return float("nan")
        if not isinstance(cell, str):
            raise ValueError
        if self._dialect is not None and self._dialect.decimal != ".":
            cell = cell.replace(self._dialect.decimal, ".")
        return float(cell)

    def _each(self, name: str, convert: Callable[[Any], Any], rule: str) -> NDArray[Any]:
        # Convert each distinct cell once: text columns usually repeat a few words.
        distinct: dict[Any, Any] = {}
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
        row = row if self._rows is None else int(self._rows[row])
        if self._dialect is None:
            place = f"row {row}"
        else:
            place_in_file = row + self._header_lines
            number = line_of_row(self.path, place_in_file, self._dialect.encoding, self._data)
            place = f"line {number}"
        raise InvalidInputError(
            f"{self.path}, {place}: column {name!r} must hold {rule}, got {shown}"
        )


def read_csv(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    unread: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    r"""Read a text file separated by commas, semicolons, tabs, bars or spaces; may be gzipped.

    The separator, the decimal sign and the encoding are detected from the beginning of the file,
    and the type of a column from all of its cells.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str, optional
        Column names for a file without a header line.
    unread : collection of str, optional
        Lower-case names of columns to skip; the parser does not convert them.
    threads : bool, default=False
        Use all processors. Worker processes that read many small files at once do better without.
    data : bytes, optional
        Content of the file, if already read; `path` then only provides the name.

    Raises
    ------
    InvalidInputError
        If the file is empty or a line has the wrong number of cells; names file and line.
    MissingDependencyError
        If pyarrow is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pump.csv"
    >>> _ = path.write_text("value;label\n0,5;0\n1,5;1\n")
    >>> table = read_csv(path)
    >>> table.numbers("value"), table.labels("label"), table.form
    (array([0.5, 1.5]), array([False,  True]), 'semicolon-separated, decimal commas')
    """
    pyarrow = require("pyarrow", purpose="reading csv files", extra="cli")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    dialect = Dialect()
    try:
        dialect = _sniff_start(path, data)[0]
        options = _csv_options(dialect, columns, threads=threads)
        skipped = _skip_columns(path, options, unread, data) if unread else []
        table = arrow_csv.read_csv(_arrow_input(path, data), **options)
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeError, zlib.error) as error:
        raise InvalidInputError(_csv_problem(path, dialect, columns, error, data)) from error
    return Table(
        path,
        _named(path, table),
        dialect=dialect,
        header_lines=int(columns is None),
        unread=tuple(map(str.strip, skipped)),
        data=data,
        read_texts=partial(_read_texts, path, data, dialect, columns),
    )


def _read_texts(
    path: Path, data: bytes | None, dialect: Dialect, columns: Sequence[str] | None, name: str
) -> list[str]:
    pyarrow = require("pyarrow", purpose="reading csv files", extra="cli")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    options = _csv_options(dialect, columns, threads=False)
    with arrow_csv.open_csv(_arrow_input(path, data), **options) as stream:
        written = next(known for known in stream.schema.names if known.strip() == name)
    options["convert_options"].include_columns = [written]
    options["convert_options"].column_types = {written: pyarrow.string()}
    cells = arrow_csv.read_csv(_arrow_input(path, data), **options).column(0).to_pylist()
    return [cell.replace(dialect.decimal, ".") for cell in cells]


def may_hold_large_integers(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers read as float64 may be rounded integers; False if any is NaN."""
    return bool((np.abs(numbers) >= _EXACT).any()) and not np.isnan(numbers).any()


def doubles_from_texts(name: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Convert text to float64; distinct large integers keep their order.

    Examples
    --------
    >>> doubles_from_texts("score", ["9007199254740993", "9007199254740992", "0.5"]).tolist()
    [9007199254740994.0, 9007199254740992.0, 0.5]
    """
    numbers = [int(text) if _INTEGER.fullmatch(text.strip()) else float(text) for text in texts]
    return doubles_in_order(name, check_numbers(name, numbers))


def read_parquet(
    path: Path,
    *,
    unread: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    """Read a parquet file.

    Parameters
    ----------
    path : Path
        The file.
    unread : collection of str, optional
        Lower-case names of columns to skip; they are not read from disk.
    threads : bool, default=False
        Use all processors.
    data : bytes, optional
        Content of the file, if already read.

    Raises
    ------
    InvalidInputError
        If the file is not readable as parquet.
    MissingDependencyError
        If pyarrow is not installed.
    """
    pyarrow = require("pyarrow", purpose="reading parquet files", extra="cli")
    parquet = require("pyarrow.parquet", purpose="reading parquet files")
    try:
        content = path.read_bytes() if data is None and not is_utf8(str(path)) else data
        source = path if content is None else pyarrow.BufferReader(content)
        names = parquet.read_schema(source).names
        _check_distinct(path, names)
        skipped = _among(names, unread)
        wanted = [name for name in names if name not in skipped]
        table = parquet.read_table(source, columns=wanted, use_threads=threads, partitioning=None)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{path}: not a readable parquet file: {error}") from error
    return Table(path, _named(path, table), unread=tuple(map(str.strip, skipped)))


def read_arrow(
    path: Path,
    *,
    unread: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    """Read an Arrow (or Feather) file, or an Arrow stream.

    Parameters are those of `read_parquet`; `threads` has no effect.

    Raises
    ------
    InvalidInputError
        If the file is not readable as Arrow.
    MissingDependencyError
        If pyarrow is not installed.
    """
    pyarrow = require("pyarrow", purpose="reading Arrow files", extra="cli")
    ipc = require("pyarrow.ipc", purpose="reading Arrow files", extra="cli")
    try:
        content = path.read_bytes() if data is None else data
        try:
            table = ipc.open_file(pyarrow.BufferReader(content)).read_all()
        except pyarrow.ArrowInvalid:
            table = ipc.open_stream(pyarrow.BufferReader(content)).read_all()
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{path}: not a readable Arrow file: {error}") from error
    _check_distinct(path, table.column_names)
    skipped = _among(table.column_names, unread)
    kept = table.drop_columns(skipped) if skipped else table
    return Table(path, _named(path, kept), unread=tuple(map(str.strip, skipped)))


def _csv_options(
    dialect: Dialect, columns: Sequence[str] | None, *, threads: bool, **parsing: Any
) -> dict[str, Any]:
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    return {
        "read_options": arrow_csv.ReadOptions(
            use_threads=threads,
            encoding=dialect.encoding,
            column_names=None if columns is None else list(columns),
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=dialect.separator, **parsing),
        "convert_options": arrow_csv.ConvertOptions(
            decimal_point=dialect.decimal,
            null_values=[*arrow_csv.ConvertOptions().null_values, *_MISSING],
            strings_can_be_null=True,
        ),
    }


def _skip_columns(
    path: Path, options: dict[str, Any], unread: Collection[str], data: bytes | None
) -> list[str]:
    """Make the parser skip some columns; return their names as written in the file."""
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    with arrow_csv.open_csv(_arrow_input(path, data), **options) as stream:
        names = stream.schema.names
    _check_distinct(path, names)
    skipped = _among(names, unread)
    wanted = [name for name in names if name not in skipped]
    options["convert_options"].include_columns = wanted
    return skipped


def _among(names: Sequence[str], unwanted: Collection[str]) -> list[str]:
    return [name for name in names if name.strip().lower() in unwanted]


def _check_distinct(path: Path, names: Sequence[str]) -> None:
    plain = [name.strip() for name in names]
    twice = sorted({name for name in plain if plain.count(name) > 1})
    if twice:
        raise InvalidInputError(
            f"{path}: column names must be unique, got {twice} twice; rename or drop columns"
        )


def _named(path: Path, table: Any) -> dict[str, Any]:
    if table.num_rows == 0:
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    _check_distinct(path, table.column_names)
    arrays = (column.combine_chunks() for column in table.columns)
    return dict(zip(map(str.strip, table.column_names), arrays, strict=True))


def _is_numeric(column: Any) -> bool:
    types = require("pyarrow", purpose="reading files", extra="cli").types
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    return any(is_kind(column.type) for is_kind in kinds)


def _array(column: Any) -> NDArray[Any]:
    """Return a column of numbers as an array; pyarrow's own conversion imports pandas."""
    types = require("pyarrow", purpose="reading files", extra="cli").types
    simple = types.is_integer(column.type) or types.is_floating(column.type)
    if simple and column.null_count == 0 and len(column):
        return np.from_dlpack(column)
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array


def _label(cell: Any) -> bool:
    word = str(cell).strip().lower()
    if word not in _LABEL_WORDS:
        raise ValueError
    return _LABEL_WORDS[word]


def _csv_problem(
    path: Path,
    dialect: Dialect,
    columns: Sequence[str] | None,
    error: Exception,
    data: bytes | None,
) -> str:
    """Describe why a csv file is unreadable; names the first line with a wrong number of cells."""
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    invalid: list[Any] = []

    def record(row: Any) -> str:
        invalid.append(row)
        return "error"

    # pyarrow numbers rows only without threads.
    options = _csv_options(dialect, columns, threads=False, invalid_row_handler=record)
    try:
        arrow_csv.read_csv(_arrow_input(path, data), **options)
    except Exception:  # the file is read again only to find the invalid row
        if invalid:
            row = invalid[0]
            number = line_of_row(path, row.number - 1, dialect.encoding, data)
            return (
                f"{path}, line {number}: every line must have {row.expected_columns} cells, "
                f"got {row.actual_columns}: {row.text[:80]!r}"
            )
    return f"{path}: not a readable csv file: {error}"


# -- dialect of a csv file -----------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    """Separator, decimal sign and encoding of a csv file.

    Attributes
    ----------
    separator : str
        Character between cells.
    decimal : str
        Decimal point or comma.
    encoding : str
        Python's name of the encoding.
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def __str__(self) -> str:
        parts = []
        if self.separator != ",":
            parts.append(f"{_SEPARATORS[self.separator]}-separated")
        if self.decimal != ".":
            parts.append("decimal commas")
        if self.encoding != "utf-8":
            parts.append(self.encoding.upper())
        return ", ".join(parts)


def sniff(path: Path) -> Dialect:
    r"""Detect separator, decimal sign and encoding from the beginning of a file.

    Parameters
    ----------
    path : Path
        A text file, gzipped if its name ends in ``.gz``.

    Raises
    ------
    InvalidInputError
        If the content is not text, regardless of the file's name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pump.csv"
    >>> _ = path.write_text("value;label\n0,5;0\n1,5;1\n")
    >>> sniff(path)
    Dialect(separator=';', decimal=',', encoding='utf-8')
    >>> print(sniff(path))
    semicolon-separated, decimal commas
    """
    return _sniff_start(path)[0]


def header_of(path: Path, data: bytes | None = None) -> list[str]:
    """Return the column names without reading the rest of the file.

    Raises
    ------
    InvalidInputError
        If the content is not text, regardless of the file's name.
    """
    dialect, lines = _sniff_start(path, data)
    return [name.strip() for name in _cells(lines[0], dialect.separator)] if lines else []


def line_of_row(path: Path, row: int, encoding: str, data: bytes | None = None) -> int:
    """Return the line number (from 1) of a row (from 0); blank lines are not rows."""
    with _opened(path, data) as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="replace")
        filled = (number for number, line in enumerate(text, start=1) if line.rstrip("\n"))
        return next(islice(filled, row, None))


def _sniff_start(path: Path, data: bytes | None = None) -> tuple[Dialect, list[str]]:
    """Return the dialect and the first lines of a file."""
    with _opened(path, data) as stream:
        start = stream.read(_SNIFFED_BYTES)
    for signature, what in _SIGNATURES.items():
        if start.startswith(signature):
            raise InvalidInputError(f"{path}: not a csv file but {what}")
    encoding = _encoding(start)
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    if "\0" in text:
        raise InvalidInputError(
            f"{path}: not a csv file: it contains binary data; save the table as csv first"
        )
    lines = [line for line in text.splitlines() if line]
    if len(start) == _SNIFFED_BYTES and len(lines) > 1:
        lines.pop()  # probably truncated
    lines = lines[:_SNIFFED_LINES]
    separator = _separator(lines)
    return Dialect(separator, _decimal(lines, separator), encoding), lines


def _opened(path: Path, data: bytes | None = None) -> IO[bytes]:
    is_packed = path.suffix.lower() == ".gz"
    if data is not None:
        stream = io.BytesIO(data)
        return cast("IO[bytes]", gzip.open(stream)) if is_packed else stream
    return cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb")


def _arrow_input(path: Path, data: bytes | None) -> Any:
    """Input for pyarrow: the path, or a stream of the content if already read."""
    if data is None and not is_utf8(str(path)):  # pyarrow cannot open names that are not UTF-8
        data = path.read_bytes()
    return path if data is None else _opened(path, data)


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # may end within a character
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that splits the most lines into as many cells as the first line.

    Ties go to more cells, then to more numeric cells: comma and semicolon tie in ``0,5;1``.
    """
    rows = {
        separator: [_cells(line, separator) for line in lines]
        for separator in _SEPARATORS
        if lines and separator in lines[0]
    }
    quality = {separator: _fit(cut) for separator, cut in rows.items() if len(cut[0]) > 1}
    alike = [separator for separator in quality if quality[separator] == max(quality.values())]
    if len(alike) > 1:
        return max(alike, key=lambda separator: _numbers(rows[separator], separator))
    return alike[0] if alike else ","


def _fit(rows: list[list[str]]) -> tuple[int, int]:
    """Number of rows with as many cells as the first row, and that number of cells."""
    size = len(rows[0])
    return sum(len(row) == size for row in rows), size


def _numbers(rows: list[list[str]], separator: str) -> int:
    decimals = "." if separator == "," else ".,"
    number = re.compile(rf"\s*[+-]?\d*[{decimals}]?\d+(?:[eE][+-]?\d+)?\s*")
    return sum(bool(number.fullmatch(cell)) for row in rows for cell in row)


def _decimal(lines: Sequence[str], separator: str) -> str:
    if separator == ",":
        return "."
    cells = [cell.strip() for line in lines for cell in _cells(line, separator)]
    points = sum(bool(_DECIMAL_POINT.fullmatch(cell)) for cell in cells)
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    return "," if commas > points else "."


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []
