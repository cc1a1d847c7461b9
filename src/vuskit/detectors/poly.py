"""Polynomial prediction of each window from its neighborhood."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import CHUNK_VALUES, center_on_points, window_view
from vuskit.detectors.base import Progress, Windowed
from vuskit.detectors.registry import register_detector
from vuskit.parameters import one_of, param, whole

__all__ = ["POLY"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

# The published program fits at least this many points.
_SHORTEST_NEIGHBORHOOD = 100
# Blocks that start in the first tenth of the series (at most 500 points) score 0.
_INITIAL_SHARE, _INITIAL_POINTS = 10, 500


@register_detector("poly", title="POLY", reference="Li, Ma and Mei, PAKDD 2007")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class POLY(Windowed):
    """Polynomial fit: windows that their neighborhood does not predict are anomalous.

    The score is the root mean square error of the prediction. By Parseval's theorem, it equals the
    distance between the two Fourier transforms divided by the length, as in the published
    experiments.

    Parameters
    ----------
    window : int or "period", default=20
        Length of the windows. The published experiments use 20 for every series.
    power : int, default=3
        Degree of the polynomial.
    neighborhood : int, default=10
        Length of the neighborhood in windows; at least 100 points. The fit excludes the window
        itself.
    windows : {"blocks", "sliding"}, default="blocks"
        "blocks" divides the series into blocks, as published. All points of a block share its
        score. Blocks in the first tenth of the series (at most 500 points) score 0. "sliding"
        predicts the window around each point, and also scores the first points.

    Notes
    -----
    "blocks" follows two published details that "sliding" does not. A block evaluates its
    polynomial at ``window`` equidistant positions from its first point to the first point *after*
    it. Half of the neighborhood lies before the first point of the block.

    References
    ----------
    Z. Li, H. Ma and Y. Mei, "A unifying method for outlier and change detection from data streams
    based on local polynomial fitting", PAKDD 2007, pp. 150-161.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.arange(300) / 300
    >>> series[200:210] += np.tile([1, -1], 5)
    >>> 190 < int(POLY().fit_score(series).argmax()) < 220
    True
    """

    window: int | str = param(20, whole(2, word="period"))
    power: int = param(3, whole(0))
    neighborhood: int = param(10, whole(2))
    windows: str = param("blocks", one_of("blocks", "sliding"))
    min_points: ClassVar[int] = 40
    stochastic: ClassVar[bool] = False

    def _shortest_fit(self) -> int:
        return 2 * self.window_

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Do nothing: every window is predicted from its own neighborhood."""

    def _score(self, values: Floats) -> Floats:
        errors = self._block_errors if self.windows == "blocks" else self._sliding_errors
        # The fit absorbs any constant; subtracting the mean reduces rounding errors.
        squares = sum(errors(channel - channel.mean()) ** 2 for channel in values.T)
        return np.sqrt(squares)

    def _block_errors(self, channel: Floats) -> Floats:
        window, n = self.window_, len(channel)
        first = math.ceil(min(_INITIAL_POINTS, n / _INITIAL_SHARE) / window) * window
        starts = np.arange(first, n - window + 1, window)
        lead = self._neighborhood_length(n) // 2
        scores = np.zeros(n)
        errors = self._errors(channel, starts, lead, np.linspace(0, window, window))
        scores[first : first + len(starts) * window] = np.repeat(errors, window)
        rest = n % window
        if rest and n - rest >= first:
            last = self._errors(channel, np.array([n - rest]), lead, np.arange(rest))
            scores[n - rest :] = last
        return scores

    def _sliding_errors(self, channel: Floats) -> Floats:
        window, n = self.window_, len(channel)
        lead = (self._neighborhood_length(n) - window) // 2
        errors = self._errors(channel, np.arange(n - window + 1), lead, np.arange(window))
        return center_on_points(errors, n)

    def _neighborhood_length(self, n: int) -> int:
        return min(max(self.neighborhood * self.window_, _SHORTEST_NEIGHBORHOOD), n)

    def _errors(self, channel: Floats, starts: Ints, lead: int, positions: Floats | Ints) -> Floats:
        """Return the error of each window, predicted at positions relative to its start.

        The neighborhood starts ``lead`` points before the window, and is shifted inwards near the
        ends of the series. Windows at the same offset in their neighborhood share a design matrix.
        """
        n, inside = len(channel), len(positions)
        length = self._neighborhood_length(n)
        lefts = np.clip(starts - lead, 0, n - length)
        around, actual = (window_view(channel[:, None], k)[:, 0] for k in (length, inside))
        powers = np.arange(self.power + 1)
        basis = (positions / length)[:, None] ** powers
        step = max(1, CHUNK_VALUES // length)
        errors = np.empty(len(starts))
        for offset in np.unique(starts - lefts):
            design = ((np.arange(length) - offset) / length)[:, None] ** powers
            design[offset : offset + inside] = 0.0
            inverse = np.linalg.pinv(design)
            group = np.flatnonzero(starts - lefts == offset)
            for rows in np.array_split(group, math.ceil(len(group) / step)):
                predicted = around[lefts[rows]] @ inverse.T @ basis.T
                misses = actual[starts[rows]] - predicted
                errors[rows] = np.sqrt((misses**2).mean(axis=1))
        return errors
