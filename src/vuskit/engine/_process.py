"""Code that runs inside a worker process: limits, output, and running one action."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import errno
import faulthandler
import io
import multiprocessing
import os
import pickle
import platform
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

from vuskit._util.signals import noted_interrupts
from vuskit.engine._pickling import PackedValue, pack, unpack
from vuskit.engine._process_state import Changes, StateMonitor
from vuskit.engine.tasks import Action, Limits, NotApplicableError, Outcome, Status

__all__ = [
    "ALARM_MARK",
    "BROKEN_EXIT",
    "OVER_MEMORY_EXIT",
    "Begun",
    "Reply",
    "RunRequest",
    "WarmUpRequest",
    "allow_children",
    "outcome_of",
    "read_message",
    "run_action",
    "send_message",
    "serve",
    "stack_dump_before",
    "warm_up_action",
]

OVER_MEMORY_EXIT = 75
"""Exit code of a worker that stopped itself because it used too much memory."""

BROKEN_EXIT = 76
"""Exit code of a worker that can no longer reach its parent."""

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
_CHUNK_BYTES = 65_536
_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.EBADF, errno.EAGAIN, errno.ENOMEM}
_RESET_PEAK = "5"  # the value for clear_refs that resets the peak
_PR_SET_PDEATHSIG = 1


# --- Running one action -----------------------------------------------------------------------


def run_action(action: Action) -> Outcome:
    """Run an action in this process, without limits; errors become part of the outcome.

    This includes SystemExit and KeyboardInterrupt if the action raises them. Ctrl-C still raises
    KeyboardInterrupt.

    Parameters
    ----------
    action : Action
        What to do.

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
    return _measured(action.run)


def warm_up_action(action: Action) -> None:
    """Warm up for an action. Errors are ignored: they occur again when it runs."""
    with noted_interrupts() as interrupted, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(BaseException):  # SystemExit too
            action.warm_up()
        if interrupted():
            raise KeyboardInterrupt


def _measured(function: Callable[[], Any]) -> Outcome:
    _reset_peak_memory()
    begin = time.perf_counter()
    outcome = outcome_of(function)
    return dataclasses.replace(
        outcome,
        seconds=time.perf_counter() - begin,
        peak_bytes=peak_memory(),
        worker=f"{platform.node()}:{os.getpid()}",
    )


def outcome_of(function: Callable[[], Any]) -> Outcome:
    """Call a function; every error except Ctrl-C becomes part of the outcome."""
    with noted_interrupts() as interrupted:
        outcome = _caught_outcome_of(function)
        if interrupted():
            raise KeyboardInterrupt
    return outcome


def _caught_outcome_of(function: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(Status.OK, function())
    except NotApplicableError as reason:
        return Outcome(Status.SKIPPED, message=_text_of(reason))
    except MemoryError as error:
        # Free the memory that the frames hold, because reporting needs some.
        traceback.clear_frames(error.__traceback__)
        text = ": ".join(filter(None, ("out of memory", _text_of(error))))
        return _failed(Status.OOM, error, text)
    except BaseException as error:
        # SystemExit too: code that calls exit() must not end the process.
        return _failed(Status.ERROR, error, f"{type(error).__name__}: {_text_of(error)}")


def _failed(status: Status, error: BaseException, message: str) -> Outcome:
    try:
        stack = traceback.format_exc(limit=-_TRACEBACK_FRAMES)
    except BaseException:  # formatting runs code of the error, which may fail
        stack = None
    return Outcome(status, message=message, traceback=stack, error_type=type(error).__name__)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # `__str__` of the error may fail
        return "(its text could not be read)"


# --- Messages between a worker process and its parent ------------------------------------------


@dataclass(frozen=True)
class WarmUpRequest:
    """Warm up for a pickled action."""

    action: bytes


@dataclass(frozen=True)
class RunRequest:
    """Run a pickled action."""

    action: bytes
    seconds: float | None
    stack_file: str


@dataclass(frozen=True)
class Begun:
    """The process is ready, or starts on a request."""


@dataclass(frozen=True)
class Reply:
    """How a request ended.

    Attributes
    ----------
    outcome : Outcome
        The outcome; its value is packed.
    changes : Changes
        Changed state of the process.
    suspicious : bool
        Whether the state of the process, rather than the task, may have caused a failure.
    """

    outcome: Outcome
    changes: Changes = field(default_factory=Changes)
    suspicious: bool = False


def send_message(connection: Connection, message: object) -> None:
    """Send a message in small parts, so that the reader can check on the sender in between."""
    data = memoryview(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    connection.send_bytes(len(data).to_bytes(8, "little"))
    for start in range(0, len(data), _CHUNK_BYTES):
        connection.send_bytes(data[start : start + _CHUNK_BYTES])


def read_message(read_part: Callable[[], bytes]) -> Any:
    """Read a message with a function that returns its next part."""
    size = int.from_bytes(read_part(), "little")
    data = bytearray()
    while len(data) < size:
        data += read_part()
    return pickle.loads(data)


# --- A worker process ---------------------------------------------------------------------------


def serve(connection: Connection, limits: Limits, parent: int, output_file: str) -> None:
    """Serve requests of the parent process until it closes the connection."""
    held = _prepare_worker(connection, limits, parent, output_file)
    own = [1, 2, connection.fileno(), *held]
    place = os.fstat(connection.fileno())
    monitor = StateMonitor(own)
    send_message(connection, Begun())
    while True:
        try:
            request = read_message(connection.recv_bytes)
        except (EOFError, OSError):
            return
        try:
            send_message(connection, Begun())
            reply = _reply(request, monitor)
            # If the task closed the connection, its descriptor may now belong to another file.
            if not os.path.samestat(os.fstat(connection.fileno()), place):
                os._exit(BROKEN_EXIT)
            try:
                send_message(connection, reply)
            except MemoryError as error:
                failed = _failed(Status.OOM, error, "out of memory: the result is too large")
                send_message(connection, dataclasses.replace(reply, outcome=failed))
        except BaseException:
            os._exit(BROKEN_EXIT)


def _reply(request: Any, monitor: StateMonitor) -> Reply:
    try:
        if isinstance(request, WarmUpRequest):
            reply = Reply(_measured(lambda: warm_up_action(unpack(request.action))))
        else:
            reply = _run_packed_action(request)
    except BaseException as error:
        text = f"the worker failed: {type(error).__name__}: {_text_of(error)}"
        reply = Reply(_failed(Status.ERROR, error, text), suspicious=True)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    _forget_seeds()
    return dataclasses.replace(reply, changes=monitor.changes())


def _run_packed_action(request: RunRequest) -> Reply:
    with stack_dump_before(request.seconds, request.stack_file):
        loaded = _measured(lambda: unpack(request.action))
        if loaded.status is not Status.OK:
            text = f"the worker could not load the task: {loaded.message}"
            return Reply(dataclasses.replace(loaded, message=text), suspicious=True)
        shortages: list[bool] = []

        def run() -> Any:
            try:
                return loaded.value.run()
            except OSError as error:
                shortages.append(error.errno in _SHORTAGES)
                raise

        outcome = _measured(run)
        if outcome.status is not Status.OK:
            return Reply(outcome, suspicious=any(shortages))
        packed = _measured(lambda: PackedValue(pack(outcome.value)))
        if packed.status is not Status.OK:
            text = f"the worker could not send its result: {packed.message}"
            return Reply(dataclasses.replace(packed, message=text), suspicious=True)
        return Reply(dataclasses.replace(outcome, value=packed.value))


def _forget_seeds() -> None:
    """Reseed the global generators, so that the seed of one task does not affect the next."""
    random.seed()
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        with contextlib.suppress(Exception):
            numpy.random.seed()


def _prepare_worker(
    connection: Connection, limits: Limits, parent: int, output_file: str
) -> list[int]:
    """Set up a new worker process; return descriptors that must stay open."""
    # The default action takes effect at once, even while compiled code holds the interpreter.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Otherwise `_thread.interrupt_main` could interrupt this module between two tasks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    allow_children()
    held = _start_process_guard(connection)
    _die_with_parent()
    threading.Thread(target=_watch, args=(parent, limits.memory), daemon=True).start()
    _redirect_output(output_file)
    _limit_threads(limits.threads)
    _limit_memory(limits.memory)
    return held


def allow_children() -> None:
    """Allow this process to start child processes.

    Workers are daemons, and multiprocessing forbids children of daemons because they might outlive
    their parent. Children of our workers cannot: they end with their parent.
    """
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    config.pop("daemon", None)


# The guard detaches itself, so that an action that waits for all children does not wait for it.
_GUARD = """
import os, signal, time
if os.fork():
    os._exit(0)
worker = os.getpgrp()
def alive():
    try:
        os.kill(worker, 0)
        with open(f"/proc/{worker}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except ProcessLookupError:
        return False
    except OSError:
        return os.path.exists("/proc/self/stat") is False
os.read(0, 1)
while alive():  # an action has closed the pipe
    time.sleep(0.05)
os.killpg(0, signal.SIGKILL)
"""


def _start_process_guard(connection: Connection) -> list[int]:
    """Ensure that all processes started from now on end with this one.

    A worker is killed at its time limit, or by the system when the main process ends. It then
    cannot end processes that an action started. So a small guard process holds one end of a pipe:
    when the other end closes, the worker has ended, and the guard kills the process group. The new
    session also protects from signals of the terminal.

    Forked children close the pipe and the connection, which belong to the worker.

    Does nothing without process groups (Windows). Children that start a new session are not
    killed.
    """
    if not hasattr(os, "setsid"):
        return []
    if os.getpgrp() != os.getpid():  # a group leader cannot call setsid and needs no new group
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
        while ends:  # only once, not again in children of the child
            os.close(ends.pop())
            connection.close()

    # Unlike a new program, a forked child would keep both open.
    os.register_at_fork(after_in_child=close_ends)
    return [held]


def _die_with_parent() -> None:
    """Ask the system to kill this process when its parent ends, even in compiled code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(parent: int, memory: int | None) -> None:
    """End this process when its parent has ended or it uses too much memory.

    A second safeguard, for systems where `_die_with_parent` or `_limit_memory` has no effect, and
    for memory that RLIMIT_DATA does not count, such as shared mappings.
    """
    while True:
        if os.getppid() != parent:
            os._exit(1)
        if memory is not None and _resident_memory() > memory:
            os._exit(OVER_MEMORY_EXIT)
        time.sleep(_WATCH_SECONDS)


def _redirect_output(path: str) -> None:
    """Redirect the output of actions to a file, away from the progress display."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    # After a crash, the file contains the Python stack.
    faulthandler.enable(file=2)


# --- Threads and memory -----------------------------------------------------------------------


def _limit_threads(threads: int) -> None:
    """Limit the threads of numerical libraries, whether loaded already or later."""
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

    RLIMIT_DATA counts writable memory. RLIMIT_AS would also count reserved addresses: torch and
    numba reserve a gigabyte that they never use.
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
    """Reset the peak memory if the system supports it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def peak_memory() -> int | None:
    """Peak resident memory in bytes since the last reset, or since the start without a reset.

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


# --- Stack dump before the time limit -----------------------------------------------------------


@contextlib.contextmanager
def stack_dump_before(seconds: float | None, path: str) -> Iterator[None]:
    """Write the stack of this thread to a file shortly before the time limit ``seconds``.

    A second thread writes the stack while it holds the interpreter's lock, so that no frame
    changes. Compiled code can block that thread. Then an alarm makes the interrupted thread dump
    its own stack, whose frames do not change meanwhile. The alarm alone, or
    ``faulthandler.dump_traceback_later``, could read changing frames and crash the process.
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
