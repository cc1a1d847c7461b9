"""Perturbations that should hardly affect a good measure: lag, noise, and the share of anomalies.

Each has two procedures: one follows the paper's text, the other follows the authors' code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets import ScoredSeries
from vuskit.inputs import check_choice
from vuskit.intervals import event_bounds
from vuskit.parameters import Specification, number
from vuskit.store.identity import scores_digest

Floats = NDArray[np.float64]

_FRACTION = number(0, 1)
LAG = Specification("score", score={"X": (0.25, _FRACTION)}, labels={"X": (0.25, _FRACTION)})
"""Procedures of the parameter `lag`; X is a fraction of the buffer."""

NOISE = Specification(
    "uniform",
    uniform={"X": (0.05, _FRACTION)},
    normal={"MEAN": (-0.1, number()), "STD": (0.1, number(0))},
)
"""Procedures of the parameter `noise`; X, MEAN and STD are fractions of the score's range."""


def generator(seed: int, *parts: str) -> np.random.Generator:
    """Return a generator that depends only on the seed and the purpose of the numbers.

    Results therefore do not depend on the order of the work or the number of processes.
    """
    digest = hashlib.sha256("\0".join([str(seed), *parts]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def generator_of(
    seed: int, scored: ScoredSeries, detector: str, purpose: str
) -> np.random.Generator:
    """Return a generator for the score of a detector on a series, independent of their names.

    It depends on the content of the series and of the detector's scores. All runs of a detector
    (with different seeds) get the same numbers, so that their mean belongs to one perturbation.
    """
    runs = sorted({scores_digest(score) for score in scored.runs(detector)})
    return generator(seed, scored.series.content_hash, *runs, purpose)


def even_lags(buffer: int, *, count: int = 10, fraction: float = 0.25) -> NDArray[np.intp]:
    """Return evenly spaced whole lags of at most ``fraction`` of the buffer to either side."""
    limit = fraction * buffer
    return np.fix(np.linspace(-limit, limit, count)).astype(np.intp)


def label_lags(buffer: int, *, fraction: float = 0.25) -> NDArray[np.intp]:
    """Return the lags of the authors' code: about twenty steps within ``fraction`` of the buffer.

    They go from the floor of ``-fraction * buffer`` up to, but excluding, the floor of
    ``fraction * buffer``. A step is a twentieth of the range, but at least one point.
    """
    low, high = _lag_limits(buffer, fraction)
    return np.arange(low, high, max(1, int(2 * fraction * buffer) // 20), dtype=np.intp)


def _lag_limits(buffer: int, fraction: float) -> tuple[int, int]:
    """Return the lowest and the highest lag, both rounded down as in the authors' code."""
    return int(np.floor(-fraction * buffer)), int(np.floor(fraction * buffer))


def random_label_lag(random: np.random.Generator, buffer: int, *, fraction: float = 0.25) -> int:
    """Return a random whole lag of at most ``fraction`` of the buffer, ends included."""
    return int(random.integers(*_lag_limits(buffer, fraction), endpoint=True))


def shift_labels(labels: NDArray[np.bool_], lag: int) -> NDArray[np.bool_]:
    """Shift labels ``lag`` points later (earlier if negative); the empty end becomes normal."""
    moved = np.zeros(labels.size, dtype=np.bool_)
    size = max(labels.size - abs(lag), 0)
    start = max(lag, 0)
    moved[start : start + size] = labels[max(-lag, 0) :][:size]
    return moved


def shift(score: Floats, lag: int, *, fill: str = "edge") -> Floats:
    """Shift a score ``lag`` points later (earlier if negative)."""
    return _FILLS[check_choice("fill", fill, _FILLS)](score, int(lag))


def _edge(score: Floats, lag: int) -> Floats:
    return score[np.clip(np.arange(score.size) - lag, 0, score.size - 1)]


def _wrap(score: Floats, lag: int) -> Floats:
    return np.roll(score, lag)


_FILLS: Mapping[str, Callable[[Floats, int], Floats]] = {"edge": _edge, "wrap": _wrap}


def add_noise(score: Floats, random: np.random.Generator, *, amplitude: float = 0.05) -> Floats:
    """Add an independent uniform random number to every point of a score.

    The numbers are at most ``amplitude`` times the range of the score in size.
    """
    limit = amplitude * float(np.ptp(score))
    return score + random.uniform(-limit, limit, score.size)


def scale_to_unit(score: Floats) -> Floats:
    """Scale a score to 0..1; a constant score becomes 0."""
    low, high = float(score.min()), float(score.max())
    if high == low:
        return np.zeros(score.size)
    scaled: Floats = (score - low) / (high - low)
    return scaled


def add_normal_noise(
    score: Floats, random: np.random.Generator, *, mean: float = -0.1, std: float = 0.1
) -> Floats:
    """Scale a score to 0..1, add a normal random number to every point, and scale it again."""
    return scale_to_unit(scale_to_unit(score) + random.normal(mean, std, score.size))


def noisy_score(noise: str, score: Floats, random: np.random.Generator) -> Floats:
    """Add noise to a score as specified by the option `noise`."""
    procedure, numbers = NOISE.parse("noise", noise)
    if procedure == "normal":
        mean, std = numbers
        return add_normal_noise(score, random, mean=mean, std=std)
    return add_noise(score, random, amplitude=numbers[0])


# ---- sections ----

_BEFORE = 200  # points before the anomaly in sections, and on either side of it in crops


@dataclass(frozen=True)
class Section:
    """The part of a series that is studied."""

    start: int
    stop: int
    anchor: int


def first_section(labels: NDArray[np.bool_], length: int) -> Section:
    """Return the section of the first ``length`` points."""
    stop = min(length, labels.size)
    return Section(0, stop, int(np.argmax(labels[:stop])) if stop else 0)


def rare_section(labels: NDArray[np.bool_], length: int) -> Section:
    """Return the section with the fewest anomalous points that starts 200 points before an anomaly.

    The section has at most ``length`` points. If it would extend beyond the end of the series, it
    is moved to the left. Ties go to the first anomaly. If the series has no anomaly, its first
    points are returned.
    """
    starts, _ = event_bounds(np.flatnonzero(labels))
    if starts.size == 0:
        return first_section(labels, length)
    counts = np.concatenate([[0], np.cumsum(labels)])
    stops = np.minimum(starts - _BEFORE + length, labels.size)
    points = counts[np.maximum(stops, 0)] - counts[np.maximum(starts - _BEFORE, 0)]
    anomaly = int(starts[np.argmin(points)])
    beyond = max(anomaly - _BEFORE + length - labels.size, 0)
    start = max(anomaly - _BEFORE - beyond, 0)
    return Section(start, min(anomaly - _BEFORE + length, labels.size), anomaly - start)


# ---- crops ----


@dataclass(frozen=True)
class Crop:
    """A stretch of a series."""

    target: float
    start: int
    stop: int

    @property
    def reached(self) -> bool:
        """Whether a stretch has about the requested share."""
        return self.stop > self.start


def growing_crops(labels: NDArray[np.bool_], anchor: int, *, count: int = 21) -> tuple[Crop, ...]:
    """Return the crops of the authors' code, which grow around the start of an anomaly.

    The first crop has 200 points on each side. Each side then grows in equal steps toward the end
    of the series. Steps are whole numbers, so the last crop may lack a few points of the series.
    """
    steps = max(count - 1, 1)
    left = max(0, anchor - _BEFORE) // steps
    right = max(0, labels.size - anchor - _BEFORE) // steps
    start, stop = max(0, anchor - _BEFORE), min(labels.size, anchor + _BEFORE)
    crops = []
    for place in range(count):
        first, last = max(0, start - place * left), min(labels.size, stop + place * right)
        crops.append(Crop(float(labels[first:last].mean()), first, last))
    return tuple(crops)


def crops_by_ratio(
    labels: NDArray[np.bool_],
    *,
    count: int = 10,
    low: float = 0.01,
    high: float = 0.2,
    tolerance: float = 0.05,
) -> tuple[Crop, ...]:
    """Return crops around one anomaly with shares of anomalous points from ``low`` to ``high``.

    A crop contains a whole anomaly, the anchor, and extends equally far to either side, up to the
    ends of the series. For each share, the longest crop within the tolerance is taken. All crops
    have the same anchor: the anomaly that reaches the most shares. Ties go to the longest, then to
    the first anomaly.
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
    """Return the largest extent around the anchor with each share; -1 where there is none."""
    extents = np.arange(max(start, labels.size - stop) + 1)
    first = np.maximum(start - extents, 0)
    last = np.minimum(stop + extents, labels.size)
    counts = np.concatenate([[0], np.cumsum(labels)])
    shares = (counts[last] - counts[first]) / (last - first)
    near = np.abs(shares - targets[:, None]) <= tolerance * targets[:, None]
    largest = extents.size - 1 - np.argmax(near[:, ::-1], axis=1)
    return np.where(near.any(axis=1), largest, -1).astype(np.intp)
