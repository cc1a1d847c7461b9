"""Soft labels are those of the definition."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from report.figure_examples import (
    BUFFER,
    EXAMPLES,
    labels,
    score,
)
from strategies import buffers, definitions, labeled_predictions, sides

from vuskit import figures
from vuskit.errors import InvalidInputError


@given(labeled_predictions(), buffers(), definitions(), sides())
def test_soft_label_is_the_oracles(data, buffer, definition, side):
    y_true, y_pred = data
    options = {"definition": definition, "side": side}
    expected = np.array(oracle.vus.soft_labels(y_true, buffer, **options), dtype=float)
    whole = figures.soft_label(y_true, buffer=buffer, **options)
    np.testing.assert_allclose(whole, expected, atol=1e-12)
    counted = figures.soft_label(y_true, buffer=buffer, y_pred=y_pred, **options)
    kept = np.maximum(y_pred, y_true).astype(bool)
    np.testing.assert_array_equal(counted, np.where(kept, whole, 0.0))


def test_label_displays_hold_soft_labels():
    soft = figures.soft_label(labels(), buffer=BUFFER)
    display = EXAMPLES["soft_label"]()
    np.testing.assert_array_equal(display.soft, soft)
    np.testing.assert_array_equal(display.prediction, score() > 0.7)
    sections = EXAMPLES["sections"]()
    np.testing.assert_array_equal(sections.dynamic, soft > 0)
    evolution = EXAMPLES["label_evolution"]()
    np.testing.assert_array_equal(evolution.soft[-1], soft)
    np.testing.assert_array_equal(evolution.soft[0], labels())
    with pytest.raises(InvalidInputError, match="`buffers` must hold at least one length"):
        figures.LabelEvolutionDisplay.from_labels(labels(), buffers=[])
    with pytest.raises(InvalidInputError, match="`buffer` must be an int >= 0, got -1"):
        figures.SoftLabelDisplay.from_labels(labels(), buffer=-1)
