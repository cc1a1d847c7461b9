"""Sections of the studies: they hold what the results hold, and a browser shows it."""

from __future__ import annotations

import base64
import html
import json
import re
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
import pandas as pd
import pytest
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

from vuskit._util.optional import describe_environment
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.figures import SeriesDisplay
from vuskit.figures._drawing import FAMILY_TITLES, box_numbers, family_color
from vuskit.measures.registry import Measure
from vuskit.report.page import studies as numbers
from vuskit.report.page import studies_page_html, write_study
from vuskit.report.page.studies import DRAWN_KINDS, study_sections
from vuskit.studies import (
    base as studies_registry,
)
from vuskit.studies import run_study, summarize
from vuskit.studies.base import Study, study
from vuskit.studies.result import Failure, StudyResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.timing import (
    Setting,
    TimingResult,
)
from vuskit.studies.timing.cases import PARAMETERS, settings_of
from vuskit.studies.timing.results import Sample
from vuskit.studies.timing.tables import joint_slopes, rows_of_sweep, single_slopes, speed_ratios

EVIL = "<img src=x onerror=alert(1)>"
EVIL_DETECTOR = "</script><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def robust():
    return run_study("robustness", make_several(), **SOME)


@pytest.fixture(scope="module")
def separable():
    return run_study("separability", make_several(), count=6, **SOME)


@pytest.fixture(scope="module")
def consistent():
    return run_study("consistency", make_several(), **SOME)


@pytest.fixture(scope="module")
def walked():
    return run_study("scenarios")


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


TEXTS = {}  # with the results, so that no other result gets the identity of one


def data_of(result):
    """Data of the section of a result, made once for each size of a page."""
    key = (id(result), numbers.ROOM)
    if key not in TEXTS:
        (section,) = study_sections([result])
        # As the page gets it: JSON knows neither tuples nor NaN.
        TEXTS[key] = (json.dumps(section.data, allow_nan=False), result)
    return json.loads(TEXTS[key][0])


def figure_of(result, name):
    """A figure as the page gets it; the displays of a choice by their keys."""
    figure = next(one for one in data_of(result)["figures"] if one["name"] == name)
    if figure["kind"] != "choice":
        return figure
    return {
        tuple(one["key"]): {**figure["shared"], **unpacked(one["figure"])}
        for one in figure["choices"]
    }


def table_of(result, name):
    return next(one for one in data_of(result)["tables"] if one["name"] == name)


def unpacked(value):
    """What the scripts do to packed numbers."""
    if isinstance(value, list):
        return [unpacked(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "f4" not in value:
        return {name: unpacked(one) for name, one in value.items()}
    found = np.frombuffer(base64.b64decode(value["f4"]), dtype="<f4")
    return found.reshape(-1, value["columns"]) if "columns" in value else found


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
    with pytest.raises(InvalidInputError, match=r"must be results of studies, got dict"):
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
    averages = figure_of(robust, "averages")
    assert [one["title"] for one in averages["panels"]] == list(robust.study.perturbations)
    for panel in averages["panels"]:
        kind = panel["title"]
        assert panel["values"] == robust.averages()[kind].to_list()
        table = robust.by_dataset().loc[kind]
        datasets = figure_of(robust, f"datasets_{kind}")["panels"]
        assert [one["title"] for one in datasets] == list(table.index)
        assert [one["values"] for one in datasets] == table.to_numpy().tolist()
        comparison = robust.compare(kind)
        table_equals(table_of(robust, f"ranks_{kind}"), comparison.to_frame())
        ranks = figure_of(robust, f"ranks_{kind}")
        names = [one["name"] for one in ranks["items"]]
        assert [one["rank"] for one in ranks["items"]] == comparison.summary["mean_rank"].to_list()
        assert [one["upper"] for one in ranks["items"]] == comparison.summary["upper"].to_list()
        groups = [tuple(names[place] for place in group) for group in ranks["groups"]]
        assert groups == list(comparison.groups)
        assert all(text in ranks["caption"] for text in comparison.tests)
    over_series = robust.averages(over="series").rename_axis("measure").reset_index()
    table_equals(table_of(robust, "averages_over_series"), over_series)
    table_equals(table_of(robust, "undefined"), robust.undefined())


def test_robustness_boxes_are_those_of_the_centered_values(robust):
    boxes = figure_of(robust, "boxes")
    assert list(dict.fromkeys(series for series, _ in boxes)) == [one.name for one in robust.values]
    one = robust.values[1]
    for detector in ("all detectors", *one.axes["detector"]):
        panels = boxes[one.name, detector]["panels"]
        assert [panel["title"] for panel in panels] == list(robust.study.perturbations)
        for panel in panels:
            values = robust.centered(one.name, panel["title"])
            own = values if detector == "all detectors" else values.loc[detector]
            expected = box_numbers(own.to_numpy().T)
            np.testing.assert_allclose(panel["boxes"], expected, rtol=1e-6)
            inside = (own >= expected[:, 0]) & (own <= expected[:, 4])
            assert [len(points) for points in panel["outliers"]] == (
                own.notna() & ~inside
            ).sum().to_list()


def test_separability_holds_z_and_pairs(separable):
    table_equals(table_of(separable, "averages"), separable.averages().reset_index())
    panels = {one["title"]: one["values"] for one in figure_of(separable, "z")["panels"]}
    assert panels["median z"] == separable.averages()["median"].to_list()
    table_equals(table_of(separable, "ranks"), separable.compare().to_frame())
    assert html.escape(separable.rule) in study_sections([separable])[0].html
    frame = separable.to_frame()
    figures = figure_of(separable, "pairs")
    for values in separable.values:
        own = frame[(frame["series"] == values.series) & (frame["dataset"] == values.dataset)]
        assert (values.name, "first pairs") in figures
        for good, bad in values.notes["pairs"]:
            (panel,) = figures[values.name, f"{good} | {bad}"]["panels"]
            pair = own[(own["accurate"] == good) & (own["inaccurate"] == bad)]
            np.testing.assert_allclose(np.asarray(panel["z"], float), pair["z"], rtol=1e-6)
            for name, detector in zip((good, bad), panel["detectors"], strict=True):
                expected = separable.pair_values(values.name, good, bad).loc[name].to_numpy().T
                np.testing.assert_allclose(detector["boxes"], box_numbers(expected), rtol=1e-6)


def test_consistency_holds_ranks_and_entropies(consistent):
    entropies = figure_of(consistent, "entropies")
    assert entropies["values"] == consistent.averages()["entropy"].to_list()
    by_family = {one["family"]: one["value"] for one in entropies["by_family"]}
    assert by_family == consistent.by_family().to_dict()
    ranks, detectors = figure_of(consistent, "ranks"), figure_of(consistent, "detectors")
    assert list(ranks) == list(detectors) == [("all data sets",), ("plant",), ("mill",)]
    for (name,), one in ranks.items():
        table = consistent.rank_table(None if name == "all data sets" else name)
        assert one["detectors"] == list(table.index)
        np.testing.assert_allclose(one["values"], table, rtol=1e-6)
        found = consistent.entropies()
        own = (
            found.groupby(level="detector", sort=False).mean()
            if name == "all data sets"
            else found.loc[name]
        )
        np.testing.assert_allclose(detectors[name,]["values"], own, rtol=1e-6)


def test_a_data_set_too_small_for_entropies_still_has_ranks():
    several = [*make_several(), make_scored(9, dataset="single")]
    found = run_study("consistency", several, **SOME)
    assert found.small_datasets == ("single",)
    lone = figure_of(found, "ranks")["single",]
    np.testing.assert_allclose(lone["values"], found.rank_table("single"))
    assert ("single",) not in figure_of(found, "detectors")


def test_scenarios_and_summary_hold_their_frames(walked, summary):
    figure = figure_of(walked, "values")
    assert figure["values"] == walked.values.tolist()
    assert [one["name"] for one in figure["scenarios"]] == [f"S{k}" for k in range(1, 15)]
    sweep = figure_of(walked, "sweep")
    assert sweep["values"] == walked.sweep.tolist()
    assert sweep["positions"] == walked.positions.tolist()
    table_equals(table_of(walked, "touch"), walked.at_first_touch().reset_index())
    ranks = figure_of(summary, "ranks")
    assert [one["name"] for one in ranks["measures"]] == list(summary.ranks.index)
    assert ranks["values"] == summary.ranks.to_numpy().tolist()
    table_equals(table_of(summary, "ranks"), summary.to_frame())
    table_equals(table_of(summary, "scatter"), summary.scatter().reset_index())


def test_timing_holds_sweeps_and_tables(timed):
    seconds, memory = figure_of(timed, "seconds"), figure_of(timed, "memory")
    assert [one["name"] for one in seconds["contestants"]] == ["naive", "opt", "fast_exact"]
    assert [one["title"] for one in seconds["panels"]] == [one.title for one in PARAMETERS.values()]
    table_equals(table_of(timed, "summary"), timed.summary())
    cells = rows_of_sweep(timed.summary(), "n_points")
    opt = cells[cells["contestant"] == "opt"]
    place = list(PARAMETERS).index("n_points")
    curve = seconds["panels"][place]["curves"][1]
    assert curve["x"] == opt["n_points"].to_list()
    assert curve["middle"] == opt["median"].to_list()
    assert curve["upper"] == opt["upper_quartile"].to_list()
    assert memory["panels"][place]["curves"][1]["middle"] == opt["peak_bytes"].to_list()
    table_equals(table_of(timed, "ratios"), speed_ratios(timed))
    table_equals(table_of(timed, "slopes"), single_slopes(timed))
    table_equals(table_of(timed, "joint_slopes"), joint_slopes(timed))


def test_timing_of_real_series_has_three_panels_with_dots(timed_series):
    figure = figure_of(timed_series, "seconds")
    names = ("n_anomalies", "mean_length", "n_points")
    assert [one["title"] for one in figure["panels"]] == [PARAMETERS[name].title for name in names]
    curve = figure["panels"][2]["curves"][0]
    cells = timed_series.summary().query("contestant == 'naive'")
    assert curve["dots"]["x"] == cells["n_points"].to_list()
    assert curve["dots"]["y"] == cells["median"].to_list()
    assert "slopes" not in [one["name"] for one in data_of(timed_series)["tables"]]


def test_many_series_are_thinned_to_a_sample(robust, separable, monkeypatch):
    monkeypatch.setattr(numbers, "ROOM", 25_000)
    figure = next(one for one in data_of(robust)["figures"] if one["name"] == "boxes")
    series = {one["key"][0] for one in figure["choices"]}
    assert 0 < len(series) < 6
    assert {name.split("/")[0] for name in series} == {"plant", "mill"}
    assert figure["total"] == 6 * 5 > len(figure["choices"]) == 5 * len(series)
    assert (
        figure_of(robust, "averages")["panels"][0]["values"] == robust.averages()["lag"].to_list()
    )
    monkeypatch.setattr(numbers, "ROOM", 700)
    figure = next(one for one in data_of(separable)["figures"] if one["name"] == "pairs")
    assert {one["key"][0] for one in figure["choices"]} == {separable.values[0].name}


def test_undefined_and_infinite_values_are_not_hidden(separable):
    first = separable.values[0]
    flat = np.array(first.values)
    flat[:, :, 0] = np.arange(flat.shape[0])[:, None]  # nothing varies: z is infinite
    flat[:, :, 1] = np.nan
    odd = type(first)(first.dataset, first.series, first.buffer, first.axes, flat, first.notes)
    values = (odd, *separable.values[1:])
    failed = (Failure("x/y", "why"),)
    result = SeparabilityResult(values, study=separable.study, failures=failed)
    for panel in figure_of(result, "pairs")[first.name, "first pairs"]["panels"]:
        z = np.array([np.nan if value is None else float(value) for value in panel["z"]])
        assert np.isinf(z[0])
        assert np.isnan(z[1])
    assert "x/y: why" in study_sections([result])[0].html
    averages = table_of(result, "averages")
    undefined = averages["columns"].index("undefined")
    assert averages["rows"][1][undefined] == len(first.notes["pairs"])


def test_too_few_series_for_a_test_are_no_obstacle():
    found = run_study("robustness", make_scored(1), **SOME)
    names = [one["name"] for one in data_of(found)["figures"]]
    assert "averages" in names
    assert not [name for name in names if name.startswith("ranks")]


def test_the_page_draws_the_kinds_that_python_names():
    script = (resources.files("vuskit.report.page") / "assets" / "studies.js").read_text()
    drawn = set(re.findall(r'figures\.add\("(\w+)"', script))
    assert drawn == DRAWN_KINDS | {"picture"}


@dataclass(frozen=True, eq=False)
class LengthsResult(StudyResult):
    """A study of a user: how long the series are."""

    lengths: dict[str, int]

    def tables(self):
        names = list(self.lengths)
        return {"lengths": pd.DataFrame({"series": names, "length": self.lengths.values()})}

    def figures(self):
        line = np.array(list(self.lengths.values()), dtype=float)
        own = SeriesDisplay(np.zeros(line.size, dtype=bool), {"lengths": line}, title="Lengths")
        return {"lengths": own}


@pytest.fixture
def own_study(monkeypatch):
    monkeypatch.setattr("vuskit.studies.base._STUDIES", dict(studies_registry._STUDIES))

    @study(title="Lengths & more", question="How long are <series>?", better="lower")
    @dataclass(frozen=True)
    class Lengths(Study[LengthsResult]):
        def per_series(self, scored):
            return {f"{scored.series.dataset}/{scored.series.name}": scored.series.n_points}

        def combine(self, parts):
            return LengthsResult({name: one for part in parts for name, one in part.items()})

    return Lengths


def test_a_registered_study_has_a_page_and_a_folder(own_study, tmp_path):
    result = own_study(measures=["vus_pr"]).run(make_several())
    (section,) = study_sections([result])
    assert (section.key, section.title) == ("lengths", "Lengths & more")
    assert "How long are &lt;series&gt;?" in section.html
    (figure,) = section.data["figures"]
    assert figure["kind"] == "picture"  # no script draws it, so matplotlib did
    assert figure["picture"].startswith("data:image/png;base64,")
    assert section.data["tables"][0]["rows"][0] == ["plant/s0", 600]
    names = {path.name for path in write_study(result, tmp_path)}
    assert names >= {"lengths.md", "lengths_lengths.csv", "lengths_lengths.png"}


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
    found = run_study("robustness", several, **options)
    failed = replace(found, failures=(Failure(EVIL, EVIL_DETECTOR),))
    others = [run_study("separability", several, count=4, **options)]
    others.append(run_study("consistency", several, **options))
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
    shown.locator(".walk-bars .plot").focus()
    for _ in range(13):
        shown.keyboard.press("ArrowDown")
    value = float(walked.to_frame().set_index("scenario").loc["S1", "vus_pr"])
    expected = f"VUS-PR\nS1, just missing: {float(f'{value:.6g}'):g}"
    assert eventually(lambda: shown.locator("#tip").inner_text() == expected)
    assert shown.locator("#told").text_content() == expected
    shown.keyboard.press("Enter")
    pressed = shown.locator('.choice[aria-pressed="true"]', has_text="VUS-PR")
    expect(pressed).to_have_count(1)


def test_the_slider_moves_the_prediction(page, open_page, walked):
    shown = open_page(page)
    go(shown, "scenarios")
    before = shown.locator(".prediction").get_attribute("x")
    slider = shown.locator("#figure-values-scenario")
    slider.focus()
    for _ in range(7):
        shown.keyboard.press("ArrowRight")
    expect(shown.locator(".scenario-name")).to_have_text("S8: exact match")
    assert float(shown.locator(".prediction").get_attribute("x")) > float(before)
    values = shown.locator(".walk-bars .value").all_text_contents()
    exact = walked.values[7]
    assert [float(value) for value in values] == pytest.approx(exact.tolist(), abs=5e-3)
    header, *rows = copied(shown, "figure-values")
    row = rows[7]
    assert row[0] == "S8"
    assert [float(value) for value in row[4:]] == exact.tolist()
    assert header[4:] == list(walked.study.names)


def test_selects_show_other_series_detectors_and_pairs(page, open_page, robust, separable):
    shown = open_page(page)
    go(shown, "robustness")
    shown.select_option("#figure-boxes-series", label="mill/s3")
    shown.select_option("#figure-boxes-detector", label="late")
    row = next(row for row in copied(shown, "figure-boxes") if row[2:4] == ["noise", "vus_pr"])
    assert row[:2] == ["mill/s3", "late"]
    expected = box_numbers(robust.centered("mill/s3", "noise").loc["late"]["vus_pr"].to_numpy())
    assert [float(value) for value in row[4:]] == pytest.approx(expected.tolist(), rel=1e-5)
    go(shown, "separability")
    shown.select_option("#figure-pairs-series", label="plant/s2")
    one = next(values for values in separable.values if values.name == "plant/s2")
    pairs = ["first pairs", *(f"{good} | {bad}" for good, bad in one.notes["pairs"])]
    expect(shown.locator("#figure-pairs-pair option")).to_have_text(pairs)
    expect(shown.locator("header")).to_contain_text(separable.rule)


def test_copied_tables_are_the_frames(page, open_page, robust, consistent, summary):
    shown = open_page(page)
    go(shown, "robustness")
    found = copied(shown, "figure-averages")
    assert found[0][:4] == ["measure", "lag", "noise", "ratio"]
    for row, (name, values) in zip(found[1:], robust.averages().iterrows(), strict=True):
        assert row[0] == name
        assert [float(value) for value in row[1:4]] == values.to_list()
    go(shown, "consistency")
    copy = {row[0]: float(row[2]) for row in copied(shown, "figure-entropies")[1:]}
    assert copy == consistent.averages()["entropy"].to_dict()
    go(shown, "summary")
    copy = {row[0]: float(row[2]) for row in copied(shown, "figure-scatter")[1:]}
    assert copy == summary.scatter()["z"].to_dict()


def test_highlight_and_filter_hold_on_the_whole_page(page, open_page):
    shown = open_page(page)
    go(shown, "robustness")
    shown.locator(".choice", has_text="VUS-PR").click()
    expect(shown.locator("#figure-averages .bar.faint")).to_have_count(9)
    expect(shown.locator("#figure-averages .bar:not(.faint)")).to_have_count(3)
    go(shown, "summary")
    expect(shown.locator("#figure-ranks tr.lit th")).to_have_text("VUS-PR")
    expect(shown.locator("#figure-scatter .circle")).to_have_count(4)
    shown.locator(".choices").first.locator(".choice", has_text="threshold").click()
    expect(shown.locator("#figure-scatter .circle")).to_have_count(3)
    go(shown, "robustness")
    expect(shown.locator("#figure-averages .bar")).to_have_count(9)
    shown.locator("button", has_text="show all").click()
    expect(shown.locator("#figure-averages .bar")).to_have_count(12)
    expect(shown.locator(".faint")).to_have_count(0)


def test_tables_sort_and_the_order_survives_a_choice(page, open_page, summary):
    shown = open_page(page)
    go(shown, "summary")
    shown.locator("#table-ranks th", has_text="lag value").get_by_role("button").click()
    titles = {measure.name: measure.title for measure in summary.measures}
    falling = summary.scores["lag"].sort_values(ascending=False).index
    expected = [titles[name] for name in falling]
    expect(shown.locator("#table-ranks tbody th")).to_have_text(expected)
    shown.locator(".choice", has_text="VUS-PR").click()
    expect(shown.locator("#table-ranks tr.lit th")).to_have_text("VUS-PR")
    expect(shown.locator("#table-ranks tbody th")).to_have_text(expected)


def test_the_pointer_reads_values_off_curves_and_bars(page, open_page, robust, walked):
    shown = open_page(page)
    go(shown, "robustness")
    shown.locator("#figure-averages .bar").first.hover()
    expect(shown.locator("#tip")).to_have_text(re.compile("^F\n"))
    _, first = shown.locator("#tip").inner_text().split("\n")
    assert float(first.split()[-1]) == pytest.approx(robust.averages()["lag"].iloc[0], rel=1e-5)
    go(shown, "scenarios")
    plot = shown.locator("#figure-sweep .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    curve = shown.locator("#figure-sweep .line").last.get_attribute("d")
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
    expect(shown.locator("#figure-boxes-series option").first).to_have_text(f"{EVIL}/{EVIL}0")
    expect(shown.locator("#failures")).to_contain_text(EVIL_DETECTOR)
    before = shown.locator("#figure-boxes svg").first.inner_html()
    shown.select_option("#figure-boxes-detector", label=EVIL_DETECTOR)
    assert eventually(lambda: shown.locator("#figure-boxes svg").first.inner_html() != before)
    expect(shown.locator("#figure-boxes [data-mark]")).to_have_count(15)
    expect(shown.locator(".choice").last).to_have_text(EVIL_DETECTOR)
    go(shown, "consistency")
    expect(shown.locator("#figure-entropies text").last).to_contain_text(EVIL)


def test_highlight_of_the_execution_time(page, open_page):
    shown = open_page(page)
    go(shown, "timing")
    expect(shown.locator("#figure-seconds .line")).to_have_count(18)
    shown.locator("#figure-seconds .choice", has_text="VUS opt").click()
    for quantity in ("seconds", "memory"):
        expect(shown.locator(f"#figure-{quantity} .line.lit")).to_have_count(6)
        expect(shown.locator(f"#figure-{quantity} .line.faint")).to_have_count(12)


def test_real_series_and_single_series_open_without_complaint(timed_series, open_page):
    alone = run_study("robustness", make_scored(1), **SOME)
    shown = open_page(studies_page_html([alone, timed_series]))
    expect(shown.locator("#figure-averages .bar")).to_have_count(12)
    expect(shown.locator("#figure-ranks_lag")).to_have_count(0)
    go(shown, "timing")
    expect(shown.locator("#figure-seconds .dots")).to_have_count(9)
