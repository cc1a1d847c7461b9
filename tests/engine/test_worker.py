"""What the end of a worker process says about its task."""

from __future__ import annotations

import signal

import pytest

from vuskit.engine import Limits, Status, _worker
from vuskit.engine._process import BROKEN_EXIT, OVER_MEMORY_EXIT
from vuskit.engine._worker import Repeat, WorkerProcess


def died(process, code, *, oom=False):
    attempt = process._died(code, Repeat.ONCE, oom=oom)
    return str(attempt.outcome.status), attempt.repeat.name


def test_cause_of_death_decides_the_status_and_the_repetition(tmp_path):
    process = WorkerProcess(Limits(seconds=2.0, memory=1_000_000), tmp_path)
    process._stack.write_text('File "x.py", line 1, in before\n')
    early = process._died(-signal.SIGSEGV, Repeat.ONCE, oom=False)
    assert (early.outcome.status, early.repeat) == (Status.ERROR, Repeat.ONCE)
    assert early.outcome.message == "the worker process died of signal 11 (SIGSEGV)"
    process._stack.write_text('Stack (most recent call first):\n  File "x.py", line 1 in last\n')
    late = process._died(-signal.SIGSEGV, Repeat.ONCE, oom=False).outcome
    assert late.status is Status.TIMEOUT
    assert late.message == "took more than 2 s and died of signal 11 (SIGSEGV)"
    assert "in last" in late.traceback
    assert died(process, -signal.SIGKILL) == ("KILLED", "KILLED")
    assert died(process, -signal.SIGHUP, oom=True) == ("KILLED", "KILLED")
    assert died(process, -signal.SIGRTMIN) == ("KILLED", "KILLED")
    assert died(process, -signal.SIGKILL, oom=True) == ("OOM", "ONCE")
    process._highest_memory = 950_000
    assert died(process, -signal.SIGKILL) == ("OOM", "ONCE")
    assert died(process, OVER_MEMORY_EXIT) == ("OOM", "ONCE")
    assert died(process, BROKEN_EXIT) == ("ERROR", "ONCE")
    assert died(process, 0) == ("ERROR", "NEVER")
    unlimited = WorkerProcess(Limits(), tmp_path)
    assert died(unlimited, OVER_MEMORY_EXIT) == ("ERROR", "NEVER")


@pytest.mark.parametrize("place", ["memory.events", "memory.oom_control"])
def test_kills_for_want_of_memory_are_counted(tmp_path, monkeypatch, place):
    (tmp_path / place).write_text("low 0\noom 7\noom_kill 3\noom_group_kill 9\n")
    monkeypatch.setattr(_worker, "_cgroup_files", lambda: [tmp_path / "none", tmp_path / place])
    assert _worker._count_oom_kills() == 3
