"""Which points a buffer reaches, and the weights of these points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from kernels.native_cases import numpy_areas
from strategies import buffers, definitions, labeled_scores, labels, sides, thresholds

from vuskit.inputs import check_labels
from vuskit.kernels.labels import DEFINITIONS
from vuskit.kernels.labels import buffers as buffer_plans
from vuskit.measures.areas import AreaSettings, BufferedLabels
from vuskit.measures.settings import EvaluationSettings


@pytest.mark.parametrize("definition", DEFINITIONS)
@given(buffer=buffers(), side=sides(), y_true=labels())
def test_every_point_is_near_or_far(definition, y_true, buffer, side):
    chosen = EvaluationSettings(buffer=buffer, definition=definition, side=side)
    options = AreaSettings.of(chosen, buffer)
    plan = BufferedLabels(check_labels(y_true), options).plan
    far = [np.arange(a, b) for a, b in zip(plan.far_starts, plan.far_stops, strict=True)]
    points = np.concatenate((plan.positions, *far))
    assert sorted(points.tolist()) == list(range(len(y_true)))


@settings(max_examples=100)
@given(
    buffer=buffers(),
    definition=definitions(),
    side=sides(),
    thresholds=thresholds(),
    data=labeled_scores(),
)
def test_areas_do_not_depend_on_parts_of_the_weights(data, buffer, definition, side, thresholds):
    """NumPy computes the weights of many widths in parts."""
    case = *data, np.arange(buffer + 1), definition, side, thresholds
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_plans, "_MOST_WEIGHTS", 30)
        found = numpy_areas(*case)
    np.testing.assert_allclose(found, numpy_areas(*case), rtol=0, atol=1e-12)
