"""The inputs of the speed comparison: random scores, anomalies of a given number and length."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
ANOMALIES = (10, 100, 1000)
LENGTHS = (10, 100)
BUFFERS = (5, 100, 1000)
# Above a fifth of the points an "anomaly" is no longer one, and 1000 x 100 does not fit 1e4 at all.
LARGEST_ANOMALOUS_SHARE = 0.2


@dataclass(frozen=True, order=True)
class Series:
    """One labelled series: ``anomalies`` events of ``length`` points among ``n``."""

    n: int
    anomalies: int
    length: int

    @property
    def fits(self) -> bool:
        return self.anomalies * self.length <= LARGEST_ANOMALOUS_SHARE * self.n

    @property
    def events_text(self) -> str:
        return f"{self.anomalies}x{self.length}"

    def is_within(self, other: Series) -> bool:
        """Whether this series is at most as large as ``other`` in every direction."""
        return (
            self.n <= other.n and self.anomalies <= other.anomalies and self.length <= other.length
        )


TARGET_SERIES = (
    Series(10_000, 10, 10),
    Series(100_000, 10, 10),
    Series(1_000_000, 10, 10),
    Series(1_000_000, 1000, 100),
)
TARGET_BUFFER = 100


def size_text(n: int) -> str:
    """1000000 -> "1e6", 20000 -> "2e4", 12345 -> "12345", 64 -> "64"."""
    mantissa, exponent = f"{n:e}".split("e")
    short = f"{float(mantissa):g}e{int(exponent)}"
    return short if float(short) == n and len(short) < len(str(n)) else str(n)


def grid(sizes: tuple[int, ...] = SIZES) -> list[Series]:
    """Every combination that fits, small ones first."""
    series = [Series(n, k, length) for n in sizes for k in ANOMALIES for length in LENGTHS]
    return [one for one in series if one.fits]


def make_labels(series: Series, rng: np.random.Generator) -> np.ndarray:
    """0/1 labels (int64); events never touch, so their number is exactly ``series.anomalies``."""
    # Distinct slots among the normal points leave at least one normal point between two events.
    normal = series.n - series.anomalies * series.length
    slots = np.sort(rng.choice(normal, size=series.anomalies, replace=False))
    starts = slots + np.arange(series.anomalies) * series.length
    labels = np.zeros(series.n, dtype=np.int64)
    labels[(starts[:, None] + np.arange(series.length)).ravel()] = 1
    return labels


def make_input(series: Series, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and uniform random scores of a series, the same for the same seed."""
    rng = np.random.default_rng([seed, series.n, series.anomalies, series.length])
    return make_labels(series, rng), rng.random(series.n)


def save_input(series: Series, seed: int, folder: Path) -> Path:
    """Write the input where a worker of any environment can load it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{series.n}_{series.anomalies}_{series.length}_{seed}.npz"
    if not path.exists():
        labels, scores = make_input(series, seed)
        np.savez(path, labels=labels, scores=scores)
    return path
