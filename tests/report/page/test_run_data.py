"""Numbers on the page of a run: tests of each data set, and what becomes of very large runs."""

from __future__ import annotations

import base64
import dataclasses
import json
import re

import numpy as np
import pytest
from report.evaluated import report_of
from report.made_runs import LATE, SIZES, made_run

import vuskit
from vuskit.errors import InvalidInputError
from vuskit.report.page import run_page_html
from vuskit.report.page.document import safe_json
from vuskit.report.page.run_data import (
    MOST_BYTES,
    PAGE_BYTES,
    fits_exactly,
    packed_rows,
    run_comparisons,
    run_data,
    run_that_fits,
)
from vuskit.statistics.comparison import compare


def unpacked(packed, shape):
    codes = np.frombuffer(base64.b64decode(packed["data"]), dtype="<u2").reshape(shape)
    low, high = (np.array(packed[end])[:, None] for end in ("low", "high"))
    found = low + np.where(codes == 65535, np.nan, codes / 65534) * (high - low)
    return 10**found if packed["log"] else found


def embedded(page):
    return json.loads(re.search(r'id="data-run">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def compared():
    run = made_run(measures=("vus_pr", LATE.name))
    return run, run_comparisons(run)


@pytest.mark.parametrize("dataset", [None, "middle", "large"])
@pytest.mark.parametrize(("measure", "higher"), [("vus_pr", True), (LATE.name, False)])
def test_tests_of_a_data_set_are_those_of_compare(compared, dataset, measure, higher):
    run, comparisons = compared
    table = run.to_frame()
    if dataset is not None:
        table = table[table["dataset"] == dataset]
    expected = compare(table, measure=measure, higher_is_better=higher)
    key = f"0,{run.measures.index(measure)}"
    key += "" if dataset is None else f",{run.datasets.index(dataset)}"
    found = comparisons[key]
    assert [run.detectors[place] for place in found["detectors"]] == list(expected.summary.index)
    np.testing.assert_allclose(found["ranks"], expected.summary["mean_rank"], atol=5e-5)
    # The texts hold statistic, p-value, W, alpha and n.
    assert found["tests"] == " ".join(f"{text}." for text in expected.tests)
    groups = [tuple(run.detectors[place] for place in group) for group in found["groups"]]
    assert groups == list(expected.groups)
    assert found["n"] == (sum(SIZES.values()) if dataset is None else SIZES[dataset])


def test_verdicts_are_those_of_the_compared_series():
    run = made_run(measures=("vus_pr", LATE.name))
    chance = np.full((1, 2, len(run.series)), 0.25)
    chance[0, 0, 0] = 0.95
    found = run_comparisons(dataclasses.replace(run, chance=chance))
    mean = f"{(0.25 * 69 + 0.95) / 70:.3f}"[1:]
    for key, series in (("0,0", range(70)), ("0,0,0", range(9)), ("0,1", range(70))):
        said = found[key]["verdict"]["sentences"]
        m = int(key[2])
        means = dict(zip(run.detectors, run.values[0, m][:, series].mean(axis=1), strict=True))
        del means["none"]
        best = (min if m else max)(means, key=means.get)
        title = run.measure(run.measures[m]).title
        number = f"{means[best]:.3f}"[1:]
        text = f"{best} has the best mean {title}, {number} over {len(series)} series, "
        assert said["leader"].startswith(text)
        assert "by" in said["measures"] or "measure" in said["measures"]
    assert f"Random scores get {mean} " in found["0,0"]["verdict"]["sentences"]["chance"]
    assert "of 9 series" in found["0,0,0"]["verdict"]["sentences"]["weakness"]
    assert "data sets" in found["0,0"]["verdict"]["sentences"]["weakness"]
    assert "chance" not in run_comparisons(run)["0,0"]["verdict"]["sentences"]


@pytest.mark.parametrize(("measure", "higher"), [("vus_pr", True), (LATE.name, False)])
def test_pairs_and_means_are_those_of_the_displays(compared, measure, higher):
    run, comparisons = compared
    m = run.measures.index(measure)
    expected = compare(run.to_frame(), measure=measure, higher_is_better=higher)
    found = comparisons[f"0,{m}"]
    cells = expected.matrix().data()["cells"]
    above = [line[column] for row, line in enumerate(cells) for column in range(row + 1, len(line))]
    for packed, cell in zip(found["matrix"]["cells"], above, strict=True):
        assert packed == pytest.approx([float(value) for value in cell.values()], rel=1e-4)
    (panel,) = expected.forest().data()["panels"]
    for packed, item in zip(found["forest"]["items"], panel["items"], strict=True):
        assert run.detectors[packed[0]] == item["title"]
        numbers = [item[name] for name in ("value", "lower", "upper")]
        assert packed[1:] == pytest.approx(numbers, rel=1e-4)


def test_too_few_to_test():
    found = run_comparisons(made_run())
    told = "tests need two or more series with values of all detectors, got 1 of 1"
    assert found["0,0,2"] == {"error": told}
    alone = run_comparisons(made_run(sizes={"all": 5}, detectors=("one", "none")))
    assert alone["0,0"]["error"].startswith("tests need two or more detectors with values, got 1")
    assert alone["0,0,0"] == alone["0,0"]


def test_comparisons_of_the_largest_data_sets_come_first(monkeypatch):
    run = made_run()
    of_one = len(json.dumps(run_comparisons(run)["0,0,1"]))
    monkeypatch.setattr("vuskit.report.page.run_data.MOST_BYTES", of_one + 50)
    assert set(run_comparisons(run)) == {"0,0", "0,0,1"}


@pytest.mark.parametrize("log", [False, True])
def test_two_bytes_are_enough(log):
    rng = np.random.default_rng(0)
    rows = 10 ** rng.normal(size=(3, 500)) if log else rng.normal(size=(3, 500)) * 1e6
    rows[1] = 7.0
    rows[2, ::5] = np.nan
    found = unpacked(packed_rows(rows, log=log), rows.shape)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(rows))
    there = ~np.isnan(rows)
    if log:
        np.testing.assert_allclose(found[there], rows[there], rtol=3e-4)
    else:
        spans = np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1)
        assert (np.nanmax(np.abs(found - rows), axis=1) <= spans / 65534 / 2 * 1.0001).all()


def test_nothing_packs_to_nothing():
    packed = packed_rows(np.full((2, 3), np.nan))
    assert packed["low"] == packed["high"] == [0.0, 0.0]
    assert np.isnan(unpacked(packed, (2, 3))).all()


def test_large_runs_are_rounded_and_say_so(monkeypatch):
    monkeypatch.setattr("vuskit.report.page.run_data._EXACT_BYTES", 100)
    run = made_run(measures=("auc_pr", "vus_pr"))
    page = run_page_html(run)
    data = embedded(page)
    found = unpacked(data["values"], (2, run.values.size // 2)).reshape(run.values.shape)
    np.testing.assert_allclose(found, run.values, atol=1e-5)
    assert "Values are rounded to 1/65,534 of each measure" in page
    assert "Values are rounded" not in run_page_html(made_run(sizes={"few": 2}, measures=()))


def test_measures_that_do_not_fit_are_named():
    measures = ("precision", "recall", "auc_pr", "vus_pr")
    run = made_run(measures=measures)
    each = run.values[:, :1].size * 8 / 3
    smaller, left_out = run_that_fits(run, int(2.5 * each))
    assert smaller.measures == ("precision", "vus_pr")
    assert left_out == ("recall", "auc_pr")
    np.testing.assert_array_equal(smaller.values, run.values[:, [0, 3]])
    assert run_that_fits(run, int(4 * each) + 1)[1] == ()
    with pytest.raises(InvalidInputError, match="`vuskit bench export` writes them as a table"):
        run_that_fits(run, int(0.9 * each))


def test_pages_of_very_large_runs(monkeypatch):
    # As if a page were small: what comes of the sizes is the same.
    monkeypatch.setattr("vuskit.report.page.run.PAGE_BYTES", 1_081_000)
    run = made_run(
        sizes={"a": 1500, "b": 1500},
        detectors=tuple(f"d{i}" for i in range(5)),
        measures=("precision", "auc_pr", "vus_pr"),
    )
    page = run_page_html(dataclasses.replace(run, values=run.values.round(2)))
    assert [one["name"] for one in embedded(page)["measures"]] == ["vus_pr"]
    assert "2 measures did not fit into the page: precision, auc_pr;" in page


def test_size_of_a_very_large_run():
    run = made_run(
        sizes={f"data set {i}": 150 for i in range(20)},
        detectors=tuple(f"detector {i}" for i in range(30)),
        measures=tuple(f"measure {i}" for i in range(13)),
    )
    assert not fits_exactly(run, PAGE_BYTES)
    assert len(safe_json(run_data(run, {}, exact=False))) < 4_400_000 - MOST_BYTES


def test_single_precision_while_it_fits():
    run = made_run()
    assert fits_exactly(run, PAGE_BYTES)
    assert isinstance(run_data(run, {})["values"], str)
    assert isinstance(run_data(run, {}, exact=False)["seconds"], dict)


def test_nobody_is_best_where_all_are_alike():
    labels = np.repeat([False, True, False], [40, 10, 50])
    rising = np.arange(100.0)
    report = report_of(labels, {"one": rising, "same": 2 * rising, "good": labels * 1.0}, buffer=6)
    assert report.best(vuskit.get_measure("vus_pr")) == {"good"}
    alike = report_of(labels, {"one": rising, "same": 2 * rising}, buffer=6)
    assert all(alike.best(measure) == set() for measure in alike.measures)
