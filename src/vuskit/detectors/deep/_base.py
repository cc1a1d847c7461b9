"""Base classes of the neural detectors; torch is imported only for training."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors._windows import CHUNK_VALUES, center_on_points, window_view
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.parameters import number, one_of, optional, param, whole

__all__ = ["Forecaster", "NeuralDetector", "require_torch"]

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]


def require_torch(name: str) -> Any:
    """Import torch; if it is missing, raise an error with the install command."""
    return require("torch", purpose=f"detector `{name}`", extra="deep")


def _device_name(name: str, value: Any) -> str:
    return str(value)


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class NeuralDetector(Windowed, ModelDetector):
    """Base class of detectors that train a network by gradient descent.

    Training stops early if the validation loss no longer improves. The seed determines all random
    numbers.

    Parameters
    ----------
    epochs : int
        Maximum number of epochs.
    patience : int, default=5
        Epochs without improvement before training stops.
    batch_size : int, default=64
        Windows per gradient step.
    learning_rate : float, default=0.001
        Step size of Adam.
    validation_share : float, default=0.15
        Share of the training windows, taken from the end, used for validation.
    keep : {"last", "best"}, default="last"
        Network to use: from the last epoch, as published, or with the smallest validation loss.
    max_train_windows : int or None, default=20000
        Maximum number of training windows; uses a random sample if there are more.
    device : str, default="cpu"
        Torch device for training and scoring.
    """

    train_share: float | None = param(0.1, optional(number(above=0, maximum=1)))
    epochs: int = param(50, whole(1))
    patience: int = param(5, whole(1))
    batch_size: int = param(64, whole(2))
    learning_rate: float = param(1e-3, number(above=0))
    validation_share: float = param(0.15, number(above=0, maximum=1))
    keep: str = param("last", one_of("last", "best"))
    max_train_windows: int | None = param(20_000, optional(whole(2)))
    device: str = param("cpu", _device_name)

    _warm_up_parameters: ClassVar[Mapping[str, Any]] = {"window": 16, "epochs": 1}
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
    """Base class: predicts each point from the preceding window; the error is the score.

    Parameters
    ----------
    scale : {"window", "training"}, default="window"
        Scaling of inputs and errors. "window" scales each window, together with the point to
        predict, to 0..1, as published. "training" uses the mean and the standard deviation of the
        training part, so that equal errors count equally everywhere.
    placement : {"predicted", "center"}, default="predicted"
        Point that receives an error: the predicted point, as in published scores, or the center of
        the preceding window, half a window earlier. Points without an error get the nearest error.
    """

    scale: str = param("window", one_of("window", "training"))
    placement: str = param("predicted", one_of("predicted", "center"))

    @abc.abstractmethod
    def _build(self, n_channels: int) -> Any:
        """Create the network; torch is installed."""

    @abc.abstractmethod
    def _training_pairs(self, train: Floats) -> tuple[Singles, Singles]:
        """Return scaled inputs and targets, in time order."""

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

    def _units(self, segments: Floats) -> tuple[Floats, Floats]:
        """Return offset and scale, of shape (m, d), of segments of shape (m, d, length)."""
        if self.scale == "training":
            shape = segments.shape[:2]
            return np.broadcast_to(self._mean, shape), np.broadcast_to(self._spread, shape)
        low, high = segments.min(axis=-1), segments.max(axis=-1)
        # The range of a flat segment is mere rounding error, which division would amplify.
        flat = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
        return low, np.where(flat, 1.0, high - low)

    def _scaled(self, segments: Floats) -> Singles:
        low, spread = self._units(segments)
        scaled: Singles = ((segments - low[..., None]) / spread[..., None]).astype(np.float32)
        return scaled

    def _windows_and_targets(self, train: Floats) -> tuple[Singles, Singles]:
        """Return scaled training windows of shape (m, d, window) and the points after them."""
        rows = self._sampled(len(train) - self.window_)
        scaled = self._scaled(window_view(train, self.window_ + 1)[rows])
        return np.ascontiguousarray(scaled[..., :-1]), np.ascontiguousarray(scaled[..., -1])

    def _predict_from_windows(
        self, values: Floats, predict_next: Callable[[Singles], Singles]
    ) -> Floats:
        """Predict each point from the scaled window before it, a chunk of windows at a time."""
        view = window_view(values, self.window_ + 1)
        step = max(1, CHUNK_VALUES // view[0].size)
        parts = []
        for start in range(0, len(view), step):
            chunk = view[start : start + step]
            low, spread = self._units(chunk)
            parts.append(low + spread * predict_next(self._scaled(chunk)[..., :-1]))
        return np.asarray(np.concatenate(parts), dtype=np.float64)

    def _sampled(self, n_windows: int) -> NDArray[np.int64]:
        """Return the indices of the training windows, in time order."""
        if self.max_train_windows is None or n_windows <= self.max_train_windows:
            return np.arange(n_windows)
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(n_windows, self.max_train_windows, replace=False))
