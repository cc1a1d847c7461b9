"""Changes that a good measure should hardly notice: lag, noise, another share of anomalies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.bench.identity import scores_digest
from vuskit.datasets import ScoredSeries
from vuskit.inputs import check_choice
from vuskit.intervals import event_bounds

__all__ = [
    "Crop",
    "add_noise",
    "crops_by_ratio",
    "even_lags",
    "generator",
    "generator_of",
    "shift",
]

Floats = NDArray[np.float64]


def generator(seed: int, *parts: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, not on what came before.

    So the order of the work, and how it is shared among processes, does not matter.

    Parameters
    ----------
    seed : int
        The seed.
    *parts : str
        What the numbers are for: digests of content and a purpose, but no names of data.

    Examples
    --------
    >>> one, two = generator(7, "noise"), generator(7, "noise")
    >>> bool(one.random() == two.random())
    True
    """
    digest = hashlib.sha256("\0".join([str(seed), *parts]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def generator_of(
    seed: int, scored: ScoredSeries, detector: str, purpose: str
) -> np.random.Generator:
    """Random numbers for the score of a detector on a series, whatever both are called.

    They depend on the content of the series and of the detector's scores. All runs of a detector
    (with different seeds) get the same numbers: their mean is that of one perturbation.

    Parameters
    ----------
    seed : int
        The seed.
    scored : ScoredSeries
        The series and its scores.
    detector : str
        One of its detectors.
    purpose : str
        What the numbers are for, such as ``"noise"``.

    Examples
    --------
    >>> from vuskit.datasets import Series
    >>> one = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> two = ScoredSeries(Series("b", "other", [1.0, 9.0], [0, 1]), {"yours": [0.1, 0.9]})
    >>> draws = generator_of(7, one, "mine", "noise"), generator_of(7, two, "yours", "noise")
    >>> len({random.random() for random in draws})
    1
    """
    runs = sorted({scores_digest(score) for score in scored.runs(detector)})
    return generator(seed, scored.series.content_hash, *runs, purpose)


def even_lags(buffer: int, *, count: int = 10, fraction: float = 0.25) -> NDArray[np.intp]:
    """Evenly spread whole lags within ``fraction`` of the buffer to either side.

    Examples
    --------
    >>> even_lags(100, count=5).tolist()
    [-25, -12, 0, 12, 25]
    """
    limit = fraction * buffer
    return np.fix(np.linspace(-limit, limit, count)).astype(np.intp)


def shift(score: Floats, lag: int, *, fill: str = "edge") -> Floats:
    """Score moved ``lag`` points later (earlier where negative).

    Parameters
    ----------
    score : array of shape (n,)
        The score.
    lag : int
        By how many points.
    fill : {"edge", "wrap"}, default="edge"
        What stands at the end that becomes free: its last value, or what left at the other end.

    Examples
    --------
    >>> shift(np.array([1.0, 2.0, 3.0, 4.0]), 1).tolist()
    [1.0, 1.0, 2.0, 3.0]
    >>> shift(np.array([1.0, 2.0, 3.0, 4.0]), -1, fill="wrap").tolist()
    [2.0, 3.0, 4.0, 1.0]
    """
    return _FILLS[check_choice("fill", fill, _FILLS)](score, int(lag))


def _edge(score: Floats, lag: int) -> Floats:
    return score[np.clip(np.arange(score.size) - lag, 0, score.size - 1)]


def _wrap(score: Floats, lag: int) -> Floats:
    return np.roll(score, lag)


_FILLS: Mapping[str, Callable[[Floats, int], Floats]] = {"edge": _edge, "wrap": _wrap}


def add_noise(score: Floats, random: np.random.Generator, *, amplitude: float = 0.05) -> Floats:
    """Score with an independent uniform number added to every point.

    The numbers lie within ``amplitude`` of the score's range to either side.

    Examples
    --------
    >>> noisy = add_noise(np.array([0.0, 10.0]), generator(0), amplitude=0.05)
    >>> bool(np.all(np.abs(noisy - [0, 10]) <= 0.5))
    True
    """
    limit = amplitude * float(np.ptp(score))
    return score + random.uniform(-limit, limit, score.size)


@dataclass(frozen=True)
class Crop:
    """A stretch of a series.

    Attributes
    ----------
    target : float
        Share of anomalous points that was wanted.
    start, stop : int
        The stretch, half-open; empty where no stretch has about that share.
    """

    target: float
    start: int
    stop: int

    @property
    def reached(self) -> bool:
        """Whether there is such a stretch."""
        return self.stop > self.start


def crops_by_ratio(
    labels: NDArray[np.bool_],
    *,
    count: int = 10,
    low: float = 0.01,
    high: float = 0.2,
    tolerance: float = 0.05,
) -> tuple[Crop, ...]:
    """Crops around one anomaly whose share of anomalous points runs from ``low`` to ``high``.

    A crop holds a whole anomaly, the anchor, and reaches equally far to either side of it, as far
    as the series goes. For each share the longest crop is taken that comes within ``tolerance`` of
    it (relatively). All shares have the same anchor: the anomaly that reaches the most of them, of
    those the longest, of those the first.

    Parameters
    ----------
    labels : bool array of shape (n,)
        The labels.
    count : int, default=10
        How many shares, evenly spread.
    low, high : float
        The first and the last share.
    tolerance : float, default=0.05
        Relative.

    Returns
    -------
    tuple of Crop
        One for each share, empty where it cannot be reached: a dense series has no crop with few
        anomalous points.

    Examples
    --------
    >>> labels = np.zeros(1000, dtype=bool)
    >>> labels[500:510] = True
    >>> for crop in crops_by_ratio(labels, count=3):
    ...     print(crop, round(float(labels[crop.start : crop.stop].mean()), 3))
    Crop(target=0.01, start=0, stop=1000) 0.01
    Crop(target=0.105, start=455, stop=555) 0.1
    Crop(target=0.2, start=479, stop=531) 0.192
    """
    targets = np.linspace(low, high, count)
    found = [
        (_reaches(labels, start, stop, targets, tolerance), start, stop)
        for start, stop in zip(*event_bounds(np.flatnonzero(labels)), strict=True)
    ]
    if not found:
        return tuple(Crop(float(target), 0, 0) for target in targets)
    reach, start, stop = max(
        found, key=lambda entry: (int((entry[0] >= 0).sum()), entry[2] - entry[1], -entry[1])
    )
    return tuple(
        Crop(float(target), 0, 0)
        if extent < 0
        else Crop(float(target), max(int(start - extent), 0), min(int(stop + extent), labels.size))
        for target, extent in zip(targets, reach.tolist(), strict=True)
    )


def _reaches(
    labels: NDArray[np.bool_], start: int, stop: int, targets: Floats, tolerance: float
) -> NDArray[np.intp]:
    """For each share, the largest extent around the anchor that has it; -1 where none has."""
    extents = np.arange(max(start, labels.size - stop) + 1)
    first = np.maximum(start - extents, 0)
    last = np.minimum(stop + extents, labels.size)
    counts = np.concatenate([[0], np.cumsum(labels)])
    shares = (counts[last] - counts[first]) / (last - first)
    near = np.abs(shares - targets[:, None]) <= tolerance * targets[:, None]
    largest = extents.size - 1 - np.argmax(near[:, ::-1], axis=1)
    return np.where(near.any(axis=1), largest, -1).astype(np.intp)
