"""Ctrl-C in a terminal reaches all its processes; only the first one is to answer."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deaf_children"]


@contextmanager
def deaf_children() -> Iterator[None]:
    """Start processes that never hear Ctrl-C.

    A process that ignores the signal once its program runs still dies of it, with a traceback,
    while the interpreter starts and modules are imported. What is blocked here is blocked in a
    child from its first moment on, and in the threads that a pool starts to replace its processes.
    A signal that comes in the meantime is heard afterwards.

    Examples
    --------
    >>> import signal, subprocess, sys
    >>> with deaf_children():
    ...     child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    >>> child.send_signal(signal.SIGINT)
    >>> _ = child.communicate(b"the end")
    >>> child.returncode
    0
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no such masks
        yield
        return
    from multiprocessing import resource_tracker

    # Started by the first process that is spawned, it would take the mask away.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
