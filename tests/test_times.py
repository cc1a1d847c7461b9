"""Times are numbers, dates or ISO text; everything with two readings is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pytest

from vuskit.errors import InvalidInputError
from vuskit.times import check_timezone, read_times


def objects(*times):
    return np.array(times, dtype=object)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (objects("10", " 2"), [10, 2]),
        (objects("1.5", "-2e3"), [1.5, -2000.0]),
        (objects(str(2**60), str(2**60 + 1)), [2**60, 2**60 + 1]),
        (np.array(["10", "9"]), [10, 9]),
        (objects("2026-03-21", "2026-03-21 11:08"), ["2026-03-21T00:00", "2026-03-21T11:08"]),
        (objects(date(2026, 3, 21), datetime(2026, 3, 22)), ["2026-03-21", "2026-03-22"]),
        (objects(datetime(2026, 3, 21, tzinfo=UTC)), ["2026-03-21"]),
        (
            objects("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00"),
            ["2026-10-25T00:30", "2026-10-25T01:30"],
        ),
    ],
)
def test_readings(times, expected):
    found = read_times("t", times)
    if found.dtype.kind == "M":
        expected = np.array(expected, dtype=found.dtype).tolist()
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (objects("21.03.2026 11:08"), "got '21.03.2026 11:08' at index 0; convert"),
        (objects("2026-03-21", "3"), "got '3' at index 1"),
        (objects("1", "nan"), "numbers or ISO times"),
        (objects("1", "inf"), "numbers or ISO times"),
        (objects("1", None), "got a missing value at index 1"),
        (np.array([0, np.nan]), "got a missing value at index 1"),
        (np.array(["2026-01-01", "NaT"], dtype="M8[s]"), "got a missing value at index 1"),
        (objects("2026-03-21", "2026-03-21T00:00Z"), "got 2026-03-21 00:00:00 without one at inde"),
    ],
)
def test_refusals(times, message):
    with pytest.raises(InvalidInputError, match=message):
        read_times("t", times)


def test_the_zone_of_times_without_one():
    zone = check_timezone("Europe/Berlin")
    found = read_times("t", objects("2026-06-01T12:00", "2026-06-01T11:00Z"), zone=zone)
    assert found.tolist() == [datetime(2026, 6, 1, 10), datetime(2026, 6, 1, 11)]
    for local in ("2026-10-25T02:30", "2026-03-29T02:30"):  # twice, and never
        with pytest.raises(InvalidInputError, match="must be unambiguous times"):
            read_times("t", objects(local, "2026-06-01T11:00Z"), zone=zone)
    for name in ("Europe/Berlim", "", 3):
        with pytest.raises(InvalidInputError, match="`timezone` must be the name of a time zone"):
            check_timezone(name)
