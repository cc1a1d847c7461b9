"""The compiled ranks against the whole order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.ranking.test_numpy import KINDS, shaped

pytest.importorskip("numba", reason="numba is not installed: no compiled kernels to test")

from vuskit.kernels.ranking import _numba as ranking_numba

DOUBLES = [kind for kind in KINDS if kind not in ("large integers", "extended precision")]


@st.composite
def dynamic_scores(draw):
    """Scores of many shapes, some positions among them, and how many of these are inside."""
    n = draw(st.integers(2, 400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = shaped(draw(st.sampled_from(DOUBLES)), n, rng).astype(np.float64)
    positions = rng.permutation(n)[: draw(st.integers(1, n))]
    return scores, positions, draw(st.integers(1, positions.size))


def far_from(positions, n):
    """Starts and stops of the stretches without a dynamic point; some of them are empty."""
    dynamic = np.sort(positions)
    return np.append(0, dynamic + 1), np.append(dynamic, n)


def check_order(level, n_levels, points, end):
    """Points by level, and where each level ends, against the level of every point."""
    reached = np.flatnonzero(level < n_levels)
    assert sorted(points) == reached.tolist()
    assert (np.diff(level[points]) >= 0).all()
    np.testing.assert_array_equal(end, [np.count_nonzero(level <= k) for k in range(n_levels)])


def expected_counts(scores, thresholds, inside):
    at_least = [np.count_nonzero(scores >= t) for t in thresholds]
    above = [np.count_nonzero(scores > t) for t in thresholds]
    found = [np.count_nonzero(inside >= t) for t in thresholds]
    return at_least, above, found


@settings(max_examples=300)
@given(data=dynamic_scores())
def test_point_levels(data):
    scores, positions, n_inside = data
    values = scores[positions]
    expected = np.unique(values[values >= values[:n_inside].min()])[::-1]
    *counts, level, points, end = ranking_numba.point_levels(
        scores, positions, n_inside, *far_from(positions, scores.size)
    )
    np.testing.assert_array_equal(counts, expected_counts(scores, expected, values[:n_inside]))
    reached = [np.count_nonzero(expected > value) for value in values]
    np.testing.assert_array_equal(level, reached)
    check_order(level, expected.size, points, end)


@settings(max_examples=300)
@given(data=dynamic_scores(), size=st.sampled_from([2, 3, 26, 250]))
def test_grid_levels(data, size):
    scores, positions, n_inside = data
    ranks = np.linspace(0, scores.size - 1, size).astype(np.intp)
    found = ranking_numba.grid_levels(
        scores, positions, n_inside, ranks, scores.min(), scores.max()
    )
    at_least, before, inside, level, points, end = found
    if at_least.size == 0:  # left to a sort: only where thresholds stand in a crowd
        assert scores.size > 4 * size
        return
    expected = np.sort(scores)[::-1][ranks]
    values = scores[positions]
    counts, _, found_inside = expected_counts(scores, expected, values[:n_inside])
    np.testing.assert_array_equal(at_least, counts)
    np.testing.assert_array_equal(before, [0, *counts[:-1]])
    np.testing.assert_array_equal(inside, found_inside)
    np.testing.assert_array_equal(level, [np.argmax(expected <= value) for value in values])
    check_order(level, size, points, end)


@pytest.mark.parametrize("kind", DOUBLES)
@pytest.mark.parametrize("n", [5_000, 70_000])
def test_sizes_at_which_they_are_used(kind, n):
    rng = np.random.default_rng(n)
    scores = shaped(kind, n, rng).astype(np.float64)
    positions = rng.permutation(n)[:3_000]
    values, ascending = scores[positions], np.sort(scores)
    at_least, above, *_ = ranking_numba.point_levels(
        scores, positions, 200, *far_from(positions, n)
    )
    thresholds = np.unique(values[values >= values[:200].min()])[::-1]
    np.testing.assert_array_equal(at_least, n - np.searchsorted(ascending, thresholds))
    np.testing.assert_array_equal(above, n - np.searchsorted(ascending, thresholds, side="right"))
    ranks = np.linspace(0, n - 1, 250).astype(np.intp)
    at_least, _, _, level, *_ = ranking_numba.grid_levels(
        scores, positions, 200, ranks, scores.min(), scores.max()
    )
    if at_least.size:
        thresholds = ascending[::-1][ranks]
        np.testing.assert_array_equal(at_least, n - np.searchsorted(ascending, thresholds))
        expected = 250 - np.searchsorted(thresholds[::-1].copy(), values, side="right")
        np.testing.assert_array_equal(level, expected)


def test_a_grid_over_evenly_spread_scores_needs_no_sort():
    rng = np.random.default_rng(0)
    for scores in (rng.random(30_000), rng.normal(size=30_000)):
        ranks = np.linspace(0, scores.size - 1, 250).astype(np.intp)
        found = ranking_numba.grid_levels(
            scores, np.arange(9), 3, ranks, scores.min(), scores.max()
        )
        assert found[0].size == 250
