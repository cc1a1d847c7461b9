"""The page of one series: what is in it."""

from __future__ import annotations

import base64
import html
import json
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest
from report.evaluated import EVIL, EVIL_SCORE, report_of

from vuskit import evaluate
from vuskit.datasets.synthetic import three_scores
from vuskit.figures._drawing import thinned
from vuskit.report.page import (
    series_page_html,
)
from vuskit.report.page.document import safe_json
from vuskit.report.page.series import (
    Detail,
    drawing_data,
    empty_page_html,
    encoded_scores,
    whole_scores,
)
from vuskit.report.verdict import verdict_of_evaluation


@pytest.fixture(scope="module")
def demo():
    scored = three_scores()
    return report_of(
        scored.series.labels, dict(scored.scores), values=scored.series.values.ravel(), buffer=40
    )


@pytest.fixture(scope="module")
def evil():
    labels = np.zeros(200, dtype=bool)
    labels[50:60] = labels[120:125] = True
    rng = np.random.default_rng(0)
    scores = {
        EVIL: rng.random(200),
        EVIL_SCORE: rng.random(200) + labels,
        "a\u2028b&[[data]]": labels * 1.0,
    }
    return report_of(labels, scores, name=EVIL)


def test_verdict_of_one_series():
    rng = np.random.default_rng(0)
    labels = np.zeros(3000, dtype=bool)
    for start in range(100, 2900, 280):
        labels[start : start + 20] = True
    good, poor = (labels * level + rng.normal(0, 0.3, labels.size) for level in (1.0, 0.2))
    good[100:120] = 0.0
    found = report_of(labels, {"good": good, "poor": poor}, buffer=20)
    said = verdict_of_evaluation(found).sentences
    best, other = (found.table[name]["vus_pr"] for name in ("good", "poor"))
    assert said["leader"] == (
        f"good has the best VUS-PR, {best:.3f}, {best - other:.3f} ahead of poor."
    ).replace("0.", ".")
    interval = evaluate(labels, good, buffer=20, measures=["vus_pr"], interval=0.95).intervals
    low, high = (f"{bound:.3f}"[1:] for bound in interval["vus_pr"])
    assert said["interval"].startswith(f"good: {low} to {high} (95% interval: block bootstrap")
    assert said["significance"] == "Undecided: one series allows no test of a difference."
    missed = found.events["good"].start[~found.events["good"].found]
    count = 10 - missed.size
    assert 100 in missed
    alarms = found.events["good"].separate_alarms
    said_alarms = f"with {alarms} separate false alarm" if alarms else "without false alarms"
    assert f"good finds {count} of 10 anomalies, {said_alarms}" in said["missed"]
    assert said["missed"].endswith("; it misses those that start at 100.")
    chance = found.chance.mean["vus_pr"]
    assert said["chance"].startswith(f"Random scores get {chance:.3f} on".replace("0.", "."))
    few = verdict_of_evaluation(report_of(labels[:500], {"good": good[:500]}, buffer=20)).sentences
    assert few["interval"] == "No interval: 2 anomalies; an interval needs at least 8."
    assert "significance" not in few
    page = series_page_html(found)
    assert all(html.escape(text) in page for text in said.values())
    assert verdict_of_evaluation(found, interval=False).sentences.keys() == said.keys() - {
        "interval"
    }


class Reader(HTMLParser):
    """Elements, and the text of tables."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.cells, self.open = [], [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag in ("td", "th"):
            self.cells.append("")
            self.open = True

    def handle_endtag(self, tag):
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data


def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


def embedded(page):
    return json.loads(re.search(r'id="data-series">(.*?)</script>', page, re.DOTALL)[1])


def decoded(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def restored(encoded):
    """A score as the scripts read it."""
    for kind in ("f8", "f4"):
        if kind in encoded:
            return decoded(encoded[kind], f"<{kind}").astype(float)
    return decoded(encoded["levels"], "<f8")[decoded(encoded["codes"], "<u2")]


def test_names_from_files_are_text(evil):
    reader = read(series_page_html(evil))
    assert "img" not in reader.tags
    assert reader.tags.count("script") == 3
    assert not [found for found in reader.attributes if found[1].startswith("on")]
    assert EVIL in reader.cells
    assert EVIL_SCORE in reader.cells
    assert [score["name"] for score in embedded(series_page_html(evil))["scores"]] == list(
        evil.scores
    )


def test_embedded_data_cannot_end_its_element():
    text = safe_json({"a": "</script>&\u2028\u2029"})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {"a": "</script>&\u2028\u2029"}


@pytest.mark.parametrize("make", [lambda demo: series_page_html(demo), lambda _: empty_page_html()])
def test_nothing_is_fetched(demo, make):
    page = make(demo)
    # The name of a format of SVG is no address that is asked.
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\((?!#)|@import|\bsrc=", page)
    assert "default-src 'none'" in page


def test_the_table_without_scripts_holds_all_values(demo):
    page = series_page_html(demo)
    header = read(page).cells[:4]
    assert header == ["detector", "VUS-PR", "VUS-ROC", "R-AUC-PR"]
    for name, evaluation in demo.table.items():
        assert name in read(page).cells
        for value in evaluation.values():
            assert f'data-value="{value!r}"' in page


def test_data_hold_the_values_of_python(demo):
    data = drawing_data(demo)
    for score in data["scores"]:
        assert score["values"] == dict(demo.table[score["name"]])
        assert score["threshold"] == demo.events[score["name"]].threshold
    assert data["chance"]["mean"] == demo.chance.mean
    assert [one["name"] for one in data["measures"]][:2] == ["vus_pr", "vus_roc"]


# --- scores --------------------------------------------------------------------------------------


def test_scores_come_back_exactly(demo):
    rng = np.random.default_rng(0)
    cases = {
        "f8": rng.random(1000),
        "f4": rng.integers(0, 1 << 20, 1000).astype(float),
        "codes": np.round(rng.random(1000), 2),
    }
    for kind, score in cases.items():
        encoded = encoded_scores(score)
        assert kind in encoded
        np.testing.assert_array_equal(restored(encoded), score)
    for score in drawing_data(demo)["scores"]:
        np.testing.assert_array_equal(restored(score["data"]), demo.scores[score["name"]])


def test_scores_that_do_not_fit_keep_their_order_or_their_peaks(demo):
    assert whole_scores(demo)
    middle = Detail(score_bytes=200_000, line_bytes=10_000)
    for score in drawing_data(demo, middle)["scores"]:
        found, own = restored(score["data"]), demo.scores[score["name"]]
        np.testing.assert_allclose(found, own, rtol=1e-7)
        assert ("tied" in score["data"]) == (np.unique(found).size < np.unique(own).size)
    small = Detail(score_bytes=100_000, line_bytes=10_000)
    assert not whole_scores(demo, small)
    for score in drawing_data(demo, small)["scores"]:
        own, thin = demo.scores[score["name"]], score["data"]
        pairs = decoded(thin["pairs"], "<f4").reshape(-1, 2)
        for k in (0, 7, len(pairs) - 1):
            part = own[k * thin["bucket"] : (k + 1) * thin["bucket"]]
            assert pairs[k] == pytest.approx([part.min(), part.max()], rel=1e-6)
        kept = np.concatenate([own[start:stop] for start, stop in thin["regions"]])
        np.testing.assert_allclose(decoded(thin["near"], "<f4"), kept, rtol=1e-6)
        inside = np.concatenate([np.arange(*region) for region in thin["regions"]])
        assert set(np.flatnonzero(demo.labels)) <= set(inside)
        letters = sum(len(thin[name]) for name in ("pairs", "near"))
        assert letters <= small.score_bytes / len(demo.scores) * 1.05


def test_thinned_lines_keep_every_extreme():
    rng = np.random.default_rng(1)
    line = rng.standard_normal(10_007)
    kept, size = thinned(line, 1000)
    assert kept.size <= 1000
    for k, (low, high) in enumerate(kept.reshape(-1, 2)):
        part = line[k * size : (k + 1) * size]
        assert (low, high) == (part.min(), part.max())


# --- channels and times --------------------------------------------------------------------------


def with_axis(dates=None, channels=None):
    labels = np.arange(100) % 50 < 5
    report = report_of(labels, {"A": np.arange(100.0) % 7})
    object.__setattr__(report, "dates", dates)
    object.__setattr__(report, "channels", channels or {})
    return drawing_data(report)


def test_first_channel_is_the_one_that_deviates_most():
    rng = np.random.default_rng(0)
    labels = np.arange(100) % 50 < 5
    noise = rng.standard_normal((3, 100))
    channels = {"calm": noise[0], "busy": noise[1] + 9 * labels, "wide": 100 * noise[2]}
    data = with_axis(channels=channels)
    assert [one["name"] for one in data["channels"]] == list(channels)
    assert data["channel"] == 1


def read_times(times):
    """Read the times of a page as its script does."""
    if "steps" in times:
        steps = np.frombuffer(base64.b64decode(times["steps"]), dtype="<u4")
        ms = times["first"] + np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
    else:
        points = np.arange(times["index"][-1] + 1)
        ms = np.interp(points, times["index"], times["ms"]).round().astype(np.int64)
    return ms.astype("M8[ms]")


def test_missing_minutes_are_gaps_and_times_are_real(monkeypatch):
    minutes = np.delete(np.arange(130), [*range(20, 40), *range(70, 80)])
    dates = np.datetime64("2024-01-01T10:00") + minutes * np.timedelta64(1, "m")
    times = with_axis(dates)["times"]
    np.testing.assert_array_equal(read_times(times), dates.astype("M8[ms]"))
    assert len(times["index"]) == 6
    assert times["gaps"] == [19, 49]
    monkeypatch.setattr("vuskit.report.page.series._MOST_KNOTS", 3)
    times = with_axis(dates)["times"]
    np.testing.assert_array_equal(read_times(times), dates.astype("M8[ms]"))
    monkeypatch.setattr("vuskit.report.page.series._MOST_STEPS", 50)
    assert with_axis(dates)["times"]["approximate"]
    assert "approximate" not in times


def test_times_are_even_or_listed():
    start = np.datetime64("2024-01-01T00:00")
    even = with_axis(start + np.arange(100) * np.timedelta64(5, "m"))["times"]
    assert even == {"first": 1_704_067_200_000, "step": 300_000.0}
    jumps = np.cumsum(1 + np.arange(100) % 3)
    dates = start + jumps * np.timedelta64(1, "h")
    uneven = with_axis(dates)["times"]
    np.testing.assert_array_equal(read_times(uneven), dates.astype("M8[ms]"))
    assert uneven["gaps"] == []
    assert with_axis(start + np.zeros(100, dtype="m8[s]"))["times"] is None


@pytest.mark.parametrize("definition", ["pvldb2022", "timeeval"])
def test_other_definitions(definition):
    labels = np.arange(100) % 50 < 5
    page = series_page_html(report_of(labels, {"A": np.arange(100.0) % 7}, definition=definition))
    assert f"definition={definition}" in page
    assert embedded(page)["settings"]["definition"]["name"] == definition


def test_series_without_values_and_with_a_constant_score():
    labels = np.arange(100) % 50 < 5
    page = series_page_html(report_of(labels, {"flat": np.ones(100)}, buffer=0))
    assert embedded(page)["channels"] == []


# --- sizes ---------------------------------------------------------------------------------------


def report_of_size(n, detectors):
    labels = np.zeros(n, dtype=bool)
    labels[1000:1100] = labels[n - 900 : n - 700] = True
    rng = np.random.default_rng(0)
    scores = {f"detector {k}": rng.random(n) for k in range(detectors)}
    return report_of(labels, scores, values=rng.random(n), measures=["auc_roc"])


@pytest.mark.parametrize(
    ("n", "detectors", "most"), [(20_000, 12, 3_000_000), (400_000, 3, 6_000_000)]
)
def test_pages_stay_small(n, detectors, most):
    assert len(series_page_html(report_of_size(n, detectors)).encode()) < most


def test_the_empty_page_is_small():
    assert len(empty_page_html().encode()) < 500_000


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_contrast_of_all_text(theme):
    css = (resources.files("vuskit.report.page") / "assets" / "page.css").read_text()
    block = css[css.index(theme) :].partition("}")[0]
    colors = dict(re.findall(r"--(\w+): (#\w{6})", block))
    for text in ("ink", "quiet", "found", "missed"):
        for ground in ("paper", "panel"):
            one, other = sorted((luminance(colors[text]), luminance(colors[ground])))
            assert (other + 0.05) / (one + 0.05) >= 4.5, (text, ground)
