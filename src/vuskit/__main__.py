"""Run the command ``vuskit`` with ``python -m vuskit``."""

from __future__ import annotations

from vuskit.cli.main import run

if __name__ == "__main__":
    run()
