"""Means by detector over the series that all of them have values for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit import InvalidInputError
from vuskit.bench import leaderboard


def frame(rows):
    table = pd.DataFrame(rows, columns=["series", "detector", "seed", "value"])
    return table.assign(dataset="d", settings="s", measure="vus_pr")


def test_a_detector_that_fails_on_hard_series_does_not_look_better():
    board = leaderboard(
        frame([("easy", "A", 0, 0.9), ("hard", "A", 0, 0.1), ("easy", "B", 0, 0.8)])
    )
    assert board["detector"].to_list() == ["A", "B"]
    assert board["vus_pr"].to_list() == [0.9, 0.8]
    assert board["series"].to_list() == [1, 1]
    assert board["own"].to_list() == [2, 1]


def test_the_leaderboard_is_ordered_by_vus_pr_also_beside_a_measure_of_ones_own():
    values = frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)])
    own = values.assign(measure="my_own", value=1 - values["value"])
    assert leaderboard(pd.concat([values, own]))["detector"].to_list() == ["B", "A"]
    assert leaderboard(own)["detector"].to_list() == ["A", "B"]


def test_a_detector_without_any_value_is_on_the_leaderboard():
    board = leaderboard(frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)]), detectors=["A", "B", "C"])
    assert board["detector"].to_list() == ["B", "A", "C"]
    assert board["own"].to_list() == [1, 1, 0]
    assert board["series"].to_list() == [1, 1, 1]
    assert board["vus_pr"].to_list()[:2] == [0.8, 0.2]
    assert board["vus_pr"].isna().to_list() == [False, False, True]


def uneven():
    """A data set of three series that A is good at, and one of a single series."""
    rows = [("a", "A", 0, 0.9), ("b", "A", 0, 0.9), ("c", "A", 0, 0.9), ("d", "A", 0, 0.1)]
    rows += [("a", "B", 0, 0.6), ("b", "B", 0, 0.6), ("c", "B", 0, 0.6), ("d", "B", 0, 0.6)]
    table = frame(rows)
    table["dataset"] = table["series"].map({"a": "large", "b": "large", "c": "large", "d": "small"})
    return table


def test_a_mean_over_data_sets_counts_each_of_them_once():
    board = leaderboard(uneven())
    assert board["detector"].to_list() == ["A", "B"]
    assert board["vus_pr"].to_list() == pytest.approx([0.7, 0.6])
    assert "datasets" not in board
    board = leaderboard(uneven(), by="dataset", detectors=["A", "B", "C"])
    assert board["detector"].to_list() == ["B", "A", "C"]
    assert board["vus_pr"].to_list() == pytest.approx([0.6, 0.5, np.nan], nan_ok=True)
    assert board["datasets"].to_list() == [2, 2, 2]
    assert board["series"].to_list() == [4, 4, 4]
    assert board["own"].to_list() == [4, 4, 0]
    with pytest.raises(InvalidInputError, match="`by` must be one of 'series', 'dataset'"):
        leaderboard(uneven(), by="detector")


def test_data_sets_can_be_kept_apart():
    board = leaderboard(uneven(), apart=["dataset"])
    assert board["dataset"].to_list() == ["large", "large", "small", "small"]
    assert board["detector"].to_list() == ["A", "B", "B", "A"]


def test_seeds_of_a_series_count_as_one():
    board = leaderboard(frame([("x", "A", 0, 0.0), ("x", "A", 1, 0.0), ("y", "A", 0, 1.0)]))
    assert board["vus_pr"].to_list() == [0.5]
