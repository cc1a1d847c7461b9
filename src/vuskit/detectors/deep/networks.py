"""The networks themselves. Imports torch; import it when it is needed."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["autoencoder", "convolutional_forecaster", "recurrent_forecaster"]


def autoencoder(n_inputs: int, hidden: int, code: int) -> nn.Module:
    """Dense layers ``hidden - code - hidden`` around a narrow code, with batch norm."""
    return nn.Sequential(
        nn.Linear(n_inputs, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Linear(hidden, code),
        nn.BatchNorm1d(code),
        nn.ReLU(),
        nn.Linear(code, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Linear(hidden, n_inputs),
    )


def convolutional_forecaster(n_channels: int, window: int, dropout: float) -> nn.Module:
    """Three convolutions with pooling and a dense layer: a window in, the next point out."""
    layers: list[nn.Module] = []
    length, filters_in = window, n_channels
    for filters in (8, 16, 32):
        layers += [nn.Conv1d(filters_in, filters, 3, padding=1), nn.ReLU()]
        layers += [nn.MaxPool1d(2, ceil_mode=True)]
        length, filters_in = (length + 1) // 2, filters
    dense = [nn.Flatten(), nn.Linear(length * filters_in, 64), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, *dense, nn.Linear(64, n_channels))


class _RecurrentForecaster(nn.Module):
    """Reads a stretch point by point; from the first full window on predicts the next point."""

    def __init__(self, n_channels: int, window: int, units: int, layers: int) -> None:
        super().__init__()
        self._window = window
        self._memory = nn.LSTM(n_channels, units, num_layers=layers, batch_first=True)
        self._output = nn.Linear(units, n_channels)

    def forward(self, stretches: torch.Tensor) -> torch.Tensor:
        """Map stretches (m, s, d) to the predictions (m, s - window + 1, d)."""
        states, _ = self._memory(stretches)
        predictions: torch.Tensor = self._output(states[:, self._window - 1 :])
        return predictions


def recurrent_forecaster(n_channels: int, window: int, units: int, layers: int) -> nn.Module:
    """LSTM layers that predict each next point from at least a window of points before it."""
    return _RecurrentForecaster(n_channels, window, units, layers)
