"""What ``vuskit evaluate`` adds to a loop: three files of 1,500 points with three scores.

python benchmarks/bench_evaluate.py [REPEATS]        # five by default

Prints the CPU time of the command, of a Python program that reads and evaluates the same files,
and of the start of the command (``vuskit --version``), each the smallest of several
processes. The ratio is that of the command and the other two together.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

POINTS, FILES, SCORES = 1_500, 3, 3
COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
LOOP = """
import sys
import vuskit
from vuskit.datasets import read_scores
for path in sys.argv[1:]:
    scored = read_scores(path)
    table = vuskit.evaluate_many(
        scored.series.labels, scored.scores, buffer="auto", values=scored.series.values
    )
    print(table)
"""


def write_files(folder: Path) -> list[str]:
    rng = np.random.default_rng(0)
    paths = []
    for number in range(FILES):
        labels = np.zeros(POINTS, dtype=int)
        labels[400 + 10 * number : 460] = labels[1_000:1_040] = 1
        values = np.sin(np.arange(POINTS) * 2 * np.pi / 50) + 0.1 * rng.random(POINTS)
        scores = [rng.random(POINTS) + 0.3 * one * labels for one in range(SCORES)]
        table = np.column_stack([values, labels, *scores]).round(6)
        path = folder / f"series{number}.csv"
        header = ",".join(["value", "label", *(f"score{one}" for one in range(SCORES))])
        np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%g")
        paths.append(str(path))
    return paths


def cpu_seconds(line: list[str], repeats: int) -> float:
    """Smallest CPU time of several processes, with their children."""
    found = []
    for _ in range(repeats):
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, f"{line} failed"
        found.append(usage.ru_utime + usage.ru_stime)
    return min(found)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder))
        command = cpu_seconds([*COMMAND, "evaluate", *paths], repeats)
        loop = cpu_seconds([sys.executable, "-c", LOOP, *paths], repeats)
        start = cpu_seconds([*COMMAND, "--version"], repeats)
    print(f"vuskit evaluate        {command:6.2f} s of CPU")
    print(f"a loop in Python       {loop:6.2f} s of CPU")
    print(f"start of the command   {start:6.2f} s of CPU")
    print(f"ratio                  {command / (loop + start):6.2f}")


if __name__ == "__main__":
    main()
