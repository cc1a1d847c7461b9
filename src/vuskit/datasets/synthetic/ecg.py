"""An ECG-like series with premature beats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.make import Event, register_family, slow_wander

__all__ = ["ecg"]

Floats = NDArray[np.float64]

_BEAT = 100
# Waves P, Q, R, S, T of a beat: center relative to the R peak and width (in beats), height.
# The R peak spans several points: its sampling must not make equal beats differ.
_NORMAL = np.array(
    [
        [-0.20, 0.035, 0.15],
        [-0.06, 0.020, -0.12],
        [0.0, 0.025, 1.0],
        [0.06, 0.022, -0.25],
        [0.28, 0.060, 0.30],
    ]
)
# A ventricular beat: no P wave, broad R and S, inverted T.
_PREMATURE = np.array(
    [
        [-0.20, 0.030, 0.0],
        [-0.07, 0.025, -0.05],
        [0.0, 0.055, 1.25],
        [0.13, 0.055, -0.55],
        [0.33, 0.070, -0.25],
    ]
)


@register_family(
    name="ecg",
    title="electrocardiogram",
    anomaly="premature ventricular beats, followed by a pause",
    period=_BEAT,
    anomaly_length=90,
)
def ecg(n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator) -> Floats:
    """Generate beats of five waves with a wandering baseline; events contain premature beats.

    A premature beat comes early, lacks the P wave and is broad. No two have the same shape. With
    decreasing strength, it resembles a normal beat. An event longer than a beat contains several of
    them.

    .. figure:: /figures/synthetic_ecg.png

    Examples
    --------
    >>> ecg(1000, [(500, 590)], strength=1.0, rng=np.random.default_rng(0)).shape
    (1000,)
    """
    share = 0.12 + 0.88 * strength
    values = 0.12 * slow_wander(n, 6 * _BEAT, rng) + 0.025 * rng.standard_normal(n)
    for time in _normal_beats(n, events, rng):
        _add_beat(values, time, _NORMAL, rng)
    for start, stop in events:
        count = max(1, round((stop - start) / _BEAT))
        step = (stop - start) / count
        for beat in range(count):
            early = 0.12 * _BEAT * strength
            time = start + (beat + 0.42) * step - early
            waves = (1 - share) * _NORMAL + share * _premature_waves(rng)
            _add_beat(values, time, waves, rng)
    return values


def _premature_waves(rng: np.random.Generator) -> Floats:
    """Vary the waves of each beat, or premature beats would be each other's nearest neighbors."""
    waves = _PREMATURE.copy()
    waves[:, 0] += 0.05 * rng.uniform(-1, 1, len(waves))
    waves[:, 1] *= np.exp(0.5 * rng.uniform(-1, 1, len(waves)))
    waves[:, 2] *= 1 + 0.6 * rng.uniform(-1, 1, len(waves))
    return waves


def _normal_beats(n: int, events: Sequence[Event], rng: np.random.Generator) -> list[float]:
    """Spread R peaks evenly between the events, so that premature beats come early."""
    times: list[float] = []
    begin = -rng.uniform(0, 1) * _BEAT
    for start, stop in [*events, (n + 2 * _BEAT, 0)]:
        end = start - 0.45 * _BEAT
        count = max(1, round((end - begin) / _BEAT))
        grid = np.linspace(begin, end, count + 1)
        times += (grid + rng.normal(0, 0.02 * _BEAT, grid.size)).tolist()
        begin = stop + 0.5 * _BEAT
    return times


def _add_beat(values: Floats, time: float, waves: Floats, rng: np.random.Generator) -> None:
    height = 1 + 0.06 * rng.standard_normal()
    stretch = _BEAT * (1 + 0.03 * rng.standard_normal())
    first, last = max(0, int(time - stretch)), min(values.size, int(time + stretch))
    if first >= last:
        return
    phase = (np.arange(first, last) - time) / stretch
    for center, width, size in waves:
        values[first:last] += height * size * np.exp(-0.5 * ((phase - center) / width) ** 2)
