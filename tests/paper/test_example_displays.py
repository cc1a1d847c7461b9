"""Displays of the paper's figures about single series."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from studies.scored import make_several

import vuskit
from vuskit.datasets import ScoredSeries, Series, read_scores
from vuskit.datasets.synthetic import three_scores
from vuskit.figures._drawing import ACCURATE, INACCURATE, INACCURATE_LINE
from vuskit.measures.registry import resolve_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.paper.concept_figures import (
    changed_cases,
    compared_detectors,
    labelings,
    part_around_anomaly,
)
from vuskit.paper.study_figures import pairs_display
from vuskit.studies import run_study

BUFFER = 40
SETTINGS = EvaluationSettings(buffer=BUFFER, volume_factor=2.0)
PAPER = resolve_measures("paper")


@pytest.fixture(scope="module")
def scored():
    return three_scores()


def test_part_reaches_to_both_sides_of_the_median_anomaly(scored):
    part = part_around_anomaly(scored, 30)
    (start,) = np.flatnonzero(scored.scores["noisy"] == part.scores["noisy"][0])
    lengths = sorted(stop - first for first, stop in scored.series.events)
    first, stop = part.series.events[0]
    assert stop - first == lengths[(len(lengths) - 1) // 2]
    assert (first, part.series.n_points - stop) == (30, 30)
    kept = slice(start, start + part.series.n_points)
    np.testing.assert_array_equal(part.series.labels, scored.series.labels[kept])
    np.testing.assert_array_equal(part.scores["late"], scored.scores["late"][kept])


def test_changed_cases_shade_the_anomalies_where_they_are(scored):
    display = changed_cases(scored, "noisy", BUFFER, SETTINGS, PAPER)
    panels = display.to_dict()["panels"]
    assert list(panels) == ["threshold", "lag", "noise", "ratio"]
    whole = panels["ratio"]["events"]
    for case in panels["ratio"]["cases"]:
        score = case["score"]
        expected = [
            [max(start, score["start"]), min(stop, score["stop"])]
            for start, stop in whole
            if stop > score["start"] and start < score["stop"]
        ]
        assert case["events"] == expected
    starts = [case["score"]["start"] for case in panels["ratio"]["cases"]]
    assert max(starts) > 0  # a crop
    for panel in panels.values():
        first, second = (np.array(case["values"]) for case in panel["cases"])
        np.testing.assert_allclose(panel["differences"], second - first)
    assert len(display.plot().axes_) == 4 * 5


def test_volume_of_the_cases_has_the_factor_of_the_settings(scored):
    display = changed_cases(scored, "noisy", BUFFER, SETTINGS, resolve_measures(["vus_pr"]))
    first = display.panels["lag"].cases[0]
    expected = vuskit.vus_pr(first.y_true, first.y_score, buffer=2 * BUFFER)
    assert first.values[0] == pytest.approx(expected)


def test_without_two_crops_the_ratio_is_left_out():
    labels = np.tile([0, 0, 1, 1], 25)
    dense = ScoredSeries(Series("dense", "docs", labels, labels), {"a": np.arange(100.0)})
    display = changed_cases(dense, "a", 4, SETTINGS, resolve_measures(["auc_pr"]))
    assert list(display.panels) == ["threshold", "lag", "noise"]


def values_of(scored, detectors, settings):
    scores = {name: scored.scores[name] for name in detectors}
    found = vuskit.evaluate_many(scored.series.labels, scores, settings=settings)
    return found.to_frame().T


def test_compared_detectors_have_the_values_of_the_settings(scored):
    display = compared_detectors(
        scored, BUFFER, SETTINGS, PAPER, values_of(scored, ("noisy", "late"), SETTINGS)
    )
    for name in ("noisy", "late"):
        expected = vuskit.evaluate(scored.series.labels, scored.scores[name], settings=SETTINGS)
        assert display.bars.values[name]["vus_pr"] == pytest.approx(expected["vus_pr"])
        assert display.pr[name].buffered_area == pytest.approx(expected["range_auc_pr"])
        assert display.roc_surface[name].volume == pytest.approx(expected["vus_roc"])


def test_labelings_cover_different_points(scored):
    sizes = {name: int(label.sum()) for name, label in labelings(scored, 10).items()}
    assert sizes["middle third"] < sizes["first half"] < sizes["as labeled"]
    assert sizes["as labeled"] < sizes["with surroundings"]


def test_scores_of_the_pairs_stand_above_their_boxes():
    several = make_several()
    separable = run_study(
        "separability", several, count=4, measures=["f_score", "vus_pr"], buffer=24
    )
    named = {f"{one.series.dataset}/{one.series.name}": one for one in several}
    studied = next(one for one in separable.values if one.notes["pairs"])
    pair = tuple(studied.notes["pairs"][-1])
    frame = separable.to_frame()
    own = frame[(frame["series"] == studied.series) & (frame["dataset"] == studied.dataset)]
    z = own.set_index(["accurate", "inaccurate", "measure"])["z"]
    display = pairs_display(separable, named[studied.name], [pair], z)
    assert set(display.scores.lines) == {"series", *pair}
    np.testing.assert_array_equal(display.z[0], z[pair])
    _, good, bad, boxes = display.plot().axes_
    assert to_rgb(good.lines[0].get_color()) == to_rgb(ACCURATE)
    assert to_rgb(bad.lines[0].get_color()) == to_rgb(INACCURATE_LINE)
    assert good.lines[0].get_linestyle() != bad.lines[0].get_linestyle()
    hatches = {patch.get_hatch() for patch in boxes.patches}
    assert len(hatches) == 2  # distinct without color
    gray = [float(np.dot(to_rgb(one), (0.299, 0.587, 0.114))) for one in (ACCURATE, INACCURATE)]
    assert abs(gray[0] - gray[1]) > 0.3


@pytest.mark.skipif("VUSKIT_TEST_DATA" not in os.environ, reason="VUSKIT_TEST_DATA is not set")
def test_range_aware_measures_prefer_the_autoencoder_on_a_heartbeat():
    path = Path(os.environ["VUSKIT_TEST_DATA"]) / "data/scores/ECG/MBA_ECG805_data.out.csv.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the test data")
    scored = read_scores(path)
    series = scored.series
    published = EvaluationSettings(buffer="authors", volume_factor=2.0)
    buffer = published.choose_buffer(values=series.values, y_true=series.labels).length
    values = values_of(scored, ("AE", "OCSVM"), published.replace(buffer=buffer))
    assert values["OCSVM"]["auc_pr"] > values["AE"]["auc_pr"]
    for name in ("range_auc_pr", "vus_pr", "vus_roc"):
        assert values["AE"][name] > values["OCSVM"][name]
