"""Means of a run in which a detector lacks values of one measure on the hard series."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from vuskit.bench import Run, leaderboard
from vuskit.report.page.run_data import run_comparisons
from vuskit.report.run_report import RunReport

MODULE = """
import numpy as np
import vuskit

@vuskit.register_measure(name="top_share", title="Top share")
def top_share(y_true, y_score):
    score = np.asarray(y_score)
    if len(score) == 900:
        if score[0] == -1:
            return float("nan")
        if score[0] == -2:
            raise ValueError("no share")
    return 1.0 if len(score) != 900 else 0.25

def undefined(values):
    return np.r_[-1, np.abs(values[1:])]

def failing(values):
    return np.r_[-2, np.abs(values[1:]) / 2]

def never(values):
    raise RuntimeError("never")
"""
PLAN = """
folder = "run"
imports = ["own"]
series = [
    {family = "ecg", n = 800, n_anomalies = 2, seed = 1},
    {family = "ecg", n = 850, n_anomalies = 2, seed = 2},
    {family = "ecg", n = 900, n_anomalies = 2, seed = 3},
]
detectors = [
    {name = "values"}, {name = "own:undefined"}, {name = "own:failing"},
    {name = "own:never"},
]
evaluate = [{measures = ["auc_pr", "top_share"], buffer = 5}]
executor = {workers = 1}
"""


def vuskit(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", "from vuskit.cli.main import run; run()", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def test_a_detector_of_inverted_scores_is_noted(tmp_path):
    (tmp_path / "own.py").write_text(
        "import numpy as np\n\ndef upside_down(values):\n    return -np.abs(values)\n"
    )
    (tmp_path / "bench.toml").write_text(
        """
folder = "run"
imports = ["own"]
series = [{folder = "data"}]
detectors = [{name = "random"}, {name = "own:upside_down"}]
evaluate = [{measures = ["auc_roc", "auc_pr"], buffer = 5}]
executor = {workers = 1}
"""
    )
    rows = [f"{5 * (i % 50 == 7) * (i + 1)},{int(i % 50 == 7)}" for i in range(400)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "spikes.csv").write_text("value,label\n" + "\n".join(rows))
    ran = vuskit(tmp_path, "bench", "run", "--plain")
    assert ran.returncode == 0
    assert "upside_down (AUC-ROC 0.0" in ran.stderr
    board = vuskit(tmp_path, "bench", "leaderboard", "run")
    (note,) = [line for line in board.stderr.splitlines() if "inverted" in line]
    assert re.match(r"note: own:upside_down \(AUC-ROC 0.0\d\) looks inverted: far below", note)
    assert "below 0.5 on 1 of 1 series (data/spikes)" in note
    assert "do not negate it because of one series" in note
    assert note == f"note: {Run(tmp_path / 'run').inverted_note()}"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run whose detectors have all values, but two lack one measure on the hard series."""
    folder = tmp_path_factory.mktemp("hard")
    (folder / "own.py").write_text(MODULE)
    (folder / "bench.toml").write_text(PLAN)
    assert vuskit(folder, "bench", "run", "--plain").returncode == 3
    return folder


def test_a_missing_value_on_a_hard_series_does_not_improve_a_mean(place):
    tables = json.loads(vuskit(place, "bench", "leaderboard", "--json").stdout)["tables"]
    (table,) = tables.values()
    cells = [one for one in table["cells"] if not one["dataset"]]
    assert {one["measure"]: one["series"] for one in cells} == {"auc_pr": 3, "top_share": 2}
    means = {one["detector"]: one["mean"] for one in cells if one["measure"] == "top_share"}
    assert means.pop("own:never") is None
    assert means == {"Values": 1.0, "own:undefined": 1.0, "own:failing": 1.0}

    rows = list(csv.DictReader(io.StringIO(vuskit(place, "bench", "leaderboard", "--csv").stdout)))
    assert {row["measure"]: row["series"] for row in rows} == {"auc_pr": "3", "top_share": "2"}
    found = {row["detector"]: row["mean"] for row in rows if row["measure"] == "top_share"}
    assert {name: mean and float(mean) for name, mean in found.items()} == {
        **means,
        "own:never": "",
    }

    shown = vuskit(place, "bench", "leaderboard", "--unit", "dataset").stdout
    assert re.search(r"^detector +AUC-PR +Top share *$", shown, re.MULTILINE)
    assert re.search(r"^series +3 +2 *$", shown, re.MULTILINE)
    assert shown.startswith("AUC-PR, Top share of 4 detectors: mean ± standard deviation over the")
    lacking = "own:failing: 1 ERROR; own:never: 3 ERROR; own:undefined: 1 undefined."
    assert f"Without a value, of 3 series: {lacking}" in shown
    latex = vuskit(place, "bench", "leaderboard", "--latex").stdout
    assert "\nseries & 3 & 2 \\\\\n" in latex

    exported = json.loads(
        vuskit(place, "bench", "export", "--shape", "leaderboard", "--json").stdout
    )
    assert {row["detector"]: row["top_share"] for row in exported} == {**means, "own:never": None}
    assert {(row["series"], row["series_auc_pr"], row["series_top_share"]) for row in exported} == {
        (None, 3, 2)
    }


def test_compare_and_page_use_the_same_series(place):
    told = vuskit(place, "compare", "run", "--measure", "top_share", "--json")
    assert "use 2 of 3 series" in told.stderr
    assert "fewer than 3: own:failing 2, own:undefined 2" in told.stderr
    found = json.loads(told.stdout)
    assert (found["rows"], found["rows_dropped"], found["rows_in_means"]) == (2, 1, 2)
    assert {one["name"]: one["mean"] for one in found["detectors"]} == {
        "Values": 1.0,
        "own:undefined": 1.0,
        "own:failing": 1.0,
    }
    worst = vuskit(
        place, "compare", "run", "--measure", "top_share", "--missing", "worst", "--json"
    )
    found = json.loads(worst.stdout)
    assert (found["rows"], found["rows_in_means"]) == (3, 2)
    means = {one["name"]: one["mean"] for one in found["detectors"]}
    assert (means["Values"], means["own:never"]) == (1.0, None)
    assert "mean and median use 2 of 3 series, those with a value of all" in worst.stderr

    report = RunReport.read(place / "run")
    compared = run_comparisons(report)
    assert compared[f"0,{report.measures.index('top_share')}"]["n"] == 2
    assert compared[f"0,{report.measures.index('auc_pr')}"]["n"] == 3
    of_page = leaderboard(report.to_frame(), detectors=report.detectors)
    assert of_page.drop(columns=["series", "own_series"]).equals(
        Run(place / "run").leaderboard().drop(columns=["series", "own_series"])
    )
