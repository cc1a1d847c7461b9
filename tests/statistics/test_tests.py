"""Tests agree with scipy, scikit-posthocs and autorank, with ties and missing cells."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from studies.tables import TABLES, without_binary_fractions

from vuskit.errors import InvalidInputError
from vuskit.statistics import (
    effect_sizes,
    friedman_test,
    mean_ranks,
    nemenyi_test,
    rank_groups,
    wilcoxon_test,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "autorank.json").read_text())


@pytest.mark.parametrize("table", TABLES)
def test_friedman_is_scipys(table):
    ours = friedman_test(table)
    theirs = stats.friedmanchisquare(*table.to_numpy().T, nan_policy="omit")
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert ours.n == len(table.dropna())
    assert ours.n + ours.n_dropped == len(table)


@pytest.mark.parametrize("table", TABLES)
def test_nemenyi_is_scikit_posthocs(table):
    theirs = scikit_posthocs.posthoc_nemenyi_friedman(table.dropna().to_numpy())
    np.testing.assert_allclose(nemenyi_test(table).p_values, theirs, atol=1e-12)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh"])
@pytest.mark.parametrize("table", TABLES)
def test_corrections_are_those_of_statsmodels(table, correction):
    complete = without_binary_fractions(table).dropna()
    pairs = list(combinations(complete.columns, 2))
    raw = [stats.wilcoxon(complete[a], complete[b]).pvalue for a, b in pairs]
    found = wilcoxon_test(table, correction=correction).p_values
    expected = multipletests(raw, method=correction)[1]
    np.testing.assert_allclose([found.loc[a, b] for a, b in pairs], expected)
    frame = wilcoxon_test(table, correction=correction).to_frame()
    np.testing.assert_allclose(frame["p_raw"], raw)
    np.testing.assert_allclose(frame["p_adjusted"], expected)
    assert frame["significant"].equals(frame["p_adjusted"] < 0.05)


def test_unknown_correction_is_refused():
    with pytest.raises(InvalidInputError, match="`correction` must be one of 'holm', 'bonferroni'"):
        wilcoxon_test(TABLES[0], correction="sidak")


@settings(max_examples=25)
@given(st.lists(st.integers(-3, 3), min_size=4, max_size=10).filter(any))
def test_tied_differences_get_scipys_p_value(differences):
    table = pd.DataFrame({"a": np.array(differences, dtype=float), "b": 0.0})
    ours = wilcoxon_test(table, correction="bonferroni").p_values.loc["a", "b"]
    assert ours == pytest.approx(stats.wilcoxon(table["a"], table["b"]).pvalue, abs=1e-12)


@pytest.mark.parametrize("zero_method", ["wilcox", "zsplit"])
@pytest.mark.parametrize("n", [8, 14, 40, 60])
def test_uncorrected_wilcoxon_is_scipys(n, zero_method):
    rng = np.random.default_rng(n)
    table = pd.DataFrame(rng.random((n, 4)), columns=list("abcd"))
    table["e"] = table["a"].round(1)  # pairs with ties, with zeros, with neither, and equal ones
    table["f"] = table["b"].round(1)
    table["g"] = table["a"].where(table.index % 3 > 0, 0.5)
    table["h"] = table["a"]
    ours = wilcoxon_test(table, correction="bonferroni", zero_method=zero_method).p_values
    pairs = list(combinations(table.columns, 2))
    for a, b in pairs:
        alone = 1.0
        if (a, b) != ("a", "h"):
            alone = stats.wilcoxon(table[a], table[b], zero_method=zero_method).pvalue
        assert ours.loc[a, b] == pytest.approx(min(alone * len(pairs), 1.0), rel=1e-10)


@pytest.mark.parametrize(
    "case", GOLDEN["cases"][:-1], ids=lambda case: f"{case['name']} {case['alpha']}"
)
def test_autorank_agrees(case):
    table = pd.DataFrame(case["table"]["data"], columns=case["table"]["columns"])
    check_against_autorank(table, case)


def test_autorank_agrees_on_the_leaderboard(leaderboard):
    assert leaderboard.shape == (350, 32)
    check_against_autorank(leaderboard, GOLDEN["cases"][-1])


def check_against_autorank(table, case):
    expected = case["autorank"]
    friedman = friedman_test(table, alpha=case["alpha"])
    assert friedman.p_value == pytest.approx(expected["p_value"], rel=GOLDEN["tolerance"])
    assert friedman.n == expected["n"]
    difference = nemenyi_test(table, alpha=case["alpha"]).critical_difference
    # autorank interpolates the studentized range, which is good to three digits.
    assert difference == pytest.approx(expected["critical_difference"], rel=2e-3)
    ranks = mean_ranks(table)
    for name, rank in expected["mean_ranks"].items():
        assert ranks[name] == pytest.approx(rank)
    sizes = effect_sizes(table).set_index(["first", "second"])
    for effect, answer in expected["effects"].items():
        for name, size in answer["sizes"].items():
            pair = (answer["first"], name)
            ours = (
                sizes.loc[pair, effect] if pair in sizes.index else -sizes.loc[pair[::-1], effect]
            )
            assert ours == pytest.approx(size, abs=1e-10)


def test_differences_that_are_equal_on_paper_tie():
    # 0.3 - 0.2, 0.4 - 0.3, ... are different numbers in the computer.
    tenths = pd.DataFrame({"a": [3, 4, 7, 9, 8, 1, 6], "b": [2, 3, 6, 8, 9, 2, 5]})
    found = wilcoxon_test(tenths / 10).p_values.loc["a", "b"]
    assert found == pytest.approx(wilcoxon_test(tenths).p_values.loc["a", "b"])
    assert found == pytest.approx(stats.wilcoxon(tenths["a"], tenths["b"]).pvalue)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [3, 4, 6, 9])
def test_smallest_p_value_is_reached_and_known_before(n, k):
    # All rows agree and all differences are different: nothing is more significant.
    table = pd.DataFrame([[row + column * (row + 1) for column in range(k)] for row in range(n)])
    found = wilcoxon_test(table, alpha=0.1)
    pairs = k * (k - 1) // 2
    assert found.smallest_p_value == pytest.approx(min(1.0, pairs * 2 ** (1 - n)))
    assert found.p_values.to_numpy().min() == pytest.approx(found.smallest_p_value)
    assert found.can_be_significant == (n >= found.rows_needed)
    assert found.can_be_significant == found.to_frame()["significant"].any()
    assert ("n too small: no pair can be significant" in str(found)) != found.can_be_significant


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_smallest_p_value_of_nemenyi(n, k):
    table = pd.DataFrame([list(range(k))] * n)
    found = nemenyi_test(table, alpha=0.01)
    assert found.p_values.to_numpy().min() == pytest.approx(found.smallest_p_value, abs=1e-9)
    assert found.can_be_significant == (n >= found.rows_needed)
    assert found.can_be_significant == (found.critical_difference < k - 1)
    assert found.to_frame()["p_raw"].isna().all()


def test_equal_columns_do_not_differ():
    table = pd.DataFrame({"a": [0.1, 0.5, 0.9], "b": [0.1, 0.5, 0.9], "c": [0.1, 0.5, 0.9]})
    assert friedman_test(table).p_value == 1.0
    assert wilcoxon_test(table).p_values.to_numpy().min() == 1.0
    assert rank_groups(mean_ranks(table), wilcoxon_test(table).p_values) == (("a", "b", "c"),)


def test_kendalls_w_is_one_where_all_rows_agree():
    assert friedman_test([[1, 2, 3], [4, 5, 6], [0, 1, 9]]).effect_size == pytest.approx(1.0)


def test_friedman_needs_three_columns():
    with pytest.raises(InvalidInputError, match="at least 3 columns for Friedman's test, got 2"):
        friedman_test([[1.0, 2.0], [2.0, 1.0]])
