"""Where a job was when its time was nearly over."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import TextIO

__all__ = ["ALARM_MARK", "stack_written_late"]

ALARM_MARK = "Stack (most recent call first)"
"""How that begins which an alarm writes."""

_FRAMES = 20


@contextlib.contextmanager
def stack_written_late(seconds: float, path: str) -> Iterator[None]:
    """Write the stack of this thread to a file shortly before ``seconds`` are over.

    A thread beside it does that, holding the interpreter's lock, so that nothing moves while it
    looks. Compiled code that holds the lock keeps it from looking: then an alarm lets the
    interrupted thread tell of itself, whose frames stand still meanwhile. The alarm alone, or
    ``faulthandler.dump_traceback_later``, would read frames that change under it where Python
    code is running, which can end the process.
    """
    here = threading.get_ident()
    over = threading.Event()
    early, late = max(0.6 * seconds, seconds - 8.0), max(0.9 * seconds, seconds - 2.0)
    with open(path, "w", encoding="utf-8") as file:
        beside = threading.Thread(target=_look, args=(over, early, here, file), daemon=True)
        beside.start()
        try:
            with _alarm(late, file):
                yield
        finally:
            over.set()
            beside.join()


def _look(over: threading.Event, seconds: float, thread: int, file: TextIO) -> None:
    if over.wait(seconds):
        return
    frame = sys._current_frames().get(thread)
    file.write("".join(traceback.format_stack(frame, limit=_FRAMES)))
    file.flush()
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def _alarm(seconds: float, file: TextIO) -> Iterator[None]:
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
