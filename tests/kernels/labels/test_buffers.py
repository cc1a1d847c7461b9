"""Which points a buffer reaches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import buffers, labels, sides

from vuskit.inputs import check_labels
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.workspace import AreaSettings, BufferedLabels


@pytest.mark.parametrize("definition", DEFINITIONS)
@given(y_true=labels(), buffer=buffers(), side=sides())
def test_every_point_is_near_or_far(definition, y_true, buffer, side):
    settings = EvaluationSettings(buffer=buffer, definition=definition, side=side)
    options = AreaSettings.of(settings, buffer)
    plan = BufferedLabels(check_labels(y_true), options).plan
    far = [np.arange(a, b) for a, b in zip(plan.far_starts, plan.far_stops, strict=True)]
    points = np.concatenate((plan.positions, *far))
    assert sorted(points.tolist()) == list(range(len(y_true)))
