"""The command line of the studies, as a user meets it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest
from cli.terminal import COMMAND
from studies.timing.estimates import estimated_times
from typer.testing import CliRunner
from waiting import PATIENCE

from vuskit import __version__
from vuskit.cli import main
from vuskit.cli.app import app
from vuskit.datasets.synthetic import labeled_scores
from vuskit.errors import InvalidInputError

NARROW = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}


@pytest.fixture
def folder(tmp_path):
    """Five small series with saved scores."""
    source = tmp_path / "scores"
    source.mkdir()
    for seed in range(5):
        labels, scores = labeled_scores(
            300 + 100 * seed, n_anomalies=2 + seed, mean_length=4 + seed % 3, seed=seed
        )
        table = np.column_stack([scores, labels, scores])
        np.savetxt(
            source / f"s{seed}.csv", table, "%.6f,%d,%.6f", header="value,label,A", comments=""
        )
    return source


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


def test_version():
    assert invoke("--version").output == f"vuskit {__version__}\n"


def test_study_of_a_folder_leaves_page_tables_and_figures(tmp_path, folder, illustrated):
    output = tmp_path / "out"
    result = invoke(
        "study", "timing", folder, "--output", output, "--set=repeats=1",
        "--set=thresholds=20",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "How many times longer the paper's algorithms take" in result.output
    assert "35 cells, 35 timed runs" in result.output
    assert max(map(len, result.output.splitlines())) <= max(80, len(str(output)) + 60)
    left = {path.name for path in output.iterdir()}
    assert left >= {
        "timing.md",
        "timing_seconds.png",
        "timing_memory.png",
        "timing_summary.csv",
        "timing_ratios.csv",
        "timing_joint_slopes.csv",
        "timing_environment.csv",
        "runs",
    }


def test_buffers_of_the_series(tmp_path, folder):
    line = (
        "--output",
        tmp_path,
        "--set",
        "repeats=1",
        "--set",
        "thresholds=5",
        "--only",
        "opt",
        "--json",
    )
    result = invoke("study", "timing", folder, "--buffer", "median-anomaly", *line)
    cells = json.loads(result.stdout)["studies"][0]["summary"]
    assert {cell["max_buffer"] for cell in cells} == {4, 5, 6}  # the lengths of their anomalies
    refused = invoke("study", "timing", "--buffer", "7")
    assert "must be used with SCORES" in str(refused.exception)


def test_only_some_contestants(tmp_path, folder):
    result = invoke(
        "study", "timing", folder, "--output", tmp_path, "--set=repeats=2",
        "--set=thresholds=5", "--only", "opt", "--only", "opt_mem",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "10 cells, 20 timed runs" in result.output


def test_budget_says_what_is_left_out(tmp_path):
    arguments = ("study", "timing", "--quick", "--output", tmp_path, "--only", "naive")
    with estimated_times():
        result = invoke(*arguments, "--set=repeats=1", "--budget", "2s")
    assert result.exit_code == 0, result.output
    assert "skipped to stay within the budget:" in result.output
    assert "VUS, number of thresholds 1000" in result.output
    assert "VUS, number of thresholds 1000" in (tmp_path / "timing.md").read_text()


def test_budget_too_short_for_anything(tmp_path):
    arguments = ("study", "timing", "--only", "naive", "--output", tmp_path, "--budget", "0.001s")
    error = invoke(*arguments).exception
    assert isinstance(error, InvalidInputError)
    assert str(error) == "the budget is too short for any cell; give a larger --budget"


@pytest.mark.parametrize("budget", ["soon", "-3m", "0s", ""])
def test_bad_budget(budget):
    result = invoke("study", "timing", "--budget", budget)
    assert result.exit_code == 2
    assert "90s, 5m or 1h30m" in re.sub(r"[\s│]+", " ", result.output)


def test_error_is_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    found = subprocess.run(
        [*COMMAND, "study", "timing", "empty"],
        cwd=tmp_path,
        env=NARROW,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("vuskit: `")
    assert "Traceback" not in found.stderr


def test_missing_typer_is_answered_with_the_install_line(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("vuskit.cli.")]:
        if name != "vuskit.cli.main":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("vuskit.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        main.run()
    assert stopped.value.code == 2
    assert 'pip install "vuskit[cli]"' in capsys.readouterr().err


def test_progress_bar_in_a_terminal(tmp_path):
    controller, terminal = pty.openpty()
    arguments = ["study", "timing", "--only", "opt", "--budget", "1s", "--set=repeats=1"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--output", "here"],
        cwd=tmp_path,
        env=NARROW,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    chunks = []
    try:
        while chunk := os.read(controller, 65_536):
            chunks.append(chunk)
    except OSError:  # Linux says so when the other side closes
        pass
    finally:
        os.close(controller)
    assert process.wait(timeout=PATIENCE) == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(chunks).decode())
    assert re.search(r"\d+/\d+ +\d+s left VUS opt", shown)
