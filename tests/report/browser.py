"""A real browser for the pages: opened from a file, without a network, without a complaint.

Tests ask for the fixture ``open_page`` of ``conftest.py``; what they check on any page is here.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Pages may hold data of their own under these; neither leaves the machine.
OWN_SCHEMES = ("data:", "blob:")


def find_chromium() -> str | None:
    """Path of the browser of the system, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Watch:
    """What a page did that no page of ours may do."""

    url: str
    complaints: list[str] = field(default_factory=list)

    def follow(self, page):
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        if request.url.partition("#")[0] != self.url and not request.url.startswith(OWN_SCHEMES):
            self.complaints.append(f"request: {request.url}")


class Opener:
    """Opens pages in windows of their own and watches them until the test ends."""

    def __init__(self, browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._contexts, self._watches = [], []

    def __call__(self, source, *, width=1280, height=900, dark=False):
        """Open an HTML text, or the file at a path, and return playwright's page."""
        path = source if isinstance(source, Path) else self._write(source)
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
            reduced_motion="reduce",
        )
        context.set_default_timeout(60_000)  # a busy machine is no failure
        self._contexts.append(context)
        page = context.new_page()
        watch = Watch(path.resolve().as_uri())
        self._watches.append(watch)
        watch.follow(page)
        page.goto(watch.url)
        return page

    def _write(self, html: str) -> Path:
        path = self._folder / f"page{len(self._watches)}.html"
        path.write_text(html, encoding="utf-8")
        return path

    def close(self) -> list[str]:
        """Close every window; return what the pages complained about."""
        for context in self._contexts:
            context.close()
        return [complaint for watch in self._watches for complaint in watch.complaints]


def scrolls_sideways(page) -> bool:
    """Whether the page itself, not a table in it, is wider than its window."""
    return page.evaluate(
        "() => document.scrollingElement.scrollWidth > document.documentElement.clientWidth"
    )


def copied(page) -> str:
    """Text of the clipboard."""
    return page.evaluate("() => navigator.clipboard.readText()")


def picture(page, selector: str) -> str:
    """What is drawn on a canvas, to tell whether it changed."""
    return page.locator(selector).evaluate("(canvas) => canvas.toDataURL()")


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

# Colours are resolved by painting them, so that any notation is understood. Behind HTML text lie
# the backgrounds of its ancestors; behind SVG text also the shapes that are painted under it.
CONTRAST = """(least) => {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
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
    const shape = isSvg(element) && !["svg", "g", "text", "tspan"].includes(element.tagName);
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
