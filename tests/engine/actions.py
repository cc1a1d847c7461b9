"""Actions that behave, and actions that do not."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vuskit.engine import Action, NotApplicableError, Task


@dataclass(frozen=True)
class Call(Action):
    """Calls a function; functions may have an attribute ``warm_up``."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()

    @property
    def group(self):
        return self.function.__name__

    def run(self):
        return self.function(*self.args)

    def warm_up(self):
        getattr(self.function, "warm_up", lambda: None)()


@dataclass(frozen=True)
class ReadFile(Action):
    """Returns the text of a file, which workers elsewhere cannot read."""

    path: Path
    text: str | None = None

    def run(self):
        return self.path.read_text() if self.text is None else f"loaded: {self.text}"

    def load(self):
        return ReadFile(self.path, self.path.read_text())


def call(function, *args, key=None):
    name = key or "-".join([function.__name__, *map(str, args)])
    return Task(name, f"call of {name}", Call(function, args))


def numbers(seed, seconds=0.0):
    """Sums that depend on their order, after a while."""
    time.sleep(seconds)
    draws = np.random.default_rng(seed).normal(size=(40, 30))
    return {"product": draws @ draws.T, "sum": float(draws.sum()), "seed": seed}


def skips():
    raise NotApplicableError("there is nothing to do")


def sleeps():
    while True:
        time.sleep(0.1)


def has_children(note):
    """Starts a program and a forked process, neither of which ends, and waits for all of them."""
    program = subprocess.Popen(["sleep", "3600"])
    forked = os.fork()
    if not forked:
        while True:
            time.sleep(0.1)
    Path(note).write_text(f"{program.pid} {forked}\n")
    while True:
        os.wait()


def allocates():
    held = []
    while True:
        held.append(np.ones(2_000_000))


def raises():
    raise RuntimeError("this action does not work")


def interrupts():
    raise KeyboardInterrupt


def swallows_ctrl_c():
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        return "still here"


def segfaults():
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def killed():
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def exits():
    sys.exit(3)


def returns_what_cannot_be_pickled():
    return (number for number in range(3))


def _once(name, seconds):
    """Take a while at the first call in a process, as a library that compiles or loads."""
    # Modules sent by value have no state that their functions share; `sys` has.
    done = vars(sys).setdefault("_done_once", set())
    if name not in done:
        time.sleep(seconds)
    done.add(name)


def _compile_slowly():
    _once("compiled", 3.0)


def compiles(number):
    _compile_slowly()
    return number


compiles.warm_up = _compile_slowly


def sleeps_when_warmed_up(number):
    return number


sleeps_when_warmed_up.warm_up = sleeps


def crashes_when_warmed_up(number):
    return number


crashes_when_warmed_up.warm_up = segfaults


def raises_when_warmed_up(number):
    return number


raises_when_warmed_up.warm_up = exits


def _load_slowly():
    _once("loaded", 1.5)


def loads(number):
    _load_slowly()
    return number


loads.warm_up = _load_slowly


def killed_each_time(number):
    killed()


def dies_of_the_alarm():
    """Stays in compiled code that lets no Python code run until interrupted, then crashes."""
    ctypes.PyDLL(None).sleep(60)
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def prints():
    sys.stdout.write("noise on stdout\n")
    sys.stderr.write("noise on stderr\n")
    return "printed"


def counts_threads():
    """How many threads BLAS would use."""
    import threadpoolctl

    return max([pool["num_threads"] for pool in threadpoolctl.threadpool_info()], default=1)


def receives_interrupts():
    """Whether Ctrl-C would end this process."""
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
