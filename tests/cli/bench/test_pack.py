"""``vuskit bench pack`` and ``bench verify`` as users meet them: real processes, real files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile

import pytest

PLAN = """
folder = "first"
imports = ["own_measure"]
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = [1, 2]
[[detectors]]
name = "values"
[[detectors]]
name = "random"
[[evaluate]]
measures = ["auc_pr", "vus_pr", "own_share"]
buffer = "median_anomaly"
[executor]
workers = 1
"""
MEASURE = """
import pathlib

from vuskit import register_measure

pathlib.Path(__file__).with_suffix(".ran").touch()

@register_measure(name="own_share")
def own_share(y_true, y_score):
    return float((y_score > 0).mean())
"""


def vuskit(folder, *arguments):
    """Run a command line as a process of its own."""
    code = "import sys; sys.argv[0] = 'vuskit'; from vuskit.cli.main import run; run()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run and its pack."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "bench.toml").write_text(PLAN)
    (folder / "own_measure.py").write_text(MEASURE)
    ran = vuskit(folder, "bench", "run", "--plain")
    assert ran.returncode == 0, ran.stderr
    packed = vuskit(folder, "bench", "pack", "bench.toml")
    assert packed.returncode == 0, packed.stderr
    assert packed.stdout == "first.vuskit.zip\n"
    assert "12 values on 2 series, 4 score files: 0.0" in packed.stderr
    (folder / "own_measure.ran").unlink()
    return folder


def test_verify_computes_every_value_again_and_runs_no_code(place):
    found = vuskit(place, "bench", "verify", "first.vuskit.zip")
    assert found.returncode == 0, found.stderr
    assert "4 score files, 12 results, 8 values recomputed, 0 problems" in found.stdout
    assert "4 evaluations were not recomputed: that would run custom code" in found.stderr
    assert not (place / "own_measure.ran").exists()


def test_verify_computes_own_measures_if_allowed(place):
    found = vuskit(place, "bench", "verify", "first.vuskit.zip", "--allow-code", "--json")
    assert found.returncode == 0, found.stderr
    content = json.loads(found.stdout)
    assert (content["n_values"], content["n_skipped"], content["problems"]) == (12, 0, [])
    (place / "own_measure.ran").unlink()


def test_a_changed_value_is_exit_code_4(place, tmp_path):
    target = tmp_path / "changed.zip"
    with (
        zipfile.ZipFile(place / "first.vuskit.zip") as before,
        zipfile.ZipFile(target, "w") as after,
    ):
        for name in before.namelist():
            data = before.read(name)
            if name == "results.jsonl":
                data = re.sub(rb'(auc_pr\\": )[0-9.]+', rb"\g<1>0.99", data)
            after.writestr(name, data)
    found = vuskit(tmp_path, "bench", "verify", target)
    assert found.returncode == 4
    assert "results.jsonl: differs from its digest" in found.stdout
    assert "is stored as 0.99, but recomputed as" in found.stdout


def test_verify_takes_a_run_folder_too(command, place):
    found = command("bench", "verify", place / "first")
    assert found.code == 0, found.err
    assert "4 score files, 12 results" in found.out


def test_other_commands_read_a_pack(command, place):
    run, pack = place / "first", place / "first.vuskit.zip"
    for line in ("leaderboard", "export"):
        assert command("bench", line, pack, "--csv") == command("bench", line, run, "--csv")
    status = command("bench", "status", pack)
    assert "Run 1: finished" in status.out
    assert "process" not in status.out
    page = command("report", pack, "--output", "page.html")
    assert (page.code, page.out) == (0, "page.html\n"), page.err


def test_a_pack_without_scores(place, tmp_path):
    target = tmp_path / "small.vuskit.zip"
    packed = vuskit(place, "bench", "pack", "first", target, "--no-scores")
    assert packed.returncode == 0, packed.stderr
    assert "without scores" in packed.stderr
    found = vuskit(tmp_path, "bench", "verify", target)
    assert found.returncode == 0
    assert "0 values recomputed, 0 problems" in found.stdout
    assert "the pack holds no scores" in found.stderr


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("bench pack first results.tar", "`FILE` must end in .zip"),
        ("bench pack first nowhere/a.zip", "there is no folder 'nowhere'"),
        ("bench pack first.vuskit.zip", "is already a pack"),
        ("bench retry first.vuskit.zip", "holds only results and cannot run"),
        ("bench run-job first.vuskit.zip 0a", "holds only results and cannot run"),
        ("bench verify first.vuskit.zip --repair", "`--repair` must be used with a run folder"),
        ("bench verify nowhere.zip", "there is no such file"),
    ],
)
def test_what_a_pack_cannot_do_is_said(command, monkeypatch, place, line, reason):
    monkeypatch.chdir(place)
    found = command(*line.split())
    assert found.code == 2
    assert reason in found.err
    assert not list(place.glob(".vuskit-*"))


def test_compare_a_run_a_pack_and_a_published_table(place, tmp_path):
    second = PLAN.replace('"first"', '"second"').replace("seed = [1, 2]", "seed = [2, 3, 1]")
    (place / "second.toml").write_text(second.replace('name = "random"', 'name = "moving_zscore"'))
    assert vuskit(place, "bench", "run", "second.toml", "--plain").returncode == 0
    names = [f"ecg-native-medium-3x90-seed{seed}" for seed in (1, 2, 3)]
    table = "dataset,file,CNN\n" + "".join(
        f"synthetic,{name}.out,0.{i}\n" for i, name in enumerate(names)
    )
    (place / "published.csv").write_text(table)
    line = ("compare", "first.vuskit.zip", "second", "published.csv", "--json")
    found = vuskit(place, *line, "--measure", "vus_pr")
    assert found.returncode == 0, found.stderr
    content = json.loads(found.stdout)
    shown = {row["name"] for row in content["detectors"]}
    assert shown == {"Values (first)", "Random", "Values (second)", "Moving z-score", "CNN"}
    assert content["rows"] == 2
    assert "2 series in all tables; first 2, second 3, published 3" in found.stderr
    values = {row["name"]: row["mean"] for row in content["detectors"]}
    assert values["Values (first)"] == values["Values (second)"]
