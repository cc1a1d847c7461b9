"""Starting, killing and comparing runs of ``vuskit bench``: shared by the bench_* scripts."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()", "bench"]


def bench(*arguments: object) -> list[str]:
    """Command line of ``vuskit bench``."""
    return [*COMMAND, *map(str, arguments)]


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(bench(*arguments), stdout=subprocess.DEVNULL)


def finish(*arguments: object) -> float:
    """Run a command to its end and return the seconds; failed jobs are no reason to stop."""
    begin = time.perf_counter()
    code = subprocess.run(bench(*arguments), stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 3):
        raise SystemExit(f"vuskit bench {arguments} ended with {code}")
    return time.perf_counter() - begin


def kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def query(folder: Path, sql: str) -> list[tuple]:
    connection = sqlite3.connect(folder / "bench.sqlite", timeout=60)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def jobs_done(folder: Path) -> int:
    try:
        return query(folder, "SELECT count(*) FROM jobs")[0][0]
    except sqlite3.OperationalError:
        return 0  # not there yet


def all_values(folder: Path) -> dict[tuple, float]:
    """Every value by series, scores, settings and measure."""
    rows = query(
        folder,
        "SELECT series_hash, scores_hash, jobs.identity, measures.identity, value "
        'FROM "values" JOIN jobs ON jobs.id = job_id JOIN measures ON measures.id = measure_id',
    )
    return {row[:4]: row[4] for row in rows}


def leftovers(folder: Path) -> list[str]:
    """Files that a finished run should not have."""
    known = {f"{row[0]}.npy" for row in query(folder, "SELECT hash FROM scores")}
    expected = {"bench.sqlite", "lock", *known}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in expected
    )
