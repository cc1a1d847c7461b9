"""Scores that look inverted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import vuskit
from vuskit.measures.results import inverted_text, looks_inverted

N = 2000
LABELS = (np.arange(N) // 20 % 20 == 7).astype(int)
RNG = np.random.default_rng(0)
GOOD = LABELS + RNG.normal(scale=0.3, size=N)


@pytest.mark.parametrize(
    "measures", ["paper", "auc_roc", ["auc_pr"], ["vus_pr"], ["range_auc_roc"]]
)
def test_a_score_far_below_chance_is_reported(measures):
    with pytest.warns(vuskit.InvertedScoreWarning, match=r"`y_score` \(AUC-ROC 0.0\d\) looks inv"):
        result = vuskit.evaluate(LABELS, -GOOD, buffer=10, measures=measures)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vuskit.evaluate(LABELS, GOOD, buffer=10, measures=measures)
        assert dict(vuskit.Evaluator(LABELS, buffer=10, measures=measures)(-GOOD)) == dict(result)


def test_several_scores_are_reported_once():
    scores = {"good": GOOD, "one": -GOOD, "two": 1 - GOOD**3}
    with pytest.warns(vuskit.InvertedScoreWarning) as told:
        vuskit.evaluate_many(LABELS, scores, buffer=10)
    (text,) = [str(one.message) for one in told]
    assert text.startswith("one (AUC-ROC 0.01), two (AUC-ROC ")
    assert "look inverted" in text
    assert "good" not in text
    assert text.endswith("do not negate them because of one series.")


def test_series_below_chance_are_named_and_counted():
    places = {"a": (["x/1", "x/2", "y/1", "y/2"], 9), "b": (["x/1"], 9)}
    text = inverted_text({"a": 0.1, "b": 0.1}, places)
    assert "a: below 0.5 on 4 of 9 series (x/1, x/2, y/1 and 1 more)." in text
    assert text.endswith("if low scores mean anomalous, negate them.")
    assert "because of one series" in inverted_text({"b": 0.1}, {"b": places["b"]})


def test_nothing_is_ranked_just_to_warn():
    vuskit.evaluate(LABELS, -GOOD, buffer=10, measures=["recall", "event_f_score"])
    vuskit.evaluate(LABELS, -GOOD, buffer=10, thresholds=250, measures=["vus_pr"])


def test_single_measures_do_not_warn():
    assert vuskit.auc_roc(LABELS, -GOOD) < 0.1
    assert vuskit.vus_pr(LABELS, -GOOD, buffer=10) < 0.1


@pytest.mark.parametrize(
    ("auc_roc", "n_events", "expected"),
    [
        (0.5, 10, False),
        (0.25, 100, False),
        (0.19, 10, True),
        (0.19, 3, False),
        (0.1, 3, True),
        (0.1, 1, False),
        (0.005, 1, True),
        (0.0, 1, True),
        (0.0001, 5000, True),
        (float("nan"), 5, False),
    ],
)
def test_fewer_events_take_a_lower_value(auc_roc, n_events, expected):
    assert looks_inverted(auc_roc, n_points=10_000, n_events=n_events) is expected
    assert not looks_inverted(auc_roc, n_points=50, n_events=n_events)


def test_random_scores_of_whole_events_rarely_look_inverted():
    rng = np.random.default_rng(1)
    for n_events in (1, 2, 3, 5, 10):
        means = rng.random((20_000, n_events)).mean(axis=1)
        found = [looks_inverted(mean, n_points=1000, n_events=n_events) for mean in means]
        assert np.mean(found) < 0.013
