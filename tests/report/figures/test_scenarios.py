"""Scenarios hold all values."""

from __future__ import annotations

import numpy as np
from report.figure_examples import (
    scenarios,
)
from report.figures.layout import tick_texts

import vuskit

TITLES = [measure.title for measure in vuskit.list_measures() if measure.group == "paper"]


def test_scenarios_hold_all_values():
    _, values = scenarios().figures()["values"].plot().axes_
    np.testing.assert_array_equal(values.images[0].get_array(), scenarios().values)
    assert tick_texts(values, "x") == TITLES
    axes = scenarios().figures()["sweep"].plot().axes_
    curves = {line.get_label(): line.get_ydata() for axis in axes for line in axis.lines}
    for place, title in enumerate(TITLES):
        np.testing.assert_array_equal(curves[title], scenarios().sweep[:, place])
