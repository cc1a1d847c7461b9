"""Vibration of a rotating machine with a bearing fault."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.make import Event, autoregressive, register_family, slow_wander

__all__ = ["vibration"]

_TURN = 60


@register_family(
    name="vibration",
    title="vibration of a rotating machine",
    anomaly="a bearing fault: a train of short ringing impacts",
    period=_TURN,
    anomaly_length=120,
)
def vibration(
    n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sum harmonics of a shaft with varying speed and load; events contain ringing impacts.

    .. figure:: /figures/synthetic_vibration.png

    Examples
    --------
    >>> vibration(1000, [(600, 720)], strength=1.0, rng=np.random.default_rng(0)).shape
    (1000,)
    """
    speed = (1 + 0.03 * slow_wander(n, 10 * _TURN, rng)) / _TURN
    turn = 2 * np.pi * (np.cumsum(speed) + rng.uniform())
    load = 1 + 0.15 * slow_wander(n, 8 * _TURN, rng)
    offsets = rng.uniform(0, 2 * np.pi, size=4)
    harmonics = zip((1, 2, 3, 7), (1.0, 0.45, 0.3, 0.12), offsets, strict=True)
    values = load * np.sum([size * np.sin(k * turn + off) for k, size, off in harmonics], axis=0)
    values += 0.18 * autoregressive(n, 0.3, rng)
    for start, stop in events:
        spacing = _TURN / 3.6  # not a fraction 1/k of a turn, as in real bearings
        first = rng.uniform(0, 0.3) * spacing
        for impact in np.arange(start + first, stop, spacing):
            time = np.arange(int(np.ceil(impact)), stop) - impact
            ringing = np.exp(-time / 6.0) * np.sin(2 * np.pi * time / 5.3)
            size = (0.25 + 1.6 * strength) * rng.uniform(0.7, 1.2)
            values[stop - time.size : stop] += size * ringing
    return np.asarray(values)
