"""Mackey-Glass series with spliced anomalies, following the MGAB benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.make import Event, register_family

__all__ = ["mackey_glass", "mackey_glass_curve"]

Floats = NDArray[np.float64]

_DELAY = 18
_STEPS = 5  # integration steps per point
_BETA, _GAMMA = 0.25, 0.1
_SHORTEST_CUT, _CUT_CHOICES = 100, 101
_WARM_UP = 1000


@register_family(
    name="mackey_glass",
    title="Mackey-Glass chaos",
    anomaly="a segment is removed where its ends match in value and three derivatives",
    period=50,
    anomaly_length=100,
)
def mackey_glass(
    n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
) -> Floats:
    """Generate a chaotic curve and remove 100 to 200 points in the middle of each event.

    With increasing difficulty, the two ends match better. At the highest difficulty, the cut is
    the best of 101 candidates, as in MGAB (Thill, Konen and Baeck, 2020). As in MGAB, uniform
    noise of +-0.01 is added.

    .. figure:: /figures/synthetic_mackey_glass.png

    Examples
    --------
    >>> values = mackey_glass(500, [(200, 300)], strength=0.5, rng=np.random.default_rng(0))
    >>> bool(values.min() > 0.2), bool(values.max() < 1.7)
    (True, True)
    """
    longest_cut = _SHORTEST_CUT + _CUT_CHOICES
    curve = mackey_glass_curve(n + longest_cut * (len(events) + 1), history=rng.uniform(0.7, 1.1))
    features = _features(curve)
    pieces, taken = [], 0
    cut = 0
    for start, stop in events:
        splice = cut + (start + stop) // 2
        pieces.append(curve[taken : splice + 1])
        cut += _cut_length(features, splice, strength)
        taken = cut + (start + stop) // 2 + 1
    pieces.append(curve[taken : cut + n])
    return np.concatenate(pieces) + rng.uniform(-0.01, 0.01, size=n)


def mackey_glass_curve(n: int, *, history: float = 0.9) -> Floats:
    """Solve the Mackey-Glass equation with delay 18, power 10, beta 0.25 and gamma 0.1.

    Within one delay, the delayed term is known and the equation is linear. The implicit
    trapezoidal rule solves it. Only ``+``, ``*`` and ``/`` are used, because chaos would amplify
    platform-dependent rounding of power and exponential functions.

    Examples
    --------
    >>> mackey_glass_curve(3).shape
    (3,)
    """
    block = _DELAY * _STEPS
    step = 1 / _STEPS
    # Crank-Nicolson for x' = forcing - gamma x.
    keep = (1 - 0.5 * step * _GAMMA) / (1 + 0.5 * step * _GAMMA)
    gain = 0.5 * step / (1 + 0.5 * step * _GAMMA)
    total = (_WARM_UP + n) * _STEPS
    past = np.full(block + 1, history)
    blocks = []
    for _ in range(-(-total // block)):
        forcing = _forcing(past)
        inputs = (gain * (forcing[:-1] + forcing[1:])).tolist()
        chain = accumulate(inputs, lambda x, u: keep * x + u, initial=float(past[-1]))
        past = np.fromiter(chain, dtype=np.float64, count=block + 1)
        blocks.append(past[1:])
    return np.concatenate(blocks)[:total][_WARM_UP * _STEPS :: _STEPS]


def _forcing(delayed: Floats) -> Floats:
    square = delayed * delayed
    fourth = square * square
    return _BETA * delayed / (1 + fourth * fourth * square)


def _features(curve: Floats) -> Floats:
    columns = [curve]
    for _ in range(3):
        columns.append(np.gradient(columns[-1]))
    return np.stack(columns, axis=1)


def _cut_length(features: Floats, splice: int, strength: float) -> int:
    candidates = splice + _SHORTEST_CUT + np.arange(_CUT_CHOICES)
    mismatch = ((features[candidates] - features[splice]) ** 2).sum(axis=1)
    order = np.argsort(mismatch, kind="stable")
    chosen = order[round(strength**2 * (_CUT_CHOICES - 1))]
    return int(candidates[chosen] - splice)
