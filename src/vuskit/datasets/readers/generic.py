"""Any csv or parquet file with named columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.readers.tables import Table, read_csv, read_parquet
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["read_table", "series_from_table"]

LABEL_NAMES = ("label", "labels", "is_anomaly", "anomaly", "is_outlier", "outlier", "target")
# Columns that say when, not what: never taken as a channel unless asked for by name.
_NOT_CHANNELS = {"", "timestamp", "time", "date", "datetime", "index", "is_ignored"}


_PARQUET = (".parquet", ".pq")


def _matches(file: Candidate) -> bool:
    if file.suffix in _PARQUET:
        return True
    return file.suffix == ".csv" and label_column(file.columns) is not None


@register_format(
    name="table",
    title="csv or parquet with named columns",
    layout="*.csv, *.csv.gz, *.parquet: a label column (label, is_anomaly, anomaly, ...) and "
    "numeric ones; label= and values= name them",
    matches=_matches,
    possible=lambda file: file.suffix in (".csv", *_PARQUET),
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
        A csv (also gzipped) or parquet file.
    dataset : str, optional
        The folder's name by default.
    label : str, optional
        Column of the labels; by default the one with a usual name.
    values : str or sequence of str, optional
        Columns of the channels; by default all but the label and the time.
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
    )


def series_from_table(
    table: Table,
    *,
    name: str,
    dataset: str,
    label: str | None = None,
    values: str | Sequence[str] | None = None,
    train_length: int | None = None,
) -> Series:
    """Build a series from named columns of a table; shared by the formats with a header."""
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
    columns = [table.numbers(channel) for channel in chosen]
    matrix: NDArray[np.float64] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    return Series(name, dataset, matrix, table.labels(label), train_length, tuple(chosen))


def label_column(names: Sequence[str]) -> str | None:
    """Return the column with a usual name for labels, in any case, or None."""
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[usual] for usual in LABEL_NAMES if usual in lower), None)


def _channels(table: Table, label: str, values: str | Sequence[str] | None) -> list[str]:
    if isinstance(values, str):
        return [values]
    if values is not None:
        return list(values)
    return [name for name in table.names if name != label and name.lower() not in _NOT_CHANNELS]
