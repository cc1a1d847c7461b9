"""Detect changes that a task makes to the shared state of its worker process."""

from __future__ import annotations

import contextlib
import locale
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

__all__ = ["Changes", "StateMonitor"]

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
_SMALLEST_NORMAL = sys.float_info.min


@dataclass(frozen=True)
class Changes:
    """State that a task changed.

    Attributes
    ----------
    harmful : tuple of str
        Changes that could affect later tasks.
    imported : tuple of str
        Changes made while libraries were imported, probably by the libraries. Tasks that use these
        libraries expect them, others do not.
    """

    harmful: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()


class StateMonitor:
    """Compare the state of this process before and after a task; takes less than a millisecond.

    Parameters
    ----------
    descriptors : iterable of int
        File descriptors that must stay open.
    """

    def __init__(self, descriptors: Iterable[int]) -> None:
        self._descriptors = tuple(descriptors)
        self._first_count = _count_descriptors()
        self._threads = set(sys._current_frames())
        self._state, self._library_state = self._read(), _read_library_state()
        self._modules = len(sys.modules)

    def changes(self) -> Changes:
        """Return the changes since the last call."""
        state, library_state = self._read(), _read_library_state()
        harmful = [name for name, value in state.items() if value != self._state[name]]
        harmful += self._leaks()
        imported: list[str] = []
        new_modules = len(sys.modules) != self._modules
        for name, value in library_state.items():
            before = self._library_state[name]
            if value == before:
                continue
            if not new_modules:
                harmful.append(name)
            elif not _only_adds(before, value):
                imported.append(name)
        self._state, self._library_state = state, library_state
        self._modules = len(sys.modules)
        return Changes(tuple(harmful), tuple(imported))

    def _read(self) -> dict[str, Any]:
        return {
            "the working directory": _attempt(os.getcwd),
            "the file mode mask": _attempt(_file_mode_mask),
            "signal handlers": _attempt(_signal_handlers),
            "timers": _attempt(_timers),
            "resource limits": _attempt(_resource_limits),
            "the standard streams": _attempt(_standard_streams),
            "open files of the worker": [_attempt(_file_of, one) for one in self._descriptors],
        }

    def _leaks(self) -> list[str]:
        leaks = []
        count, most = _count_descriptors(), _most_descriptors()
        if count is None:
            if self._first_count is not None:
                leaks.append("the number of open files")  # no file can be opened any more
        elif self._first_count is not None and (
            count > self._first_count + _MOST_NEW_DESCRIPTORS or (most and 2 * count > most)
        ):
            leaks.append("the number of open files")
        if self._busy_threads():
            end = time.monotonic() + _THREAD_GRACE_SECONDS
            while self._busy_threads() and time.monotonic() < end:
                time.sleep(0.01)
        if (
            self._busy_threads()
            or len(sys._current_frames()) > len(self._threads) + _MOST_NEW_THREADS
        ):
            leaks.append("the running threads")
        return leaks

    def _busy_threads(self) -> list[int]:
        """Threads started by tasks that are still busy."""
        return [
            thread
            for thread, frame in sys._current_frames().items()
            if thread not in self._threads
            and thread != threading.get_ident()
            and not _is_idle(frame)
        ]


def _read_library_state() -> dict[str, Any]:
    """State that libraries may change on import."""
    numpy: Any = sys.modules.get("numpy")
    return {
        "environment variables": dict(os.environ),
        "the module search path": list(sys.path),
        "warning filters": list(warnings.filters),
        "the recursion limit": sys.getrecursionlimit(),
        "the locale": _attempt(locale.setlocale, locale.LC_ALL),
        "NumPy's handling of floating-point errors": _attempt(numpy.geterr) if numpy else {},
        # Libraries compiled with -ffast-math round subnormal numbers to zero.
        "the treatment of subnormal numbers": [_SMALLEST_NORMAL / 2 > 0],
    }


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


def _file_mode_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _signal_handlers() -> list[Any]:
    handlers: list[Any] = [_attempt(signal.getsignal, one) for one in signal.valid_signals()]
    if hasattr(signal, "pthread_sigmask"):
        handlers.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    return handlers


def _timers() -> list[Any]:
    if not hasattr(signal, "getitimer"):
        return []
    timers = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
    return [signal.getitimer(timer) != (0.0, 0.0) for timer in timers]


def _resource_limits() -> dict[str, Any]:
    try:
        import resource
    except ImportError:
        return {}
    names = (name for name in dir(resource) if name.startswith("RLIMIT_"))
    return {name: _attempt(resource.getrlimit, getattr(resource, name)) for name in names}


def _standard_streams() -> list[Any]:
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return [(id(stream), getattr(stream, "closed", None)) for stream in streams]


def _file_of(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _count_descriptors() -> int | None:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return len(os.listdir(folder))
    return None


def _most_descriptors() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
