"""Separator, decimal sign and encoding of csv files, detected from their beginning."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from vuskit._util.text import is_utf8
from vuskit.errors import InvalidInputError

_SNIFFED_BYTES = 1 << 16
_SNIFFED_LINES = 20
_LINE_END = re.compile(r"\r\n?|\n")  # str.splitlines also splits at U+2028 and others
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_INTEGER = re.compile(r"[+-]?\d+")
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
