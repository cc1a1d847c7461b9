"""Which modules of vuskit a command uses: those whose functions it calls, not those it imports.

python benchmarks/trace_modules.py evaluate scores/ --processes 1

Prints the modules with the number of calls, then their number. The command's own output is hidden.
Only this process counts.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter
from types import FrameType
from typing import Any


def called_modules(*arguments: str) -> Counter[str]:
    """Calls of vuskit's functions by module while a command runs; imports do not count."""
    from vuskit.cli.app import app

    calls: Counter[str] = Counter()
    imports = 0  # modules that are being imported

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal imports
        name = frame.f_code.co_name
        if name == "<module>":
            imports += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not imports and not name.startswith("<"):
            module = frame.f_globals.get("__name__") or ""
            if module.startswith("vuskit"):
                calls[module] += 1

    silent = io.StringIO()
    before = sys.argv
    sys.argv = ["vuskit", *arguments]
    try:
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            sys.setprofile(count)
            with contextlib.suppress(SystemExit):
                app()
    finally:
        sys.setprofile(None)
        sys.argv = before
    return +calls


def main() -> None:
    calls = called_modules(*sys.argv[1:])
    for name, number in sorted(calls.items()):
        print(f"{number:10,}  {name}")
    print(f"{len(calls)} modules")


if __name__ == "__main__":
    main()
