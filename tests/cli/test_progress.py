"""Signals that stop a long command, and the message that says how to resume."""

from __future__ import annotations

import os
import signal

import pytest
import typer

from vuskit.cli._progress import resumable
from vuskit.engine.tasks import outcome_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_is_no_failure_of_a_job(number, tmp_path, capsys):
    before = signal.getsignal(number)
    with pytest.raises(typer.Exit) as stopped, resumable(tmp_path, ["vuskit", "bench", "run"]):
        outcome_of(lambda: signal.raise_signal(number))
    assert stopped.value.exit_code == 130
    assert capsys.readouterr().err == (
        f"Stopped. Finished work is in {tmp_path}. Resume with: vuskit bench run\n"
    )
    assert signal.getsignal(number) is before


def test_the_same_command_resumes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["/usr/bin/vuskit", "study", "all", "my scores"])
    with pytest.raises(typer.Exit), resumable(tmp_path):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith("Resume with: vuskit study all 'my scores'\n")


def test_ignored_signals_stay_ignored(tmp_path):
    """As under nohup: the run must outlive its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with resumable(tmp_path):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
