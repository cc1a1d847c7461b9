"""A real browser for the pages: opened from a file, without a network, without a complaint.

Tests ask for the fixture ``open_page`` of ``conftest.py``; what they check on any page is here.

A page answers when it has time: after a click, a key or a new address nothing may be read from it
at once. Tests wait with ``expect`` for what a page says, with ``eventually`` for what it draws,
and come from section to section with ``go`` and ``follow``. With ``VUSKIT_TEST_SLOW_BROWSER=1``
every page is slow to answer (see ``SLOW``), and a test that does not wait fails.
"""

from __future__ import annotations

import csv
import functools
import io
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import waiting

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:  # the fixture ``browser`` skips the tests that would need it
    sync_playwright = expect = None

PATIENCE = 60  # seconds, for one answer of a page
if expect is not None:
    expect.set_options(timeout=1000 * PATIENCE)

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Pages may hold data of their own under these; neither leaves the machine.
OWN_SCHEMES = ("data:", "blob:")


def find_chromium() -> str | None:
    """Path of the browser of the system, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def running_chromium():
    """Chromium, started and stopped; None where it or playwright is not installed."""
    path = find_chromium()
    if path is None or sync_playwright is None:
        yield None
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=3000 * PATIENCE
        )
        yield browser
        browser.close()


@dataclass
class Watch:
    """What a page did that no page of ours may do."""

    url: str
    complaints: list[str] = field(default_factory=list)
    server: str = ""  # address that the page may ask

    def follow(self, page):
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        own = request.url.partition("#")[0] == self.url or request.url.startswith(OWN_SCHEMES)
        if not own and not (self.server and request.url.startswith(self.server)):
            self.complaints.append(f"request: {request.url}")


class Opener:
    """Opens pages in windows of their own and watches them until the test ends."""

    def __init__(self, browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._contexts, self._watches = [], []

    def __call__(self, source, *, width=1280, height=900, dark=False):
        """Open an HTML text, the file at a path, or an address; return playwright's page."""
        served = isinstance(source, str) and source.startswith("http://127.0.0.1:")
        if not served:
            path = source if isinstance(source, Path) else self._write(source)
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
            reduced_motion="reduce",
        )
        context.set_default_timeout(1000 * PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        if os.environ.get("VUSKIT_TEST_SLOW_BROWSER"):
            page.add_init_script(SLOW)
            throttle = {"rate": 6}
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", throttle)
        watch = Watch(source if served else path.resolve().as_uri())
        watch.server = source.partition("?")[0] if served else ""
        self._watches.append(watch)
        watch.follow(page)
        page.goto(watch.url)
        return page

    def _write(self, html: str) -> Path:
        path = self._folder / f"page{len(self._watches)}.html"
        path.write_text(html, encoding="utf-8")
        return path

    def complaints(self) -> list[str]:
        """What the pages complained about so far."""
        return [complaint for watch in self._watches for complaint in watch.complaints]

    def close(self) -> None:
        """Close every window."""
        for context in self._contexts:
            context.close()


eventually = functools.partial(waiting.eventually, seconds=PATIENCE)


def go(page, address: str) -> None:
    """Change the address behind ``#`` and wait until its section is shown."""
    page.evaluate("(address) => { location.hash = address; }", address)
    await_section(page, address.partition("?")[0])


def follow(page, link) -> None:
    """Click on a link to another section and wait until that is shown."""
    key = link.get_attribute("href").lstrip("#").partition("?")[0]
    link.click()
    await_section(page, key)


def await_section(page, key: str) -> None:
    """Wait until a section is shown, and drawn: both happen in one step."""
    expect(page.locator(f'.view[data-key="{key}"]')).to_be_attached()


def scrolls_sideways(page) -> bool:
    """Whether the page itself, not a table in it, is wider than its window."""
    return page.evaluate(
        "() => document.scrollingElement.scrollWidth > document.documentElement.clientWidth"
    )


def clipboard(page) -> str:
    """Text of the clipboard."""
    return page.evaluate("() => navigator.clipboard.readText()")


def copied(page, name: str) -> list[list[str]]:
    """Rows that the button of this name copies."""
    page.evaluate("() => { document.getElementById('told').textContent = ''; }")
    page.click(f'[data-copy="{name}"]')
    expect(page.locator("#told")).to_have_text(re.compile("rows copied"))
    return list(csv.reader(io.StringIO(clipboard(page))))


def pictures(page, selector: str) -> list[str]:
    """What each canvas or diagram shows, to tell whether it changed."""
    shown = "(all) => all.map((one) => one.toDataURL?.() ?? one.innerHTML)"
    return page.locator(selector).evaluate_all(shown)


def all_redrawn(page, selector: str, before: list[str]) -> bool:
    """Whether, now or later, every canvas shows something else than before."""
    return eventually(
        lambda: all(new != old for new, old in zip(pictures(page, selector), before, strict=True))
    )


def blank_canvases(page) -> list[str]:
    """Visible canvases on which nothing is drawn."""
    return page.evaluate(BLANK)


def low_contrast(page, least: float = 4.5) -> list[str]:
    """Visible texts, HTML and SVG, whose contrast with what lies behind them is too low."""
    return page.evaluate(CONTRAST, least)


def tab_stops(page, most: int = 500) -> list[dict]:
    """Press Tab through the page: each stop's name, and whether its focus can be seen."""
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    stops = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None or (stops and stop["order"] <= stops[-1]["order"]):
            break
        stops.append(stop)
    return stops


# What a page does in answer to its reader, it does late: listeners run after a pause, and so do
# the next frame and the clipboard. Keys and the pointer stay: their listeners prevent defaults.
SLOW = """(() => {
  const LATE = { hashchange: 400, resize: 400, change: 150, click: 150, dblclick: 150, input: 150 };
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (name, listener, options) {
    const late = (event) => { setTimeout(() => listener.call(this, event), LATE[name]); };
    return add.call(this, name, name in LATE ? late : listener, options);
  };
  const nextFrame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => setTimeout(() => nextFrame(callback), 400);
  window.cancelAnimationFrame = (waiting) => clearTimeout(waiting);
  const clipboard = navigator.clipboard;
  const writeText = clipboard.writeText.bind(clipboard);
  clipboard.writeText = async (text) => {
    await new Promise((later) => { setTimeout(later, 300); });
    return writeText(text);
  };
})()"""

BLANK = """() => [...document.querySelectorAll("canvas")]
  .filter((canvas) => canvas.checkVisibility() && canvas.getBoundingClientRect().width)
  .filter((canvas) => {
    // Read from a copy: the browser warns of reading often from a canvas that is drawn on.
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    return !pen.getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part);
  })
  .map((canvas) => canvas.id || canvas.getAttribute("aria-label") || "canvas")"""

FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const order = [...document.querySelectorAll("*")].indexOf(element);
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const box = element.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.width > 0;
  const name = element.getAttribute("aria-label") || element.textContent.trim() || element.id;
  return { order, id: element.id, name, tag: element.tagName.toLowerCase(),
           visible: inside && (outlined || style.boxShadow !== "none") };
}"""

# Colors are resolved by painting them, so that any notation is understood. Behind HTML text lie
# the backgrounds of its ancestors; behind SVG text also the shapes that are painted under it.
CONTRAST = """(least) => {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const parts = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], alpha: a / 255 };
  };
  const over = (top, bottom, alpha) => top.map((c, i) => alpha * c + (1 - alpha) * bottom[i]);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isSvg = (element) => element instanceof SVGElement;
  const layer = (element) => {
    const style = getComputedStyle(element);
    const areas = !["svg", "g", "line", "text", "tspan"].includes(element.tagName);
    const shape = isSvg(element) && areas;
    if (isSvg(element) && !shape) return null;
    const { rgb, alpha } = parts(shape ? style.fill : style.backgroundColor);
    const seen = alpha * parseFloat(style.opacity) * (shape ? parseFloat(style.fillOpacity) : 1);
    return seen ? { rgb, alpha: seen } : null;
  };
  const ancestors = (element) => {
    const found = [];
    for (let e = element; e; e = e.parentElement) found.push(e);
    return found;
  };
  const under = (element) => {
    if (!isSvg(element)) return ancestors(element);
    element.scrollIntoView({ block: "center", inline: "center" });
    const box = element.getBoundingClientRect();
    const stack = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const place = stack.findIndex((e) => e === element || element.contains(e));
    return place < 0 ? ancestors(element) : stack.slice(place);
  };
  const ground = (element) => under(element).map(layer).filter(Boolean).reverse()
    .reduce((below, top) => over(top.rgb, below, top.alpha), [255, 255, 255]);
  const bad = [];
  for (const element of document.querySelectorAll("body *:not(script, style, title)")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3)
      .map((node) => node.data.trim()).join(" ").trim();
    const shown = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!text || !shown || element.disabled) continue;
    const style = getComputedStyle(element);
    const ink = parts(isSvg(element) ? style.fill : style.color);
    const opacity = ancestors(element)
      .reduce((seen, e) => seen * parseFloat(getComputedStyle(e).opacity), ink.alpha);
    const behind = ground(element);
    const [low, high] = [luminance(over(ink.rgb, behind, opacity)), luminance(behind)]
      .sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least) {
      bad.push(`${element.tagName.toLowerCase()} "${text.slice(0, 40)}": ${ratio.toFixed(2)}`);
    }
  }
  return bad;
}"""
