"""Affiliation precision and recall: worked examples, ends of the series, single points."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labeled_predictions

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
