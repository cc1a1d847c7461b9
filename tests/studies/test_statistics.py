"""Statistics agree with scipy, scikit-posthocs and autorank, with ties and missing cells."""

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

from vuskit.errors import InvalidInputError
from vuskit.studies.comparison import compare, compare_columns
from vuskit.studies.statistics import (
    complete_rows,
    effect_sizes,
    friedman_test,
    mean_ranks,
    nemenyi_test,
    rank_groups,
    rank_intervals,
    wilcoxon_test,
)
from vuskit.studies.statistics_tables import without_noise

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "autorank.json").read_text())
NOT_DETECTORS = 7


def random_table(seed, *, n=25, k=5, digits=None, missing=0.0):
    random = np.random.default_rng(seed)
    values = random.random((n, k)) + np.linspace(0, 0.3, k)
    if digits is not None:
        values = np.round(values, digits)
    values[random.random((n, k)) < missing] = np.nan
    return pd.DataFrame(values, columns=list("abcdefgh")[:k])


def without_binary_fractions(table):
    """Tenths as whole numbers, whose differences tie where they should; the rest as it is."""
    tenths = table * 10
    return tenths.round() if np.allclose(tenths, tenths.round(), equal_nan=True) else table


TABLES = [
    pytest.param(random_table(0), id="continuous"),
    pytest.param(random_table(1, digits=1), id="ties"),
    pytest.param(random_table(2, n=60, missing=0.05), id="missing"),
    pytest.param(random_table(3, n=60, digits=1, missing=0.05), id="ties and missing"),
]


@pytest.fixture(scope="module")
def leaderboard(test_data):
    path = test_data / "data" / "published" / "leaderboard_vus_pr.csv"
    return pd.read_csv(path, index_col=0).iloc[:, :-NOT_DETECTORS]


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


@pytest.mark.parametrize("table", TABLES)
def test_wilcoxon_holm_is_scikit_posthocs(table):
    exact = without_binary_fractions(table).dropna().to_numpy()
    theirs = scikit_posthocs.posthoc_wilcoxon(list(exact.T), p_adjust="holm")
    ours = wilcoxon_test(table)
    np.testing.assert_allclose(ours.p_values, theirs, atol=1e-12)
    assert (ours.test, ours.correction, ours.alpha) == ("Wilcoxon signed-rank", "holm", 0.05)


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
    assert friedman.p_value == pytest.approx(expected["p_value"], rel=1e-9)
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


def test_leaderboard_pairs_are_scipys(leaderboard):
    ours = compare(leaderboard, n_resamples=50)
    some = [("POLY", "Donut"), ("CNN", "SR"), ("LOF", "Sub-LOF")]
    n_pairs = 32 * 31 // 2
    for a, b in some:
        raw = stats.wilcoxon(leaderboard[a], leaderboard[b]).pvalue
        assert raw <= ours.pairs.p_values.loc[a, b] <= min(1.0, raw * n_pairs) + 1e-12
    theirs = scikit_posthocs.posthoc_wilcoxon(list(leaderboard.to_numpy().T), p_adjust="holm")
    # Differences that are equal but for rounding errors tie here, and not there.
    np.testing.assert_allclose(ours.pairs.p_values, theirs, rtol=1e-6)
    assert ours.summary.index[0] == "POLY"


def noisy_twins(n=12):
    """Two columns that are equal but for rounding errors, between two others."""
    random = np.random.default_rng(5)
    one = random.random(n) * 0.3
    # Sums in another order, and what should be zero.
    twin = (one + 0.1) - 0.1
    one[:2], twin[:2] = 0.0, 1e-18
    assert (one != twin).sum() > 4
    return pd.DataFrame({"worst": one - 0.5, "one": one, "twin": twin, "best": one + 0.5})


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_rounding_errors_break_no_ties(scale):
    table = noisy_twins() * scale
    ranks = {"worst": 4.0, "one": 2.5, "twin": 2.5, "best": 1.0}
    assert mean_ranks(table).to_dict() == ranks
    assert rank_intervals(table).to_frame()["mean_rank"].to_dict() == ranks
    equal = table.assign(twin=table["one"])
    assert friedman_test(table).statistic == pytest.approx(friedman_test(equal).statistic)
    assert wilcoxon_test(table).p_values.loc["one", "twin"] == 1.0
    sizes = effect_sizes(table).set_index(["first", "second"]).loc[("one", "twin")]
    assert (sizes["difference"], sizes["rank_biserial"], sizes["cliffs_delta"]) == (0, 0, 0)
    assert compare_columns(table).summary["mean_rank"].to_dict() == ranks


def test_differences_that_are_equal_on_paper_tie():
    # 0.3 - 0.2, 0.4 - 0.3, ... are different numbers in the computer.
    tenths = pd.DataFrame({"a": [3, 4, 7, 9, 8, 1, 6], "b": [2, 3, 6, 8, 9, 2, 5]})
    found = wilcoxon_test(tenths / 10).p_values.loc["a", "b"]
    assert found == pytest.approx(wilcoxon_test(tenths).p_values.loc["a", "b"])
    assert found == pytest.approx(stats.wilcoxon(tenths["a"], tenths["b"]).pvalue)


def test_rounding_leaves_real_differences_and_other_scales():
    table = np.array([[0.5, 0.5 + 1e-10, np.nan], [1e14, 1.0, 2.0], [0.0, 0.25, 0.125]])
    np.testing.assert_array_equal(without_noise(table), table)
    units = np.array([[2e6, 3e6], [2e-9, 2.1e-9], [0.0, 0.0]])
    np.testing.assert_array_equal(without_noise(units, alone=True), units)


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


def test_too_few_rows_say_how_many_are_needed():
    rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.5, 0.3], [0.9, 0.4, 0.4]]
    _, pairs = compare_columns(pd.DataFrame(rows), alpha=0.1).tests
    assert pairs == (
        "Wilcoxon signed-rank, correction: holm (alpha = 0.1, n = 4); "
        "n too small: no pair can be significant (needs n >= 6)"
    )
    assert wilcoxon_test(rows, alpha=0.0).rows_needed is None


def test_friedman_says_that_it_is_not_significant():
    agree = compare_columns(pd.DataFrame([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [0.0, 1.0, 2.0]]))
    differ = compare_columns(pd.DataFrame([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [0.0, 1.0, 2.0]]))
    assert agree.tests[0].endswith("3 columns)")
    assert differ.tests[0].endswith("3 columns); not significant")


def test_pairs_have_tests_and_sizes():
    found = compare_columns(random_table(4))
    frame = found.pairs_frame()
    pd.testing.assert_frame_equal(frame.iloc[:, :5], found.pairs.to_frame())
    assert frame.columns[5:].to_list() == [
        "difference", "rank_biserial", "cliffs_delta", "cohens_d",
    ]  # fmt: skip


def test_equal_columns_do_not_differ():
    table = pd.DataFrame({"a": [0.1, 0.5, 0.9], "b": [0.1, 0.5, 0.9], "c": [0.1, 0.5, 0.9]})
    assert friedman_test(table).p_value == 1.0
    assert wilcoxon_test(table).p_values.to_numpy().min() == 1.0
    assert rank_groups(mean_ranks(table), wilcoxon_test(table).p_values) == (("a", "b", "c"),)


def test_kendalls_w_is_one_where_all_rows_agree():
    assert friedman_test([[1, 2, 3], [4, 5, 6], [0, 1, 9]]).effect_size == pytest.approx(1.0)


def test_rank_biserial_from_its_definition():
    table = random_table(8, k=2)
    difference = (table["a"] - table["b"]).to_numpy()
    ranks = stats.rankdata(np.abs(difference))
    expected = (ranks[difference > 0].sum() - ranks[difference < 0].sum()) / ranks.sum()
    assert effect_sizes(table)["rank_biserial"].item() == pytest.approx(expected)


def test_missing_worst_ranks_last_and_ties():
    table = [[0.9, np.nan, np.nan], [0.1, 0.5, np.nan]]
    ranks = mean_ranks(table, missing="worst")
    assert ranks.to_list() == [1.5, 1.75, 2.75]
    lower = mean_ranks([[0.9, np.nan], [0.4, 0.1]], missing="worst", higher_is_better=False)
    assert lower.to_list() == [1.5, 1.5]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1.0], [2.0]], {}, "`table` must have at least 2 columns, got 1"),
        ([[1.0, 2.0], [np.inf, 1.0]], {}, "`table` must be finite or missing"),
        ([["x", "y"]], {}, "`table` must hold numbers only"),
        ([[1.0, np.nan], [np.nan, 1.0]], {}, "got 0 of 2"),
        ([[1.0, np.nan], [2.0, 1.0]], {"missing": "raise"}, "got one in row 0, column 1"),
        ([[1.0, 2.0], [2.0, 1.0]], {"missing": "guess"}, "`missing` must be"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises(InvalidInputError, match=message):
        complete_rows(table, **options)


def test_friedman_needs_three_columns():
    with pytest.raises(InvalidInputError, match="at least 3 columns for Friedman's test, got 2"):
        friedman_test([[1.0, 2.0], [2.0, 1.0]])


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


def test_compare_reads_long_tables_and_averages_repeats():
    wide = random_table(11, n=12, k=3)
    long = wide.rename_axis("series").reset_index().melt("series", var_name="detector")
    long = pd.concat(
        [long.assign(value=long["value"] - 0.1), long.assign(value=long["value"] + 0.1)]
    )
    long = pd.concat([long.assign(measure="vus_pr"), long.assign(measure="other", value=0.0)])
    ours = compare(long, measure="vus_pr")
    expected = compare(wide)
    pd.testing.assert_frame_equal(ours.summary, expected.summary)
    with pytest.raises(InvalidInputError, match=r"`measure` must be one of \['vus_pr', 'other'\]"):
        compare(long)


def test_compare_counts_only_the_rows_that_exist_as_dropped():
    wide = random_table(11, n=12, k=3)
    wide.iloc[2, 0] = np.nan
    wide.insert(0, "dataset", [f"d{row % 3}" for row in range(len(wide))])
    long = wide.rename_axis("series").reset_index().melt(["dataset", "series"], var_name="detector")
    found = compare(long)
    assert (found.pairs.n, found.pairs.n_dropped) == (11, 1)
    assert "n = 11, 1 row dropped)" in str(found.pairs)
    pd.testing.assert_frame_equal(found.summary, compare(wide.drop(columns="dataset")).summary)


def test_compare_gives_means_of_values_that_exist():
    table = random_table(12, n=12, k=3)
    table.iloc[[1, 5], 0] = np.nan
    found = compare_columns(table, missing="worst")
    assert found.pairs.n == 12
    pd.testing.assert_series_equal(
        found.summary["mean"].sort_index(), table.mean().sort_index(), check_names=False
    )


def test_compare_knows_the_direction():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0]})
    assert compare(table).summary.index[0] == "b"
    assert compare(table, higher_is_better=False).summary.index[0] == "a"


def test_compare_names_test_correction_alpha_and_n():
    found = compare_columns(random_table(2, n=60, missing=0.05), alpha=0.1)
    n = found.pairs.n
    assert n + found.pairs.n_dropped == 60
    assert found.tests[0].startswith("Friedman: statistic")
    assert found.tests[1] == (
        f"Wilcoxon signed-rank, correction: holm (alpha = 0.1, n = {n}, {60 - n} rows dropped)"
    )


def test_compare_refuses_what_is_no_table():
    with pytest.raises(InvalidInputError, match=r"`results` must be a table or have to_frame\(\)"):
        compare([1, 2, 3])
