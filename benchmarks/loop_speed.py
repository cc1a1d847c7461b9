"""Time of each call in a loop over ``evaluate``: NumPy only, and with kernels loaded on the way.

Each loop runs in a process of its own. The second one loads the compiled kernels once its calls
have taken as long as loading them; run the script twice, so that they are compiled on disk::

    python benchmarks/loop_speed.py --points 1000000 --calls 10
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from statistics import median

import numpy as np
from measure_speed import labels_of

import vuskit

ANOMALIES, LENGTH, BUFFER = 1000, 100, 100


def loop(points: int, calls: int) -> None:
    """Print the processor seconds of each call."""
    labels = labels_of(points, ANOMALIES * points // 1_000_000, LENGTH)
    rng = np.random.default_rng(0)
    for _ in range(calls):
        score = rng.exponential(size=points) + 2 * labels
        start = time.process_time()
        vuskit.evaluate(labels, score, buffer=BUFFER)
        print(time.process_time() - start, flush=True)


def measured(switch: str, given: argparse.Namespace) -> list[float]:
    """Seconds of each call of a loop in another process."""
    arguments = ["--points", str(given.points), "--calls", str(given.calls), "--loop"]
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env={**os.environ, "VUSKIT_NUMBA": switch},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(line) for line in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--loop", action="store_true", help="one loop in this process")
    given = parser.parse_args()
    if given.loop:
        loop(given.points, given.calls)
        return
    for title, switch in (("NumPy only", "0"), ("automatic", "1")):
        found = measured(switch, given)
        each = " ".join(f"{one:.2f}" for one in found)
        print(f"{title:10}  sum {sum(found):.2f} s, last three {median(found[-3:]):.3f} s: {each}")


if __name__ == "__main__":
    main()
