"""How long the command line takes: its help, and ``vuskit evaluate`` on a csv file of many rows.

python benchmarks/cli_speed.py [ROWS]        # one million by default

Prints the median over five processes of the whole command, and what reading the file takes of it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from vuskit.datasets import open_inputs

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
REPEATS = 5


def write_scores(path: Path, rows: int) -> None:
    """A series with a period of 50 points, an anomaly of 100 in every 5,000, and one score."""
    import pyarrow
    from pyarrow import csv

    rng = np.random.default_rng(0)
    labels = np.zeros(rows, dtype=np.int8)
    for start in range(2_000, rows - 100, 5_000):
        labels[start : start + 100] = 1
    place = np.arange(rows)
    columns = {
        "timestamp": place.astype("datetime64[s]"),
        "value": (np.sin(place * 2 * np.pi / 50) + 0.1 * rng.random(rows)).round(6),
        "label": labels,
        "score": (0.5 * labels + rng.random(rows)).round(6),
    }
    csv.write_csv(pyarrow.table(columns), path)


def seconds(*arguments: str) -> tuple[float, float]:
    """Median of the wall time of a command in seconds, and its peak memory in MB."""
    times, peak = [], 0.0
    for _ in range(REPEATS):
        begin = time.perf_counter()
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - begin)
        assert status == 0, f"{arguments} failed"
        peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(times), peak


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for name in ("--help", "list measures"):
        spent, peak = seconds(*name.split())
        print(f"vuskit {name:<28} {spent:6.2f} s  {peak:6.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        write_scores(path, rows)
        size = path.stat().st_size / 1e6
        print(f"{rows:,} rows, {size:.0f} MB of csv")
        spent, peak = seconds("evaluate", str(path))
        print(f"vuskit evaluate, 13 measures        {spent:6.2f} s  {peak:6.0f} MB")
        spent, peak = seconds("evaluate", str(path), "--chance", "0", "--measure", "vus_pr")
        print(f"vuskit evaluate, VUS-PR, no chance  {spent:6.2f} s  {peak:6.0f} MB")
        begin = time.perf_counter()
        open_inputs(path)[0].read()
        print(f"  reading alone, in this process    {time.perf_counter() - begin:6.2f} s")


if __name__ == "__main__":
    main()
