"""The page of one series, used as a reader uses it."""

from __future__ import annotations

import re

import numpy as np
import oracle
import pytest
from report.browser import (
    all_redrawn,
    blank_canvases,
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
from vuskit.datasets.synthetic import three_scores
from vuskit.report.page import series_page_html

TRACKS = "#lines canvas"


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
    return open_page(document)


def shown_range(page):
    first, last = re.findall(r"\d+", page.text_content("#range").replace(",", ""))[:2]
    return int(first), int(last)


def expect_range(page, first, last):
    expect(page.locator("#range")).to_have_text(f"points {first:,} to {last:,} of 10,000")


def move_slider(page, value):
    page.locator("#buffer").fill(str(value))
    expect(page.locator("#buffer-value")).to_have_text(str(value))


def test_everything_is_drawn(page, document):
    assert page.locator(TRACKS).count() == 5
    assert blank_canvases(page) == []
    assert len(document.encode()) < 6_000_000


def test_slider_moves_the_soft_label_and_all_marks(page, report):
    moved = ".track.soft canvas, #area-roc, #roc-map, #pr-3d"
    before = pictures(page, moved)
    assert len(before) == 4
    move_slider(page, 10)
    assert all_redrawn(page, moved, before)
    for name, score in report.scores.items():
        expected = vuskit.range_auc_pr(report.labels, score, buffer=10)
        expect(page.locator("#legend")).to_contain_text(f"{name}: R-AUC-ROC")
        expect(page.locator("#legend")).to_contain_text(f"R-AUC-PR {expected:.3f} at 10")


def test_slider_obeys_the_keyboard(page):
    page.locator("#buffer").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#buffer-value")).to_have_text("39")


def test_zoom_by_button_moves_all_lines(page):
    before = pictures(page, TRACKS)
    page.click('[data-zoom="in"]')
    expect_range(page, 2500, 7500)
    assert all_redrawn(page, TRACKS, before)
    page.click('[data-zoom="right"]')
    expect_range(page, 3750, 8750)
    page.click('[data-zoom="out"]')
    expect_range(page, 0, 10_000)


def test_zoom_by_key(page):
    page.locator(TRACKS).first.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    expect_range(page, 1250, 6250)
    page.keyboard.press("0")
    expect_range(page, 0, 10_000)


def test_zoom_by_dragging(page):
    page.locator(TRACKS).first.scroll_into_view_if_needed()
    box = page.locator(TRACKS).first.bounding_box()
    left = box["x"] + 52  # the axis has the rest
    across = box["x"] + box["width"] - left
    middle = box["y"] + box["height"] / 2
    page.mouse.move(left + 0.2 * across, middle)
    page.mouse.down()
    page.mouse.move(left + 0.4 * across, middle, steps=3)
    page.mouse.up()
    assert eventually(lambda: shown_range(page) == pytest.approx((2000, 4000), abs=20))
    page.locator(TRACKS).nth(2).dblclick()
    expect_range(page, 0, 10_000)


def test_anomalies_are_reached_by_their_buttons(page, report):
    def shows(event, points=10_000):
        start, stop = report.bounds[event]
        first, last = shown_range(page)
        return first < start < stop < last < first + points

    page.click('[data-event="2"]')
    assert eventually(lambda: shows(2, points=2000))
    first, last = shown_range(page)
    page.click('[data-zoom="next"]')
    assert eventually(lambda: shown_range(page)[0] != first and shows(3))
    page.click('[data-zoom="previous"]')
    expect_range(page, first, last)


def test_surfaces_turn_and_change_with_the_score(page):
    before = pictures(page, "#roc-3d")
    page.locator("#roc-3d").focus()
    page.keyboard.press("ArrowLeft")
    assert all_redrawn(page, "#roc-3d", before)
    before = pictures(page, "#roc-map, #roc-3d")
    page.select_option("#surface-score", label="late")
    assert all_redrawn(page, "#roc-map, #roc-3d", before)


def test_theme(page, open_page, document):
    def expect_paper(shown, color):
        expect(shown.locator("body")).to_have_css("background-color", color)

    light = pictures(page, TRACKS)
    expect_paper(page, "rgb(255, 255, 255)")
    page.click("#theme")
    expect_paper(page, "rgb(20, 22, 26)")
    assert all_redrawn(page, TRACKS, light)
    expect_paper(open_page(document, dark=True), "rgb(20, 22, 26)")


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(open_page, document, dark):
    assert low_contrast(open_page(document, dark=dark)) == []


def test_copied_table_holds_the_exact_values(page, report):
    header, *rows = copied(page, "measures")
    assert header[:4] == ["measure", "good", "late", "noisy"]
    assert len(rows) == len(report.measures)
    for row, measure in zip(rows, report.measures, strict=True):
        assert row[0] == measure.title
        for name, text in zip(header[1:4], row[1:4], strict=True):
            assert float(text) == report.table[name][measure.name]


@pytest.mark.parametrize(("button", "lines"), [("areas", 42), ("surface", 2), ("events", 11)])
def test_all_else_can_be_copied(page, button, lines):
    rows = copied(page, button)
    assert len(rows) >= lines
    assert len({len(row) for row in rows}) == 1


def test_keyboard_reaches_everything_and_shows_where_it_is(page):
    stops = tab_stops(page)
    assert [stop["name"] for stop in stops if not stop["visible"]] == []
    controls = "button, select, input, a[href], #lines canvas, canvas.square"
    assert sum(stop["tag"] != "div" for stop in stops) == page.locator(controls).count()
    page.evaluate("document.activeElement.blur()")
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_window(open_page, document, width):
    page = open_page(document, width=width, height=844)
    assert not scrolls_sideways(page)
    assert blank_canvases(page) == []


def test_print_shows_tables_without_controls(page, report):
    page.click("#theme")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.emulate_media(media="print")
    controls = "[data-zoom]:visible, [data-copy]:visible, #buffer:visible"
    expect(page.locator(controls)).to_have_count(0)
    expect(page.locator("#measures tbody tr:visible")).to_have_count(len(report.measures))
    expect(page.locator("#events tbody tr:visible")).to_have_count(len(report.bounds))
    assert len(page.pdf(format="A4")) > 10_000


def test_names_run_nothing(open_page):
    labels = np.zeros(200, dtype=bool)
    labels[50:60] = labels[120:125] = True
    rng = np.random.default_rng(0)
    names = [EVIL, EVIL_SCORE, "a\u2028b&[[data]]"]
    scores = {name: rng.random(200) + labels / k for k, name in enumerate(names, start=1)}
    page = open_page(series_page_html(report_of(labels, scores, name=EVIL)))
    expect(page).to_have_title(EVIL)
    assert page.text_content("h1") == EVIL
    assert page.locator("img").count() == 0
    assert page.locator("#surface-score option").all_text_contents() == names
    assert copied(page, "measures")[0][1:4] == names
    before = pictures(page, "#roc-map")
    page.select_option("#surface-score", label=EVIL_SCORE)
    assert all_redrawn(page, "#roc-map", before)
    assert page.title() == EVIL


def drawn_heights(page, points):
    """Height of the drawn soft label at the middle of each point, 0 at its lowest, 1 at its top."""
    return page.locator(".track.soft canvas").evaluate(
        """(canvas, points) => {
          const copy = new OffscreenCanvas(canvas.width, canvas.height);
          const pen = copy.getContext("2d", { willReadFrequently: true });
          pen.drawImage(canvas, 0, 0);
          return Array.from({ length: points }, (_, i) => {
            const column = Math.floor(52 + (i + 0.5) / points * (canvas.width - 52));
            const { data } = pen.getImageData(column, 0, 1, canvas.height);
            let mass = 0, moment = 0;
            for (let row = 2; row < canvas.height - 2; row++) {
              const alpha = data[4 * row + 3];
              if (alpha < 100) continue; // the shade of the anomalies
              mass += alpha; moment += alpha * row;
            }
            return (canvas.height - 6 - moment / mass) / (canvas.height - 12);
          });
        }""",
        points,
    )


@pytest.mark.parametrize(
    ("definition", "side"),
    [("journal", "both"), ("journal", "after"), ("pvldb2022", "before"), ("timeeval", "both")],
)
def test_soft_label_is_drawn_as_the_definition_has_it(open_page, definition, side):
    """The page computes soft labels itself; they must be those of the slow twin."""
    labels = [0] * 60
    for place in (*range(10, 14), 17, 20, *range(40, 46), 59):
        labels[place] = 1
    options = {"definition": definition, "side": side}
    page = open_page(
        series_page_html(report_of(labels, {"A": np.arange(60.0)}, buffer=14, **options))
    )
    for width in (0, 1, 4, 9, 14):
        move_slider(page, width)
        expected = oracle.soft_labels(labels, width, **options)
        np.testing.assert_allclose(drawn_heights(page, 60), expected, atol=0.03)
