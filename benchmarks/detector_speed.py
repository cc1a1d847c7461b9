"""Time and memory of the detectors with their defaults, each in a process of its own.

    python benchmarks/detector_speed.py --points 100000 --docs docs/detectors.md

The series is a noisy periodic signal with a few odd stretches. Wall time includes imports and
compilation; peak memory is that of the whole process. Exit status 1: a detector was over its
limit (classical: 3 minutes and 4 GB; neural: 5 minutes).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from docs_block import replace_block

from vuskit.detectors import get_detector, list_detectors

NEURAL = {"ae", "cnn", "lstm_ad"}


def signal(points: int, period: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    phase = 2 * np.pi * np.arange(points) / period
    values = np.sin(phase) + 0.5 * np.sin(3 * phase) + 0.1 * rng.normal(size=points)
    for start in rng.integers(points // 5, points - period, size=points // 5000):
        values[start : start + period // 2] = rng.normal(size=period // 2)
    return values


def measure(name: str, points: int, period: int) -> dict[str, float]:
    values = signal(points, period)
    began = time.perf_counter()
    detector = get_detector(name)
    detector.fit_score(values)
    wall = time.perf_counter() - began
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "window": getattr(detector, "window_", 0),
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "gigabytes": usage.ru_maxrss * 1024 / 1e9,
    }


def in_process(name: str, points: int, period: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--points", str(points), "--period", str(period)]
    done = subprocess.run([*command, "--measure", name], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def within_limits(name: str, result: dict[str, float]) -> bool:
    if name in NEURAL:
        return result["wall"] <= 300
    return result["wall"] <= 180 and result["gigabytes"] <= 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--period", type=int, default=100)
    parser.add_argument("--detectors", nargs="+", default=list_detectors())
    parser.add_argument("--measure", help="measure one detector here and print JSON")
    parser.add_argument("--docs", type=Path, help="page whose cost table is rewritten")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.points, options.period)))
        return 0
    heads = ["detector", "window", "seconds", "CPU seconds", "peak memory"]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---|---|"]
    good = True
    for name in options.detectors:
        result = in_process(name, options.points, options.period)
        good = good and within_limits(name, result)
        lines.append(
            f"| {name} | {result['window'] or 'none'} | {result['wall']:.1f} "
            f"| {result['cpu']:.1f} | {result['gigabytes']:.2f} GB |"
        )
        print(lines[-1], flush=True)
    if options.docs:
        replace_block(options.docs, "speed", "\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
