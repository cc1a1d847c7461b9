"""What the end of a worker process says about its task."""

from __future__ import annotations

import signal

from vuskit.engine import Limits, Status
from vuskit.engine._process import OVER_MEMORY_EXIT
from vuskit.engine._worker import WorkerProcess


def test_cause_of_death_decides_the_status(tmp_path):
    process = WorkerProcess(Limits(seconds=2.0), tmp_path)
    process._stack.write_text('File "x.py", line 1, in before\n')
    early = process._died(-signal.SIGSEGV)
    assert early.status is Status.ERROR
    assert early.message == "the worker process died of signal 11 (SIGSEGV)"
    process._stack.write_text('Stack (most recent call first):\n  File "x.py", line 1 in last\n')
    late = process._died(-signal.SIGSEGV)
    assert late.status is Status.TIMEOUT
    assert late.message == "took more than 2 s, at the end of which it died of signal 11 (SIGSEGV)"
    assert "in last" in late.traceback
    assert process._died(-signal.SIGKILL).status is Status.OOM
    assert process._died(OVER_MEMORY_EXIT).status is Status.OOM
    assert process._died(0).status is Status.ERROR
