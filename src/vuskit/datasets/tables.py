"""Read columns of csv, parquet and Arrow files as arrays; errors name file, line and value."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zipfile
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
from vuskit._util.text import is_utf8, quoted
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

_MISSING = ("NAN", "None")  # in addition to pyarrow's null values
_LABEL_WORDS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_INTEGER = re.compile(r"[+-]?\d+")
LARGEST_EXACT = 2**53
"""Float64 represents every integer up to here."""
EXACT_RULE = (
    "integers up to 2**53, because float64 rounds larger ones to equal scores (subtract a "
    "constant, or save ranks)"
)

_SNIFFED_BYTES = 1 << 16
_SNIFFED_LINES = 20
_LINE_END = re.compile(r"\r\n?|\n")  # str.splitlines also splits at U+2028 and others
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_SIGNATURES = {
    b"PK\x03\x04": "an Excel workbook or another archive; save the sheet as csv first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as csv first",
    b"\x1f\x8b": "gzipped; give it a name that ends in .csv.gz",
    b"PAR1": "a parquet file; give it a name that ends in .parquet",
    b"\x93NUMPY": "a NumPy file; give it a name that ends in .npy",
    b"%PDF": "a PDF; save the table as csv first",
}


@dataclass(frozen=True)
class Dialect:
    """Separator, decimal sign and encoding of a csv file."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    ambiguous: str = ""

    def __str__(self) -> str:
        parts = []
        if self.separator != "," or self.decimal != ".":
            parts.append(f"{_SEPARATORS[self.separator]}-separated")
        if self.decimal != ".":
            parts.append("decimal commas")
        if self.encoding != "utf-8":
            parts.append(self.encoding.upper())
        return ", ".join(parts)


class Table:
    """The columns of one file, converted on demand."""

    def __init__(
        self,
        path: Path,
        columns: dict[str, Any],
        *,
        dialect: Dialect | None = None,
        header_lines: int = 0,
        unread: tuple[str, ...] = (),
        data: bytes | None = None,
        first_row: int = 0,
    ) -> None:
        self.path = path
        self.unread = unread
        self._data = data
        self._columns = columns
        self._dialect = dialect
        self._header_lines = header_lines
        self._first_row = first_row
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
        """Check that the file has these columns."""
        for name in wanted:
            if name not in self._columns:
                raise InvalidInputError(
                    f"{self.path}: there must be a column {name!r}, "
                    f"got columns {list(self._columns)}"
                )

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as float64; empty cells and NaN are missing values."""
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
        """Return a column like `numbers`, and check that no integer loses digits as float64."""
        numbers = self.numbers(name)
        large = np.abs(numbers) >= LARGEST_EXACT
        if large.any():
            row = int(large.argmax())
            types = require("pyarrow", purpose="reading files", extra="cli").types
            if types.is_integer(self._columns[name].type) or self._is_written_whole(row, numbers):
                self._refuse(row, name, EXACT_RULE)
        return numbers

    def _is_written_whole(self, row: int, numbers: NDArray[np.float64]) -> bool:
        """Whether a number that csv files yield as float64 is written as an integer."""
        if self._dialect is None:
            return False
        cells = self._line(row)[1].split(self._dialect.separator)
        words = [cell.strip().strip('"') for cell in cells]
        return any(_INTEGER.fullmatch(word) and float(word) == numbers[row] for word in words)

    def labels(self, name: str) -> NDArray[np.bool_]:
        """Return a column as labels; cells are 0/1, 0.0/1.0 or True/False."""
        column = self._columns[name]
        if _is_numeric(column) and column.null_count == 0:
            array = _array(column)
            wrong = ~np.isin(array, (0, 1))
            if wrong.any():
                self._refuse(int(np.argmax(wrong)), name, "a label (0, 1, True or False)")
            return np.asarray(array, dtype=np.bool_)
        return self._each(name, _label, "a label (0, 1, True or False)").astype(np.bool_)

    def times(self, name: str, pattern: str) -> NDArray[np.datetime64]:
        """Return a column as times."""

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
        """Check that a column has no empty cells; `rule` describes valid cells."""
        column = self._columns[name]
        if column.null_count:
            self._refuse(column.is_valid().index(False).as_py(), name, rule)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return a table of some rows; messages still refer to lines of the file."""
        part = self._part({n: column.take(rows) for n, column in self._columns.items()})
        part._rows = rows + self._first_row if self._rows is None else self._rows[rows]
        return part

    def slice(self, start: int, stop: int) -> Table:
        """Return consecutive rows without copying them."""
        part = self._part({n: c.slice(start, stop - start) for n, c in self._columns.items()})
        part._first_row = self._first_row + start
        part._rows = None if self._rows is None else self._rows[start:stop]
        return part

    def _part(self, columns: dict[str, Any]) -> Table:
        return Table(
            self.path,
            columns,
            dialect=self._dialect,
            header_lines=self._header_lines,
            unread=self.unread,
            data=self._data,
        )

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

    def first_cell(self, name: str) -> str:
        """Return the first cell that is not empty as text."""
        column = self._columns[name]
        first = column.is_valid().index(True).as_py()
        return str(column[first].as_py()) if first >= 0 else ""

    def is_dated(self, name: str) -> bool:
        """Whether a column holds dates."""
        return is_dated(self._columns[name].type)

    def dates(self, name: str) -> NDArray[np.datetime64] | None:
        """Return a column of dates in UTC; None if a cell is empty or not a date."""
        column = self._columns[name]
        if not self.is_dated(name) or column.null_count:
            return None
        times: NDArray[np.datetime64] = column.to_numpy(zero_copy_only=False)
        return times.astype("datetime64[us]")

    def has_zone(self, name: str) -> bool:
        """Whether a column of dates has a time zone."""
        return getattr(self._columns[name].type, "tz", None) is not None

    def cells(self, name: str) -> NDArray[np.object_]:
        """Return a column as objects; empty cells are None."""
        return np.array(self._columns[name].to_pylist(), dtype=object)

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
        place = (
            f"row {self._row_in_file(row)}"
            if self._dialect is None
            else (f"line {self._line(row)[0]}")
        )
        raise InvalidInputError(
            f"{self.path}, {place}: column {name!r} must hold {rule}, got {shown}"
        )

    def _row_in_file(self, row: int) -> int:
        return row + self._first_row if self._rows is None else int(self._rows[row])

    def _line(self, row: int) -> tuple[int, str]:
        """Number and text of the line of a row."""
        assert self._dialect is not None
        place = self._row_in_file(row) + self._header_lines
        return line_of_row(self.path, place, self._dialect.encoding, self._data)


def read_csv(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    unread: Collection[str] = (),
    texts: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    r"""Read a text file separated by commas, semicolons, tabs, bars or spaces; may be gzipped.

    The separator, the decimal sign and the encoding are detected from the beginning of the file,
    and the type of a column from all of its cells.

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
        dialect = sniff_start(path, data)[0]
        if dialect.ambiguous:
            plain = dialect.ambiguous.replace(",", "").replace(".", "")
            raise InvalidInputError(
                f"{path}: numbers must have a clear decimal sign, got {dialect.ambiguous}, which "
                f"is {plain} or {dialect.ambiguous.replace(',', '.')}; write numbers without "
                "separators of thousands and with decimal points"
            )
        options = _csv_options(dialect, columns, threads=threads)
        skipped = _skip_columns(path, options, unread, texts, data) if unread or texts else []
        table = arrow_csv.read_csv(arrow_input(path, data), **options)
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeError, zlib.error) as error:
        _read_bytes(path, data)  # names a damaged gzip file
        raise InvalidInputError(_csv_problem(path, dialect, columns, error, data)) from error
    return Table(
        path,
        named_columns(path, table),
        dialect=dialect,
        header_lines=int(columns is None),
        unread=tuple(map(str.strip, skipped)),
        data=data,
    )


def read_parquet(
    path: Path,
    *,
    unread: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    """Read a parquet file."""
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
    return Table(path, named_columns(path, table), unread=tuple(map(str.strip, skipped)))


def read_arrow(
    path: Path,
    *,
    unread: Collection[str] = (),
    threads: bool = False,
    data: bytes | None = None,
) -> Table:
    """Read an Arrow (or Feather) file, or an Arrow stream.

    Parameters are those of `read_parquet`; `threads` has no effect.
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
    return Table(path, named_columns(path, kept), unread=tuple(map(str.strip, skipped)))


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
    path: Path,
    options: dict[str, Any],
    unread: Collection[str],
    texts: Collection[str],
    data: bytes | None,
) -> list[str]:
    """Make the parser skip or not convert columns; return the skipped ones as written."""
    pyarrow = require("pyarrow", purpose="reading csv files", extra="cli")
    arrow_csv = require("pyarrow.csv", purpose="reading csv files", extra="cli")
    with arrow_csv.open_csv(arrow_input(path, data), **options) as stream:
        names = stream.schema.names
    _check_distinct(path, names)
    skipped = _among(names, unread)
    wanted = [name for name in names if name not in skipped]
    options["convert_options"].include_columns = wanted
    options["convert_options"].column_types = {
        name: pyarrow.string() for name in wanted if name.strip() in texts
    }
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


def named_columns(path: Path, table: Any) -> dict[str, Any]:
    """Return the columns of a pyarrow table by name, categories and decimals as plain values."""
    if table.num_rows == 0:
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    _check_distinct(path, table.column_names)
    types = require("pyarrow", purpose="reading files", extra="cli").types

    def plain(column: Any) -> Any:
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast("float64") if types.is_decimal(column.type) else column

    arrays = [plain(column).combine_chunks() for column in table.columns]
    return dict(zip(map(str.strip, table.column_names), arrays, strict=True))


def is_dated(kind: Any) -> bool:
    """Whether a type of pyarrow is of dates."""
    types = require("pyarrow", purpose="reading files", extra="cli").types
    return bool(types.is_timestamp(kind) or types.is_date(kind))


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
        arrow_csv.read_csv(arrow_input(path, data), **options)
    except Exception:  # the file is read again only to find the invalid row
        if invalid:
            row = invalid[0]
            number, _ = line_of_row(path, row.number - 1, dialect.encoding, data)
            return (
                f"{path}, line {number}: every line must have {row.expected_columns} cells, "
                f"got {row.actual_columns}: {row.text[:80]!r}"
            )
    return f"{path}: not a readable csv file: {error}"


# -- any format -----------------------------------------------------------------------------------

_TEXT = (".csv", ".tsv")
PARQUET = (".parquet", ".pq")
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")


def open_table(
    path: Path,
    *,
    unread: Collection[str] = (),
    texts: Collection[str] = (),
    data: bytes | None = None,
    threads: bool = True,
) -> Table:
    """Open a file in the format given by its suffix."""
    suffix = table_suffix(path)
    if suffix in _WORKBOOKS:
        raise InvalidInputError(
            f"{path}: a workbook must be saved as csv first: in the spreadsheet with "
            "File > Save As, or in Python with pandas.read_excel(...).to_csv(..., index=False)"
        )
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"{path}: the name must end in {', '.join(SUFFIXES)} or .csv.gz, got {suffix!r}; "
            "rename or convert the file"
        )
    if suffix in _TEXT:
        return _open_csv(path, unread, texts, data, threads)
    return _OPENERS[suffix](path, unread, data, threads)


def table_suffix(path: Path) -> str:
    """Lower-case suffix of a file name, ignoring a final ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_text_file(path: Path) -> bool:
    """Whether the suffix of a file is csv or tsv."""
    return table_suffix(path) in _TEXT


def _read_bytes(path: Path, data: bytes | None) -> bytes:
    content = path.read_bytes() if data is None else data
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged_gzip(path, error) from error


def column_names(path: Path) -> list[str]:
    """Return column names, reading as little of the file as its format allows."""
    if is_text_file(path):
        return header_of(path)
    if path.suffix.lower() in PARQUET:
        parquet = require("pyarrow.parquet", purpose="reading parquet files")
        return list(parquet.read_schema(path).names)
    return list(open_table(path).names)


def _open_csv(
    path: Path,
    unread: Collection[str],
    texts: Collection[str],
    data: bytes | None,
    threads: bool,
) -> Table:
    """Read a csv file with or without a header line."""
    names = header_of(path, data)
    headless = bool(names) and all(is_number(name) for name in names)
    columns = [str(place) for place in range(len(names))] if headless else None
    return read_csv(
        path,
        columns=columns,
        unread=() if headless else unread,
        texts=texts,
        threads=threads,
        data=data,
    )


def _open_table(
    read: Any, path: Path, unread: Collection[str], data: bytes | None, threads: bool
) -> Table:
    packed = path.suffix.lower() == ".gz"
    content = _read_bytes(path, data) if packed or data is not None else None
    table: Table = read(path, unread=unread, threads=threads, data=content)
    return table


def _open_npy(path: Path, unread: Collection[str], data: bytes | None, threads: bool) -> Table:
    array = _loaded(path, data)
    if array.dtype.names:
        return _of_arrays(path, {name: array[name] for name in array.dtype.names})
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        return _of_arrays(path, {"0": array.reshape(-1)})
    if array.ndim != 2:
        raise InvalidInputError(
            f"{path}: the array must be 1-D, or 2-D with a column for labels and for each score, "
            f"got shape {array.shape}"
        )
    return _of_arrays(path, {str(i): array[:, i] for i in range(array.shape[1])})


def _open_npz(path: Path, unread: Collection[str], data: bytes | None, threads: bool) -> Table:
    with _loaded(path, data) as archive:
        try:
            arrays = {name: archive[name] for name in archive.files}
        except ValueError as error:  # pickled objects are unsafe to load
            raise InvalidInputError(
                f"{path}: arrays must hold numbers or text, got Python objects; convert them "
                "before saving"
            ) from error
    shaped = {
        name: one.reshape(-1) if one.shape[1:] == (1,) else one for name, one in arrays.items()
    }
    flat = {name: array for name, array in shaped.items() if array.ndim == 1}
    if not flat:
        raise InvalidInputError(
            f"{path}: must hold 1-D arrays, got none among {quoted(tuple(arrays))}"
        )
    others = tuple(f"{name} (not 1-D)" for name in shaped if name not in flat)
    return _of_arrays(path, flat, others)


def _of_arrays(path: Path, arrays: dict[str, NDArray[Any]], unread: tuple[str, ...] = ()) -> Table:
    pyarrow = require("pyarrow", purpose="reading NumPy files", extra="cli")
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise InvalidInputError(f"{path}: arrays must have equal length, got {shown}")
    columns = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiubUSM":
            raise InvalidInputError(
                f"{path}: {name!r} must hold real numbers, got dtype {array.dtype}"
            )
        real = np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("=")
        columns[name] = pyarrow.array(array.astype(real))
    if not next(iter(sizes.values())):
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    return Table(path, columns, unread=unread)


def _loaded(path: Path, data: bytes | None) -> Any:
    content = _read_bytes(path, data)
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{path}: not a NumPy file of plain numbers; save one with np.save or np.savez"
        ) from error


_OPENERS: dict[str, Callable[[Path, Collection[str], bytes | None, bool], Table]] = {
    ".parquet": partial(_open_table, read_parquet),
    ".pq": partial(_open_table, read_parquet),
    ".arrow": partial(_open_table, read_arrow),
    ".feather": partial(_open_table, read_arrow),
    ".npy": _open_npy,
    ".npz": _open_npz,
}
SUFFIXES = (*_TEXT, *_OPENERS)


# -- separator, decimal sign and encoding of csv files, detected from their beginning --------------


def header_of(path: Path, data: bytes | None = None) -> list[str]:
    """Return the column names without reading the rest of the file."""
    dialect, lines = sniff_start(path, data)
    return [name.strip() for name in _cells(lines[0], dialect.separator)] if lines else []


def line_of_row(path: Path, row: int, encoding: str, data: bytes | None = None) -> tuple[int, str]:
    """Return the line number (from 1) and the text of a row (from 0); blank lines are not rows."""
    with opened(path, data) as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="replace")
        filled = ((number, line) for number, line in enumerate(text, start=1) if line.rstrip("\n"))
        return next(islice(filled, row, None))


def sniff_start(path: Path, data: bytes | None = None) -> tuple[Dialect, list[str]]:
    """Return the dialect and the first lines of a file."""
    try:
        with opened(path, data) as stream:
            start = stream.read(_SNIFFED_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged_gzip(path, error) from error
    for signature, what in _SIGNATURES.items():
        if start.startswith(signature):
            raise InvalidInputError(f"{path}: not a csv file but {what}")
    encoding = _encoding(start)
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    if "\0" in text:
        raise InvalidInputError(
            f"{path}: not a csv file: it contains binary data; save the table as csv first"
        )
    lines = [line for line in _LINE_END.split(text) if line]
    if len(start) == _SNIFFED_BYTES and len(lines) > 1:
        lines.pop()  # probably truncated
    separator = _separator(lines[:_SNIFFED_LINES])
    decimal = _decimal(lines[:_SNIFFED_LINES], separator)
    ambiguous = _ambiguous_cell(lines, separator, decimal)
    return Dialect(separator, decimal, encoding, ambiguous), lines[:_SNIFFED_LINES]


def damaged_gzip(path: Path, error: Exception) -> InvalidInputError:
    """Return the error for a file that is not gzipped or is damaged."""
    if isinstance(error, gzip.BadGzipFile) and "Not a gzipped file" in str(error):
        return InvalidInputError(
            f"{path}: the name ends in .gz, but the file is not gzipped; rename it to "
            f"{path.name[: -len('.gz')]}"
        )
    return InvalidInputError(
        f"{path}: the gzipped file must be complete, got a damaged one; copy or download it again"
    )


def opened(path: Path, data: bytes | None = None) -> IO[bytes]:
    """Open a file, or its content if already read; gzip is unpacked."""
    is_packed = path.suffix.lower() == ".gz"
    if data is not None:
        stream = io.BytesIO(data)
        return cast("IO[bytes]", gzip.open(stream)) if is_packed else stream
    return cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb")


def arrow_input(path: Path, data: bytes | None) -> Any:
    """Input for pyarrow: the path, or a stream of the content if already read."""
    if data is None and not is_utf8(str(path)):  # pyarrow cannot open names that are not UTF-8
        data = path.read_bytes()
    return path if data is None else opened(path, data)


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
    cells = [cell.strip() for line in lines for cell in _cells(line, separator)]
    points = sum(bool(_DECIMAL_POINT.fullmatch(cell)) for cell in cells)
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    return "," if commas > points else "."


def _ambiguous_cell(lines: Sequence[str], separator: str, decimal: str) -> str:
    """Return a number whose decimal sign may separate thousands, as all of them, or nothing.

    Points are doubtful in a column that also has integers.
    """
    if decimal == "." and separator == ",":
        return ""
    signed = _DECIMAL_COMMA if decimal == "," else _DECIMAL_POINT
    found: dict[int, str] = {}
    integers: set[int] = set()
    for line in lines:
        for place, cell in enumerate(map(str.strip, _cells(line, separator))):
            if _INTEGER.fullmatch(cell):
                integers.add(place)
            elif signed.fullmatch(cell):
                if not _THOUSANDS.fullmatch(cell):
                    return ""
                found.setdefault(place, cell)
    doubtful = found if decimal == "," else found.keys() & integers
    return next((found[place] for place in doubtful), "")


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
