"""``vuskit explore`` as a process: its address, its end, and what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from cli.terminal import COMMAND
from waiting import PATIENCE

from vuskit.cli.explore import StudyReader
from vuskit.errors import InvalidInputError
from vuskit.studies import consistency_study

pytest.importorskip("uvicorn")


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_it_serves_until_interrupted(scores_csv):
    process = subprocess.Popen(
        [*COMMAND, "explore", str(scores_csv), "--no-browser"],
        env={**os.environ, "VUSKIT_NUMBA": "0"},
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
    assert "must hold saved scores" in outcome.err


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
    result = consistency_study(scores, measures=["auc_pr"], buffer=1)
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
