"""The comparison of a table of series with a loop runs, and both find the same values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fleet.py"


@pytest.mark.parametrize("options", [[], ["--shuffled"]], ids=["grouped", "shuffled"])
def test_fleet(options):
    pytest.importorskip("duckdb", reason="needs DuckDB")
    pytest.importorskip("narwhals", reason="needs narwhals")
    command = [sys.executable, str(SCRIPT), "--series", "5", "--points", "60", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "5 series of 60 points, duckdb"
    rows = [line.split("  ")[0].strip() for line in lines[2:]]
    assert rows == ["loop", "frame", "command", "frame / loop", "command / frame"]
