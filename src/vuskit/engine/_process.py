"""Code that runs inside a worker process: limits, output and state."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import faulthandler
import functools
import io
import multiprocessing
import os
import pickle
import random
import signal
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from vuskit._util.optional import require
from vuskit.engine.tasks import (
    Limits,
    Outcome,
    Status,
    failed_outcome,
    outcome_of,
    run_action,
    warm_up_action,
)

BROKEN_EXIT = 76
"""Exit code of a worker that can no longer reach its parent."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_WATCH_SECONDS = 0.2
_CHUNK_BYTES = 65_536
_PR_SET_PDEATHSIG = 1


# --- A worker process -------------------------------------------------------------------------


def send_message(connection: Connection, message: object) -> None:
    """Send a message in small parts, so that the reader never waits long for one."""
    data = memoryview(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    connection.send_bytes(len(data).to_bytes(8, "little"))
    for start in range(0, len(data), _CHUNK_BYTES):
        connection.send_bytes(data[start : start + _CHUNK_BYTES])


def _read_message(connection: Connection) -> Any:
    size = int.from_bytes(connection.recv_bytes(), "little")
    data = bytearray()
    while len(data) < size:
        data += connection.recv_bytes()
    return pickle.loads(data)


def serve(connection: Connection, limits: Limits, parent: int, output_file: str) -> None:
    """Serve requests of the parent process until it closes the connection.

    A request is a pair: the packed action to warm up for, or None, and the packed action to run.
    The process sends the stage that it begins, and what is known at that time. All processes of a
    machine share their monotonic time.
    """
    _prepare_worker(limits, parent, output_file)
    state = ProcessState(connection.fileno())
    send_message(connection, ("idle",))
    while True:
        try:
            bare, action = _read_message(connection)
        except (EOFError, OSError):
            return
        try:
            seconds = None
            if bare is not None:
                send_message(connection, ("warm-up", time.monotonic()))
                with _time_limit(limits.warm_up_seconds):
                    seconds = outcome_of(partial(_warm_up_packed, bare)).value
                state.restore()
            send_message(connection, ("run", time.monotonic(), seconds))
            with _time_limit(limits.seconds):
                outcome = _run_packed(action)
            state.restore()
            if not state.is_connected():
                os._exit(BROKEN_EXIT)
            end = ("end", state.usable, state.reserved)
            try:
                send_message(connection, (*end, outcome))
            except MemoryError as error:
                failed = failed_outcome(Status.OOM, error, "out of memory: the result is too large")
                send_message(connection, (*end, failed))
        except BaseException:
            os._exit(BROKEN_EXIT)


@contextlib.contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """End this process with a stack dump after some time, even if compiled code never returns."""
    own = os.getpid()
    if seconds is not None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
    try:
        yield
    finally:
        if os.getpid() != own:  # a forked child of the task is not the worker
            os._exit(BROKEN_EXIT)
        faulthandler.cancel_dump_traceback_later()


def _warm_up_packed(bare: bytes) -> float:
    return warm_up_action(unpack(bare))


def _run_packed(action: bytes) -> Outcome:
    loaded = outcome_of(lambda: unpack(action))
    if loaded.status is not Status.OK:
        text = f"the worker could not load the task: {loaded.message}"
        return dataclasses.replace(loaded, message=text)
    outcome = run_action(loaded.value)
    if outcome.status is not Status.OK:
        return outcome
    packed = outcome_of(lambda: PackedValue(pack(outcome.value)))
    if packed.status is not Status.OK:
        text = f"the worker could not send its result: {packed.message}"
        return dataclasses.replace(packed, message=text)
    return dataclasses.replace(outcome, value=packed.value)


def _prepare_worker(limits: Limits, parent: int, output_file: str) -> None:
    # The default action takes effect at once, even while compiled code holds the interpreter.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Otherwise `_thread.interrupt_main` could interrupt this module between two tasks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    allow_children()
    if hasattr(os, "setsid") and os.getpgrp() != os.getpid():
        os.setsid()  # the parent can kill the whole group, the terminal cannot
    _die_with_parent(parent)
    _redirect_output(output_file)
    _limit_threads(limits.threads)
    _limit_memory(limits.memory)


def allow_children() -> None:
    """Allow this process to start child processes.

    Workers are daemons, and multiprocessing forbids children of daemons because they might outlive
    their parent. The parent of our workers ends their children.
    """
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    config.pop("daemon", None)


def _die_with_parent(parent: int) -> None:
    """End this process when the thread of the parent ends that has started it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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


# -- pickling for other processes ------------------------------------------------------------------


_PURPOSE = "running tasks in other processes"


@dataclass(frozen=True)
class PackedValue:
    """A pickled result; only the process that requested it unpacks it."""

    data: bytes


def pack(value: Any, *, portable: bool = False) -> bytes:
    """Pickle a value for another process, with the modules that it cannot import.

    A ``portable`` value may be sent to another machine, which has only installed packages.
    """
    cloudpickle = require("cloudpickle", purpose=_PURPOSE)
    registered = cloudpickle.list_registry_pickle_by_value()
    by_value: list[ModuleType] = []
    try:
        while True:
            data = bytes(cloudpickle.dumps(value))
            missing = [
                module
                for module in _modules_to_send(portable)
                if module.__name__.encode() in data
                and module.__name__ not in registered
                and module not in by_value
            ]
            if not missing:
                return data
            # Code sent by value may refer to more modules, which then appear in the data.
            for module in missing:
                cloudpickle.register_pickle_by_value(module)
                by_value.append(module)
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)


def unpack(data: bytes) -> Any:
    """Undo `pack`."""
    return require("cloudpickle", purpose=_PURPOSE).loads(data)


def _modules_to_send(portable: bool) -> list[ModuleType]:
    names = tuple(sys.modules)
    packages = {name.partition(".")[0] for name in names}
    sent = {package for package in packages if _must_be_sent(package, portable)}
    found = ((name, sys.modules.get(name)) for name in names if name.partition(".")[0] in sent)
    return [
        module
        for name, module in found
        if isinstance(module, ModuleType) and module.__name__ == name  # not an alias
    ]


@functools.cache
def _must_be_sent(package: str, portable: bool) -> bool:
    """Whether a worker cannot import a top-level package."""
    if package in ("__main__", "__mp_main__", "vuskit"):
        return False  # cloudpickle sends __main__ by value anyway
    if BuiltinImporter.find_spec(package) or FrozenImporter.find_spec(package):
        return False
    spec = PathFinder.find_spec(package)
    if spec is None:
        return not _is_editable_install(package)
    return portable and not _is_installed(spec)


def _is_editable_install(package: str) -> bool:
    finders = (
        finder for finder in sys.meta_path if "__editable__" in getattr(finder, "__module__", "")
    )
    return any(finder.find_spec(package, None) for finder in finders)


def _is_installed(spec: ModuleSpec) -> bool:
    places = map(Path, [*(spec.submodule_search_locations or ()), spec.origin or ""])
    standard = sysconfig.get_path("stdlib")
    return any(
        {"site-packages", "dist-packages"} & set(place.parts) or place.is_relative_to(standard)
        for place in places
    )


_MOST_NEW_DESCRIPTORS = 64
_MOST_NEW_THREADS = 32
_THREAD_GRACE_SECONDS = 0.3
_IDLE_MODULES = {  # a thread in a function of these modules waits for work
    "asyncio.base_events",
    "concurrent.futures.process",
    "concurrent.futures.thread",
    "multiprocessing.connection",
    "multiprocessing.pool",
    "multiprocessing.queues",
    "queue",
    "selectors",
    "socketserver",
    "subprocess",
    "threading",
}


class ProcessState:
    """State that tasks of one process share; restoring it takes less than a millisecond.

    The process is `usable` for other tasks if everything could be restored. It is `reserved` for
    tasks of the same group if imported libraries changed settings, which only they expect.
    """

    def __init__(self, connection: int) -> None:
        self.usable, self.reserved = True, False
        self._connection = connection
        self._files = {number: _attempt(_file_of, number) for number in (1, 2, connection)}
        self._settings = {name: read() for name, (read, _) in _SETTINGS.items()}
        self._n_modules = len(sys.modules)
        self._n_descriptors = _count_descriptors()
        self._threads = set(sys._current_frames())

    def is_connected(self) -> bool:
        """Whether the connection is still open; a closed one may belong to another file."""
        return bool(_attempt(_file_of, self._connection) == self._files[self._connection])

    def restore(self) -> None:
        """Undo the changes since the last call, except what libraries added on import."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        imported = len(sys.modules) != self._n_modules
        random.seed()  # the seed of one task must not affect the next
        _attempt(lambda: np.random.seed())  # noqa: NPY002
        self._n_modules = len(sys.modules)
        for name, (read, write) in _SETTINGS.items():
            before, now = self._settings[name], _attempt(read)
            if now == before:
                continue
            if imported and name in _CHANGED_BY_IMPORTS:
                self._settings[name] = now
                self.reserved |= not _only_adds(before, now)
            else:
                _attempt(write, before)
                self.usable &= _attempt(read) == before
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        files = {number: _attempt(_file_of, number) for number in self._files}
        self.usable &= files == self._files and not (sys.stdout.closed or sys.stderr.closed)
        self.usable &= _count_descriptors() <= self._n_descriptors + _MOST_NEW_DESCRIPTORS
        end = time.monotonic() + _THREAD_GRACE_SECONDS
        while self._has_busy_threads() and time.monotonic() < end:
            time.sleep(0.01)
        self.usable &= not self._has_busy_threads()

    def _has_busy_threads(self) -> bool:
        new = [frame for one, frame in sys._current_frames().items() if one not in self._threads]
        return len(new) > _MOST_NEW_THREADS or not all(map(_is_idle, new))


def _is_idle(frame: FrameType) -> bool:
    # `run` calls the target of the thread, which may be compiled code without a frame.
    return frame.f_globals.get("__name__") in _IDLE_MODULES and frame.f_code.co_name != "run"


def _only_adds(before: Any, after: Any) -> bool:
    """Whether every earlier entry is still present."""
    if isinstance(before, dict):
        return all(after.get(name) == value for name, value in before.items())
    if isinstance(before, list):
        rest = iter(after)
        return all(entry in rest for entry in before)  # in the same order
    return False


def _attempt(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a function, or its error as text."""
    try:
        return function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _read_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _read_signals() -> tuple[dict[int, Any], set[Any]]:
    handlers: dict[int, Any] = {one: signal.getsignal(one) for one in signal.valid_signals()}
    if not hasattr(signal, "pthread_sigmask"):
        return handlers, set()
    return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, [])


def _write_signals(state: tuple[dict[int, Any], set[Any]]) -> None:
    for number, handler in state[0].items():
        if signal.getsignal(number) != handler:
            signal.signal(number, handler)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, state[1])


def _write_streams(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


def _write_environment(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def _write_filters(filters: list[Any]) -> None:
    warnings.resetwarnings()  # also makes modules forget which warnings they have shown
    warnings.filters[:] = filters  # type: ignore[index]


def _file_of(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _count_descriptors() -> float:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return len(os.listdir(folder))
    # Without these folders there is no count; if they cannot be read any more, none is left.
    return float("nan") if os.path.exists("/dev/fd") else 0


_SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "the working directory": (os.getcwd, os.chdir),
    "the file mode mask": (_read_mask, os.umask),
    "signal handlers": (_read_signals, _write_signals),
    "the standard streams": (lambda: (sys.stdin, sys.stdout, sys.stderr), _write_streams),
    "environment variables": (lambda: dict(os.environ), _write_environment),
    "the module search path": (lambda: list(sys.path), lambda path: sys.path.__init__(path)),  # type: ignore[misc]
    "warning filters": (lambda: list(warnings.filters), _write_filters),
    "the recursion limit": (sys.getrecursionlimit, sys.setrecursionlimit),
    "NumPy's handling of floating-point errors": (np.geterr, lambda errors: np.seterr(**errors)),
    # Libraries compiled with -ffast-math round subnormal numbers to zero.
    "the treatment of subnormal numbers": (lambda: sys.float_info.min / 2 > 0, lambda _: None),
}
_CHANGED_BY_IMPORTS = tuple(_SETTINGS)[4:]
