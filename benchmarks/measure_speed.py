"""Cost of the measures of other papers as a multiple of ``np.sort`` of the same score.

Median processor time of each measure, at the sigma threshold and at its best threshold, which
looks at every score::

    python benchmarks/measure_speed.py --points 1000000 --rounds 5
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from statistics import median

import numpy as np
from timer import Timer

import vuskit

BUFFER = 100
SHAPES = ((10, 10), (100, 100), (1000, 100))  # anomalies, points of each
WITH_BEST = (
    "f_score",
    "range_f_score",
    "composite_f_score",
    "point_adjusted_f_score",
    "event_f_score",
    "affiliation_f_score",
)


def seconds(function: Callable[[], object], rounds: int) -> float:
    """Median time of a call."""
    timer = Timer(function, clock="cpu", shortest=0.01)
    timer.warm_up()
    return median(timer.sample().seconds for _ in range(rounds))


def labels_of(n: int, anomalies: int, length: int) -> np.ndarray:
    """Anomalies at equal distances."""
    labels = np.zeros(n, dtype=np.int8)
    for start in np.linspace(0, n - length, anomalies + 2)[1:-1].astype(int):
        labels[start : start + length] = 1
    return labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    shapes = [shape for shape in SHAPES if 2 * shape[0] * shape[1] <= given.points]
    print(f"{given.points:,} points; np.sort = 1")
    print(f"{'measure':32}" + "".join(f"{f'{k} x {length}':>12}" for k, length in shapes))
    rng = np.random.default_rng(0)
    cases = []
    for shape in shapes:
        labels = labels_of(given.points, *shape)
        score = rng.exponential(size=given.points) + 2 * labels
        sort = seconds(functools.partial(np.sort, score), given.rounds)
        cases.append((labels, score, sort))
    names = [measure.name for measure in vuskit.list_measures() if measure.group == "extra"]
    rules = [(name, None) for name in names] + [(name, "best") for name in WITH_BEST]
    for name, rule in rules:
        options = {"buffer": BUFFER} if name == "pate" else {}
        options |= {} if rule is None else {"threshold": rule}
        call = functools.partial(getattr(vuskit, name), **options)
        ratios = [
            seconds(functools.partial(call, labels, score), given.rounds) / sort
            for labels, score, sort in cases
        ]
        title = name if rule is None else f"{name}, {rule}"
        print(f"{title:32}" + "".join(f"{ratio:12.2f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
