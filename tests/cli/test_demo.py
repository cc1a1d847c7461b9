"""``vuskit demo``, quick but real: detectors run, studies run, the page is written."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sqlite3

import pytest
from cli.json_keys import strict_json

from vuskit.cli import demo as demo_module
from vuskit.datasets.synthetic.demo import demo_series

DETECTORS = ('name = "pca"', 'name = "moving_zscore"\nwindow = 50', 'name = "random"')


@pytest.fixture
def small(monkeypatch):
    """Two short series, three detectors."""
    every = demo_series
    monkeypatch.setattr(demo_module, "_QUICK_DETECTORS", DETECTORS)
    monkeypatch.setattr(
        "vuskit.datasets.synthetic.demo.demo_series",
        lambda seed, *, short: every(seed, short=short)[:2],
    )


def query(folder, sql):
    connection = sqlite3.connect(folder / "benchmark" / "results.sqlite")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_demo_from_an_empty_folder(command, small, tmp_path, monkeypatch, same_keys):
    result = command("demo", "--quick", "--output", "my demo")
    assert result.code == 0, result.err
    folder = tmp_path / "my demo"
    steps = [line for line in result.err.splitlines() if re.match(r"\d/\d ", line)]
    assert [line.partition(" ")[0] for line in steps] == ["1/4", "2/4", "3/4", "4/4"]
    assert steps[0] == "1/4 Benchmark: 2 series x 3 detectors"
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    header = next(line for line in lines if line.startswith("detector"))
    assert header.split() == ["detector", "VUS-PR", "VUS-ROC", "R-AUC-PR", "AUC-PR", "AUC-ROC", "F"]
    place = lines.index(header)
    rows = [line.split("  ")[0] for line in lines[place + 1 : place + 4]]
    assert set(rows) == {"PCA", "Moving z-score", "Random"}
    assert sum(line.startswith("- ") for line in lines) >= 2
    assert "Page: my demo/report.html" in lines
    assert query(folder, "SELECT status, count(*) FROM results GROUP BY status") == [("OK", 12)]
    columns = (folder / "scores.csv").read_text().partition("\n")[0].split(",")
    assert columns[:2] == ["value", "label"]
    assert {*columns[2:]} == {"PCA", "Moving z-score"}  # no random scores
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "ecg/tempo-seed0-short" in page
    assert len(page.encode()) < 6_000_000

    monkeypatch.chdir(tmp_path)
    commands = [line.strip() for line in lines[lines.index("Try next:") + 1 :]]
    assert len(commands) == 3
    for line in commands:
        again = command(*shlex.split(line)[1:])
        assert again.code == 0, (line, again.err)

    finished = query(folder, "SELECT key, finished FROM results ORDER BY key")
    again = command("demo", "--quick", "-o", "my demo", "--json")
    assert again.code == 0, again.err
    found = strict_json(again.out)
    same_keys("demo", found)
    assert found["table"]["detectors"] == rows
    assert found["next"] == commands
    assert all((tmp_path / place).exists() for place in found["files"].values())
    assert query(folder, "SELECT key, finished FROM results ORDER BY key") == finished


def test_failures_are_reported(command, small, tmp_path, monkeypatch):
    broken = 'name = "broken:broken"\nlabel = "broken"'
    monkeypatch.setattr(demo_module, "_QUICK_DETECTORS", (*DETECTORS[1:], broken))
    folder = tmp_path / "vuskit-demo"
    folder.mkdir()
    (folder / "plan.toml").write_text(demo_module.plan_text((), (), seed=0))
    (folder / "broken.py").write_text("def broken(values): raise ValueError('no')\n")
    result = command("demo", "--quick")
    assert result.code == 3
    assert "2 jobs failed. See: vuskit bench status vuskit-demo/benchmark" in result.err
    assert "broken" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [{"notes.txt": "mine"}, {"plan.toml": 'folder = "x"\n'}])
def test_foreign_folders_are_left_alone(command, tmp_path, content):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    result = command("demo", "--quick", "--output", "mine")
    assert (result.code, result.out) == (2, "")
    assert "`--output` must be a new or empty folder" in result.err
    assert {path.name: path.read_text() for path in folder.iterdir()} == content


def test_missing_libraries_are_named(command, tmp_path, monkeypatch):
    find = importlib.util.find_spec

    def only_some(name, package=None):
        return None if name in ("scipy", "matplotlib") else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", only_some)
    result = command("demo")
    assert result.code == 2
    assert "not installed: scipy, matplotlib; " in result.err
    assert not (tmp_path / "vuskit-demo").exists()


def test_unchanged_series_are_not_written_again(tmp_path):
    series = demo_series(0, short=True)[:1]
    demo_module._write_series(tmp_path, series)
    (path,) = tmp_path.rglob("*.csv")
    before = path.stat().st_mtime_ns
    demo_module._write_series(tmp_path, series)
    assert path.stat().st_mtime_ns == before


class _Table:
    """The part of a table of means that findings need."""

    def __init__(self, **means):
        self.measures = {"vus_pr": "VUS-PR", "recall": "Recall", "precision": "Precision"}
        self.detectors = tuple(means)
        self.cells = [
            {"detector": name, "measure": measure, "mean": value}
            for name, values in means.items()
            for measure, value in zip(self.measures, values, strict=True)
        ]


def sentences(table):
    means = {(one["measure"], one["detector"]): one["mean"] for one in table.cells}
    names = list(table.detectors)
    places = demo_module._places(table.measures, names, means)
    return (
        demo_module._winners(table.measures, names, places),
        demo_module._jump(table.measures, names, places),
        demo_module._chance(table.measures, names, means),
    )


def test_agreement_is_reported():
    table = _Table(A=(0.9, 0.9, 0.9), B=(0.5, 0.5, 0.5))
    assert sentences(table) == ("All 3 measures agree that A is best.", "", "")


def test_disagreement_is_reported():
    table = _Table(A=(0.9, 0.9, 0.1), B=(0.5, 0.5, 0.8), Random=(0.7, 0.7, 0.4))
    assert sentences(table) == (
        "The best detector depends on the measure: A by VUS-PR, Recall; B by Precision.",
        "With the same scores, A ranks 1 of 3 by VUS-PR and 3 by Precision.",
        "VUS-PR gives random scores 0.70, more than a detector: compare values with the chance "
        "level.",
    )
