"""Reader for csv, tsv and parquet files with named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.columns import (
    COMPONENT,
    LABEL_NAMES,
    PLACE_NAMES,
    is_component,
    label_column,
    suspect_channels,
)
from vuskit.datasets.long_tables import open_long_table
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.datasets.tables import PARQUET, Table, read_csv, read_parquet
from vuskit.errors import InvalidInputError

_TEXT = (".csv", ".tsv")


def _parts(path: Path, options: Mapping[str, Any]) -> tuple[str, ...]:
    by = options.get("by")
    return () if by is None else tuple(key[-1] for key in open_long_table(path, by).keys)


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
    """Read one file, selecting columns by name.

    Parameters
    ----------
    path : Path
        A csv or tsv (also gzipped) or parquet file.
    dataset : str, optional
        Name of the data set. Defaults to the folder's name, or with `by` to the file's name.
    label : str, optional
        Column of the labels. Defaults to the column with a common name for labels.
    values : str or sequence of str, optional
        Columns of the channels. Defaults to all columns except the label, the time, strictly
        increasing columns, and components such as ``trend``, ``noise`` or ``changepoint``. The
        attribute ``left_out`` of the series lists ignored columns.
    train_length : int, optional
        Number of leading points for training.
    by : str, optional
        Column that names the series of each row, for a file with many series.
    part : str, optional
        Name of the series to read from a file with many series.
    """
    if by is None and part is not None:
        raise InvalidInputError(
            f"{path}: `part` must come with `by`, the column that names the series; "
            f"got part={part!r} without `by`"
        )
    name, default = stem(path), parent_name(path)
    if by is None:
        table = read_parquet(path) if Candidate(path).suffix in PARQUET else read_csv(path)
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
        drop_suspect=True,
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
    drop_suspect: bool = False,
    list_ignored: bool = False,
) -> Series:
    """Build a series from named columns of a table; shared by the formats with a header.

    `drop_suspect` ignores components and strictly increasing columns, unless no others exist.
    `list_ignored` records all other columns in ``left_out``.
    """
    label = label if label is not None else label_column(table.names)
    if label is None:
        raise InvalidInputError(
            f"{table.path}: the label column must be one of {list(LABEL_NAMES)}, "
            f"got columns {list(table.names)}; name it with label="
        )
    others = [
        name for name in table.names if name not in (label, by) and name.lower() not in PLACE_NAMES
    ]
    chosen = others if values is None else [values] if isinstance(values, str) else list(values)
    table.check_columns((label, *chosen))
    if not chosen:
        raise InvalidInputError(
            f"{table.path}: there must be a column of values besides {label!r}, "
            f"got columns {list(table.names)}; name it with values="
        )
    left_out: dict[str, str] = {}
    if drop_suspect and values is None:
        left_out = suspect_channels(table, chosen)
    elif list_ignored:
        left_out = {
            name: COMPONENT if is_component(name) else "not a channel"
            for name in others
            if name not in chosen
        }
    taken = [channel for channel in chosen if channel not in left_out]
    columns = [table.numbers(channel) for channel in taken]
    matrix: NDArray[np.float64] = columns[0] if len(columns) == 1 else np.column_stack(columns)
    labels = table.labels(label)
    ignored = tuple(f"{channel} ({reason})" for channel, reason in left_out.items())
    return Series(name, dataset, matrix, labels, train_length, tuple(taken), ignored)
