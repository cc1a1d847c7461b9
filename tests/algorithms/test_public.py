"""The paper's algorithms as the public measures offer them, beside the default."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import buffers, grids, labeled_scores

import vuskit
from vuskit.algorithms import ALGORITHMS
from vuskit.datasets import read_scores
from vuskit.errors import InvalidInputError, ThresholdResolutionWarning

every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
VOLUMES = (vuskit.vus_roc, vuskit.vus_pr)
AREAS = (vuskit.range_auc_roc, vuskit.range_auc_pr)


def value(measure, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThresholdResolutionWarning)
        return measure(*data, **options)


@every_algorithm
@given(data=labeled_scores(), max_buffer=buffers(), step=st.integers(1, 3), n=grids())
def test_volumes_equal_the_default(algorithm, data, max_buffer, step, n):
    options = {"max_buffer": max_buffer, "step": step, "thresholds": n}
    for measure in VOLUMES:
        expected = value(measure, data, **options)
        assert value(measure, data, algorithm=algorithm, **options) == pytest.approx(
            expected, abs=1e-12
        )


@every_algorithm
@given(data=labeled_scores(), buffer=buffers(130), n=grids())
def test_areas_equal_the_default(algorithm, data, buffer, n):
    options = {"buffer": buffer, "thresholds": n}
    for measure in AREAS:
        expected = value(measure, data, **options)
        assert value(measure, data, algorithm=algorithm, **options) == pytest.approx(
            expected, abs=1e-12
        )


@every_algorithm
@given(data=labeled_scores(), max_buffer=buffers(20), n=grids())
def test_surfaces_equal_the_default(algorithm, data, max_buffer, n):
    options = {"buffer": max_buffer, "thresholds": n}
    expected = value(vuskit.surface, data, **options)
    found = value(vuskit.surface, data, algorithm=algorithm, **options)
    for part in ("buffers", "thresholds", "fpr", "tpr", "precision", "range_auc_pr"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), atol=1e-12)


@every_algorithm
@pytest.mark.parametrize("pattern", ["Dodgers/*.gz", "MGAB/*.gz", "NAB/*.gz", "Daphnet/*.gz"])
def test_real_series_equal_the_default(test_data, algorithm, pattern):
    scored = read_scores(sorted((test_data / "data" / "scores").glob(pattern))[0])
    data = scored.series.labels, scored.scores[scored.detectors[0]]
    for measure in VOLUMES:
        expected = value(measure, data, max_buffer=12, thresholds=30)
        found = value(measure, data, max_buffer=12, thresholds=30, algorithm=algorithm)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", VOLUMES)
def test_memory_limit_reaches_opt_mem(measure):
    data = np.array([0, 1, 1, 0, 0, 0, 0, 0]), np.arange(8)
    options = {"max_buffer": 2, "thresholds": 8, "algorithm": "opt_mem"}
    with pytest.raises(InvalidInputError, match=r"at least 64 bytes .* got 63"):
        value(measure, data, memory_limit=63, **options)
    assert 0 < value(measure, data, memory_limit=64, **options) < 1
