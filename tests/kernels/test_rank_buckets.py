"""Ranks by buckets at the sizes at which they are used, against the whole order."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.kernels import ranking

N = 20_000


def uniform(rng):
    return rng.random(N)


def normal(rng):
    return rng.normal(size=N).astype(np.float32)


def heavy_tail(rng):
    return np.clip(rng.standard_cauchy(N), -50, 50)


def half_tied(rng):
    return np.where(rng.random(N) < 0.2, 0.5, rng.random(N))


def integers(rng):
    return rng.integers(-(2**40), 2**40, N)


def few_values(rng):
    return rng.integers(0, 90, N) / 100


def few_values_some_once(rng):
    scores = rng.integers(0, 90, N) / 100
    scores[:40] = 1 + np.arange(40) / 100
    return scores


def few_bytes(rng):
    return rng.integers(0, 200, N).astype(np.uint8)


def check(scores, table, needles, ranks):
    ascending = np.sort(scores)
    at_least = N - np.searchsorted(ascending, needles, side="left")
    above = N - np.searchsorted(ascending, needles, side="right")
    assert table.at_least(needles).tolist() == at_least.tolist()
    assert table.above(needles).tolist() == above.tolist()
    found, at_least = table.at_rank(ranks)
    assert found.tolist() == ascending[::-1][ranks].tolist()
    assert at_least.tolist() == [int((ascending >= value).sum()) for value in found]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [uniform, normal, heavy_tail, half_tied, integers])
def test_part_of_the_order(kind, seed):
    rng = np.random.default_rng(seed)
    scores = kind(rng)
    needles = np.append(scores[rng.integers(0, N, 60)], [scores.min(), scores.max()])
    # Ranks at the very ends, and on either side of an edge between buckets.
    ranks = np.concatenate((rng.integers(0, N, 60), [0, 1, N - 2, N - 1]))
    table = ranking.rank_table(scores, needles, ranks)
    assert table.shift is not None, "the case must not fall back on sorting"
    assert table.values.size < N // 2
    check(scores, table, needles, ranks)


@pytest.mark.parametrize("seed", range(3))
def test_every_rank_beside_an_edge_between_buckets(seed):
    """One point per bucket and edge: a rank taken from the bucket next door shows."""
    rng = np.random.default_rng(seed)
    scores = rng.permutation(N).astype(np.float64)
    for first in range(0, 600, 20):
        ranks = np.arange(first, first + 20)
        table = ranking.rank_table(scores, scores[:1], ranks)
        assert table.shift is not None
        check(scores, table, scores[:1], ranks)


@pytest.mark.parametrize("kind", [few_values, few_values_some_once, few_bytes])
def test_few_values_are_counted(kind):
    """Every value of the score is asked for; none of them is sorted."""
    scores = kind(np.random.default_rng(0))
    needles = np.unique(scores)
    ranks = np.arange(0, N, 500)
    check(scores, ranking.rank_table(scores, needles, ranks), needles, ranks)
