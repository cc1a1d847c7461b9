"""A telemetry channel that moves between commanded levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.make import Event, autoregressive, register_family, slow_wander

__all__ = ["telemetry"]

Floats = NDArray[np.float64]

# The program of levels repeats; only the time at each level varies.
_PROGRAM = (0.0, 1.0, 0.6, -1.0)
_DWELL = 60


@register_family(
    name="telemetry",
    title="telemetry channel",
    anomaly="a level that was not commanded, a drift away from the level, or chatter",
    period=_DWELL * len(_PROGRAM),
    anomaly_length=50,
)
def telemetry(
    n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
) -> Floats:
    """Step through a program of four levels with a short lag, sensor noise and thermal drift.

    Level changes are normal, so a detector that reports every step is wrong.

    .. figure:: /figures/synthetic_telemetry.png

    Examples
    --------
    >>> telemetry(1000, [(600, 650)], strength=1.0, rng=np.random.default_rng(0)).shape
    (1000,)
    """
    values = _commanded(n, rng) + 0.05 * slow_wander(n, 10 * _DWELL, rng)
    values += 0.03 * autoregressive(n, 0.5, rng)
    size = 0.06 + 0.34 * strength
    for start, stop in events:
        fault = _FAULTS[int(rng.integers(len(_FAULTS)))]
        values[start:stop] += size * rng.choice((-1.0, 1.0)) * fault(stop - start, rng)
    return values


def _commanded(n: int, rng: np.random.Generator) -> Floats:
    levels = np.empty(n)
    position, step = 0, int(rng.integers(len(_PROGRAM)))
    while position < n:
        dwell = int(_DWELL * rng.uniform(0.85, 1.15))
        levels[position : position + dwell] = _PROGRAM[step % len(_PROGRAM)]
        position, step = position + dwell, step + 1
    # The channel follows its command within a few points.
    lag = np.exp(-np.arange(12) / 3.0)
    padded = np.concatenate((np.full(lag.size - 1, levels[0]), levels))
    return np.convolve(padded, lag / lag.sum(), mode="valid")


def _wrong_level(length: int, rng: np.random.Generator) -> Floats:
    return np.ones(length)


def _drift(length: int, rng: np.random.Generator) -> Floats:
    return 1.6 * np.linspace(0, 1, length)


def _chatter(length: int, rng: np.random.Generator) -> Floats:
    half = int(rng.integers(3, 7))
    return 0.7 * np.where(np.arange(length) // half % 2 == 0, 1.0, -1.0)


_FAULTS: tuple[Callable[[int, np.random.Generator], Floats], ...] = (
    _wrong_level,
    _drift,
    _chatter,
)
