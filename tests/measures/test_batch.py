"""Batches of series give the values of a loop over `Evaluator`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import vuskit
from vuskit.measures.batch import can_batch, evaluate_batch, find_valid_series
from vuskit.measures.registry import resolve_measures

AREAS = ["auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"]


def make_series():
    """Labels and two scores of four series; events touch the ends of their series."""
    random = np.random.default_rng(5)
    lengths = [60, 2, 45, 80]
    offsets = np.cumsum([0, *lengths])
    labels = random.random(offsets[-1]) < 0.2
    labels[55:61] = True
    labels[61] = False
    labels[offsets[2] : offsets[2] + 5] = True
    scores = [random.random(labels.size), random.integers(0, 9, labels.size)]
    return labels, scores, offsets


LABELS, SCORES, OFFSETS = make_series()


@pytest.mark.parametrize("thresholds", [None, 20])
@pytest.mark.parametrize("buffer", [0, 7, "auto", "median_anomaly", "mean_anomaly"])
@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
def test_values_equal_evaluator(buffer, thresholds):
    settings = vuskit.EvaluationSettings(buffer=buffer, thresholds=thresholds)
    values, buffers, _ = evaluate_batch(LABELS, SCORES, OFFSETS, settings, AREAS)
    assert values.shape == (4, 2, 6)
    for series, (start, stop) in enumerate(itertools.pairwise(OFFSETS)):
        evaluator = vuskit.Evaluator(LABELS[start:stop], measures=AREAS, settings=settings)
        assert buffers[series] == evaluator.buffer_record
        for place, score in enumerate(SCORES):
            wanted = list(evaluator(score[start:stop]).values())
            assert values[series, place].tolist() == wanted


def test_buffer_choice():
    choice = vuskit.choose_buffer("median_anomaly", y_true=[0, 1, 1, 0])
    settings = vuskit.EvaluationSettings(buffer=choice)
    _, buffers, _ = evaluate_batch(LABELS, SCORES, OFFSETS, settings, ["vus_pr"])
    assert buffers == [(2, "median_anomaly: median length of 1 anomaly")] * 4


@pytest.mark.parametrize(
    ("measures", "buffer", "has_values", "expected"),
    [
        (AREAS, 5, False, True),
        ("vus_pr", 5, True, True),
        ("vus_pr", "auto", False, True),
        ("vus_pr", "auto", True, False),
        ("vus_pr", "mean_anomaly", True, True),
        ("vus_pr", "period", True, False),
        ("vus_pr", None, False, False),
        ("paper", 5, False, False),
        (vuskit.get_measure("vus_pr").with_options(step=2), 5, False, False),
    ],
)
def test_supported_measures_and_settings(measures, buffer, has_values, expected):
    settings = vuskit.EvaluationSettings(buffer=buffer)
    assert can_batch(resolve_measures(measures), settings, has_values=has_values) is expected


def test_large_grids_are_checked_series_by_series():
    settings = vuskit.EvaluationSettings(buffer=5, thresholds=1 << 20)
    assert not can_batch(resolve_measures("vus_pr"), settings, has_values=False)


def test_valid_series():
    labels = np.array([0, 1, 0, 2, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1])
    scores = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 8, np.nan, 1, np.inf, 1])
    offsets = np.array([0, 2, 4, 6, 8, 10, 12, 14])
    two = [True, False, True, False, False, True, True]
    assert find_valid_series(labels, [labels], offsets).tolist() == two
    one = [True, False, True, False, False, False, False]
    assert find_valid_series(labels, [labels, scores], offsets).tolist() == one
    assert find_valid_series(labels != 0, [scores.astype(np.float32)], offsets).tolist() == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("convert", [lambda x: x.astype(object), lambda x: x.astype(">f8")])
def test_arrays_to_convert_are_not_valid(convert):
    assert not find_valid_series(LABELS, [convert(SCORES[0])], OFFSETS).any()
