"""One score under change: values are those of the changed score."""

from __future__ import annotations

import numpy as np
import pytest
from figures.layout import tick_texts, widths
from report.figure_examples import (
    BUFFER,
    EXAMPLES,
    labels,
    score,
    scored,
)

import vuskit
from vuskit import figures
from vuskit.errors import InvalidInputError
from vuskit.studies.sensitivity import compare_cases, sensitivity

TITLES = [measure.title for measure in vuskit.list_measures() if measure.group == "paper"]


def test_sensitivity_to_lag_is_that_of_shifted_scores():
    chosen = ["f_score", "vus_pr"]
    display = sensitivity(labels(), score(), buffer=BUFFER, vary="lag", at=[0, 3], measures=chosen)
    later = np.concatenate([np.full(3, score()[0]), score()[:-3]])
    for row, shifted in zip(display.values, (score(), later), strict=True):
        values = vuskit.evaluate(labels(), shifted, buffer=BUFFER, measures=chosen)
        np.testing.assert_array_equal(row, [values[name] for name in chosen])
    lines = display.plot().ax_.lines
    np.testing.assert_array_equal([line.get_ydata() for line in lines], display.values.T)


def test_threshold_noise_and_ratio_vary_what_they_say():
    data = {"buffer": BUFFER, "measures": ["recall", "auc_roc"]}
    threshold = sensitivity(labels(), score(), vary="threshold", at=[0.5, 2], **data)
    expected = [
        vuskit.recall(labels(), score(), threshold=vuskit.Sigma(factor)) for factor in (0.5, 2)
    ]
    assert threshold.values[:, 0].tolist() == expected
    assert np.ptp(threshold.values[:, 1]) == 0
    noise = sensitivity(labels(), score(), vary="noise", at=[0, 0.5], **data)
    assert noise.values[0, 1] == vuskit.auc_roc(labels(), score())
    assert noise.values[1, 1] < noise.values[0, 1]
    ratio = sensitivity(labels(), score(), vary="ratio", at=[0.001, 0.1], **data)
    assert np.isnan(ratio.values[0]).all()  # no stretch has so few
    assert np.isfinite(ratio.values[1]).all()
    with pytest.raises(InvalidInputError, match="`vary` must be one of 'threshold', 'lag'"):
        sensitivity(labels(), score(), vary="color", **data)


def test_cases_show_values_and_differences():
    display = EXAMPLES["cases"]()
    for factor, row in zip((1.0, 0.6), display.values, strict=True):
        values = vuskit.evaluate(labels(), score(), buffer=BUFFER, threshold=vuskit.Sigma(factor))
        np.testing.assert_array_equal(row, list(values.values()))
    *_, bars, differences = display.plot().axes_
    assert widths(bars) == pytest.approx(display.values.ravel().tolist())
    assert widths(differences) == pytest.approx((display.values[1] - display.values[0]).tolist())
    assert tick_texts(bars) == TITLES
    with pytest.raises(InvalidInputError, match="`at` must be two values, got 3"):
        compare_cases(labels(), score(), buffer=BUFFER, at=(1, 2, 3))


def test_crops_are_drawn_where_they_are():
    values = scored().series.values
    display = compare_cases(
        labels(),
        score(),
        buffer=BUFFER,
        vary="ratio",
        at=(0.1, 0.3),
        series=values,
        measures=["auc_pr"],
    )
    whole = set(map(tuple, display.to_dict()["events"]))
    series, *crops = display.plot().axes_[:3]
    assert spans(series) == whole
    for axis, case, data in zip(crops, display.cases, display.to_dict()["cases"], strict=True):
        stop = case.start + case.y_true.size
        np.testing.assert_array_equal(case.y_true, labels()[case.start : stop])
        assert case.start > 0
        assert axis.get_xlim() == (case.start - 0.5, stop - 0.5)
        inside = {
            (max(a, case.start), min(b, stop)) for a, b in whole if b > case.start and a < stop
        }
        assert spans(axis) == set(map(tuple, data["events"])) == inside


def spans(axis):
    """Bounds of what is shaded."""
    found = (patch.get_extents().transformed(axis.transData.inverted()) for patch in axis.patches)
    return {(round(box.x0 + 0.5), round(box.x1 + 0.5)) for box in found}


def test_labelings_are_evaluated_each():
    display = EXAMPLES["labeling"]()
    later = np.roll(labels(), 6)
    assert display.values["later"]["vus_pr"] == vuskit.vus_pr(later, score(), max_buffer=BUFFER)
    shown = " ".join(text.get_text() for text in display.plot().axes_[2].texts)
    assert f"VUS-PR {display.values['later']['vus_pr']:.2f}" in shown
    with pytest.raises(InvalidInputError, match="`labels` must hold at least one labeling"):
        figures.LabelingDisplay.from_labels(score(), score(), {}, buffer=2)
    with pytest.raises(InvalidInputError, match="`series` must have the shape"):
        figures.LabelingDisplay.from_labels([1, 2], score(), {"a": labels()}, buffer=2)
