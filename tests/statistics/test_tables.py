"""Tables of results: rounding, missing cells, refused tables."""

from __future__ import annotations

import numpy as np
import pytest
from studies.tables import noisy_twins

from vuskit.errors import InvalidInputError
from vuskit.statistics import (
    effect_sizes,
    friedman_test,
    mean_ranks,
    rank_intervals,
    wilcoxon_test,
)
from vuskit.statistics.comparison import compare_columns
from vuskit.statistics.tests import complete_rows, without_noise


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


def test_rounding_leaves_real_differences_and_other_scales():
    table = np.array([[0.5, 0.5 + 1e-10, np.nan], [1e14, 1.0, 2.0], [0.0, 0.25, 0.125]])
    np.testing.assert_array_equal(without_noise(table), table)
    units = np.array([[2e6, 3e6], [2e-9, 2.1e-9], [0.0, 0.0]])
    np.testing.assert_array_equal(without_noise(units, alone=True), units)


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
