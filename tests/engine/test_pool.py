"""What the end of a worker process says about its task."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from vuskit.engine import Limits, _pool
from vuskit.engine._process import BROKEN_EXIT


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (-signal.SIGSEGV, "ERROR"),
        (-signal.SIGKILL, "KILLED"),
        (-signal.SIGHUP, "KILLED"),
        (-signal.SIGRTMIN, "KILLED"),
        (BROKEN_EXIT, "ERROR"),
        (None, "ERROR"),
        (0, "ERROR"),
    ],
)
def test_cause_of_death_decides_the_status(tmp_path, code, status):
    process = _pool._WorkerProcess(Limits(seconds=2.0, memory=1_000_000), tmp_path, set())
    process.stage, process._oom_kills = "run", _pool._count_oom_kills()
    process.process = SimpleNamespace(exitcode=code, pid=1, join=lambda seconds: None)
    assert str(process.died(late=False).status) == status
    assert str(process.died(late=True).status) == "TIMEOUT"
    process._oom_kills -= 1
    oom = code == -signal.SIGKILL
    assert str(process.died(late=False).status) == ("OOM" if oom else status)
    process._oom_kills += 1
    process._most_memory = 950_000
    assert str(process.died(late=False).status) == ("OOM" if oom else status)
    process._most_memory = 1_000_001
    assert str(process.died(late=False).status) == "OOM"


def test_kills_for_lack_of_memory_are_counted(tmp_path, monkeypatch):
    events = tmp_path / "memory.events"
    events.write_text("low 0\noom 7\noom_kill 3\noom_group_kill 9\n")
    monkeypatch.setattr(_pool, "_memory_events", lambda: events)
    assert _pool._count_oom_kills() == 3
    events.unlink()
    assert _pool._count_oom_kills() >= 0  # of the whole machine
