"""Affiliation and PATE: slow versions, worked examples, ends of the series, single points."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.pate import rates
from strategies import buffers, labeled_predictions, labeled_scores, sides

import vuskit
from vuskit.inputs import check_labels
from vuskit.kernels.affiliation import Zones, affiliation

NAMES = ["affiliation_precision", "affiliation_recall", "affiliation_f_score"]


@settings(max_examples=150)
@given(data=labeled_predictions(), beta=st.sampled_from([0.5, 1, 2]))
def test_equal_the_oracle(data, beta):
    y_true, y_pred = data
    for name in NAMES:
        options = {"beta": beta} if name.endswith("f_score") else {}
        expected = getattr(oracle, name)(y_true, y_pred=y_pred, **options)
        actual = getattr(vuskit, name)(y_true, y_pred=y_pred, **options)
        assert type(actual) is float
        assert actual == pytest.approx(expected, abs=1e-12), name


def labels_of(ranges, n):
    labels = np.zeros(n, dtype=int)
    for start, stop in ranges:
        labels[start:stop] = 1
    return labels


def test_example_of_the_paper():
    """Three hours in minutes; the numbers of the second anomaly are printed in the paper."""
    n = 180
    labels = check_labels(labels_of([(0, 10), (50, 70), (170, 175)], n))
    predicted = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]
    zones = Zones.of(labels.starts, labels.stops, n)
    assert zones.left.tolist() == [0, 2 * 30, 2 * 120]
    precision, recall = affiliation(zones, *np.array(predicted).T)
    assert precision[1] == pytest.approx(0.672222222, abs=1e-9)
    assert recall[1] == pytest.approx(0.944444444, abs=1e-9)


def test_one_anomaly_of_the_paper_by_itself():
    y_true = labels_of([(20, 40)], 90)
    y_pred = labels_of([(10, 30), (85, 90)], 90)
    assert vuskit.affiliation_precision(y_true, y_pred=y_pred) == pytest.approx(0.672222222)
    assert vuskit.affiliation_recall(y_true, y_pred=y_pred) == pytest.approx(0.944444444)


def test_by_hand_with_a_border_inside_a_point():
    # Anomalies [0, 1) and [4, 5): the zones meet at 2.5, in the middle of the predicted point 2.
    y_true, y_pred = [1, 0, 0, 0, 1], [0, 0, 1, 0, 0]
    # Zone [0, 2.5): distances d from 1 to 1.5, and 1.5 - d of 2.5 is further: in the mean .25.
    assert vuskit.affiliation_precision(y_true, y_pred=y_pred) == pytest.approx(0.25 / 2.5)
    # A place y from 0 to 1 is 2 - y from the prediction; only .5 of the zone, beyond 2, is further.
    assert vuskit.affiliation_recall(y_true, y_pred=y_pred) == pytest.approx(0.5 / 2.5)


def test_anomalies_without_a_prediction_in_their_zone():
    """They are missing from precision, and nothing to recall."""
    y_true = [1, 0, 0, 0, 0, 0, 0, 1]
    assert vuskit.affiliation_precision(y_true, y_pred=[1, 0, 0, 0, 0, 0, 0, 0]) == 1.0
    assert vuskit.affiliation_recall(y_true, y_pred=[1, 0, 0, 0, 0, 0, 0, 0]) == 0.5


def test_nothing_predicted():
    """The authors' code gives NaN for precision; here nothing predicted is 0, as everywhere."""
    for name in NAMES:
        assert getattr(vuskit, name)([0, 1, 0], y_pred=[0, 0, 0]) == 0.0


@settings(max_examples=30)
@given(labeled_predictions())
def test_time_may_run_backwards(data):
    y_true, y_pred = data
    for name in NAMES:
        measure = getattr(vuskit, name)
        backwards = measure(y_true[::-1], y_pred=y_pred[::-1])
        assert measure(y_true, y_pred=y_pred) == pytest.approx(backwards, abs=1e-12)


def test_random_places_get_about_a_half():
    rng = np.random.default_rng(3)
    labels = labels_of([(4_000, 4_100)], 10_000)
    values = []
    for _ in range(200):
        prediction = np.zeros(10_000, dtype=int)
        prediction[rng.integers(10_000)] = 1
        values.append(vuskit.affiliation_precision(labels, y_pred=prediction))
    assert np.mean(values) == pytest.approx(0.5, abs=0.07)


# --- PATE ----------------------------------------------------------------------------------------


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
