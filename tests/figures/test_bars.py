"""Bars are the averages of the studies, in the colors of the families."""

from __future__ import annotations

import pandas as pd
import pytest
from figures.layout import tick_texts, widths
from report.figure_examples import (
    robust,
)

import vuskit
from vuskit import figures
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import family_color

TITLES = [measure.title for measure in vuskit.list_measures() if measure.group == "paper"]


def test_robustness_bars_are_the_averages_in_the_families_colors():
    axes = robust().figures()["averages"].plot().axes_
    averages = robust().averages()
    for axis, kind in zip(axes, ("lag", "noise", "ratio"), strict=True):
        assert widths(axis) == pytest.approx(averages[kind].to_list())
        assert axis.get_title(loc="left") == kind
    assert tick_texts(axes[0]) == TITLES
    colors = [bar.get_facecolor() for bar in axes[0].patches]
    from matplotlib.colors import to_rgba

    assert colors == [to_rgba(family_color(measure)) for measure in robust().measures]
    # Hatches tell the families apart without color.
    hatches = {measure.family: bar.get_hatch() for measure, bar in
               zip(robust().measures, axes[0].patches, strict=True)}  # fmt: skip
    assert len(set(hatches.values())) == 5


def test_every_data_set_has_its_bars():
    display = robust().figures()["datasets_noise"]
    shown = {axis.get_title(loc="left"): widths(axis) for axis in display.plot().axes_}
    expected = robust().by_dataset().loc["noise"]
    assert set(shown) == {"plant", "mill"}
    assert shown["mill"] == pytest.approx(expected.loc["mill"].to_list())
    assert display.to_dict()["label"] == "mean standard deviation under noise"


def test_own_measures_and_tables_are_drawn():
    table = pd.DataFrame({"lag": [0.1, 0.2]}, index=["vus_pr", "my measure"])
    axis = figures.RobustnessBarsDisplay(table).plot().ax_
    assert tick_texts(axis) == ["VUS-PR", "my measure"]
    for kind in (figures.RobustnessBarsDisplay, figures.SeparabilityBarsDisplay):
        with pytest.raises(InvalidInputError, match="`table` must be a pandas table"):
            kind([1, 2])
        with pytest.raises(InvalidInputError, match="got DataFrame without rows"):
            kind(pd.DataFrame())


def test_one_huge_z_does_not_flatten_the_others():
    z = pd.DataFrame({"overall": [2.0, 3.0, 195.0]}, index=["f_score", "auc_pr", "vus_pr"])
    axis = figures.SeparabilityBarsDisplay(z).plot().ax_
    assert axis.get_xlim()[1] == pytest.approx(1.6 * 3)
    assert [text.get_text() for text in axis.texts] == ["195 \N{RIGHTWARDS ARROW}"]
    even = figures.SeparabilityBarsDisplay(z.clip(upper=9)).plot().ax_
    assert even.get_xlim()[1] > 9
    assert not even.texts
