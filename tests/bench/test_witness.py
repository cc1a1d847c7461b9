"""Where a job was when its time was nearly over."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, sys, threading, time
from vuskit.bench.executors.witness import stack_written_late

path = sys.argv[1]

def deep(n):
    return 0 if n == 0 else deep(n - 1) + (lambda: 1)()

def spin():
    while True:
        deep(30)

def python_code():
    for _ in range(2):
        threading.Thread(target=spin, daemon=True).start()
    while not open(path).read():
        deep(30)

def compiled_code():
    ctypes.PyDLL(None).sleep(60)  # lets no Python code run until the alarm

def quick():
    pass

with stack_written_late(SECONDS, path):
    FUNCTION()
print(open(path).read())
"""


def run(tmp_path, function, *, seconds):
    """Run it in a process of its own, which a look at the wrong moment would end."""
    code = SCRIPT.replace("FUNCTION", function).replace("SECONDS", str(seconds))
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "stack")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_python_code_is_looked_at_from_beside(tmp_path):
    found = run(tmp_path, "python_code", seconds=1)
    assert ", in python_code" in found


@pytest.mark.skipif(sys.platform == "win32", reason="there are no alarms")
def test_compiled_code_tells_of_itself(tmp_path):
    found = run(tmp_path, "compiled_code", seconds=2)
    assert found.startswith("Stack (most recent call first):")
    assert " in compiled_code" in found


def test_who_is_done_in_time_is_not_looked_at(tmp_path):
    assert run(tmp_path, "quick", seconds=60) == ""
