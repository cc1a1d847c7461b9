"""Waiting for what other processes do, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

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
