"""The page of the server in a real browser."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from explore.serving import serving
from report.browser import (
    blank_canvases,
    copied,
    eventually,
    expect,
    follow,
    go,
    low_contrast,
    scrolls_sideways,
)
from report.runs import EVIL, EVIL_SCORE, run_inline, write_plan, write_series
from waiting import PATIENCE

from vuskit.datasets import ScoredSeries, Series
from vuskit.explore import open_content
from vuskit.explore.content import ScoresContent
from vuskit.measures.settings import EvaluationSettings
from vuskit.studies.result import open_scores


def test_from_the_overview_to_a_series(ask, open_page):
    page = open_page(ask.server.url, width=1366)
    assert page.url == f"http://127.0.0.1:{ask.server.port}/"  # the token is in a cookie now
    expect(page.locator("#state")).to_have_text(re.compile("^Finished: .* 18 failed"))
    expect(page.locator("details.failure")).to_have_count(2)
    expect(page.locator("#causes")).to_contain_text("<b>the first value</b>")
    # X versus Y: a click on a point opens its series.
    follow(page, page.get_by_role("link", name="Detectors", exact=True))
    page.locator("#x").select_option("good")
    page.locator("#y").select_option(EVIL_SCORE)
    expect(page.locator("#versus circle")).to_have_count(6)
    page.locator("#versus circle").first.click()
    expect(page.locator("h1")).to_have_text(f"alpha/{EVIL}")
    page.go_back()
    expect(page.locator("#versus circle")).to_have_count(6)
    assert page.locator("#y").input_value() == EVIL_SCORE
    # By keyboard: the arrow keys choose, Enter opens.
    page.locator("#versus .plot").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text("alpha/one")
    tracks = page.locator("#tracks .track")
    expect(tracks.first).to_be_visible()
    # Looking closer asks the server for that part.
    expect(page.locator("#tracks")).to_have_attribute("data-loaded", "0-300")
    page.get_by_role("button", name="next anomaly").click()
    expect(page.locator("#tracks")).not_to_have_attribute("data-loaded", "0-300")
    assert re.search(r"from=\d+&to=\d+$", page.url)
    shared = page.url
    tracks.first.locator("canvas").focus()
    page.keyboard.press("0")
    expect(page.locator("#tracks")).to_have_attribute("data-loaded", "0-300")
    page.goto(shared)  # an address can be shared
    expect(page.locator("#tracks")).not_to_have_attribute("data-loaded", "0-300")
    page.reload()
    expect(page.locator("#tracks")).to_have_attribute("data-loaded", re.compile(r"^[1-9]"))
    assert page.title() != "taken"
    assert page.locator("img").count() == 0


def test_filters_are_taken_along_and_stand_in_the_address(ask, open_page):
    page = open_page(f"{ask.server.url}#run?dataset=beta&measure=auc_pr")
    expect(page.locator("#ranks-note")).to_contain_text("series of beta")
    follow(page, page.get_by_role("link", name="Detectors", exact=True))
    assert page.locator("#dataset").input_value() == "beta"
    expect(page.locator("#detectors-note")).to_contain_text("AUC-PR on 3 of 6 series")
    page.locator("#dataset").select_option("")
    expect(page.locator("#detectors-note")).to_contain_text("6 of 6")
    assert "dataset" not in page.url
    follow(page, page.get_by_role("link", name="Leaderboard", exact=True))
    assert page.locator("#dataset").input_value() == ""


@pytest.mark.parametrize(("width", "dark"), [(1366, True), (390, False)])
def test_readable_everywhere(ask, open_page, width, dark):
    page = open_page(ask.server.url, width=width, dark=dark)
    for key in ("overview", "run", "detectors", "table", "series?name=beta/two"):
        go(page, key)
        if key.startswith("series"):
            expect(page.locator("#tracks")).to_have_attribute("data-loaded", "0-300")
        assert not scrolls_sideways(page), key
        assert low_contrast(page) == [], key
        assert blank_canvases(page) == [], key


def test_names_run_nothing(ask, open_page):
    page = open_page(ask.server.url)
    for key in ("overview", "detectors", f"series?name=alpha/{EVIL}", "series?name=<img src=x>"):
        go(page, key)
        expect(page.locator("h1")).to_be_visible()
        assert page.locator("img").count() == 0
        assert page.title() != "taken"
    expect(page.locator("#facts")).to_contain_text("no series of this name")


def test_a_run_that_goes_on(open_page, tmp_path):
    write_series(tmp_path)
    plan = write_plan(tmp_path)
    waiting, go_on = threading.Semaphore(0), threading.Semaphore(0)
    finished = []

    def observe(progress):
        finished.append(progress.done)
        if len(finished) == 1:  # there is no value yet
            waiting.release()
            go_on.acquire()

    runner = threading.Thread(target=run_inline, args=(plan,), kwargs={"observer": observe})
    runner.start()
    try:
        assert waiting.acquire(timeout=PATIENCE)
        with serving(open_content(plan.folder)) as ask:
            page = open_page(ask.server.url)
            expect(page.locator("#state")).to_have_text(re.compile("^Running"))
            expect(page.locator("#leaders-note")).to_have_text("There are no values yet.")
            go(page, "run")
            expect(page.locator("#board-note")).to_have_text("No job has finished yet.")
            go(page, "detectors")
            expect(page.locator("#detectors-note")).to_have_text("There are no values yet.")
            go_on.release()
            runner.join(PATIENCE)
            expect(page.locator("#versus circle")).to_have_count(3)
            go(page, "run")
            expect(page.locator("#board tbody tr")).to_have_count(6)
            expect(page.locator("#board tbody th").first).to_have_text("good")
            page.locator('[data-column="own"]').focus()
            page.evaluate("() => vuskit.refresh()")  # as when the next job ends
            expect(page.locator('[data-column="own"]')).to_be_focused()
            go(page, "overview")
            expect(page.locator("#state")).to_have_text(re.compile("^Finished: 90 of 90"))
            page.close()
    finally:
        go_on.release(5)
        runner.join(PATIENCE)


def test_intervals_and_boxes_agree_with_scipy_and_numpy(ask, open_page):
    from scipy import stats

    page = open_page(ask.server.url)
    rng = np.random.default_rng(8)
    rows = rng.random((2, 40)).tolist()
    found = page.evaluate("(rows) => benchmark.intervals(rows)", rows)
    for row, one in zip(rows, found, strict=True):
        drawn = stats.bootstrap(
            (row,), np.mean, n_resamples=9999, method="percentile", rng=0
        ).confidence_interval
        assert one["mean"] == pytest.approx(np.mean(row), abs=1e-12)
        assert one["low"] == pytest.approx(drawn.low, abs=0.012)
        assert one["high"] == pytest.approx(drawn.high, abs=0.012)
    numbers = [*rng.normal(size=31).tolist(), 9.0]
    box = page.evaluate("(numbers) => benchmark.boxOf(numbers)", numbers)
    q1, q2, q3 = np.quantile(numbers, [0.25, 0.5, 0.75])
    inside = [x for x in numbers if q1 - 1.5 * (q3 - q1) <= x <= q3 + 1.5 * (q3 - q1)]
    np.testing.assert_allclose(box["box"], [min(inside), q1, q2, q3, max(inside)])
    assert len(box["outliers"]) == len(numbers) - len(inside)
    # The table: means over the series of each data set on which all its detectors have a value.
    go(page, "detectors")
    header, *cells = copied(page, "sets")
    means = {(row[0], row[2]): float(row[4]) for row in cells if row[4]}
    assert header[0] == "dataset"
    assert ("beta", "flaky") not in means
    assert means["beta", "good"] == pytest.approx(1.0, abs=0.01)


def test_a_million_points(open_page, tmp_path):
    n = 1_000_000
    values, labels = np.sin(np.arange(n) / 5000), np.zeros(n, dtype=int)
    labels[400_000:400_200] = 1
    scored = ScoredSeries(Series("long", "demo", values, labels), {"a": values, "b": -values})
    content = ScoresContent(
        tmp_path,
        open_scores(scored),
        measures=["auc_pr"],
        settings=EvaluationSettings(buffer=10),
    )
    with serving(content) as ask:
        assert eventually(lambda: ask("/data/status").json["state"] == "finished")
        page = open_page(f"{ask.server.url}#series?name=demo/long")
        expect(page.locator("#tracks")).to_have_attribute("data-loaded", "0-1000000")
        page.get_by_role("button", name="next anomaly").click()
        expect(page.locator("#tracks")).to_have_attribute("data-loaded", "399400-400800")
        page.close()
