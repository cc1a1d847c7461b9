"""The example plug-in, built and installed as a package: vuskit finds everything that it offers."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from waiting import PATIENCE

pytest.importorskip("hatchling", reason="hatchling, which builds the plug-in, is not installed")

PLUGIN = Path(__file__).parents[2] / "examples" / "vuskit-example-plugin"
NAMES = {
    "measures": "top_hit",
    "detectors": "median_distance",
    "readers": "pairs",
    "thresholds": "mad",
    "studies": "spread",
}
PLAN = """
folder = "run"

[[series]]
folder = "series"

[[detectors]]
name = "median_distance"

[[detectors]]
name = "random"

[[evaluate]]
measures = ["top_hit", "f_score"]
buffer = 20
threshold = "mad"

[executor]
workers = 1
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder in which pip has installed the plug-in, without an index."""
    folder = tmp_path_factory.mktemp("installed")
    install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *install, "--target", str(folder), str(PLUGIN)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def vuskit(installed, tmp_path_factory):
    """Run a command in a Python that has the plug-in, in a folder with series of its format."""
    place = tmp_path_factory.mktemp("work")
    (place / "series").mkdir()
    rng = np.random.default_rng(5)
    for name in ("one", "two"):
        labels = np.zeros(300, dtype=int)
        labels[120:132] = 1
        pairs = zip(rng.random(300) + 4 * labels, labels, strict=True)
        text = "".join(f"{value};{label}\n" for value, label in pairs)
        (place / "series" / f"{name}.pairs").write_text(text)
    (place / "bench.toml").write_text(PLAN)
    known = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments, code=0, program=("-m", "vuskit")):
        done = subprocess.run(
            [sys.executable, *program, *arguments],
            cwd=place,
            env={**os.environ, "PYTHONPATH": known, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            timeout=PATIENCE * 10,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


LIST = """
import sys
from vuskit.cli.app import app
for kind in sys.argv[1:]:
    app(["list", kind, "--csv"], standalone_mode=False)
"""


def test_lists_show_it(vuskit):
    names = {line.partition(",")[0] for line in vuskit(*NAMES, program=("-c", LIST)).splitlines()}
    assert set(NAMES.values()) <= names


def test_plans_and_studies_use_it(vuskit):
    text = vuskit("bench", "plan")
    assert "Median distance" in text
    assert "Top hit" in text
    assert "/one" in text

    vuskit("bench", "run", "--plain")
    rows = csv.DictReader(io.StringIO(vuskit("bench", "export", "run", "--csv")))
    values = {(row["detector"], row["measure"]): float(row["value"]) for row in rows}
    assert values["Median distance", "top_hit"] == 1
    assert values["Median distance", "f_score"] > 0.4

    # Settings name the rule with its version: an update of the plug-in repeats the evaluations.
    assert "threshold=mad (vuskit-example-plugin 1.0)" in " ".join(
        vuskit("bench", "leaderboard", "run").split()
    )
    studied = vuskit(
        *["study", "all", "run", "--measure", "auc_pr", "--measure", "top_hit"],
        *["--buffer", "20", "--processes", "1", "--output", "studies"],
        code=3,  # two series are too few for two of our studies
    )
    assert "\nspread\n" in studied
    assert "Top hit" in studied
