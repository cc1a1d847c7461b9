"""Read columns of csv, parquet and Arrow files as arrays; errors name file, line and value."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.text import is_utf8, quoted
from vuskit.datasets.csv_dialect import (
    Dialect,
    arrow_input,
    damaged_gzip,
    header_of,
    is_number,
    line_of_row,
    sniff_start,
)
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
