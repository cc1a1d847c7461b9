"""Place anomalies that are given as intervals, such as tickets, on the points of a series."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import quoted
from vuskit.datasets.columns import STOPS, Columns, check_column, id_column, interval_columns
from vuskit.datasets.row_times import Decision, Times, are_epochs, in_zone_of
from vuskit.datasets.tables import Table
from vuskit.errors import InvalidInputError
from vuskit.times import check_timezone, has_zone, read_times

POSITIONS = "intervals read as positions from 0, not as times"
OPEN = "intervals without an end, which last to the end of the data"
WHOLE_DAYS = "intervals whose end is a date, which last to the end of that day"
OUTSIDE = "intervals outside the data, dropped"
REVERSED = "intervals that end before they start, dropped"
BETWEEN = "intervals between two points, dropped"
CLIPPED = "intervals partly outside the data, clipped"
OVERLAPPING = "intervals that overlap others, joined"
WRONG = (OUTSIDE, REVERSED, BETWEEN, CLIPPED)
"""Decisions on intervals that do not fit the data."""

_SHOWN = 5


class Ticket(NamedTuple):
    """An interval on the points of a series, with the id that its file gives."""

    id: str
    start: int
    stop: int


class Placed(NamedTuple):
    """Labels from intervals, and what was decided about them."""

    labels: NDArray[np.bool_]
    tickets: tuple[Ticket, ...] = ()
    decisions: tuple[Decision, ...] = ()


def place_tickets(
    table: Table,
    columns: Columns,
    *,
    n_points: int,
    times: Times | None,
    points: Path,
    key: Mapping[str, str] | None = None,
) -> Placed:
    """Return labels from the first and last position or time of each anomaly."""
    path = table.path
    for option, name in (("start", columns.start), ("end", columns.end), ("id", columns.id)):
        if name is not None:
            check_column(path, table.names, option, name)
    bounds = interval_columns(table.names, columns.start, columns.end)
    if bounds is None:
        raise InvalidInputError(
            f"{path}: intervals must be in the columns start and end, got columns "
            f"{quoted(table.names)}; name them with --start COLUMN --end COLUMN"
        )
    rows = np.arange(table.length)
    for name, cell in (key or {}).items():
        words, codes = table.distinct(name)
        rows = rows[np.array([word == cell for word in words])[codes[rows]]]
    if not rows.size:
        return Placed(np.zeros(n_points, dtype=np.bool_))
    part = table.take(rows)
    named = columns.id or id_column(table.names)
    ids = [f"row {row + 1}" for row in rows.tolist()] if named is None else part.texts(named)
    first, last = bounds
    inclusive = last.strip().lower() not in STOPS
    cells = part.cells(last)
    is_open = np.array([cell is None for cell in cells.tolist()], dtype=np.bool_)
    starts = _bounds(path, first, part.cells(first), columns.timezone)
    ends = _bounds(path, last, cells[~is_open], columns.timezone) if not is_open.all() else starts
    if starts.are_dates != ends.are_dates:
        raise InvalidInputError(
            f"{path}: columns {first!r} and {last!r} must both be times or both positions, got "
            "times in one only"
        )
    noted = []
    if _are_times(path, starts, times, points):
        assert times is not None
        times = times.as_dates()
        starts, ends = (
            in_zone_of(times, one, columns.timezone, (points, path)) for one in (starts, ends)
        )
        found = _Bounds(starts.values, ends.values, is_open, inclusive).on_times(times.values)
        if inclusive and all(type(cell) is date for cell in cells[~is_open]):
            last_moments = ends.values.astype("datetime64[us]") + np.timedelta64(
                86_399_999_999, "us"
            )
            longer = _Bounds(starts.values, last_moments, is_open, inclusive).on_times(times.values)
            if (differs := longer.stops != found.stops).any():
                noted.append(_decision(WHOLE_DAYS, differs, ids))
                found = longer
    else:
        if times is not None and not np.array_equal(times.values, np.arange(n_points)):
            noted.append(_decision(POSITIONS, np.ones(rows.size, dtype=np.bool_), ids))
        found = _Bounds(starts.values, ends.values, is_open, inclusive).on_positions(path, n_points)
    return _placed(found, is_open, ids, n_points, noted)


def _bounds(path: Path, name: str, cells: NDArray[np.object_], timezone: str | None) -> Times:
    try:
        found = read_times(name, cells, zone=check_timezone(timezone))
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error
    return Times(name, found, found.dtype.kind == "M" and has_zone(cells))


def _are_times(path: Path, bounds: Times, times: Times | None, points: Path) -> bool:
    """Whether bounds are times, not positions."""
    if not bounds.are_dates and not are_epochs(bounds.values):
        return False
    if times is None:
        raise InvalidInputError(
            f"{path}: intervals given as times need a column of times in {points}, got none; name "
            "it with --order COLUMN, or give intervals as positions from 0"
        )
    if not times.as_dates().are_dates:
        raise InvalidInputError(
            f"{path}: intervals given as times need times in {points}, got other numbers in "
            f"{times.name!r}; name the column of times with --order"
        )
    return True


class _Found(NamedTuple):
    """Half-open positions of intervals, and which are reversed, outside or partly outside."""

    starts: NDArray[np.intp]
    stops: NDArray[np.intp]
    backward: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    clipped: NDArray[np.bool_]


class _Bounds(NamedTuple):
    """First and last times or positions; those of open intervals are without meaning."""

    starts: NDArray[Any]
    given_ends: NDArray[Any]
    is_open: NDArray[np.bool_]
    inclusive: bool

    @property
    def ends(self) -> NDArray[Any]:
        ends = self.starts.copy()
        if not self.is_open.all():
            ends = ends.astype(np.result_type(ends, self.given_ends))
            ends[~self.is_open] = self.given_ends
        return ends

    def on_times(self, times: NDArray[Any]) -> _Found:
        starts, ends, n = self.starts, self.ends, times.size
        first = np.searchsorted(times, starts, side="left")
        last = np.searchsorted(times, ends, side="right" if self.inclusive else "left")
        early = (ends < times[0]) if self.inclusive else (ends <= times[0])
        return _Found(
            first,
            np.where(self.is_open, n, last),
            ~self.is_open & (ends < starts if self.inclusive else ends <= starts),
            (starts > times[-1]) | (early & ~self.is_open),
            (starts < times[0]) | (~self.is_open & (ends > times[-1])),
        )

    def on_positions(self, path: Path, n_points: int) -> _Found:
        starts, ends = self.starts, self.ends
        if (starts != np.floor(starts)).any() or (ends != np.floor(ends)).any():
            raise InvalidInputError(f"{path}: positions must be whole numbers, got fractions")
        stops = np.where(self.is_open, n_points, ends + self.inclusive)
        return _Found(
            np.clip(starts, 0, n_points).astype(np.intp),
            np.clip(stops, 0, n_points).astype(np.intp),
            ~self.is_open & (stops <= starts),
            (starts >= n_points) | (stops <= 0),
            (starts < 0) | (stops > n_points),
        )


def _placed(
    found: _Found, is_open: NDArray[np.bool_], ids: list[str], n_points: int, noted: list[Decision]
) -> Placed:
    backward, outside = found.backward, found.outside & ~found.backward
    between = ~backward & ~outside & (found.starts >= found.stops)
    kept = ~(backward | outside | between)
    order = np.flatnonzero(kept)[np.argsort(found.starts[kept], kind="stable")]
    overlapping = np.zeros(kept.size, dtype=np.bool_)
    furthest = 0
    labels = np.zeros(n_points, dtype=np.bool_)
    for place in order.tolist():
        start, stop = int(found.starts[place]), int(found.stops[place])
        overlapping[place] = start < furthest
        furthest = max(furthest, stop)
        labels[start:stop] = True
    decided = {
        OPEN: is_open & kept,
        OUTSIDE: outside,
        REVERSED: backward,
        BETWEEN: between,
        CLIPPED: found.clipped & kept,
        OVERLAPPING: overlapping,
    }
    noted += [_decision(kind, mask, ids) for kind, mask in decided.items() if mask.any()]
    tickets = [Ticket(ids[p], int(found.starts[p]), int(found.stops[p])) for p in order.tolist()]
    return Placed(labels, tuple(tickets), tuple(noted))


def _decision(kind: str, mask: NDArray[np.bool_], ids: list[str]) -> Decision:
    places = np.flatnonzero(mask).tolist()
    return Decision(kind, len(places), tuple(ids[place] for place in places[:_SHOWN]))
