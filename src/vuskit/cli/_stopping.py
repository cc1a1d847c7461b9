"""Stopping long commands: Ctrl-C and similar signals end them; a message says how to resume."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import typer

from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._output import say

__all__ = ["resumable"]

# Sent by kill, and when the terminal or its connection closes.
_STOP_SIGNALS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def resumable(folder: Path, command: Sequence[str] | None = None) -> Iterator[None]:
    """On Ctrl-C and similar signals, print where finished work is and how to resume."""
    try:
        with _stop_signals():
            yield
    except KeyboardInterrupt:
        again = shlex.join(["vuskit", *sys.argv[1:]] if command is None else command)
        with contextlib.suppress(OSError):  # the terminal may be closed
            say(f"Stopped. Finished work is in {folder}. Resume with: {again}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


@contextlib.contextmanager
def _stop_signals() -> Iterator[None]:
    """Treat other signals that end a program like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, other signals are not
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    known = [signal.Signals[name] for name in _STOP_SIGNALS if hasattr(signal, name)]
    # Ignored signals stay ignored: under nohup, the run must outlive its terminal.
    handled = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
