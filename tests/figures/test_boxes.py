"""Boxes are those of the values."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from figures.layout import widths
from report.figure_examples import (
    labels,
    robust,
    score,
    separable,
)

from vuskit import figures
from vuskit.errors import InvalidInputError


def test_centered_boxes_are_centered():
    choice = robust().figures()["boxes"]
    display = choice.display(("plant/s0", "all detectors"))
    assert list(display.panels) == ["lag", "noise", "ratio"]
    expected = robust().centered("plant/s0", "noise")
    pd.testing.assert_frame_equal(display.panels["noise"], expected)
    late = choice.display(("plant/s0", "late"))
    pd.testing.assert_frame_equal(late.panels["noise"], expected.loc["late"])
    assert choice.display(("plant/s0", "late")) is late  # made once
    detectors = {key[1] for key in choice.keys}
    assert detectors == {"all detectors", "good", "late", "noisy", "useless"}
    with pytest.raises(InvalidInputError, match="`key` must be one of the 30 keys"):
        choice.display(("nowhere", "late"))
    drawn = choice.plot(key=("plant/s0", "late"))
    assert drawn is late
    assert choice.figure_ is late.figure_


def test_boxes_have_the_medians_of_the_values():
    display = robust().figures()["boxes"].display(("plant/s0", "all detectors"))
    axis = display.plot().axes_[0]
    medians = [line.get_xdata()[0] for line in axis.lines if line.get_linewidth() == 0.9]
    assert medians == pytest.approx(display.panels["lag"].median().to_list())


def test_separability_displays():
    found = separable().figures()
    averages = separable().averages()
    mean, median = found["z"].plot().axes_
    assert widths(mean) == pytest.approx(averages["mean"].to_list())
    assert widths(median) == pytest.approx(averages["median"].to_list())
    boxes = found["pairs"].display(("plant/s0", "first pairs"))
    assert boxes.pairs == [tuple(pair) for pair in separable().values[0].notes["pairs"][:4]]
    good, bad = boxes.pairs[0]
    expected = separable().pair_values("plant/s0", good, bad)
    pd.testing.assert_frame_equal(boxes.values[0], expected)
    assert len(boxes.plot().axes_) == len(boxes.pairs)
    alone = found["pairs"].display(("plant/s0", f"{good} | {bad}"))
    assert alone.pairs == [(good, bad)]
    with pytest.raises(InvalidInputError, match="`pairs` must hold at least one pair"):
        figures.SeparabilityBoxDisplay("plant/s0", [], [])
    lines = figures.SeriesDisplay.from_scores(labels(), {"other": score()})
    with pytest.raises(InvalidInputError, match="`scores` must be"):
        replace(boxes, scores=lines)
