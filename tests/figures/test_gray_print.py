"""What color tells apart, hatches, markers and dashes tell apart as well, and legends explain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from figures.layout import laid_out, legend_names
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from report.figure_examples import BUFFER, first, labels, robust, score, summary

import vuskit
from vuskit import figures

DETECTORS = ["AE", "CNN", "IForest", "LOF", "LSTM-AD", "MP", "NormA", "OCSVM", "PCA", "POLY"]


def of_ten(values):
    found = {name: {"auc_pr": value, "vus_pr": value} for name, value in values.items()}
    measures = (vuskit.get_measure("auc_pr"), vuskit.get_measure("vus_pr"))
    return figures.DetectorBarsDisplay(found, measures, "")


def look(patch):
    return patch.get_facecolor(), patch.get_hatch()


def test_bars_of_ten_detectors_differ_and_are_explained():
    display = of_ten(dict.fromkeys(DETECTORS, 0.5)).plot()
    looks = [look(container[0]) for container in display.ax_.containers]
    assert len(set(looks)) == 10
    hatches = [hatch for _, hatch in looks[:7]]
    assert len(set(hatches)) == 7  # of the first seven none needs a color
    (legend,) = display.figure_.legends
    assert legend_names(legend) == DETECTORS
    assert [look(patch) for patch in legend.get_patches()] == looks


def test_hatches_are_seen_on_every_color():
    display = of_ten(dict.fromkeys(DETECTORS, 0.5)).plot()
    for container in display.ax_.containers:
        assert container[0].get_edgecolor() != container[0].get_facecolor()


def test_bars_of_many_detectors_stay_on_a_page():
    names = [f"detector {place}" for place in range(40)]
    assert of_ten(dict.fromkeys(names, 0.5)).plot().figure_.get_figheight() < 11


def comparison():
    scores = {"late": score(), "reversed": -score(), "squared": score() ** 2}
    return figures.DetectorComparisonDisplay.from_scores(labels(), scores, buffer=BUFFER)


def test_detectors_side_by_side_are_named_and_told_apart_by_markers():
    display = comparison().plot()
    (legend,) = display.figure_.legends
    assert legend_names(legend) == ["late", "reversed", "squared"]
    roc, pr, bars = display.axes_[3:6]
    for panel in (roc, pr):
        markers = [line.get_marker() for line in panel.lines]
        assert len(markers) == 6
        assert len(set(markers)) == 3
    # A legend shows what a line looks like, and what a bar.
    shown = [line.get_marker() for line in legend.findobj(Line2D)]
    assert shown == [line.get_marker() for line in roc.lines[::2]]
    shown = [look(one) for one in legend.findobj(Rectangle)]
    assert shown == [look(one[0]) for one in bars.containers]


def test_detectors_are_named_on_a_given_axis_too():
    from matplotlib.figure import Figure

    display = comparison().plot(Figure(figsize=(8, 9)).subplots())
    found = [panel.get_legend() for panel in display.axes_ if panel.get_legend() is not None]
    assert [legend_names(legend) for legend in found] == [["late", "reversed", "squared"]]


def test_boxes_have_the_hatches_of_their_legend():
    display = first(robust().figures()["boxes"]).plot()
    boxes = {look(patch) for patch in display.axes_[0].patches}
    (legend,) = display.figure_.legends
    assert boxes == {look(patch) for patch in legend.get_patches()}
    assert len({hatch for _, hatch in boxes}) == 5


def test_families_of_all_measures_have_hatches_of_their_own():
    names = [measure.name for measure in vuskit.list_measures()] + ["a measure of my own"]
    table = pd.DataFrame({"lag": np.linspace(0, 1, len(names))}, index=names)
    legend = figures.RobustnessBarsDisplay(table).plot().figure_.legends[0]
    looks = [look(patch) for patch in legend.get_patches()]
    assert len(looks) == 8
    assert len({hatch for _, hatch in looks}) == len({color for color, _ in looks}) == 8


def test_circles_have_the_hatches_and_the_sizes_that_are_explained():
    display = summary().figures()["scatter"].plot()
    families, sizes = display.figure_.legends
    assert {circle.get_hatch() or "" for circle in display.ax_.collections} == {
        patch.get_hatch() or "" for patch in families.get_patches()
    }
    assert sizes.get_title().get_text() == "area: deviation under ratio"
    largest = summary().scatter()["ratio"].max()
    scale = max(float(circle.get_sizes()[0]) for circle in display.ax_.collections) / largest
    for line, name in zip(sizes.get_lines(), legend_names(sizes), strict=True):
        area = np.pi * line.get_markersize() ** 2 / 4
        assert area == pytest.approx(max(scale * float(name), 6.0))
    figure, renderer = laid_out(display)
    assert sizes.get_window_extent(renderer).y0 >= display.ax_.bbox.y1
    assert families.get_window_extent(renderer).y1 <= display.ax_.bbox.y0
    assert figure.get_figheight() < 5


def test_a_scatter_explains_its_circles_on_a_given_axis_if_it_shall():
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

    for legend, count in ((None, 0), (True, 2), (False, 0)):
        axis = Figure().subplots()
        summary().figures()["scatter"].plot(axis, legend=legend)
        assert len(axis.findobj(Legend)) == count
    without = summary().scatter().assign(ratio=0.0)
    assert len(figures.ScatterDisplay(without).plot().figure_.legends) == 1


@pytest.mark.parametrize(("z", "said"), [("median", "median z"), ("mean", "mean z")])
def test_a_scatter_says_which_z_it_shows(z, said):
    display = figures.ScatterDisplay(summary().scatter(), f"{z} z statistic")
    assert display.plot().ax_.get_ylabel().startswith(said)
    table = figures.ScatterDisplay(summary().scatter())
    assert table.plot().ax_.get_ylabel().startswith("z statistic")
