"""Labels in a separate file: a column, an array, or intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import plural, quoted
from vuskit.datasets.readers.column_roles import (
    SCORE_SUFFIXES,
    Columns,
    find_roles,
    open_columns,
    read_label_column,
    score_suffix,
)
from vuskit.datasets.readers.registry import parent_name, register_format, stem
from vuskit.datasets.readers.train_lengths import declared_train_length
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["SERIES_COLUMNS", "interval_columns", "labels_from_intervals", "read_labels"]

# Column names of interval bounds. Ends are inclusive, stops are exclusive.
_STARTS = ("start", "begin", "from", "start_time", "start_timestamp")
_ENDS = ("end", "to", "end_time", "end_timestamp", "last")
_STOPS = ("stop", "stop_time")
SERIES_COLUMNS = ("series", "name", "file", "filename", "ts_name", "channel", "chan_id")


def interval_columns(names: tuple[str, ...] | list[str]) -> tuple[str, str] | None:
    """Return the columns with the start and the end of each anomaly, or None.

    Examples
    --------
    >>> interval_columns(["series", "Start", "End"])
    ('Start', 'End')
    """
    lower = {name.strip().lower(): name for name in reversed(list(names))}
    first = next((lower[name] for name in _STARTS if name in lower), None)
    last = next((lower[name] for name in (*_ENDS, *_STOPS) if name in lower), None)
    return None if first is None or last is None else (first, last)


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path]:
    points = options.get("points")
    return [] if points is None else [Path(points)]


@register_format(
    name="labels",
    title="labels in a separate file",
    layout="csv, tsv, parquet, Arrow, npy or npz (also .gz): a column or array of labels, or "
    "intervals start,end (inclusive) or start,stop (exclusive), for scores in other files",
    matches=lambda file: False,
    possible=lambda file: score_suffix(file.path) in SCORE_SUFFIXES,
    companions=_companions,
)
def read_labels(
    path: Path,
    *,
    dataset: str | None = None,
    name: str | None = None,
    label: str | None = None,
    value: str | None = None,
    positive: str | None = None,
    series: str | None = None,
    points: str | None = None,
    window: int = 1,
    variant: int = 0,
) -> Series:
    """Read labels, and the values of the series if the file has them.

    Parameters
    ----------
    path : Path
        The file.
    dataset, name : str, optional
        Names of the data set and of the series. Default to the names of the folder and the file.
    label, value : str, optional
        Columns of the labels and of the series. Default to columns with common names.
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
    """
    columns = open_columns(path)
    bounds = interval_columns(columns.names) if label is None else None
    names = name or stem(path), dataset or parent_name(path)
    if bounds is not None:
        if points is None:
            raise InvalidInputError(
                f"{path}: intervals need a file of scores, which determines the number of points; "
                "pass the scores, and this file with --labels"
            )
        scored = open_columns(Path(points))
        labels = labels_from_intervals(
            path,
            n_points=scored.length + window - 1,
            times=_times_of(scored),
            points=Path(points),
            series=series,
        )
        return Series(
            *names,
            np.full(labels.size, np.nan),
            labels,
            _train_length(path, labels.size),
            variant=variant,
        )
    roles = find_roles(path, label=label, value=value, labels_elsewhere=True)
    column = roles.label or _only_column(path, columns, positive)
    labels = read_label_column(path, columns, column, positive)[0]
    values = columns.numbers(roles.value) if roles.value is not None else None
    if values is None or np.isnan(values).all():
        values = np.full(labels.size, np.nan)
    return Series(*names, values, labels, _train_length(path, labels.size), variant=variant)


def _train_length(path: Path, n_points: int) -> int | None:
    """Training length given in the file name, if it is less than the number of points."""
    declared = declared_train_length(path)
    return declared if declared is not None and declared < n_points else None


def _only_column(path: Path, columns: Columns, positive: str | None) -> str:
    """Return the label column of a file without a common label name."""
    if len(columns.names) == 1:
        return columns.names[0]
    found = [
        name
        for name in columns.names
        if not columns.is_text(name) and np.isin(columns.numbers(name), (0, 1)).all()
    ]
    if len(found) != 1:
        raise InvalidInputError(
            f"{path}: exactly one column must hold labels (0 and 1), got {len(found)} among "
            f"{quoted(columns.names)}; name it with --label"
        )
    return found[0]


def labels_from_intervals(
    path: Path,
    *,
    n_points: int,
    times: NDArray[np.datetime64] | None,
    points: Path,
    series: str | None = None,
) -> NDArray[np.bool_]:
    """Read labels from a file with the first and last position or time of each anomaly.

    Parameters
    ----------
    path : Path
        The file.
    n_points : int
        Number of points of the series.
    times : ndarray or None
        Times of the points in ascending order, if known.
    points : Path
        File of the series or its scores, for messages.
    series : str, optional
        Name of the series, if the file has intervals of several series.

    Raises
    ------
    InvalidInputError
        If an interval is not within the series, or intervals are times but `times` is None.
    """
    columns = open_columns(path)
    bounds = interval_columns(columns.names)
    if bounds is None:
        raise InvalidInputError(
            f"{path}: intervals must be in the columns start and end, got columns "
            f"{quoted(columns.names)}; rename the columns"
        )
    starts: NDArray[Any]
    stops: NDArray[Any]
    rows = _rows_of(columns, series)
    first, last = bounds
    inclusive = last.strip().lower() not in _STOPS
    dates = columns.dates(first), columns.dates(last)
    if dates[0] is not None and dates[1] is not None:
        if times is None:
            raise InvalidInputError(
                f"{path}: intervals given as times need a column of times in {points}, got "
                f"columns {quoted(open_columns(points).names)}; or give intervals as positions "
                "from 0"
            )
        n_points = times.size
        starts = np.searchsorted(times, dates[0][rows], side="left")
        stops = np.searchsorted(times, dates[1][rows], side="right" if inclusive else "left")
    else:
        starts = columns.numbers(first)[rows]
        stops = columns.numbers(last)[rows] + inclusive
    bad = (starts < 0) | (stops > n_points) | (starts >= stops) | np.isnan(starts + stops)
    if bad.any():
        place = int(bad.argmax())
        row = int(np.flatnonzero(rows)[place])
        raise InvalidInputError(
            f"{path}: intervals must be within the {plural(n_points, 'point')} of {points.name} "
            f"and start before their end, got {starts[place]:g} to {stops[place] - 1:g} "
            f"in row {row + 1}"
        )
    labels = np.zeros(n_points, dtype=np.bool_)
    for start, stop in zip(starts.astype(int), stops.astype(int), strict=True):
        labels[start:stop] = True
    return labels


def _rows_of(columns: Columns, series: str | None) -> NDArray[np.bool_]:
    """Mask of the rows of one series; all rows if the file does not name series."""
    lower = {name.strip().lower(): name for name in reversed(columns.names)}
    column = next((lower[name] for name in SERIES_COLUMNS if name in lower), None)
    if series is None or column is None:
        return np.ones(columns.length, dtype=np.bool_)
    words, codes = columns.distinct(column)
    return np.array([word == series for word in words])[codes]


def _times_of(columns: Columns) -> NDArray[np.datetime64] | None:
    return next((t for name in columns.names if (t := columns.dates(name)) is not None), None)
