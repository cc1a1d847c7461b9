"""The watch over pages sees what it is there to see."""

from __future__ import annotations

import pytest
from report.browser import (
    Opener,
    blank_canvases,
    clipboard,
    copied,
    eventually,
    go,
    low_contrast,
    scrolls_sideways,
    tab_stops,
)

QUIET = "<!doctype html><title>t</title><p>text</p>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<script>console.warn('careful')</script>", "console warning: careful"),
        ("<script>console.error('no')</script>", "console error: no"),
        ("<script>throw new Error('broken')</script>", "page error: broken"),
        ("<img src='http://127.0.0.1:9/x.png'>", "request: http://127.0.0.1:9/x.png"),
        ("<img src='other.png'>", "other.png"),
    ],
)
def test_complaints_are_noted(browser, tmp_path, body, expected):
    opener = Opener(browser, tmp_path)
    page = opener(QUIET + body)

    def noted():
        page.evaluate("1")  # lets what the page said come in
        return any(expected in complaint for complaint in opener.complaints())

    assert eventually(noted)
    opener.close()


def test_quiet_pages_pass(open_page, tmp_path):
    path = tmp_path / "a b.html"
    path.write_text(QUIET + "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>")
    assert open_page(path).locator("p").text_content() == "text"


def test_window_and_theme(open_page):
    asked = "[innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches]"
    assert open_page(QUIET).evaluate(asked) == [1280, 900, False]
    assert open_page(QUIET, width=390, height=700, dark=True).evaluate(asked) == [390, 700, True]


def test_contrast(open_page):
    page = open_page(
        "<!doctype html><title>t</title><body style='background:#fff'>"
        "<p style='color:#777'>gray</p><p style='color:#767676'>enough</p>"
        "<div style='background:#000'><p style='color:#fff8'>half</p><b>black on black</b></div>"
        "<p style='opacity:.4'>faint</p><p hidden style='color:#fff'>hidden</p>"
        "<svg width=200 height=80><rect width=100 height=80 fill='navy'/>"
        "<text x=20 y=40 fill='white'>in</text><text x=140 y=40 fill='white'>out</text></svg>"
    )
    assert [line.split('"')[1] for line in low_contrast(page)] == [
        "gray", "black on black", "faint", "out",
    ]  # fmt: skip


def test_tab_stops(open_page):
    stops = tab_stops(
        open_page(
            "<!doctype html><title>t</title><style>:focus-visible{outline:3px solid}"
            ".bare{outline:none!important}</style>"
            "<button>one</button><a href='#x'>two</a><button class=bare>three</button>"
            "<button tabindex=-1>never</button>"
        )
    )
    assert [(stop["name"], stop["visible"]) for stop in stops] == [
        ("one", True), ("two", True), ("three", False),
    ]  # fmt: skip


def test_width_canvas_and_clipboard(open_page):
    page = open_page(
        "<!doctype html><title>t</title><canvas id=empty></canvas><canvas id=full></canvas>"
        "<button>copy</button>"
        "<script>document.getElementById('full').getContext('2d').fillRect(0, 0, 9, 9);"
        "document.querySelector('button').onclick = () => navigator.clipboard.writeText('a,b');"
        "</script>",
        width=390,
    )
    assert blank_canvases(page) == ["empty"]
    assert not scrolls_sideways(page)
    page.evaluate("document.body.style.width = '500px'")
    assert scrolls_sideways(page)
    page.click("button")
    assert eventually(lambda: clipboard(page) == "a,b")


ANSWERING = """<!doctype html><title>t</title><p id=told></p><button data-copy=x>copy</button>
<main><div class=view data-key=a></div></main><script>
addEventListener("hashchange", () => {
  document.querySelector(".view").dataset.key = location.hash.slice(1).split("?")[0];
});
document.querySelector("button").addEventListener("click", async () => {
  await navigator.clipboard.writeText(document.querySelector(".view").dataset.key + ",1\\n");
  document.getElementById("told").textContent = "1 rows copied";
});
</script>"""


ANSWER_TO_AN_ADDRESS = """() => new Promise((answered) => {
  const start = performance.now();
  new MutationObserver(() => answered(performance.now() - start))
    .observe(document.querySelector(".view"), { attributes: true });
  location.hash = "early";
})"""


def test_waiting_sees_what_a_slow_page_does(open_page, monkeypatch):
    monkeypatch.setenv("VUSKIT_TEST_SLOW_BROWSER", "1")
    page = open_page(ANSWERING)
    assert page.evaluate(ANSWER_TO_AN_ADDRESS) >= 390  # it is slow
    go(page, "b?series=1")
    assert copied(page, "x") == [["b", "1"]]
