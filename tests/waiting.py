"""Waiting for what other processes do, however fast or slow the machine is."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

# A busy machine is no failure: only what never happens fails, after this long.
PATIENCE = 300  # seconds


def eventually(check: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Whether a check holds, at once or later."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Gate:
    """A folder through which a test lets tasks of other processes pass.

    So a run cannot end before the test has stopped it, and goes on when the test wants it to.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)

    def admit(self, count: int) -> None:
        """Let some tasks pass, one per ticket."""
        for _ in range(count):
            (self.folder / f"ticket-{uuid.uuid4().hex}").touch()

    def open(self) -> None:
        """Let all tasks pass."""
        (self.folder / "open").touch()

    def count_waiting(self) -> int:
        """Number of processes that have waited for a ticket, and have not got one."""
        return len(list(self.folder.glob("waiting-*")))

    def pass_through(self) -> None:
        """Wait for a ticket and use it up; called by tasks."""
        waiting = self.folder / f"waiting-{os.getpid()}"
        while not (self.folder / "open").exists():
            for ticket in self.folder.glob("ticket-*"):
                with contextlib.suppress(FileNotFoundError):  # another task was faster
                    ticket.unlink()
                    waiting.unlink(missing_ok=True)
                    return
            waiting.touch()
            time.sleep(0.01)
