"""What happens inside a worker process: its limits, its output, and how it runs one action."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import faulthandler
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from vuskit.engine._pickling import PackedValue, pack, unpack
from vuskit.engine.tasks import Action, Limits, NotApplicableError, Outcome, Status

__all__ = [
    "ALARM_MARK",
    "OVER_MEMORY_EXIT",
    "prepare_worker",
    "run_action",
    "run_packed_action",
    "stack_dump_before",
    "warm_up_packed_action",
]

OVER_MEMORY_EXIT = 75
"""Exit code of a worker that stopped itself because it used too much memory."""

ALARM_MARK = "Stack (most recent call first)"
"""First line of the alarm's stack dump."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_TRACEBACK_FRAMES = 20
_WATCH_SECONDS = 0.2
_RESET_PEAK = "5"  # the value for clear_refs that resets the peak
_PR_SET_PDEATHSIG = 1


# --- Running one action -----------------------------------------------------------------------


def run_action(action: Action, *, interruptible: bool = True) -> Outcome:
    """Run an action in this process, without limits; errors become part of the outcome.

    Parameters
    ----------
    action : Action
        What to do.
    interruptible : bool, default=True
        Let KeyboardInterrupt through: somebody pressed Ctrl-C. Worker processes do not receive
        Ctrl-C, so there it is an error of the action.

    Returns
    -------
    Outcome
        Status, value, time and memory.

    Examples
    --------
    >>> from vuskit.engine import Action
    >>> class Divide(Action):
    ...     def run(self):
    ...         return 1 / 0
    >>> outcome = run_action(Divide())
    >>> str(outcome.status), outcome.message
    ('ERROR', 'ZeroDivisionError: division by zero')
    """
    return _measured(action.run, interruptible=interruptible)


def run_packed_action(data: bytes, seconds: float | None, stack_file: str) -> Outcome:
    """Run a pickled action in a prepared worker; the outcome's value is packed."""
    os.ftruncate(1, 0)
    with stack_dump_before(seconds, stack_file):
        loaded = _measured(lambda: unpack(data), interruptible=False)
        if loaded.status is not Status.OK:
            text = f"the worker could not load the task: {loaded.message}"
            return dataclasses.replace(loaded, message=text)
        outcome = run_action(loaded.value, interruptible=False)
        if outcome.status is not Status.OK:
            return outcome
        packed = _measured(lambda: PackedValue(pack(outcome.value)), interruptible=False)
        if packed.status is not Status.OK:
            text = f"the worker could not send its result: {packed.message}"
            return dataclasses.replace(packed, message=text)
        return dataclasses.replace(outcome, value=packed.value)


def warm_up_packed_action(data: bytes) -> float:
    """Warm up for a pickled action; return the seconds it took."""
    begin = time.perf_counter()
    warm_up_action(lambda: unpack(data))
    return time.perf_counter() - begin


def warm_up_action(get_action: Callable[[], Action]) -> None:
    """Warm up for an action; errors occur again when it runs."""
    # SystemExit would end the worker.
    with contextlib.suppress(Exception, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        get_action().warm_up()


def _measured(function: Callable[[], Any], *, interruptible: bool) -> Outcome:
    _reset_peak_memory()
    begin = time.perf_counter()
    try:
        outcome = Outcome(Status.OK, function())
    except NotApplicableError as reason:
        outcome = Outcome(Status.SKIPPED, message=_text_of(reason))
    except MemoryError as error:
        # The frames still hold what filled the memory, and a report needs some.
        traceback.clear_frames(error.__traceback__)
        text = ": ".join(filter(None, ("out of memory", _text_of(error))))
        outcome = _failed(Status.OOM, error, text)
    except BaseException as error:
        # SystemExit too: code that calls exit() must not end the worker.
        if interruptible and isinstance(error, KeyboardInterrupt):
            raise
        outcome = _failed(Status.ERROR, error, f"{type(error).__name__}: {_text_of(error)}")
    return dataclasses.replace(
        outcome,
        seconds=time.perf_counter() - begin,
        peak_bytes=peak_memory(),
        worker=f"{platform.node()}:{os.getpid()}",
    )


def _failed(status: Status, error: BaseException, message: str) -> Outcome:
    try:
        stack = traceback.format_exc(limit=-_TRACEBACK_FRAMES)
    except BaseException:  # the error's own code takes part
        stack = None
    return Outcome(status, message=message, traceback=stack, error_type=type(error).__name__)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # the error's own code
        return "(its text could not be read)"


# --- Setting up a worker process --------------------------------------------------------------


def prepare_worker(limits: Limits, parent: int, output_file: str) -> None:
    """Set up a new worker process."""
    # The default action works at once, also while compiled code holds the interpreter.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _start_process_guard()
    _die_with_parent()
    threading.Thread(target=_watch, args=(parent, limits.memory), daemon=True).start()
    _redirect_output(output_file)
    _limit_threads(limits.threads)
    _limit_memory(limits.memory)


# The guard is nobody's child: an action that waits for all of its children must not wait for it.
_GUARD = """
import os, signal
if os.fork():
    os._exit(0)
os.read(0, 1)
os.killpg(0, signal.SIGKILL)
"""


def _start_process_guard() -> None:
    """Make all processes that this one starts from now on end with it.

    A worker is killed at its time limit, and by the system when the main process is gone. It can
    then no longer end what an action has started. So a small guard process holds one end of a
    pipe: when the other end closes, the worker is gone, and the guard kills the process group.
    The new session also keeps the terminal's signals away.

    Does nothing without process groups (Windows). A child that starts a new session is not
    reached.
    """
    if not hasattr(os, "setsid"):
        return
    if os.getpgrp() != os.getpid():  # a leader has a group already
        os.setsid()
    guarded, held = os.pipe()
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", _GUARD],
        stdin=guarded,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    os.close(guarded)
    ends = [held]

    def close_ends() -> None:
        while ends:  # a child's own children must not close it again
            os.close(ends.pop())

    # A forked child, unlike a program, would hold the pipe open.
    os.register_at_fork(after_in_child=close_ends)


def _die_with_parent() -> None:
    """Ask the system to kill this process with its parent, also in compiled code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(parent: int, memory: int | None) -> None:
    """End this process when its parent is gone or it uses too much memory.

    A second safeguard: for systems where `_die_with_parent` or `_limit_memory` do nothing, and
    for memory that RLIMIT_DATA does not count, such as shared maps.
    """
    while True:
        if os.getppid() != parent:
            os._exit(1)
        if memory is not None and _resident_memory() > memory:
            os._exit(OVER_MEMORY_EXIT)
        time.sleep(_WATCH_SECONDS)


def _redirect_output(path: str) -> None:
    """Send what actions print to a file, where it cannot disturb the progress display."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    # A crash leaves the Python stack in the file.
    faulthandler.enable(file=2)


# --- Threads and memory -----------------------------------------------------------------------


def _limit_threads(threads: int) -> None:
    """Limit the threads of every numerical library, loaded already or later."""
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    try:
        import threadpoolctl  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        pass
    else:
        threadpoolctl.threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    if "numba" in sys.modules:
        numba: Any = sys.modules["numba"]
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def _limit_memory(limit: int | None) -> None:
    """Make allocations beyond the limit fail with MemoryError.

    RLIMIT_DATA counts what the process can write to. RLIMIT_AS would also count reserved
    addresses: torch and numba reserve a gigabyte that they never touch.
    """
    if limit is None:
        return
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


def _reset_peak_memory() -> None:
    """Reset the peak where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def peak_memory() -> int | None:
    """Highest resident memory in bytes since the reset, or since the start without a reset.

    Examples
    --------
    >>> peak_memory() > 1_000_000
    True
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return _peak_since_start()
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return _peak_since_start()


def _peak_since_start() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _resident_memory() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


# --- Where a task was when its time was nearly over ---------------------------------------------


@contextlib.contextmanager
def stack_dump_before(seconds: float | None, path: str) -> Iterator[None]:
    """Write the stack of this thread to a file shortly before ``seconds`` are over.

    A second thread writes it while it holds the interpreter's lock, so that no frame changes.
    Compiled code can keep that thread from running. Then an alarm makes the interrupted thread
    dump its own stack, whose frames do not change meanwhile. The alarm alone, or
    ``faulthandler.dump_traceback_later``, could read frames that change, which can end the
    process.
    """
    with open(path, "w", encoding="utf-8") as file:
        if seconds is None:
            yield
            return
        finished = threading.Event()
        early, late = max(0.6 * seconds, seconds - 8.0), max(0.9 * seconds, seconds - 2.0)
        args = (finished, early, threading.get_ident(), file)
        writer = threading.Thread(target=_write_stack, args=args, daemon=True)
        writer.start()
        try:
            with _stack_dump_by_alarm(late, file):
                yield
        finally:
            finished.set()
            writer.join()


def _write_stack(finished: threading.Event, seconds: float, thread: int, file: TextIO) -> None:
    if finished.wait(seconds):
        return
    frame = sys._current_frames().get(thread)
    file.write("".join(traceback.format_stack(frame, limit=_TRACEBACK_FRAMES)))
    file.flush()
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def _stack_dump_by_alarm(seconds: float, file: TextIO) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):  # not a POSIX system
        yield
        return
    faulthandler.register(signal.SIGALRM, file=file, all_threads=False)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.unregister(signal.SIGALRM)
