"""The page without data: files that a reader drops on it are evaluated in the browser."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from report.browser import copied, expect, low_contrast, scrolls_sideways, tab_stops
from report.evaluated import EVIL, EVIL_SCORE

import vuskit
from vuskit.datasets.readers.column_roles import read_score_file
from vuskit.measures.registry import resolve_measures
from vuskit.report.page import empty_page_html

DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
}"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("try") / "try.html"
    place.write_text(empty_page_html(), encoding="utf-8")
    return place


@pytest.fixture
def page(open_page, path):
    return open_page(path, width=1366)


@pytest.fixture(scope="module")
def example():
    rng = np.random.default_rng(3)
    labels = np.zeros(400, dtype=int)
    labels[100:120] = labels[300:310] = 1
    scores = {"one": rng.random(400) + labels, "two": rng.random(400) + 0.3 * labels}
    return labels, scores


def csv_text(labels, scores, *, header=True, delimiter=",", **columns):
    every = {"label": labels, **columns, **scores}
    rows = [delimiter.join(every)] if header else []
    rows += [delimiter.join(map(repr_plain, row)) for row in zip(*every.values(), strict=True)]
    return "\n".join(rows) + "\n"


def repr_plain(value):
    return value if isinstance(value, str) else repr(float(value))


def evaluate(page):
    expect(page.locator("#roles")).to_be_visible()
    page.click("#roles [type=submit]")
    expect(page.locator(".living")).to_be_attached()


def expect_values(page, labels, scores, buffer):
    header, *rows = copied(page, "measures")
    found = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    for name, score in scores.items():
        expected = vuskit.evaluate(labels, score, buffer=buffer)
        for measure in resolve_measures("paper"):
            value = float(found[name][measure.title])
            assert value == pytest.approx(expected[measure.name], abs=1e-9), (name, measure.name)


def test_a_dropped_csv_file_is_evaluated(page, example):
    labels, scores = example
    page.evaluate(DROP, ["mine.csv", csv_text(labels, scores)])
    expect(page.locator("#roles-title")).to_have_text("mine.csv: 400 points")
    expect(page.locator("#role-buffer")).to_have_value("20")  # the median length
    evaluate(page)
    expect(page.locator("#name")).to_have_text("mine.csv")
    expect(page.locator("#summary")).to_contain_text("400 points, 2 anomalies")
    expect_values(page, labels, scores, 20)
    page.locator("#lag").fill("5")
    expect(page.locator("#state")).to_have_text("live values, exact")
    # Another file takes its place.
    page.evaluate(DROP, ["other.csv", csv_text(labels, {"three": scores["one"]})])
    evaluate(page)
    expect(page.locator("#name")).to_have_text("other.csv")
    expect(page.locator("#measures tbody th")).to_have_text(["three"])


def test_columns_are_chosen(page, example):
    labels, scores = example
    times = [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00:00" for i in range(400)]
    values = np.sin(np.arange(400)) + labels
    text = csv_text(labels, scores, delimiter=";", timestamp=times, value=values)
    page.evaluate(DROP, ["mine.csv", text])
    expect(page.locator("#role-time option:checked")).to_have_text("timestamp")
    expect(page.locator("#role-values input:checked")).to_have_count(1)
    page.get_by_label("two").first.uncheck()
    page.fill("#role-buffer", "31")
    evaluate(page)
    expect(page.locator("#measures tbody th")).to_have_text(["one"])
    expect_values(page, labels, {"one": scores["one"]}, 31)
    expect(page.locator("#events tbody tr").first.locator("td").nth(1)).to_have_text(
        "2024-01-05 04:00:00"
    )


def test_npy_files_and_gzip(page, example, tmp_path):
    labels, scores = example
    np.save(tmp_path / "label.npy", labels.astype(np.uint8))
    np.save(tmp_path / "scores.npy", np.column_stack(list(scores.values())).astype(np.float32))
    page.set_input_files("#files", [tmp_path / "label.npy", tmp_path / "scores.npy"])
    evaluate(page)
    single = {
        f"scores {k}": score.astype(np.float32).astype(float)
        for k, score in enumerate(scores.values(), start=1)
    }
    expect_values(page, labels, single, 20)
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(csv_text(labels, scores, header=False).encode()))
    page.set_input_files("#files", packed)
    evaluate(page)
    expect_values(page, labels, {"column 2": scores["one"]}, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,score\n0,1\n1,nan\n0,2\n", "must be finite, got NaN at point 1"),
        ("a,b\n5,1\n3,2\n", "must be a column of labels"),
        ("label,score\n0,1\n0,2\n", "must hold both 0 and 1"),
        ("label,score\n0,1\n1\n", "must have 2 cells in each row, got 1 in row 3"),
        ("label\n0\n1\n", "must be a score"),
    ],
)
def test_what_cannot_be_evaluated_is_told(page, text, message):
    page.evaluate(DROP, ["bad.csv", text])
    error = page.locator("#drop-error")
    expect(error.or_(page.locator("#roles-title"))).not_to_have_count(0)
    page.wait_for_function(
        "() => document.querySelector('#drop-error').textContent"
        " || !document.querySelector('#roles').hidden"
    )
    if page.locator("#roles").is_visible():
        page.click("#roles [type=submit]")
    expect(error).to_contain_text(message)


def test_names_of_a_file_run_nothing(page, example):
    labels, scores = example
    text = csv_text(labels, {f'"{EVIL}"': scores["one"], f'"{EVIL_SCORE}"': scores["two"]})
    page.evaluate(DROP, [f"{EVIL}.csv", text])
    evaluate(page)
    expect(page.locator("#name")).to_have_text(f"{EVIL}.csv")
    assert page.locator("img").count() == 0
    assert {row[0] for row in copied(page, "measures")[1:3]} == {EVIL, EVIL_SCORE}
    assert page.title() == "vuskit"


@pytest.mark.parametrize(("width", "dark"), [(1366, False), (390, True)])
def test_reading_and_keyboard(open_page, path, example, width, dark):
    page = open_page(path, width=width, dark=dark)
    assert low_contrast(page) == []
    page.evaluate(DROP, ["mine.csv", csv_text(*example)])
    expect(page.locator("#roles [type=submit]")).to_be_focused()
    assert low_contrast(page) == []
    page.keyboard.press("Enter")
    # Tab through the finished page: what still changes could move a stop out of the window.
    expect(page.locator("[data-chance=yes]")).to_be_attached()
    assert not scrolls_sideways(page)
    assert low_contrast(page) == []
    assert [stop["name"] for stop in tab_stops(page) if not stop["visible"]] == []


def test_real_file(page, test_data):
    path = sorted((test_data / "data" / "scores" / "ECG").glob("*.gz"))[0]
    scored = read_score_file(path)
    page.set_input_files("#files", path)
    expect(page.locator("#roles")).to_be_visible()
    buffer = int(page.input_value("#role-buffer"))
    evaluate(page)
    expect_values(page, scored.labels, scored.scores, buffer)
