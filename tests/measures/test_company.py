"""A value does not depend on which other measures the same call computes, to the last bit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import vuskit
from vuskit.kernels.labels import DEFINITIONS

NAMES = [measure.name for measure in vuskit.list_measures()]
AREAS = ("auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr", "precision_at_k")
SUBSETS = [[name] for name in NAMES] + [list(pair) for pair in itertools.combinations(AREAS, 2)]
VARIANTS = ({}, {"thresholds": 50}, {"volume_factor": 2.0}, {"volume_factor": 0.5}, {"step": 3})


def labels_and_scores(n, seed):
    """Labels with several anomalies, and scores with and without ties."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=int)
    for start in rng.integers(0, n - 12, 6):
        labels[start : start + rng.integers(2, 12)] = 1
    scores = rng.random(n) + 0.4 * labels
    return labels, (scores, scores.round(1))


@pytest.mark.filterwarnings("ignore::vuskit.UndefinedMeasureWarning")
@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
@pytest.mark.usefixtures("each_core")
@pytest.mark.parametrize("definition", list(DEFINITIONS))
@pytest.mark.parametrize(("n", "buffer"), [(300, 4), (5000, 100)])
def test_values_do_not_depend_on_other_measures(n, buffer, definition):
    labels, both = labels_and_scores(n, seed=n)
    for scores, variant in itertools.product(both, VARIANTS):
        settings = {"buffer": buffer, "definition": definition, **variant}
        together = vuskit.evaluate(labels, scores, measures=NAMES, **settings)
        for names in SUBSETS:
            alone = vuskit.evaluate(labels, scores, measures=names, **settings)
            for name in names:
                same = alone[name] == together[name] or math.isnan(alone[name] + together[name])
                assert same, (name, names, variant, alone[name] - together[name])


@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
@pytest.mark.usefixtures("each_core")
@pytest.mark.parametrize("thresholds", [None, 26])
@pytest.mark.parametrize("n", [70, 300, 600])
def test_range_auc_does_not_depend_on_the_step_of_the_volume(n, thresholds):
    labels, (scores, _) = labels_and_scores(n, seed=0)
    for buffer, step in itertools.product((12, 60), (3, 7)):
        settings = {"buffer": buffer, "thresholds": thresholds}
        for function in (vuskit.range_auc_roc, vuskit.range_auc_pr):
            name = function.__name__
            alone = function(labels, scores, **settings)
            for names in ([name], NAMES):
                found = vuskit.evaluate(labels, scores, measures=names, step=step, **settings)
                assert found[name] == alone, (name, names, settings, step)
