"""Detectors side by side are shown with all their values."""

from __future__ import annotations

import pytest
from figures.layout import widths
from report.figure_examples import BUFFER, EXAMPLES, labels, score, usable_scores

import vuskit
from vuskit import figures
from vuskit.errors import InvalidInputError


def test_detectors_are_shown_with_all_their_values():
    display = EXAMPLES["detector_bars"]()
    table = vuskit.evaluate_many(labels(), usable_scores(), buffer=BUFFER)
    assert display.values == table.to_dict()
    drawn = widths(display.plot().ax_)
    assert drawn == [value for found in table.to_dict().values() for value in found.values()]
    again = figures.DetectorBarsDisplay.from_evaluations(table)
    assert again.values == display.values
    with pytest.raises(InvalidInputError, match="must be a result of evaluate_many"):
        figures.DetectorBarsDisplay.from_evaluations(3)


def test_detector_comparison_holds_all_parts():
    display = EXAMPLES["detector_comparison"]()
    assert list(display.scores.lines) == ["late", "noisy"]
    for name, found in display.bars.values.items():
        assert display.roc[name].buffered_area == found["range_auc_roc"]
        assert display.pr_surface[name].volume == found["vus_pr"]
    five = {str(place): score() for place in range(5)}
    with pytest.raises(InvalidInputError, match="`scores` must hold at most 4 scores, got 5"):
        figures.DetectorComparisonDisplay.from_scores(labels(), five, buffer=2)
    with pytest.raises(InvalidInputError, match="`scores` must be a mapping from names to scores"):
        figures.SeriesDisplay.from_scores(labels(), score())
    with pytest.raises(InvalidInputError, match="`short` must have one number for each label"):
        figures.SeriesDisplay.from_scores(labels(), {"short": [1.0, 2.0]})
