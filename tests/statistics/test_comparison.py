"""Comparisons of columns and of detectors."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats
from studies.tables import random_table

from vuskit.errors import InvalidInputError
from vuskit.statistics import wilcoxon_test
from vuskit.statistics.comparison import compare, compare_columns


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
    pd.testing.assert_frame_equal(frame.iloc[:, :4], found.pairs.to_frame().iloc[:, :4])
    assert frame.columns[4:].to_list() == [
        "significant", "difference", "rank_biserial", "cliffs_delta", "cohens_d", "wins", "ties",
        "losses",
    ]  # fmt: skip


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


def test_compare_gives_means_over_rows_that_all_columns_have():
    table = random_table(12, n=12, k=3)
    table.iloc[[1, 5], 0] = np.nan
    found = compare_columns(table, missing="worst")
    assert (found.pairs.n, found.n_means) == (12, 10)
    expected = table.dropna().mean()
    pd.testing.assert_series_equal(
        found.summary["mean"].sort_index(), expected.sort_index(), check_names=False
    )
    table["never"] = np.nan
    found = compare_columns(table, missing="worst")
    assert found.n_means == 10
    assert np.isnan(found.summary["mean"]["never"])


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


def test_forms_of_a_comparison():
    table = pd.DataFrame({"a_b": [0.9, 0.8, 0.7], "c|d": [0.5, 0.6, 0.2]})
    found = compare(table)
    assert r"a\_b & 0.800 & 0.800 & \textbf{1.00} & 1.00 to 1.00 \\" in found.to_latex()
    assert r"| c\|d | 0.433 | 0.500 | 2.00 | 2.00 to 2.00 |" in found.to_markdown()
    assert "<b>1.00</b>" in found.to_html()
    assert "Comparison by value (higher is better), over 3 rows." in found.to_markdown()


def test_pairs_without_a_bar_are_significant_or_listed(leaderboard):
    ours = compare(leaderboard, n_resamples=10)
    joined = {frozenset(pair) for group in ours.groups for pair in combinations(group, 2)}
    listed = set(map(frozenset, ours.unjoined))
    assert not joined & ours.significant
    assert not listed & ours.significant
    every = set(map(frozenset, combinations(ours.summary.index, 2)))
    assert joined | listed | ours.significant == every
    assert len(listed) == 127
    assert "No bar joins these pairs" in ours.figure().caption


def test_no_groups_and_no_significant_pair_without_friedman():
    first = np.random.default_rng(3).random(12)
    table = pd.DataFrame({"a": first, "b": first + 0.001, "c": first[::-1]})  # b is always above a
    found = compare_columns(table, alpha=0.04)
    assert found.pairs.to_frame()["significant"].any()
    assert not found.global_test.significant
    assert found.groups == ()
    assert found.unjoined == ()
    assert not found.significant
    assert not found.pairs_frame()["significant"].any()


def test_matrix_counts_rows_and_agrees_with_the_means():
    table = pd.DataFrame({"a": [0.5, 0.6, 0.1 + 0.2], "b": [0.4, 0.7, 0.3]})
    for higher in (True, False):
        cells = compare_columns(table, higher_is_better=higher).matrix().data()
        names = [one["title"] for one in cells["items"]]
        row, column = names.index("a"), names.index("b")
        cell, mirrored = cells["cells"][row][column], cells["cells"][column][row]
        assert (cell["wins"], cell["ties"], cell["losses"]) == (1, 1, 1)
        assert cell["difference"] == pytest.approx(table["a"].mean() - table["b"].mean())
        assert mirrored["difference"] == -cell["difference"]
        assert mirrored["p"] == cell["p"]
    assert cells["cells"][0][0] is None
