"""Recurrent forecaster (LSTM-AD)."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import window_view
from vuskit.detectors.deep._base import Forecaster
from vuskit.detectors.parameters import at_least, none_or, parameter, positive
from vuskit.detectors.registry import register_detector

__all__ = ["LSTMAD"]

Singles: TypeAlias = NDArray[np.float32]


@register_detector("lstm_ad", title="LSTM-AD", reference="isbn:978-2-87587-015-2")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class LSTMAD(Forecaster):
    """Points that a recurrent network does not predict are anomalous.

    The network reads stretches of two windows and predicts every point of the second one, so
    each prediction rests on at least a window of context and a pass over the series costs as
    many steps as it has points, not a window's worth for each.

    Parameters
    ----------
    units : int, default=50
        Units of each recurrent layer.
    layers : int, default=2
        Number of recurrent layers.
    max_train_windows : int or None, default=256
        Most stretches to train on.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(600) / 5)
    >>> series[400:410] = 3
    >>> 390 < int(LSTMAD(window=8, train_share=0.5, epochs=10).fit_score(series).argmax()) < 430
    True
    """

    batch_size: int = parameter(32, at_least(2))
    learning_rate: float = parameter(1e-2, positive)
    max_train_windows: int | None = parameter(256, none_or(at_least(2)))
    units: int = parameter(50, at_least(1))
    layers: int = parameter(2, at_least(1))

    def _build(self, n_channels: int) -> Any:
        from vuskit.detectors.deep._torch import recurrent_forecaster

        return recurrent_forecaster(n_channels, self.window_, self.units, self.layers)

    def _training_pairs(self, scaled: Singles) -> tuple[Singles, Singles]:
        length = min(2 * self.window_, len(scaled) - 1)
        inputs = window_view(scaled[:-1], length)
        targets = window_view(scaled[self.window_ :], length - self.window_ + 1)
        rows = self._sampled(len(inputs))
        return self._stretches(inputs[rows]), self._stretches(targets[rows])

    def _predict(self, scaled: Singles) -> Singles:
        from vuskit.detectors.deep._torch import predict

        window, n_targets = self.window_, len(scaled) - self.window_
        length = min(2 * window, len(scaled) - 1)
        per_stretch = length - window + 1
        # The last stretch is moved back to end with the series.
        starts = np.minimum(np.arange(0, n_targets, per_stretch), len(scaled) - 1 - length)
        stretches = self._stretches(window_view(scaled, length)[starts])
        predicted = predict(self._network, stretches, device=self.device)
        result = np.empty((n_targets, scaled.shape[1]), dtype=np.float32)
        for start, part in zip(starts, predicted, strict=True):
            result[start : start + per_stretch] = part
        return result

    @staticmethod
    def _stretches(view: Singles) -> Singles:
        return np.ascontiguousarray(view.transpose(0, 2, 1))
