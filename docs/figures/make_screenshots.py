"""Make the screenshots of the documentation: what the commands write, seen in a browser.

Run with ``python docs/figures/make_screenshots.py [FOLDER]``. FOLDER is that of an earlier
``vuskit demo``; without it the demo runs in a folder of its own, which takes minutes. Needs
playwright and a Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from vuskit.datasets.synthetic import three_scores

HERE = Path(__file__).parent
VUSKIT = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MOST_BYTES = 250_000


@dataclass(frozen=True)
class Shot:
    """A picture of a page.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    page : str
        Which page: "series", "run" or "studies".
    width, height : int
        Of what is shown, from the top of the page.
    dark : bool
        In which colors.
    palette : Image.Quantize
        Which 256 colors are kept: of surfaces many shades, else those of small patches too.
    act : callable
        What a reader does first.
    """

    name: str
    page: str
    width: int
    height: int
    dark: bool = False
    palette: Image.Quantize = Image.Quantize.MAXCOVERAGE
    act: Callable[[Page], None] = lambda page: None


def _look_at_the_late_one(page: Page) -> None:
    page.locator("#buffer").evaluate(
        "slider => { slider.value = 60; slider.dispatchEvent(new Event('input')); }"
    )
    page.locator("#surface-score").select_option("late")


def _highlight_volumes(page: Page) -> None:
    for title in ("VUS-ROC", "VUS-PR"):
        page.get_by_role("button", name=title, exact=True).first.click()


_SHADES = Image.Quantize.MEDIANCUT
SHOTS = (
    Shot("page_desktop", "series", 1100, 2900, palette=_SHADES, act=_look_at_the_late_one),
    Shot("page_phone", "series", 390, 2400, True, palette=_SHADES, act=_look_at_the_late_one),
    Shot("run_desktop", "run", 1280, 1900),
    Shot("run_phone", "run", 390, 844),
    Shot("studies_page", "studies", 1280, 1585, act=_highlight_volumes),
)


def run(*arguments: object) -> None:
    """Run a command of vuskit."""
    subprocess.run([*VUSKIT, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def write_pages(demo: Path, folder: Path) -> dict[str, Path]:
    """Write the pages that are shown."""
    pages = {name: folder / f"{name}.html" for name in ("series", "run", "studies")}
    scores = folder / "scores.csv"
    three_scores().to_frame().round(6).to_csv(scores, index=False)
    run("evaluate", scores, "--html", pages["series"])
    run("report", demo / "benchmark", "--output", pages["run"])
    run("report", demo / "studies", "--output", pages["studies"])
    return pages


def shrink(path: Path, palette: Image.Quantize) -> None:
    """Keep 256 colors: a third of the bytes."""
    picture = Image.open(path).convert("RGB")
    picture.quantize(256, palette, dither=Image.Dither.NONE).save(path, optimize=True)


def take(browser: Browser, shot: Shot, page: Path) -> Path:
    """Take one picture."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.dark else "light",
    )
    shown = context.new_page()
    shown.goto(page.resolve().as_uri())
    shot.act(shown)
    shown.mouse.move(0, 0)
    # What was asked for is drawn in the next frame.
    shown.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))"
    )
    path = HERE / f"{shot.name}.png"
    shown.screenshot(path=path)
    context.close()
    shrink(path, shot.palette)
    return path


def main() -> int:
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        print(f"needs one of {', '.join(BROWSERS)}")
        return 1
    with tempfile.TemporaryDirectory() as made:
        demo = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(made) / "demo"
        if not (demo / "benchmark").is_dir():
            run("demo", "--output", demo)
        pages = write_pages(demo, Path(made))
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            pictures = [take(browser, shot, pages[shot.page]) for shot in SHOTS]
            browser.close()
    for picture in pictures:
        print(f"{picture.stat().st_size:>9,} {picture}")
    return int(any(picture.stat().st_size > MOST_BYTES for picture in pictures))


if __name__ == "__main__":
    sys.exit(main())
