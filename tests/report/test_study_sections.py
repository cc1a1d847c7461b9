"""Sections of the studies: they hold what the results hold, and a browser shows it."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import cbook
from report.browser import (
    copied,
    eventually,
    expect,
    go,
    low_contrast,
    scrolls_sideways,
    tab_stops,
)
from studies.scored import SOME, make_scored, make_several

from vuskit._util.environment import describe_environment
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report.figures._families import FAMILY_TITLES, family_color
from vuskit.report.page import studies as numbers
from vuskit.report.page import studies_page_html
from vuskit.report.page.studies import (
    box_numbers,
    joint_table,
    ratio_table,
    sampled,
    slope_table,
    study_sections,
)
from vuskit.studies import (
    consistency_study,
    robustness_study,
    scenario_study,
    separability_study,
    summarize,
)
from vuskit.studies.base import Failure
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.timing import Sample, Setting, TimingResult, rows_of_sweep, settings_of

EVIL = "<img src=x onerror=alert(1)>"
EVIL_DETECTOR = "</script><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def robust():
    return robustness_study(make_several(), **SOME)


@pytest.fixture(scope="module")
def separable():
    return separability_study(make_several(), count=6, **SOME)


@pytest.fixture(scope="module")
def consistent():
    return consistency_study(make_several(), **SOME)


@pytest.fixture(scope="module")
def walked():
    return scenario_study()


@pytest.fixture(scope="module")
def summary(robust, separable, consistent):
    return summarize(robust, separable, consistent)


def timings(settings, name):
    """Made up, so that every curve is known: milliseconds grow with points and anomalies."""
    samples = [
        Sample(name.format(k), contestant, one, seconds, 1000 * one.n_points)
        for k, one in enumerate(settings)
        for contestant, factor in (("naive", 4.0), ("opt", 2.0), ("fast_exact", 0.5))
        for seconds in np.array([0.9, 1.0, 1.3]) * 1e-6 * factor * (one.n_points + one.n_anomalies)
    ]
    return TimingResult(tuple(samples), (), describe_environment())


@pytest.fixture(scope="module")
def timed():
    return timings(settings_of(quick=True), "synthetic-0")


@pytest.fixture(scope="module")
def timed_series():
    grown = [
        Setting(n_points=1000 * k, n_anomalies=k * k, mean_length=5.0 + k % 3) for k in range(1, 9)
    ]
    return timings(grown, "ECG/{}")


@pytest.fixture(scope="module")
def results(robust, separable, consistent, walked, summary, timed):
    return [robust, separable, consistent, walked, summary, timed]


@pytest.fixture(scope="module")
def page(results):
    return studies_page_html(results)


def data_of(result):
    (section,) = study_sections([result])
    # As the page gets it: JSON knows neither tuples nor NaN.
    return json.loads(json.dumps(section.data, allow_nan=False))


def decoded(text, *shape):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)


def as_floats(values):
    return [float("nan") if value is None else float(value) for value in values]


def table_equals(table, frame):
    assert table["columns"] == list(map(str, frame.columns))
    assert len(table["rows"]) == len(frame)
    for row, expected in zip(table["rows"], frame.itertuples(index=False), strict=True):
        for value, other in zip(row, expected, strict=True):
            if isinstance(other, float):
                assert float("nan" if value is None else value) == pytest.approx(
                    other, rel=0, abs=0, nan_ok=True
                )
            else:
                assert value == other


def test_every_study_has_a_section_of_its_own(results):
    sections = study_sections([*results, results[0]])
    keys = [section.key for section in sections]
    assert keys == [
        "robustness", "separability", "consistency", "scenarios", "summary", "timing",
        "robustness-2",
    ]  # fmt: skip
    assert all("<h1>" in section.html for section in sections)
    assert sections[-1].title == "Robustness (2)"


def test_only_results_of_studies_are_taken():
    with pytest.raises(InvalidInputError, match=r"must be results of studies .* got dict"):
        study_sections([{}])
    with pytest.raises(InvalidInputError, match="at least one result of a study, got none"):
        study_sections([])


def test_families_have_the_colors_of_the_figures(robust, walked):
    data = data_of(walked)
    assert [one["name"] for one in data["measures"]] == list(walked.study.names)
    for measure, shown in zip(walked.measures, data["measures"], strict=True):
        family = data["families"][shown["family"]]
        assert family == {
            "title": FAMILY_TITLES[shown["family"]],
            "color": family_color(measure),
        }


def test_robustness_holds_averages_data_sets_and_tests(robust):
    data = data_of(robust)
    averages = robust.averages()
    for kind in robust.study.perturbations:
        assert data["averages"][kind] == averages[kind].to_list()
        assert data["over_series"][kind] == robust.averages(over="series")[kind].to_list()
        table = robust.by_dataset().loc[kind]
        assert data["datasets"]["names"] == list(table.index)
        assert data["datasets"]["values"][kind] == table.to_numpy().tolist()
        comparison = robust.compare(kind)
        table_equals(data["tests"][kind]["ranks"], comparison.to_frame())
        assert data["tests"][kind]["groups"] == [list(group) for group in comparison.groups]
        assert data["tests"][kind]["sentences"][:2] == list(comparison.tests)
    table_equals(data["undefined"], robust.undefined())


def test_robustness_boxes_are_those_of_the_centered_values(robust):
    data = data_of(robust)
    assert [one["name"] for one in data["series"]] == [one.name for one in robust.values]
    assert data["note"] == ""
    one = data["series"][1]
    boxes = decoded(one["boxes"], 3, 1 + len(one["detectors"]), 4, 5)
    for k, kind in enumerate(robust.study.perturbations):
        centered = robust.centered(one["name"], kind)
        np.testing.assert_allclose(boxes[k, 0], box_numbers(centered.to_numpy().T), rtol=1e-6)
        for j, detector in enumerate(one["detectors"], start=1):
            own = centered.loc[detector].to_numpy().T
            np.testing.assert_allclose(boxes[k, j], box_numbers(own), rtol=1e-6)


def test_boxes_are_those_of_matplotlib():
    values = np.random.default_rng(3).standard_t(2, size=(6, 40))
    values[1, ::3] = np.nan
    values[2] = 0.25
    values[3, 1:] = np.nan
    for row, found in zip(values, box_numbers(values), strict=True):
        (stats,) = cbook.boxplot_stats(row[np.isfinite(row)])
        names = ("whislo", "q1", "med", "q3", "whishi")
        np.testing.assert_allclose(found, [stats[name] for name in names])
    assert np.isnan(box_numbers(np.full(5, np.nan))).all()


def test_separability_holds_z_and_pairs(separable):
    data = data_of(separable)
    table_equals(data["averages"], separable.averages().reset_index())
    assert data["rule"] == separable.rule
    table_equals(data["test"]["ranks"], separable.compare().to_frame())
    frame = separable.to_frame()
    for one, values in zip(data["series"], separable.values, strict=True):
        assert one["pairs"] == values.notes["pairs"]
        z = decoded(one["z"], len(one["pairs"]), 4)
        own = frame[(frame["series"] == values.series) & (frame["dataset"] == values.dataset)]
        for row, (good, bad) in zip(z, one["pairs"], strict=True):
            pair = own[(own["accurate"] == good) & (own["inaccurate"] == bad)]
            np.testing.assert_allclose(row, pair["z"], rtol=1e-6)
        boxes = decoded(one["boxes"], len(one["detectors"]), 4, 5)
        good, bad = one["pairs"][0]
        expected = separable.pair_values(values.name, good, bad).loc[bad].to_numpy().T
        found = boxes[one["detectors"].index(bad)]
        np.testing.assert_allclose(found, box_numbers(expected), rtol=1e-6)


def test_consistency_holds_ranks_and_entropies(consistent):
    data = data_of(consistent)
    assert data["entropies"] == consistent.averages()["entropy"].to_list()
    assert data["by_family"] == consistent.by_family().to_dict()
    table_equals(data["datasets"], consistent.by_dataset().reset_index())
    assert [one["name"] for one in data["maps"]] == ["", "plant", "mill"]
    for one in data["maps"]:
        table = consistent.rank_table(one["name"] or None)
        assert one["detectors"] == list(table.index)
        np.testing.assert_allclose(decoded(one["ranks"], *table.shape), table, rtol=1e-6)
        entropies = consistent.entropies()
        own = (
            entropies.loc[one["name"]]
            if one["name"]
            else entropies.groupby(level="detector", sort=False).mean()
        )
        np.testing.assert_allclose(decoded(one["entropies"], *own.shape), own, rtol=1e-6)


def test_a_data_set_too_small_for_entropies_still_has_ranks():
    several = [*make_several(), make_scored(9, dataset="single")]
    found = consistency_study(several, **SOME)
    data = data_of(found)
    assert data["small"] == ["single"]
    lone = data["maps"][-1]
    assert lone["name"] == "single"
    assert np.isnan(decoded(lone["entropies"], 4, 4)).all()
    np.testing.assert_allclose(decoded(lone["ranks"], 4, 4), found.rank_table("single"))


def test_scenarios_and_summary_hold_their_frames(walked, summary):
    data = data_of(walked)
    assert data["values"] == walked.values.tolist()
    assert data["sweep"] == walked.sweep.tolist()
    assert data["positions"] == walked.positions.tolist()
    table_equals(data["touch"], walked.at_first_touch().reset_index())
    assert [one["name"] for one in data["scenarios"]] == [f"S{k}" for k in range(1, 13)]
    data = data_of(summary)
    table_equals(data["ranks"], summary.ranks.reset_index())
    table_equals(data["scores"], summary.scores.reset_index())
    table_equals(data["scatter"], summary.scatter().reset_index())


def test_timing_holds_sweeps_and_tables(timed):
    data = data_of(timed)
    assert [one["name"] for one in data["contestants"]] == ["naive", "opt", "fast_exact"]
    assert len(data["panels"]) == 6
    table_equals(data["summary"], timed.summary())
    cells = rows_of_sweep(timed.summary(), "n_points")
    opt = cells[cells["contestant"] == "opt"]
    curve = next(one for one in data["panels"] if one["parameter"] == "n_points")["curves"][1]
    assert curve["x"] == opt["n_points"].to_list()
    assert curve["seconds"][0] == opt["median"].to_list()
    assert curve["seconds"][2] == opt["upper_quartile"].to_list()
    assert curve["peak memory (bytes)"][0] == opt["peak_bytes"].to_list()
    tables = data["tables"]
    table_equals(tables["How many times longer"], ratio_table(timed))
    table_equals(tables["Each parameter by itself"], slope_table(timed))
    table_equals(tables["The series' properties together"], joint_table(timed))


def test_timing_of_real_series_has_three_panels_with_dots(timed_series):
    data = data_of(timed_series)
    assert [one["parameter"] for one in data["panels"]] == [
        "n_anomalies",
        "mean_length",
        "n_points",
    ]
    curve = data["panels"][2]["curves"][0]
    cells = timed_series.summary().query("contestant == 'naive'")
    assert curve["dots"]["x"] == cells["n_points"].to_list()
    assert curve["dots"]["seconds"] == cells["median"].to_list()
    assert "Each parameter by itself" not in data["tables"]


def test_items_are_drawn_evenly_from_groups():
    names = [f"{letter}{k}" for letter in "ab" for k in range(5)] + ["c0"]
    found = sampled(names, 6, group=lambda name: name[0])
    assert found == ["a0", "a1", "a2", "b0", "b1", "c0"]
    assert sampled(names, 50) == names


def test_many_series_are_thinned_to_a_sample_that_says_so(robust, separable, monkeypatch):
    monkeypatch.setattr(numbers, "ROOM", 5_000)
    data = data_of(robust)
    assert 0 < len(data["series"]) < 6
    assert {one["name"].split("/")[0] for one in data["series"]} == {"plant", "mill"}
    assert data["note"] == f"A sample of {len(data['series'])} of 6 series, from all data sets."
    assert data["averages"]["lag"] == robust.averages()["lag"].to_list()
    monkeypatch.setattr(numbers, "ROOM", 700)
    data = data_of(separable)
    assert data["note"].startswith(f"A sample of {len(data['series'])} of 6 series with pairs")


def test_undefined_and_infinite_values_are_not_hidden(separable):
    first = separable.values[0]
    flat = np.array(first.values)
    flat[:, :, 0] = np.arange(flat.shape[0])[:, None]  # nothing varies: z is infinite
    flat[:, :, 1] = np.nan
    odd = type(first)(first.dataset, first.series, first.buffer, first.axes, flat, first.notes)
    values = (odd, *separable.values[1:])
    failed = (Failure("x/y", "why"),)
    result = SeparabilityResult(values, study=separable.study, failures=failed)
    data = data_of(result)
    z = decoded(data["series"][0]["z"], -1, 4)
    assert np.isinf(z[:, 0]).all()
    assert np.isnan(z[:, 1]).all()
    assert data["failures"] == {"count": 1, "rows": [["x/y", "why"]]}
    undefined = data["averages"]["columns"].index("undefined")
    assert data["averages"]["rows"][1][undefined] == len(first.notes["pairs"])


def test_too_few_series_for_a_test_are_no_obstacle():
    found = robustness_study(make_scored(1), **SOME)
    assert data_of(found)["tests"] == {"lag": None, "noise": None, "ratio": None}


def evil_page():
    """Names from files wherever a name can be."""
    several = []
    for seed in range(3):
        scored = make_scored(seed)
        good, _, _, bad = scored.scores.values()
        series = Series(f"{EVIL}{seed}", EVIL, scored.series.values, scored.series.labels)
        several.append(ScoredSeries(series, {EVIL: good, EVIL_DETECTOR: bad}))
    own = Measure(EVIL, EVIL_DETECTOR, lambda y_true, y_score: float(y_score.mean()), EVIL)
    options = {**SOME, "measures": [*SOME["measures"], own]}
    found = robustness_study(several, **options)
    failed = replace(found, failures=(Failure(EVIL, EVIL_DETECTOR),))
    others = [separability_study(several, count=4, **options)]
    others.append(consistency_study(several, **options))
    return studies_page_html([failed, *others])


# ---- in a browser ----

SECTIONS = ["robustness", "separability", "consistency", "scenarios", "summary", "timing"]


def test_every_section_opens_and_fits_any_width(page, open_page):
    for width in (1280, 390):
        shown = open_page(page, width=width, dark=width == 390)
        for key in SECTIONS:
            go(shown, key)
            assert not scrolls_sideways(shown)
            empty = "plots => plots.filter((plot) => !plot.querySelector('[data-mark]')).length"
            assert shown.eval_on_selector_all(".plot", empty) == 0
            assert low_contrast(shown) == []


def test_drawings_are_reached_and_read_by_keyboard(page, open_page, walked):
    shown = open_page(page)
    go(shown, "scenarios")
    stops = tab_stops(shown)
    names = [stop["name"] for stop in stops]
    assert any(name.startswith("Values in the scenario") for name in names)
    assert all(stop["visible"] for stop in stops)
    shown.locator("#walk-bars .plot").focus()
    for _ in range(13):
        shown.keyboard.press("ArrowDown")
    value = float(walked.to_frame().set_index("scenario").loc["S3", "vus_pr"])
    expected = f"VUS-PR\nS3, just missing: {float(f'{value:.6g}'):g}"
    assert eventually(lambda: shown.locator("#tip").inner_text() == expected)
    assert shown.locator("#told").text_content() == expected
    shown.keyboard.press("Enter")
    pressed = shown.locator('.choice[aria-pressed="true"]', has_text="VUS-PR")
    expect(pressed).to_have_count(1)


def test_the_slider_moves_the_prediction(page, open_page, walked):
    shown = open_page(page)
    go(shown, "scenarios")
    before = shown.locator(".prediction").get_attribute("x")
    slider = shown.locator("#scenario")
    slider.focus()
    for _ in range(5):
        shown.keyboard.press("ArrowRight")
    expect(shown.locator("#scenario-name")).to_have_text("S8: exact match")
    assert float(shown.locator(".prediction").get_attribute("x")) > float(before)
    values = shown.locator("#walk-bars .value").all_text_contents()
    exact = walked.values[7]
    assert [float(value) for value in values] == pytest.approx(exact.tolist(), abs=5e-3)
    header, row = copied(shown, "walk")
    assert row[0] == "S8"
    assert [float(value) for value in row[4:]] == exact.tolist()
    assert header[4:] == list(walked.study.names)


def test_selects_show_other_series_detectors_and_pairs(page, open_page, robust, separable):
    shown = open_page(page)
    go(shown, "robustness")
    shown.select_option("#boxes-series", label="mill/s3")
    shown.select_option("#boxes-detector", label="late")
    row = next(row for row in copied(shown, "boxes") if row[2:4] == ["noise", "vus_pr"])
    assert row[:2] == ["mill/s3", "late"]
    expected = box_numbers(robust.centered("mill/s3", "noise").loc["late"]["vus_pr"].to_numpy())
    assert [float(value) for value in row[4:]] == pytest.approx(expected.tolist(), rel=1e-5)
    go(shown, "separability")
    shown.select_option("#pairs-series", label="plant/s2")
    one = next(values for values in separable.values if values.name == "plant/s2")
    pairs = [f"{good} against {bad}" for good, bad in one.notes["pairs"]]
    expect(shown.locator("#pairs-pair option")).to_have_text(pairs)
    expect(shown.locator("header")).to_contain_text(separable.rule)


def test_copied_tables_are_the_frames(page, open_page, robust, consistent, summary):
    shown = open_page(page)
    go(shown, "robustness")
    found = copied(shown, "averages")
    assert found[0][:4] == ["measure", "lag", "noise", "ratio"]
    for row, (name, values) in zip(found[1:], robust.averages().iterrows(), strict=True):
        assert row[0] == name
        assert [float(value) for value in row[1:4]] == values.to_list()
    go(shown, "consistency")
    copy = {row[0]: float(row[2]) for row in copied(shown, "entropies")[1:]}
    assert copy == consistent.averages()["entropy"].to_dict()
    go(shown, "summary")
    copy = {row[0]: float(row[2]) for row in copied(shown, "scatter")[1:]}
    assert copy == summary.scatter()["z"].to_dict()


def test_highlight_and_filter_hold_on_the_whole_page(page, open_page):
    shown = open_page(page)
    go(shown, "robustness")
    shown.locator(".choice", has_text="VUS-PR").click()
    expect(shown.locator("#averages .bar.faint")).to_have_count(9)
    expect(shown.locator("#averages .bar:not(.faint)")).to_have_count(3)
    go(shown, "summary")
    expect(shown.locator("#summary tr.lit th")).to_have_text("VUS-PR")
    expect(shown.locator("#scatter .circle")).to_have_count(4)
    shown.locator(".choices").first.locator(".choice", has_text="threshold").click()
    expect(shown.locator("#scatter .circle")).to_have_count(3)
    go(shown, "robustness")
    expect(shown.locator("#averages .bar")).to_have_count(9)
    shown.locator("button", has_text="show all").click()
    expect(shown.locator("#averages .bar")).to_have_count(12)
    expect(shown.locator(".faint")).to_have_count(0)


def test_tables_sort_and_the_order_survives_a_choice(page, open_page, summary):
    shown = open_page(page)
    go(shown, "summary")
    shown.locator("#scores th", has_text="lag").get_by_role("button").click()
    titles = {measure.name: measure.title for measure in summary.measures}
    falling = summary.scores["lag"].sort_values(ascending=False).index
    expected = [titles[name] for name in falling]
    expect(shown.locator("#scores tbody th")).to_have_text(expected)
    shown.locator(".choice", has_text="VUS-PR").click()
    expect(shown.locator("#scores tr.lit th")).to_have_text("VUS-PR")
    expect(shown.locator("#scores tbody th")).to_have_text(expected)


def test_the_pointer_reads_values_off_curves_and_bars(page, open_page, robust, walked):
    shown = open_page(page)
    go(shown, "robustness")
    shown.locator("#averages .bar").first.hover()
    expect(shown.locator("#tip")).to_have_text(re.compile("^F\n"))
    _, first, _ = shown.locator("#tip").inner_text().split("\n")
    assert float(first.split()[-1]) == pytest.approx(robust.averages()["lag"].iloc[0], rel=1e-5)
    go(shown, "scenarios")
    plot = shown.locator("#sweep .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    curve = shown.locator("#sweep .line").last.get_attribute("d")
    x, y = (float(part) for part in curve.split("L")[60].split())
    shown.mouse.move(box["x"] + x, box["y"] + y)
    expect(shown.locator("#tip")).to_be_visible()
    title, end, value = shown.locator("#tip").inner_text().split("\n")
    at = int(end.split()[-1])
    place = walked.positions.tolist().index(at)
    column = [measure.title for measure in walked.measures].index(title)
    assert float(value.split()[-1]) == pytest.approx(walked.sweep[place, column], rel=1e-5)


def test_names_from_files_run_nothing(open_page):
    shown = open_page(evil_page())
    for key in ("robustness", "separability", "consistency"):
        go(shown, key)
        assert shown.locator("img").count() == 0
        assert "taken" not in shown.title()
    go(shown, "robustness")
    expect(shown.locator("#boxes-series option").first).to_have_text(f"{EVIL}/{EVIL}0")
    expect(shown.locator("#failures")).to_contain_text(EVIL_DETECTOR)
    before = shown.locator("#boxes svg").first.inner_html()
    shown.select_option("#boxes-detector", label=EVIL_DETECTOR)
    assert eventually(lambda: shown.locator("#boxes svg").first.inner_html() != before)
    expect(shown.locator("#boxes [data-mark]")).to_have_count(15)
    expect(shown.locator(".choice").last).to_have_text(EVIL_DETECTOR)
    go(shown, "consistency")
    expect(shown.locator("#entropies text").last).to_contain_text(EVIL)


def test_memory_and_highlight_of_the_execution_time(page, open_page):
    shown = open_page(page)
    go(shown, "timing")
    before = shown.locator("#panels svg").first.inner_html()
    shown.select_option("#panels-quantity", label="peak memory (bytes)")
    assert eventually(lambda: shown.locator("#panels svg").first.inner_html() != before)
    shown.locator(".choice", has_text="VUS opt").click()
    expect(shown.locator("#panels .line.lit")).to_have_count(6)
    expect(shown.locator("#panels .line.faint")).to_have_count(12)


def test_real_series_and_single_series_open_without_complaint(timed_series, open_page):
    alone = robustness_study(make_scored(1), **SOME)
    shown = open_page(studies_page_html([alone, timed_series]))
    expect(shown.locator("#ranks")).to_contain_text("Too few series")
    go(shown, "timing")
    expect(shown.locator("#panels .dots")).to_have_count(9)
