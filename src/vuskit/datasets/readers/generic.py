"""Any csv, tsv or parquet file with named columns, and which column is which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers._columns import Table
from vuskit.datasets.readers._long_table import PARQUET, open_long_table, open_table
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = [
    "LABEL_NAMES",
    "PLACE_NAMES",
    "RISING",
    "label_column",
    "only_rises",
    "read_table",
    "series_from_table",
]

LABEL_NAMES = (
    "label", "labels", "is_anomaly", "anomaly", "is_outlier", "outlier", "target",
    "y_true", "ground_truth", "truth", "gt",
)  # fmt: skip
# Columns that identify a row: ignored unless requested by name.
PLACE_NAMES = frozenset(
    {"", "timestamp", "timestamps", "time", "date", "datetime", "index", "id", "is_ignored"}
)

RISING = "it only rises, as time does"  # why a column is left out
COMPONENT = "a component or mark, not a measurement; values= takes it"
_COMPONENTS = re.compile(r"(is_)?change_?points?|trend|noise|seasonal(ity)?_?\d*")
_FEW = 12  # so many numbers may rise by chance
_TEXT = (".csv", ".tsv")


def label_column(names: Sequence[str]) -> str | None:
    """Return the column with a usual name for labels, in any case, or None.

    Examples
    --------
    >>> label_column(["value", "Y_true"])
    'Y_true'
    """
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[usual] for usual in LABEL_NAMES if usual in lower), None)


def only_rises(numbers: NDArray[np.float64]) -> bool:
    """Whether every number is greater than the one before: a time or a count, nothing measured.

    Examples
    --------
    >>> only_rises(np.arange(100.0)), only_rises(np.arange(5.0)), only_rises(np.zeros(100))
    (True, False, False)
    """
    return numbers.size > _FEW and bool((numbers[1:] > numbers[:-1]).all())


def _parts(path: Path, options: Mapping[str, Any]) -> tuple[str, ...]:
    by = options.get("by")
    return () if by is None else open_long_table(path, by).names


def _matches(file: Candidate) -> bool:
    if file.suffix in PARQUET:
        return True
    return file.suffix in _TEXT and label_column(file.columns) is not None


@register_format(
    name="table",
    title="csv, tsv or parquet with named columns",
    layout="*.csv, *.tsv (also .gz), *.parquet: a label column (label, is_anomaly, y_true, ...) "
    "and numeric ones; label= and values= name them, by= the column with the series of each row",
    matches=_matches,
    possible=lambda file: file.suffix in (*_TEXT, *PARQUET),
    fallback=True,
    parts=_parts,
)
def read_table(
    path: Path,
    *,
    dataset: str | None = None,
    label: str | None = None,
    values: str | Sequence[str] | None = None,
    train_length: int | None = None,
    by: str | None = None,
    part: str | None = None,
) -> Series:
    """Read one file by the names of its columns.

    Parameters
    ----------
    path : Path
        A csv or tsv (also gzipped) or parquet file.
    dataset : str, optional
        By default the folder's name, or with `by` the file's.
    label : str, optional
        Column of the labels; by default the one with a usual name.
    values : str or sequence of str, optional
        Columns of the channels; by default all but the label, the time, what only rises, as a
        time or a count does, and components such as ``trend``, ``noise`` or ``changepoint``;
        ``left_out`` of the series names the last ones.
    train_length : int, optional
        Number of leading points for training.
    by : str, optional
        Column with the name of the series of each row, for a file with many series.
    part : str, optional
        The series to read from a file with many.
    """
    if by is None and part is not None:
        raise InvalidInputError(
            f"{path}: `part` must come with `by`, the column with the names of the series; "
            f"got part={part!r} alone"
        )
    name, default = stem(path), parent_name(path)
    if by is None:
        table = open_table(path)
    else:
        default = name
        name, table = open_long_table(path, by).select(part)
    return series_from_table(
        table,
        name=name,
        dataset=dataset or default,
        label=label,
        values=values,
        train_length=train_length,
        by=by,
        doubting=True,
    )


def series_from_table(
    table: Table,
    *,
    name: str,
    dataset: str,
    label: str | None = None,
    values: str | Sequence[str] | None = None,
    train_length: int | None = None,
    by: str | None = None,
    doubting: bool = False,
    mention: bool = False,
) -> Series:
    """Build a series from named columns of a table; shared by the formats with a header.

    The columns of a `doubting` format are not documented: components and columns that only
    rise are left out, unless they are all there is. A format that knows its channels may `mention`
    the other columns.
    """
    label = label if label is not None else label_column(table.names)
    if label is None:
        raise InvalidInputError(
            f"{table.path}: a column must be named like one of {list(LABEL_NAMES)}, or by label=; "
            f"got columns {list(table.names)}"
        )
    others = [
        name for name in table.names if name not in (label, by) and name.lower() not in PLACE_NAMES
    ]
    chosen = others if values is None else [values] if isinstance(values, str) else list(values)
    table.check_columns((label, *chosen))
    if not chosen:
        raise InvalidInputError(f"{table.path}: needs a column of values beside {label!r}")
    left_out: dict[str, str] = {}
    if doubting and values is None:
        left_out = _doubtful(table, chosen)
    elif mention:
        left_out = {name: _reason(name) for name in others if name not in chosen}
    taken = [channel for channel in chosen if channel not in left_out]
    columns = [table.numbers(channel) for channel in taken]
    matrix: NDArray[np.float64] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    labels = table.labels(label)
    told = tuple(f"{channel} ({reason})" for channel, reason in left_out.items())
    return Series(name, dataset, matrix, labels, train_length, tuple(taken), told)


def _reason(name: str) -> str:
    return COMPONENT if _COMPONENTS.fullmatch(name.strip().lower()) else "no channel"


def _doubtful(table: Table, channels: list[str]) -> dict[str, str]:
    """Columns that are no channels by name or content, with the reason."""
    named = [name for name in channels if _COMPONENTS.fullmatch(name.strip().lower())]
    kept = [name for name in channels if name not in named] or channels
    found = dict.fromkeys((name for name in named if name not in kept), COMPONENT)
    return found | dict.fromkeys(_rising(table, kept), RISING)


def _rising(table: Table, channels: list[str]) -> list[str]:
    """Columns that are times or counts by what is in them; none if nothing would be left."""
    rising = [name for name in channels if only_rises(_channel(table, name))]
    return [] if len(rising) == len(channels) else rising


def _channel(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column as numbers; a column of text may name the series."""
    try:
        return table.numbers(name)
    except InvalidInputError as error:
        if not table.is_text(name):
            raise
        raise InvalidInputError(
            f"{error}; if the column names the series of each row, read the file with "
            f"by={name!r}, otherwise name the channels with values="
        ) from None
