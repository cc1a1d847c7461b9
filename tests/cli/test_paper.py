"""``vuskit paper``: options, output, and how a stopped command goes on."""

from __future__ import annotations

import csv
import io
import subprocess

import pandas as pd
import pytest
from cli.json_keys import strict_json
from cli.terminal import holding
from studies.scored import make_several, write_scored
from waiting import PATIENCE, eventually

from vuskit.paper.demo import write_demo_series
from vuskit.store import Store
from vuskit.studies import load_study_result


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    for scored in make_several():
        write_scored(folder, scored)
    return folder


def test_findings_for_reading(command, scores):
    outcome = command("paper", scores, "--only", "fig-09,table-1", "--processes", 1)
    assert outcome.code == 0
    assert " 6. agrees, 1 series" in outcome.out
    assert "not checked, because `--only` leaves out their exhibits: 1 (fig-01)" in outcome.out
    assert "7, 8, 11 (fig-12); 9, 10 (fig-11)" in " ".join(outcome.out.split())
    assert "2 exhibits in paper: paper/index.html" in outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    again = command("paper", scores, "--only", "fig-09,table-1", "--processes", 1)
    assert "2 exhibits in paper (2 made earlier)" in again.err
    assert again.out == outcome.out


def test_findings_under_three_readings(command, scores, tmp_path):
    line = ("paper", scores, "--findings", "--budget", "0.5", "--processes", 1)
    outcome = command(*line)
    assert outcome.code == 0, outcome.err
    shown = " ".join(outcome.out.split())
    assert "text: agrees text, VUS over 0..2L: agrees as published: agrees" in shown
    table = pd.read_csv(tmp_path / "paper" / "findings.csv")
    assert list(table["number"]) == list(range(1, 32))
    readings = ("text", "text-vus-over-0-2l", "as-published")
    factors = [
        load_study_result(
            tmp_path / "paper" / "work" / "studies" / name / "consistency_result.npz"
        ).study.settings.volume_factor
        for name in readings
    ]
    assert factors == [1, 2, 2]
    refused = command(*line, "--as-published")
    assert refused.code == 2
    assert "`--findings` must come without --as-published" in " ".join(refused.err.split())


def test_json_and_csv(command, scores, tmp_path):
    line = ("paper", scores, "--only", "table-1,fig-01", "--processes", 1)
    found = strict_json(command(*line, "--json").out)
    assert [one["exhibit"] for one in found["exhibits"]] == ["fig-01", "table-1"]
    for one in found["exhibits"]:
        assert all((tmp_path / name).is_file() for name in one["files"])
    rows = list(csv.DictReader(io.StringIO(command(*line, "--csv").out)))
    assert [int(row["number"]) for row in rows] == list(range(1, 32))


def test_a_dask_cluster_gives_the_same_numbers(command, scores, tmp_path, cluster):
    line = ("paper", scores, "--only", "fig-11", "--output")
    remote = command(*line, "remote", "--dask", cluster)
    local = command(*line, "local", "--processes", 1)
    assert (remote.code, local.code) == (0, 0), remote.err + local.err
    tables = sorted(path.name for path in (tmp_path / "local").glob("fig-11*.csv"))
    assert tables
    for name in tables:
        assert (tmp_path / "remote" / name).read_text() == (tmp_path / "local" / name).read_text()


def test_an_unreachable_cluster_stops_the_command(command, scores, tmp_path, monkeypatch):
    monkeypatch.setattr("vuskit.engine._dask._CONNECT_SECONDS", 1)
    address = ("--dask", "tcp://127.0.0.1:9")
    outcome = command("paper", scores, "--only", "fig-11", *address)
    assert outcome.code == 2
    assert "must be a reachable Dask scheduler" in " ".join(outcome.err.split())
    assert not (tmp_path / "paper" / "index.html").exists()


def test_reasons_are_told(command, scores):
    one = next(scores.rglob("s0.csv"))
    outcome = command("paper", one, "--only", "fig-01", "--processes", 1)
    assert outcome.code == 0
    assert "fig-01-detector-ranks: not made: " in outcome.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "needs either DATA or --demo"),
        (("SCORES", "--demo"), "needs either DATA or --demo"),
        (("SCORES", "--only", "fig-99"), "`--only` must name figures"),
        (("SCORES", "--pairs", "AE"), "`--pairs` must be two detectors such as AE:OCSVM"),
        (("nowhere",), "there is no such file or folder"),
        (("SCORES", "--dask", "cloud"), "`--dask` must be local, the address of a scheduler"),
    ],
)
def test_mistakes_are_told_before_the_work(command, scores, tmp_path, options, message):
    words = [str(scores) if word == "SCORES" else word for word in options]
    outcome = command("paper", *words)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert not (tmp_path / "paper").exists()


def test_an_unknown_example_is_the_reason(command, scores):
    outcome = command("paper", scores, "--only", "fig-08", "--example", "s99", "--processes", 1)
    assert "`example` must name one of the 6 series" in outcome.err


def start(scores, folder, *options):
    words = ["paper", str(scores), "--output", str(folder), "--only", "fig-11", *options]
    return subprocess.Popen(
        [*holding("vuskit.store:Store.save", 2), *words, "--processes", "1"],
        cwd=folder.parent,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def finished(folder):
    """Durations of finished tasks, which a repetition would change."""
    with Store.read(folder / "work" / "results") as store:
        return {key: store.get(key).seconds for key in store.statuses()}


def test_a_killed_command_goes_on(command, scores, tmp_path):
    folder = tmp_path / "stopped"
    process = start(scores, folder)
    assert eventually((tmp_path / "held").exists)
    process.kill()
    process.communicate(timeout=PATIENCE)
    before = finished(folder)
    assert len(before) == 2
    line = ("paper", scores, "--output", folder, "--only", "fig-11", "--processes", 1)
    assert command(*line).code == 0
    assert before.items() < finished(folder).items()
    assert (folder / "fig-11-robustness.pdf").is_file()


def test_demo_series_are_kept(tmp_path):
    first = write_demo_series(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in first.rglob("*.csv")}
    assert len(times) == 16
    write_demo_series(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in first.rglob("*.csv")} == times


def test_demo(command, tmp_path):
    outcome = command(
        "paper", "--demo", "--only", "table-3", "--detectors", "values", "--processes", 1
    )
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "paper" / "table-3-datasets.tex").is_file()
