"""Series and ScoredSeries: what they keep, refuse and promise; names that tell series apart."""

from __future__ import annotations

import pickle
from pathlib import PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.series import SeriesName, unique_names
from vuskit.errors import InvalidInputError


def tiny(**changes):
    fields = {"name": "s", "dataset": "d", "values": [1.0, 2.0, 9.0], "labels": [0, 0, 1]}
    return Series(**{**fields, **changes})


def test_arrays_are_copies_and_read_only():
    values, labels = np.arange(4.0), np.array([0, 1, 0, 0])
    series = tiny(values=values, labels=labels)
    values[0], labels[0] = 99, 1
    assert series.values[0] == 0
    assert not series.labels[0]
    for array in (series.values, series.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("dtype", [bool, np.uint8, int, float])
def test_labels_of_any_dtype_become_bool(dtype):
    series = tiny(labels=np.array([0, 1, 1], dtype=dtype))
    assert series.labels.dtype == np.bool_
    assert series.labels.tolist() == [False, True, True]


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_events_give_the_labels_back(labels):
    series = tiny(values=np.zeros(len(labels)), labels=labels)
    rebuilt = np.zeros(len(labels), dtype=bool)
    for start, stop in series.events:
        assert start < stop
        rebuilt[start:stop] = True
    assert rebuilt.tolist() == labels
    assert all(b[0] > a[1] for a, b in zip(series.events, series.events[1:], strict=False))
    assert series.n_anomalies == len(series.events)


def test_channels_have_names():
    series = tiny(values=np.zeros((3, 2)))
    assert (series.n_points, series.n_channels) == (3, 2)
    assert series.channels == ("value_0", "value_1")
    assert list(series.to_frame().columns) == ["value_0", "value_1", "label"]
    assert tiny(values=np.zeros((3, 2)), channels=["a", "b"]).channels == ("a", "b")


def test_the_rest_of_a_series_has_no_part_to_train_on():
    series = tiny(train_length=1)
    rest = series.after(1)
    assert (rest.n_points, rest.train_length) == (2, None)
    assert rest.labels.tolist() == series.labels[1:].tolist()


def test_frame_is_a_copy():
    series = tiny()
    frame = series.to_frame()
    frame.loc[0, "value"] = 77.0
    assert series.values[0] == 1.0
    assert frame["label"].tolist() == [0, 0, 1]


def test_hash_sees_content_and_not_names():
    base = tiny()
    assert tiny(name="other").content_hash == base.content_hash
    assert tiny(name="other") != base
    assert tiny() == base
    assert hash(tiny()) == hash(base)
    changed = [
        tiny(values=[1.0, 2.0, 9.000001]),
        tiny(labels=[0, 1, 1]),
        tiny(train_length=1),
        tiny(values=[[1.0], [2.0], [9.0]]),
    ]
    assert len({series.content_hash for series in [base, *changed]}) == 5


def test_hash_is_frozen():
    # The hash identifies series in stores: a change here makes every stored result unknown.
    assert tiny().content_hash == (
        "a00e438ed516d1895b834fe66ee22e09877334406f135b1df07db86cabfefbab"
    )


def test_pickle_keeps_everything_read_only():
    scored = ScoredSeries(tiny(train_length=1), {"a": [1, 2, 3]})
    back = pickle.loads(pickle.dumps(scored))
    assert back.series == scored.series
    assert back.series.train_length == 1
    assert not back.series.values.flags.writeable
    assert not back.scores["a"].flags.writeable


@pytest.mark.parametrize("columns", [None, 2])
def test_period_is_that_of_the_first_channel(columns):
    wave = np.sin(np.arange(900) * 2 * np.pi / 30)
    wave[100:104] = np.nan
    values = wave if columns is None else np.column_stack([wave, np.zeros(900)])
    assert tiny(values=values, labels=np.zeros(900)).period == 30


def test_no_period():
    assert tiny(values=np.arange(50.0), labels=np.zeros(50)).period is None
    assert tiny(values=np.full(50, np.nan), labels=np.zeros(50)).period is None


def test_nan_is_a_missing_value():
    assert np.isnan(tiny(values=[1.0, np.nan, 2.0]).values[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": [0, 1]}, "`values` and `labels` must have equal length, got 3 and 2"),
        ({"labels": [0, 2, 1]}, "`labels` must be 0 or 1, got 2 at index 1"),
        ({"labels": [0, np.nan, 1]}, "`labels` must be 0 or 1, got nan at index 1"),
        ({"labels": [[0, 1, 1]]}, r"`labels` must be 1-D, got shape \(1, 3\)"),
        ({"values": [1, np.inf, 2]}, "`values` must be finite or NaN, got inf at index 1"),
        ({"values": np.full((3, 2), -np.inf)}, r"got -inf at index \(0, 0\)"),
        ({"values": np.zeros((3, 1, 1))}, r"`values` must have shape .* got \(3, 1, 1\)"),
        ({"values": [], "labels": []}, r"`values` must have shape .* got \(0,\)"),
        ({"train_length": 4}, r"`train_length` must be in 0..3, got 4"),
        ({"channels": ("a", "b")}, "`channels` must name every column"),
    ],
)
def test_bad_input_names_the_culprit(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        tiny(**changes)


def test_scores_must_fit_the_series():
    with pytest.raises(InvalidInputError, match=r"`scores\['a'\]` must have shape \(3,\)"):
        ScoredSeries(tiny(), {"a": [1.0]})
    with pytest.raises(InvalidInputError, match=r"`scores\['a'\]` must be finite, got nan at inde"):
        ScoredSeries(tiny(), {"a": [1.0, np.nan, 2.0]})


def test_scores_cannot_be_exchanged():
    scored = ScoredSeries(tiny(), {"a": [1, 2, 3]})
    with pytest.raises(TypeError):
        scored.scores["b"] = np.zeros(3)
    assert list(scored.to_frame().columns) == ["value", "label", "a"]


@pytest.mark.parametrize("dtype", ["i8", "u8", "O"])
def test_large_integer_scores_keep_their_order(dtype):
    series = Series("a", "b", [1.0, 2.0, 3.0], [0, 1, 0])
    scores = np.array([2**60 + 2, 2**60, 2**60 + 1]).astype(dtype)
    kept = ScoredSeries(series, {"mine": scores}).scores["mine"]
    assert kept.dtype == np.float64
    assert kept.argsort().tolist() == [1, 2, 0]
    assert np.unique(kept).size == 3


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (np.zeros(3) + 0j, "must be real numbers, got 0j at index 0"),
        (np.ma.array(np.zeros(3), mask=[0, 1, 0]), "must not be masked, got a masked value at ind"),
        ([1.0, None, 2.0], "must be numbers, got None at index 1"),
        (np.arange(3).astype("M8[s]"), "must be numbers, got datetime"),
        (["a", "b", "c"], "must be numbers, got 'a' at index 0"),
        (np.zeros((3, 1)), "must be 1-D, got shape"),
    ],
)
def test_scores_that_are_no_real_numbers(scores, text):
    series = Series("a", "b", [1.0, 2.0, 3.0], [0, 1, 0])
    with pytest.raises(InvalidInputError, match=rf"`scores\['mine'\]` {text}"):
        ScoredSeries(series, {"mine": scores})


# -- unique names ----------------------------------------------------------------------------------


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
