"""PATE: against the slow version, by hand, and at its ends."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from oracle.pate import rates
from strategies import buffers, labeled_scores, sides

import vuskit


@settings(max_examples=200)
@given(data=labeled_scores(max_size=24), buffer=buffers(), side=sides())
def test_equals_the_oracle(data, buffer, side):
    expected = oracle.pate(*data, buffer=buffer, side=side)
    actual = vuskit.pate(*data, buffer=buffer, side=side)
    assert type(actual) is float
    assert actual == pytest.approx(expected, abs=1e-12)


def test_long_events():
    """Many states of one event: what is missed is summed in a tree."""
    rng = np.random.default_rng(4)
    labels = np.zeros(160, dtype=int)
    labels[20:90] = labels[92:93] = labels[130:160] = 1
    for score in (rng.random(160), np.arange(160.0), -np.arange(160.0), rng.integers(0, 9, 160)):
        expected = oracle.pate(labels.tolist(), score.tolist(), buffer=30)
        assert vuskit.pate(labels, score, buffer=30) == pytest.approx(expected, abs=1e-12)


def test_thresholds_that_lose_recall():
    """The first stretch is long at first; then a single earlier point becomes the first stretch."""
    labels = [0] * 5 + [1] * 60 + [0] * 5
    score = [2.0] * 5 + [3.0] + [0.0] * 9 + [4.0] * 30 + [1.0] * 20 + [3.5] * 5
    recalls = [rates(labels, [int(s >= t) for s in score], 0, 0)[1] for t in (4.0, 3.0)]
    assert recalls[1] < recalls[0]
    for buffer in (0, 6):
        expected = oracle.pate(labels, score, buffer=buffer)
        assert vuskit.pate(labels, score, buffer=buffer) == pytest.approx(expected, abs=1e-12)


def test_by_hand():
    # One anomaly [2, 4); the point after it comes first, then both of its own, then the rest.
    labels, score = [0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 0]
    # Without zones: precision 0, recall 0; then 2 of 3 with recall 1; then 2 of 6.
    plain = (0 + 2 / 3) / 2
    assert vuskit.pate(labels, score, buffer=0) == pytest.approx(plain)
    # With 2 points after: its worth is 1 - (4 - 2.5) / (5 - 2.5) = 0.4, recall 0.4 / 2.4 at first.
    first, second = 0.4, 2.4 / 3
    after = 0.4 / 2.4 * (1 + first) / 2 + (1 - 0.4 / 2.4) * (first + second) / 2
    assert vuskit.pate(labels, score, buffer=4, side="after") == pytest.approx((plain + after) / 2)


def test_a_perfect_score_gets_one():
    labels = [0, 0, 1, 1, 1, 0, 0, 0, 1, 0]
    assert vuskit.pate(labels, labels, buffer=0) == 1.0
    assert vuskit.pate(labels, labels, buffer=4) == pytest.approx(
        oracle.pate(labels, labels, buffer=4)
    )


def test_follows_the_buffer_of_the_evaluation():
    labels, score = [0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 3, 5, 4, 2, 0, 1]
    for side in ("both", "before", "after"):
        result = vuskit.evaluate(labels, score, buffer=4, side=side, measures=["pate"])
        assert result["pate"] == vuskit.pate(labels, score, buffer=4, side=side)


def test_errors():
    with pytest.raises(vuskit.InvalidInputError, match="`buffer` must be an int >= 0"):
        vuskit.pate([0, 1], [0, 1], buffer=-1)
    with pytest.raises(vuskit.InvalidInputError, match="`side` must be one of"):
        vuskit.pate([0, 1], [0, 1], buffer=1, side="left")
