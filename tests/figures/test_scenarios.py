"""Scenarios hold all values."""

from __future__ import annotations

import numpy as np
from figures.layout import tick_texts
from report.figure_examples import (
    scenarios,
)

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


def test_problem_region_is_shaded_in_both_panels():
    geometry, values = scenarios().figures()["values"].plot().axes_
    cells = {(round(one.get_x() + 0.5), round(one.get_y() + 0.5)) for one in values.patches}
    columns = {TITLES.index(title) for title in ("F", "AUC-PR", "RF")}
    assert {(column, row) for column in columns for row in (0, 1)} <= cells
    assert not any(column == TITLES.index("VUS-PR") for column, _ in cells)
    bands = [one for one in geometry.patches if one.get_width() == 1 and one.get_alpha() == 0.2]
    assert sorted(round(one.get_y() + 0.5) for one in bands) == [0, 1]
