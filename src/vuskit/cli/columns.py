"""Columns of a csv, parquet, npy or npz file, whatever its form."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.cli.files import names_in, reason_of
from vuskit.datasets.optional import require
from vuskit.datasets.readers.csv_dialect import header_of
from vuskit.datasets.readers.tables import read_csv, read_parquet
from vuskit.errors import InvalidInputError
from vuskit.inputs import did_you_mean

__all__ = ["ArrayColumns", "Columns", "check_place", "column_names", "listed", "open_columns"]

_FEW = 12
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


class _Opener(Protocol):
    def __call__(self, path: Path, *, unread: Collection[str]) -> Columns: ...


def open_columns(path: Path, *, unread: Collection[str] = ()) -> Columns:
    """Open a file by the ending of its name.

    Parameters
    ----------
    path : Path
        The file.
    unread : collection of str, optional
        Columns to leave alone, in small letters; see `vuskit.datasets.readers.tables.read_csv`.

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
    return _OPENERS[suffix](path, unread=unread)


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
        near = did_you_mean(path.name, names_in(path.parent))
        raise InvalidInputError(f"{path}: there is no such file{near}")
    try:
        with path.open("rb") as stream:
            is_empty = not stream.read(1)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {reason_of(error)}") from error
    if is_empty:
        raise InvalidInputError(f"{path}: the file is empty; it must hold {holds}")


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


def _open_npy(path: Path, *, unread: Collection[str]) -> ArrayColumns:
    array = _loaded(path)
    if array.dtype.names:
        return ArrayColumns(path, {name: array[name] for name in array.dtype.names})
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(
            f"{path}: the array must have a column of labels and one for each score, "
            f"got shape {array.shape}"
        )
    return ArrayColumns(path, {str(i): array[:, i] for i in range(array.shape[1])})


def _open_npz(path: Path, *, unread: Collection[str]) -> ArrayColumns:
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


_OPENERS: dict[str, _Opener] = {
    ".csv": partial(read_csv, threads=True),
    ".tsv": partial(read_csv, threads=True),
    ".parquet": partial(read_parquet, threads=True),
    ".pq": partial(read_parquet, threads=True),
    ".npy": _open_npy,
    ".npz": _open_npz,
}
