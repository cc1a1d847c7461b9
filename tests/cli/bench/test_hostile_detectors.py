"""Detectors that attack their process: a run through the command line, with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

from waiting import eventually

DETECTORS = '''
import os, pathlib, signal, sys, time
import numpy as np

HERE = pathlib.Path(__file__).parent

def fine(values, number=0):
    """Relies on much of what others break."""
    files = [open(os.devnull) for _ in range(20)]
    print("fine")
    with np.errstate(invalid="ignore"):
        assert (HERE / "hostile.py").samefile("hostile.py")
    for file in files:
        file.close()
    return values

def interrupts(values):
    raise KeyboardInterrupt

def leaves(values):
    raise SystemExit("\\udcff\\0")

def explains(values):
    raise ValueError("first \\ud800" + "x" * 50_000_000 + "\\0 last")

def moves(values):
    os.chdir("/")
    return values

def leaks(values):
    try:
        while True:
            os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return values

def silences(values):
    sys.stdout.close()
    os.close(1)
    return values

def ignores(values):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return values

def ends(values):
    os._exit(0)

def prints(values):
    for _ in range(400):
        print("x" * 100_000)
    while os.fstat(1).st_blocks * 512 > 8_000_000:
        time.sleep(0.01)
    print("last words")
    sys.stdout.flush()
    os._exit(3)

def kills(values):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)

def waits(values):
    if not (HERE / "pid").exists():
        (HERE / "pid.part").write_text(str(os.getpid()))
        (HERE / "pid.part").rename(HERE / "pid")
        while True:
            time.sleep(0.1)
    return values
'''
FAILING = {
    "interrupts": ("ERROR", "KeyboardInterrupt: "),
    "leaves": ("ERROR", "SystemExit: \\udcff\\x00"),
    "explains": ("ERROR", "ValueError: first \\ud800xxx"),
    "ends": ("ERROR", "the worker process ended with exit code 0"),
    "prints": ("ERROR", "the worker process ended with exit code 3"),
    "kills": (
        "KILLED",
        "the worker process was killed from outside by signal 9 (SIGKILL), 3 times",
    ),
}
HARMFUL = ("moves", "leaks", "silences", "ignores", "waits")
PLAN = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
[[evaluate]]
measures = ["auc_pr"]
buffer = 50
[executor]
workers = 1
[limits]
seconds = 300
"""


def vuskit(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from vuskit.cli.main import run; run()", "bench", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def kill_when_there(note):
    if eventually(note.exists):
        os.kill(int(note.read_text()), signal.SIGTERM)


def test_hostile_detectors_cost_their_own_jobs_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hostile.py").write_text(DETECTORS)
    plan = PLAN
    for number, name in enumerate([*FAILING, *HARMFUL]):
        plan += f'[[detectors]]\nname = "hostile:{name}"\n'
        plan += f'[[detectors]]\nname = "hostile:fine"\nlabel = "fine after {name}"\n'
        plan += f"number = {number}\n"
    (tmp_path / "bench.toml").write_text(plan)
    killer = threading.Thread(target=kill_when_there, args=(tmp_path / "pid",), daemon=True)
    killer.start()
    first = vuskit("run", "--plain")
    assert first.returncode == 3, first.stderr
    status = json.loads(vuskit("status", "--json", "--failures", "50").stdout)
    found = {
        one["detector"].removeprefix("hostile:"): (one["status"], one["message"])
        for one in status["failures"]
    }
    assert found.keys() == FAILING.keys()
    for name, (expected, message) in FAILING.items():
        assert found[name][0] == expected
        assert found[name][1].startswith(message)
    assert found["explains"][1].endswith("x\\x00 last")
    # Nothing of this is in the way of another start.
    again = vuskit("run", "--plain")
    assert again.returncode == 3, again.stderr
    assert "Traceback" not in first.stderr + again.stderr
