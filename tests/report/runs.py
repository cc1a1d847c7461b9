"""Small benchmark runs to make pages of: evil names, several seeds, failures, missing values."""

from __future__ import annotations

import numpy as np
from report.evaluated import EVIL, EVIL_SCORE

from vuskit.bench.plan import load_plan
from vuskit.bench.runner import run_plan
from vuskit.engine.run import InProcessExecutor

POINTS = 300

MODULE = """
import numpy as np

def flaky(values, seed):
    if values[0] > 1:
        raise ValueError("<b>the first value</b> must be at most 1, got more")
    return np.abs(np.asarray(values).ravel())

def never(values, seed):
    raise RuntimeError("never works")
"""
PLAN = """
folder = "night run"
seeds = [0, 1]
series = [{ folder = "data", format = "scores" }]
detectors = [
    { name = "moving_zscore", window = 20 },
    { name = "random" },
    { name = "own:flaky", label = "flaky" },
    { name = "own:never", label = "never" },
]
scores = [{ folder = "data" }]
evaluate = [{ measures = ["f_score", "auc_pr", "vus_pr"], buffer = 10 }]
executor = { workers = 1 }
"""
ONLY_FAILURES = """
folder = "failed"
series = [{ folder = "data", format = "scores" }]
detectors = [{ name = "own:never", label = "never" }]
evaluate = [{ measures = ["vus_pr"], buffer = 10 }]
executor = { workers = 1 }
"""
TWO_SETTINGS = """
folder = "two"
series = [{ folder = "data", format = "scores", names = ["alpha/*"] }]
detectors = [{ name = "moving_zscore", window = 20 }]
evaluate = [
    { measures = ["auc_pr", { name = "f_score", beta = 2 }], buffer = 10 },
    { measures = ["vus_pr", "auc_pr"], buffer = 4, definition = "pvldb2022" },
]
executor = { workers = 1 }
"""


def write_series(folder):
    """Six series of two data sets, each with two scores; the flaky detector fails on three."""
    for number, (dataset, name) in enumerate(
        [(d, n) for d in ("alpha", "beta") for n in ("one", "two", EVIL)]
    ):
        rng = np.random.default_rng(number)
        labels = np.zeros(POINTS, dtype=int)
        for start in (60 + 3 * number, 200 - 5 * number):
            labels[start : start + 12] = 1
        values = np.sin(np.arange(POINTS) / 9) + labels + 0.1 * rng.standard_normal(POINTS)
        values[0] = 2.0 if dataset == "beta" else 0.0
        good = labels + 0.8 * rng.random(POINTS)
        other = rng.random(POINTS) + 0.3 * np.roll(labels, 6)
        rows = [f"value,label,good,{EVIL_SCORE}"]
        rows += [
            f"{v:.5f},{label},{a:.5f},{b:.5f}"
            for v, label, a, b in zip(values, labels, good, other, strict=True)
        ]
        path = folder / "data" / dataset / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "own.py").write_text(MODULE)


def write_plan(folder, text=PLAN):
    path = folder / "bench.toml"
    path.write_text(text)
    return load_plan(path)


def run_inline(plan, **options):
    """Run a plan in this process; return the folder."""
    return run_plan(plan, executor=InProcessExecutor(), **options).folder
