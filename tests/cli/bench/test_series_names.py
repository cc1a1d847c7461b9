"""Series with equal file names stay separate in every command; moved series keep their values."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from report.runs import run_inline

from vuskit import auc_pr
from vuskit.bench import Run, load_plan
from vuskit.studies import load_study_results
from vuskit.studies.result import open_scores

N = 120
PLANTS = ("plantA", "plantB")
TITLES = {"plantA/logs/pump", "plantB/logs/pump"}
PLAN = """
series = [{folder = "data"}]
detectors = [{name = "values"}, {name = "random"}]
evaluate = [{measures = ["auc_pr", "vus_pr"], buffer = 4}]
"""


def frame_of(number):
    rng = np.random.default_rng(number)
    labels = np.zeros(N, dtype=int)
    labels[20 + 10 * number : 30 + 10 * number] = 1
    return pd.DataFrame({"value": (rng.random(N) + 0.3 * labels).round(6), "label": labels})


@pytest.fixture
def base(tmp_path):
    for number, plant in enumerate(PLANTS):
        folder = tmp_path / "data" / plant / "logs"
        folder.mkdir(parents=True)
        frame_of(number).to_csv(folder / "pump.csv", index=False)
    (tmp_path / "bench.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def run(base):
    return run_inline(load_plan(base / "bench.toml"))


def test_every_command_tells_them_apart(base, command, tmp_path):
    (base / "bench.toml").write_text(PLAN + "[executor]\nworkers = 1\n")
    assert command("bench", "run", "--plain").code == 0
    expected = [auc_pr(frame["label"], frame["value"]) for frame in map(frame_of, range(2))]
    assert f"{np.mean(expected):.3f}" in command("bench", "leaderboard", "--measure", "auc_pr").out
    means = Run(base / "bench-run").leaderboard().set_index("detector")
    assert means.loc["Values", "auc_pr"] == pytest.approx(np.mean(expected), abs=1e-12)
    assert command("bench", "export", "-o", "values.csv").code == 0
    table = pd.read_csv(tmp_path / "values.csv")
    mine = table[(table["detector"] == "Values") & (table["measure"] == "auc_pr")]
    assert dict(zip(mine["dataset"] + "/" + mine["series"], mine["value"], strict=True)) == {
        title: pytest.approx(value, abs=1e-12)
        for title, value in zip(sorted(TITLES), expected, strict=True)
    }
    planned = command("bench", "plan", "--json").out
    assert all(plant in planned for plant in PLANTS)
    compared = command("compare", "values.csv", "--measure", "auc_pr")
    assert compared.code == 0, compared.err
    assert re.search(rf"\nValues .*{np.mean(expected):.3f}", compared.out)
    assert command("report", "bench-run").code == 0
    page = (tmp_path / "bench-run" / "page.html").read_text()
    assert '"plantA/logs"' in page
    assert '"plantB/logs"' in page


def test_studies_tell_them_apart(base, run, command):
    quick = ("--measure", "auc_pr", "--set=perturbations=lag", "--set=count=5", "--processes", "1")
    done = command("study", "robustness", "bench-run", *quick, "-o", "one")
    assert done.code == 0, done.err
    result = load_study_results(base / "one")[0]
    assert {one.name for one in result.values} == TITLES
    for number, plant in enumerate(PLANTS):
        folder = base / "saved" / plant / "logs"
        folder.mkdir(parents=True)
        frame_of(number).assign(A=range(N), B=1.0).to_csv(folder / "pump.csv", index=False)
    for source in ("bench-run", "saved"):
        sources = open_scores(base / source)
        assert {one.name for one in sources} == TITLES
        read = [one.read().series for one in sources]
        assert {f"{series.dataset}/{series.name}" for series in read} == TITLES
    both = open_scores([base / "saved" / "plantA", base / "saved" / "plantB"])
    assert {one.name for one in both} == TITLES
    memory = open_scores([one.read() for one in both])
    assert len({one.name for one in memory}) == 2


def test_a_moved_series_has_its_new_name_and_is_not_computed_again(base, run):
    before = Run(run).values()
    last = Run(run).status().run["last_job"]
    (base / "data" / "plantC").mkdir()
    shutil.move(base / "data/plantA/logs", base / "data/plantC/diary")
    run_inline(load_plan(base / "bench.toml"))
    after = Run(run).values()
    assert set(after["dataset"]) == {"diary", "logs"}
    assert Run(run).status().run["last_job"] == last
    assert sorted(after["value"]) == sorted(before["value"])


def test_synthetic_series_that_differ_in_length_are_separate(base):
    series = '[{family = "ecg", n = [1500, 1600], n_anomalies = 3, seed = 1}]'
    plan = PLAN.replace('[{folder = "data"}]', series)
    (base / "bench.toml").write_text(plan)
    table = Run(run_inline(load_plan(base / "bench.toml"))).values()
    assert table.groupby(["detector", "measure"])["series"].nunique().eq(2).all()


def test_equal_content_runs_once_and_imported_scores_follow_folders(base):
    shutil.copytree(base / "data/plantA", base / "data/plantZ")
    for plant in PLANTS:
        (base / "mine" / plant / "logs").mkdir(parents=True)
        np.savetxt(base / "mine" / plant / "logs/pump.csv", np.arange(N))
    (base / "loose").mkdir()
    np.savetxt(base / "loose/pump.csv", np.arange(N) % 7)
    plan = PLAN + '[[scores]]\nfolder = "mine"\npattern = "{dataset}/{series}.csv"\n'
    plan += '[[scores]]\nfolder = "loose"\npattern = "{series}.csv"\n'
    (base / "bench.toml").write_text(plan)
    run = Run(run_inline(load_plan(base / "bench.toml")))
    assert {one.title for one in run.series()} == TITLES
    assert run.values().groupby("detector")["dataset"].nunique()["mine"] == 2
    notes = run.status().notes
    assert any("plantZ/logs/pump.csv is identical to" in note for note in notes)
    assert any("'pump.csv' matches '{series}.csv' for several series" in note for note in notes)
