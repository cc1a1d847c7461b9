"""Everything a detector should not do, as often as the storm wants it.

The first value of a series is its number. A file ``<detector>-<number>`` in the folder that the
environment names holds a kind of fault and how often it happens; ``always`` has no end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

STATE = "VUSKIT_CHAOS_STATE"

_kept = []


def misbehave(detector, values):
    """Cause the fault of a detector on a series, if there is one and it is not used up."""
    folder = os.environ.get(STATE)
    if folder is None:
        return
    place = Path(folder, f"{detector}-{values[0]:.0f}")
    try:
        kind, times = place.read_text().split()
    except (OSError, ValueError):
        return
    if times == "always" or _use_up(place, int(times)):
        FAULTS[kind]()


def _use_up(place, times):
    """Take one of the remaining times; it counts before the fault happens."""
    for number in range(times):
        try:
            place.with_name(f"{place.name}.{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return True
    return False


# Faults that end the job -------------------------------------------------------------------------


def _crash():
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def _hang():
    while True:
        time.sleep(0.1)


def _fill_memory():
    held = []
    while True:
        held.append(np.zeros(12_000_000))


def _raise_text():
    raise RuntimeError("no text: \ud800\x00\x1b[31m" + "long " * 100_000)


def _exit():
    sys.exit(0)


def _interrupt():
    raise KeyboardInterrupt


# Faults that leave something behind in the process -----------------------------------------------


def _leak_memory():
    """Keep so much that little is left; stop before the job itself fails."""
    try:
        while True:
            _kept.append(np.zeros(2_000_000))
    except MemoryError:
        del _kept[-3:]


def _leak_descriptors():
    held = []
    try:
        while True:
            held.append(os.dup(2))
    except OSError:
        for descriptor in held[-4:]:
            os.close(descriptor)


def _flood_output():
    for _ in range(40):
        print("x" * 100_000, flush=True)


def _change_directory():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def _close_output():
    sys.stdout.close()
    sys.stderr.close()
    for descriptor in (0, 1, 2):
        os.close(descriptor)


def _change_signals():
    for name in ("SIGTERM", "SIGALRM", "SIGCHLD"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def _start_children():
    subprocess.Popen(["sleep", "3600"])
    if not os.fork():
        time.sleep(3600)
        os._exit(0)


FAULTS = {
    "crash": _crash,
    "exit": lambda: os._exit(0),
    "abort": os.abort,
    "hang": _hang,
    "fill_memory": _fill_memory,
    "raise": _raise_text,
    "SystemExit": _exit,
    "KeyboardInterrupt": _interrupt,
    "leak_memory": _leak_memory,
    "leak_descriptors": _leak_descriptors,
    "flood_output": _flood_output,
    "change_directory": _change_directory,
    "close_output": _close_output,
    "change_signals": _change_signals,
    "start_children": _start_children,
}
ENDING = tuple(FAULTS)[:8]
LINGERING = tuple(FAULTS)[8:]
