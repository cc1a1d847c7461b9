"""Inject anomalies into any series: point, contextual and collective."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.registry import Event

__all__ = ["INJECTIONS", "inject_collective", "inject_contextual", "inject_points"]

Floats = NDArray[np.float64]


def inject_points(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Add an offset of 0.45 to 4.2 standard deviations to the points of each event.

    Examples
    --------
    >>> clean = np.tile([-1.0, 1.0], 10)
    >>> rng = np.random.default_rng(0)
    >>> changed = inject_points(clean, [(4, 5)], strength=1.0, period=2, rng=rng)
    >>> np.flatnonzero(changed != clean).tolist(), abs(float(changed[4] - clean[4])) >= 3
    ([4], True)
    """
    values = clean.copy()
    scale = float(clean.std()) or 1.0
    for start, stop in events:
        size = scale * (0.5 + 3.0 * strength) * rng.uniform(0.9, 1.2)
        values[start:stop] += size * rng.choice((-1.0, 1.0))
    return values


def inject_contextual(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Replace each event by values of the series from another time.

    All values are normal, but not at this position. Among forty random segments, the strongest
    anomaly uses the one that differs most from the original.

    Examples
    --------
    >>> clean = np.repeat([0.0, 1.0], 50)
    >>> rng = np.random.default_rng(0)
    >>> changed = inject_contextual(clean, [(20, 30)], strength=1.0, period=4, rng=rng)
    >>> changed[18:32].tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    """
    values = clean.copy()
    for start, stop in events:
        length = stop - start
        original = clean[start:stop]
        places = rng.integers(0, clean.size - length + 1, size=40)
        windows = clean[places[:, None] + np.arange(length)]
        order = np.argsort(((windows - original) ** 2).sum(axis=1), kind="stable")
        chosen = order[round((0.3 + 0.7 * strength) * (order.size - 1))]
        values[start:stop] = _fade(original, windows[chosen])
    return values


def inject_collective(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Speed up or slow down the series within each event: normal values, wrong speed.

    Examples
    --------
    >>> clean = np.arange(20.0)
    >>> rng = np.random.default_rng(1)
    >>> changed = inject_collective(clean, [(5, 9)], strength=1.0, period=4, rng=rng)
    >>> np.flatnonzero(changed != clean).tolist()
    [6, 7, 8]
    """
    values = clean.copy()
    positions = np.arange(clean.size)
    for start, stop in events:
        pace = 1 + (0.15 + 1.1 * strength) * rng.uniform(0.9, 1.1)
        pace = pace if rng.random() < 0.5 else 1 / pace
        played = start + pace * np.arange(stop - start)
        # Past the end of the series, continue backwards.
        mirrored = np.where(played > clean.size - 1, 2 * (clean.size - 1) - played, played)
        values[start:stop] = _fade(clean[start:stop], np.interp(mirrored, positions, clean))
    return values


def _fade(original: Floats, changed: Floats) -> Floats:
    """Blend over a tenth of the event at either end, so that the seams are not detectable."""
    length = original.size
    ramp = length // 10 + 1
    from_end = np.minimum(np.arange(length), np.arange(length)[::-1]) + 1
    share = np.minimum(1.0, from_end / ramp)
    return np.asarray((1 - share) * original + share * changed)


INJECTIONS: dict[str, Callable[..., Floats]] = {
    "point": inject_points,
    "contextual": inject_contextual,
    "collective": inject_collective,
}
