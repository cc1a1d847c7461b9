"""The page of a run in a real browser: sorted, filtered, looked into."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from report.browser import (
    all_redrawn,
    await_section,
    blank_canvases,
    clipboard,
    copied,
    eventually,
    expect,
    follow,
    go,
    low_contrast,
    pictures,
    scrolls_sideways,
)
from report.runs import (
    EVIL,
    EVIL_SCORE,
    ONLY_FAILURES,
    TWO_SETTINGS,
    run_inline,
    write_plan,
    write_series,
)

from vuskit.bench import Run, leaderboard
from vuskit.report.page import run_page_html
from vuskit.report.run_report import RunReport


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    write_series(folder)
    return folder


@pytest.fixture(scope="module")
def run(base):
    return RunReport.read(run_inline(write_plan(base)))


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "run.html"
    place.write_text(run_page_html(run), encoding="utf-8")
    return place


def rows(page, table="#board"):
    """Texts of the rows, by the first cell."""
    cells = page.locator(f"{table} tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
    )
    return {first: rest for first, *rest in cells}


def copy(page, name):
    header, *cells = copied(page, name)
    return [dict(zip(header, row, strict=True)) for row in cells]


def link(page, name):
    return page.get_by_role("link", name=name, exact=True)


def board_values(page):
    return {
        (row["detector"], row["measure"]): float(row["value"])
        for row in copy(page, "board")
        if row["value"]
    }


def expected_board(run, **selected):
    """The leaderboard of the bench, without the detector that never works."""
    table = Run(run.folder).values()
    for column, value in selected.items():
        table = table[table[column] == value]
    board = leaderboard(table).set_index("detector")
    return {(d, m): board.loc[d, m] for d in board.index for m in run.measures}


def test_leaderboard_is_the_one_of_the_bench(open_page, path, run):
    page = open_page(path)
    assert board_values(page) == pytest.approx(expected_board(run), abs=1e-6)
    shown = rows(page)
    assert next(iter(shown)) == "good"
    assert shown["flaky"][0] == "3 of 6"
    assert shown["never"][0] == "0 of 6"
    assert set(shown["never"][1:]) == {"\N{EN DASH}"}
    assert EVIL_SCORE in shown


def test_each_measure_uses_the_series_that_all_detectors_have(open_page, run, tmp_path):
    """The worst series of a detector lacks one measure: the same means as the bench gives."""
    values = run.values.copy()
    measure, detector = run.measures.index("auc_pr"), run.detectors.index("good")
    others = [d for d, name in enumerate(run.detectors) if name not in ("flaky", "never")]
    hole = int(np.argmin(values[0, measure, detector, :3]))
    values[0, measure, detector, hole] = np.nan
    holed = dataclasses.replace(run, values=values)
    (tmp_path / "run.html").write_text(run_page_html(holed), encoding="utf-8")
    page = open_page(tmp_path / "run.html")
    board = leaderboard(holed.to_frame(), detectors=run.detectors).set_index("detector")
    assert set(board["series_auc_pr"]) == {2}
    assert set(board["series_vus_pr"]) == {3}
    expected = {(d, m): board.loc[d, m] for d in board.index for m in run.measures}
    expected = {key: value for key, value in expected.items() if np.isfinite(value)}
    assert board_values(page) == pytest.approx(expected, abs=1e-6)
    counts = {(row["detector"], row["measure"]): row["series"] for row in copy(page, "board")}
    assert (counts["good", "auc_pr"], counts["good", "vus_pr"]) == ("2", "3")
    expect(page.locator("#board tfoot td")).to_have_text(["", "3", "3", "2"])
    page.select_option("#measure", "auc_pr")
    page.select_option("#columns", "dataset")
    cells = {(row["dataset"], row["detector"]): row for row in copy(page, "heat")}
    complete = [i for i in range(3) if i != hole]
    assert cells["alpha", "good"]["n"] == "2"
    for d in others:
        cell = cells["alpha", run.detectors[d]]
        mean = values[0, measure, d, complete].mean()
        assert float(cell["value"]) == pytest.approx(mean, abs=1e-6)


def test_sorting_with_mouse_and_keyboard(open_page, path):
    page = open_page(path)
    page.locator('#board [data-column="measure auc_pr"]').click()
    header = page.locator('#board th:has([data-column="measure auc_pr"])')
    expect(header).to_have_attribute("aria-sort", "descending")
    falling = list(rows(page))
    assert falling[-1] == "never"
    page.keyboard.press("Enter")  # the header keeps the focus
    expect(header).to_have_attribute("aria-sort", "ascending")
    rising = list(rows(page))
    assert rising[:-1] == falling[:-1][::-1]
    assert rising[-1] == "never"
    page.locator('#board [data-column="detector"]').press("Enter")
    expect(page.locator("#board [aria-sort]")).to_have_text("detector")
    names = list(rows(page))
    assert names == sorted(names, key=str.casefold)


def test_filters(open_page, path, run):
    page = open_page(path)
    page.select_option("#dataset", "alpha")
    assert board_values(page) == pytest.approx(expected_board(run, dataset="alpha"), abs=1e-6)
    assert "3 of 3" in rows(page)["flaky"]
    page.select_option("#dataset", "")
    page.select_option("#basis", "own")
    own = board_values(page)
    for detector, count in (("good", 6), ("flaky", 3)):
        values = run.values[0, run.measures.index("vus_pr"), run.detectors.index(detector)]
        assert np.isfinite(values).sum() == count
        assert own[detector, "vus_pr"] == pytest.approx(np.nanmean(values), abs=1e-6)
    page.select_option("#family", "vus")
    expect(page.locator("#board thead th")).to_have_text(["detector", "series", "VUS-PR"])


@pytest.mark.parametrize("summary", ["median", "rank"])
def test_other_summaries(open_page, path, run, summary):
    page = open_page(path)
    page.select_option("#summary", summary)
    found = board_values(page)
    alpha = [i for i, one in enumerate(run.series) if one.dataset == "alpha"]
    for m, measure in enumerate(run.measures):
        # Only the series of alpha have values of all detectors that have any.
        table = run.values[0, m][:, alpha]
        there = ~np.isnan(table).any(axis=1)
        if summary == "rank":
            compared = table[there]
            higher = (compared[None] > compared[:, None]).sum(axis=1)
            same = (compared[None] == compared[:, None]).sum(axis=1)
            expected = (higher + (same + 1) / 2).mean(axis=1)
        else:
            expected = np.median(table[there], axis=1)
        names = np.array(run.detectors)[there]
        got = [found[name, measure] for name in names]
        np.testing.assert_allclose(got, expected, atol=1e-6)
    assert ("never", "vus_pr") not in found


def test_from_a_cell_to_the_series_and_back(open_page, path, run):
    page = open_page(path)
    title, in_order = page.locator("h1"), page.locator("#table [aria-sort]")
    follow(page, page.locator("#board tbody tr", has_text="good").locator("a").first)
    expect(page.locator("#table thead th").nth(3)).to_have_text("good")
    expect(in_order).to_have_text("good")
    assert set(rows(page, "#table")) == {one.title for one in run.series}
    follow(page, link(page, "beta/two"))
    expect(title).to_have_text("beta/two")
    expect(page.locator("#lines .track")).to_have_count(6)  # values, four scores, soft label
    assert blank_canvases(page) == []
    page.locator('[data-zoom="in"]').click()
    expect(page.locator("#range")).to_have_text("Points 75 to 225 of 300")
    follow(page, page.get_by_role("link", name="previous"))
    expect(title).to_have_text("beta/one")
    expect(page.locator("#range")).to_have_text("Points 0 to 300 of 300")
    page.go_back()
    expect(title).to_have_text("beta/two")
    page.go_back()
    await_section(page, "table")
    expect(in_order).to_have_text("good")
    follow(page, link(page, "Leaderboard"))
    expect(page.locator("#board tbody th").first).to_have_text("good")


def test_table_of_series(open_page, path, run):
    page = open_page(path)
    follow(page, link(page, "Series"))
    page.select_option("#measure", "auc_pr")
    page.fill("#name", "BETA")
    expected = {f"beta/{name}" for name in ("one", "two", EVIL)}
    assert eventually(lambda: set(rows(page, "#table")) == expected)
    got = copy(page, "series")
    assert len(got) == 3
    measure = run.measures.index("auc_pr")
    for row in got:
        place = run.find_series(f"{row['dataset']}/{row['series']}")
        for d, detector in enumerate(run.detectors):
            value = run.values[0, measure, d, place]
            assert (
                row[detector] == ""
                if np.isnan(value)
                else float(row[detector]) == (pytest.approx(value, abs=1e-6))
            )
    missing = page.locator("#table tbody tr").first.locator("td", has_text="\N{EN DASH}")
    expect(missing.first).to_have_attribute("title", "ERROR")


def test_figures(open_page, path, run):
    page = open_page(path)
    assert blank_canvases(page) == []
    expect(page.locator("#ranks-note")).to_contain_text("3 series")
    drawn = "#ranks, #heat, #time"
    before = pictures(page, drawn)
    assert len(before) == 3
    page.select_option("#measure", "f_score")
    assert all_redrawn(page, drawn, before)
    ranks = copy(page, "ranks")
    expected = run.comparison(run.settings[0], "f_score").summary["mean_rank"]
    assert {row["detector"]: float(row["mean_rank"]) for row in ranks} == pytest.approx(
        expected.round(4).to_dict()
    )
    times = {row["detector"]: row["median_seconds"] for row in copy(page, "time")}
    assert times["good"] == ""
    random = run.seconds[run.detectors.index("Random")]
    assert float(times["Random"]) == pytest.approx(np.median(random), rel=1e-5)


def test_heat_map_with_mouse_and_keyboard(open_page, path):
    page = open_page(path)
    got = copy(page, "heat")
    assert len(got) == 36
    assert {float(row["rank"]) for row in got if row["detector"] == "good"} == {1.0}
    assert {row["rank"] for row in got if row["detector"] == "never"} == {""}
    heat = page.locator("#heat")
    heat.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    told = re.compile(r"^good on alpha/one; rank 1, VUS-PR [01]\.\d{3}$")
    expect(page.locator("#heat-note")).to_have_text(told)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("alpha/one")
    page.go_back()
    await_section(page, "run")
    last = {"x": heat.bounding_box()["width"] - 5, "y": 5}
    heat.hover(position=last)
    expect(page.locator("#tip")).to_contain_text("good on beta/two")
    before = pictures(page, "#heat")
    page.select_option("#columns", "dataset")
    assert all_redrawn(page, "#heat", before)
    heat.click(position=last)
    await_section(page, "table")
    expect(page.locator("#dataset")).to_have_value("beta")


def test_failures_open(open_page, path):
    page = open_page(path)
    follow(page, page.get_by_role("link", name="18 failed jobs"))
    first = page.locator("details.failure").last
    first.locator("summary").click()
    expect(first.get_by_text("Traceback (most recent call last)")).to_be_visible()
    expect(first.get_by_text("vuskit bench run-job")).to_be_visible()
    counts = {row["detector"]: row["ERROR"] for row in copy(page, "counts")}
    assert counts == {
        "Moving z-score": "0",
        "Random": "0",
        "flaky": "3",
        "never": "6",
        "good": "0",
        EVIL_SCORE: "0",
    }
    assert len(copy(page, "failures")) == 18


def test_names_run_nothing(open_page, path, run):
    page = open_page(path)
    place = run.find_series(f"alpha/{EVIL}")
    for key in ("run", "detectors", "table", f"series-{place}", "failures"):
        go(page, key)
        assert page.locator("img").count() == 0
        assert "taken" not in page.title().replace(EVIL_SCORE, "")
    go(page, f"series-{place}")
    expect(page.locator("h1")).to_have_text(f"alpha/{EVIL}")


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
def test_readable_everywhere(open_page, path, run, width, dark):
    page = open_page(path, width=width, dark=dark)
    for key in ("run", "detectors", "table", "series?name=nothing", "failures", "series-2"):
        go(page, key)
        assert not scrolls_sideways(page), key
        assert low_contrast(page) == [], key
        assert blank_canvases(page) == [], key


def test_theme_is_kept_between_sections(open_page, path):
    page = open_page(path)
    times, scale = pictures(page, "#time"), pictures(page, "#heat-scale")
    page.click("#theme")
    assert all_redrawn(page, "#time", times)
    assert pictures(page, "#heat-scale") == scale  # drawn before the times
    follow(page, link(page, "Series"))
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 22, 26)")


def test_run_with_only_failures(open_page, base):
    folder = run_inline(write_plan(base, ONLY_FAILURES))
    page = open_page(run_page_html(RunReport.read(folder)))
    expect(page.locator("#board-note")).to_contain_text("There are no values")
    for name in ("Series", "Failures"):
        follow(page, link(page, name))
    expect(page.locator("details.failure")).to_have_count(1)  # one cause
    expect(page.locator("details.failure")).to_contain_text("6")


def test_empty_run(open_page, run):
    nothing = dataclasses.replace(
        run,
        settings=(),
        measures=(),
        detectors=(),
        series=(),
        values=np.empty((0, 0, 0, 0)),
        seconds=np.empty((0, 0)),
        outcomes=np.empty((0, 0), dtype=str),
    )
    page = open_page(run_page_html(nothing))
    expect(page.locator("#board-note")).to_contain_text("No job has finished yet")
    for name in ("board", "ranks", "heat", "time"):
        assert copy(page, name) == []
    for key in ("detectors", "table", "series?name=nothing"):
        go(page, key)


def test_settings_can_be_chosen(open_page, base):
    report = RunReport.read(run_inline(write_plan(base, TWO_SETTINGS)))
    page = open_page(run_page_html(report))
    expect(page.locator("#ranks")).to_be_hidden()
    expect(page.locator("#ranks-note")).to_contain_text("No diagram: ")
    for place in (1, 0):
        page.select_option("#settings", str(place))
        found = board_values(page)
        means = report.values[place, :, 0].mean(axis=1)
        expected = {
            ("Moving z-score", name): mean
            for name, mean in zip(report.measures, means, strict=True)
            if not np.isnan(mean)
        }
        assert found == pytest.approx(expected, abs=1e-6)


def test_series_without_drawings(open_page, run, monkeypatch):
    monkeypatch.setattr("vuskit.report.page.run._PAGE_BYTES", 0)
    page = open_page(run_page_html(run))
    follow(page, link(page, "Series"))
    follow(page, link(page, f"beta/{EVIL}"))
    commands = f"vuskit explore '{run.folder}'\nvuskit report '{run.folder}' --series 'beta/{EVIL}'"
    expect(page.locator("#command")).to_have_text(commands)
    go(page, "series?name=beta/nothing")
    expect(page.locator("#facts")).to_have_text("The run has no series of this name.")
    go(page, f"series?name=beta/{EVIL}")
    got = {row["measure"]: row for row in copy(page, "values")}
    place = run.find_series(f"beta/{EVIL}")
    value = run.values[0, run.measures.index("vus_pr"), run.detectors.index("good"), place]
    assert float(got["VUS-PR"]["good"]) == pytest.approx(value, abs=1e-6)
    assert got["VUS-PR"]["flaky"] == ""


def test_long_tables_are_paged(open_page, run):
    many = dataclasses.replace(
        run,
        series=tuple(
            dataclasses.replace(run.series[0], name=f"s{i}", hash=f"h{i}") for i in range(230)
        ),
        values=np.repeat(run.values[..., :1], 230, axis=3) * np.linspace(0.5, 1, 230),
        seconds=np.repeat(run.seconds[:, :1], 230, axis=1),
        outcomes=np.repeat(run.outcomes[:, :1], 230, axis=1),
    )
    page = open_page(run_page_html(many))
    expect(page.locator("#columns")).to_have_value("dataset")
    follow(page, link(page, "Series"))
    names = page.locator("#table tbody th")
    expect(names).to_have_count(50)
    page.locator('#table [data-column="detector good"]').click()
    expect(names.first).to_have_text("alpha/s229")
    for _ in range(4):
        page.click("#next")
    expect(page.locator("#rows")).to_have_text("201 to 230 of 230")
    expect(page.locator("#next")).to_be_disabled()
    expect(names.last).to_have_text("alpha/s0")
    assert len(copy(page, "series")) == 230


def test_detectors_against_each_other(open_page, path, run):
    page = open_page(path)
    follow(page, link(page, "Detectors"))
    place = [run.detectors.index(name) for name in ("good", "flaky")]
    measure = run.measures.index("vus_pr")
    values = run.values[0, measure]
    boxes = {row["detector"]: row for row in copy(page, "boxes")}
    for d in place:
        known = values[d][np.isfinite(values[d])]
        assert int(boxes[run.detectors[d]]["series"]) == known.size
        assert float(boxes[run.detectors[d]]["median"]) == pytest.approx(np.median(known), abs=1e-6)
    page.locator("#x").select_option("good")
    page.locator("#y").select_option("flaky")
    expect(page.locator("#versus circle")).to_have_count(3)  # flaky fails on the others
    pairs = {(row["dataset"], row["series"]): row for row in copy(page, "versus")}
    assert float(pairs["alpha", "one"]["good"]) == pytest.approx(
        values[place[0], run.find_series("alpha/one")], abs=1e-6
    )
    expect(page.locator("#families-section")).to_be_hidden()  # only baselines are known
    # A click opens the series; its address by name leads to the drawings in the file.
    page.locator("#versus circle").nth(1).click()
    await_section(page, f"series-{run.find_series('alpha/one')}")
    page.evaluate("() => { location.hash = 'series?name=beta%2Ftwo'; }")
    await_section(page, f"series-{run.find_series('beta/two')}")


def test_filters_by_kind_and_length(open_page, run):
    lengths = (300, 300, 5_000, 5_000, 5_000, 20_000)
    points, sequences = ((60, 61), (90, 91)), ((60, 72), (90, 102))
    changed = dataclasses.replace(
        run,
        series=tuple(
            dataclasses.replace(one, n_points=n, events=points if n == 300 else sequences)
            for one, n in zip(run.series, lengths, strict=True)
        ),
    )
    page = open_page(run_page_html(changed))
    page.locator("#kind").select_option("sequence")
    page.locator("#length").select_option("1000-9999")
    expect(page.locator("#heat-note")).to_contain_text("ranks on 3 series")
    expect(page.locator("#ranks-note")).to_contain_text("vuskit explore")
    assert page.url.endswith("#run?kind=sequence&length=1000-9999")
    follow(page, link(page, "Series"))
    expect(page.locator("#rows")).to_have_text("1 to 3 of 3")
    expect(page.locator("#number")).to_be_hidden()  # all series have several anomalies


def test_tables_as_latex_and_markdown(open_page, path):
    page = open_page(path)
    page.click('[data-copy="board-table"][data-form="latex"]')
    expect(page.locator("#told")).to_have_text(re.compile("rows copied"))
    assert clipboard(page).startswith("\\begin{tabular}{lrrrr}\n\\toprule\ndetector & series &")
    follow(page, link(page, "Detectors"))
    page.evaluate("() => { document.getElementById('told').textContent = ''; }")
    page.click('[data-copy="sets-table"][data-form="markdown"]')
    expect(page.locator("#told")).to_have_text(re.compile("rows copied"))
    assert "1.000 [1.000 to 1.000]" in clipboard(page)
