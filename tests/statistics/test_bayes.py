"""The Bayesian signed-rank test."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.errors import InvalidInputError
from vuskit.statistics import bayesian_signed_rank_test
from vuskit.statistics.bayes import _largest_regions


def regions_by_loops(differences, weights, rope):
    """Count the regions with the largest weight, pair of rows by pair of rows."""
    counts = np.zeros(3)
    for sample in weights.T:
        mass = [0.0, 0.0, 0.0]
        for one, weight in zip(differences, sample, strict=True):
            for other, second in zip(differences, sample, strict=True):
                total = one + other
                region = 0 if total > 2 * rope else 2 if total < -2 * rope else 1
                mass[region] += weight * second
        winners = [place for place in range(3) if max(mass) - mass[place] < 1e-12]
        for place in winners:
            counts[place] += 1 / len(winners)
    return counts


@given(
    st.lists(st.integers(-6, 6), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.25, 1.0, 2.0]),
    st.integers(0, 100),
)
def test_regions_equal_a_loop_over_pairs(differences, rope, seed):
    values = np.append(np.array(differences) / 2, 0.0)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(values)), size=20).T.copy()
    ours = _largest_regions(values, weights, rope)
    np.testing.assert_allclose(ours, regions_by_loops(values, weights, rope))


def test_direction_and_seed():
    table = np.random.default_rng(1).random((12, 3))
    high = bayesian_signed_rank_test(table, rope=0.02)
    low = bayesian_signed_rank_test(-table, rope=0.02, higher_is_better=False)
    assert high.frame.equals(low.frame)
    assert high.frame.equals(bayesian_signed_rank_test(table, rope=0.02).frame)
    assert not high.frame.equals(bayesian_signed_rank_test(table, rope=0.02, seed=1).frame)


def test_equal_columns_are_practically_equal():
    values = np.random.default_rng(1).random(10)
    found = bayesian_signed_rank_test(np.stack([values, values + 0.001], axis=1))
    assert found.frame["p_equal"].to_list() == [1.0]
    assert "equivalence ±0.01, n = 10" in str(found)


def test_invalid_rope():
    with pytest.raises(InvalidInputError, match="`rope` must be"):
        bayesian_signed_rank_test([[1, 2], [3, 4]], rope=-1)


def test_every_pair_once():
    found = bayesian_signed_rank_test(np.random.default_rng(2).random((5, 4)), n_samples=50)
    pairs = Counter(map(frozenset, zip(found.frame["first"], found.frame["second"], strict=True)))
    assert len(pairs) == 6
    assert set(pairs.values()) == {1}
