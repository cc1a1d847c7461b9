"""The three algorithms against the authors' values, the literal oracle and each other."""

from __future__ import annotations

import json

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import buffers as widths
from strategies import grids, labeled_scores

from vuskit.algorithms import ALGORITHMS, areas, range_rates

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def volumes(labels, scores, max_buffer, n_thresholds, algorithm):
    rates = range_rates(
        np.asarray(labels, dtype=bool),
        np.asarray(scores),
        range(max_buffer + 1),
        n_thresholds,
        algorithm=algorithm,
    )
    roc, pr = areas(rates)
    return roc.mean(), pr.mean()


@every_algorithm
def test_conformance_cases(test_data, algorithm):
    cases = json.loads((test_data / "conformance" / "vus_cases.json").read_text())["cases"]
    assert len(cases) > 50
    for case in cases:
        found = volumes(
            case["y_true"], case["y_score"], case["max_buffer"], case["thresholds"], algorithm
        )
        expected = case["journal"]["vus_roc"], case["journal"]["vus_pr"]
        assert found == pytest.approx(expected, abs=1e-12), case["name"]


@every_algorithm
@given(
    data=labeled_scores(),
    buffers=st.lists(widths(), min_size=1, max_size=4),
    n=grids(),
)
def test_oracle_curve(algorithm, data, buffers, n):
    labels, scores = data
    rates = range_rates(
        np.array(labels, dtype=bool), np.array(scores), buffers, n, algorithm=algorithm
    )
    for row, buffer in enumerate(buffers):
        fpr, tpr, precision = oracle.curve(labels, scores, buffer, thresholds=n)
        assert rates.fpr[row] == pytest.approx(fpr, abs=1e-12)
        assert rates.tpr[row] == pytest.approx(tpr, abs=1e-12)
        assert rates.precision[row] == pytest.approx(precision, abs=1e-12)


@given(data=labeled_scores(), max_buffer=st.integers(0, 12))
def test_oracle_volume(data, max_buffer):
    options = {"max_buffer": max_buffer, "thresholds": 9}
    expected = oracle.vus_roc(*data, **options), oracle.vus_pr(*data, **options)
    for algorithm in ALGORITHMS:
        assert volumes(*data, max_buffer, 9, algorithm) == pytest.approx(expected, abs=1e-12)


@every_algorithm
def test_buffered_events_that_touch_without_sharing_a_point_stay_two(algorithm):
    labels = np.array([1, 0, 0, 1, 0, 0, 0, 0], dtype=bool)
    scores = np.array([9, 0, 0, 0, 0, 0, 0, 0])
    rates = range_rates(labels, scores, [2], 2, algorithm=algorithm)
    expected = oracle.curve(labels.tolist(), scores.tolist(), 2, thresholds=2)
    assert rates.tpr[0] == pytest.approx(expected[1], abs=1e-12)
    assert rates.tpr[0, 0] == pytest.approx(0.25)  # one point of two, one event of two


@every_algorithm
def test_neighboring_events_without_buffer_stay_apart(algorithm):
    labels = np.array([1, 0, 1, 0, 1, 0], dtype=bool)
    scores = np.array([5, 0, 0, 0, 0, 0])
    rates = range_rates(labels, scores, [0, 1], 2, algorithm=algorithm)
    assert rates.tpr[:, 0] == pytest.approx([1 / 9, 1 / 9])


@every_algorithm
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "bool"])
def test_scores_of_any_dtype_are_ordered_alike(algorithm, dtype):
    labels = np.array([0, 1, 1, 0, 0, 0, 1, 0], dtype=bool)
    scores = np.array([0, 1, 1, 0, 1, 0, 0, 0]) * (1 if dtype == "bool" else 100)
    plain = volumes(labels, scores, 4, 5, algorithm)
    assert volumes(labels, scores.astype(dtype), 4, 5, algorithm) == plain


@every_algorithm
def test_inputs_are_left_alone(algorithm):
    labels = np.array([0, 1, 1, 0, 0, 0], dtype=bool)
    scores = np.array([0.2, 0.9, 0.4, 0.8, 0.1, 0.3])
    labels.setflags(write=False)
    scores.setflags(write=False)
    range_rates(labels, scores, [0, 3, 4], 4, algorithm=algorithm)


@every_algorithm
def test_without_anomalies_recall_is_undefined(algorithm):
    rates = range_rates(np.zeros(6, dtype=bool), np.arange(6), [0, 4], 3, algorithm=algorithm)
    assert np.isnan(rates.tpr).all()
    assert (rates.precision == 0).all()
