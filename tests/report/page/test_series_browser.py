"""The page of one series, used as a reader uses it."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace

import numpy as np
import oracle
import pytest
from report.browser import (
    all_redrawn,
    blank_canvases,
    clipboard,
    copied,
    eventually,
    expect,
    low_contrast,
    pictures,
    scrolls_sideways,
    tab_stops,
)
from report.evaluated import EVIL, EVIL_SCORE, report_of

import vuskit
from vuskit.datasets import read_scores
from vuskit.datasets.synthetic import three_scores
from vuskit.report.page import series_page_html
from vuskit.report.page.document import page_document
from vuskit.report.page.series import Detail, series_section
from vuskit.studies.perturbations import shift

TRACKS = "#lines .track:not([hidden]) canvas"
N = 10_000
SIZES = [(1366, 900), (390, 844)]


@pytest.fixture(scope="module")
def report():
    scored = three_scores()
    return report_of(
        scored.series.labels, dict(scored.scores), values=scored.series.values.ravel(), buffer=40
    )


@pytest.fixture(scope="module")
def document(report):
    return series_page_html(report)


@pytest.fixture
def page(open_page, document):
    return open_page(document, width=1366)


def set_slider(page, name, value):
    """Move a control, as its reader does, and wait until the page rests with it there.

    A slow page may still be drawing an earlier change, and put the control back.
    """
    slider = page.locator(f"#{name}")

    def moved():
        before = rested(page)
        slider.fill(str(value))
        assert eventually(lambda: rested(page) > before)
        return slider.input_value() == str(value)

    assert eventually(moved)


def rested(page):
    """How often the page has drawn all that follows a change."""
    return int(page.locator(".view").get_attribute("data-rested") or 0)


def wait_for_rest(page):
    """Wait until everything is drawn for the first time."""
    assert eventually(lambda: rested(page) > 0)


def shown_measures(page):
    """Values of the table by detector and title, in all digits."""
    header, *rows = copied(page, "measures")
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def expect_values(page, report, labels, scores, **options):
    """The table holds Python's values of changed labels and scores."""
    titles = {measure.name: measure.title for measure in report.measures}

    def agrees():
        found = shown_measures(page)
        for name, score in scores.items():
            expected = vuskit.evaluate(labels, score, **{"buffer": 40, **options})
            for measure, title in titles.items():
                if not abs(float(found[name][title] or "nan") - expected[measure]) <= 1e-9:
                    return False
        return True

    assert eventually(agrees)


def expect_range(page, first, last, n=N):
    expect(page.locator("#range")).to_have_text(f"Points {first:,} to {last:,} of {n:,}")


def shown_range(page):
    first, last = re.findall(r"\d+", page.text_content("#range").replace(",", ""))[:2]
    return int(first), int(last)


# --- controls ------------------------------------------------------------------------------------


def test_controls_give_the_values_of_python(page, report):
    labels, scores = report.labels, report.scores
    expect_values(page, report, labels, scores)
    set_slider(page, "buffer", 10)
    expect_values(page, report, labels, scores, buffer=10)
    set_slider(page, "lag", 7)
    later = {name: shift(score, 7) for name, score in scores.items()}
    expect_values(page, report, labels, later, buffer=10)
    set_slider(page, "crop-from", 2000)
    set_slider(page, "crop-to", 8000)
    part = {name: score[2000:8000] for name, score in later.items()}
    expect_values(page, report, labels[2000:8000], part, buffer=10)
    page.select_option("#definition", "timeeval")
    page.select_option("#side", "after")
    options = {"buffer": 10, "definition": "timeeval", "side": "after"}
    expect_values(page, report, labels[2000:8000], part, **options)
    expect(page.locator("#state")).to_have_text("live values, exact")
    page.click("#reset")
    expect(page.locator("#state")).to_have_text("original values")
    expect_values(page, report, labels, scores)


def uniform(seed, count):
    """The numbers that the page adds as noise: mulberry32."""

    def multiply(a, b):
        return (a * b) & 0xFFFFFFFF

    found = []
    for _ in range(count):
        seed = (seed + 0x6D2B79F5) & 0xFFFFFFFF
        t = multiply(seed ^ (seed >> 15), 1 | seed)
        t = ((t + multiply(t ^ (t >> 7), 61 | t)) & 0xFFFFFFFF) ^ t
        found.append((t ^ (t >> 14)) / 4294967296)
    return np.array(found)


def test_noise_is_uniform_within_a_share_of_the_range(page, report):
    set_slider(page, "noise", 20)
    scores = {
        name: score + 0.2 * np.ptp(score) * (2 * uniform(1000 + k, N) - 1)
        for k, (name, score) in enumerate(report.scores.items())
    }
    expect_values(page, report, report.labels, scores)


def test_sliders_obey_the_keyboard(page):
    page.locator("#buffer").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#buffer-value")).to_have_text("39 points, was 40")
    page.locator("#lag").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#lag-value")).to_have_text("+1 points, later")


def events_of(report, name, threshold, **options):
    score = report.scores[name]
    return vuskit.events(report.labels, score, **{"buffer": 40, "threshold": threshold, **options})


def expect_counts(page, report, name, threshold):
    table = events_of(report, name, threshold)
    alarms = table.false_alarms
    text = f"{name} finds {table.found.sum()} of {len(table)} with {alarms:,} false alarm"
    expect(page.locator("#counts li").filter(has_text=f"{name} finds")).to_contain_text(text)


def test_threshold_rules_and_slider(page, report):
    expect(page.locator("#threshold-ticks span")).to_have_count(3)
    for rule in ("quantile", "best", "sigma"):
        page.click(f'#rules [data-rule="{rule}"]')
        expect(page.locator(f'#rules [data-rule="{rule}"]')).to_have_attribute(
            "aria-pressed", "true"
        )
        for name in ("good", "noisy"):
            expect_counts(page, report, name, rule)
    page.click('#rules [data-rule="best"]')
    expect_values(page, report, report.labels, report.scores, threshold="best")
    page.locator("#threshold").fill("500")
    count = round(N**0.5)  # of so many points the slider makes alarms
    for name in ("good", "noisy"):
        expect_counts(page, report, name, float(np.sort(report.scores[name])[-count]))
    expect(page.locator("#threshold-value")).to_contain_text("1.0 % of points")


def test_threshold_is_dragged_in_its_track(page, report):
    track = page.locator(TRACKS).nth(1)
    track.scroll_into_view_if_needed()
    box = track.bounding_box()
    score = report.scores["good"]
    low, high = score.min(), score.max()
    limit = report.events["good"].threshold
    room = box["height"] - 14
    at = box["y"] + box["height"] - 7 - (limit - low) / (high - low) * room
    page.mouse.move(box["x"] + 200, at)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + box["height"] - 7 - 0.25 * room, steps=4)
    page.mouse.up()
    expect(page.locator("#state")).to_have_text("live values, exact")
    assert eventually(lambda: "at 0.7" not in page.locator("#counts li").first.inner_text())
    text = page.locator("#counts li").first.inner_text()
    dragged = float(re.search(r"at ([\d.e]+)\.$", text)[1])
    assert dragged == pytest.approx(low + 0.25 * (high - low), abs=0.02)
    expect_counts(page, report, "good", dragged)
    expect_counts(page, report, "noisy", "sigma")  # its own stays
    track.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#counts li").first).not_to_have_text(text)


def test_the_original_value_stays_visible(page, report):
    set_slider(page, "lag", 20)
    first = page.locator("#duel tr.big").first.locator("td").first
    expect(first.locator("small")).to_have_text(f"was {report.table['good']['vus_pr']:.3f}")
    expected = vuskit.vus_pr(report.labels, shift(report.scores["good"], 20), buffer=40)
    expect(first.locator("b")).to_have_text(f"{expected:.3f}")
    row = page.locator("#measures tbody tr").filter(has_text="late")
    expect(row.locator("td small").first).to_have_text(f"{report.table['late']['vus_pr']:.3f}")
    page.click("#reset")
    expect(first.locator("small")).to_have_text("")


def test_chance_levels_follow_when_the_controls_rest(page, report):
    mean = report.chance.mean["vus_roc"]
    expect(page.locator('[data-chance="vus_roc"]')).to_have_text(f"chance {mean:.3f}")
    set_slider(page, "buffer", 80)
    expect(page.locator(".view")).to_have_attribute("data-chance", "yes")
    level = vuskit.chance_level(report.labels, buffer=80, measures="vus_roc")
    shown = float(page.locator('[data-chance="vus_roc"]').inner_text().split()[-1])
    assert shown == pytest.approx(level.mean["vus_roc"], abs=4 * level.std["vus_roc"] + 0.002)


# --- detectors -----------------------------------------------------------------------------------


def test_a_versus_b_and_the_legend(page, report):
    expect(page.locator("#duel select option:checked")).to_have_text(["good", "noisy"])
    expect(page.locator(TRACKS)).to_have_count(4)
    page.select_option("#pick-b", label="late")
    expect(page.locator("#duel select option:checked")).to_have_text(["good", "late"])
    second = page.locator("#duel tr.big").first.locator("td").nth(1)
    expect(second.locator("b")).to_have_text(f"{report.table['late']['vus_pr']:.3f}")
    page.select_option("#pick-b", label="good")  # they change places
    expect(page.locator("#duel select option:checked")).to_have_text(["late", "good"])
    noisy = page.locator("#legend button").filter(has_text="noisy")
    expect(noisy).to_have_attribute("aria-pressed", "false")
    noisy.click()
    expect(page.locator(TRACKS)).to_have_count(5)
    expect(page.locator("#area-pr path.line")).to_have_count(3)
    page.locator("#legend button").filter(has_text="noisy").press("Enter")
    expect(page.locator(TRACKS)).to_have_count(4)


def test_measures_are_columns_with_vus_first(page, report):
    header = page.locator("#measures thead th")
    assert header.all_inner_texts()[:5] == [
        "detector",
        "VUS-PR",
        "VUS-ROC",
        "found",
        "false alarms",
    ]
    expect(page.locator("#measures tbody tr")).to_have_count(3)
    first = page.locator("#measures tbody th").first
    place = first.bounding_box()["x"]
    page.locator("#measures-place").evaluate("(one) => { one.scrollLeft = 200; }")
    assert eventually(lambda: first.bounding_box()["x"] == pytest.approx(place, abs=1))
    header.nth(1).get_by_role("button").click()
    expect(page.locator("#measures tbody th")).to_have_text(["good", "noisy", "late"])
    expect(page.locator("#measures tfoot th")).to_have_text("chance")


def test_phones_get_cards(open_page, document):
    page = open_page(document, width=390, height=844)
    expect(page.locator("#measures thead")).to_be_hidden()
    cell = page.locator("#measures tbody tr").first.locator("td").first
    shown = cell.evaluate("(one) => getComputedStyle(one, '::before').content")
    assert shown == '"VUS-PR"'
    box = page.locator("#measures tbody tr").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert not scrolls_sideways(page)


# --- charts --------------------------------------------------------------------------------------


def test_everything_is_drawn(page, document):
    wait_for_rest(page)
    expect(page.locator(TRACKS)).to_have_count(4)
    assert blank_canvases(page) == []
    assert page.locator("#area-pr svg path.line").count() == 2
    assert len(document.encode()) < 3_000_000


def test_pointer_reads_values_in_every_chart(page, report):
    wait_for_rest(page)
    tip = page.locator("#tip")
    track = page.locator(TRACKS).first
    track.scroll_into_view_if_needed()
    box = track.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 20)
    expect(tip).to_contain_text("point 9,9")
    expect(tip).to_contain_text("good: ")
    expect(page.locator(".cross")).to_be_visible()
    page.mouse.move(0, 0)
    expect(page.locator(".cross")).to_be_hidden()
    areas = report_areas(report)
    page.locator("#area-pr .plot").focus()
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text(f"good\nbuffer 40\nR-AUC-PR {areas:.6g}")
    page.keyboard.press("Escape")
    for name in ("pr-map", "roc-3d"):
        canvas = page.locator(f"#{name}")
        canvas.scroll_into_view_if_needed()
        page.mouse.move(0, 0)
        expect(tip).to_be_hidden()
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.4 * box["height"])
        expect(tip).to_contain_text("buffer")


def report_areas(report):
    return vuskit.range_auc_pr(report.labels, report.scores["good"], buffer=40)


def test_keyboard_reads_tracks_and_maps(page):
    wait_for_rest(page)
    page.locator(TRACKS).nth(1).focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#told")).to_contain_text("good: ")
    page.locator("#pr-map").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#told")).to_contain_text("recall 0.00, buffer 0")


def test_zoom_is_linked(page):
    before = pictures(page, TRACKS)
    page.click('[data-zoom="in"]')
    expect_range(page, 2500, 7500)
    assert all_redrawn(page, TRACKS, before)
    page.click('[data-zoom="right"]')
    expect_range(page, 3750, 8750)
    page.click('[data-zoom="out"]')
    expect_range(page, 0, N)
    page.locator(TRACKS).first.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    expect_range(page, 1250, 6250)
    page.keyboard.press("0")
    expect_range(page, 0, N)
    box = page.locator(TRACKS).first.bounding_box()
    left = box["x"] + 0.1 * box["width"]
    middle = box["y"] + box["height"] / 2
    page.mouse.move(left, middle)
    page.mouse.down()
    page.mouse.move(left + 0.2 * box["width"], middle, steps=3)
    page.mouse.up()
    assert eventually(lambda: 1500 < shown_range(page)[1] - shown_range(page)[0] < 2500)
    page.locator(TRACKS).first.dblclick()
    expect_range(page, 0, N)


def test_anomalies_are_visited_in_order(page, report):
    def shows(event):
        start, stop = report.bounds[event]
        first, last = shown_range(page)
        return first < start < stop < last < first + 2000

    for event in range(2):
        page.click('[data-visit="1"]')
        expect(page.locator("#visited")).to_have_text(f"anomaly {event + 1} of 10")
        assert eventually(lambda event=event: shows(event))
    page.click('[data-visit="-1"]')
    page.click('[data-visit="-1"]')
    expect(page.locator("#visited")).to_have_text("anomaly 10 of 10")
    page.click('[data-event="4"]')
    expect(page.locator("#visited")).to_have_text("anomaly 5 of 10")
    assert eventually(lambda: shows(4))


def test_surfaces_turn_and_show_volumes_and_differences(page, report):
    wait_for_rest(page)
    before = pictures(page, "#roc-3d")
    page.locator("#roc-3d").focus()
    page.keyboard.press("ArrowLeft")
    assert all_redrawn(page, "#roc-3d", before)
    table = report.table
    page.select_option("#surface-score", label="late")
    expect(page.locator("#pr-caption")).to_contain_text(f"VUS-PR {table['late']['vus_pr']:.3f}")
    before = pictures(page, "#roc-map, #pr-3d")
    page.select_option("#surface-score", "difference")
    assert all_redrawn(page, "#roc-map, #pr-3d", before)
    difference = table["good"]["vus_pr"] - table["noisy"]["vus_pr"]
    expect(page.locator("#pr-caption")).to_contain_text(f"VUS-PR +{difference:.3f}")
    rows = copied(page, "surface")[1:]
    mean = np.mean([float(row[4]) for row in rows])
    assert mean == pytest.approx(difference, abs=0.03)


@pytest.mark.parametrize(
    ("definition", "side"),
    [("journal", "both"), ("journal", "after"), ("pvldb2022", "before"), ("timeeval", "both")],
)
def test_soft_labels_are_those_of_the_definition(page, report, definition, side):
    """The page computes soft labels itself; they must be those of the slow twin."""
    labels = [0] * 60
    for place in (*range(10, 14), 17, 20, *range(40, 46), 59):
        labels[place] = 1
    chosen = next(one for one in vuskit_definitions() if one["name"] == definition)
    for width in (0, 1, 4, 9, 14):
        found = page.evaluate(
            """([labels, settings, width]) => {
              const plan = measures.plan(measures.events(labels), settings);
              return labels.map((_, point) => measures.softLabel(plan, point, width));
            }""",
            [labels, {"definition": chosen, "side": side, "buffer": 14}, width],
        )
        expected = oracle.soft_labels(labels, width, definition=definition, side=side)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def vuskit_definitions():
    from dataclasses import asdict

    from vuskit.kernels.labels import DEFINITIONS

    return [asdict(one) for one in DEFINITIONS.values()]


# --- export --------------------------------------------------------------------------------------


def saved(page, holder, form):
    holder.scroll_into_view_if_needed()
    holder.hover(force=True)
    button = holder.locator(f'[data-save="{form}"]')
    with page.expect_download() as download:
        button.click(force=True)
    return download.value.path().read_bytes()


@pytest.mark.parametrize("selector", [TRACKS, "#area-pr .plot", "#pr-3d", "#roc-map"])
def test_charts_are_saved_as_svg_and_png(page, selector):
    wait_for_rest(page)
    holder = page.locator(selector).first.locator("xpath=..")
    picture = ElementTree.fromstring(saved(page, holder, "svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    shapes = Counter(element.tag.rpartition("}")[2] for element in picture.iter())
    assert shapes["path"] + shapes["rect"] > 3
    assert shapes["text"] > 1
    assert not {*shapes} & {"script", "foreignObject", "image"}
    before = pictures(page, "#pr-3d")
    assert saved(page, holder, "png").startswith(b"\x89PNG")
    assert pictures(page, "#pr-3d") == before  # the canvas is drawn on as before


def test_tables_are_copied_in_three_forms(page, report):
    found = shown_measures(page)
    for name, values in report.table.items():
        for measure in report.measures:
            assert float(found[name][measure.title]) == values[measure.name]
    page.click('[data-copy="measures"][data-form="latex"]')
    value = f"{report.table['noisy']['vus_pr']:.4f}"
    assert eventually(lambda: clipboard(page).startswith("\\begin{tabular}{l"))
    assert re.search(rf"noisy & {value} & .* \\\\", clipboard(page))
    page.click('[data-copy="measures"][data-form="markdown"]')
    assert eventually(lambda: clipboard(page).startswith("| detector | VUS-PR | VUS-ROC |"))
    assert f"| noisy | {value} |" in clipboard(page)
    assert "| --- | ---: |" in clipboard(page)


@pytest.mark.parametrize(("button", "lines"), [("areas", 83), ("surface", 2), ("events", 11)])
def test_all_else_can_be_copied(page, button, lines):
    wait_for_rest(page)
    rows = copied(page, button)
    assert len(rows) >= lines
    assert len({len(row) for row in rows}) == 1


def test_methods_paragraph(page):
    set_slider(page, "lag", 3)
    page.click("#methods")
    expect(page.locator("#told")).to_have_text("methods paragraph copied")
    text = clipboard(page)
    for part in (
        "good, late and noisy on series.csv (10,000 points, 10 anomalies, 9.00 % of the points)",
        'definition "journal"',
        "buffer lengths 0 to 40",
        "every distinct score as a threshold",
        "mean plus three standard deviations",
        "a lag of +3 points",
        f"vuskit {vuskit.__version__}",
    ):
        assert part in text


# --- times, channels, long series ----------------------------------------------------------------


def test_times_and_channels(open_page, report):
    start = np.datetime64("2024-03-01T00:00")
    rng = np.random.default_rng(0)
    dated = replace(
        report,
        dates=start + np.arange(N) * np.timedelta64(5, "m"),
        channels={"calm": rng.random(N), "busy": rng.random(N) + 5 * report.labels},
    )
    page = open_page(series_page_html(dated), width=1366)
    expect(page.locator("#channel option:checked")).to_have_text("busy")
    expect(page.locator("#lines .track p").first).to_have_text("busy")
    before = pictures(page, TRACKS)[:1]
    page.select_option("#channel", label="calm")
    assert eventually(lambda: pictures(page, TRACKS)[:1] != before)
    expect(page.locator("#lines .track p").first).to_have_text("calm")
    track = page.locator(TRACKS).first
    box = track.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 20)
    expect(page.locator("#tip")).to_contain_text("2024-04-04")
    expect(page.locator("#events tbody td").nth(1)).to_contain_text("2024-03-0")


@pytest.mark.parametrize("knots", [20_000, 1])
def test_times_around_gaps_are_real(open_page, report, monkeypatch, knots):
    monkeypatch.setattr("vuskit.report.page.series._MOST_KNOTS", knots)
    minutes = np.arange(N)
    first = int(np.flatnonzero(report.labels)[0])
    minutes[first - 5 :] += 3000
    minutes[first + 400 :] += 90
    dates = np.datetime64("2024-03-01T00:00") + minutes * np.timedelta64(1, "m")
    page = open_page(series_page_html(replace(report, dates=dates)), width=1366)
    expect(page.locator("#events tbody tr").first.locator("td").nth(1)).to_have_text(
        str(dates[first].astype("M8[s]")).replace("T", " ")
    )
    expect(page.locator("#range")).to_contain_text("2 gaps in time, the longest of 2 d 2 h")


def test_counts_of_thinned_scores_are_exact_at_the_rules(open_page, report):
    section = series_section(report, detail=Detail(score_bytes=60_000, line_bytes=10_000))
    page = open_page(page_document("thinned", [section]), width=1366)
    fewer = False
    for rule in ("quantile", "best", "sigma"):
        page.click(f'#rules [data-rule="{rule}"]')
        for name in ("good", "noisy"):
            table = events_of(report, name, rule)
            expect_counts(page, report, name, rule)
            item = page.locator("#counts li").filter(has_text=f"{name} finds")
            if table.separate_alarms < table.false_alarms:
                expect(item).to_contain_text(f"{table.separate_alarms:,} of them separate")
                fewer = True
    assert fewer
    set_slider(page, "lag", 9)
    expect(page.locator("#counts li").first).to_contain_text("with ≈")


def test_thinned_scores_are_marked_as_approximate(open_page, report):
    section = series_section(report, detail=Detail(score_bytes=100_000, line_bytes=10_000))
    page = open_page(page_document("thinned", [section]), width=1366)
    first = page.locator("#duel tr.big").first.locator("td").nth(1).locator("b")
    expect(first).to_have_text(f"{report.table['noisy']['vus_pr']:.3f}")
    expect(page.locator("#measures-note")).to_contain_text("≈ marks live values")
    set_slider(page, "lag", 9)
    expect(page.locator("#state")).to_have_text("live values; ≈ approximate")
    expect(first).to_contain_text("≈")
    expected = vuskit.vus_pr(report.labels, shift(report.scores["noisy"], 9), buffer=40)
    assert float(first.inner_text().lstrip("≈")) == pytest.approx(expected, abs=0.03)
    # The threshold is that of all scores: thinned ones have another spread.
    found = float(shown_measures(page)["noisy"]["F"])
    later = vuskit.f_score(report.labels, shift(report.scores["noisy"], 9))
    assert found == pytest.approx(later, abs=0.03)


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read(open_page, document, width, height, dark):
    page = open_page(document, width=width, height=height, dark=dark)
    set_slider(page, "lag", 5)
    assert low_contrast(page) == []
    assert not scrolls_sideways(page)
    assert blank_canvases(page) == []


def test_theme(page):
    light = pictures(page, TRACKS)
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.click("#theme")
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 22, 26)")
    assert all_redrawn(page, TRACKS, light)


def test_keyboard_reaches_everything_and_shows_where_it_is(page):
    wait_for_rest(page)
    stops = tab_stops(page)
    assert [stop["name"] for stop in stops if not stop["visible"]] == []
    reached = {stop["id"] for stop in stops}
    controls = {"threshold", "buffer", "lag", "noise", "crop-from", "crop-to", "pick-a", "pick-b"}
    assert controls | {"pr-3d", "roc-map", "surface-score", "methods"} <= reached
    assert sum("drawn over time" in stop["name"] for stop in stops) == 4


def test_print_shows_tables_without_controls(page, report):
    page.click("#theme")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.emulate_media(media="print")
    controls = "[data-zoom]:visible, [data-copy]:visible, #buffer:visible, #threshold:visible"
    expect(page.locator(controls)).to_have_count(0)
    expect(page.locator("#buffer-value")).to_be_visible()
    expect(page.locator("#measures tbody tr:visible")).to_have_count(3)
    expect(page.locator("#events tbody tr:visible")).to_have_count(len(report.bounds))
    assert len(page.pdf(format="A4")) > 10_000


def test_names_run_nothing(open_page):
    labels = np.zeros(200, dtype=bool)
    labels[50:60] = labels[120:125] = True
    rng = np.random.default_rng(0)
    names = [EVIL, EVIL_SCORE, "a\u2028b&[[data]]"]
    scores = {name: rng.random(200) + labels / k for k, name in enumerate(names, start=1)}
    page = open_page(series_page_html(report_of(labels, scores, name=EVIL)))
    wait_for_rest(page)
    expect(page).to_have_title(EVIL)
    assert page.text_content("h1") == EVIL
    assert page.locator("img").count() == 0
    assert {row[0] for row in copied(page, "measures")[1:4]} == {*names}
    holder = page.locator(TRACKS).first.locator("xpath=..")
    ElementTree.fromstring(saved(page, holder, "svg"))
    page.locator("#methods").click()
    expect(page.locator("#told")).to_have_text("methods paragraph copied")
    assert page.title() == EVIL


# --- real scores ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(test_data):
    path = sorted((test_data / "data" / "scores" / "ECG").glob("*.gz"))[1]
    scored = read_scores(path)
    return report_of(
        scored.series.labels, scored.scores, values=scored.series.values, buffer=75, name=path.name
    )


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_real_scores(open_page, real, width, height):
    page = open_page(series_page_html(real), width=width, height=height)
    wait_for_rest(page)
    titles = {measure.name: measure.title for measure in real.measures}
    assert not scrolls_sideways(page)
    assert blank_canvases(page) == []
    set_slider(page, "lag", 15)
    set_slider(page, "buffer", 50)
    later = {name: shift(score, 15) for name, score in real.scores.items()}
    found = shown_measures(page)
    for name in list(real.scores)[::4]:
        expected = vuskit.evaluate(real.labels, later[name], buffer=50)
        for measure, title in titles.items():
            assert float(found[name][title]) == pytest.approx(expected[measure], abs=1e-9)
        table = vuskit.events(real.labels, later[name], buffer=50)
        assert int(found[name]["found"]) == table.found.sum()
        assert int(found[name]["false alarms"]) == table.false_alarms
    rows = list(csv.reader(io.StringIO(clipboard(page))))
    assert len(rows) == 14  # a header, twelve detectors, chance
    assert low_contrast(page) == []
