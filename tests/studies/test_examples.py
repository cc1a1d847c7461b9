"""Figures of one series, from one call each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import vuskit
from vuskit.datasets import ScoredSeries, Series, read_scores
from vuskit.errors import InvalidInputError
from vuskit.measures.settings import EvaluationSettings
from vuskit.studies import examples
from vuskit.studies.examples import example_series, part_around_anomaly

BUFFER = 40
SETTINGS = EvaluationSettings(buffer=BUFFER, volume_factor=2.0)


@pytest.fixture(scope="module")
def scored():
    return example_series()


def inside(scored, part):
    """First point of a part in the whole series."""
    whole, own = scored.scores["noisy"], part.scores["noisy"]
    (start,) = np.flatnonzero(whole == own[0])
    np.testing.assert_array_equal(whole[start : start + own.size], own)
    return int(start)


def test_part_reaches_to_both_sides_of_the_median_anomaly(scored):
    part = part_around_anomaly(scored, 30)
    start = inside(scored, part)
    lengths = sorted(stop - first for first, stop in scored.series.events)
    first, stop = part.series.events[0]
    assert stop - first == lengths[(len(lengths) - 1) // 2]
    assert (first, part.series.n_points - stop) == (30, 30)
    kept = slice(start, start + part.series.n_points)
    np.testing.assert_array_equal(part.series.labels, scored.series.labels[kept])


def test_sensitivity_shades_the_anomalies_where_they_are(scored):
    display = examples.sensitivity_example(scored, "noisy", settings=SETTINGS)
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
    axes = display.plot().axes_
    assert len(axes) == 4 * 5


def test_volume_of_the_cases_reaches_as_far_as_the_settings_say(scored):
    display = examples.sensitivity_example(scored, "noisy", settings=SETTINGS, measures=["vus_pr"])
    first = display.panels["lag"].cases[0]
    expected = vuskit.vus_pr(first.y_true, first.y_score, buffer=2 * BUFFER)
    assert first.values[0] == pytest.approx(expected)


def test_without_two_crops_the_ratio_is_left_out():
    labels = np.tile([0, 0, 1, 1], 25)
    dense = ScoredSeries(Series("dense", "docs", labels, labels), {"a": np.arange(100.0)})
    display = examples.sensitivity_example(dense, settings=SETTINGS.replace(buffer=4))
    assert list(display.panels) == ["threshold", "lag", "noise"]


def test_comparison_has_curves_surfaces_and_values_of_the_settings(scored):
    display = examples.comparison_example(scored, ["noisy", "late"], settings=SETTINGS)
    labels = scored.series.labels
    for name in ("noisy", "late"):
        score = scored.scores[name]
        expected = vuskit.evaluate(labels, score, settings=SETTINGS)
        assert display.bars.values[name]["vus_pr"] == pytest.approx(expected["vus_pr"])
        assert display.pr[name].buffered_area == pytest.approx(expected["range_auc_pr"])
        assert display.roc_surface[name].volume == pytest.approx(expected["vus_roc"])
    assert "buffers 0 to 80" in display.caption
    with pytest.raises(InvalidInputError, match="`detector` must be"):
        examples.comparison_example(scored, ["noisy", "LOF"])


@pytest.mark.parametrize(
    "name",
    [
        "labeling_example", "measures_example", "extension_example", "sections_example",
        "evolution_example",
    ],
)  # fmt: skip
def test_illustrations_say_what_they_show(scored, name):
    display = getattr(examples, name)(scored, "late", settings=SETTINGS)
    assert "synthetic" in display.title or scored.series.name in display.title
    assert display.caption.endswith(".")
    assert display.to_dict()["kind"] == display.kind
    assert display.plot().axes_


def test_labeling_strategies_cover_different_points(scored):
    labels = examples.labeling_example(scored, settings=SETTINGS).labels
    sizes = {name: int(label.sum()) for name, label in labels.items()}
    assert sizes["middle third"] < sizes["first half"] < sizes["as labeled"]
    assert sizes["as labeled"] < sizes["with surroundings"]


def test_series_without_anomalies_or_scores_are_refused():
    plain = Series("plain", "docs", np.arange(9.0), np.zeros(9, dtype=int))
    with pytest.raises(InvalidInputError, match="`scored` must hold an anomaly"):
        part_around_anomaly(ScoredSeries(plain, {"a": np.arange(9.0)}), 2)
    one = Series("one", "docs", np.arange(9.0), [0, 0, 0, 0, 1, 0, 0, 0, 0])
    with pytest.raises(InvalidInputError, match="`scored` must hold scores"):
        examples.sections_example(ScoredSeries(one, {}), settings=SETTINGS.replace(buffer=2))


@pytest.mark.skipif("VUSKIT_TEST_DATA" not in os.environ, reason="VUSKIT_TEST_DATA is not set")
def test_range_aware_measures_prefer_the_autoencoder_on_a_heartbeat():
    path = Path(os.environ["VUSKIT_TEST_DATA"]) / "data/scores/ECG/MBA_ECG805_data.out.csv.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the test data")
    values = examples.comparison_example(read_scores(path), ["AE", "OCSVM"]).bars.values
    assert values["OCSVM"]["auc_pr"] > values["AE"]["auc_pr"]
    for name in ("range_auc_pr", "vus_pr", "vus_roc"):
        assert values["AE"][name] > values["OCSVM"][name]
