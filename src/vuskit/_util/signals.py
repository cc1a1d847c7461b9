"""Handling of Ctrl-C, which reaches every process of a command; only the main process reacts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
