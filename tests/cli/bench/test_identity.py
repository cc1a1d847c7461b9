"""Edited code, through commands in new processes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest
from dask_cluster import scheduler
from typer.testing import CliRunner

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
