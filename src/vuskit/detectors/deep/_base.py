"""Base classes of the neural detectors; torch is imported when a network is trained."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors._windows import center_on_points, window_view
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.parameters import at_least, none_or, one_of, parameter, positive, share

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
    falls. The seed decides everything that is random.

    Parameters
    ----------
    epochs : int
        Most passes over the training windows.
    patience : int, default=5
        Epochs without improvement before training stops.
    batch_size : int, default=64
        Windows per gradient step.
    learning_rate : float, default=0.001
        Step size of Adam.
    validation_share : float, default=0.15
        Share of the training windows that decides when to stop.
    keep : {"last", "best"}, default="last"
        Which network to use: that of the last epoch, as published, or that with the smallest
        validation loss.
    max_train_windows : int or None, default=20000
        More training windows than this are sampled down.
    device : str, default="cpu"
        Torch device to train and score on.
    """

    train_share: float | None = parameter(0.1, none_or(share))
    epochs: int = parameter(50, at_least(1))
    patience: int = parameter(5, at_least(1))
    batch_size: int = parameter(64, at_least(2))
    learning_rate: float = parameter(1e-3, positive)
    validation_share: float = parameter(0.15, share)
    keep: str = parameter("last", one_of(["last", "best"]))
    max_train_windows: int | None = parameter(20_000, none_or(at_least(2)))
    device: str = parameter("cpu", _device_name)

    _small: ClassVar[Mapping[str, Any]] = {"window": 16, "epochs": 1}
    _shuffle: ClassVar[bool] = True

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
            shuffle=self._shuffle,
            keep=self.keep,
            seed=self.seed,
            device=self.device,
            progress=progress,
        )


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Forecaster(NeuralDetector):
    """Base class: predict each point from the window before it; the error is the score.

    Parameters
    ----------
    scale : {"window", "training"}, default="window"
        Unit of the inputs and of the errors. "window" scales each window, together with the point
        to predict, to 0..1, as published. "training" uses the mean and the standard deviation of
        the training part, so that an error counts the same everywhere.
    placement : {"predicted", "center"}, default="predicted"
        Where an error stands: on the point that was predicted, as in the published scores, or at
        the center of the window before it, half a window earlier. Points without an error repeat
        the nearest one.
    """

    scale: str = parameter("window", one_of(["window", "training"]))
    placement: str = parameter("predicted", one_of(["predicted", "center"]))

    @abc.abstractmethod
    def _build(self, n_channels: int) -> Any:
        """Make the network; torch is there."""

    @abc.abstractmethod
    def _training_pairs(self, train: Floats) -> tuple[Singles, Singles]:
        """Cut scaled inputs and targets, in time order."""

    @abc.abstractmethod
    def _predict(self, values: Floats) -> Floats:
        """Predict the points from index ``window`` on, of shape (n - window, d), unscaled."""

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_torch(self.name)
        spread = train.std(axis=0)
        self._mean, self._spread = train.mean(axis=0), np.where(spread > 0, spread, 1.0)
        inputs, targets = self._training_pairs(train)
        self._network = self._train_network(
            lambda: self._build(train.shape[1]), inputs, targets, progress
        )

    def _score(self, values: Floats) -> Floats:
        _, spread = self._units(window_view(values, self.window_ + 1))
        misses = (values[self.window_ :] - self._predict(values)) / spread
        errors = np.sqrt((misses**2).mean(axis=1))
        if self.placement == "center":
            return center_on_points(errors, len(values))
        return np.pad(errors, (self.window_, 0), mode="edge")

    def _units(self, stretches: Floats) -> tuple[Floats, Floats]:
        """Zero and unit of each stretch of shape (m, d, length): two arrays of shape (m, d)."""
        if self.scale == "training":
            shape = stretches.shape[:2]
            return np.broadcast_to(self._mean, shape), np.broadcast_to(self._spread, shape)
        low, high = stretches.min(axis=-1), stretches.max(axis=-1)
        # A flat stretch has a range of rounding errors only; dividing would blow them up.
        flat = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
        return low, np.where(flat, 1.0, high - low)

    def _scaled(self, stretches: Floats) -> Singles:
        low, spread = self._units(stretches)
        scaled: Singles = ((stretches - low[..., None]) / spread[..., None]).astype(np.float32)
        return scaled

    def _sampled(self, n_windows: int) -> NDArray[np.int64]:
        """Draw the windows to train on, in time order."""
        if self.max_train_windows is None or n_windows <= self.max_train_windows:
            return np.arange(n_windows)
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n_windows, self.max_train_windows, replace=False))
