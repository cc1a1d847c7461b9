"""Make the picture of the README: the overview that ``vuskit demo`` leaves.

Run with ``python docs/figures/make_readme.py [FOLDER]``; runs the demo in FOLDER, which may be that
of an earlier one, or in a folder of its own, and writes ``docs/figures/readme.png``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()", "demo", "--output"]


def main() -> None:
    with tempfile.TemporaryDirectory() as own:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else own)
        subprocess.run([*COMMAND, str(folder)], check=True)
        shutil.copyfile(folder / "overview.png", Path(__file__).with_name("readme.png"))


if __name__ == "__main__":
    main()
