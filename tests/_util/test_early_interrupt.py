"""Ctrl-C in the first moments of the command, and nothing of it in other programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from waiting import PATIENCE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")

# As the installed script, with a mark when the package has begun to load.
START = """
import os, signal, sys, threading, time
# What a shell starts in the background does not hear Ctrl-C by itself.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "/usr/bin/vuskit"

def mark():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        if "vuskit.cli.app" in sys.modules:
            break  # too late to see the handler
        time.sleep(0.001)
    os.write(1, b".")

threading.Thread(target=mark, daemon=True).start()
from vuskit.cli.main import run
run()
"""
PLAN = """
[[series]]
family = "ecg"
n = 3000
[[detectors]]
name = "slow:slow"
[[evaluate]]
measures = ["auc_pr"]
buffer = 5
"""
SLOW = "import time\n\ndef slow(values):\n    time.sleep(600)\n"


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.2, 0.3, 0.6])
def test_the_first_moments(tmp_path, delay):
    (tmp_path / "bench.toml").write_text(PLAN)
    (tmp_path / "slow.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "-c", START, "bench", "run"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout.read(1) == b"."
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert b"topped" in err


OTHERS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "notebook.py"
import vuskit
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
sys.argv[0] = "vuskit"
from vuskit._util.early_interrupt import begin_early_interrupts, end_early_interrupts
begin_early_interrupts()
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
end_early_interrupts()
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
signal.signal(signal.SIGINT, signal.SIG_IGN)
begin_early_interrupts()
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
"""


def test_other_programs_keep_their_handlers():
    done = subprocess.run(
        [sys.executable, "-c", OTHERS], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False", "True", "True"]


def test_python_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "vuskit", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("vuskit ")
