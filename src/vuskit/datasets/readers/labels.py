"""Labels in a separate file: a column, an array, or intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import plural, quoted
from vuskit.datasets.columns import (
    STOPS,
    Columns,
    interval_columns,
    label_and_value,
    only_label_column,
    read_label_column,
    series_column,
)
from vuskit.datasets.readers.registry import parent_name, register_format, stem
from vuskit.datasets.readers.train_lengths import declared_train_length
from vuskit.datasets.series import Series
from vuskit.datasets.tables import SUFFIXES, Table, open_table, table_suffix
from vuskit.errors import InvalidInputError


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path]:
    points = options.get("points")
    return [] if points is None else [Path(points)]


@register_format(
    name="labels",
    title="labels in a separate file",
    layout="csv, tsv, parquet, Arrow, npy or npz (also .gz): a column or array of labels, or "
    "intervals start,end (inclusive) or start,stop (exclusive), for scores in other files",
    matches=lambda file: False,
    possible=lambda file: table_suffix(file.path) in SUFFIXES,
    companions=_companions,
)
def read_labels(
    path: Path,
    *,
    dataset: str | None = None,
    name: str | None = None,
    label: str | None = None,
    value: str | Sequence[str] | None = None,
    positive: str | None = None,
    series: str | None = None,
    points: str | None = None,
    window: int = 1,
    variant: int = 0,
    part: Mapping[str, str] | None = None,
    score: Sequence[str] = (),
) -> Series:
    """Read labels, and the values of the series if the file has them.

    Parameters
    ----------
    path : Path
        The file.
    dataset, name : str, optional
        Names of the data set and of the series. Default to the names of the folder and the file.
    label : str, optional
        Column of the labels. Defaults to the column with a common name for labels.
    value : str or sequence of str, optional
        Columns of the series. Default to the column with a common name.
    positive : str, optional
        Label that means anomalous, if labels are not 0 and 1.
    series : str, optional
        Name of the series, if the file has intervals of several series.
    points : str, optional
        File of scores that determines the number of points and their times. Required for
        intervals.
    window : int, default=1
        Window length of these scores, in points.
    variant : int, default=0
        Distinguishes series with equal labels and no values.
    part : mapping of str to str, optional
        Columns that name the data set and the series of each row of a long table, and the cells
        that select this series.
    score : sequence of str, optional
        Columns of scores of a long table.
    """
    if part is not None:
        from vuskit.datasets.inputs import read_part

        columns = Columns(label, value or (), score, positive)
        found = read_part(path, columns, part, variant)
        return replace(found, dataset=dataset or found.dataset, name=name or found.name)
    return read_labeled(
        path,
        open_table,
        dataset=dataset,
        name=name,
        label=label,
        value=value,
        positive=positive,
        series=series,
        points=points,
        window=window,
        variant=variant,
    ).series


class Labeled(NamedTuple):
    """A labeled series, the column of its labels, and notes on how they were read."""

    series: Series
    label: str
    notes: tuple[str, ...] = ()


def read_labeled(
    path: Path,
    opener: Callable[[Path], Table],
    *,
    dataset: str | None = None,
    name: str | None = None,
    label: str | None = None,
    value: str | Sequence[str] | None = None,
    positive: str | None = None,
    series: str | None = None,
    points: str | None = None,
    window: int = 1,
    variant: int = 0,
) -> Labeled:
    """Read labels as `read_labels` does; `opener` opens files."""
    table = opener(path)
    bounds = interval_columns(table.names) if label is None else None
    names = name or stem(path), dataset or parent_name(path)
    if bounds is not None:
        if points is None:
            raise InvalidInputError(
                f"{path}: intervals need a file of scores, which determines the number of points; "
                "pass the scores, and this file with --labels"
            )
        scored = opener(Path(points))
        labels = labels_from_intervals(
            table,
            n_points=scored.length + window - 1,
            times=_times_of(scored),
            points=Path(points),
            series=series,
        )
        train = _train_length(path, labels.size)
        values = np.full(labels.size, np.nan)
        return Labeled(Series(*names, values, labels, train, variant=variant), bounds[0])
    columns = Columns(label=label, value=value or ())
    columns.check(path, table.names)
    found, channels = label_and_value(table, columns, labels_elsewhere=True)
    column = found or only_label_column(table)
    labels, notes = read_label_column(table, column, positive)
    values = np.full(labels.size, np.nan)
    numbers = [table.numbers(channel) for channel in channels]
    if len(numbers) > 1:
        values = np.column_stack(numbers)
    elif numbers and not np.isnan(numbers[0]).all():
        values = numbers[0]
    train = _train_length(path, labels.size)
    known = channels if len(numbers) > 1 else ()
    return Labeled(Series(*names, values, labels, train, known, variant=variant), column, notes)


def _train_length(path: Path, n_points: int) -> int | None:
    """Training length given in the file name, if it is less than the number of points."""
    declared = declared_train_length(path)
    return declared if declared is not None and declared < n_points else None


def labels_from_intervals(
    table: Table,
    *,
    n_points: int,
    times: NDArray[np.datetime64] | None,
    points: Path,
    series: str | None = None,
) -> NDArray[np.bool_]:
    """Return labels from the first and last position or time of each anomaly.

    Parameters
    ----------
    table : Table
        The intervals.
    n_points : int
        Number of points of the series.
    times : ndarray or None
        Times of the points in ascending order, if known.
    points : Path
        File of the series or its scores, for messages.
    series : str, optional
        Name of the series, if the table has intervals of several series.

    Raises
    ------
    InvalidInputError
        If an interval is not within the series, or intervals are times but points have none.
    """
    path, bounds = table.path, interval_columns(table.names)
    if bounds is None:
        raise InvalidInputError(
            f"{path}: intervals must be in the columns start and end, got columns "
            f"{quoted(table.names)}; rename the columns"
        )
    starts: NDArray[Any]
    stops: NDArray[Any]
    rows = _rows_of(table, series)
    first, last = bounds
    inclusive = last.strip().lower() not in STOPS
    dates = table.dates(first), table.dates(last)
    if dates[0] is not None and dates[1] is not None:
        if times is None:
            raise InvalidInputError(
                f"{path}: intervals given as times need a column of times in {points}, got "
                f"columns {quoted(open_table(points).names)}; or give intervals as positions "
                "from 0"
            )
        n_points = times.size
        starts = np.searchsorted(times, dates[0][rows], side="left")
        stops = np.searchsorted(times, dates[1][rows], side="right" if inclusive else "left")
    else:
        starts = table.numbers(first)[rows]
        stops = table.numbers(last)[rows] + inclusive
    bad = (starts < 0) | (stops > n_points) | (starts >= stops) | np.isnan(starts + stops)
    if bad.any():
        place = int(bad.argmax())
        row = int(np.flatnonzero(rows)[place])
        raise InvalidInputError(
            f"{path}: intervals must be within the {plural(n_points, 'point')} of "
            f"{points.name} and start before their end, got {starts[place]:g} to "
            f"{stops[place] - 1:g} in row {row + 1}"
        )
    labels = np.zeros(n_points, dtype=np.bool_)
    for start, stop in zip(starts.astype(int), stops.astype(int), strict=True):
        labels[start:stop] = True
    return labels


def _rows_of(table: Table, series: str | None) -> NDArray[np.bool_]:
    """Mask of the rows of one series; all rows if the file does not name series."""
    column = series_column(table.names)
    if series is None or column is None:
        return np.ones(table.length, dtype=np.bool_)
    words, codes = table.distinct(column)
    return np.array([word == series for word in words])[codes]


def _times_of(table: Table) -> NDArray[np.datetime64] | None:
    return next((t for name in table.names if (t := table.dates(name)) is not None), None)
