"""Panels of bars and boxes: one label for all, the series by name, axes that show something."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from figures.layout import is_within, laid_out
from report.figure_examples import first, robust, separable

from vuskit import figures

MEASURES = ["precision", "auc_pr", "vus_pr"]


def centered(panels, values=None):
    random = np.random.default_rng(0)
    tables = {
        name: pd.DataFrame(random.normal(size=(30, 3)) if values is None else values,
                           columns=MEASURES)
        for name in panels
    }  # fmt: skip
    return figures.CenteredBoxDisplay("plant/s0", tables)


def bars(kind, columns):
    table = pd.DataFrame(np.ones((3, columns)), index=MEASURES, columns=list("abcdefghi"[:columns]))
    return kind(table)


def boxes(count):
    pairs = [(f"good {place}", "bad") for place in range(count)]
    values = [
        pd.concat({name: centered("x").panels["x"] for name in pair}, names=["detector"])
        for pair in pairs
    ]
    return figures.SeparabilityBoxDisplay("plant/s0", pairs, values)


DISPLAYS = {
    "eight detectors": lambda: centered([f"detector {place}" for place in range(8)]),
    "three": lambda: centered(["lag", "noise", "ratio"]),
    "two": lambda: centered(["lag", "noise"]),
    "robustness, two": lambda: bars(figures.RobustnessBarsDisplay, 2),
    "robustness, four": lambda: bars(figures.RobustnessBarsDisplay, 4),
    "robustness, a row of five and one of four": lambda: bars(figures.RobustnessBarsDisplay, 9),
    "separability, two": lambda: bars(figures.SeparabilityBarsDisplay, 2),
    "pairs, two": lambda: boxes(2),
    "pairs, three": lambda: boxes(3),
}


@pytest.mark.parametrize("make", DISPLAYS.values(), ids=DISPLAYS)
def test_one_label_is_whole_and_below_the_middle_of_the_last_row(make):
    display = make().plot()
    figure, renderer = laid_out(display)
    (label,) = [panel.xaxis.label for panel in display.axes_ if panel.get_xlabel()]
    box = label.get_window_extent(renderer)
    assert is_within(box, figure.bbox)
    bottom = min(panel.bbox.y0 for panel in display.axes_)
    row = [panel.bbox for panel in display.axes_ if panel.bbox.y0 == pytest.approx(bottom, abs=1)]
    middle = (min(one.x0 for one in row) + max(one.x1 for one in row)) / 2
    assert (box.x0 + box.x1) / 2 == pytest.approx(middle, abs=0.1 * figure.dpi)
    # The label has not pushed the panels apart.
    widths = [one.width for one in row]
    assert max(widths) - min(widths) < 1
    gaps = [right.x0 - left.x1 for left, right in itertools.pairwise(row)]
    assert max(gaps) - min(gaps) < 0.08 * figure.dpi


def test_the_series_is_named_with_its_data_set():
    for display in (
        first(robust().figures()["boxes"]),
        first(separable().figures()["pairs"]),
    ):
        assert display.series == "plant/s0"
        said = " ".join(panel.get_xlabel() for panel in display.plot().axes_)
        assert "plant/s0" in said


def with_outliers():
    values = np.tile(np.linspace(-0.01, 0.01, 30)[:, None], (1, 3))
    values[0, 0], values[1:3, 1] = -0.9, 0.7
    return values


def test_axes_reach_as_far_as_the_whiskers_and_titles_count_what_is_outside():
    values = with_outliers()
    first, second = centered(["lag", "noise"], values).plot().axes_
    second_values = values.copy()
    second_values[1:3, 1] = 0.0
    low, high = first.get_xlim()
    assert -0.02 < low < -0.01
    assert 0.01 < high < 0.02
    outside = int(((values < low) | (values > high)).sum())
    assert outside == 3
    assert first.get_title(loc="left") == "lag, 3 points outside"
    assert second.get_title(loc="left") == "noise, 3 points outside"
    # All of them can be asked for.
    axis = centered(["lag"], values).plot(outliers=True).ax_
    assert axis.get_title(loc="left") == "lag"
    assert axis.get_xlim()[0] < -0.9


def test_one_point_outside_is_one_point():
    values = with_outliers()
    values[1:3, 1] = 0.0
    assert centered(["lag"], values).plot().ax_.get_title(loc="left") == "lag, 1 point outside"


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_axes_of_points_without_boxes_show_the_points(value):
    values = np.full((30, 3), value)
    values[0, 0] = 0.4
    axis = centered(["lag"], values).plot().ax_
    assert axis.get_title(loc="left") == "lag"
    low, high = axis.get_xlim()
    assert low < 0.4 < high or np.isnan(value)


def test_mean_and_median_z_have_axes_of_their_own():
    table = pd.DataFrame({"mean z": [2.0, 300, 900], "median z": [2.0, 3, 9]}, index=MEASURES)
    for panel in figures.SeparabilityBarsDisplay(table).plot().axes_:
        longest = max(bar.get_width() for bar in panel.patches)
        assert longest > 0.8 * panel.get_xlim()[1]
    # Deviations are in the same unit everywhere, and compared between data sets.
    first, second = figures.RobustnessBarsDisplay(table).plot().axes_
    assert first.get_xlim() == second.get_xlim()
