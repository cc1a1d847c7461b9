"""Cheap detectors of a storm, which misbehave when the storm tells them to."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import storm_helper
from storm_faults import misbehave

from vuskit.detectors import Detector

SHIFT = 1
LAG = 1


def distance(values, power=1.0):
    """Distance to the median, before it is moved by a constant."""
    misbehave("distance", values)
    return storm_helper.smooth(np.abs(values - np.median(values) + 0.1 * SHIFT) ** power)


def jump(values, factor=1.0):
    """Difference to an earlier value."""
    misbehave("jump", values)
    earlier = np.concatenate([values[:LAG], values[:-LAG]])
    return np.abs(values - factor * earlier)


def spread(values, window=11):
    """Moving standard deviation."""
    misbehave("spread", values)
    parts = np.lib.stride_tricks.sliding_window_view(np.pad(values, window // 2, "edge"), window)
    return storm_helper.smooth(parts.std(axis=1))


def noise(values, seed=0, weight=0.5):
    """Distance to the mean, with noise from the seed."""
    misbehave("noise", values)
    noisy = weight * np.random.default_rng(seed).random(values.size)
    return np.abs(values - values.mean()) + noisy


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Level(Detector):
    """Distance to the mean of the training part."""

    power: float = 1.0
    stochastic = False

    def _fit(self, train, progress):
        self._mean = float(train.mean())

    def _score(self, values):
        misbehave("Level", values[:, 0])
        return storm_helper.smooth(np.abs(values[:, 0] - self._mean) ** self.power)


wide_spread = functools.partial(spread, window=31)
