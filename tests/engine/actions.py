"""Actions that behave, and actions that do not."""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import faulthandler
import functools
import mmap
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from waiting import Gate

from vuskit.engine import (
    Action,
    Task,
)
from vuskit.engine.tasks import NotApplicableError, StaleWorkerError


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


def call(function, *args, key=None, parent=None):
    name = key or "-".join([function.__name__, *map(str, args)])
    return Task(
        name, f"call of {name}", functools.partial(Call, function, args), about={"key": name},
        parent=parent,
    )  # fmt: skip


def numbers(seed, gate=None):
    """Sums that depend on their order, when a gate is passed."""
    if gate is not None:
        Gate(gate).pass_through()
    draws = np.random.default_rng(seed).normal(size=(40, 30))
    return {"product": (draws @ draws.T).tolist(), "sum": float(draws.sum()), "seed": seed}


def skips():
    raise NotApplicableError("there is nothing to do")


def sleeps():
    while True:
        time.sleep(0.1)


def seeds():
    """Makes the draws of careless tasks repeat, also those that follow."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002


def draws():
    return random.random(), float(np.random.random())  # noqa: NPY002


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


def fills_shared_memory():
    """Uses memory that the system does not count as data of the process."""
    shared = mmap.mmap(-1, 800_000_000)
    while shared.tell() < len(shared):
        shared.write(b"x" * 1_000_000)
    sleeps()


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


@dataclass(frozen=True)
class Compiles(Action):
    """Needs a library that takes its time to compile."""

    @property
    def group(self):
        return "compiles"

    def run(self):
        # Modules sent by value have no state that their functions share; `sys` has.
        if "_compiled" not in vars(sys):
            raise RuntimeError("time of the task is used to compile")

    def warm_up(self):
        time.sleep(2.5)
        vars(sys)["_compiled"] = True


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
    """Take a while at the first call in a process, as a library that loads."""
    if "_loaded" not in vars(sys):
        time.sleep(0.2)
    vars(sys)["_loaded"] = True


def loads(number):
    _load_slowly()
    return number


loads.warm_up = _load_slowly


def stays_in_compiled_code():
    """Lets no Python code run."""
    ctypes.PyDLL(None).sleep(60)


def disarms_the_limit():
    faulthandler.cancel_dump_traceback_later()
    sleeps()


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


def state():
    """What a task of any kind may rely on."""
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    for file in files:
        os.close(file)
    return {
        "directory": os.getcwd(),
        "mask": os.umask(0o22),
        "handlers": [signal.getsignal(one) for one in (signal.SIGUSR1, signal.SIGALRM)],
        "files": len(files),
        "stdout": sys.stdout.write("text\n"),
        "errors": np.geterr()["divide"],
        "path": "/nonsense" in sys.path,
        "variable": os.environ.get("NONSENSE"),
        "children": not multiprocessing.current_process().daemon,
        "threads": threading.active_count(),
    }


def changes_directory():
    os.chdir("/")


def removes_its_directory():
    os.chdir(tempfile.mkdtemp())
    os.rmdir(os.getcwd())


def changes_signals_and_mask():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.alarm(1)
    os.umask(0o777)


def leaks_descriptors():
    with contextlib.suppress(OSError):
        while True:
            os.open(os.devnull, os.O_RDONLY)


def leaks_descriptors_and_fails():
    while True:
        os.open(os.devnull, os.O_RDONLY)


def closes_output():
    sys.stdout.close()
    os.close(2)


def closes_all_descriptors():
    os.closerange(3, 1000)
    # The connection's number may belong to this file now.
    path = Path(tempfile.mkdtemp()) / "own"
    files = [path.open("w") for _ in range(20)]
    vars(sys)["_own_files"] = files


def leaves_a_thread():
    threading.Thread(target=sleeps, daemon=True).start()


def changes_libraries():
    np.seterr(all="raise")
    sys.path.insert(0, "/nonsense")
    os.environ["NONSENSE"] = "1"


def forks_and_raises():
    """The child leaves the function as the parent does."""
    child = os.fork()
    if not child:
        raise RuntimeError("in the child")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def exits_at_once():
    os._exit(0)


def exits_in_a_thread():
    threading.Thread(target=os._exit, args=(0,)).start()
    sleeps()


def leaves_an_exiting_thread(note):
    """The thread waits for a file, in a way that looks idle, and ends the process."""
    ready = threading.Event()

    def exit_later():
        while not ready.wait(0.05):
            if Path(note).exists():
                os._exit(7)

    threading.Thread(target=exit_later, daemon=True).start()


def waits_for_exit(note):
    """Waits at its first start."""
    if Path(note).exists():
        return "repeated"
    Path(note).touch()
    sleeps()


class Leaving:
    def __del__(self):
        raise SystemExit(5)


def leaves_everywhere():
    """Raises what would end a process where it must not."""
    for error in (SystemExit(5), KeyboardInterrupt()):
        thread = threading.Thread(target=_raise, args=(error,))
        thread.start()
        thread.join()
    _thread.interrupt_main()
    vars(sys)["_leaving"] = Leaving()
    del vars(sys)["_leaving"]
    return "still here"


def _raise(error):
    raise error


leaves_everywhere.warm_up = functools.partial(_raise, KeyboardInterrupt())


def generator_exit():
    raise GeneratorExit


def raises_long_text():
    raise ValueError("first \ud800\0 " + "x" * 50_000_000 + " last")


class LeavesWhenLoaded:
    def __reduce__(self):
        return sys.exit, (3,)


def returns_what_leaves():
    return LeavesWhenLoaded()


def stale_unless_new():
    """Whether earlier tasks left something behind."""
    if "_tasks_before" in vars(sys):
        raise StaleWorkerError("an older version is loaded")
    return os.getpid()


def remembers():
    vars(sys)["_tasks_before"] = True
    return os.getpid()


def stale():
    raise StaleWorkerError("never good enough")


def hoards():
    """Keeps most of the allowed memory."""
    vars(sys)["_hoard"] = np.ones(25_000_000)


def needs_memory():
    return float(np.ones(25_000_000)[0])


def crashes_after_others():
    """Crashes where another task has corrupted memory, as it were."""
    if "_tasks_before" in vars(sys):
        segfaults()
    return "fine"


def waits_to_be_killed(note):
    """Waits at its first start."""
    if not Path(note).exists():
        Path(note).write_text(str(os.getpid()))
        sleeps()
    return "repeated"


def prints_much():
    line = "x" * 99_999 + "\n"
    for _ in range(400):
        sys.stdout.write(line)
        sys.stdout.flush()
    while os.fstat(1).st_size > 8_000_000:
        time.sleep(0.01)
    sys.stdout.write("last words \udcff\n")
    sys.stdout.flush()
    os._exit(3)


@dataclass(frozen=True)
class Coded(Action):
    """Action of one group whose code changes."""

    digest: str

    @property
    def group(self):
        return "coded"

    @property
    def code(self):
        return self.digest

    def run(self):
        return os.getpid()
