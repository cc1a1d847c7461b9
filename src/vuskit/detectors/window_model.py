"""Detectors whose model sees one window at a time."""

from __future__ import annotations

import abc
import dataclasses
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors.base import ModelDetector, Windowed
from vuskit.detectors.parameters import none_or, one_of, parameter
from vuskit.detectors.windows import NORMALIZERS, centre_on_points, iterate_windows, sample_windows

__all__ = ["WindowModel"]

Floats: TypeAlias = NDArray[np.float64]


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class WindowModel(Windowed, ModelDetector):
    """Base class: score each window as a row of numbers, place the scores at the centres.

    Parameters
    ----------
    normalize : {None, "zscore", "minmax"}, default=None
        Scaling of each window (and channel) by itself.
    """

    normalize: str | None = parameter(None, none_or(one_of(NORMALIZERS)))

    @abc.abstractmethod
    def _score_windows(self, windows: Floats) -> Floats:
        """Score windows of shape (m, d * window)."""

    def _training_windows(self, train: Floats, *, limit: int | None = None) -> Floats:
        """Windows as rows, sampled down where there are more than ``limit``."""
        rng = np.random.default_rng(self.seed)
        return sample_windows(train, self.window_, self.normalize, limit, rng)

    def _score(self, values: Floats) -> Floats:
        scores = np.empty(len(values) - self.window_ + 1)
        for rows, chunk in iterate_windows(values, self.window_, self.normalize):
            scores[rows] = self._score_windows(chunk)
        return self._place(scores, values)

    def _place(self, window_scores: Floats, values: Floats) -> Floats:
        return centre_on_points(window_scores, len(values))
