"""Any csv, tsv or parquet file with named columns, and which column is which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers._columns import Table, read_csv, read_parquet
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
# Columns that say when or which, not what: taken for nothing unless asked for by name.
PLACE_NAMES = frozenset({"", "timestamp", "time", "date", "datetime", "index", "id", "is_ignored"})

RISING = "it only rises, as time does"  # why a column is left out
_FEW = 12  # so many numbers may rise by chance
_TEXT = (".csv", ".tsv")
_PARQUET = (".parquet", ".pq")


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


def _matches(file: Candidate) -> bool:
    if file.suffix in _PARQUET:
        return True
    return file.suffix in _TEXT and label_column(file.columns) is not None


@register_format(
    name="table",
    title="csv, tsv or parquet with named columns",
    layout="*.csv, *.tsv (also .gz), *.parquet: a label column (label, is_anomaly, y_true, ...) "
    "and numeric ones; label= and values= name them",
    matches=_matches,
    possible=lambda file: file.suffix in (*_TEXT, *_PARQUET),
    fallback=True,
)
def read_table(
    path: Path,
    *,
    dataset: str | None = None,
    label: str | None = None,
    values: str | Sequence[str] | None = None,
    train_length: int | None = None,
) -> Series:
    """Read one file by the names of its columns.

    Parameters
    ----------
    path : Path
        A csv or tsv (also gzipped) or parquet file.
    dataset : str, optional
        The folder's name by default.
    label : str, optional
        Column of the labels; by default the one with a usual name.
    values : str or sequence of str, optional
        Columns of the channels; by default all but the label, the time, and what only rises, as a
        time or a count does; ``left_out`` of the series names the last ones.
    train_length : int, optional
        Number of leading points for training.
    """
    table = read_parquet(path) if Candidate(path).suffix in _PARQUET else read_csv(path)
    return series_from_table(
        table,
        name=stem(path),
        dataset=dataset or parent_name(path),
        label=label,
        values=values,
        train_length=train_length,
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
    doubting: bool = False,
) -> Series:
    """Build a series from named columns of a table; shared by the formats with a header.

    Nobody has said what the columns of a `doubting` format hold: those that only rise are left
    out, unless they are all there is.
    """
    label = label if label is not None else label_column(table.names)
    if label is None:
        raise InvalidInputError(
            f"{table.path}: a column must be named like one of {list(LABEL_NAMES)}, or by label=; "
            f"got columns {list(table.names)}"
        )
    chosen = _channels(table, label, values)
    table.check_columns((label, *chosen))
    if not chosen:
        raise InvalidInputError(f"{table.path}: needs a column of values beside {label!r}")
    left_out = _rising(table, chosen) if doubting and values is None else []
    taken = [channel for channel in chosen if channel not in left_out]
    columns = [table.numbers(channel) for channel in taken]
    matrix: NDArray[np.float64] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    labels = table.labels(label)
    told = tuple(f"{channel} ({RISING})" for channel in left_out)
    return Series(name, dataset, matrix, labels, train_length, tuple(taken), told)


def _channels(table: Table, label: str, values: str | Sequence[str] | None) -> list[str]:
    if isinstance(values, str):
        return [values]
    if values is not None:
        return list(values)
    return [name for name in table.names if name != label and name.lower() not in PLACE_NAMES]


def _rising(table: Table, channels: list[str]) -> list[str]:
    """Columns that are times or counts by what is in them; none if nothing would be left."""
    rising = [name for name in channels if only_rises(table.numbers(name))]
    return [] if len(rising) == len(channels) else rising
