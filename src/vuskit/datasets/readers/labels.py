"""Labels in a separate file: a column, an array, or intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.columns import (
    Columns,
    Windows,
    interval_columns,
    label_and_value,
    only_label_column,
    read_label_column,
)
from vuskit.datasets.readers.registry import (
    declared_train_length,
    parent_name,
    register_format,
    stem,
)
from vuskit.datasets.row_times import NO_ORDER, Decision, Ordered, in_time_order
from vuskit.datasets.series import Series
from vuskit.datasets.tables import SUFFIXES, Table, open_table, table_suffix
from vuskit.datasets.tickets import Ticket, place_tickets
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
    window: Windows = 1,
    variant: int = 0,
    part: Mapping[str, str] | None = None,
    score: Sequence[str] = (),
    order: str | None = None,
    duplicates: str = "error",
    timezone: str | None = None,
    start: str | None = None,
    end: str | None = None,
    ticket: str | None = None,
    key: str | None = None,
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
        Window length of these scores, in points. "auto" needs times or labels of points.
    variant : int, default=0
        Distinguishes series with equal labels and no values.
    part : mapping of str to str, optional
        Columns that name the data set and the series of each row of a long table, and the cells
        that select this series.
    score : sequence of str, optional
        Columns of scores of a long table.
    order, duplicates, timezone : str, optional
        Column of times by which rows are sorted, which of several rows with the same time to keep
        ("error", "first", "last"), and the zone of times without one if others have one.
    start, end, ticket, key : str, optional
        Columns of intervals: first and last time or position, name, and series.
    """
    if part is not None:
        from vuskit.datasets.inputs import read_part

        columns = Columns(
            label,
            value or (),
            score,
            positive,
            order=order,
            duplicates=duplicates,
            timezone=timezone,
            start=start,
            end=end,
            id=ticket,
            labels_by=key,
            labels_all=points is not None and key is None,
        )
        table, labels = (path, None) if points is None else (Path(points), path)
        found = read_part(table, columns, part, variant, labels)
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
        order=order,
        duplicates=duplicates,
        timezone=timezone,
        start=start,
        end=end,
        ticket=ticket,
        key=key,
    ).series


class Labeled(NamedTuple):
    """A labeled series, the column of its labels, and notes on how they were read.

    `tickets` are its anomalies if they are intervals, `ordered` the rows of other labels.
    """

    series: Series
    label: str
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    ordered: Ordered | None = None


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
    window: Windows = 1,
    variant: int = 0,
    order: str | None = None,
    duplicates: str = "error",
    timezone: str | None = None,
    start: str | None = None,
    end: str | None = None,
    ticket: str | None = None,
    key: str | None = None,
) -> Labeled:
    """Read labels as `read_labels` does; `opener` opens files."""
    columns = Columns(
        label,
        value or (),
        positive=positive,
        order=order,
        duplicates=duplicates,
        timezone=timezone,
        start=start,
        end=end,
        id=ticket,
    )
    table = opener(path) if key is None else open_table(path, texts=(key,))
    bounds = interval_columns(table.names, start, end) if label is None else None
    names = name or stem(path), dataset or parent_name(path)
    if bounds is not None:
        if points is None:
            raise InvalidInputError(
                f"{path}: intervals need a file of scores, which determines the number of points; "
                "pass the scores, and this file with --labels"
            )
        scored = in_time_order(opener(Path(points)), columns, names[0])
        if scored.times is not None:
            window = 1
        elif not isinstance(window, int):
            raise InvalidInputError(
                f"`window` must be a number of points for intervals without times, got {window!r}; "
                "give the number, or labels of points"
            )
        placed = place_tickets(
            table,
            columns,
            n_points=scored.table.length + window - 1,
            times=scored.times,
            points=Path(points),
            key=None if key is None or series is None else {key: series},
        )
        labels = placed.labels
        train = _train_length(path, labels.size)
        values, channels = _values(scored.table, columns, labels.size)
        known = channels if len(channels) > 1 else ()
        made = Series(*names, values, labels, train, known, variant=variant)
        return Labeled(made, bounds[0], (), placed.decisions, placed.tickets)
    if order not in (None, NO_ORDER, *table.names):
        columns = replace(columns, order=NO_ORDER)  # a column of the scores in another file
    replace(columns, order=None).check(path, table.names)
    found, _ = label_and_value(table, columns, labels_elsewhere=True)
    column = found or only_label_column(table)
    ordered = in_time_order(table, columns, names[0])
    table = ordered.table
    labels, notes = read_label_column(table, column, positive)
    values, channels = _values(table, columns, labels.size)
    if points is not None and not channels:
        own = in_time_order(opener(Path(points)), columns, names[0]).table
        values, channels = _values(own, columns, labels.size)
    train = _train_length(path, labels.size)
    known = channels if len(channels) > 1 else ()
    made = Series(*names, values, labels, train, known, variant=variant)
    return Labeled(made, column, notes, ordered.decisions, (), ordered)


def _values(
    table: Table, columns: Columns, n_points: int
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the series itself and its columns; NaN if there are none, or not one row per point."""
    given = [name for name in columns.value if name in table.names]
    _, channels = label_and_value(table, replace(columns, value=given), labels_elsewhere=True)
    numbers = [table.numbers(channel) for channel in channels]
    if not numbers or table.length != n_points or np.isnan(numbers).all():
        return np.full(n_points, np.nan), ()
    return (numbers[0] if len(numbers) == 1 else np.column_stack(numbers)), channels


def _train_length(path: Path, n_points: int) -> int | None:
    """Training length given in the file name, if it is less than the number of points."""
    declared = declared_train_length(path)
    return declared if declared is not None and declared < n_points else None
