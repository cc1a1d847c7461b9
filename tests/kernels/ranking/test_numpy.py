"""Ranks by buckets against ranks by sorting, at small sizes and at those at which they are used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vuskit.kernels.ranking import _numpy as ranking


def shaped(kind, n, rng):
    if kind == "uniform":
        return rng.random(n)
    if kind == "few values":
        return rng.integers(0, 7, n) / 8
    if kind == "heavy tail":
        return rng.standard_cauchy(n) ** 3
    if kind == "one far away":
        return np.append(rng.random(n - 1), 1e300)
    if kind == "constant":
        return np.full(n, 0.1)
    if kind == "huge span":
        return rng.random(n) * 3e307 * rng.choice([-5, 5], n)
    if kind == "tiny span":
        return 1.0 + rng.integers(0, 40, n) * np.finfo(float).eps
    if kind == "bytes":
        return rng.integers(0, 256, n).astype(np.uint8)
    if kind == "large integers":
        return rng.integers(-(2**62), 2**62, n)
    if kind == "single precision":
        return rng.normal(size=n).astype(np.float32)
    if kind == "extended precision":
        return rng.normal(size=n).astype(np.longdouble)
    return rng.random(2 * n)[::2]  # strided


KINDS = [
    "uniform",
    "few values",
    "heavy tail",
    "one far away",
    "constant",
    "huge span",
    "tiny span",
    "bytes",
    "large integers",
    "single precision",
    "extended precision",
    "strided",
]


@settings(max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 400),
    n_needles=st.integers(0, 30),
    n_ranks=st.integers(0, 30),
    chunk=st.sampled_from([1, 7, 64, 1000]),
    seed=st.integers(0, 10**6),
)
def test_buckets_agree_with_sorting(kind, n, n_needles, n_ranks, chunk, seed):
    rng = np.random.default_rng(seed)
    scores = shaped(kind, n, rng)
    needles = scores[rng.integers(0, n, n_needles)]
    ranks = rng.integers(0, n, n_ranks)
    with pytest.MonkeyPatch.context() as patch:
        # Buckets even for tiny inputs, and chunks that do not divide them.
        patch.setattr(ranking, "_SMALL", 16)
        patch.setattr(ranking, "_CHUNK", chunk)
        patch.setattr(ranking, "_PER_QUERY", 1)
        patch.setattr(ranking, "_FEWEST_BUCKETS", 4)
        table = ranking.rank_table(scores, needles, ranks)
    for needle, at_least, above in zip(
        needles, table.at_least(needles), table.counts(needles)[1], strict=True
    ):
        assert at_least == (scores >= needle).sum()
        assert above == (scores > needle).sum()
    found, at_least = table.at_rank(ranks)
    assert (found == np.sort(scores)[::-1][ranks]).all()
    assert (at_least == [np.count_nonzero(scores >= value) for value in found]).all()


def test_large_scores_are_not_sorted_whole():
    """The point of it: only a small part of a long score is ordered."""
    scores = np.random.default_rng(0).random(200_000)
    table = ranking.rank_table(scores, scores[:500], np.arange(0, 200_000, 1000))
    assert table.values.size < 40_000


def test_many_ties_are_counted_without_sorting():
    scores = np.random.default_rng(0).integers(0, 100, 100_000) / 100
    table = ranking.rank_table(scores, np.unique(scores), np.zeros(0, dtype=np.intp))
    assert table.at_least(np.array([0.5]))[0] == (scores >= 0.5).sum()


@settings(max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 400),
    n_marks=st.integers(0, 30),
    seed=st.integers(0, 10**6),
)
def test_positions_among_marks(kind, n, n_marks, seed):
    rng = np.random.default_rng(seed)
    values = shaped(kind, n, rng)
    other = shaped(kind, 40, rng)
    marks = np.sort(np.concatenate((values[:n_marks], other))).astype(values.dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_SMALL", 16)
        patch.setattr(ranking, "_CHUNK", 50)
        patch.setattr(ranking, "_FEWEST_BUCKETS", 8)
        found = ranking.position_among(marks, np.tile(values, 1 + 700 // n))
    expected = [(marks <= value).sum() for value in values]
    assert found[:n].tolist() == expected


# --- at the sizes at which buckets are used ------------------------------------------------------

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
    assert table.counts(needles)[1].tolist() == above.tolist()
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


# --- near the ends of the range of doubles -------------------------------------------------------


def huge_and_some_tiny(rng):
    return np.append(1e308 * rng.random(N - 100), 10.0 ** rng.uniform(-320, -3, 100))


def from_tiny_to_huge(rng):
    return 10.0 ** rng.uniform(-320, 308, N)


@pytest.mark.parametrize("kind", [huge_and_some_tiny, from_tiny_to_huge])
def test_numpy_may_raise_when_ranks_are_counted(kind):
    """Scaled to buckets, a tiny score underflows to zero, which is its bucket."""
    scores = kind(np.random.default_rng(0))
    needles, ranks = np.unique(scores[-60:]), np.arange(0, N, 500)
    with np.errstate(all="raise"):
        table = ranking.rank_table(scores, needles, ranks)
        check(scores, table, needles, ranks)
    assert (table.shift is not None) == (kind is huge_and_some_tiny)


@pytest.mark.parametrize("kind", [huge_and_some_tiny, from_tiny_to_huge])
def test_numpy_may_raise_when_positions_are_found(kind):
    scores = kind(np.random.default_rng(0))
    marks = np.unique(scores[-60:])
    with np.errstate(all="raise"):
        found = ranking.position_among(marks, scores)
    assert found.tolist() == marks.searchsorted(scores, side="right").tolist()
