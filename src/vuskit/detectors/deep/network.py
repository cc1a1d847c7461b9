"""What the neural detectors share: parameters, device, and the training loop's call."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from vuskit.datasets.optional import require
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.parameters import at_least, none_or, parameter, positive, share

__all__ = ["NeuralDetector", "require_torch"]


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
        from vuskit.detectors.deep.training import train

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
