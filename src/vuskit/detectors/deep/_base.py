"""Base classes of the neural detectors; torch is imported when a network is trained."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.parameters import at_least, none_or, parameter, positive, share

__all__ = ["Forecaster", "NeuralDetector", "require_torch"]

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]


def require_torch(name: str) -> Any:
    """Import torch for the detector of this name, or say what to install."""
    return require("torch", purpose=f"detector `{name}`", extra="deep")


def _device_name(name: str, value: Any) -> str:
    return str(value)


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class NeuralDetector(Windowed, ModelDetector):
    """Base class of the detectors that train a network by gradient descent.

    Training stops early when the loss on the last part of the training windows no longer
    falls, and the best network seen is kept. The seed decides everything that is random.

    Parameters
    ----------
    epochs : int
        Most passes over the training windows.
    patience : int, default=5
        Epochs without improvement before training stops.
    batch_size : int, default=128
        Windows per gradient step; fewer where an epoch would have less than eight steps.
    learning_rate : float, default=0.001
        Step size of Adam.
    validation_share : float, default=0.15
        Share of the training windows that decides when to stop.
    max_train_windows : int or None, default=20000
        More training windows than this are sampled down.
    device : str, default="cpu"
        Torch device to train and score on.
    """

    train_share: float | None = parameter(0.1, none_or(share))
    epochs: int = parameter(50, at_least(1))
    patience: int = parameter(5, at_least(1))
    batch_size: int = parameter(128, at_least(2))
    learning_rate: float = parameter(1e-3, positive)
    validation_share: float = parameter(0.15, share)
    max_train_windows: int | None = parameter(20_000, none_or(at_least(2)))
    device: str = parameter("cpu", _device_name)

    _small: ClassVar[Mapping[str, Any]] = {"window": 16, "epochs": 1}

    def _train_network(
        self, build: Any, inputs: Any, targets: Any, progress: Progress | None
    ) -> Any:
        from vuskit.detectors.deep._torch import train

        return train(
            build,
            inputs,
            targets,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            validation_share=self.validation_share,
            seed=self.seed,
            device=self.device,
            progress=progress,
        )


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
