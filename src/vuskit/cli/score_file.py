"""A file of labels and scores: which column is which."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.cli.files import reason_of
from vuskit.datasets.readers.generic import LABEL_NAMES
from vuskit.datasets.readers.tables import read_csv, read_parquet
from vuskit.errors import InvalidInputError
from vuskit.inputs import did_you_mean

__all__ = ["ScoreFile", "read_score_file"]

_LABELS = (*LABEL_NAMES, "y_true", "ground_truth", "truth", "gt")
_VALUES = ("value", "values", "data", "series", "signal")
# Columns that say when or which, not how anomalous.
_PLACES = {"", "timestamp", "time", "date", "datetime", "index", "id", "is_ignored"}
_SOUND_ANOMALOUS = ("anom", "outl", "abno", "fault", "attack", "fail", "bad", "true", "yes", "-1")
_FEW = 12
_MOST_SHOWN = 6


class _Columns(Protocol):
    """What a file offers, whatever its format."""

    @property
    def names(self) -> tuple[str, ...]: ...
    def numbers(self, name: str) -> NDArray[np.float64]: ...
    def texts(self, name: str) -> list[str]: ...


@dataclass(frozen=True)
class ScoreFile:
    """Labels and scores of one series, and where they came from.

    Attributes
    ----------
    path : Path
        The file.
    labels : ndarray of bool
        One per point.
    scores : dict of str to ndarray
        By the name of their column.
    values : ndarray or None
        The series itself, if the file has it.
    label_name, value_name : str, str or None
        Columns that were taken.
    left_out : tuple of str
        Columns that were taken for nothing.
    """

    path: Path
    labels: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]]
    values: NDArray[np.float64] | None
    label_name: str
    value_name: str | None
    left_out: tuple[str, ...]


def read_score_file(
    path: Path,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    value: str | None = None,
    positive: str | None = None,
) -> ScoreFile:
    """Read a csv, parquet, npy or npz file of labels and scores.

    Parameters
    ----------
    path : Path
        The file.
    label, value : str, optional
        Columns of the labels and of the series; by their usual names otherwise.
    scores : sequence of str, optional
        Columns of the scores; all others that hold numbers if empty.
    positive : str, optional
        The label that means anomalous, where labels are not 0 and 1.

    Raises
    ------
    InvalidInputError
        If the file, a column or a cell cannot be used; says what to do.
    MissingDependencyError
        If the format needs a library that is not installed.
    """
    columns = _open(path)
    for option, name in (("--label", label), ("--value", value), *(("--score", s) for s in scores)):
        _check_column(path, columns.names, option, name)
    label_name = label or _find_label(path, columns)
    value_name = value or _usual(_VALUES, columns.names, taken={label_name, *scores})
    labels = _labels(path, columns, label_name, positive)
    wanted, left_out = _score_names(columns, scores, {label_name, value_name})
    if not wanted:
        raise InvalidInputError(
            f"{path}: there must be a column of scores beside {_listed(columns.names)}; "
            "name one with --score"
        )
    found = {name: _scores(path, columns, name) for name in wanted}
    values = None if value_name is None else columns.numbers(value_name)
    return ScoreFile(path, labels, found, values, label_name, value_name, left_out)


def _open(path: Path) -> _Columns:
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
        raise InvalidInputError(f"{path}: the file is empty; it must hold labels and scores")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _OPENERS:
        raise InvalidInputError(
            f"{path}: the name must end in {', '.join(_OPENERS)} or .csv.gz, got {suffix!r}"
        )
    return _OPENERS[suffix](path)


def _names_in(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


class _Arrays:
    """Named arrays of a NumPy file."""

    def __init__(self, path: Path, arrays: dict[str, NDArray[Any]]) -> None:
        self.path = path
        self._arrays = arrays
        if len({array.shape[0] for array in arrays.values()}) > 1:
            sizes = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
            raise InvalidInputError(f"{path}: arrays must have equal length, got {sizes}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._arrays)

    def numbers(self, name: str) -> NDArray[np.float64]:
        try:
            return self._arrays[name].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self.path}: {name!r} must hold numbers, got dtype {self._arrays[name].dtype}"
            ) from error

    def texts(self, name: str) -> list[str]:
        return [str(cell) for cell in self._arrays[name].tolist()]


def _open_npy(path: Path) -> _Arrays:
    array = _loaded(path)
    if array.dtype.names:
        return _Arrays(path, {name: array[name] for name in array.dtype.names})
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(
            f"{path}: the array must have a column of labels and one for each score, "
            f"got shape {array.shape}"
        )
    return _Arrays(path, {str(i): array[:, i] for i in range(array.shape[1])})


def _open_npz(path: Path) -> _Arrays:
    with _loaded(path) as archive:
        try:
            arrays = {name: archive[name] for name in archive.files}
        except ValueError as error:  # Python objects, which are not loaded from strangers' files
            raise InvalidInputError(f"{path}: arrays must hold numbers or text") from error
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    if not flat:
        raise InvalidInputError(f"{path}: must hold 1-D arrays, got {_listed(tuple(arrays))}")
    return _Arrays(path, flat)


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{path}: not a NumPy file of plain numbers; save one with np.save or np.savez"
        ) from error


_OPENERS: dict[str, Callable[[Path], _Columns]] = {
    ".csv": read_csv,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npy": _open_npy,
    ".npz": _open_npz,
}


def _check_column(path: Path, names: tuple[str, ...], option: str, name: str | None) -> None:
    if name is not None and name not in names:
        raise InvalidInputError(
            f"`{option}` must be a column of {path} ({_listed(names)}), "
            f"got {name!r}{did_you_mean(name, names)}"
        )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(map(repr, names[:_FEW])) + more


def _usual(usual: Sequence[str], names: Sequence[str], taken: set[str]) -> str | None:
    lower = {name.strip().lower(): name for name in reversed(names) if name not in taken}
    return next((lower[name] for name in usual if name in lower), None)


def _find_label(path: Path, columns: _Columns) -> str:
    found = _usual(_LABELS, columns.names, taken=set())
    if found is None and isinstance(columns, _Arrays):
        binary = [name for name in columns.names if _is_binary(columns.texts(name))]
        found = binary[0] if len(binary) == 1 else None
    if found is not None:
        return found
    near = next((name for name in columns.names if did_you_mean(name, _LABELS)), None)
    hint = f"; did you mean --label {near}?" if near is not None else "; name it with --label"
    raise InvalidInputError(
        f"{path}: no column is named like labels ({', '.join(_LABELS[:4])}, ...) "
        f"among {_listed(columns.names)}{hint}"
    )


def _is_binary(cells: list[str]) -> bool:
    return set(cells) <= {"0", "1", "0.0", "1.0", "True", "False"}


def _labels(path: Path, columns: _Columns, name: str, positive: str | None) -> NDArray[np.bool_]:
    if positive is not None:
        return _labels_by_word(path, columns, name, positive)
    numbers = _numbers_or_none(columns, name)
    if numbers is not None and np.isin(numbers, (0, 1)).all():
        return np.asarray(numbers == 1)
    cells = columns.texts(name)
    if set(map(str.lower, cells)) <= {"true", "false", "0", "1"}:
        return np.array([cell.lower() in ("true", "1") for cell in cells])
    if numbers is not None and np.isnan(numbers).any():
        row = int(np.isnan(numbers).argmax()) + 1
        raise InvalidInputError(
            f"{path}: label column {name!r} must hold 0 or 1 in every row, got none in row {row}"
        )
    raise InvalidInputError(_label_complaint(path, name, Counter(cells)))


def _numbers_or_none(columns: _Columns, name: str) -> NDArray[np.float64] | None:
    try:
        return columns.numbers(name)
    except InvalidInputError:
        return None


def _label_complaint(path: Path, name: str, counts: Counter[str]) -> str:
    words = [word for word, _ in counts.most_common()]
    shown = ", ".join(map(repr, words[:_MOST_SHOWN])) + (
        ", ..." if len(words) > _MOST_SHOWN else ""
    )
    text = f"{path}: label column {name!r} must hold 0 and 1, got {shown}"
    if len(words) > _FEW:
        return f"{text}; if the labels are in another column, name it with --label"
    sounds = (word for word in words if word.lower().startswith(_SOUND_ANOMALOUS))
    return f"{text}; say which one means anomalous, such as --positive {next(sounds, words[-1])}"


def _labels_by_word(path: Path, columns: _Columns, name: str, positive: str) -> NDArray[np.bool_]:
    cells = np.array(columns.texts(name), dtype=object)
    known = sorted(set(cells))
    wanted = [word for word in known if word == positive or _same_number(word, positive)]
    if not wanted:
        raise InvalidInputError(
            f"`--positive` must be a label of column {name!r} in {path} "
            f"({_listed(tuple(known))}), got {positive!r}{did_you_mean(positive, known)}"
        )
    if "None" in known:
        row = int((cells == "None").argmax()) + 1
        raise InvalidInputError(
            f"{path}: label column {name!r} must hold a label in every row, got none in row {row}"
        )
    return np.isin(cells, wanted)


def _same_number(first: str, second: str) -> bool:
    try:
        return float(first) == float(second)
    except ValueError:
        return False


def _score_names(
    columns: _Columns, asked: Sequence[str], taken: set[str | None]
) -> tuple[list[str], tuple[str, ...]]:
    if asked:
        return list(dict.fromkeys(asked)), ()
    others = [name for name in columns.names if name not in taken]
    wanted = [
        name
        for name in others
        if name.strip().lower() not in _PLACES and _is_meant_as_numbers(columns, name)
    ]
    return wanted, tuple(name for name in others if name not in wanted)


def _is_meant_as_numbers(columns: _Columns, name: str) -> bool:
    """Whether a column holds numbers, or would but for some cell that is to be complained about."""
    if _numbers_or_none(columns, name) is not None:
        return True
    return _same_number(columns.texts(name)[0], columns.texts(name)[0])


def _scores(path: Path, columns: _Columns, name: str) -> NDArray[np.float64]:
    numbers = columns.numbers(name)
    missing = ~np.isfinite(numbers)
    if missing.any():
        raise InvalidInputError(
            f"{path}: score column {name!r} must hold a number in every row, got none in "
            f"{int(missing.sum()):,} of {numbers.size:,} (first: row {int(missing.argmax()) + 1}); "
            "fill or drop those rows, or name the columns to evaluate with --score"
        )
    return numbers
