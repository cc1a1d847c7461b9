"""Recurrent forecaster (LSTM-AD)."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import window_view
from vuskit.detectors.deep._base import Forecaster
from vuskit.detectors.registry import register_detector
from vuskit.parameters import one_of, param, whole

__all__ = ["LSTMAD"]

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]


@register_detector("lstm_ad", title="LSTM-AD", reference="Malhotra et al., ESANN 2015")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class LSTMAD(Forecaster):
    """LSTM-AD: points that a recurrent network does not predict are anomalous.

    Parameters
    ----------
    units : int, default=50
        Units of each recurrent layer.
    layers : int, default=2
        Number of recurrent layers.
    context : {"window", "segment"}, default="window"
        What the network reads before a prediction. "window" predicts each point from the window
        before it, as published. "segment" reads two windows at once and predicts every point of the
        second. It is several times cheaper and scales inputs by the training part. Train it with
        ``batch_size=32, learning_rate=0.01, max_train_windows=256``.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(600) / 5)
    >>> series[400:410] = 3
    >>> 390 < int(LSTMAD(window=8, train_share=0.5, epochs=10).fit_score(series).argmax()) < 430
    True
    """

    units: int = param(50, whole(1))
    layers: int = param(2, whole(1))
    context: str = param("window", one_of("window", "segment"))

    def _build(self, n_channels: int) -> Any:
        from vuskit.detectors.deep._torch import recurrent_forecaster

        return recurrent_forecaster(n_channels, self.window_, self.units, self.layers)

    def _training_pairs(self, train: Floats) -> tuple[Singles, Singles]:
        if self.context == "window":
            windows, targets = self._windows_and_targets(train)
            return self._time_first(windows), targets[:, None]
        scaled = self._standardized(train)
        length = self._segment_length(len(train))
        inputs = window_view(scaled[:-1], length)
        targets = window_view(scaled[self.window_ :], length - self.window_ + 1)
        rows = self._sampled(len(inputs))
        return self._time_first(inputs[rows]), self._time_first(targets[rows])

    def _predict(self, values: Floats) -> Floats:
        from vuskit.detectors.deep._torch import predict

        if self.context == "segment":
            return self._predict_segments(values)
        return self._predict_from_windows(
            values,
            lambda windows: predict(self._network, windows.transpose(0, 2, 1), device=self.device)[
                :, -1
            ],
        )

    def _predict_segments(self, values: Floats) -> Floats:
        from vuskit.detectors.deep._torch import predict

        window, n_targets = self.window_, len(values) - self.window_
        length = self._segment_length(len(values))
        per_segment = length - window + 1
        # The last segment is shifted to end with the series.
        starts = np.minimum(np.arange(0, n_targets, per_segment), len(values) - 1 - length)
        segments = self._time_first(window_view(self._standardized(values), length)[starts])
        predicted = predict(self._network, segments, device=self.device)
        result = np.empty((n_targets, values.shape[1]))
        for start, part in zip(starts, predicted, strict=True):
            result[start : start + per_segment] = part
        return np.asarray(self._mean + self._spread * result)

    def _standardized(self, values: Floats) -> Singles:
        scaled: Singles = ((values - self._mean) / self._spread).astype(np.float32)
        return scaled

    def _segment_length(self, n: int) -> int:
        """Number of points that the network reads in one pass."""
        return min(2 * self.window_, n - 1)

    @staticmethod
    def _time_first(segments: Singles) -> Singles:
        return np.ascontiguousarray(segments.transpose(0, 2, 1))
