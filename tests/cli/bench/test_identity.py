"""Names and code of results, through commands in processes of their own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest
from dask_cluster import scheduler
from typer.testing import CliRunner

from vuskit.bench import Run
from vuskit.cli.app import app

VUSKIT = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
HEAD = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = {seeds}
[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = 20
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Run a command in a folder and return its output; errors fail the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, code=0, **environment):
        outcome = subprocess.run(
            [*VUSKIT, *map(str, arguments)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == code, outcome.stdout + outcome.stderr
        return outcome.stdout if "--json" in arguments else outcome.stdout + outcome.stderr

    return run


def read(*arguments):
    """Standard output of a command that only reads, in this process."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def write_plan(folder, detectors, executor="workers = 1", seeds="[1, 2]"):
    entries = [f'[[detectors]]\nname = "{name}"\nlabel = "{label}"' for label, name in detectors]
    text = "\n".join([HEAD.format(seeds=seeds), *entries, f"[executor]\n{executor}\n"])
    (folder / "bench.toml").write_text(text)


def means(folder):
    """Mean AUC-PR by label, from the exported values."""
    read("bench", "export", "bench-run", "-o", "values.csv", "--shape", "values")
    found = {}
    with (folder / "values.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["measure"] == "auc_pr" and row["value"]:
                found.setdefault(row["detector"], []).append(float(row["value"]))
    return {name: sum(values) / len(values) for name, values in found.items()}


def check_names(folder, expected):
    """Check that every table has these labels, with these values, and no other label."""
    assert means(folder) == pytest.approx(expected)
    board = read("bench", "leaderboard", "bench-run", "--json")
    compared = read("compare", "bench-run", "--measure", "auc_pr", "--json")
    read("report", "bench-run", "-o", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    for shown in (board, compared, page):
        assert {name for name in ("Alpha", "Beta", "Gamma") if f'"{name}"' in shown} == set(
            expected
        )
    (shown,) = json.loads(board)["boards"]
    values = {one["name"]: one["values"]["auc_pr"] for one in shown["detectors"]}
    assert values == pytest.approx(expected)
    for series in Run(folder / "bench-run").scored_series():  # what studies read
        assert {name for name, *_ in series.scores} == set(expected)


def test_tables_follow_the_labels_of_the_plan(command, tmp_path):
    write_plan(tmp_path, [("Alpha", "values"), ("Beta", "random")])
    command("bench", "run")
    first = means(tmp_path)
    alpha, beta = first["Alpha"], first["Beta"]
    assert alpha != beta
    check_names(tmp_path, {"Alpha": alpha, "Beta": beta})
    changes = [
        ([("Beta", "values"), ("Alpha", "random")], {"Beta": alpha, "Alpha": beta}),
        ([("Gamma", "values"), ("Beta", "random")], {"Gamma": alpha, "Beta": beta}),
        (
            [("Alpha", "values"), ("Gamma", "values"), ("Beta", "random")],
            {"Alpha": alpha, "Gamma": alpha, "Beta": beta},
        ),
    ]
    for detectors, expected in changes:
        write_plan(tmp_path, detectors)
        planned = json.loads(read("bench", "plan", "--json"))
        assert planned["jobs"]["scores"]["to_do"] == planned["jobs"]["evaluations"]["to_do"] == 0
        assert planned["stale"] == []
        assert "nothing left to run" in command("bench", "run")
        check_names(tmp_path, expected)


# -- code ------------------------------------------------------------------------------------------

DETECTOR = """
import functools
import numpy as np
import code_tools

def scored(values, sign):
    return sign * code_tools.scaled(values)

fixed = functools.partial(scored, sign=1.0)
vectorized = np.vectorize(code_tools.scaled)
"""
TOOLS = "POWER = 1\ndef scaled(values):\n    return values ** POWER\n"
LABELS = [
    ("Fixed", "code_detector:fixed"),
    ("Vectorized", "code_detector:vectorized"),
    ("Neighbor", "code_neighbor:neighbor"),
]


def write_code(folder):
    folder.mkdir(exist_ok=True)
    (folder / "code_detector.py").write_text(DETECTOR)
    (folder / "code_tools.py").write_text(TOOLS)
    (folder / "code_neighbor.py").write_text("def neighbor(values):\n    return values\n")


def edit(path, old, new):
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def test_edited_code_runs_again_with_its_reason(command, tmp_path):
    write_code(tmp_path)
    write_plan(tmp_path, LABELS)
    assert "Again" not in command("bench", "run")
    before = means(tmp_path)
    assert before["Fixed"] == before["Vectorized"] == before["Neighbor"]
    (tmp_path / "unrelated.py").write_text("import code_tools\n")
    assert "To run again" not in command("bench", "plan")
    edit(tmp_path / "code_tools.py", "POWER = 1", "POWER = 2")
    planned = command("bench", "plan")
    for name in ("fixed", "vectorized"):
        reason = f"code of `code_detector:{name}` changed (code_tools)"
        assert f"  2 jobs: {reason}" in planned
        entry = {"kind": "score", "jobs": 2, "reason": reason}
        assert entry in json.loads(read("bench", "plan", "--json"))["stale"]
    ran = command("bench", "run")
    assert "Again: 2 jobs: code of `code_detector:fixed` changed (code_tools)" in ran
    after = means(tmp_path)
    assert after["Fixed"] == after["Vectorized"] != before["Fixed"]
    assert after["Neighbor"] == before["Neighbor"]
    edit(tmp_path / "code_tools.py", "POWER = 2", "POWER = 1")
    assert "To run again" not in command("bench", "plan")  # those results are still there
    assert "nothing left to run" in command("bench", "run")
    assert means(tmp_path) == before


def test_dask_workers_with_an_older_copy_refuse(command, tmp_path, monkeypatch):
    """Modules on the path of each process, as on machines without a common folder."""
    old, new = tmp_path / "old", tmp_path / "new"
    write_code(old)
    write_code(new)
    edit(new / "code_tools.py", "POWER = 1", "POWER = 2")
    monkeypatch.setenv("PYTHONPATH", str(old))
    with scheduler(1) as (file, _):
        write_plan(tmp_path, LABELS, f'kind = "dask"\naddress = "{file}"', seeds="[1]")
        told = command("bench", "run", code=3, PYTHONPATH=str(new))
        assert "a different version of code_tools" in told
        found = means(tmp_path)
        assert set(found) == {"Neighbor"}  # its code is the same everywhere
        (old / "code_tools.py").write_text((new / "code_tools.py").read_text())
        command("bench", "run", PYTHONPATH=str(new))
    on_dask = means(tmp_path)
    assert set(on_dask) == {"Fixed", "Vectorized", "Neighbor"}
    write_plan(tmp_path, LABELS, seeds="[1]")
    (tmp_path / "bench-run").rename(tmp_path / "on-dask")
    command("bench", "run", PYTHONPATH=str(new))
    assert means(tmp_path) == on_dask
