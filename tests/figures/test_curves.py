"""Curves and surfaces carry the exact measures."""

from __future__ import annotations

import numpy as np
import pytest
from report.figure_examples import (
    BUFFER,
    EXAMPLES,
    labels,
    score,
)

import vuskit
from vuskit import figures
from vuskit.errors import InvalidInputError


@pytest.mark.parametrize("curve", ["roc", "pr"])
@pytest.mark.parametrize("definition", ["journal", "pvldb2022"])
def test_curves_and_surfaces_carry_the_exact_measures(curve, definition):
    options = {"curve": curve, "definition": definition}
    data = labels(), score()
    found = figures.RangeCurveDisplay.from_scores(*data, buffer=BUFFER, **options)
    values = vuskit.evaluate(*data, buffer=BUFFER, definition=definition)
    assert found.plain_area == values[f"auc_{curve}"]
    assert found.buffered_area == values[f"range_auc_{curve}"]
    surface = figures.SurfaceDisplay.from_scores(*data, max_buffer=BUFFER, **options)
    assert surface.volume == values[f"vus_{curve}"]
    np.testing.assert_array_equal(surface.buffers, np.arange(BUFFER + 1))


def test_the_area_under_the_drawn_roc_curve_is_the_measure():
    display = figures.RangeCurveDisplay.from_scores(labels(), score(), buffer=BUFFER)
    plain, buffered = display.plot().ax_.lines
    for line, area in ((plain, display.plain_area), (buffered, display.buffered_area)):
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(area)
    step = figures.RangeCurveDisplay.from_scores(labels(), score(), buffer=BUFFER, curve="pr")
    for line, area in zip(
        step.plot().ax_.lines, (step.plain_area, step.buffered_area), strict=True
    ):
        assert line.get_drawstyle() == "steps"
        recall, precision = line.get_data()
        assert np.diff(recall, prepend=0) @ precision == pytest.approx(area)
    # A grid of 61 places cannot be far off.
    surface = figures.SurfaceDisplay.from_scores(labels(), score(), max_buffer=BUFFER)
    volume = np.trapezoid(surface.heights, surface.places, axis=1).mean()
    assert volume == pytest.approx(surface.volume, abs=0.01)


def test_volume_display_holds_label_curve_and_surface():
    display = EXAMPLES["volume"]()
    values = vuskit.evaluate(labels(), score(), buffer=BUFFER)
    texts = [panel.get_title(loc="left") for panel in display.plot().axes_[:3]]
    assert texts == [
        f"({letter}) {vuskit.get_measure(name).title} = {values[name]:.3f}"
        for letter, name in zip("abc", ("auc_roc", "range_auc_roc", "vus_roc"), strict=True)
    ]
    np.testing.assert_array_equal(display.soft[-1], figures.soft_label(labels(), buffer=BUFFER))


def test_curves_refuse_what_cannot_be_evaluated():
    with pytest.raises(InvalidInputError, match="`curve` must be one of 'roc', 'pr', got 'det'"):
        figures.RangeCurveDisplay.from_scores(labels(), score(), buffer=BUFFER, curve="det")
    with pytest.raises(InvalidInputError, match="got one class"):
        figures.SurfaceDisplay.from_scores([0, 0], [1, 2], max_buffer=2)
    with pytest.raises(InvalidInputError, match="`max_buffer` must be an int >= 1, got 0"):
        figures.SurfaceDisplay.from_scores(labels(), score(), max_buffer=0)
