"""The page of a run: its data against the store, and what it must survive."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import sqlite3
from contextlib import closing
from html.parser import HTMLParser

import numpy as np
import pytest
from report.runs import (
    EVIL,
    EVIL_SCORE,
    ONLY_FAILURES,
    TWO_SETTINGS,
    run_inline,
    write_plan,
    write_series,
)

import vuskit
from vuskit.bench import (
    Run,
)
from vuskit.errors import InvalidInputError
from vuskit.measures.chance import chance_level
from vuskit.measures.registry import measure_called
from vuskit.report.page import run_page_html
from vuskit.report.page.series import series_section
from vuskit.report.run_report import RunReport, series_report
from vuskit.studies import compare


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("bench")
    write_series(base)
    return run_inline(write_plan(base))


@pytest.fixture(scope="module")
def run(folder):
    return RunReport.read(folder)


@pytest.fixture(scope="module")
def page(run):
    return run_page_html(run)


class Tags(HTMLParser):
    """Elements and their attributes; the parser also looks into templates."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def embedded(page, key):
    found = re.search(rf'id="data-{key}">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def numbers(text, shape):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)


def test_values_are_means_over_seeds(run, folder):
    table = Run(folder).values()
    assert set(table["seed"].dropna()) == {0, 1}
    means = table.groupby(["measure", "detector", "dataset", "series"])["value"].mean()
    assert np.isfinite(run.values).sum() == len(means)
    for (measure, detector, dataset, series), value in means.items():
        place = run.find_series(f"{dataset}/{series}")
        at = 0, run.measures.index(measure), run.detectors.index(detector), place
        assert run.values[at] == pytest.approx(value, abs=1e-15)
    assert run.seeds == 2


def test_page_holds_every_value(run, page):
    data = embedded(page, "run")
    np.testing.assert_allclose(numbers(data["values"], run.values.shape), run.values, rtol=1e-6)
    np.testing.assert_allclose(numbers(data["seconds"], run.seconds.shape), run.seconds, rtol=1e-6)
    assert data["detectors"] == list(run.detectors)
    titles = [
        f"{data['datasets'][d]}/{name}"
        for d, name in zip(data["series"]["dataset"], data["series"]["name"], strict=True)
    ]
    assert titles == [one.title for one in run.series]


def test_chance_is_that_of_random_scores_on_the_labels(run, folder, page):
    found = run.with_chance().chance
    assert found.shape == (1, len(run.measures), len(run.series))
    for place, one in enumerate(run.series):
        labels, used = one.read().labels, Run(folder).evaluation_settings(one, run.settings[0])
        level = chance_level(labels, measures=list(run.measures), settings=used, draws=20).mean
        np.testing.assert_allclose(found[0, :, place], list(level.values()), atol=1e-12)
    said = embedded(page, "run")["comparisons"]["0,0"]["verdict"]["sentences"]["chance"]
    assert said.startswith("Random scores get ")


def test_missing_values_are_not_zeros(run):
    flaky, never = run.detectors.index("flaky"), run.detectors.index("never")
    beta = [place for place, one in enumerate(run.series) if one.dataset == "beta"]
    assert np.isnan(run.values[0, :, flaky, beta]).all()
    assert np.isnan(run.values[0, :, never]).all()
    assert (run.outcomes[flaky, beta] == "ERROR").all()
    assert np.isnan(run.seconds[run.detectors.index("good")]).all()
    assert np.isfinite(run.seconds[run.detectors.index("Random")]).all()


def test_comparisons_are_those_of_compare(run, page):
    table = run.to_frame()
    found = embedded(page, "run")["comparisons"]
    for place, measure in enumerate(run.measures):
        expected = compare(table[table["detector"] != "never"], measure=measure)
        got = found[f"0,{place}"]
        assert [run.detectors[d] for d in got["detectors"]] == list(expected.summary.index)
        np.testing.assert_allclose(got["ranks"], expected.summary["mean_rank"], atol=1e-4)
        assert got["n"] == len(expected.table) == 3
        groups = [tuple(run.detectors[d] for d in group) for group in got["groups"]]
        assert groups == list(expected.groups)


def test_names_are_text(page):
    found = Tags(page)
    assert "img" not in found.tags
    assert "b" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    sections = embedded(page, "sections")
    assert found.tags.count("script") == len(sections) + 2
    assert {one["key"] for one in sections} >= {
        "run",
        "detectors",
        "table",
        "series",
        "failures",
        "series-0",
    }
    assert f"alpha/{EVIL}" in [one["title"] for one in sections]
    assert EVIL_SCORE in embedded(page, "run")["detectors"]


def test_families_of_detectors(page):
    data = embedded(page, "run")
    families = dict(zip(data["detectors"], data["detector_families"], strict=True))
    assert families["Moving z-score"] == families["Random"] == "baseline"
    assert families["flaky"] == families["good"] == ""


def test_nothing_is_fetched(page):
    name_of_svg = "http://www.w3.org/2000/svg"  # a name, not an address
    assert not re.search(r"https?://|url\((?!#)|@import|\bsrc=[\"']", page.replace(name_of_svg, ""))
    assert "default-src 'none'" in page


def test_failures_are_told(run, page):
    assert run.failures == 18
    listed = embedded(page, "failures")
    assert len(listed) == 18
    assert {row[0] for row in listed} == {"ERROR"}
    assert any("the first value" in row[2] for row in listed)
    assert all("vuskit bench run-job" in row[3] for row in listed)
    # One entry per cause, not per job.
    assert len(run.status.causes) < 5
    assert page.count('<details class="failure">') == len(run.status.causes)
    assert page.count("Traceback (most recent call last)") == len(run.status.causes)
    assert sum(one.n_jobs for one in run.status.causes) == 18
    assert " other jobs<br>" in page


def test_series_have_their_stored_values(run):
    place = run.find_series("alpha/one")
    report = series_report(run, place, run.settings[0])
    assert set(report.scores) == {"Moving z-score", "Random", "flaky", "good", EVIL_SCORE}
    good = vuskit.evaluate(report.labels, report.scores["good"], buffer=10)
    for measure in run.measures:
        assert report.table["good"][measure] == pytest.approx(good[measure], abs=1e-12)
        detector = run.detectors.index("Random")
        at = 0, run.measures.index(measure), detector, place
        assert report.table["Random"][measure] == run.values[at]
    assert report.buffer.length == 10


def test_series_sections_show_the_scores(run, page):
    place = run.find_series("beta/two")
    section = embedded(page, f"series-{place}")
    assert section["n"] == 300
    assert {score["name"] for score in section["scores"]} == {
        "Moving z-score",
        "Random",
        "good",
        EVIL_SCORE,
    }
    assert embedded(page, "run")["embedded"][str(place)] == f"series-{place}"


def test_series_are_found_by_name(run):
    assert run.series[run.find_series("beta/one")].title == "beta/one"
    with pytest.raises(InvalidInputError, match="must name one series, got 'one': 'alpha/one'"):
        run.find_series("one")
    with pytest.raises(InvalidInputError, match="did you mean 'beta/one'"):
        run.find_series("beta/oen")


def test_run_that_goes_on(tmp_path):
    write_series(tmp_path)
    pages = []

    def look(progress):
        if progress.done >= 20 and not pages:
            report = RunReport.read(tmp_path / "night run")
            pages.append((report, run_page_html(report)))

    folder = run_inline(write_plan(tmp_path), observer=look)
    report, page = pages[0]
    assert re.fullmatch(r"unfinished: \d+ of \d+ jobs", report.state)
    assert report.state.capitalize() in page
    assert np.isfinite(report.values).sum() < np.isfinite(RunReport.read(folder).values).sum()
    assert RunReport.read(folder).state == "finished: 90 jobs"


def test_run_with_only_failures(tmp_path):
    write_series(tmp_path)
    report = RunReport.read(run_inline(write_plan(tmp_path, ONLY_FAILURES)))
    assert report.measures == ()
    assert report.values.shape == (0, 0, 1, 6)
    page = run_page_html(report)
    assert [one["key"] for one in embedded(page, "sections")] == [
        "run",
        "detectors",
        "table",
        "series",
        "failures",
    ]
    told = "alpha/one has no values: its jobs ended with 1 ERROR$"
    with pytest.raises(InvalidInputError, match=told):
        run_page_html(report, series=["alpha/one"])


SKIPPING = """
folder = "skipping"
series = [{ folder = "data", format = "scores", names = ["alpha/*"] }]
detectors = [{ name = "random" }, { name = "own:never", label = "never" }]
evaluate = [{ measures = ["auc_pr"], buffer = 10 }]
executor = { workers = 1 }
"""


def test_series_that_cannot_be_evaluated_are_not_well(tmp_path):
    write_series(tmp_path)
    rows = "".join(f"{i % 7},0,{i % 5}\n" for i in range(200))
    (tmp_path / "data" / "alpha" / "calm.csv").write_text(f"value,label,good\n{rows}")
    report = RunReport.read(run_inline(write_plan(tmp_path, SKIPPING)))
    calm = report.find_series("alpha/calm")
    of_random = report.outcomes[report.detectors.index("Random")].tolist()
    assert of_random[calm] == "SKIPPED"
    assert of_random.count("OK") == len(of_random) - 1 == 3
    assert set(report.outcomes[report.detectors.index("never")]) == {"ERROR"}
    page = run_page_html(report)
    assert embedded(page, "run")["not_drawn"] == {
        str(calm): "alpha/calm has no values: its jobs ended with 1 ERROR, 1 SKIPPED"
    }
    row = re.search(r'<th scope="row">Random</th>(.*?)</tr>', page)[1]
    counts = [int(count) for count in re.findall(r'data-value="(\d+)"', row)]
    assert counts == [3, 0, 0, 0, 0, 1]  # OK, three kinds of failures, SKIPPED


def test_a_start_that_has_nothing_to_do_is_not_when_the_run_began(tmp_path):
    write_series(tmp_path)
    plan = write_plan(tmp_path, TWO_SETTINGS)
    folder = run_inline(plan)
    run_inline(plan)

    def told(*changes):
        with closing(sqlite3.connect(folder / "results.sqlite")) as connection, connection:
            for change in changes:
                connection.execute(change)
        page = run_page_html(RunReport.read(folder))
        return re.search(r"Started (.*?) with vuskit", page)[1]

    moments = "UPDATE starts SET started = '2026-01-0' || id || 'T10:00:00.000+00:00'"
    ended = "UPDATE results SET finished = '2026-01-0{}T11:00:00.000+00:00'"
    assert told(moments, ended.format(1)) == "2026-01-01 10:00 UTC"
    assert told(ended.format(2)) == "2026-01-01 10:00 UTC, resumed 2026-01-02 10:00 UTC"


def test_series_say_which_measures_are_better_when_lower(run):
    assert "↓" not in series_section(series_report(run, 0, run.settings[0])).html
    lower = dataclasses.replace(run.measure("auc_pr"), higher_is_better=False)
    turned = dataclasses.replace(run, known={**run.known, "auc_pr": lower})
    section = series_section(series_report(turned, 0, run.settings[0]))
    assert '<th scope="col">AUC-PR ↓</th>' in section.html
    assert "↓: lower is better." in section.html


def test_two_settings_and_one_detector(tmp_path):
    write_series(tmp_path)
    report = RunReport.read(run_inline(write_plan(tmp_path, TWO_SETTINGS)))
    assert len(report.settings) == 2
    assert report.measures == ("f_score(beta=2)", "auc_pr", "vus_pr")
    there = np.isfinite(report.values).all(axis=(2, 3))
    assert there.tolist() == [[True, True, False], [False, True, True]]
    page = run_page_html(report)
    assert all("error" in found for found in embedded(page, "run")["comparisons"].values())
    assert embedded(page, "series-0")["settings"]["buffer"] == 10
    assert 'data-value=""' in page  # the measure that the first settings do not have


def test_empty_run(tmp_path):
    write_series(tmp_path)

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_inline(write_plan(tmp_path), observer=stop)
    report = RunReport.read(tmp_path / "night run")
    assert report.state.startswith("interrupted: 0 of ")
    assert report.series == ()
    assert embedded(run_page_html(report), "run")["series"]["name"] == []


def test_series_that_cannot_be_read_any_more(tmp_path):
    write_series(tmp_path)
    report = RunReport.read(run_inline(write_plan(tmp_path)))
    (tmp_path / "data" / "alpha" / "one.csv").unlink()
    embeds = embedded(run_page_html(report), "run")["embedded"]
    assert len(embeds) == 5
    assert str(report.find_series("alpha/one")) not in embeds
    with pytest.raises(InvalidInputError, match=r"one\.csv"):
        run_page_html(report, series=["alpha/one"])


def test_wanted_series_come_first(run, page, monkeypatch):
    place = run.find_series("beta/two")
    # Room for what every page has, and for one series and a half.
    others = sum(
        len(re.search(rf'id="data-{key}">.*?</script>', page, re.DOTALL)[0])
        for key in ("run", "failures")
    ) + len(re.search(r'<template id="html-failures">.*?</template>', page, re.DOTALL)[0])
    one = sum(
        len(re.search(pattern, page, re.DOTALL)[0])
        for pattern in (
            rf'<template id="html-series-{place}">.*?</template>',
            rf'id="data-series-{place}">.*?</script>',
        )
    )
    monkeypatch.setattr("vuskit.report.page.run._PAGE_BYTES", others + 3 * one // 2)
    small = run_page_html(run, series=["beta/two"])
    assert list(embedded(small, "run")["embedded"]) == [str(place)]
    assert "This page draws 1 of 6 series" in small
    with pytest.raises(InvalidInputError, match="got 2, of which 1 fit; write several pages"):
        run_page_html(run, series=["beta/two", "alpha/one"])


def test_large_runs_stay_small(run):
    rng = np.random.default_rng(0)
    shape = 1, 5, 8, 2000
    _, *places = map(range, shape)
    series = tuple(
        dataclasses.replace(run.series[i % 6], dataset=f"set {i % 2}", name=f"series {i}", hash="")
        for i in places[2]
    )
    large = dataclasses.replace(
        run,
        measures=tuple(f"m{i}" for i in places[0]),
        detectors=tuple(f"detector {i}" for i in places[1]),
        series=series,
        values=rng.random(shape),
        seconds=rng.random(shape[2:]),
        outcomes=np.full(shape[2:], "OK"),
    )
    steps = []
    page = run_page_html(large, progress=lambda done, total: steps.append((done, total)))
    # Four bytes of each value, in letters; fifty of each series; the page itself.
    assert len(page.encode()) < 4 * large.values.size * 4 / 3 + 50 * 2000 + 1_000_000
    assert steps[0] == (0, 2005)
    assert steps[-1] == (2005, 2005)
    found = numbers(embedded(page, "run")["values"], shape)
    np.testing.assert_allclose(found, large.values, atol=1e-7)


def test_measures_are_looked_up():
    assert measure_called("vus_pr").family == "vus"
    assert measure_called("f_score(beta=2)").family == "threshold"
    assert measure_called("mine").family == "custom"
    with pytest.raises(InvalidInputError, match="must be registered"):
        measure_called("mine").function([0, 1], [0, 1])


def test_nowhere():
    with pytest.raises(InvalidInputError, match="must hold a benchmark run, got 'nowhere'"):
        RunReport.read("nowhere")
