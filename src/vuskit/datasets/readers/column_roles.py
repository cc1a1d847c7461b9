"""Open files of labels and scores, and detect the role of each column."""

from __future__ import annotations

import difflib
import gzip
import io
import zipfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit._util.names import did_you_mean
from vuskit._util.optional import require
from vuskit._util.text import quoted
from vuskit.alignment import fill_missing_ends
from vuskit.datasets.readers._columns import Table, header_of, read_arrow, read_csv, read_parquet
from vuskit.datasets.readers.generic import (
    LABEL_NAMES,
    PLACE_NAMES,
    RISING,
    label_column,
    only_rises,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import doubles_in_order

__all__ = [
    "GENERIC_SCORES",
    "SCORE_SUFFIXES",
    "TIME_NAMES",
    "VALUE_NAMES",
    "ColumnRoles",
    "Columns",
    "ScoreFile",
    "column_names",
    "dates_of",
    "filled_scores",
    "find_roles",
    "open_columns",
    "read_label_column",
    "read_score_file",
    "score_suffix",
    "time_range",
]

# Names of score columns that do not name the detector.
GENERIC_SCORES = frozenset(
    {"score", "scores", "anomaly_score", "anomaly_scores", "y_score", "y_scores", "output", "0"}
)
TIME_NAMES = ("timestamp", "time", "datetime", "date")
_NO_SCORES = PLACE_NAMES - set(TIME_NAMES)
VALUE_NAMES = ("value", "values", "data", "series", "signal")
_ANOMALOUS_WORDS = ("anom", "outl", "abno", "fault", "attack", "fail", "bad", "true", "yes", "-1")
_NORMAL_WORDS = ("norm", "ok", "good", "heal", "inl", "nomin", "benign", "regular", "no")
_EMPTY = "None"
_FEW = 12
_MOST_SHOWN = 6
_MISSPELLED = 0.75  # minimum similarity of a misspelled name


@dataclass(frozen=True)
class ScoreFile:
    """Labels and scores of one series, and the columns that they come from.

    Attributes
    ----------
    path : Path
        The file.
    labels : ndarray of bool
        One label per point.
    scores : dict of str to ndarray
        Scores by column name.
    values : ndarray or None
        The series itself, if the file has it.
    label_name, value_name : str, str or None
        Columns of the labels and of the series.
    left_out : tuple of str
        Ignored columns.
    notes : tuple of str
        Assumptions about ambiguous content, to show to the user.
    times : tuple of str or None
        First and last time, if the file has dates.
    channels : tuple of str
        Additional channels of the series; they are not scores.
    train_length : int or None
        Number of leading training points, if known.
    further : dict of str to ndarray
        Values of `channels`.
    dates : ndarray of datetime64 or None
        Time of each point, if the file has dates.
    """

    path: Path
    labels: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]]
    values: NDArray[np.float64] | None
    label_name: str
    value_name: str | None
    left_out: tuple[str, ...]
    notes: tuple[str, ...] = ()
    times: tuple[str, str] | None = None
    channels: tuple[str, ...] = ()
    train_length: int | None = None
    further: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    dates: NDArray[np.datetime64] | None = None


def read_score_file(
    path: Path,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    value: str | None = None,
    channels: Sequence[str] = (),
    positive: str | None = None,
) -> ScoreFile:
    """Read a csv, parquet, Arrow, npy or npz file of labels and scores.

    Parameters
    ----------
    path : Path
        The file.
    label, value : str, optional
        Columns of the labels and of the series. Default to columns with common names.
    scores : sequence of str, optional
        Columns of the scores. Defaults to all other numeric columns.
    channels : sequence of str, optional
        Columns of additional channels of the series; they are not scores.
    positive : str, optional
        Label that means anomalous, if labels are not 0 and 1.

    Raises
    ------
    InvalidInputError
        If the file, a column or a cell is invalid; suggests a remedy.
    MissingDependencyError
        If the format needs a library that is not installed.
    """
    columns = _open_named(path, label=label, scores=scores, value=value)
    for name in channels:
        _check_column(path, columns.names, "--value", name)
    label_name = label or _find_label(path, columns)
    value_name = value or _usual(VALUE_NAMES, columns.names, taken={label_name, *scores})
    labels, understood = read_label_column(path, columns, label_name, positive)
    found, left_out, filled = _scores_of(path, columns, scores, {label_name, value_name, *channels})
    if not found:
        raise InvalidInputError(
            f"{path}: there must be a column of scores besides {quoted(columns.names)}; "
            "name one with --score"
        )
    values = None if value_name is None else columns.numbers(value_name)
    notes = [f"{path.name} is read as {columns.form}"] if columns.form else []
    return ScoreFile(
        path,
        labels,
        found,
        values,
        label_name,
        value_name,
        left_out,
        (*notes, *understood, *filled),
        time_range(columns),
        tuple(channels),
        further={name: columns.numbers(name) for name in channels},
        dates=dates_of(columns),
    )


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of a file.

    Attributes
    ----------
    label, value : str or None
        Columns of the labels and of the series, if any.
    scores : tuple of str
        Columns of scores.
    """

    label: str | None
    value: str | None
    scores: tuple[str, ...]


def find_roles(
    path: Path,
    *,
    label: str | None = None,
    scores: Sequence[str] = (),
    value: str | None = None,
    labels_elsewhere: bool = False,
) -> ColumnRoles:
    """Detect the role of each column of a file, reading as little as possible.

    Parameters
    ----------
    path : Path
        The file.
    label, value : str, optional
        Columns of the labels and of the series. Default to columns with common names.
    scores : sequence of str, optional
        Columns of the scores. Defaults to all other numeric columns.
    labels_elsewhere : bool, default=False
        Whether labels come from another file, so that this file needs none.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or has no labels or no scores.
    """
    names = column_names(path) if is_text_file(path) else []
    if [name.lower() for name in names[:2]] == ["value", "label"] and not (label or value):
        if scores:
            for name in scores:
                _check_column(path, tuple(names), "--score", name)
        return ColumnRoles(names[1], names[0], tuple(scores or names[2:]))
    columns = _open_named(path, label=label, scores=scores, value=value)
    label_name = label or (
        label_column(columns.names) if labels_elsewhere else _find_label(path, columns)
    )
    value_name = value or _usual(VALUE_NAMES, columns.names, taken={label_name or "", *scores})
    found = scores or _score_names(path, columns, {label_name, value_name})[0]
    return ColumnRoles(label_name, value_name, tuple(found))


def _open_named(
    path: Path, *, label: str | None, scores: Sequence[str], value: str | None
) -> Columns:
    """Open a file and check that it has the columns named by the user."""
    named = {name for name in (label, value, *scores) if name is not None}
    columns = open_columns(path, unread=_NO_SCORES - {name.strip().lower() for name in named})
    for option, name in (("--label", label), ("--value", value), *(("--score", s) for s in scores)):
        _check_column(path, columns.names, option, name)
    return columns


def dates_of(columns: Columns) -> NDArray[np.datetime64] | None:
    """Return the times of a file, or None if it has no column of dates."""
    name = _usual(TIME_NAMES, columns.names, taken=set())
    return columns.dates(name) if name is not None else None


def time_range(columns: Columns) -> tuple[str, str] | None:
    """Return the first and last time as text, or None if the file has no column of dates."""
    times = dates_of(columns)
    if times is None:
        return None
    ends = [str(time.astype("datetime64[s]")).replace("T", " ") for time in (times[0], times[-1])]
    if all(end.endswith(" 00:00:00") for end in ends):
        ends = [end.removesuffix(" 00:00:00") for end in ends]
    return ends[0], ends[1]


def _check_column(path: Path, names: tuple[str, ...], option: str, name: str | None) -> None:
    if name is not None and name not in names:
        raise InvalidInputError(
            f"`{option}` must be a column of {path} ({quoted(names)}), "
            f"got {name!r}{did_you_mean(name, names)}"
        )


def _usual(usual: Sequence[str], names: Sequence[str], taken: set[str]) -> str | None:
    lower = {name.strip().lower(): name for name in reversed(names) if name not in taken}
    return next((lower[name] for name in usual if name in lower), None)


def _find_label(path: Path, columns: Columns) -> str:
    found = label_column(columns.names)
    if found is None and all(_same_number(name, name) for name in columns.names):
        binary = [name for name in columns.names if _is_binary(columns.distinct(name)[0])]
        found = binary[0] if len(binary) == 1 else None
    if found is not None:
        return found
    if len(columns.names) == 1:
        raise InvalidInputError(
            f"{path}: there must be labels besides the scores, got one column; read labels from "
            "another file or folder with --labels PATH"
        )
    if all(_same_number(name, name) for name in columns.names):
        raise InvalidInputError(
            f"{path}: without a header line, exactly one column must hold only 0 and 1; add a "
            "header line such as label,score, or use --labels PATH"
        )
    near = next((name for name in columns.names if _is_misspelled(name)), None)
    hint = (
        "; name it with --label, or use --labels PATH"
        if near is None
        else f"; did you mean --label {quote(near)}?"
    )
    raise InvalidInputError(
        f"{path}: there must be a label column ({', '.join(LABEL_NAMES[:4])}, ...), "
        f"got columns {quoted(columns.names)}{hint}"
    )


def _is_misspelled(name: str) -> bool:
    """Whether this looks like a misspelled name of a label column; 'late' does not."""
    return bool(
        difflib.get_close_matches(name.strip().lower(), LABEL_NAMES, n=1, cutoff=_MISSPELLED)
    )


def _is_binary(words: list[str]) -> bool:
    return set(words) <= {"0", "1", "0.0", "1.0", "True", "False"}


def read_label_column(
    path: Path, columns: Columns, name: str, positive: str | None
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return labels, and notes about assumptions.

    Raises
    ------
    InvalidInputError
        If a cell is empty, or if it is unclear which cells mean anomalous.
    """
    if positive is None and not columns.is_text(name):
        numbers = columns.numbers(name)
        if np.isin(numbers, (0, 1)).all():
            return numbers == 1, ()
        if np.isnan(numbers).any():
            raise _empty_cell(path, name, "0 or 1", int(np.isnan(numbers).argmax()))
    words, codes = columns.distinct(name)
    if positive is not None:
        return _is_one_of(codes, words, _matching(path, name, words, positive)), ()
    if _EMPTY in words:
        raise _empty_cell(path, name, "a label", int((codes == words.index(_EMPTY)).argmax()))
    if {word.lower() for word in words} <= {"true", "false", "0", "1"}:
        return _is_one_of(codes, words, [w for w in words if w.lower() in ("true", "1")]), ()
    anomalous = [word for word in words if word.lower().startswith(_ANOMALOUS_WORDS)]
    others = [word for word in words if word not in anomalous]
    if len(anomalous) == 1 and others and all(w.lower().startswith(_NORMAL_WORDS) for w in others):
        note = f"label {anomalous[0]!r} means anomalous; use --positive to choose another label"
        return _is_one_of(codes, words, anomalous), (note,)
    counts = np.bincount(codes, minlength=len(words))
    by_count = [words[place] for place in np.argsort(-counts, kind="stable")]
    raise InvalidInputError(_label_problem(path, name, by_count))


def _is_one_of(codes: NDArray[np.intp], words: list[str], wanted: list[str]) -> NDArray[np.bool_]:
    return np.array([word in wanted for word in words])[codes]


def _empty_cell(path: Path, name: str, wanted: str, row: int) -> InvalidInputError:
    return InvalidInputError(
        f"{path}: label column {name!r} must hold {wanted} in every row, got none in row "
        f"{row + 1}; fill or drop that row"
    )


def _label_problem(path: Path, name: str, words: list[str]) -> str:
    shown = ", ".join(map(repr, words[:_MOST_SHOWN])) + (
        ", ..." if len(words) > _MOST_SHOWN else ""
    )
    text = f"{path}: label column {name!r} must hold 0 and 1, got {shown}"
    if len(words) > _FEW:
        return f"{text}; if the labels are in another column, name it with --label"
    anomalous = (word for word in words if word.lower().startswith(_ANOMALOUS_WORDS))
    example = next(anomalous, words[-1])
    return f"{text}; name the one that means anomalous, for example --positive {example}"


def _matching(path: Path, name: str, words: list[str], positive: str) -> list[str]:
    wanted = [word for word in words if word == positive or _same_number(word, positive)]
    known = sorted(word for word in words if word != _EMPTY)
    if not wanted:
        raise InvalidInputError(
            f"`--positive` must be a label of column {name!r} in {path} "
            f"({quoted(known)}), got {positive!r}{did_you_mean(positive, known)}"
        )
    return wanted


def _same_number(first: str, second: str) -> bool:
    try:
        return float(first) == float(second)
    except ValueError:
        return False


def _scores_of(
    path: Path, columns: Columns, asked: Sequence[str], taken: set[str | None]
) -> tuple[dict[str, NDArray[np.float64]], tuple[str, ...], tuple[str, ...]]:
    """Return scores by name, ignored columns, and notes about filled ends."""
    chosen, left_out = (
        (list(dict.fromkeys(asked)), ()) if asked else _score_names(path, columns, taken)
    )
    found, notes = {}, []
    for name in chosen:
        found[name], note = filled_scores(path, name, columns.scores(name))
        notes += [note] if note else []
    return found, left_out, tuple(notes)


def _score_names(
    path: Path, columns: Columns, taken: set[str | None]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the score columns and the ignored columns."""
    found, left_out, rising = [], list(columns.unread), []
    for name in columns.names:
        if name in taken:
            continue
        plain = name.strip().lower()
        if plain in PLACE_NAMES or columns.is_text(name):
            left_out.append(name)
            continue
        scores = columns.numbers(name)
        if only_rises(scores):
            rising.append(name)
        elif plain in LABEL_NAMES and np.isin(scores, (0, 1)).all():
            left_out.append(f"{name} (looks like labels; select it with --score)")
        else:
            found.append(name)
    if found:
        left_out += [f"{name} ({RISING})" for name in rising]
    else:
        found = rising
    return found, tuple(name if name.strip() else "a column without a name" for name in left_out)


def filled_scores(
    path: Path, name: str, numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], str | None]:
    """Return scores with missing ends filled, and a note about it.

    Raises
    ------
    InvalidInputError
        If scores are missing between others.
    """
    filled = fill_missing_ends(numbers)
    missing = ~np.isfinite(filled.scores)
    if missing.any():
        raise InvalidInputError(
            f"{path}: score column {name!r} must hold a number in every row, got none in "
            f"{int(missing.sum()):,} of {numbers.size:,} (first: row {int(missing.argmax()) + 1}); "
            "fill or drop those rows, or name the columns to evaluate with --score"
        )
    ends = ((filled.leading, "first"), (filled.trailing, "last"))
    shown = " and ".join(f"the {end} {count:,}" for count, end in ends if count)
    if not shown:
        return filled.scores, None
    points = "points" if filled.leading + filled.trailing > 1 else "point"
    return filled.scores, (
        f"{name} has no score at {shown} {points}, as is usual with windows; the nearest score "
        "fills them"
    )


# -- open a file ---------------------------------------------------------------------------------

_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")


class Columns(Protocol):
    """Columns of an open file."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def form(self) -> str:
        """Description of an unusual separator, decimal sign or encoding; usually empty."""

    @property
    def unread(self) -> tuple[str, ...]:
        """Columns that were skipped."""

    @property
    def length(self) -> int:
        """Number of rows."""

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers, NaN where a cell is empty."""

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers; distinct integers remain distinct."""

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Return distinct cells as text (``"None"`` if empty), and each row's index into them."""

    def is_text(self, name: str) -> bool:
        """Whether a column holds words or dates; False for numbers with a few invalid cells."""

    def dates(self, name: str) -> NDArray[np.datetime64] | None:
        """Return a column of dates; None if a cell is not a date."""

    def to_arrow(self) -> Any:
        """Return all columns as a pyarrow table."""


class _Opener(Protocol):
    def __call__(
        self, path: Path, unread: Collection[str], data: bytes | None, threads: bool, /
    ) -> Columns: ...


def open_columns(
    path: Path,
    *,
    unread: Collection[str] = (),
    data: bytes | None = None,
    threads: bool = True,
) -> Columns:
    """Open a file in the format given by its suffix.

    Parameters
    ----------
    path : Path
        The file.
    unread : collection of str, optional
        Lower-case names of columns to skip; see `vuskit.datasets.readers.read_csv`.
    data : bytes, optional
        Content of the file, if already read.
    threads : bool, default=True
        Use all processors.

    Raises
    ------
    InvalidInputError
        If the file cannot be read; suggests a remedy.
    MissingDependencyError
        If the format needs a library that is not installed.
    """
    suffix = score_suffix(path)
    if suffix in _WORKBOOKS:
        raise InvalidInputError(
            f"{path}: a workbook must be saved as csv first: in the spreadsheet with "
            "File > Save As, or in Python with pandas.read_excel(...).to_csv(..., index=False)"
        )
    if suffix not in _OPENERS:
        raise InvalidInputError(
            f"{path}: the name must end in {', '.join(_OPENERS)} or .csv.gz, got {suffix!r}; "
            "rename or convert the file"
        )
    return _OPENERS[suffix](path, unread, data, threads)


def score_suffix(path: Path) -> str:
    """Lower-case suffix of a file name, ignoring a final ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_text_file(path: Path) -> bool:
    """Whether the suffix of a file is csv or tsv."""
    return score_suffix(path) in (".csv", ".tsv")


def _read_bytes(path: Path, data: bytes | None) -> bytes:
    content = path.read_bytes() if data is None else data
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{path}: not a readable gzipped file: {error}") from error


def column_names(path: Path) -> list[str]:
    """Return column names, reading as little of the file as its format allows."""
    if is_text_file(path):
        return header_of(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        parquet = require("pyarrow.parquet", purpose="reading parquet files")
        return list(parquet.read_schema(path).names)
    return list(open_columns(path).names)


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

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(next(iter(self._arrays.values())))

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return an array as numbers."""
        return self._real(name).astype(np.float64)

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return an array as numbers; distinct integers remain distinct."""
        return doubles_in_order(name, self._real(name))

    def _real(self, name: str) -> NDArray[Any]:
        array = self._arrays[name]
        if array.dtype.kind not in "fiub":
            raise InvalidInputError(
                f"{self.path}: {name!r} must hold real numbers, got dtype {array.dtype}"
            )
        return array

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.intp]]:
        """Return distinct values as text, and each row's index into them."""
        words, codes = np.unique(self._arrays[name], return_inverse=True)
        return [str(word) for word in words.tolist()], codes

    def is_text(self, name: str) -> bool:
        """Whether an array holds anything but numbers."""
        return self._arrays[name].dtype.kind not in "fiub"

    def dates(self, name: str) -> NDArray[np.datetime64] | None:
        """Return an array of dates; None if it holds anything else."""
        array = self._arrays[name]
        return array if array.dtype.kind == "M" else None

    def to_arrow(self) -> Any:
        """Return all arrays as a pyarrow table."""
        return require("pyarrow", purpose="long tables", extra="cli").table(self._arrays)


def _open_csv(path: Path, unread: Collection[str], data: bytes | None, threads: bool) -> Table:
    """Read a csv file with or without a header line."""
    names = header_of(path, data)
    headless = bool(names) and all(_same_number(name, name) for name in names)
    columns = [str(place) for place in range(len(names))] if headless else None
    return read_csv(
        path, columns=columns, unread=() if headless else unread, threads=threads, data=data
    )


def _open_table(
    read: Any, path: Path, unread: Collection[str], data: bytes | None, threads: bool
) -> Table:
    packed = path.suffix.lower() == ".gz"
    content = _read_bytes(path, data) if packed or data is not None else None
    table: Table = read(path, unread=unread, threads=threads, data=content)
    return table


def _open_npy(
    path: Path, unread: Collection[str], data: bytes | None, threads: bool
) -> ArrayColumns:
    array = _loaded(path, data)
    if array.dtype.names:
        return ArrayColumns(path, {name: array[name] for name in array.dtype.names})
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        return ArrayColumns(path, {"0": array.reshape(-1)})
    if array.ndim != 2:
        raise InvalidInputError(
            f"{path}: the array must be 1-D, or 2-D with a column for labels and for each score, "
            f"got shape {array.shape}"
        )
    return ArrayColumns(path, {str(i): array[:, i] for i in range(array.shape[1])})


def _open_npz(
    path: Path, unread: Collection[str], data: bytes | None, threads: bool
) -> ArrayColumns:
    with _loaded(path, data) as archive:
        try:
            arrays = {name: archive[name] for name in archive.files}
        except ValueError as error:  # pickled objects are unsafe to load
            raise InvalidInputError(
                f"{path}: arrays must hold numbers or text, got Python objects; convert them "
                "before saving"
            ) from error
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    if not flat:
        raise InvalidInputError(
            f"{path}: must hold 1-D arrays, got none among {quoted(tuple(arrays))}"
        )
    return ArrayColumns(path, flat)


def _loaded(path: Path, data: bytes | None) -> Any:
    try:
        return np.load(io.BytesIO(_read_bytes(path, data)), allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{path}: not a NumPy file of plain numbers; save one with np.save or np.savez"
        ) from error


_OPENERS: dict[str, _Opener] = {
    ".csv": _open_csv,
    ".tsv": _open_csv,
    ".parquet": partial(_open_table, read_parquet),
    ".pq": partial(_open_table, read_parquet),
    ".arrow": partial(_open_table, read_arrow),
    ".feather": partial(_open_table, read_arrow),
    ".npy": _open_npy,
    ".npz": _open_npz,
}
SCORE_SUFFIXES = tuple(_OPENERS)
