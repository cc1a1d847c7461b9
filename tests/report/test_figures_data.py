"""Displays hold the numbers of what they are made from, and show them; bad input is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from report.figure_examples import (
    BUFFER,
    EXAMPLES,
    consistent,
    labels,
    robust,
    scenarios,
    score,
    scored,
    separable,
    summary,
    timed,
)
from strategies import buffers, definitions, labeled_predictions, sides

import vuskit
from vuskit.errors import InvalidInputError
from vuskit.report import figures
from vuskit.report.figures._families import family_color
from vuskit.studies.sensitivity import compare_cases, sensitivity

TITLES = [measure.title for measure in vuskit.list_measures() if measure.group == "paper"]


def widths(axis):
    return [bar.get_width() for bar in axis.patches]


def tick_texts(axis, which="y"):
    return [text.get_text() for text in getattr(axis, f"get_{which}ticklabels")()]


# Soft labels


@given(labeled_predictions(), buffers(), definitions(), sides())
def test_soft_label_is_the_oracles(data, buffer, definition, side):
    y_true, y_pred = data
    options = {"definition": definition, "side": side}
    expected = np.array(oracle.vus.soft_labels(y_true, buffer, **options), dtype=float)
    whole = figures.soft_label(y_true, buffer=buffer, **options)
    np.testing.assert_allclose(whole, expected, atol=1e-12)
    counted = figures.soft_label(y_true, buffer=buffer, y_pred=y_pred, **options)
    kept = np.maximum(y_pred, y_true).astype(bool)
    np.testing.assert_array_equal(counted, np.where(kept, whole, 0.0))


def test_label_displays_hold_soft_labels():
    soft = figures.soft_label(labels(), buffer=BUFFER)
    display = EXAMPLES["soft_label"]()
    np.testing.assert_array_equal(display.soft, soft)
    np.testing.assert_array_equal(display.prediction, score() > 0.7)
    sections = EXAMPLES["sections"]()
    np.testing.assert_array_equal(sections.dynamic, soft > 0)
    evolution = EXAMPLES["label_evolution"]()
    np.testing.assert_array_equal(evolution.soft[-1], soft)
    np.testing.assert_array_equal(evolution.soft[0], labels())
    with pytest.raises(InvalidInputError, match="`buffers` must hold at least one length"):
        figures.LabelEvolutionDisplay.from_labels(labels(), buffers=[])
    with pytest.raises(InvalidInputError, match="`buffer` must be an int >= 0, got -1"):
        figures.SoftLabelDisplay.from_labels(labels(), buffer=-1)


# Curves and surfaces


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


# One score under change


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
        labels(), score(), buffer=BUFFER, vary="ratio", series=values, measures=["auc_pr", "vus_pr"]
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
    with pytest.raises(InvalidInputError, match="`series` must be of shape"):
        figures.LabelingDisplay.from_labels([1, 2], score(), {"a": labels()}, buffer=2)


# Detectors


def test_detectors_are_shown_with_all_their_values():
    display = EXAMPLES["detector_bars"]()
    table = vuskit.evaluate_many(labels(), scored().scores, buffer=BUFFER)
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
    with pytest.raises(InvalidInputError, match="`scores` must be at most 4, got 5"):
        figures.DetectorComparisonDisplay.from_scores(labels(), five, buffer=2)
    with pytest.raises(InvalidInputError, match="`scores` must be a mapping from names to scores"):
        figures.SeriesDisplay.from_scores(labels(), score())
    with pytest.raises(InvalidInputError, match="`short` must have one number for each label"):
        figures.SeriesDisplay.from_scores(labels(), {"short": [1.0, 2.0]})


# Studies


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


def test_entropies_and_ranks():
    found = consistent().figures()
    above, below = found["entropies"].plot().axes_
    assert widths(above) == pytest.approx(consistent().averages()["entropy"].to_list())
    assert widths(below) == pytest.approx(consistent().by_family().to_list())
    ranks = found["ranks"].display(("mill",))
    pd.testing.assert_frame_equal(ranks.table, consistent().rank_table("mill"))
    lines = {line.get_label(): line.get_xdata() for line in ranks.plot().ax_.lines}
    np.testing.assert_array_equal(lines["late"], consistent().rank_table("mill").loc["late"])
    entropy = found["detectors"].display(("all data sets",))
    expected = consistent().entropies().groupby(level="detector").mean()
    pd.testing.assert_frame_equal(entropy.table.sort_index(), expected)
    with pytest.raises(InvalidInputError, match="`quantity` must be one of 'rank', 'entropy'"):
        figures.RankLinesDisplay(ranks.table, "score")


def test_scenarios_hold_all_values():
    _, values = scenarios().figures()["values"].plot().axes_
    np.testing.assert_array_equal(values.images[0].get_array(), scenarios().values)
    assert tick_texts(values, "x") == TITLES
    axes = scenarios().figures()["sweep"].plot().axes_
    curves = {line.get_label(): line.get_ydata() for axis in axes for line in axis.lines}
    for place, title in enumerate(TITLES):
        np.testing.assert_array_equal(curves[title], scenarios().sweep[:, place])


def test_scatter_and_summary():
    axis = summary().figures()["scatter"].plot().ax_
    circles = {circle.get_label(): circle for circle in axis.collections}
    points = summary().scatter()
    expected = points.rename(index=lambda name: vuskit.get_measure(name).title)
    assert set(circles) == set(expected.index)
    for name, row in expected.iterrows():
        np.testing.assert_allclose(circles[name].get_offsets()[0], row[["deviation", "z"]])
    # Small circles are drawn last; so small that they could not be seen they are drawn larger.
    drawn = [float(circle.get_sizes()[0]) for circle in axis.collections]
    assert drawn == sorted(drawn, reverse=True)
    shares = expected["ratio"] / expected["ratio"].max()
    for name in shares.index[shares > 0.05]:
        assert circles[name].get_sizes()[0] == pytest.approx(drawn[0] * shares[name])
    image = summary().figures()["ranks"].plot().ax_
    np.testing.assert_array_equal(image.images[0].get_array(), summary().ranks)
    with pytest.raises(InvalidInputError, match="`points` must be a table with the columns"):
        figures.ScatterDisplay(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(InvalidInputError, match="`ranks` must be a table"):
        figures.SummaryDisplay(pd.DataFrame())


def test_timing_shows_medians():
    display = timed(generated=False).figures()["memory"]
    axis = display.plot().axes_[2]
    dots = axis.collections[0].get_offsets()
    auc = timed(generated=False).summary().query("contestant == 'auc'")
    np.testing.assert_allclose(dots, auc[["n_points", "peak_bytes"]])
    assert axis.get_yscale() == "log"
