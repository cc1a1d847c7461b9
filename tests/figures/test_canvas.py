"""Titles, legends and labels have room, whatever the names are."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from figures.layout import is_within, laid_out, legend_names, titles, touching
from report.figure_examples import BUFFER, labels, score

from vuskit import figures

PAPER = ["precision", "f_score", "range_f_score", "auc_pr", "range_auc_pr", "vus_pr"]
GRID = [f"LOF(n_neighbors={count})" for count in (10, 30, 50)]
NAMES = {
    "grid": [*GRID, "moving z-score", "IForest", "PCA"],
    "ten": ["AE", "CNN", "IForest", "LOF", "LSTM-AD", "MP", "NormA", "OCSVM", "PCA", "POLY"],
    "long": ["Oracle_late_with_a_long_name" * 3, "POLY"],
}
DATASETS = ["Bearing_vibration_long_name", "ECG", "SVDB"]


def numbers(rows, columns):
    return np.random.default_rng(0).random((rows, columns))


def rank_lines(names):
    table = pd.DataFrame(numbers(len(names), len(PAPER)), index=names, columns=PAPER)
    return figures.RankLinesDisplay(table, "rank")


def detector_bars(names):
    found = {name: dict.fromkeys(PAPER, 0.5) for name in names}
    measures = figures.RobustnessBarsDisplay(table(["x"])).measures
    return figures.DetectorBarsDisplay(found, measures, "")


def table(columns):
    return pd.DataFrame(numbers(len(PAPER), len(columns)), index=PAPER, columns=columns)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("make", [rank_lines, detector_bars])
def test_the_legend_names_everyone_within_the_figure(make, names):
    display = make(names).plot()
    figure, renderer = laid_out(display)
    (legend,) = figure.legends
    assert legend_names(legend) == names
    box = legend.get_window_extent(renderer)
    assert is_within(box, figure.bbox)
    for text in legend.get_texts():
        assert is_within(text.get_window_extent(renderer), figure.bbox)
    # Not at the cost of the panel.
    assert display.ax_.bbox.height > 0.1 * len(PAPER) * figure.dpi
    assert display.ax_.bbox.y0 > box.y1


def test_a_legend_has_as_many_columns_as_have_room():
    few, many = (rank_lines([name * times for name in "ABCDE"]).plot() for times in (1, 12))
    rows = [len({round(y) for y in baselines(display)}) for display in (few, many)]
    assert rows == [1, 3]


def baselines(display):
    figure, renderer = laid_out(display)
    return [text.get_window_extent(renderer).y0 for text in figure.legends[0].get_texts()]


def test_a_legend_within_a_given_axis_is_no_wider_than_it():
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6, 3)).subplots(1, 2)
    display = detector_bars(NAMES["grid"]).plot(axes[0])
    _, renderer = laid_out(display)
    legend = axes[0].get_legend()
    assert legend_names(legend) == NAMES["grid"]
    assert legend.get_window_extent(renderer).width <= axes[0].bbox.width + 1


@pytest.mark.parametrize(
    "names",
    [DATASETS, [f"{name}{turn}" for turn in "abc" for name in DATASETS]],
    ids=["a row", "rows"],
)
def test_titles_of_panels_do_not_touch(names):
    display = figures.RobustnessBarsDisplay(table(names)).plot()
    found = titles(display)
    assert [text.replace("\n", "") for text, _ in found] == names
    assert touching(found) == []
    for _, box in found:
        assert is_within(box, display.figure_.bbox)
    panel = display.axes_[0]
    assert panel.bbox.height > 0.1 * len(PAPER) * display.figure_.dpi


def test_names_of_many_lines_are_shortened_in_the_middle():
    name = "LOF(" + ", ".join(f"parameter_{place}={place}" for place in range(9)) + ")"
    found = titles(figures.RobustnessBarsDisplay(table([name, "B", "C"])).plot())
    text, _ = found[0]
    assert text.startswith("LOF(")
    assert text.endswith("=8)")
    assert "…" in text
    assert text.count("\n") == 2
    assert touching(found) == []


@functools.cache
def compared():
    scores = {"Oracle_late_with_a_long_name": score(), "reversed": -score()}
    return figures.DetectorComparisonDisplay.from_scores(labels(), scores, buffer=BUFFER)


def test_titles_of_surfaces_do_not_touch():
    found = titles(compared().plot())
    assert len(found) == 9
    assert touching(found) == []


def test_titles_fit_given_axes():
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6, 3)).subplots(1, 4)
    display = figures.RobustnessBarsDisplay(table(DATASETS)).plot(axes[:3])
    assert touching(titles(display)) == []


def test_numbers_of_a_shared_axis_stand_once_in_small_ranges_too():
    from vuskit.figures.base import grid_cells, open_canvas

    canvas = open_canvas(None, grid_cells(4, 2), size=(4, 4), share="xy")
    for panel in canvas.panels:
        panel.set(xscale="log", yscale="log")
        panel.plot([2, 6], [2, 6])  # less than a decade: numbers stand at the small ticks
    canvas.figure.draw_without_rendering()
    seen = [
        [any(label.get_visible() for label in axis.get_ticklabels(which="minor"))
         for axis in (panel.xaxis, panel.yaxis)]
        for panel in canvas.panels
    ]  # fmt: skip
    assert seen == [[False, True], [False, False], [True, True], [True, False]]
