"""Means by detector and measure over the series that all detectors have a value for."""

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
    assert board["own_series"].to_list() == [2, 1]


def test_the_leaderboard_is_ordered_by_vus_pr_also_beside_a_measure_of_ones_own():
    values = frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)])
    own = values.assign(measure="my_own", value=1 - values["value"])
    assert leaderboard(pd.concat([values, own]))["detector"].to_list() == ["B", "A"]
    assert leaderboard(own)["detector"].to_list() == ["A", "B"]


def test_a_detector_without_any_value_is_on_the_leaderboard():
    board = leaderboard(frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)]), detectors=["A", "B", "C"])
    assert board["detector"].to_list() == ["B", "A", "C"]
    assert board["own_series"].to_list() == [1, 1, 0]
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
    assert board["own_series"].to_list() == [4, 4, 0]
    with pytest.raises(InvalidInputError, match="`by` must be one of 'series', 'dataset'"):
        leaderboard(uneven(), by="detector")


def two_measures():
    """B lacks AUC-PR on the hard series, C has VUS-PR only, D has no value."""
    vus = [("easy", "A", 0, 0.9), ("hard", "A", 0, 0.1), ("easy", "B", 0, 0.7),
           ("hard", "B", 0, 0.5), ("easy", "C", 0, 0.2), ("hard", "C", 0, 0.2)]  # fmt: skip
    auc = [("easy", "A", 0, 0.8), ("hard", "A", 0, 0.2), ("easy", "B", 0, 0.7),
           ("hard", "B", 0, np.nan)]  # fmt: skip
    return pd.concat([frame(vus), frame(auc).assign(measure="auc_pr")])


def test_each_measure_has_its_own_common_series():
    board = leaderboard(two_measures(), detectors=["D"], measures=["f_score"]).set_index("detector")
    assert list(board.index) == ["B", "A", "C", "D"]
    assert board["auc_pr"].to_list() == pytest.approx([0.7, 0.8, np.nan, np.nan], nan_ok=True)
    assert board["vus_pr"].to_list() == pytest.approx([0.6, 0.5, 0.2, np.nan], nan_ok=True)
    assert board["series"].isna().all()
    assert set(board["series_auc_pr"]) == {1}
    assert set(board["series_vus_pr"]) == {2}
    assert set(board["series_f_score"]) == {0}
    assert board["own_series"].to_list() == [2, 2, 2, 0]
    by_dataset = leaderboard(two_measures(), by="dataset")
    assert set(by_dataset["datasets"]) == {1}
    assert set(by_dataset["series_auc_pr"]) == {1}
    same = leaderboard(two_measures().query("series == 'easy'"), measures=["f_score"])
    assert set(same["series"]) == {1}
    assert not [name for name in same if name.startswith("series_")]


def test_a_measure_without_common_series_does_not_decide_the_order():
    values = frame([("x", "A", 0, 0.9), ("y", "B", 0, 0.1)])
    others = frame([("x", "A", 0, 0.1), ("x", "B", 0, 0.6)]).assign(measure="auc_pr")
    board = leaderboard(pd.concat([values, others]))
    assert board["detector"].to_list() == ["B", "A"]
    assert set(board["series_vus_pr"]) == {0}


def test_seeds_of_a_series_count_as_one():
    board = leaderboard(frame([("x", "A", 0, 0.0), ("x", "A", 1, 0.0), ("y", "A", 0, 1.0)]))
    assert board["vus_pr"].to_list() == [0.5]


def test_the_best_detector_may_have_the_lowest_mean():
    rows = [("a", "x", name, value) for name, value in (("A", 0.2), ("B", 0.1), ("C", 0.3))]
    values = pd.DataFrame(rows, columns=["dataset", "series", "detector", "value"])
    values = values.assign(seed=0, settings="s", measure="delay")
    for higher, order in ((True, ["C", "A", "B"]), (False, ["B", "A", "C"])):
        found = leaderboard(values.assign(higher_is_better=higher))
        assert found["detector"].to_list() == order
