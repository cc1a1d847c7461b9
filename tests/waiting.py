"""Waiting for what other processes do, however fast or slow the machine is."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
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


@contextlib.contextmanager
def time_stands_still_until(*patterns: str | Path, executor: object = None) -> Iterator[None]:
    """Let the time limit of no running task end before a file with content exists, and then all.

    The patterns are those of files. The clock stands still where the limits are watched: here, or
    on the workers of a Dask executor, if given. Then it jumps by 500 seconds, and goes on.
    """

    # Dask sends a local function by value: workers cannot import this module.
    def set_clock(patterns: list[str], latest: float) -> None:
        import glob
        import os
        import time
        from types import SimpleNamespace

        from vuskit.engine import _worker

        def monotonic() -> float:
            files = (path for pattern in patterns for path in glob.glob(pattern))
            jumped = time.monotonic() > latest or any(map(os.path.getsize, files))
            return time.monotonic() + 500.0 if jumped else begin

        begin = time.monotonic()
        _worker.time = SimpleNamespace(monotonic=monotonic) if patterns else time

    client = getattr(executor, "_client", None)
    run = client.run if client is not None else lambda call, *args: call(*args)
    run(set_clock, list(map(str, patterns)), time.monotonic() + PATIENCE)
    try:
        yield
    finally:
        run(set_clock, [], 0.0)
