"""The critical-difference diagram: scale, names, bars and bracket."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from report.figure_examples import robust, table
from studies.ranked import ALPHA, crossing_table

import vuskit
from vuskit.studies import compare

TESTS = Path(__file__).parents[1]
TITLES = [measure.title for measure in vuskit.list_measures() if measure.group == "paper"]


def bars_of(axis):
    """Where the thick lines of a diagram begin and end."""
    return [tuple(line.get_xdata()) for line in axis.lines if line.get_linewidth() == 1.8]


def test_diagram_shows_ranks_and_bars():
    comparison = compare(table(), alpha=0.1)
    display = comparison.figure()
    axis = display.plot().ax_
    texts = " ".join(text.get_text() for text in axis.texts)
    for name, rank in comparison.summary["mean_rank"].items():
        assert name in texts
        assert f"({rank:.2f})" in texts
    assert len(bars_of(axis)) == len(comparison.groups) == len(display.groups) > 0
    assert "alpha = 0.1, n = 40" in axis.get_title()
    assert display.plot(title="").ax_.get_title() == ""
    data = display.to_dict()
    names = [item["name"] for item in data["items"]]
    groups = [tuple(names[place] for place in group) for group in data["groups"]]
    assert groups == list(comparison.groups)
    assert data["families"] == {}  # detectors are no measures


@pytest.mark.parametrize("test", ["wilcoxon", "nemenyi"])
def test_bars_of_the_diagram_lie_over_no_different_pair(test):
    comparison = compare(crossing_table(), alpha=ALPHA, test=test)
    axis = comparison.figure().plot().ax_
    ranks, p_values = comparison.summary["mean_rank"], comparison.pairs.p_values
    covered = [set(ranks.index[ranks.between(*bar)]) for bar in bars_of(axis)]
    assert covered == list(map(set, comparison.groups))
    for group in covered:
        assert all(p_values.loc[a, b] >= ALPHA for a, b in combinations(group, 2))
    # Bars on the same line must not look like one.
    lines = [line for line in axis.lines if line.get_linewidth() == 1.8]
    for one, other in combinations(lines, 2):
        if one.get_ydata()[0] == other.get_ydata()[0]:
            assert max(one.get_xdata()) + 0.1 < min(other.get_xdata())


def test_diagram_has_a_scale_with_a_direction():
    display = compare(crossing_table(), alpha=ALPHA).figure()
    axis = display.plot().ax_
    top = axis.spines["top"]
    assert top.get_visible()
    assert top.get_linewidth() > 0
    low, high = top.get_bounds()
    assert low <= display.ranks.min() <= display.ranks.max() <= high
    assert {low, high} <= set(axis.get_xticks())
    left, right = axis.get_xlim()
    assert left < low < high < right
    words = [text.get_text() for text in axis.texts]
    assert "mean rank (1 is best)" in words
    assert not any("critical difference" in text for text in words)


def test_names_stay_within_the_figure():
    named = crossing_table().rename(columns={"NormA": "a name that is long " * 2, "MP": "$MP_1$"})
    for test in ("wilcoxon", "nemenyi"):
        display = compare(named, test=test).figure().plot()
        display.figure_.draw_without_rendering()
        whole = display.figure_.bbox
        for text in [*display.ax_.texts, display.ax_.title]:
            box = text.get_window_extent()
            assert whole.x0 <= box.x0 <= box.x1 <= whole.x1
            assert whole.y0 <= box.y0 <= box.y1 <= whole.y1


def test_bracket_is_as_long_as_the_critical_difference():
    comparison = compare(crossing_table(), alpha=ALPHA, test="nemenyi")
    difference = comparison.pairs.critical_difference
    axis = comparison.figure().plot().ax_
    assert f"critical difference {difference:.2f}" in [text.get_text() for text in axis.texts]
    (bracket,) = (line for line in axis.lines if line.get_marker() == "|")
    assert np.ptp(bracket.get_xdata()) == pytest.approx(difference)


def test_diagram_is_the_same_whatever_the_hashes_of_names_are(tmp_path):
    code = """
import sys
from report.figure_examples import EXAMPLES
EXAMPLES["critical_difference"]().save(sys.argv[1])
"""
    drawn = []
    for seed in "12":
        path = tmp_path / f"{seed}.png"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)}
        subprocess.run([sys.executable, "-c", code, path], check=True, env=environment)
        drawn.append(path.read_bytes())
    assert drawn[0] == drawn[1]


def test_diagram_of_measures_uses_their_titles():
    display = robust().compare("lag").figure()
    assert {item["title"] for item in display.to_dict()["items"]} == set(TITLES)
    written = " ".join(text.get_text() for text in display.plot().ax_.texts)
    assert all(title in written for title in TITLES)


def test_diagram_tells_what_its_tests_cannot():
    comparison = compare(table(rows=4, columns=4))
    assert not comparison.pairs.can_be_significant
    assert not comparison.global_test.significant
    display = comparison.figure()
    assert display.notes == comparison.tests
    axis = display.plot().ax_
    written = " ".join(text.get_text() for text in axis.texts)
    for note in comparison.tests:
        assert note in written


def test_diagram_has_no_notes_where_its_tests_tell():
    comparison = compare(crossing_table(), alpha=ALPHA)
    assert comparison.global_test.significant
    assert comparison.figure().notes == ()
