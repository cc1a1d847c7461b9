"""Intervals of mean ranks, and groups without a significant pair."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.ranked import ALPHA, crossing_table
from studies.tables import random_table

from vuskit.statistics import rank_groups, rank_intervals
from vuskit.studies import compare


def test_intervals_hold_the_mean_and_repeat_with_the_seed():
    table = random_table(9, n=40)
    first, again = (rank_intervals(table, seed=3).to_frame() for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert (first["lower"] <= first["mean_rank"]).all()
    assert (first["mean_rank"] <= first["upper"]).all()
    assert not first.equals(rank_intervals(table, seed=4).to_frame())


def test_intervals_have_about_the_normal_width():
    table = random_table(10, n=400, k=4)
    frame = rank_intervals(table, n_resamples=4000).to_frame()
    spread = table.rank(axis=1, ascending=False).std(ddof=0)[frame.index] / np.sqrt(len(table))
    np.testing.assert_allclose(frame["upper"] - frame["lower"], 2 * 1.96 * spread, rtol=0.1)


def expected_groups(ranks, p_values, alpha):
    """Every stretch between two mean ranks is tried; the largest without a difference are kept."""
    stretches = {
        frozenset(ranks.index[ranks.between(low, high)])
        for low, high in combinations_with_replacement(sorted(set(ranks)), 2)
    }
    alike = [
        one
        for one in stretches
        if len(one) > 1 and all(p_values.loc[a, b] >= alpha for a, b in combinations(one, 2))
    ]
    return {one for one in alike if not any(one < other for other in alike)}


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 8), alpha=st.sampled_from([0.1, 0.3, 0.6]))
def test_groups_are_the_longest_stretches_without_a_difference(seed, size, alpha):
    names = list("abcdefgh")[:size]
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((size, size)), 1)
    p_values = pd.DataFrame(upper + upper.T + np.eye(size), names, names)
    ranks = pd.Series(random.integers(2, 2 * size, size) / 2, names)  # some are equal
    found = rank_groups(ranks, p_values, alpha=alpha)
    assert len(set(found)) == len(found)
    assert set(map(frozenset, found)) == expected_groups(ranks, p_values, alpha)
    for group in found:
        assert list(ranks[list(group)]) == sorted(ranks[list(group)])
    assert [ranks[group[0]] for group in found] == sorted(ranks[group[0]] for group in found)


@pytest.mark.parametrize("test", ["wilcoxon", "nemenyi"])
@pytest.mark.parametrize("table", [crossing_table(), crossing_table().round(1)])
def test_no_pair_under_a_bar_differs(table, test):
    found = compare(table, alpha=ALPHA, test=test)
    ranks, p_values = found.summary["mean_rank"], found.pairs.p_values
    assert set(map(frozenset, found.groups)) == expected_groups(ranks, p_values, ALPHA)
    assert found.groups
    for group in found.groups:
        covered = ranks.index[ranks.between(ranks[group[0]], ranks[group[-1]])]
        assert set(covered) == set(group)
        for a, b in combinations(covered, 2):
            assert p_values.loc[a, b] >= ALPHA


def test_alike_detectors_around_a_different_one_share_no_bar():
    found = compare(crossing_table(), alpha=ALPHA)
    ranks, p_values = found.summary["mean_rank"], found.pairs.p_values
    assert ranks["IForest"] < ranks["POLY"] < ranks["OCSVM"]
    assert p_values.loc["IForest", "OCSVM"] >= ALPHA > p_values.loc["IForest", "POLY"]
    assert not any({"IForest", "OCSVM"} <= set(group) for group in found.groups)
    pairs = found.pairs.to_frame()
    kept = pairs[(pairs["first"] == "IForest") & (pairs["second"] == "OCSVM")]
    assert not kept["significant"].item()


def test_equal_mean_ranks_that_differ_are_under_no_bar():
    p_values = pd.DataFrame(1.0, list("abc"), list("abc"))
    p_values.loc["a", "b"] = p_values.loc["b", "a"] = 0.01
    assert rank_groups({"a": 1.5, "b": 1.5, "c": 3.0}, p_values) == ()
    assert rank_groups({"a": 1.4, "b": 1.6, "c": 3.0}, p_values) == (("b", "c"),)
