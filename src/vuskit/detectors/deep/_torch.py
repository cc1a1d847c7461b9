"""Neural networks and their training loop. Imports torch, so import this module lazily."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from vuskit.detectors.base import Progress, TrainingProgress

__all__ = ["autoencoder", "convolutional_forecaster", "predict", "recurrent_forecaster", "train"]

# Batch size outside training.
_PREDICTION_ROWS = 2048


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread inside the block, then restore the previous number.

    The layers are so small that synchronization costs more than threads save, especially if
    several jobs share the machine.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def train(
    build: Callable[[], torch.nn.Module],
    inputs: NDArray[np.float32],
    targets: NDArray[np.float32],
    *,
    epochs: int,
    patience: int,
    batch_size: int,
    learning_rate: float,
    validation_share: float,
    shuffle: bool,
    keep: str,
    seed: int,
    device: str,
    progress: Progress | None,
) -> torch.nn.Module:
    """Train a network to map inputs to targets, with early stopping.

    Parameters
    ----------
    build : callable
        Creates the network; called with the seed set.
    inputs, targets : ndarray of shape (m, ...)
        Training pairs in time order; the last ones are used for validation.
    shuffle : bool
        Whether to shuffle the pairs in each epoch; otherwise they stay in time order.
    epochs, patience, batch_size, learning_rate, validation_share, keep, seed, device, progress
        As for `vuskit.detectors.deep._base.NeuralDetector`.

    Returns
    -------
    torch.nn.Module
        The network of the last or the best epoch, in evaluation mode.
    """
    held_out = max(1, int(validation_share * len(inputs)))
    split = max(1, len(inputs) - held_out)
    x, y = torch.from_numpy(inputs).to(device), torch.from_numpy(targets).to(device)
    x_valid, y_valid = (x[split:], y[split:]) if split < len(x) else (x, y)
    # Dropout and initial weights use the global generator, so restore its state afterwards.
    with _one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build().to(device)
        optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, eps=1e-7)
        best, best_loss, waited = copy.deepcopy(network.state_dict()), float("inf"), 0
        for epoch in range(1, epochs + 1):
            train_loss = _run_epoch(
                network, optimizer, x[:split], y[:split], _batches(split, batch_size, shuffle)
            )
            loss = _validate(network, x_valid, y_valid)
            if progress is not None:
                progress(TrainingProgress(epoch, epochs, train_loss, loss))
            if loss < best_loss:
                best, best_loss, waited = copy.deepcopy(network.state_dict()), loss, 0
            else:
                waited += 1
            if waited == patience:
                break
    if keep == "best":
        network.load_state_dict(best)
    return network.eval()


def _batches(n_rows: int, batch_size: int, shuffle: bool) -> Iterator[torch.Tensor]:
    order = torch.randperm(n_rows) if shuffle else torch.arange(n_rows)
    for start in range(0, n_rows, batch_size):
        rows = order[start : start + batch_size]
        # Batch norm needs two rows, so a single last row is skipped.
        if len(rows) > 1 or n_rows == 1:
            yield rows


def _run_epoch(
    network: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    batches: Iterable[torch.Tensor],
) -> float:
    network.train()
    total, rows_seen = 0.0, 0
    for rows in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x[rows]), y[rows])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += float(loss.detach()) * len(rows)
        rows_seen += len(rows)
    return total / rows_seen


def _validate(network: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    network.eval()
    with torch.inference_mode():
        squares = [
            torch.nn.functional.mse_loss(network(a), b, reduction="sum")
            for a, b in zip(
                torch.split(x, _PREDICTION_ROWS), torch.split(y, _PREDICTION_ROWS), strict=True
            )
        ]
    return float(sum(squares)) / y.numel()


def predict(network: torch.nn.Module, inputs: NDArray[Any], *, device: str) -> NDArray[np.float32]:
    """Apply a trained network to rows in batches.

    Parameters
    ----------
    network : torch.nn.Module
        The network, in evaluation mode.
    inputs : ndarray of shape (m, ...)
        The rows; may be a view that is too large to copy.
    device : str
        Torch device.

    Returns
    -------
    ndarray
        One output per row.
    """
    outputs = []
    with _one_thread(), torch.inference_mode():
        for start in range(0, len(inputs), _PREDICTION_ROWS):
            rows = np.array(inputs[start : start + _PREDICTION_ROWS], dtype=np.float32, order="C")
            outputs.append(network(torch.from_numpy(rows).to(device)).cpu().numpy())
    return np.concatenate(outputs)


# -- networks ------------------------------------------------------------------------------------


def _initialize_like_keras(network: nn.Module) -> nn.Module:
    """Initialize weights as in the published experiments: Glorot uniform, zero biases.

    Recurrent weights are orthogonal, and the biases of forget gates are 1.
    """
    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Conv1d):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(cast(torch.Tensor, layer.bias))
        elif isinstance(layer, nn.LSTM):
            for name, weights in layer.named_parameters():
                if name.startswith("bias"):
                    nn.init.zeros_(weights)
                    if name.startswith("bias_ih"):  # both biases are added
                        nn.init.ones_(weights.data[layer.hidden_size : 2 * layer.hidden_size])
                elif name.startswith("weight_hh"):
                    nn.init.orthogonal_(weights)
                else:
                    nn.init.xavier_uniform_(weights)
    return network


def _batch_norm(units: int) -> nn.Module:
    return nn.BatchNorm1d(units, eps=1e-3, momentum=0.01)


def autoencoder(n_inputs: int, hidden: int, code: int) -> nn.Module:
    """Return an autoencoder with dense layers ``hidden - code - hidden`` and batch norm.

    The output layer also uses ReLU, because the windows are scaled to 0..1.
    """
    return _initialize_like_keras(
        nn.Sequential(
            nn.Linear(n_inputs, hidden),
            nn.ReLU(),
            _batch_norm(hidden),
            nn.Linear(hidden, code),
            nn.ReLU(),
            _batch_norm(code),
            nn.Linear(code, hidden),
            nn.ReLU(),
            nn.Linear(hidden, n_inputs),
            nn.ReLU(),
        )
    )


def convolutional_forecaster(n_channels: int, window: int, dropout: float) -> nn.Module:
    """Return a network that predicts the next point from a window.

    It has three convolutions with pooling, and a dense layer. The first convolution preserves the
    length; the others shorten it by one. Very short windows are padded instead, and pooling stops
    at a single position.
    """
    layers: list[nn.Module] = []
    length, filters_in = window, n_channels
    for filters in (8, 16, 32):
        if not layers or length < 2:
            layers.append(nn.ZeroPad1d((0, 1)))
            length += 1
        layers += [nn.Conv1d(filters_in, filters, 2), nn.ReLU()]
        length, filters_in = length - 1, filters
        if length >= 2:
            layers.append(nn.MaxPool1d(2))
            length //= 2
    dense = [nn.Flatten(), nn.Linear(length * filters_in, 64), nn.ReLU(), nn.Dropout(dropout)]
    return _initialize_like_keras(nn.Sequential(*layers, *dense, nn.Linear(64, n_channels)))


class _RecurrentForecaster(nn.Module):
    """Reads segments point by point; predicts each next point after the first full window."""

    def __init__(self, n_channels: int, window: int, units: int, layers: int) -> None:
        super().__init__()
        self._window = window
        self._memory = nn.LSTM(n_channels, units, num_layers=layers, batch_first=True)
        self._output = nn.Linear(units, n_channels)

    def forward(self, segments: torch.Tensor) -> torch.Tensor:
        """Map segments (m, s, d) to predictions (m, s - window + 1, d)."""
        states, _ = self._memory(segments)
        predictions: torch.Tensor = self._output(states[:, self._window - 1 :])
        return predictions


def recurrent_forecaster(n_channels: int, window: int, units: int, layers: int) -> nn.Module:
    """Return LSTM layers that predict each point from at least one window before it."""
    return _initialize_like_keras(_RecurrentForecaster(n_channels, window, units, layers))
