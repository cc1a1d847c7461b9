"""Tests agree with aeon and baycomp on 20 tables, and with enumerations by plain loops."""

from __future__ import annotations

import json
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from vuskit.statistics import bayesian_signed_rank_test, friedman_test, wilcoxon_test
from vuskit.statistics.comparison import compare_columns

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "comparisons.json").read_text(encoding="utf-8")
)


def frame_of(case):
    return pd.DataFrame(np.array(case["values"]) / 64, columns=list("abc"))


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_matrix_is_aeons(case):
    found = compare_columns(frame_of(case), n_resamples=2)
    data = found.matrix().data()
    names = [item["title"] for item in data["items"]]
    raw = found.pairs.raw_p_values
    for (one, other), expected in case["aeon"].items():
        cell = data["cells"][names.index(one)][names.index(other)]
        ours = [cell["difference"], cell["wins"], cell["ties"], cell["losses"], raw.loc[one, other]]
        assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_bayesian_probabilities_are_baycomps(case):
    test = bayesian_signed_rank_test(frame_of(case), rope=GOLDEN["rope"], n_samples=50_000)
    ours = test.frame.loc[0, ["p_first", "p_equal", "p_second"]].to_list()
    assert ours == pytest.approx(case["baycomp"], abs=0.01)


def ranks_of(values):
    """Mean ranks, 1 for the highest value."""
    return [
        1 + sum(other > one for other in values) + (sum(other == one for other in values) - 1) / 2
        for one in values
    ]


def signed_ranks(differences):
    """Sum of the ranks of the positive differences; zeros are left out."""
    kept = [one for one in differences if one]
    ranks = ranks_of([-abs(one) for one in kept])
    return sum(rank for rank, one in zip(ranks, kept, strict=True) if one > 0)


def enumerated_wilcoxon(differences):
    """Two-sided p-value over all signs."""
    kept = [abs(one) for one in differences if one]
    found = signed_ranks(differences)
    sums = [
        signed_ranks([sign * one for sign, one in zip(signs, kept, strict=True)])
        for signs in product((-1, 1), repeat=len(kept))
    ]
    lower = sum(one <= found for one in sums) / len(sums)
    upper = sum(one >= found for one in sums) / len(sums)
    return min(1.0, 2 * min(lower, upper))


def holm(p_values):
    """The smallest p-value times the number of all, the next times one less, and never less."""
    found, last = {}, 0.0
    for place, name in enumerate(sorted(p_values, key=p_values.get)):
        last = max(last, min(1.0, p_values[name] * (len(p_values) - place)))
        found[name] = last
    return found


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_and_holm_equal_an_enumeration(seed, ties):
    rng = np.random.default_rng(seed)
    levels = np.array([0, 12, 40])
    values = (
        rng.integers(0, 6, (8, 3)) * 8 + levels
        if ties
        else rng.permutation(96)[:24].reshape(8, 3) + levels
    )
    table = pd.DataFrame(values, columns=list("abc"))
    raw = {
        (one, other): enumerated_wilcoxon((table[one] - table[other]).tolist())
        for one, other in combinations(table, 2)
    }
    found = wilcoxon_test(table)
    corrected = holm(raw)
    for (one, other), expected in raw.items():
        assert found.raw_p_values.loc[one, other] == pytest.approx(expected, abs=1e-12)
        assert found.p_values.loc[one, other] == pytest.approx(corrected[one, other], abs=1e-12)


def friedman_statistic(rows):
    """Spread of the sums of ranks over its mean when every order of a row is equally likely."""
    ranks = [ranks_of(row) for row in rows]
    middle = (len(rows[0]) + 1) / 2
    spread = sum((sum(column) - len(rows) * middle) ** 2 for column in zip(*ranks, strict=True))
    orders = [
        [sum((one - middle) ** 2 for one in order) for order in permutations(row)] for row in ranks
    ]
    expected = sum(sum(found) / len(found) for found in orders)
    return (len(rows[0]) - 1) * spread / expected


@pytest.mark.parametrize("seed", range(6))
def test_friedmans_statistic_equals_an_enumeration(seed):
    rows = np.random.default_rng(seed).integers(0, 4 + 20 * (seed % 2), (7, 4)).tolist()
    found = friedman_test(rows)
    expected = friedman_statistic(rows)
    assert found.statistic == pytest.approx(expected, rel=1e-12)
    assert found.p_value == pytest.approx(chi2.sf(expected, 3), rel=1e-12)


def test_friedmans_p_value_is_near_the_share_of_all_orders():
    rows = [[1, 3, 2], [1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2]]
    found = friedman_test(rows)
    orders = [tuple(permutations((1, 2, 3)))] * (len(rows) - 1)
    # The first row can keep its order: the statistic does not depend on names of columns.
    statistics = [friedman_statistic([rows[0], *others]) for others in product(*orders)]
    share = sum(one >= found.statistic - 1e-9 for one in statistics) / len(statistics)
    assert found.p_value == pytest.approx(share, abs=0.02)
