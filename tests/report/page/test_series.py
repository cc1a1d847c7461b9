"""The page of one series: what is in it."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest
from report.evaluated import EVIL, EVIL_SCORE, report_of

import vuskit
from vuskit.datasets.synthetic import three_scores
from vuskit.report.figures._drawing import thinned
from vuskit.report.page import series_page_html
from vuskit.report.page.document import safe_json
from vuskit.report.page.series import drawing_data


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


def numbers(text):
    found = np.frombuffer(base64.b64decode(text), dtype="<u2")
    return np.where(found == 65535, np.nan, found / 65534)


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


def test_nothing_is_fetched(demo):
    page = series_page_html(demo)
    assert not re.search(r"https?://|url\(|@import|\bsrc=", page)
    assert "default-src 'none'" in page


def test_tables_hold_the_values(demo):
    page = series_page_html(demo)
    for name, evaluation in demo.table.items():
        assert name in read(page).cells
        for value in evaluation.values():
            assert f'data-value="{value!r}"' in page
    found = [cell for cell in read(page).cells if cell.startswith(("found", "missed"))]
    expected = [
        f"found, {table.delay[i]:+.0f}" if table.found[i] else "missed"
        for i in range(10)
        for table in demo.events.values()
    ]
    assert found == expected


def test_missed_anomalies_are_named():
    labels = np.zeros(300, dtype=bool)
    labels[50:60] = labels[200:210] = True
    score = np.zeros(300)
    score[50:60] = 1.0
    page = series_page_html(report_of(labels, {"half": score}, buffer=4))
    assert "half finds 1 of 2" in page
    assert page.count('class="missed"') == 1


def test_lines_come_back(demo):
    data = drawing_data(demo)
    line = data["scores"][0]["line"]
    restored = line["low"] + numbers(line["data"]) * (line["high"] - line["low"])
    np.testing.assert_allclose(
        restored, demo.scores["good"], atol=0.51 / 65534 * (line["high"] - line["low"])
    )
    assert line["bucket"] == 1


def test_thinned_lines_keep_every_extreme():
    rng = np.random.default_rng(1)
    line = rng.standard_normal(10_007)
    kept, size = thinned(line, 1000)
    assert kept.size <= 1000
    for k, (low, high) in enumerate(kept.reshape(-1, 2)):
        part = line[k * size : (k + 1) * size]
        assert (low, high) == (part.min(), part.max())


def test_areas_are_the_measure_at_each_buffer(demo):
    data = drawing_data(demo)
    late = data["scores"][1]
    for i in (0, 7, len(data["area_widths"]) - 1):
        expected = vuskit.range_auc_pr(
            demo.labels, demo.scores["late"], buffer=data["area_widths"][i]
        )
        assert late["area_pr"][i] == pytest.approx(expected, abs=1e-6)


def test_curves_of_long_buffers_reach_the_value_of_the_table(demo):
    scores = {"late": demo.scores["late"]}
    report = report_of(demo.labels, scores, buffer=1003, measures=["range_auc_pr"])
    data = drawing_data(report)
    assert data["area_widths"][-1] == 1003
    shown = data["scores"][0]["area_pr"][-1]
    assert shown == pytest.approx(report.table["late"]["range_auc_pr"], abs=1e-6)


def test_surfaces_average_to_the_volume(demo):
    data = drawing_data(demo)
    shape = (len(data["widths"]), data["grid"])
    for score in data["scores"]:
        roc = numbers(score["roc"]).reshape(shape)
        volume = np.trapezoid(roc, dx=1 / (shape[1] - 1), axis=1).mean()
        assert volume == pytest.approx(demo.table[score["name"]]["vus_roc"], abs=0.02)
        pr = numbers(score["pr"]).reshape(shape)
        assert pr.mean() == pytest.approx(demo.table[score["name"]]["vus_pr"], abs=0.03)


@pytest.mark.parametrize("definition", ["pvldb2022", "timeeval"])
def test_other_definitions(definition):
    labels = np.arange(100) % 50 < 5
    page = series_page_html(report_of(labels, {"A": np.arange(100.0) % 7}, definition=definition))
    assert f"definition={definition}" in page


def test_series_without_values_and_with_a_constant_score():
    labels = np.arange(100) % 50 < 5
    page = series_page_html(report_of(labels, {"flat": np.ones(100)}, buffer=0))
    assert embedded(page)["values"] is None


def test_long_series_stay_small():
    n = 400_000
    labels = np.zeros(n, dtype=bool)
    labels[1000:1100] = labels[300_000:300_200] = True
    rng = np.random.default_rng(0)
    scores = {name: rng.random(n) for name in "ABC"}
    page = series_page_html(report_of(labels, scores, values=rng.random(n), measures=["auc_roc"]))
    assert len(page.encode()) < 6_000_000


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
