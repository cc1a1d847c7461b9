"""Restore the state of a worker process after each task."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

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
