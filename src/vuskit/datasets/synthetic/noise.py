"""Noise generators shared by the families."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

__all__ = ["autoregressive", "slow_wander"]

Floats = NDArray[np.float64]


def slow_wander(n: int, scale: int, rng: np.random.Generator) -> Floats:
    """Smooth random curve with unit deviation, uncorrelated beyond about `scale` points.

    Examples
    --------
    >>> curve = slow_wander(1000, 50, np.random.default_rng(0))
    >>> bool(np.abs(np.diff(curve)).max() < 0.2)
    True
    """
    knots = rng.standard_normal(n // scale + 3)
    position = np.arange(n) / scale
    left = position.astype(np.intp)
    # Cosine interpolation between knots is smooth and stays between the two knots.
    weight = 0.5 - 0.5 * np.cos(np.pi * (position - left))
    return np.asarray((1 - weight) * knots[left] + weight * knots[left + 1])


def autoregressive(n: int, memory: float, rng: np.random.Generator) -> Floats:
    """AR(1) noise with unit deviation; `memory` is the correlation of neighbors.

    Examples
    --------
    >>> noise = autoregressive(20_000, 0.9, np.random.default_rng(0))
    >>> round(float(np.corrcoef(noise[1:], noise[:-1])[0, 1]), 1)
    0.9
    """
    shocks = rng.standard_normal(n)
    shocks[1:] *= np.sqrt(1 - memory**2)
    chain = accumulate(shocks.tolist(), lambda state, shock: memory * state + shock)
    return np.fromiter(chain, dtype=np.float64, count=n)
