"""Make the screenshots of the documentation: what the commands write, seen in a browser.

Run with ``python docs/figures/make_screenshots.py [FOLDER [NAME ...]]``. FOLDER is that of an
earlier ``vuskit demo``, with the output of ``vuskit paper --demo`` in ``FOLDER/paper``. Without it,
both run in a temporary folder, which takes minutes. With names, only these pictures are made.
Needs playwright and a Chromium.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        Which page: "series", "try", "run", "studies", "paper", or "explore" for the server.
    width, height : int
        Of what is shown, from the top of the page.
    dark : bool
        In which colors.
    address : str
        What follows ``#`` in the address.
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
    address: str = ""
    palette: Image.Quantize = Image.Quantize.MAXCOVERAGE
    act: Callable[[Page], None] = lambda page: None


def _compare_two(page: Page) -> None:
    """Set the late detector against the noisy one, with some of the lag undone."""
    page.select_option("#pick-a", label="late")
    page.select_option("#pick-b", label="noisy")
    page.locator("#lag").fill("-12")
    page.locator("#surface-score").select_option("difference")
    page.wait_for_selector(".view[data-chance]")
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")


def _highlight_volumes(page: Page) -> None:
    for title in ("VUS-ROC", "VUS-PR"):
        page.get_by_role("button", name=title, exact=True).first.click()


_SHADES = Image.Quantize.MEDIANCUT
SHOTS = (
    Shot("page_desktop", "series", 1366, 2330, palette=_SHADES, act=_compare_two),
    Shot("page_phone", "series", 390, 1500, True, palette=_SHADES, act=_compare_two),
    Shot("run_desktop", "run", 1280, 1900),
    Shot("run_phone", "run", 390, 844),
    Shot("studies_page", "studies", 1280, 1585, act=_highlight_volumes),
    Shot("try_page", "try", 1280, 325),
    Shot("paper_page", "paper", 1280, 1500),
    Shot("explore_overview", "explore", 1280, 860, address="overview"),
    Shot("explore_detectors", "explore", 1280, 2010, address="detectors"),
    Shot("explore_series", "explore", 1280, 1160, address="series?name=ecg/tempo-seed0"),
    Shot("explore_phone", "explore", 390, 844, dark=True, address="detectors"),
)


def run(*arguments: object) -> None:
    """Run a command of vuskit."""
    subprocess.run([*VUSKIT, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def write_page(name: str, demo: Path, folder: Path) -> Path:
    """Write a page that is shown."""
    page = folder / f"{name}.html"
    if name == "series":
        scores = folder / "scores.csv"
        three_scores().to_frame().round(6).to_csv(scores, index=False)
        run("evaluate", scores, "--html", page)
    elif name == "try":
        run("page", "--empty", page)
    elif name == "run":
        run("report", demo / "benchmark", "--output", page)
    elif name == "studies":
        run("report", demo / "studies", "--output", page)
    else:
        page = demo / "paper" / "index.html"
        if not page.exists():
            run("paper", "--demo", "--output", page.parent)
    return page


@contextmanager
def explored(demo: Path) -> Iterator[str]:
    """Run the server and yield its address."""
    command = [*VUSKIT, "explore", str(demo / "benchmark"), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def shrink(path: Path, palette: Image.Quantize) -> None:
    """Keep 256 colors: a third of the bytes."""
    picture = Image.open(path).convert("RGB")
    picture.quantize(256, palette, dither=Image.Dither.NONE).save(path, optimize=True)


def take(browser: Browser, shot: Shot, page: str) -> Path:
    """Take one picture."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.dark else "light",
    )
    shown = context.new_page()
    shown.goto(f"{page}#{shot.address}")
    shown.wait_for_load_state("networkidle")
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


def browser_path() -> str | None:
    """Path of the browser of the system, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def main() -> int:
    path = browser_path()
    if path is None:
        print(f"needs one of {', '.join(BROWSERS)}")
        return 1
    shots = [one for one in SHOTS if not sys.argv[2:] or one.name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as made:
        demo = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(made) / "demo"
        if not (demo / "benchmark").is_dir():
            run("demo", "--output", demo)
        names = {shot.page for shot in shots} - {"explore"}
        pages = {name: write_page(name, demo, Path(made)).resolve().as_uri() for name in names}
        with explored(demo) as pages["explore"], sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            pictures = [take(browser, shot, pages[shot.page]) for shot in shots]
            browser.close()
    for picture in pictures:
        print(f"{picture.stat().st_size:>9,} {picture}")
    return int(any(picture.stat().st_size > MOST_BYTES for picture in pictures))


if __name__ == "__main__":
    sys.exit(main())
