"""How fast the page of the demo is there: time to load, and to show one series.

Run with ``python benchmarks/page_load.py [--page FILE] [--repeats N]``. Without a page it makes
one of the demo's size, 12 series x 6 detectors with both studies, from scores that are quick to
compute. Each time a new window of Debian's headless chromium opens the file; told are medians and
the worst. The target is 2 s until the page can be used.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from report.browser import find_chromium
from report.demo_page import SERIES, demo_page

TARGET = 2.0
# After the next frame, what the script drew is on the screen.
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def load_once(browser, url: str) -> dict[str, float]:
    """Seconds until the page was read, drew itself, answered a click, and showed a series."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(url, wait_until="load")
    loaded = time.perf_counter() - begin
    page.evaluate(PAINTED)
    drawn = time.perf_counter() - begin
    page.click("#theme")
    page.evaluate(PAINTED)
    usable = time.perf_counter() - begin
    begin = time.perf_counter()
    page.get_by_role("link", name="Series", exact=True).click()
    page.get_by_role("link", name=SERIES).click()
    page.wait_for_selector("#lines canvas")
    page.evaluate(PAINTED)
    series = time.perf_counter() - begin
    context.close()
    return {"loaded": loaded, "drawn": drawn, "usable": usable, "series shown": series}


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.page or demo_page(Path(folder))
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            times = [load_once(browser, path.resolve().as_uri()) for _ in range(options.repeats)]
            browser.close()
    for name in times[0]:
        taken = [one[name] for one in times]
        print(f"{name:13} median {statistics.median(taken):.2f} s, worst {max(taken):.2f} s")
    usable = statistics.median(one["usable"] for one in times)
    print(
        f"usable in {usable:.2f} s; target {TARGET:.0f} s: {'met' if usable < TARGET else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
