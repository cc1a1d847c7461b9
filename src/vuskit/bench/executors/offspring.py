"""Processes that a job starts: they end with the worker, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["end_offspring_with_this_process"]

# The guard is nobody's child: a detector that waits for all of its children must not wait for it.
_GUARD = """
import os, signal
if os.fork():
    os._exit(0)
os.read(0, 1)
os.killpg(0, signal.SIGKILL)
"""


def end_offspring_with_this_process() -> None:
    """Let all processes that this one starts from now on die when it does.

    A worker is killed when its time is over, and the system kills it when the run is gone; nothing
    of it is left then that could end what a detector has started. So a small process beside it
    holds one end of a pipe: when the other end is closed, the worker is gone, and the guard ends
    the group. The session of its own also keeps the terminal's signals away.

    Does nothing where there are no process groups. A child that begins a session of its own is not
    reached.
    """
    if not hasattr(os, "setsid"):  # Windows
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

    def let_go() -> None:
        while ends:  # a child's own children must not close it again
            os.close(ends.pop())

    # A forked child, unlike a program that is started, would hold the pipe open.
    os.register_at_fork(after_in_child=let_go)
