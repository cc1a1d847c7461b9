"""Make the animation of the README: the evaluation page while a slider moves.

Run with ``python docs/figures/make_animation.py``; writes ``docs/figures/readme_page.gif``. The
score "late" fires too late; moving it back with the lag slider raises every measure. Needs
playwright and a Chromium.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from make_screenshots import browser_path, run
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from vuskit.datasets.synthetic import three_scores

TARGET = Path(__file__).with_name("readme_page.gif")
WIDTH, HEIGHT = 1180, 720
COLORS = 64
STEPS = [0, 0, -6, -12, -18, -24, -30, -36, -42, -48, -48, -48]
MILLISECONDS = [900, 300, *[160] * 8, 1400, 900]
MOST_BYTES = 700_000


def frame(page: Page, lag: int) -> Image.Image:
    """Picture of the page with a lag, after everything followed."""
    before = page.locator(".view").get_attribute("data-rested")
    page.locator("#lag").fill(str(lag))
    page.wait_for_function(
        "(before) => document.querySelector('.view').dataset.rested !== before", arg=before
    )
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def main() -> int:
    path = browser_path()
    if path is None:
        print("needs a Chromium")
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        scores, target = Path(folder) / "scores.csv", Path(folder) / "page.html"
        three_scores().to_frame().round(6).to_csv(scores, index=False)
        run("evaluate", scores, "--html", target)
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(target.as_uri())
        page.select_option("#pick-a", label="late")
        page.select_option("#pick-b", label="noisy")
        pictures = [frame(page, lag) for lag in STEPS]
        browser.close()
    # One palette for all frames: what does not change takes no bytes.
    palette = pictures[-1].quantize(COLORS, Image.Quantize.MAXCOVERAGE)
    frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    frames[0].save(
        TARGET,
        save_all=True,
        append_images=frames[1:],
        duration=MILLISECONDS,
        loop=0,
        optimize=True,
    )
    size = TARGET.stat().st_size
    print(f"{size:>9,} {TARGET}")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
