"""The page without data: files that a reader drops on it are evaluated in the browser."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest
from report.browser import copied, expect, low_contrast, scrolls_sideways, tab_stops
from report.evaluated import EVIL, EVIL_SCORE

import vuskit
from vuskit.datasets import read_scores
from vuskit.measures.registry import resolve_measures
from vuskit.report.page.series import empty_page_html

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
    expect(page.locator("#role-buffer")).to_have_value("15")
    expect(page.locator("#role-buffer-reason")).to_have_text("auto: median anomaly length")
    evaluate(page)
    expect(page.locator("#name")).to_have_text("mine.csv")
    expect(page.locator("#summary")).to_contain_text("400 points, 2 anomalies")
    expect(page.locator("#settings")).to_contain_text("buffer=15 (auto: median anomaly length)")
    expect_values(page, labels, scores, 15)
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


def test_rows_that_begin_with_a_hash_are_refused(page, example):
    labels, scores = example
    text = csv_text(labels, scores).replace("\n", "\n#N/A", 2).replace("#N/A", "", 1)
    page.evaluate(DROP, ["mine.csv", text])
    expect(page.locator("#drop-error")).to_contain_text('no rows that begin with "#", got "#N/A')
    expect(page.locator("#roles")).to_be_hidden()


def test_integers_that_would_be_rounded_are_refused(page, example):
    labels, _ = example
    large = [str(2**53 + place) for place in range(400)]
    page.evaluate(DROP, ["mine.csv", csv_text(labels, {"large": large})])
    page.click("#roles [type=submit]")
    expect(page.locator("#drop-error")).to_contain_text("must hold integers up to 2**53")
    page.evaluate(DROP, ["mine.csv", csv_text(labels, {"large": np.arange(400) * 1e20})])
    evaluate(page)


def test_arrays_of_integers_that_would_be_rounded_are_refused(page, tmp_path):
    np.save(tmp_path / "large.npy", 2**60 + np.arange(400))
    page.set_input_files("#files", tmp_path / "large.npy")
    expect(page.locator("#drop-error")).to_contain_text("large.npy must hold integers up to 2**53")


def series_to_estimate():
    """Series of all kinds, by name: with and without a period, with gaps, short, extreme."""
    rng = np.random.default_rng(5)
    t = np.arange(3000)
    sine = np.sin(2 * np.pi * t / 37.5)
    gaps = np.where(rng.random(3000) < 0.2, np.nan, sine)
    gaps[:40] = np.nan
    return {
        "sine": sine,
        "noisy": sine + 0.4 * rng.standard_normal(3000),
        "square": (t % 40 < 20).astype(float),
        "spikes": np.tile([0.0, 0.0, 1.0, 0.0, 5.0], 100),
        "long period": np.sin(2 * np.pi * np.arange(25_000) / 900),
        "season": np.sin(2 * np.pi * np.arange(25_000) / 1500),  # longer than 1,000 points
        "gaps": gaps,
        "infinite": np.where(t == 100, np.inf, sine),
        "huge": 1e200 * sine,
        "tiny": 1e-200 * sine,
        "noise": rng.standard_normal(1000),
        "walk": np.cumsum(rng.standard_normal(2000)),
        "ramp": np.arange(100.0),
        "constant": np.full(50, 0.1),
        "zeros": np.zeros(50),
        "unknown": np.full(50, np.nan),
        "one": np.array([3.0]),
        "two": np.array([1.0, 2.0]),
        "seven": np.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]),
    }


AUTO = """([values, bounds]) => buffers.auto(values.map((value) => value ?? NaN), bounds)"""


def test_buffers_are_those_of_python(page, request):
    cases = series_to_estimate()
    if "VUSKIT_TEST_DATA" in os.environ:
        folder = request.getfixturevalue("test_data") / "data" / "scores"
        real = [sorted(one.glob("*.gz"))[0] for one in sorted(folder.iterdir()) if one.is_dir()]
        cases |= {str(path): read_scores(path).series.values for path in real}
    for name, values in cases.items():
        labels = np.zeros(max(len(values), 12), dtype=int)
        labels[1:3] = labels[5:10] = 1  # lengths 2 and 5: a median of 3.5
        finite = [float(value) if np.isfinite(value) else None for value in values]
        expected = vuskit.choose_buffer("auto", values=values, y_true=labels)
        found = page.evaluate(AUTO, [finite, [[1, 3], [5, 10]]])
        assert found["length"] == expected.length, name
        period = expected.reason.startswith("the values repeat")
        assert found["strategy"] == ("period" if period else "median_anomaly"), name


def test_the_buffer_follows_the_columns(page, example):
    labels, scores = example
    t = np.arange(400)
    columns = {"value": np.sin(2 * np.pi * t / 40), "other": np.sin(2 * np.pi * t / 25)}
    page.evaluate(DROP, ["mine.csv", csv_text(labels, scores, **columns)])
    reason, buffer = page.locator("#role-buffer-reason"), page.locator("#role-buffer")
    expect(reason).to_have_text("auto: period of value")
    expect(buffer).to_have_value(str(vuskit.estimate_period(columns["value"])))
    page.locator("#role-values").get_by_label("value").uncheck()
    expect(reason).to_have_text("auto: median anomaly length")
    expect(buffer).to_have_value("15")
    page.locator("#role-values").get_by_label("other").check()
    expect(reason).to_have_text("auto: period of other")
    period = str(vuskit.estimate_period(columns["other"]))
    expect(buffer).to_have_value(period)
    buffer.fill("7")
    expect(reason).to_have_text(f"your choice; auto: {period}, period of other")
    page.locator("#role-values").get_by_label("other").uncheck()
    expect(reason).to_have_text("your choice; auto: 15, median anomaly length")
    expect(buffer).to_have_value("7")
    evaluate(page)
    expect(page.locator("#settings")).to_contain_text("buffer=7 (your choice)")


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
    expect_values(page, labels, single, 15)
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(csv_text(labels, scores, header=False).encode()))
    page.set_input_files("#files", packed)
    evaluate(page)
    expect_values(page, labels, {"column 2": scores["one"]}, 15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,score\n0,1\n1,nan\n0,2\n", "must be finite, got NaN at point 1"),
        ("a,b\n5,1\n3,2\n", "must be a column of labels"),
        ("label,score\n0,1\n0,2\n", "must hold both 0 and 1"),
        ("label,score\n0,1\n1\n", "must have 2 cells in each row, got 1 in row 3"),
        ("label\n0\n1\n", "must be a score"),
        ("ts,label,score\n1,0,1\n3,1,2\n2,0,3\n", '"ts" must increase from row to row, got "2"'),
        ("seen,label,score\n2026-03-21,0,1\n2026-03-20 11:08,1,2\n", '"seen" must increase'),
        ("time,label,score\n21.03.2026 11:08,0,1\n21.03.2026 11:09,1,2\n", "numbers or ISO times"),
        (",label,score\n1,0,1\n0,1,2\n", '"index" must increase from row to row'),
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
    scored = read_scores(path)
    page.set_input_files("#files", path)
    expect(page.locator("#roles")).to_be_visible()
    buffer = int(page.input_value("#role-buffer"))
    assert (
        buffer
        == vuskit.choose_buffer(
            "auto", values=scored.series.values, y_true=scored.series.labels
        ).length
    )
    evaluate(page)
    expect_values(page, scored.series.labels, scored.scores, buffer)
