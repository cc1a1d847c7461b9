"""Every command that finds something writes it as JSON, as csv, and for reading."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from cli.json_keys import strict_json
from studies.scored import make_several, write_scored

from vuskit.conformance import conformance_suite
from vuskit.datasets.synthetic import three_scores

PLAN = """
[[series]]
family = "ecg"
n = 1200
n_anomalies = 3
seed = [1, 2, 3]
[[detectors]]
name = "values"
[[detectors]]
name = "random"
[[detectors]]
name = "broken:broken"
[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = "median_anomaly"
[executor]
workers = 1
"""
QUICK = "--measure auc_pr --measure vus_pr --buffer 24 --processes 1"
SCENARIOS = "study scenarios --measure vus_pr --measure f_score --set n_points=800 --buffer 20"
COMMANDS = [
    "list measures",
    "list measures --properties",
    "list detectors",
    "list readers",
    "list studies",
    "list thresholds",
    "list families",
    "data list",
    "data list NAB",
    "data describe saved",
    "data describe bench-run",
    "conformance check answers.json",
    "doctor",
    "evaluate scores.csv --chance 2",
    "evaluate scores.csv --measure auc_pr --output kept --processes 1",
    "compare results.csv",
    "compare bench-run",
    "bench plan",
    "bench run --plain",
    "bench status",
    "bench export",
    "bench export --shape wide",
    "bench export --shape leaderboard",
    "bench verify",
    "bench leaderboard",
    "bench leaderboard --unit dataset",
    "bench run-job bench-run KEY",
    SCENARIOS,
    f"study all saved {QUICK}",
    "study timing saved --only opt --only opt_mem --set repeats=1 --set thresholds=5",
]


EXITS = {"bench run --plain": 3}  # jobs have failed before


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Scores, results, saved scores, and a benchmark that has run once, with failures."""
    place = tmp_path_factory.mktemp("forms")
    three_scores().to_frame().round(6)[:3000].to_csv(place / "scores.csv", index=False)
    (place / "results.csv").write_text("LOF,PCA,CNN\n0.9,0.5,0.2\n0.8,0.6,0.1\n0.7,0.3,0.4\n")
    (place / "bench.toml").write_text(PLAN)
    (place / "broken.py").write_text("def broken(values):\n    raise RuntimeError('always')\n")
    checks = conformance_suite()["checks"]
    answers = {"results": {check["id"]: check["expected"] for check in checks}}
    (place / "answers.json").write_text(json.dumps(answers))
    (place / "saved").mkdir()
    for scored in make_several():
        write_scored(place / "saved", scored)
    return place


@pytest.fixture
def run(command, folder, monkeypatch):
    """Run a line in that folder; the benchmark has run before."""
    monkeypatch.chdir(folder)
    if not (folder / "bench-run").exists():
        first = command("bench", "run", "--plain", "--json")
        assert first.code == 3
        assert strict_json(first.out)["progress"]["counts"]["ERROR"] == 3

    def run_line(line):
        if "KEY" in line:  # of a job that went well: one that failed would fail again
            table = strict_json(command("bench", "export", "--json").out)
            line = line.replace("KEY", table[0]["evaluate_key"][:12])
        return command(*line.split())

    return run_line


ONLY_JSON = ("conformance", "doctor", "bench plan", "bench run", "bench status", "bench verify")


@pytest.mark.parametrize("line", COMMANDS)
def test_json_and_csv(run, line, same_keys):
    as_json = run(f"{line} --json")
    assert as_json.code == EXITS.get(line, 0), as_json.err
    found = strict_json(as_json.out)
    same_keys(line, found)
    if line.startswith(ONLY_JSON):
        return
    as_csv = run(f"{line} --csv")
    assert as_csv.code == EXITS.get(line, 0), as_csv.err
    header, *rows = csv.reader(io.StringIO(as_csv.out))
    assert len(set(header)) == len(header)
    assert all(len(row) == len(header) for row in rows)
    assert not {"nan", "inf", "-inf"} & {cell.lower() for row in rows for cell in row}
    if isinstance(found, list):
        assert len(rows) == len(found)
        assert header == list(found[0])


def test_failures_and_undefined_values_are_not_zero(run):
    status = strict_json(run("bench status --json").out)
    assert status["counts"]["score"]["ERROR"] == 3
    assert {failure["status"] for failure in status["failures"]} == {"ERROR"}
    table = strict_json(run("bench export --shape wide --json").out)
    statuses = {row["detector"]: row["status"] for row in table}
    assert statuses == {"Values": "OK", "Random": "OK", "broken:broken": "ERROR"}
    empty = [row for row in table if row["vus_pr"] is None]
    assert {row["detector"] for row in empty} == {"broken:broken"}
    rows = csv.DictReader(io.StringIO(run("bench leaderboard --csv").out))
    blank = [(row["detector"], row["dataset"]) for row in rows if not row["mean"]]
    assert blank == [("broken:broken", "synthetic"), ("broken:broken", "")] * 2


READ = {
    "bench plan": "bench_plan",
    "bench status": "bench_status",
    "bench verify": "bench_verify",
    "bench export": "bench_export",
    "bench run --plain": "bench_run",
    "bench run-job bench-run KEY": "bench_job",
    "bench leaderboard": "bench_leaderboard",
    SCENARIOS: "study_scenarios",
    f"study all saved {QUICK}": "study_summary",
}


def stable(text, place):
    """Without what differs from run to run: times, hosts, processes, keys, versions."""
    text = text.replace(str(place), "PLACE")
    text = re.sub(r"\b\d+(m\d+)?s\b", "TIME", text)
    text = re.sub(r"[\d,]+ jobs/min", "RATE jobs/min", text)
    text = re.sub(r"started [-\d]+ [:\d]+ UTC", "started WHEN", text)
    text = re.sub(r"on \S+ \(process \d+\)", "on HOST (process N)", text)
    text = re.sub(r"vuskit \d\S*,", "vuskit VERSION,", text)
    text = re.sub(r"Run \d+:", "Run N:", text)
    return re.sub(r"\b[0-9a-f]{32,64}\b", "KEY", text)


@pytest.mark.parametrize("line", READ)
def test_for_reading(run, folder, snapshot, line):
    outcome = run(line)
    assert outcome.code == EXITS.get(line, 0), outcome.err
    snapshot(READ[line], stable(outcome.out, folder), width=120)


def without_times(text):
    """Without numbers that are measured, and the room that their digits take."""
    text = re.sub(r"\b\d[\d,.]*(?:e[+-]?\d+)?\b", "N", text)
    return re.sub(r" +", " ", text)


def test_study_of_times_for_reading(run, snapshot):
    chosen = "--only opt --only opt_mem --only fast_grid --set repeats=1 --set thresholds=5"
    outcome = run(f"study timing saved {chosen} --output times")
    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    snapshot("study_timing", without_times(outcome.out + outcome.err))


def test_plan_to_start_from(command, snapshot):
    outcome = command("bench", "init")
    assert outcome.code == 0
    snapshot("bench_init", outcome.out + outcome.err)


def test_export_to_standard_output_leaves_no_file(run, folder):
    before = sorted(folder.iterdir())
    assert run("bench export --csv").err == ""
    assert sorted(folder.iterdir()) == before
