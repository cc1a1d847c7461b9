"""How a csv file is written: what separates its cells, its decimal sign, its encoding."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vuskit.errors import InvalidInputError

__all__ = ["Dialect", "header_of", "sniff"]

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
    """Find out how a file is written from its beginning.

    Raises
    ------
    InvalidInputError
        If it is another kind of file, whatever its name says.
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


def _looked_at(path: Path) -> tuple[Dialect, list[str]]:
    start = _beginning(path)
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
    return Dialect(separator, _decimal(lines[1:], separator), encoding), lines


def _beginning(path: Path) -> bytes:
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as stream:
            start: bytes = stream.read(_LOOKED_AT)
            return start
    except (EOFError, gzip.BadGzipFile) as error:
        raise InvalidInputError(f"{path}: not a readable gzip file: {error}") from error


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # may end within a letter
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(lines: Sequence[str]) -> str:
    """The one that cuts the most lines into as many cells as the first, the more the better."""
    best, quality = ",", (0, 0)
    for separator in _SEPARATORS:
        sizes = Counter(len(_cells(line, separator)) for line in lines)
        size = len(_cells(lines[0], separator)) if lines else 0
        if size > 1 and (sizes[size], size) > quality:
            best, quality = separator, (sizes[size], size)
    return best


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
