"""Pages and studies of a run report labels and scores that changed since the run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from report.runs import run_inline

from vuskit.bench import Run, load_plan
from vuskit.errors import ChangedInputError

N = 80
PLAN = """
series = [{folder = "nab", format = "nab"}]
detectors = [{name = "values"}, {name = "random"}]
evaluate = [{measures = ["auc_pr", "vus_pr"], buffer = 4}]
"""
STUDY = ("--measure", "auc_pr", "--set=perturbations=lag", "--set=count=5", "--processes", "1")


def time_at(place):
    return f"2026-01-01 {place // 60:02d}:{place % 60:02d}:00"


def write_windows(base, **events):
    windows = {
        f"{name}.csv": [[time_at(first), time_at(last)]] for name, (first, last) in events.items()
    }
    (base / "nab/combined_windows.json").write_text(json.dumps(windows))


@pytest.fixture
def run(tmp_path):
    (tmp_path / "nab").mkdir()
    for number, name in enumerate(("first", "second")):
        values = np.random.default_rng(number).random(N)
        lines = [f"{time_at(place)},{value:.6f}" for place, value in enumerate(values)]
        (tmp_path / f"nab/{name}.csv").write_text("\n".join(["timestamp,value", *lines]))
    write_windows(tmp_path, first=(20, 29), second=(40, 49))
    (tmp_path / "bench.toml").write_text(PLAN)
    return run_inline(load_plan(tmp_path / "bench.toml"))


def test_labels_edited_after_a_run_are_reported(tmp_path, run, command):
    whole = command("report", "bench-run")
    assert "changed" not in whole.err
    assert Run(run).changes() == {}
    study = ("study", "robustness", "bench-run", *STUDY)
    assert command(*study, "-o", "before").code == 0
    write_windows(tmp_path, first=(20, 29), second=(50, 69))

    failed = command(*study, "-o", "after")
    assert failed.code == 3
    told = " ".join(failed.err.split())
    assert "values or labels of NAB/second changed since the run" in told
    assert "combined_windows.json" in told
    assert "run the command that created the run" in told

    made = command("report", "bench-run")
    assert made.code == 0
    told = " ".join(made.err.split())
    assert "warning: Values or labels of 1 series changed since the run" in told
    assert "'NAB/second'" in told
    page = (run / "page.html").read_text()
    assert "Values or labels of 1 series changed since the run" in page
    assert "values or labels of NAB/second changed since the run" in page
    wanted = command("report", "bench-run", "--series", "NAB/second")
    assert wanted.code == 2
    assert "changed since the run" in " ".join(wanted.err.split())

    run_inline(load_plan(tmp_path / "bench.toml"))
    assert "changed" not in command("report", "bench-run").err


def test_a_file_that_was_only_touched_is_no_change(tmp_path, run):
    path = tmp_path / "nab/combined_windows.json"
    path.write_text(path.read_text() + "\n")
    assert Run(run).changes() == {}


@pytest.mark.parametrize("content", ["other", b"broken"])
def test_scores_that_changed_are_refused(run, content):
    stored = next(Run(run).scored_series())
    path = next(run.rglob(f"{stored.scores[0][1]}.npy"))
    if content == "other":
        np.save(path, np.zeros(N))
    else:
        path.write_bytes(content)
    with pytest.raises(ChangedInputError, match="vuskit bench verify --repair"):
        stored.read()
    one = next(one for one in Run(run).series() if one.title == stored.name)
    with pytest.raises(ChangedInputError, match="must hold the scores of the run"):
        Run(run).scores(one)
