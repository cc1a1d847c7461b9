"""Pages of unusual runs and series in a real browser: filters, directions, ends, extremes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from report.browser import all_redrawn, copied, expect, go, pictures, scrolls_sideways
from report.evaluated import report_of
from report.made_runs import LATE, SIZES, made_run

import vuskit
from vuskit.report.page import run_page_html, series_page_html
from vuskit.statistics.comparison import compare

LONG = "a detector whose name tells all of its parameters(window=100, number=%d)"
# Columns of pixels of a canvas on which something is drawn.
INKED = """(canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const seen = (x, y) => data[4 * (y * canvas.width + x) + 3] > 0;
  const lines = Array.from({ length: canvas.height }, (_, y) => y);
  return Array.from({ length: canvas.width }, (_, x) => lines.some((y) => seen(x, y)));
}"""


def rows(page, name):
    """Copied rows by the names of their columns."""
    header, *found = copied(page, name)
    return [dict(zip(header, row, strict=True)) for row in found]


@pytest.fixture(scope="module")
def run():
    return made_run(measures=("vus_pr", LATE.name))


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "run.html"
    place.write_text(run_page_html(run), encoding="utf-8")
    return place


def test_figures_follow_the_data_set(open_page, path, run):
    page = open_page(path)
    table = run.to_frame()
    note = page.locator("#ranks-note")
    figures = "#ranks, #heat, #time"
    expect(note).to_contain_text(f"over {sum(SIZES.values())} series of all data sets")
    for dataset in ("large", "middle"):
        before = pictures(page, figures)
        page.select_option("#dataset", dataset)
        count = SIZES[dataset]
        expect(note).to_contain_text(f"over {count} series of {dataset}; 1 is best")
        expect(page.locator("#heat-note")).to_contain_text(f"ranks on {count} series")
        expect(page.locator("#time-note")).to_contain_text(f"over {count} series of {dataset}")
        assert all_redrawn(page, figures, before)
        expected = compare(table[table["dataset"] == dataset], measure="vus_pr")
        for text in expected.tests:
            expect(note).to_contain_text(f"{text}.")
        found = {row["detector"]: float(row["mean_rank"]) for row in rows(page, "ranks")}
        assert found == pytest.approx(expected.summary["mean_rank"].to_dict(), abs=5e-5)
    page.select_option("#dataset", "lonely")
    expect(note).to_have_text(re.compile("No diagram: tests need two or more series"))
    expect(page.locator("#ranks")).to_be_hidden()


def test_who_is_left_out_is_named(open_page, path):
    page = open_page(path)
    expect(page.locator("#ranks-note")).to_contain_text(
        "Detectors without values are excluded: none."
    )


def test_mean_over_data_sets(open_page, path, run):
    page = open_page(path)
    expect(page.locator("#weigh option:checked")).to_have_text("series")
    page.select_option("#weigh", "dataset")
    assert "weigh=dataset" in page.url
    expect(page.locator("#board caption")).to_contain_text("Mean over 3 data sets of the mean over")
    found = {(row["detector"], row["measure"]): row for row in rows(page, "board")}
    for m, measure in enumerate(run.measures):
        for d, detector in enumerate(run.detectors[:-1]):
            means = [
                np.mean(
                    [
                        run.values[0, m, d, i]
                        for i, one in enumerate(run.series)
                        if one.dataset == name
                    ]
                )
                for name in run.datasets
            ]
            row = found[detector, measure]
            assert float(row["value"]) == pytest.approx(np.mean(means), abs=1e-6)
            assert row["over"] == "dataset"
    page.select_option("#weigh", "series")
    expect(page.locator("#board caption")).to_contain_text("Mean over the series of all data sets;")
    assert "weigh" not in page.url
    for row in rows(page, "board"):
        m, d = run.measures.index(row["measure"]), run.detectors.index(row["detector"])
        if row["value"]:
            assert float(row["value"]) == pytest.approx(np.mean(run.values[0, m, d]), abs=1e-6)
    page.select_option("#weigh", "dataset")
    page.select_option("#summary", "rank")
    expect(page.locator("#board caption")).to_contain_text("of the mean rank over")
    ranked = {row["detector"]: float(row["value"]) for row in rows(page, "board") if row["value"]}
    assert sum(ranked.values()) == pytest.approx(6, abs=1e-5)
    page.select_option("#dataset", "middle")
    expect(page.locator("#weigh")).to_be_disabled()
    expect(page.locator("#board caption")).to_contain_text("Mean rank over the series of middle;")


SCROLLED = """(table, share) => {
  const box = table.closest(".wide");
  box.scrollLeft = share * (box.scrollWidth - box.clientWidth);
}"""
MASK = """(table) => getComputedStyle(table.closest(".wide")).maskImage"""


def test_wide_tables_fade_where_they_continue(open_page, path):
    page = open_page(path, width=390)
    go(page, "table")
    table = page.locator("#table")
    box = page.locator(".wide", has=table)
    before = table.bounding_box()
    for share, more in ((0, "end"), (0.5, "start end"), (1, "start"), (0, "end")):
        table.evaluate(SCROLLED, share)
        expect(box).to_have_attribute("data-more", more)
        assert (table.evaluate(MASK) == "none") == (more == "start")
    assert table.bounding_box() == before
    page.emulate_media(media="print")
    assert table.evaluate(MASK) == "none"
    page.emulate_media(media="screen")
    go(page, "detectors")
    expect(page.locator(".wide", has=page.locator("#sets"))).to_have_attribute("data-more", "end")
    page.set_viewport_size({"width": 1800, "height": 900})
    expect(page.locator(".wide", has=page.locator("#sets"))).to_have_attribute("data-more", "")


def test_verdict_follows_the_filters(open_page, path, run):
    page = open_page(path)
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("has the best mean VUS-PR")
    expect(verdict).to_contain_text("over 70 series")
    page.select_option("#dataset", "middle")
    expect(verdict).to_contain_text("over 9 series")
    page.select_option("#measure", LATE.name)
    expect(verdict).to_contain_text("has the best mean Late points")
    page.select_option("#dataset", "lonely")
    expect(verdict).to_have_text(re.compile("^No verdict: tests need two or more series"))


def test_all_pairs_and_means_with_intervals(open_page, path, run):
    page = open_page(path)
    found = compare(run.to_frame(), measure="vus_pr")
    pairs = {(row["first"], row["second"]): row for row in rows(page, "pairs")}
    cells = found.matrix().data()["cells"]
    names = list(found.summary.index)
    for row, first in enumerate(names):
        for column, second in enumerate(names[row + 1 :], row + 1):
            cell = pairs[first, second]
            assert float(cell["difference"]) == pytest.approx(
                cells[row][column]["difference"], rel=1e-4
            )
            assert int(cell["wins"]) == cells[row][column]["wins"]
    expect(page.locator("#pairs tbody tr")).to_have_count(3)
    means = {(row["measure"], row["detector"]): row for row in rows(page, "forest")}
    assert float(means["vus_pr", "one"]["mean"]) == pytest.approx(
        run.values[0, 0, 0].mean(), rel=1e-4
    )
    page.select_option("#measure", LATE.name)
    expect(page.locator("#forest h3")).to_have_text([f"{LATE.title} ↓", "VUS-PR"])
    expect(page.locator("#pairs-note")).to_contain_text("mean difference of Late points")


def test_lower_may_be_better(open_page, path, run):
    page = open_page(path)
    page.select_option("#measure", LATE.name)
    values = run.values[0, 1, :-1]
    order = [run.detectors[d] for d in np.argsort(values.mean(axis=1))]
    names = page.locator("#board tbody th")
    expect(names).to_have_text([*order, "none"])
    expect(page.locator("#board thead th").nth(2)).to_have_text(re.compile("^Late points ↓"))
    expect(page.locator("#board tbody tr").first.locator("td.best a")).to_have_text(
        re.compile(rf"^{values.mean(axis=1).min():.3f}$")
    )
    expect(page.locator("#board-note")).to_contain_text("↓: lower is better.")
    expect(page.locator("#ranks-note")).to_contain_text("by Late points (lower is better) over")
    expected = compare(run.to_frame(), measure=LATE.name, higher_is_better=False).summary[
        "mean_rank"
    ]
    found = {row["detector"]: float(row["mean_rank"]) for row in rows(page, "ranks")}
    assert found == pytest.approx(expected.to_dict(), abs=5e-5)
    least = {run.detectors[d] for d in values[:, 0].argsort()[:1]}
    first = [row for row in rows(page, "heat") if row["series"] == run.series[0].title]
    assert {row["detector"] for row in first if row["rank"] == "1"} == least
    go(page, f"table?measure={LATE.name}")
    page.locator('#table [data-column="detector one"]').click()
    header = page.locator('#table th:has([data-column="detector one"])')
    expect(header).to_have_attribute("aria-sort", "ascending")
    smallest = run.series[int(np.argmin(values[0]))].title
    expect(page.locator("#table tbody th").first).to_have_text(smallest)


def test_choices_are_in_the_address(open_page, path, run):
    page = open_page(path)
    page.select_option("#dataset", "middle")
    page.select_option("#summary", "median")
    address = "run?dataset=middle&summary=median"
    page.wait_for_function("(address) => location.hash === `#${address}`", arg=address)
    other = open_page(path)
    go(other, "table")
    go(other, address)
    expect(other.locator("#dataset")).to_have_value("middle")
    expect(other.locator("#board caption")).to_contain_text("Median over the series of middle")


def test_rounded_values_are_close(open_page, run, monkeypatch):
    monkeypatch.setattr("vuskit.report.page.run_data._EXACT_BYTES", 100)
    page = open_page(run_page_html(run))
    expect(page.locator("#board caption")).to_contain_text("Mean over the series of all data sets")
    means = np.mean(run.values[0, :, :-1], axis=2)
    found = {
        (row["detector"], row["measure"]): float(row["value"])
        for row in rows(page, "board")
        if row["value"]
    }
    for m, measure in enumerate(run.measures):
        for d, detector in enumerate(run.detectors[:-1]):
            assert found[detector, measure] == pytest.approx(means[m, d], abs=2e-5)
    seconds = {row["detector"]: float(row["median_seconds"]) for row in rows(page, "time")}
    assert seconds["one"] == pytest.approx(np.median(run.seconds[0]), rel=1e-3)


@pytest.mark.parametrize("width", [1280, 375])
def test_long_names_and_many_detectors(open_page, width):
    names = (*(LONG % i for i in range(39)), "none")
    page = open_page(run_page_html(made_run(sizes={"few": 3}, detectors=names)), width=width)
    expect(page.locator("#board tbody tr")).to_have_count(40)
    assert not scrolls_sideways(page)
    caption = page.locator("#board caption span").bounding_box()
    assert caption["x"] + caption["width"] <= width
    numbers = page.locator("#board tbody tr").first.locator("td").nth(1).bounding_box()
    assert numbers["x"] + numbers["width"] <= width
    # Both ends of a name are kept: these differ only in the last part.
    shown = page.evaluate(
        "(name) => vuskit.fitted(document.querySelector('#time').getContext('2d'), name, 150)",
        names[7],
    )
    assert re.fullmatch(r"a det.*….*=7\)", shown)
    # So is the part in which names differ, wherever it is.
    names = [f"a detector of which only the middle {i} tells which one it is" for i in range(12)]
    shown = page.evaluate(
        "(all) => vuskit.fittedNames(document.querySelector('#time').getContext('2d'), all, 150)",
        [*names, "short"],
    )
    assert len(set(shown)) == 13
    assert shown[-1] == "short"
    assert all(re.fullmatch(rf"a det.*…{i}…", shown[i]) for i in range(12))


@pytest.mark.parametrize("detectors", [("one", "none"), ("one", "two", "none")])
def test_smallest_runs(open_page, detectors):
    page = open_page(run_page_html(made_run(sizes={"alone": 1}, detectors=detectors)))
    expect(page.locator("#board tbody tr")).to_have_count(len(detectors))
    expect(page.locator("#weigh")).to_be_hidden()
    expect(page.locator("#ranks-note")).to_have_text(re.compile("^No diagram: tests "))
    expect(page.locator("#heat-note")).to_contain_text("ranks on 1 series")


def extreme_report(n):
    rng = np.random.default_rng(1)
    labels = np.zeros(n, dtype=bool)
    labels[n // 4 : n // 4 + max(n // 20, 2)] = True
    base = rng.random(n) + labels
    scores = {
        "zero": np.zeros(n),
        "tiny": 1e-9 * base,
        "vast": 1e12 * base,
        "negative": base - 123_458.9,
        "small": 0.000108 + base,
        "tied": np.round(base),
    }
    return report_of(labels, scores, values=-1e12 * rng.random(n), buffer=7)


@pytest.mark.parametrize(("n", "width"), [(20, 1280), (900, 375)])
def test_labels_of_extreme_values_are_whole(open_page, n, width):
    page = open_page(series_page_html(extreme_report(n)), width=width)
    for k in range(6):
        button = page.locator("#legend button").nth(k)
        if button.get_attribute("aria-pressed") == "false":
            button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    tracks = page.locator("#lines .track:not([hidden]) canvas")
    expect(tracks).to_have_count(8)
    for track in tracks.all():
        inked = track.evaluate(INKED)
        assert not any(inked[:2])
        assert any(inked)
    assert not scrolls_sideways(page)
    pairs = "(pair) => vuskit.formatPair(...pair)"
    assert page.evaluate(pairs, [-123_456.8, -123_457.9]) == ["\u2212123,457", "\u2212123,458"]
    assert page.evaluate(pairs, [0, 0.000108]) == ["0", "1.1e\u22124"]
    assert page.evaluate(pairs, [5, 5]) == ["5", "5"]
    assert page.evaluate("() => [1e12, -1e-9, 0].map((one) => vuskit.format(one))") == [
        "1e12",
        "\u22121e\u22129",
        "0",
    ]


def test_many_scores_with_long_names_on_a_phone(open_page):
    labels = np.repeat([False, True, False], [40, 10, 50])
    rng = np.random.default_rng(0)
    scores = {LONG % i: rng.random(100) for i in range(12)}
    page = open_page(series_page_html(report_of(labels, scores, buffer=6)), width=375)
    expect(page.locator("#legend button")).to_have_count(12)
    assert not scrolls_sideways(page)
    name = page.locator("#measures tbody th").nth(2)
    expect(name).to_have_text(LONG % 2)
    assert name.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")


def test_pointer_reads_the_lines(open_page):
    labels = np.repeat([False, True, False], [40, 10, 50])
    score = np.arange(100.0)
    page = open_page(series_page_html(report_of(labels, {"rising": score}, buffer=6)))
    track = page.locator("#lines canvas").first
    expect(track).to_be_visible()
    box = track.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 20)
    expect(page.locator("#tip")).to_have_text("point 99\nrising: 99\nsoft label, buffer 6: 0")
    expect(page.locator(".cross")).to_be_visible()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60)
    expect(page.locator(".cross")).to_be_hidden()


@pytest.mark.parametrize("buffer", [0, 7, 97])
def test_surfaces_reach_the_longest_buffer(open_page, buffer):
    rng = np.random.default_rng(0)
    labels = np.repeat([False, True, False, True, False], [60, 20, 70, 10, 140])
    score = rng.random(300) + 0.3 * labels
    page = open_page(series_page_html(report_of(labels, {"some": score}, buffer=buffer)))
    expect(page.locator("#pr-caption")).to_contain_text("VUS-PR")
    found = rows(page, "surface")
    assert len(found) % len({row["buffer"] for row in found}) == 0
    assert max(int(row["buffer"]) for row in found) == buffer
    expected = vuskit.surface(labels, score, buffer=buffer, thresholds=None)
    last = [row for row in found if int(row["buffer"]) == buffer]
    places = np.linspace(0, 1, len(last))
    fpr, tpr = (np.concatenate([[0], rate[-1], [1]]) for rate in (expected.fpr, expected.tpr))
    # Where the curve rises straight up, the page takes the upper end.
    risen = fpr + 1e-12 * np.arange(fpr.size)
    heights = np.interp(places + 1e-9, risen, tpr)
    np.testing.assert_allclose([float(row["tpr_at_fpr"]) for row in last], heights, atol=1e-4)


def test_drawings_are_made_for_paper(open_page, path):
    page = open_page(path)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    narrow = "() => document.querySelector('#heat').width <= 700 * window.devicePixelRatio"
    page.wait_for_function(narrow)
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(narrow.replace("<=", ">"))
