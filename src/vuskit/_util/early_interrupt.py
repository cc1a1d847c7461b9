"""Ctrl-C while the command ``vuskit`` is still being imported: exit code 130, no traceback.

Importing this module is enough; the package does so first.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import PurePath
from types import FrameType

__all__ = ["begin_early_interrupts", "end_early_interrupts"]

_EXIT_CODE = 130


def begin_early_interrupts() -> None:
    """Let Ctrl-C end the process at once, if it is the command and handles Ctrl-C as usual.

    Anywhere else, such as in a notebook, nothing happens.
    """
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)


def end_early_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again: the command can handle it now."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return False  # a worker of the command has its arguments, too
    if sys.argv[:1] == ["-m"]:
        return "vuskit" in sys.orig_argv
    return bool(sys.argv) and PurePath(sys.argv[0]).name in ("vuskit", "vuskit.exe")


def _stop(number: int, frame: FrameType | None) -> None:
    # Raising here could end up in an import that catches or reports it.
    os.write(2, b"vuskit: stopped\n")
    os._exit(_EXIT_CODE)


begin_early_interrupts()
