"""``vuskit demo``, quick but real: detectors run, studies run, the page is written."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import re
import shlex
import sqlite3

import numpy as np
import pytest
from cli.json_keys import strict_json
from rich.console import Console

from vuskit.cli._progress import StepProgress
from vuskit.cli.demo import command as demo_module
from vuskit.cli.demo.files import DemoFolder, plan_text
from vuskit.cli.demo.findings import Findings
from vuskit.datasets.synthetic import (
    list_families,
)
from vuskit.datasets.synthetic.demo import demo_series
from vuskit.errors import VuskitError
from vuskit.measures.registry import resolve_measures

DETECTORS = ('name = "pca"', 'name = "moving_zscore"\nwindow = 50', 'name = "random"')


@pytest.fixture
def small(monkeypatch):
    """Two short series, three detectors, in one process for each part."""
    size = demo_module._Size(DETECTORS, 2, 500, in_processes=False)
    monkeypatch.setitem(demo_module._SIZES, True, size)
    every = demo_series

    def two(seed, *, short):
        return every(seed, short=short)[:2]

    monkeypatch.setattr("vuskit.datasets.synthetic.demo_series", two)


def query(folder, sql):
    connection = sqlite3.connect(folder / "benchmark" / "results.sqlite")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def jobs(folder):
    return query(folder, "SELECT status, count(*) FROM results GROUP BY status")


def job_times(folder):
    return query(folder, "SELECT key, finished FROM results ORDER BY key")


def test_series_of_all_families():
    for short in (True, False):
        series = demo_series(3, short=short)
        assert {one.dataset for one in series} == {family.name for family in list_families()}
        assert len({(one.dataset, one.name) for one in series}) == len(series)
    assert len(series) == 12


def test_demo_from_an_empty_folder(command, small, tmp_path, monkeypatch):
    result = command("demo", "--quick", "--output", "my demo")
    assert result.code == 0, result.err
    folder = tmp_path / "my demo"

    # What is told while it goes, without a terminal: one line for each step.
    steps = [line for line in result.err.splitlines() if re.match(r"\d/\d ", line)]
    assert [line.partition(" ")[0] for line in steps] == ["1/4", "2/4", "3/4", "4/4"]
    assert steps[0] == "1/4 Benchmark: 2 series x 3 detectors"

    # What is told at the end.
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    header = next(line for line in lines if line.startswith("detector"))
    assert header.split() == [
        "detector", "F", "AUC-ROC", "AUC-PR", "R-AUC-PR", "VUS-ROC", "VUS-PR", "wins", "seconds",
    ]  # fmt: skip
    place = lines.index(header)
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[place + 1 : place + 4]]
    assert {row[0] for row in rows} == {"PCA", "Moving z-score", "Random"}
    assert [float(row[6]) for row in rows] == sorted((float(row[6]) for row in rows), reverse=True)
    assert sum(line.startswith("- ") for line in lines) >= 2
    assert "Page: my demo/report.html" in lines

    # What is left.
    assert jobs(folder) == [("OK", 12)]
    for name in ("plan.toml", "scores.csv", "overview.png", "studies/robustness_result.npz"):
        assert (folder / name).stat().st_size > 0
    columns = (folder / "scores.csv").read_text().partition("\n")[0].split(",")
    assert columns[:2] == ["value", "label"]
    assert {*columns[2:]} == {"PCA", "Moving z-score"}  # chance is not worth a picture
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "ecg/tempo-seed0-short" in page
    assert len(page.encode()) < 6_000_000

    # The commands to try work as they stand.
    monkeypatch.chdir(tmp_path)
    commands = [line.strip() for line in lines[lines.index("Try next:") + 1 :]]
    assert len(commands) == 3
    for line in commands:
        again = command(*shlex.split(line)[1:])
        assert again.code == 0, (line, again.err)
    assert (folder / "series.html").is_file()

    # The same demo again finds everything done, and says the same in other forms.
    finished = job_times(folder)
    again = command("demo", "--quick", "-o", "my demo", "--json")
    assert again.code == 0, again.err
    found = strict_json(again.out)
    assert [one["detector"] for one in found["detectors"]] == [row[0] for row in rows]
    assert [f"{one['means']['vus_pr']:.3f}" for one in found["detectors"]] == [r[6] for r in rows]
    assert (found["series"], found["failed"], found["next"]) == (2, 0, commands)
    assert all((tmp_path / place).exists() for place in found["files"].values())
    as_csv = list(
        csv.DictReader(io.StringIO(command("demo", "--quick", "-o", "my demo", "--csv").out))
    )
    assert [float(row["vus_pr"]) for row in as_csv] == [
        one["means"]["vus_pr"] for one in found["detectors"]
    ]
    assert job_times(folder) == finished


def test_failures_are_told(command, small, tmp_path, monkeypatch):
    broken = 'name = "broken:broken"\nlabel = "broken"'
    size = demo_module._Size((*DETECTORS[1:], broken), 2, 500, in_processes=False)
    monkeypatch.setitem(demo_module._SIZES, True, size)
    DemoFolder(tmp_path / "vuskit-demo").claim(plan_text((), (), seed=0))
    (tmp_path / "vuskit-demo/broken.py").write_text("def broken(values): raise ValueError('no')\n")
    result = command("demo", "--quick")
    assert result.code == 3
    assert result.err.splitlines()[-1] == (
        "2 jobs failed. See: vuskit bench status vuskit-demo/benchmark"
    )
    assert "broken" not in result.out
    assert "broken" in (tmp_path / "vuskit-demo/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [{"notes.txt": "mine"}, {"plan.toml": 'folder = "x"\n'}])
def test_foreign_folders_are_left_alone(command, tmp_path, content):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    result = command("demo", "--quick", "--output", "mine")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "vuskit: `--output` must be a new or empty folder, or that of an earlier demo, "
        "got 'mine'; choose another\n"
    )
    assert {path.name: path.read_text() for path in folder.iterdir()} == content


def test_file_instead_of_a_folder(command, tmp_path):
    (tmp_path / "taken").write_text("")
    assert "must be a new or empty folder" in command("demo", "--output", "taken").err


def test_missing_libraries_are_named(command, tmp_path, monkeypatch):
    find = importlib.util.find_spec

    def only_some(name, package=None):
        return None if name in ("scipy", "matplotlib") else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", only_some)
    result = command("demo")
    assert result.code == 2
    assert result.err == (
        "vuskit: the demo needs packages that are not installed: scipy, matplotlib; "
        'run: pip install "vuskit[bench]"\n'
    )
    assert not (tmp_path / "vuskit-demo").exists()


def test_commands_are_called_as_this_one_was(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "vuskit"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["bin/vuskit", "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert demo_module._program() == "bin/vuskit"
    monkeypatch.setenv("PATH", str(program.parent))
    assert demo_module._program() == "vuskit"
    monkeypatch.setattr("sys.argv", ["-c", "demo"])
    assert demo_module._program() == "vuskit"


def test_folder_keeps_untouched_files(tmp_path):
    folder = DemoFolder(tmp_path / "demo")
    series = demo_series(0, short=True)[:1]
    folder.claim(plan_text(series, DETECTORS, seed=0))
    folder.write_series(series)
    path = folder.data / "ecg" / "tempo-seed0-short.csv"
    os.utime(path, (1, 1))
    (folder.path / "own.txt").write_text("mine")
    folder.claim(plan_text(series, DETECTORS, seed=1))
    folder.write_series(series)
    assert path.stat().st_mtime == 1
    assert (folder.path / "own.txt").read_text() == "mine"


class FakeRun:
    """The part of a run report that findings are made of, with values that are chosen."""

    def __init__(self, values, detectors):
        self.measures = tuple(measure.name for measure in resolve_measures("paper"))
        self.detectors = detectors
        values = np.broadcast_to(values, (len(self.measures), *np.shape(values)[1:])).copy()
        self.values = values[None]
        self.seconds = np.ones(values.shape[1:])
        self.folder = "run"


def test_steps_are_bars_on_a_terminal():
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80, color_system=None)
    with StepProgress(console, 2) as steps:
        with steps.step("First of them") as tell:
            tell(3, 7)
        with steps.step("Second of them"):
            pass
    lines = [line for line in shown.getvalue().splitlines() if " of them " in line]
    assert re.search(r"1/2 First of them .* 7/7 ", lines[-2])
    assert re.search(r"2/2 Second of them .* 1/1 ", lines[-1])


def test_steps_are_lines_elsewhere():
    shown = io.StringIO()
    with StepProgress(Console(file=shown, width=80), 1) as steps, steps.step("Only [one]") as tell:
        tell(1, 2)
    assert shown.getvalue() == "1/1 Only [one]\n"


def test_agreement_is_told():
    findings = Findings(FakeRun(np.array([[[0.9, 0.8], [0.5, 0.2]]]), ("A", "B")))
    assert findings._winners() == "All 13 measures agree that A is best."
    assert findings._jump() == ""
    assert findings._chance() == ""


def test_disagreement_is_told():
    run = FakeRun(np.array([[[0.9], [0.5], [0.7]]]), ("A", "B", "Random"))
    run.values[0, 0, :, 0] = [0.1, 0.8, 0.4]
    findings = Findings(run)
    assert findings._winners() == (
        "The best detector depends on the measure: A by Recall, F, Precision@k and 9 more; "
        "B by Precision."
    )
    assert findings._jump() == (
        "With the same scores, A ranks 1 of 3 by Recall and 3 by Precision."
    )
    assert findings._chance() == (
        "Precision gives random scores 0.40, more than a detector: "
        "compare values with the chance level."
    )


def test_incomplete_series_do_not_count():
    run = FakeRun(np.array([[[0.9, np.nan], [0.5, 1.0]]]), ("A", "B"))
    header, rows = Findings(run).leaderboard()
    assert [row[0] for row in rows] == ["A", "B"]
    assert [row[header.index("wins")] for row in rows] == ["1", "0"]


def test_each_measure_has_its_own_series():
    run = FakeRun(np.array([[[0.9, 0.8, 0.1], [0.5, 0.2, 0.1]]]), ("A", "B"))
    run.values[0, 0, 0, 2] = np.nan
    findings = Findings(run)
    assert findings.counts == (2, 3)
    assert findings.series_used == "2 to 3 series"
    assert findings.means[:2].ravel() == pytest.approx([0.85, 0.35, 0.6, 0.8 / 3])


def test_detectors_that_failed_everywhere_are_left_out():
    run = FakeRun(np.array([[[0.9], [np.nan], [0.5]]]), ("A", "B", "C"))
    assert [row[0] for row in Findings(run).leaderboard()[1]] == ["A", "C"]


def test_nothing_to_compare_is_told():
    run = FakeRun(np.array([[[0.9, np.nan], [np.nan, 0.5]]]), ("A", "B"))
    with pytest.raises(VuskitError, match=r"no series has values of .* for all detectors"):
        Findings(run).leaderboard()
