"""Detectors that do what detectors should not: imported by plans as ``misbehaving:name``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from vuskit.detectors import Detector


def fine(values, seed=0, factor=1.0):
    return factor * np.abs(values - values.mean()) + np.random.default_rng(seed).random(len(values))


def gated(values, gate, seed=0):
    """Passes a gate in a folder beside this file first."""
    from waiting import Gate  # a copy is beside this file

    Gate(Path(__file__).with_name(gate)).pass_through()
    return fine(values, seed)


def sleeps(values):
    while True:
        time.sleep(0.1)


def has_children(values):
    """A program and a forked process, neither of which ends; it waits for all of them."""
    program = subprocess.Popen(["sleep", "3600"])
    forked = os.fork()
    if not forked:
        while True:
            time.sleep(0.1)
    Path(__file__).with_name("children").write_text(f"{program.pid} {forked}\n")
    while True:
        os.wait()


def allocates(values):
    held = []
    while True:
        held.append(np.ones(2_000_000))


def raises(values):
    raise RuntimeError("this detector does not like the series")


def segfaults(values):
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def killed(values):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def exits(values):
    sys.exit(3)


_compiled = False


def compile_slowly(values=()):
    """As a library that compiles when it is first used in a process, before any job."""
    global _compiled
    if not _compiled:
        if len(values) == 1500:
            raise RuntimeError("time of the job is used to compile")
        time.sleep(0.5)
    _compiled = True


def compiles(values):
    compile_slowly(values)
    return fine(values)


compiles.warm_up = compile_slowly


class Compiles(Detector):
    """The same, of a class: a short series warms it up."""

    def _fit(self, train, progress):
        """Nothing is learnt."""

    def _score(self, values):
        compile_slowly(values)
        return fine(values[:, 0])


def gives_nan(values):
    scores = np.zeros(len(values))
    scores[7] = np.nan
    return scores


def too_short(values):
    return np.zeros(len(values) - 1)


def prints(values):
    sys.stdout.write("noise on stdout\n")
    sys.stderr.write("noise on stderr\n")
    return fine(values)


def counts_threads(values):
    """As a score: how many threads BLAS would use."""
    import threadpoolctl

    most = max([pool["num_threads"] for pool in threadpoolctl.threadpool_info()], default=1)
    return np.full(len(values), float(most))


def hears_interrupts(values):
    """As a score: whether Ctrl-C would end this process."""
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return np.full(len(values), float(not blocked))
