"""Figures of the paper from results of studies: chosen series, detectors and data sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from studies.scored import make_several

from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import ACCURATE, INACCURATE, INACCURATE_LINE
from vuskit.studies import compare, consistency_study, robustness_study, separability_study
from vuskit.studies.exhibits import (
    centered_values,
    consistency_panels,
    detector_differences,
    robustness_and_separability,
    separability_by_dataset,
    separability_example,
)

CHOSEN = {"measures": ["f_score", "range_f_score", "auc_pr", "vus_pr"], "buffer": 24}


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def consistent(several):
    return consistency_study(several, **CHOSEN)


@pytest.fixture(scope="module")
def separable(several):
    return separability_study(several, count=4, **CHOSEN)


def test_differences_are_those_of_the_values_on_the_data_set(consistent):
    frame = consistent.to_frame()
    dataset = frame["dataset"].iloc[0]
    display = detector_differences(consistent, dataset)
    assert list(display.panels) == ["F", "RF"]
    rows = frame[(frame["dataset"] == dataset) & (frame["measure"] == "f_score")]
    table = rows.pivot_table(index="series", columns="detector", values="value")
    expected = compare(table, alpha=0.1).figure()
    found = display.panels["F"]
    assert found.ranks.to_dict() == pytest.approx(expected.ranks.to_dict())
    assert [set(group) for group in found.groups] == [set(group) for group in expected.groups]
    assert "alpha = 0.1" in display.caption
    with pytest.raises(InvalidInputError, match="`dataset` must be"):
        detector_differences(consistent, "nowhere")
    with pytest.raises(InvalidInputError, match="`measures` must be"):
        detector_differences(consistent, dataset, measures=["vus_roc"])


@pytest.fixture(scope="module")
def robust(several):
    return robustness_study(several, count=3, **CHOSEN)


def test_scatter_has_the_mean_with_the_median_next_to_it(robust, separable):
    display = robustness_and_separability(robust, separable)
    averages = separable.averages()
    np.testing.assert_array_equal(display.points["z"], averages["mean"])
    data = display.to_dict()
    expected = [one if np.isfinite(one) else str(one) for one in averages["median"]]
    assert data["other_z"] == expected
    deviation = robust.averages()[["lag", "noise"]].mean(axis=1)
    np.testing.assert_allclose(data["deviation"], deviation)
    dashes = [line for line in display.plot().ax_.lines if line.get_marker() == "_"]
    assert len(dashes) == int(np.isfinite(averages[["mean", "median"]]).all(axis=1).sum())
    only_lag = replace(robust, study=replace(robust.study, perturbations=("lag",)))
    with pytest.raises(InvalidInputError):
        robustness_and_separability(only_lag, separable)


def test_centered_values_have_a_panel_for_each_detector(robust):
    result = robust
    last = result.values[-1]
    detectors = last.axes["detector"]
    display = centered_values(result, last.name, perturbation="noise", detectors=detectors[1:])
    assert display.series == last.name
    assert tuple(display.panels) == tuple(detectors[1:])
    raw = last.values[1, 1]  # noise of the second detector
    np.testing.assert_allclose(display.panels[detectors[1]].to_numpy(), raw - raw.mean(axis=0))
    with pytest.raises(InvalidInputError, match="`detectors` must be"):
        centered_values(result, detectors=["nobody"])


def test_scores_of_the_pairs_stand_above_their_boxes(separable, several):
    named = {f"{one.series.dataset}/{one.series.name}": one for one in several}
    studied = next(one for one in separable.values if one.notes["pairs"])
    scored = named[studied.name]
    pair = tuple(studied.notes["pairs"][-1])
    display = separability_example(separable, scored, pairs=[pair])
    assert display.pairs == [pair]
    assert set(display.scores.lines) == {"series", *pair}
    frame = separable.to_frame()
    own = frame[(frame["series"] == studied.series) & (frame["dataset"] == studied.dataset)]
    own = own[(own["accurate"] == pair[0]) & (own["inaccurate"] == pair[1])]
    np.testing.assert_array_equal(display.z[0], own["z"])
    _, good, bad, boxes = display.plot().axes_
    assert to_rgb(good.lines[0].get_color()) == to_rgb(ACCURATE)
    assert to_rgb(bad.lines[0].get_color()) == to_rgb(INACCURATE_LINE)
    assert good.lines[0].get_linestyle() != bad.lines[0].get_linestyle()
    hatches = {patch.get_hatch() for patch in boxes.patches}
    assert len(hatches) == 2  # told apart without color
    gray = [float(np.dot(to_rgb(one), (0.299, 0.587, 0.114))) for one in (ACCURATE, INACCURATE)]
    assert abs(gray[0] - gray[1]) > 0.3
    with pytest.raises(InvalidInputError, match="pair must be among those studied"):
        separability_example(separable, scored, pairs=[pair[::-1]])


def test_z_by_data_set_shows_means_with_medians(separable):
    display = separability_by_dataset(separable)
    means = separable.by_series().groupby(level="dataset").mean()
    for dataset in means.index:
        np.testing.assert_allclose(display.table[dataset], means.loc[dataset])
    averages = separable.averages()
    np.testing.assert_allclose(display.table["overall"], averages["mean"])
    np.testing.assert_allclose(display.marks["overall"], averages["median"])
    panel = display.to_dict()["panels"][0]
    marks = display.plot().axes_[0].lines[0]
    finite = [one for one in panel["marks"] if isinstance(one, float)]
    np.testing.assert_array_equal(marks.get_xdata(), finite)
    with pytest.raises(InvalidInputError, match="`datasets` must be"):
        separability_by_dataset(separable, ["nowhere"])


def test_consistency_overall_and_on_chosen_data_sets(consistent):
    known = consistent.by_dataset().index.tolist()
    display = consistency_panels(consistent, known[-1:])
    assert [one.dataset for one in display.ranks] == [None, known[-1]]
    expected = consistent.rank_table(known[-1])
    np.testing.assert_array_equal(display.ranks[1].table, expected[display.ranks[1].table.columns])
    np.testing.assert_array_equal(display.entropies[1].table, consistent.entropies().loc[known[-1]])
    families = {one["family"]: one["value"] for one in display.to_dict()["entropy"]["by_family"]}
    assert families == pytest.approx(consistent.by_family().to_dict())
    assert len(display.plot().axes_) == 1 + 2 * 2
    with pytest.raises(InvalidInputError, match="`datasets` must be"):
        consistency_panels(consistent, ["nowhere"])
