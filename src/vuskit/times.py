"""Times of points: numbers, dates or ISO text, with a zone or without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError

__all__ = [
    "TIME_NAMES",
    "check_timezone",
    "find_time_columns",
    "has_zone",
    "is_row_number",
    "look_like_epochs",
    "read_times",
]

TIME_NAMES = ("timestamp", "time", "datetime", "date", "ts")
"""Usual names of the column of times, in lower case."""

_YEAR_2000, _YEAR_2100 = 946_684_800, 4_102_444_800  # in seconds since 1970


def find_time_columns(names: Iterable[str], dated: Sequence[str]) -> list[str]:
    """Return the columns that may hold times: those with a usual name, else all `dated` ones.

    Examples
    --------
    >>> find_time_columns(["ts", "time", "seen"], ["ts", "seen"])
    ['ts']
    """
    named = [name for name in names if str(name).strip().lower() in TIME_NAMES]
    return [name for name in named if name in dated] or named or list(dated)


def is_row_number(name: str) -> bool:
    """Whether a column is the index of a pandas frame, as files have it.

    Examples
    --------
    >>> is_row_number("Unnamed: 0"), is_row_number("id")
    (True, False)
    """
    plain = str(name).strip().lower()
    return plain in ("", "index", "unnamed: 0") or plain.startswith("__index_level_")


def look_like_epochs(numbers: NDArray[Any]) -> bool:
    """Whether all numbers are integers like epochs from 2000 to 2100, in s, ms, us or ns.

    Examples
    --------
    >>> look_like_epochs(np.array([1.7e12, 1.6e12])), look_like_epochs(np.array([1.7e9, 0.5]))
    (True, False)
    """
    if not numbers.size or not (numbers == np.floor(numbers)).all():
        return False
    first, last = numbers.min() / _YEAR_2000, numbers.max() / _YEAR_2100
    return any(first >= unit >= last for unit in (1, 1e3, 1e6, 1e9))


def read_times(name: str, times: NDArray[Any], *, zone: tzinfo | None = None) -> NDArray[Any]:
    """Return times as numbers or as datetime64 (in UTC if they have zones).

    Examples
    --------
    >>> read_times("t", np.array(["10", "2"], dtype=object)).tolist()
    [10, 2]
    >>> read_times("t", np.array(["2026-03-29T01:00+01:00", "2026-03-29T03:00+02:00"])).tolist()
    [datetime.datetime(2026, 3, 29, 0, 0), datetime.datetime(2026, 3, 29, 1, 0)]
    """
    if times.dtype.kind not in "biufMm":
        times = times.astype(object)
    if times.dtype.kind != "O":
        missing = times != times  # NaN and NaT
    else:
        missing = np.array([one is None or one != one for one in times], dtype=np.bool_)
    if missing.any():
        raise InvalidInputError(
            f"`{name}` must not be missing, got a missing value at index {int(missing.argmax())}; "
            "fill it or drop these rows"
        )
    if times.dtype.kind in "biufMm":
        return times
    return _from_objects(name, times.tolist(), zone)


def has_zone(times: NDArray[Any]) -> bool:
    """Whether any of the times that `read_times` reads has a zone.

    Examples
    --------
    >>> has_zone(np.array(["2026-03-29T01:00+01:00"], dtype=object))
    True
    """
    return any(_as_moment(one).tzinfo is not None for one in times.tolist())


def check_timezone(timezone: str | None) -> tzinfo | None:
    """Return the zone with an IANA name.

    Examples
    --------
    >>> check_timezone("Europe/Berlin")
    zoneinfo.ZoneInfo(key='Europe/Berlin')
    """
    from zoneinfo import ZoneInfo

    try:
        return None if timezone is None else ZoneInfo(timezone)
    except (KeyError, TypeError, ValueError, OSError):
        raise InvalidInputError(
            f"`timezone` must be the name of a time zone, got {timezone!r}; use a name such as "
            "'Europe/Berlin' or 'UTC'"
        ) from None


def _from_objects(name: str, times: list[Any], zone: tzinfo | None) -> NDArray[Any]:
    numbers = _as_numbers(times)
    if numbers is not None:
        return numbers
    moments = []
    for place, one in enumerate(times):
        try:
            moments.append(_as_moment(one))
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"`{name}` must be numbers or ISO times such as 2026-03-21T11:08, got "
                f"{str(one)[:60]!r} at index {place}; convert the times first"
            ) from None
    return _in_one_zone(name, moments, zone)


def _as_numbers(times: list[Any]) -> NDArray[Any] | None:
    for kind in (int, float):
        try:
            if kind is float or all(isinstance(one, (str, int)) for one in times):
                numbers = np.array([kind(one) for one in times])
                return numbers if np.isfinite(numbers).all() else None
        except (TypeError, ValueError):
            continue
    return None


def _as_moment(one: Any) -> datetime:
    if isinstance(one, str):
        return datetime.fromisoformat(one.strip())
    if isinstance(one, datetime):
        return one
    if isinstance(one, date):
        return datetime.combine(one, time())
    raise TypeError


def _in_one_zone(name: str, moments: Sequence[datetime], zone: tzinfo | None) -> NDArray[Any]:
    naive = [place for place, one in enumerate(moments) if one.tzinfo is None]
    if len(naive) == len(moments):
        return np.array(moments, dtype="datetime64[us]")
    if naive and zone is None:
        raise InvalidInputError(
            f"`{name}` must have a time zone in all times or in none, got "
            f"{moments[naive[0]]} without one at index {naive[0]} beside times with one; name the "
            "zone of such times with `timezone`, for example 'Europe/Berlin'"
        )
    found = list(moments)
    for place in naive:
        local = moments[place].replace(tzinfo=zone)
        if local.utcoffset() != local.replace(fold=1).utcoffset():
            raise InvalidInputError(
                f"`{name}` must be unambiguous times, got {moments[place]} at index {place}, when "
                f"clocks change in {zone}; give these times with their offset"
            )
        found[place] = local
    utc = [one.astimezone(UTC).replace(tzinfo=None) for one in found]
    return np.array(utc, dtype="datetime64[us]")
