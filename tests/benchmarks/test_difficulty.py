"""Harder synthetic series must be harder for detectors that suit a family."""

from __future__ import annotations

import difficulty
import numpy as np
import pytest

from vuskit import auc_roc
from vuskit.datasets.synthetic import list_families, make_series
from vuskit.detectors import get_detector

FAMILIES = [family.name for family in list_families()]


@pytest.mark.parametrize("family", FAMILIES)
def test_difficulty_is_monotone(family):
    assert difficulty.rising_measures(difficulty.values_by_difficulty(family, "pca", 3)) == []


@pytest.mark.parametrize("detector", ["norma", "mp"])
def test_easy_premature_beats_are_found(detector):
    series = make_series("ecg", n=2000, n_anomalies=2, difficulty="easy", seed=0)
    assert auc_roc(series.labels, get_detector(detector).fit_score(series)) > 0.8


def test_a_measure_that_rises_is_named():
    values = np.full((3, 4, 2), 0.8)
    values[2, :, 1] = 0.9
    assert difficulty.rising_measures(values) == ["VUS-PR"]
    assert difficulty.rising_measures(values - 0.3) == []
