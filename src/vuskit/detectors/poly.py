"""Polynomial prediction of each window from what surrounds it."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import CHUNK_VALUES, center_on_points, window_view
from vuskit.detectors.base import Progress, Windowed
from vuskit.detectors.parameters import at_least, one_of, parameter
from vuskit.detectors.registry import register_detector

__all__ = ["POLY"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("poly", title="POLY", reference="doi:10.14778/1920841.1920859")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class POLY(Windowed):
    """Windows that a polynomial through their surroundings does not predict are anomalous.

    Parameters
    ----------
    power : int, default=3
        Degree of the polynomial.
    neighborhood : int, default=10
        Length of the surroundings, in windows; the window itself is left out of the fit.
    compare : {"fourier", "values"}, default="fourier"
        Distance between the magnitudes of the two spectra, or between the values.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.arange(300) / 300
    >>> series[200:210] += np.tile([1, -1], 5)
    >>> 190 < int(POLY(window=16).fit_score(series).argmax()) < 220
    True
    """

    power: int = parameter(3, at_least(0))
    neighborhood: int = parameter(10, at_least(2))
    compare: str = parameter("fourier", one_of(["fourier", "values"]))
    stochastic: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Nothing is learned: every window is predicted from its own surroundings."""

    def _score(self, values: Floats) -> Floats:
        squares = sum(self._channel_error(channel) ** 2 for channel in values.T)
        return center_on_points(np.sqrt(squares), len(values))

    def _channel_error(self, channel: Floats) -> Floats:
        window = self.window_
        # Every polynomial absorbs a constant; fitted without it, there is less to round off.
        level = channel.mean()
        coefficients, basis = self._coefficients(channel - level)
        actual = window_view(channel[:, None], window)[:, 0]
        errors = np.empty(len(actual))
        step = max(1, CHUNK_VALUES // window)
        for start in range(0, len(actual), step):
            rows = slice(start, start + step)
            errors[rows] = self._distance(actual[rows], coefficients[rows] @ basis + level)
        return errors

    def _distance(self, actual: Floats, predicted: Floats) -> Floats:
        if self.compare == "fourier":
            actual = np.abs(np.fft.rfft(actual, axis=1))
            predicted = np.abs(np.fft.rfft(predicted, axis=1))
        return np.asarray(np.linalg.norm(actual - predicted, axis=1) / self.window_)

    def _coefficients(self, channel: Floats) -> tuple[Floats, Floats]:
        """Per window the coefficients of its polynomial, and the basis at the window's points.

        Positions are relative to the window, so away from the ends all windows share one design
        and their coefficients are correlations of the series with the rows of its inverse.
        """
        window, n = self.window_, len(channel)
        length = min(self.neighborhood * window, n)
        lead = (length - window) // 2
        powers = np.arange(self.power + 1)

        def design(offset: int) -> Floats:
            return ((np.arange(length) - offset) / length)[:, None] ** powers

        def inverse(offset: int) -> Floats:
            outside = np.ones(length, dtype=bool)
            outside[offset : offset + window] = False
            rows = np.zeros((self.power + 1, length))
            rows[:, outside] = np.linalg.pinv(design(offset)[outside])
            return rows

        coefficients = np.empty((n - window + 1, self.power + 1))
        center = slice(lead, lead + n - length + 1)
        for row, weights in enumerate(inverse(lead)):
            coefficients[center, row] = np.correlate(channel, weights, mode="valid")
        for start in range(lead):
            coefficients[start] = inverse(start) @ channel[:length]
        for start in range(center.stop, n - window + 1):
            coefficients[start] = inverse(start - (n - length)) @ channel[n - length :]
        return coefficients, design(lead)[lead : lead + window].T
