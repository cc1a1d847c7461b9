"""Times of the rows of a file, and their order; one line per kind says what was decided."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import listed, quoted
from vuskit.datasets.columns import Columns, check_column
from vuskit.datasets.tables import Table
from vuskit.errors import InvalidInputError
from vuskit.times import (
    check_timezone,
    find_time_columns,
    has_zone,
    is_row_number,
    read_times,
)

NO_ORDER = "none"
"""Value of ``--order`` for rows that are in order whatever their times say."""

_SHOWN = 5
_OLDEST = 1e8  # seconds since 1970 in 1973; smaller numbers are no epochs
_FACTORS = ((1e11, 10**6), (1e14, 10**3), (1e17, 1))  # of s, ms and us, by their size


class Decision(NamedTuple):
    """How often something was decided about the rows of a series, and where."""

    kind: str
    size: int
    examples: tuple[str, ...]


def summarized(decisions: Iterable[Decision]) -> list[str]:
    """Return one line per kind of decision.

    Examples
    --------
    >>> summarized([Decision("open tickets", 1, ("T4",)), Decision("open tickets", 1, ("T9",))])
    ['open tickets: 2 (T4, T9)']
    """
    counts: dict[str, int] = {}
    examples: dict[str, list[str]] = {}
    for one in decisions:
        counts[one.kind] = counts.get(one.kind, 0) + one.size
        examples.setdefault(one.kind, []).extend(one.examples)
    lines = []
    for kind, count in counts.items():
        shown = list(dict.fromkeys(examples[kind]))
        more = ", …" if count > _SHOWN and len(shown) > _SHOWN - 1 else ""
        lines.append(f"{kind}: {count:,} ({listed(shown[:_SHOWN])}{more})")
    return lines


class Times(NamedTuple):
    """Times of rows: numbers, or datetime64 in UTC if they have zones."""

    name: str
    values: NDArray[np.generic]
    zoned: bool = False

    @property
    def are_dates(self) -> bool:
        """Whether the times are no plain numbers."""
        return self.values.dtype.kind == "M"

    def as_dates(self) -> Times:
        """Return epochs as dates; other times as they are."""
        return self if self.are_dates or not are_epochs(self.values) else dates_of_epochs(self)


def are_epochs(numbers: NDArray[np.generic]) -> bool:
    """Whether all numbers are as large as epochs in seconds or smaller units since 1973."""
    return bool(numbers.size) and bool((numbers.astype(float) >= _OLDEST).all())


def dates_of_epochs(times: Times) -> Times:
    """Return epochs in seconds, milliseconds, microseconds or nanoseconds as dates in UTC."""
    numbers = times.values
    largest = float(numbers.astype(float).max())
    factor = next((factor for below, factor in _FACTORS if largest < below), None)
    if factor is None:
        micro = numbers.astype(np.int64) // 1000
    elif numbers.dtype.kind in "iu":
        micro = numbers.astype(np.int64) * factor
    else:
        micro = np.rint(numbers.astype(np.float64) * factor).astype(np.int64)
    return Times(times.name, micro.astype("datetime64[us]"), zoned=True)


def in_zone_of(
    times: Times, others: Times, timezone: str | None, paths: tuple[Path, Path]
) -> Times:
    """Return the dates of `others` so that they can be compared with `times`."""
    dates = others if others.are_dates else dates_of_epochs(others)
    if dates.zoned == times.zoned:
        return dates
    zone = check_timezone(timezone)
    if zone is None:
        named = [f"{one.name!r} of {path}" for one, path in zip((times, dates), paths, strict=True)]
        zoned, naive = named if times.zoned else named[::-1]
        raise InvalidInputError(
            f"times must have a time zone everywhere or nowhere, got zones in {zoned} and none in "
            f"{naive}; name the zone of times without one with --timezone, for example "
            "Europe/Berlin"
        )
    moments: list[Any] = dates.values.tolist()
    if dates.zoned:
        from datetime import UTC

        local = [one.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) for one in moments]
        return Times(dates.name, np.array(local, dtype="datetime64[us]"))
    try:
        cells = np.array([*moments, "1970-01-01T00:00Z"], dtype=object)
        return Times(dates.name, read_times(dates.name, cells, zone=zone)[:-1], zoned=True)
    except InvalidInputError as error:
        raise InvalidInputError(f"{paths[1]}: {error}") from error


def check_same_times(one: Ordered, other: Ordered, timezone: str | None) -> None:
    """Refuse scores and labels, or scores of two files, at different times."""
    if one.times is None or other.times is None or one.table.length != other.table.length:
        return
    times, others = one.times.as_dates(), other.times.as_dates()
    if times.are_dates != others.are_dates:
        return
    paths = one.table.path, other.table.path
    if times.are_dates:
        others = in_zone_of(times, others, timezone, paths)
    differs = times.values != others.values
    if differs.any():
        row = int(differs.argmax())
        raise InvalidInputError(
            f"{paths[1]}: times must be those of {paths[0]}, got {others.values[row]} instead of "
            f"{times.values[row]} in row {row + 1} and {int(differs.sum()) - 1:,} others; keep "
            "rows at common times, or use --order none if rows belong together as they are"
        )


def row_times(table: Table, name: str, timezone: str | None = None) -> Times:
    """Return the times in a column."""
    dates = table.dates(name)
    if dates is not None:
        return Times(name, dates, table.has_zone(name))
    if not table.is_text(name):
        numbers = table.numbers(name)
        if not np.isnan(numbers).any():
            return Times(name, numbers)
    cells = table.cells(name)
    try:
        found = read_times(name, cells, zone=check_timezone(timezone))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{table.path}: {error}, or use --order none if the rows are in order"
        ) from error
    return Times(name, found, found.dtype.kind == "M" and has_zone(cells))


def time_column(table: Table, columns: Columns) -> str | None:
    """Return the column of the times of the rows; None if there is none."""
    if columns.order == NO_ORDER:
        return None
    if columns.order is not None:
        check_column(table.path, table.names, "order", columns.order)
        return columns.order
    used = {columns.label, *columns.value, *columns.score, columns.by, columns.dataset}
    free = [name for name in table.names if name not in used]
    found = find_time_columns(free, [name for name in free if table.is_dated(name)])
    if len(found) < 2:
        return found[0] if found else None
    for name in found:
        times = table.dates(name)
        if times is not None and (times[1:] > times[:-1]).all():
            return name
    raise InvalidInputError(
        f"{table.path}: one column must hold the times of the rows, got {quoted(found)}; name it "
        "with --order COLUMN, or use --order none if the rows are in order"
    )


class Ordered(NamedTuple):
    """Rows in the order of their times."""

    table: Table
    times: Times | None = None
    decisions: tuple[Decision, ...] = ()
    rank: NDArray[np.intp] | None = None  # of the rows in the file, if they were sorted


def in_time_order(table: Table, columns: Columns, series: str) -> Ordered:
    """Return the rows of a series in the order of their times."""
    name = time_column(table, columns)
    if name is None:
        _check_row_numbers(table, columns)
        return Ordered(table)
    times = row_times(table, name, columns.timezone)
    values = times.values
    if (values[1:] > values[:-1]).all():  # type: ignore[operator]
        return Ordered(table, times)
    decisions = []
    rank = np.argsort(values, kind="stable")
    if not (values[1:] >= values[:-1]).all():  # type: ignore[operator]
        decisions.append(Decision(f"series whose rows are sorted by {name!r}", 1, (series,)))
    ordered = values[rank]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if same.size:
        shown = [str(one) for one in dict.fromkeys(ordered[same][:_SHOWN].tolist())]
        if columns.duplicates == "error":
            raise InvalidInputError(
                f"{table.path}: there must be one row per time, got {same.size:,} more rows at "
                f"the same {name!r} in {series} (first: {listed(shown)}); "
                f"{_by_advice(table, columns, values)}, --duplicates last or --duplicates first to "
                "keep one row, or --order none if these are not the times of the rows"
            )
        other = "later" if columns.duplicates == "last" else "previous"
        kind = f"rows dropped at a time that a {other} row has"
        decisions.append(Decision(kind, int(same.size), tuple(f"{series} {one}" for one in shown)))
        rank = np.delete(rank, same if columns.duplicates == "last" else same + 1)
    return Ordered(table.take(rank), Times(name, values[rank], times.zoned), (*decisions,), rank)


def _by_advice(table: Table, columns: Columns, times: NDArray[Any]) -> str:
    """Advise to name the column of the series: the one that makes times unique, if any."""
    places = np.unique(times, return_inverse=True)[1]
    for other in table.names:
        if other not in (columns.by, columns.dataset) and table.is_text(other):
            pairs = np.stack([places, table.distinct(other)[1]])
            if np.unique(pairs, axis=1).shape[1] == table.length:
                return f"column {other!r} seems to name the series: use --by {quote(other)}"
    return "use --by COLUMN if a column names the series"


def row_number_columns(table: Table) -> list[str]:
    """Return the columns that number the rows, as pandas writes them."""
    return [name for name in table.names if is_row_number(name) and not table.is_text(name)]


def _check_row_numbers(table: Table, columns: Columns) -> None:
    """Refuse rows that are not in the order of their numbers, which no two share."""
    for name in [] if columns.order == NO_ORDER else row_number_columns(table):
        numbers = table.numbers(name)
        wrong = numbers[1:] <= numbers[:-1]
        if wrong.any() and np.unique(numbers).size == numbers.size:
            row = int(wrong.argmax())
            shown = repr(name) if name else "the column without a name"
            remedy = (
                f"use --order {quote(name)}" if name else "name the column, use it with --order"
            )
            raise InvalidInputError(
                f"{table.path}: rows must be in the order of their numbers in {shown}, got "
                f"{numbers[row]:g} before {numbers[row + 1]:g}; {remedy}, or use "
                "--order none if the rows are in order as they are"
            )
