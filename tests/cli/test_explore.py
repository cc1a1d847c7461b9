"""``vuskit explore`` as a process: its address, its end, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest
from cli.terminal import COMMAND
from waiting import PATIENCE

from vuskit.cli.explore import StudyReader
from vuskit.errors import InvalidInputError
from vuskit.explore import ExploreServer
from vuskit.studies import run_study

pytest.importorskip("uvicorn")


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_it_serves_until_interrupted(scores_csv):
    process = subprocess.Popen(
        [*COMMAND, "explore", str(scores_csv), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(url) as page:
            assert b"<title>scores.csv</title>" in page.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(url.partition("?")[0])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "")
    assert err.splitlines()[-1] == "stopped"
    assert "Traceback" not in err


def test_what_cannot_be_explored(command, tmp_path):
    outcome = command("explore", "nothing")
    assert (outcome.code, outcome.out) == (2, "")
    assert "nothing: there is no such file or folder" in outcome.err
    (tmp_path / "empty").mkdir()
    outcome = command("explore", "empty")
    assert outcome.code == 2
    assert "empty: a score folder must contain files" in outcome.err


@pytest.fixture
def explored(command, monkeypatch):
    """Run the command without serving; return its outcome, and the content once evaluated."""
    found = []
    monkeypatch.setattr(ExploreServer, "run", lambda self: found.append(self._content))

    def run(*arguments):
        outcome = command("explore", *arguments, "--no-browser")
        if found:
            found[-1]._evaluate_all()
        return outcome, found[-1] if found else None

    return run


def test_labels_may_be_elsewhere(explored, command, tmp_path):
    """Files are matched and aligned as `vuskit evaluate` does."""
    rng, values = np.random.default_rng(1), np.sin(np.arange(200) / 5)
    labels = np.arange(200) // 20 == 4
    (tmp_path / "data").mkdir()
    for k, name in enumerate("ab"):
        text = "\n".join(f"{v},{int(y)}" for v, y in zip(values + k, labels, strict=True))
        (tmp_path / "data" / f"{name}.csv").write_text(f"value,label\n{text}\n")
        for detector in ("LOF", "PCA"):
            (tmp_path / "scores" / detector).mkdir(parents=True, exist_ok=True)
            np.save(tmp_path / "scores" / detector / f"{name}.npy", rng.random(191))
    options = ("scores", "--labels", "data", "--align", "start", "--window", "10")
    outcome, content = explored(*options, "--pattern", "{detector}/{series}.npy")
    assert outcome.code == 0
    report = content.report()
    assert [one.title for one in report.series] == ["scores/a", "scores/b"]
    assert report.detectors == ("LOF", "PCA")
    run = ("--processes", 1, "--output", "run", "--json")
    table = json.loads(command("evaluate", *options, *run).out)["values"]
    assert len(table) == report.values.size
    for row in table:
        place = (
            0,
            report.measures.index(row["measure"]),
            report.detectors.index(row["detector"]),
            [one.name for one in report.series].index(row["series"]),
        )
        assert report.values[place] == pytest.approx(row["value"], abs=1e-12)
    outcome, _ = explored("scores", "--labels", "data", "--align", "start")
    assert "`--align` must be used with `--window`" in outcome.err
    outcome, _ = explored("run", "--labels", "data")  # a run has its own labels
    assert "`--labels` must be used with saved scores, got 'run', which is a run" in outcome.err


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_a_missing_extra_is_explained(command, monkeypatch, scores_csv, module):
    monkeypatch.setitem(sys.modules, module, None)
    outcome = command("explore", scores_csv)
    assert outcome.code == 2
    assert f"vuskit explore needs {module}" in outcome.err
    assert 'pip install "vuskit[explore]"' in outcome.err


def saved_study(scores, folder, threshold):
    """Save a study of three files of scores."""
    scores.mkdir(exist_ok=True)
    for name in "abc":
        text = f"value,label,mine\n1,0,0.1\n9,1,{threshold}\n2,0,0.2\n"
        (scores / f"{name}.csv").write_text(text)
    result = run_study("consistency", scores, measures=["auc_pr"], buffer=1)
    result.save(folder)
    return result.inputs


def test_studies_of_a_run_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, other = tmp_path / "run", tmp_path / "other"
    read = StudyReader(run)
    assert read() == []
    own = saved_study(run, tmp_path / "studies", 0.8)
    saved_study(other, tmp_path / "out" / "studies", 0.7)  # of something else
    found = read()
    assert [one.inputs for one in found] == [own]
    assert read() is found  # nothing changed
    inside = saved_study(other, run / "studies", 0.6)
    assert [one.inputs for one in read()] == [inside, own]
    named = StudyReader(run, [tmp_path / "studies"])
    assert [one.inputs for one in named()] == [own, inside]
    with pytest.raises(InvalidInputError, match="must hold results of studies"):
        StudyReader(run, [tmp_path / "other"])()
