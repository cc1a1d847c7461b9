"""What the two forecasting detectors share: scaling, stretches, errors put on the points."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors.base import Progress
from vuskit.detectors.deep.network import NeuralDetector, require_torch

__all__ = ["Forecaster"]

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Forecaster(NeuralDetector):
    """Base class: predict each point from the window before it; the error is the score.

    The series is scaled with the mean and the standard deviation of the training part. The
    first ``window`` points have no window before them and repeat the first error.
    """

    @abc.abstractmethod
    def _build(self, n_channels: int) -> Any:
        """Make the network; torch is there."""

    @abc.abstractmethod
    def _training_pairs(self, scaled: Singles) -> tuple[Singles, Singles]:
        """Cut inputs and targets, in time order."""

    @abc.abstractmethod
    def _predict(self, scaled: Singles) -> Singles:
        """Predict the points from index ``window`` on, of shape (n - window, d)."""

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_torch(self.name)
        spread = train.std(axis=0)
        self._mean, self._spread = train.mean(axis=0), np.where(spread > 0, spread, 1.0)
        inputs, targets = self._training_pairs(self._scaled(train))
        self._network = self._train_network(
            lambda: self._build(train.shape[1]), inputs, targets, progress
        )

    def _score(self, values: Floats) -> Floats:
        scaled = self._scaled(values)
        misses = scaled[self.window_ :].astype(np.float64) - self._predict(scaled)
        errors = np.sqrt((misses**2).mean(axis=1))
        return np.pad(errors, (self.window_, 0), mode="edge")

    def _scaled(self, values: Floats) -> Singles:
        scaled: Singles = ((values - self._mean) / self._spread).astype(np.float32)
        return scaled

    def _sampled(self, n_windows: int) -> NDArray[np.int64]:
        """Draw the windows to train on, in time order."""
        if self.max_train_windows is None or n_windows <= self.max_train_windows:
            return np.arange(n_windows)
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n_windows, self.max_train_windows, replace=False))
