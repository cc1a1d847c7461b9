"""Baselines for comparison, which every useful method should outperform."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import center_on_points, iterate_windows
from vuskit.detectors.base import Detector, Progress, Windowed
from vuskit.detectors.registry import register_detector

__all__ = ["Constant", "MovingZScore", "Random", "Values"]

Floats: TypeAlias = NDArray[np.float64]


class _Baseline(Detector):
    """A detector without training."""

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Do nothing."""


@register_detector("random", title="Random")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Random(_Baseline):
    """Uniform noise; shows the chance level of a measure.

    Examples
    --------
    >>> Random(seed=3).fit_score([5.0, 5.0, 5.0]).shape
    (3,)
    """

    def _score(self, values: Floats) -> Floats:
        return np.random.default_rng(self.seed).random(len(values))


@register_detector("constant", title="Constant")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Constant(_Baseline):
    """The same score for every point; shows how a measure treats ties.

    Examples
    --------
    >>> Constant().fit_score([5.0, 6.0, 7.0])
    array([0., 0., 0.])
    """

    stochastic: ClassVar[bool] = False

    def _score(self, values: Floats) -> Floats:
        return np.zeros(len(values))


@register_detector("values", title="Values")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Values(_Baseline):
    """The value of the series as the score; the mean of several channels.

    Examples
    --------
    >>> Values().fit_score([5.0, 6.0, 7.0])
    array([5., 6., 7.])
    """

    stochastic: ClassVar[bool] = False

    def _score(self, values: Floats) -> Floats:
        return np.asarray(values.mean(axis=1))


@register_detector("moving_zscore", title="Moving z-score")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class MovingZScore(Windowed, _Baseline):
    """Distance from the mean of the surrounding window, in its standard deviations.

    Points near the ends use the first or the last window. Several channels are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.zeros(60)
    >>> series[30] = 1
    >>> int(MovingZScore(window=9).fit_score(series).argmax())
    30
    """

    stochastic: ClassVar[bool] = False

    def _score(self, values: Floats) -> Floats:
        n, channels = values.shape
        total = np.zeros(n)
        for channel in values.T:
            mean, spread = self._moments(channel[:, None])
            apart = np.abs(channel - center_on_points(mean, n))
            around = center_on_points(spread, n)
            flat = around <= 1e-12 * np.maximum(np.abs(channel), 1e-300)
            total += np.where(flat, 0.0, apart / np.where(flat, 1.0, around))
        return np.asarray(total / channels)

    def _moments(self, channel: Floats) -> tuple[Floats, Floats]:
        chunks = [
            (chunk.mean(axis=1), chunk.std(axis=1))
            for _, chunk in iterate_windows(channel, self.window_)
        ]
        means, spreads = zip(*chunks, strict=True)
        return np.concatenate(means), np.concatenate(spreads)
