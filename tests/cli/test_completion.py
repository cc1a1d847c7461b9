"""Completion in the shell: the scripts, and what Tab offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from vuskit.buffers import list_buffer_strategies
from vuskit.cli import _completion as completion
from vuskit.cli import main
from vuskit.datasets import list_datasets
from vuskit.detectors import list_detectors


@pytest.fixture
def complete(tmp_path, monkeypatch, capsys):
    """``complete(*words, shell="bash")`` gives what is offered for the last of some words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["vuskit"])
    (tmp_path / "scores.csv").write_text("label;good one;late\n0;1;2\n1;2;1\n")

    def offered(*words, shell="bash"):
        line = " ".join(("vuskit", *words))
        monkeypatch.setenv("_VUSKIT_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        with pytest.raises(SystemExit) as ended:
            main.run()
        assert not ended.value.code
        return capsys.readouterr().out

    return offered


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("eval",), {"evaluate"}),
        (("study", "s"), {"separability", "scenarios"}),
        (("evaluate", "scores.csv", "--label", "l"), {"label", "late"}),
        (("evaluate", "scores.csv", "--score", "g"), {"good one"}),
        (("evaluate", "scores.csv", "--definition", "p"), {"pvldb2022"}),
        (("evaluate", "scores.csv", "--buffer", "me"), {"median-anomaly", "mean-anomaly"}),
        (("evaluate", "scores.csv", "--measure", "f_score,vus_"), {
            "f_score,vus_roc", "f_score,vus_pr",
        }),
        (("study", "all", "scores", "--buffer", "a"), {"auto", "authors"}),
        (("data", "list", "NA"), {"NAB", "NASA-MSL", "NASA-SMAP"}),
        (("bench", "retry", "--status", "T"), {"TIMEOUT"}),
        (("study", "timing", "--only", "opt"), {"opt", "opt_mem"}),
        (("study", "scenarios", "--figure-format", "p"), {"png", "pdf"}),
    ],
)  # fmt: skip
def test_tab_in_bash(complete, words, offered):
    assert set(complete(*words).split("\n")) - {""} == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_tab_in_other_shells(complete, shell):
    offered = complete("evaluate", "scores.csv", "--definition", "jour", shell=shell)
    assert "journal" in offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell, monkeypatch, capsys):
    monkeypatch.setenv("_VUSKIT_COMPLETE", f"source_{shell}")
    monkeypatch.setattr("sys.argv", ["vuskit"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert not ended.value.code
    script = capsys.readouterr().out
    assert f"_VUSKIT_COMPLETE=complete_{shell}" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_is_good_bash(tmp_path):
    env = {**os.environ, "_VUSKIT_COMPLETE": "source_bash"}
    code = "import sys; sys.argv[0] = 'vuskit'; from vuskit.cli.main import run; run()"
    script = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout
    check = 'eval "$SCRIPT" && complete -p vuskit'
    shown = subprocess.run(
        ["bash", "-c", check], env={**os.environ, "SCRIPT": script}, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    assert "-F _vuskit_completion vuskit" in shown


def test_offers_come_from_the_registries():
    assert [name for name, _ in completion.complete_detectors()] == list(list_detectors())
    assert [name for name, _ in completion.complete_datasets()] == [
        info.name for info in list_datasets()
    ]
    assert len(completion.complete_buffers()) == len(list_buffer_strategies())


def test_a_broken_file_offers_nothing(complete, tmp_path):
    (tmp_path / "broken.csv").write_bytes(b"PK\x03\x04")
    assert complete("evaluate", "broken.csv", "--label", "l") == "\n"
    assert complete("evaluate", "none.csv", "--label", "l") == "\n"
