"""Handle Ctrl-C while the command ``vuskit`` is still importing: exit code 130, no traceback.

Importing this module installs the handler; the package imports it first.
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
    """Let Ctrl-C exit the process immediately.

    This applies only to the command ``vuskit`` with the default handler, not to notebooks.
    """
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)


def end_early_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, once the command can handle it."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return False  # workers have the same arguments as the command
    if sys.argv[:1] == ["-m"]:
        return "vuskit" in sys.orig_argv
    return bool(sys.argv) and PurePath(sys.argv[0]).name in ("vuskit", "vuskit.exe")


def _stop(number: int, frame: FrameType | None) -> None:
    # Do not raise, because an import in progress might catch or report the exception.
    os.write(2, b"vuskit: stopped\n")
    os._exit(_EXIT_CODE)


begin_early_interrupts()
