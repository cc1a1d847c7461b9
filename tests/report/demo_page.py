"""A page of the demo's size, without the time that its detectors take: their scores are made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from report.runs import run_inline, write_plan

from vuskit.bench import Run
from vuskit.datasets.synthetic.demo import demo_series
from vuskit.report.page import run_page_html
from vuskit.report.run_report import RunReport
from vuskit.studies import run_study

SERIES = "ecg/early-beats-seed0"
# How much of a score is noise, and by how many points it is late.
DETECTORS = {
    "exact": (0.1, 0),
    "late": (0.15, 30),
    "later": (0.2, 60),
    "noisy": (0.45, 0),
    "noisier": (0.6, 10),
    "noise": (1.0, 0),
}
PLAN = """
folder = "benchmark"
series = [{ folder = "data" }]
scores = [{ folder = "scores", pattern = "{detector}/{dataset}/{series}.npy" }]
evaluate = [{ buffer = "median_anomaly", measures = [
    "auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr",
] }]
"""


def write_scored_series(folder: Path) -> None:
    """Write the series of the demo, and six scores of each."""
    for number, series in enumerate(demo_series()):
        path = folder / "data" / series.dataset / f"{series.name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        series.to_frame().round(6).to_csv(path, index=False)
        for place, (name, (noise, late)) in enumerate(DETECTORS.items()):
            rng = np.random.default_rng([number, place])
            bumps = np.convolve(series.labels, np.hanning(40) / 20, mode="same")
            score = (1 - noise) * np.roll(bumps, late) + noise * rng.random(series.n_points)
            target = folder / "scores" / name / series.dataset / f"{series.name}.npy"
            target.parent.mkdir(parents=True, exist_ok=True)
            np.save(target, score)


def demo_page(folder: Path) -> Path:
    """Write the page of 12 series x 6 detectors with two studies; return its file."""
    write_scored_series(folder)
    run = run_inline(write_plan(folder, PLAN))
    robustness = run_study(
        "robustness",
        list(Run(run).scored_series())[:3],
        measures=["f_score", "auc_pr", "vus_pr"],
        buffer="median_anomaly",
        count=3,
    )
    studies = [robustness, run_study("scenarios", n_points=1000)]
    path = folder / "report.html"
    path.write_text(run_page_html(RunReport.read(run), studies=studies), encoding="utf-8")
    return path
