"""Convolutional forecaster (DeepAnT)."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors.deep._base import Forecaster
from vuskit.detectors.registry import register_detector
from vuskit.parameters import number, param, whole

__all__ = ["CNN"]

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]


@register_detector("cnn", title="CNN", reference="doi:10.1109/ACCESS.2018.2886457")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class CNN(Forecaster):
    """DeepAnT: points that a convolutional network does not predict are anomalous.

    Parameters
    ----------
    dropout : float, default=0.2
        Dropout rate of the dense layer.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(600) / 5)
    >>> series[400:410] = 3
    >>> 390 < int(CNN(window=8, train_share=0.5, epochs=10).fit_score(series).argmax()) < 430
    True
    """

    epochs: int = param(100, whole(1))
    dropout: float = param(0.2, number(0, 1))

    def _build(self, n_channels: int) -> Any:
        from vuskit.detectors.deep._torch import convolutional_forecaster

        return convolutional_forecaster(n_channels, self.window_, self.dropout)

    def _training_pairs(self, train: Floats) -> tuple[Singles, Singles]:
        return self._windows_and_targets(train)

    def _predict(self, values: Floats) -> Floats:
        from vuskit.detectors.deep._torch import predict

        return self._predict_from_windows(
            values, lambda windows: predict(self._network, windows, device=self.device)
        )
