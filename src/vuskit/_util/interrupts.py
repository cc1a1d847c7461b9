"""Ctrl-C ends the command ``vuskit`` with exit code 130, until its result is written.

Importing this module installs the handler; the package imports it first.

Python's own handler raises KeyboardInterrupt once, wherever the program is. Such an exception can
be lost: modules suppress it or stay half loaded while they are imported, and Python ignores it in
finalizers. This handler waits for the end of an import, and repeats the exception until it is
handled. Blocks of code may also delay signals, note them, or keep them from child processes.
"""

from __future__ import annotations

import _thread
import enum
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from types import FrameType
from typing import Any

_EXIT_CODE = 130
_REPEAT_SECONDS = 0.05
_IMPATIENT_SECONDS = 1.0  # a wrapper may send the same Ctrl-C twice, a person is slower
_IMPORT = "<frozen importlib"


class _Phase(enum.Enum):
    STARTING = "Ctrl-C exits immediately: there is nothing to clean up."
    RUNNING = "Ctrl-C raises KeyboardInterrupt."
    COMPLETE = "Ctrl-C is ignored: the result is written, or the command is stopping."


class _Handler:
    """Handler of SIGINT in the main thread."""

    def __init__(self) -> None:
        self.phase = _Phase.STARTING
        self.arrived: float | None = None  # time of the first Ctrl-C
        self._main = _thread.get_ident()
        self._repeated = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        repeated, self._repeated = self._repeated, False
        if self.phase is _Phase.STARTING:
            _exit()  # raising could be caught or reported by an import in progress
        now = time.monotonic()
        if self.arrived is not None and not repeated and now - self.arrived > _IMPATIENT_SECONDS:
            _exit()
        if self.phase is _Phase.COMPLETE:
            return
        if self.arrived is None:
            self.arrived = now
            # Not `threading`: the handler may have interrupted code that holds its locks.
            _thread.start_new_thread(self._repeat, ())
        if not _is_importing(frame) and not _is_handled():
            raise KeyboardInterrupt

    def _repeat(self) -> None:
        while True:
            time.sleep(_REPEAT_SECONDS)
            if self.phase is not _Phase.RUNNING:
                return
            self._repeated = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(self._main, signal.SIGINT)
            else:
                _thread.interrupt_main()


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False


def _is_handled() -> bool:
    """Whether a KeyboardInterrupt is being handled: blocks and functions clean up and end."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _exit() -> None:
    os.write(2, b"vuskit: stopped\n")
    os._exit(_EXIT_CODE)


_installed: _Handler | None = None


def install_handler() -> None:
    """Let Ctrl-C exit the process immediately.

    This applies only to the command ``vuskit`` with the default handler, not to notebooks.
    """
    global _installed
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _installed = _Handler()
        signal.signal(signal.SIGINT, _installed)
        sys.unraisablehook = _show_unraisable


def raise_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt, once the command can handle it."""
    if _installed is not None:
        _installed.phase = _Phase.RUNNING


def was_interrupted() -> bool:
    """Whether Ctrl-C arrived before the result was written."""
    return _installed is not None and _installed.arrived is not None


def begin_result() -> None:
    """Ignore Ctrl-C from now on, so that the result is written completely."""
    if _installed is not None and _installed.phase is _Phase.RUNNING:
        _installed.phase = _Phase.COMPLETE
        if was_interrupted():
            raise KeyboardInterrupt


def end_interrupts() -> None:
    """Ignore Ctrl-C until the process has ended; after Ctrl-C, another one exits immediately."""
    if _installed is None:
        return
    _installed.phase = _Phase.COMPLETE
    if not was_interrupted():
        # Python resets other handlers to the default when it ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _is_command() -> bool:
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return False  # workers have the same arguments as the command
    if sys.argv[:1] == ["-m"]:
        return "vuskit" in sys.orig_argv
    return bool(sys.argv) and PurePath(sys.argv[0]).name in ("vuskit", "vuskit.exe")


def _show_unraisable(unraisable: Any) -> None:
    """Report an exception that Python ignores, but not Ctrl-C, which is repeated."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def ignore_sigint_in_children() -> Iterator[None]:
    """Block Ctrl-C (SIGINT) in every process started within the block.

    A child that ignores the signal itself would still fail, with a traceback, if the signal arrives
    while its interpreter starts. A signal blocked here is blocked in children from the beginning,
    and in threads that a pool starts to replace its processes. This process receives a blocked
    signal when the block ends.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    from multiprocessing import resource_tracker

    # Start the tracker now, because it resets the mask when the first process starts it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C, or a signal like it, interrupted the block.

    Catching KeyboardInterrupt is not enough: code in the block may raise it without Ctrl-C, or
    suppress it after Ctrl-C.
    """
    noted: list[int] = []
    handlers = _handlers()

    def note(number: int, frame: FrameType | None) -> None:
        try:
            handlers[number](number, frame)
        except KeyboardInterrupt:
            noted.append(number)
            raise

    for number in handlers:
        signal.signal(number, note)
    try:
        yield lambda: bool(noted)
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is note:
                signal.signal(number, handler)


def _handlers() -> dict[int, Callable[[int, FrameType | None], Any]]:
    """Functions that handle Ctrl-C and similar signals; empty in other threads."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    known = [getattr(signal, name) for name in _STOPPING if hasattr(signal, name)]
    found = {number: signal.getsignal(number) for number in known}
    return {number: handler for number, handler in found.items() if callable(handler)}


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Delay the handlers of SIGINT, SIGTERM and SIGHUP until the end of the block.

    Blocking the signals is not enough: the system may deliver them to another thread, and Python
    runs the handlers in the main thread.
    """
    handlers = _handlers()
    noted: list[int] = []
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: noted.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if noted:
            signal.raise_signal(noted[0])


install_handler()
