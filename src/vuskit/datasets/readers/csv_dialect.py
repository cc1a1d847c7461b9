"""How a csv file is written: what separates its cells, its decimal sign, its encoding."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, cast

from vuskit.errors import InvalidInputError

__all__ = ["Dialect", "header_of", "line_of_row", "sniff"]

_LOOKED_AT = 1 << 16
_LINES = 20
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
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
    """How to read a csv file.

    Attributes
    ----------
    separator : str
        Between cells.
    decimal : str
        Point or comma.
    encoding : str
        Name as Python knows it.
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
    r"""Find out how a file is written from its beginning.

    Parameters
    ----------
    path : Path
        A text file, gzipped if its name ends in ``.gz``.

    Raises
    ------
    InvalidInputError
        If it is another kind of file, whatever its name says.

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
    return _looked_at(path)[0]


def header_of(path: Path) -> list[str]:
    """Names of the columns, without reading the rest.

    Raises
    ------
    InvalidInputError
        If it is another kind of file, whatever its name says.
    """
    dialect, lines = _looked_at(path)
    return [name.strip() for name in _cells(lines[0], dialect.separator)] if lines else []


def line_of_row(path: Path, row: int, encoding: str) -> int:
    """Return the number (from 1) of the line of a row (from 0), which is not counted if blank."""
    with _opened(path) as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="replace")
        filled = (number for number, line in enumerate(text, start=1) if line.rstrip("\n"))
        return next(islice(filled, row, None))


def _looked_at(path: Path) -> tuple[Dialect, list[str]]:
    with _opened(path) as stream:
        start = stream.read(_LOOKED_AT)
    for signature, what in _SIGNATURES.items():
        if start.startswith(signature):
            raise InvalidInputError(f"{path}: not a csv file but {what}")
    encoding = _encoding(start)
    text = start.decode(encoding, errors="replace").removeprefix("\ufeff")
    if "\0" in text:
        raise InvalidInputError(f"{path}: not a csv file: it holds bytes that are no text")
    lines = [line for line in text.splitlines() if line]
    if len(start) == _LOOKED_AT and len(lines) > 1:
        lines.pop()  # cut in the middle
    lines = lines[:_LINES]
    separator = _separator(lines)
    return Dialect(separator, _decimal(lines, separator), encoding), lines


def _opened(path: Path) -> IO[bytes]:
    is_packed = path.suffix.lower() == ".gz"
    return cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb")


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # may end within a letter
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(lines: Sequence[str]) -> str:
    """The one that cuts the most lines into as many cells as the first, the more the better.

    Of those that cut alike, as comma and semicolon do in ``0,5;1``, the one that leaves the most
    numbers.
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
    """How many rows have as many cells as the first, and how many these are."""
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
