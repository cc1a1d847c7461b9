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

# The same command, which waits for the file `go` after some calls of a function: it is there for
# certain when a test presses Ctrl-C.
_HOLD = """
import importlib, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "vuskit"
module, path, left = sys.argv.pop(1).split(":")
*parents, name = path.split(".")
owner = importlib.import_module(module)
for parent in parents:
    owner = getattr(owner, parent)
function, left, place = getattr(owner, name), int(left), pathlib.Path.cwd()

def held(*arguments, **options):
    global left
    result = function(*arguments, **options)
    left -= 1
    if not left:
        (place / "held").touch()
        while not (place / "go").exists():
            time.sleep(0.01)
    return result

setattr(owner, name, held)
from vuskit.cli.main import run
run()
"""


def holding(place, calls=1):
    """Command that writes the file `held` after some calls of `place` (module:name), and waits."""
    return [sys.executable, "-c", _HOLD, f"{place}:{calls}"]


@dataclass(frozen=True)
class Shown:
    code: int
    out: str
    terminal: str


def on_terminal(folder, *arguments, press_at=None, press=None, command=COMMAND):
    """Run a command in a folder; call `press` once the terminal shows what matches `press_at`.

    It gets the process. The default presses Ctrl-C.
    """
    import pty  # not there on Windows, where `COMMAND` is wanted all the same

    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=writer,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
        text=True,
    )
    os.close(writer)
    try:
        press = press or (lambda process: process.send_signal(signal.SIGINT))
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
