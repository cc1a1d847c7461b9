"""How often do intervals of a single VUS cover the truth?

Each kind is a process that makes series of one length. The truth is the mean value over independent
series. Every case is one further series with its interval.

    python benchmarks/interval_coverage.py --cases 500
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from vuskit import Evaluator
from vuskit.measures.uncertainty import intervals_of

POINTS = 10_000
MEASURES = ["vus_roc", "vus_pr"]


@dataclass(frozen=True)
class Kind:
    """A process of anomalies."""

    name: str
    events: int
    shortest: int
    longest: int
    buffer: int


KINDS = (
    Kind("many short", 40, 5, 20, 50),
    Kind("few long", 10, 100, 300, 100),
    Kind("eight", 8, 50, 200, 100),
)


def series(kind: Kind, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels and smooth noise that rises at anomalies, by a random amount and with a lag."""
    lengths = rng.integers(kind.shortest, kind.longest + 1, kind.events)
    free = POINTS - lengths.sum()
    gaps = np.diff(np.sort(rng.integers(0, free + 1, kind.events)), prepend=0)
    starts = np.cumsum(gaps) + np.cumsum(lengths) - lengths
    labels = np.zeros(POINTS, dtype=int)
    score = np.convolve(rng.normal(size=POINTS + 24), np.full(25, 0.2), "valid")
    for start, length in zip(starts, lengths, strict=True):
        labels[start : start + length] = 1
        moved = max(0, start + rng.integers(-10, 11))
        score[moved : moved + length] += rng.gamma(2.0)
    return labels, score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--truths", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=500)
    given = parser.parse_args()
    for kind in KINDS:
        rng = np.random.default_rng(7)

        def one(kind=kind, rng=rng):
            labels, score = series(kind, rng)
            evaluator = Evaluator(labels, measures=MEASURES, buffer=kind.buffer)
            return evaluator, dict(evaluator(score)), score

        truth = np.mean([list(one()[1].values()) for _ in range(given.truths)], axis=0)
        covered, width = np.zeros(2), np.zeros(2)
        for _ in range(given.cases):
            found = intervals_of(*one(), resamples=given.resamples)
            low, high = np.transpose(list(found.values()))
            covered += (low <= truth) & (truth <= high)
            width += high - low
        parts = zip(MEASURES, truth, covered / given.cases, width / given.cases, strict=True)
        for name, value, share, mean in parts:
            print(
                f"{kind.name:<12}{name:<8} truth {value:.3f} covered {share:.3f} width {mean:.3f}"
            )


if __name__ == "__main__":
    main()
