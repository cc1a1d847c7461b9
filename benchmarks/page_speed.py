"""Speed of a page: the measures in JavaScript against NumPy, and one step of a slider.

Run with ``python benchmarks/page_speed.py [--repeats N]``. The series has 100,000 points and 12
anomalies; the longest buffer is 100. Times are medians in headless Chromium. The targets: all
thirteen measures take at most five times as long as with NumPy, and a step of a slider repaints
the page of three detectors within 100 ms. On a busy machine the processor time of the page's
thread tells more than the time on the clock; both are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
os.environ["VUSKIT_CORE"] = "numpy"  # the comparison is with NumPy

import numpy as np
import psutil
from report.browser import running_chromium
from report.evaluated import report_of

import vuskit
from vuskit.kernels.labels import JOURNAL
from vuskit.report.page import series_page_html
from vuskit.report.page.document import part

N, EVENTS, LENGTH, BUFFER = 100_000, 12, 100, 100
FACTOR, STEP_MS = 5.0, 100.0
MEASURE = """([text, repeats]) => {
  const { labels, scores, definition, buffer } = JSON.parse(text);
  const events = measures.events(labels), numbers = Float64Array.from(scores);
  const times = [];
  for (let i = 0; i < repeats; i++) {
    const begin = performance.now();
    measures.evaluate(measures.plan(events, { definition, buffer }), numbers);
    times.push(performance.now() - begin);
  }
  return times;
}"""
# From the event to the frame after everything was drawn.
STEP = """async ([id, values]) => {
  const slider = document.getElementById(id);
  const times = [];
  for (const value of values) {
    const begin = performance.now();
    slider.value = String(value);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begin);
  }
  return times;
}"""


def example() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels and three scores: good, late and noisy."""
    rng = np.random.default_rng(0)
    labels = np.zeros(N, dtype=bool)
    for start in np.linspace(3000, N - 5000, EVENTS).astype(int):
        labels[start : start + LENGTH] = True
    noise = [rng.random(N) for _ in range(3)]
    shifted = np.roll(labels, 30)
    return labels, {
        "good": noise[0] + labels,
        "late": noise[1] + 0.6 * shifted,
        "noisy": noise[2] + 0.3 * labels,
    }


def renderer_ms() -> dict[int, float]:
    """Processor time of the first thread of every page's process, where scripts run."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "--type=renderer" in process.cmdline():
                own = [one for one in process.threads() if one.id == process.pid]
                found[process.pid] = 1000 * sum(one.user_time + one.system_time for one in own)
    return found


def numpy_ms(labels: np.ndarray, scores: np.ndarray, repeats: int) -> float:
    """Median of all thirteen measures."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        vuskit.evaluate(labels, scores, buffer=BUFFER)
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=21)
    repeats = parser.parse_args().repeats
    labels, scores = example()
    with running_chromium() as browser, tempfile.TemporaryDirectory() as folder:
        if browser is None:
            print("needs chromium and playwright")
            return 1
        page = browser.new_context().new_page()
        page.add_script_tag(content=part("measures.js") + "\nwindow.measures = measures;")
        case = {
            "labels": labels.astype(int).tolist(),
            "scores": scores["good"].tolist(),
            "definition": dataclasses.asdict(JOURNAL),
            "buffer": BUFFER,
        }
        script = statistics.median(page.evaluate(MEASURE, [json.dumps(case), repeats]))
        python = numpy_ms(labels, scores["good"], repeats)
        print(
            f"thirteen measures: {script:.1f} ms; NumPy: {python:.1f} ms; "
            f"ratio {script / python:.1f}"
        )
        path = Path(folder) / "page.html"
        path.write_text(series_page_html(report_of(labels, scores, buffer=BUFFER)), "utf-8")
        print(
            f"page of {N:,} points and {len(scores)} detectors: {path.stat().st_size / 1e6:.2f} MB"
        )
        page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
        page.goto(path.as_uri())
        steps = {
            "threshold": range(300, 300 + 10 * repeats, 10),
            "buffer": range(99, 99 - repeats, -1),
            "lag": range(1, 1 + repeats),
            "noise": range(1, 1 + repeats),
            "crop-from": range(1000, 1000 + 500 * repeats, 500),
        }
        for button in page.locator('#legend [aria-pressed="false"]').all():
            button.click()
        medians = {}
        for name, values in steps.items():
            before = renderer_ms()
            times = page.evaluate(STEP, [name, list(values)])
            busy = max(one - before.get(process, 0.0) for process, one in renderer_ms().items())
            medians[name] = statistics.median(times)
            print(
                f"one step of {name}: {medians[name]:.0f} ms, at best {min(times):.0f} ms, "
                f"processor time {busy / len(times):.0f} ms"
            )
    met = script <= FACTOR * python and max(medians.values()) <= STEP_MS
    print(f"targets ({FACTOR:g} times, {STEP_MS:g} ms): {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
