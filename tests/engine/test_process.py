"""Stack dumps of tasks whose time is nearly over."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, signal, sys, threading
from vuskit.engine._process import stack_dump_before

path = sys.argv[1]

def deep(n):  # not deeper than what is kept of a stack
    return 0 if n == 0 else deep(n - 1) + (lambda: 1)()

def spin():
    while True:
        deep(9)

def python_code():
    signal.setitimer(signal.ITIMER_REAL, 0)  # the alarm may not be faster than the second thread
    for _ in range(2):
        threading.Thread(target=spin, daemon=True).start()
    while not open(path).read():
        deep(9)

def compiled_code():
    ctypes.PyDLL(None).sleep(60)  # lets no Python code run until the alarm

def quick():
    pass

with stack_dump_before(SECONDS, path):
    FUNCTION()
print(open(path).read())
"""


def run(tmp_path, function, *, seconds):
    """Run it in a new process, which a dump at the wrong moment would end."""
    code = SCRIPT.replace("FUNCTION", function).replace("SECONDS", str(seconds))
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "stack")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_second_thread_dumps_python_code(tmp_path):
    found = run(tmp_path, "python_code", seconds=1)
    assert ", in python_code" in found


@pytest.mark.skipif(sys.platform == "win32", reason="there are no alarms")
def test_alarm_dumps_compiled_code(tmp_path):
    found = run(tmp_path, "compiled_code", seconds=2)
    assert found.startswith("Stack (most recent call first):")
    assert " in compiled_code" in found


@pytest.mark.parametrize("seconds", [60, None])
def test_no_dump_of_a_task_that_ends_in_time(tmp_path, seconds):
    assert run(tmp_path, "quick", seconds=seconds) == ""
