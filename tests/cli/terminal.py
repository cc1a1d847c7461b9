"""Commands in a process of their own, also with a terminal for their standard error."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass

from waiting import PATIENCE

# What a shell starts in the background does not hear Ctrl-C, nor does what that starts.
COMMAND = [
    sys.executable,
    "-c",
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.argv[0] = 'vuskit'; from vuskit.cli.main import run; run()",
]


@dataclass(frozen=True)
class Shown:
    code: int
    out: str
    terminal: str


def press_ctrl_c(process):
    process.send_signal(signal.SIGINT)


def on_terminal(folder, *arguments, press_at=None, press=press_ctrl_c):
    """Run a command in a folder; press Ctrl-C once the terminal shows what matches `press_at`.

    Or do something else then: `press` is called with the process.
    """
    import pty  # not there on Windows, where `COMMAND` is wanted all the same

    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=writer,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm", "VUSKIT_NUMBA": "0"},
        text=True,
    )
    os.close(writer)
    try:
        shown = _read(reader, press_at, lambda: press(process))
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(reader)
    return Shown(process.returncode, out, shown)


def _read(reader, press_at, press):
    shown = ""
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:  # how a terminal says that nobody writes to it any more
            return shown
        if not part:
            return shown
        shown += part.decode(errors="replace")
        if press_at is not None and re.search(press_at, shown):
            press()
            press_at = None
