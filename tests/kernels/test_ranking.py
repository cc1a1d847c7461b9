"""Ranks by buckets against ranks by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vuskit.kernels import ranking


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
        needles, table.at_least(needles), table.above(needles), strict=True
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
