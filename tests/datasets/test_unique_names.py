"""Names that tell series apart."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from vuskit.datasets.series import SeriesName, unique_names


def named(path, *, dataset=None, digest=""):
    place = PurePosixPath(path)
    return SeriesName(dataset or place.parent.name, place.stem, place, digest)


def test_as_many_folders_as_needed():
    paths = ["/d/x/a/logs/pump.csv", "/d/y/a/logs/pump.csv", "/d/x/b/logs/fan.csv"]
    assert unique_names([named(path) for path in paths]) == [
        ("x/a/logs", "pump"),
        ("y/a/logs", "pump"),
        ("logs", "fan"),
    ]


def test_folders_are_put_before_a_data_set_that_no_folder_names():
    series = [named(f"/d/{plant}/pump.csv", dataset="Plants") for plant in "AB"]
    assert unique_names(series) == [("A/Plants", "pump"), ("B/Plants", "pump")]


def test_content_decides_where_folders_do_not():
    series = [
        named("/A/logs/pump.csv", digest="1" * 64),
        named("/A/logs/pump.csv", digest="2" * 64),
        named("/B/logs/pump.csv", digest="3" * 64),
    ]
    assert unique_names(series) == [
        ("A/logs", "pump-111111"),
        ("A/logs", "pump-222222"),
        ("B/logs", "pump"),
    ]


@pytest.mark.parametrize("digest", ["", "5" * 64])
def test_the_last_resort_is_a_number(digest):
    series = [SeriesName("mine", "pump", None, digest)] * 3
    assert len(set(unique_names(series))) == 3


def test_new_names_do_not_meet_old_ones():
    series = [
        named("/A/logs/pump.csv", digest="1" * 64),
        named("/B/logs/pump.csv", digest="2" * 64),
        named("/C/else/pump.csv", dataset="A/logs", digest="3" * 64),
    ]
    assert len(set(unique_names(series))) == 3
    assert unique_names([]) == []
