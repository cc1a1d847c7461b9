"""Sliding windows: views, normalization, chunks, and mapping of window scores to points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NORMALIZERS",
    "all_windows",
    "center_on_points",
    "iterate_windows",
    "sample_windows",
    "window_view",
]

Floats: TypeAlias = NDArray[np.float64]
AnyFloat = TypeVar("AnyFloat", np.float32, np.float64)
Scalar = TypeVar("Scalar", bound=np.generic)

# Maximum number of values in a chunk (32 MB), independent of the series' length.
CHUNK_VALUES = 2**22


def window_view(values: NDArray[AnyFloat], window: int) -> NDArray[AnyFloat]:
    """Return all windows of values of shape (n, d) as a view of shape (n - window + 1, d, window).

    Examples
    --------
    >>> window_view(np.arange(4.0)[:, None], 3)[:, 0]
    array([[0., 1., 2.],
           [1., 2., 3.]])
    """
    return np.lib.stride_tricks.sliding_window_view(values, window, axis=0)


def _zscore(windows: Floats) -> Floats:
    centered = windows - windows.mean(axis=-1, keepdims=True)
    return _divide(centered, windows.std(axis=-1, keepdims=True), windows)


def _minmax(windows: Floats) -> Floats:
    low = windows.min(axis=-1, keepdims=True)
    return _divide(windows - low, windows.max(axis=-1, keepdims=True) - low, windows)


def _divide(centered: Floats, spread: Floats, windows: Floats) -> Floats:
    # The spread of a flat window is mere rounding error, which division would amplify.
    flat = spread <= 1e-12 * np.maximum(np.abs(windows).max(axis=-1, keepdims=True), 1e-300)
    return np.where(flat, 0.0, centered / np.where(flat, 1.0, spread))


NORMALIZERS: dict[str, Callable[[Floats], Floats]] = {
    "zscore": _zscore,
    "minmax": _minmax,
}


def _matrix(view: Floats, normalize: str | None) -> Floats:
    scaled = view if normalize is None else NORMALIZERS[normalize](view)
    return np.ascontiguousarray(scaled.reshape(len(scaled), -1))


def all_windows(values: Floats, window: int, normalize: str | None = None) -> Floats:
    """Return every window as a row of a new matrix of shape (n - window + 1, d * window).

    Examples
    --------
    >>> all_windows(np.array([[0.0], [1.0], [3.0]]), 2, "minmax")
    array([[0., 1.],
           [0., 1.]])
    """
    return _matrix(window_view(values, window), normalize)


def iterate_windows(
    values: Floats, window: int, normalize: str | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield the rows of `all_windows` in chunks of bounded size, each with its slice.

    Examples
    --------
    >>> [(rows, chunk.shape) for rows, chunk in iterate_windows(np.zeros((5, 1)), 2)]
    [(slice(0, 4, None), (4, 2))]
    """
    view = window_view(values, window)
    step = max(1, CHUNK_VALUES // (window * values.shape[1]))
    for start in range(0, len(view), step):
        rows = slice(start, min(start + step, len(view)))
        yield rows, _matrix(view[rows], normalize)


def sample_windows(
    values: Floats,
    window: int,
    normalize: str | None,
    limit: int | None,
    rng: np.random.Generator,
) -> Floats:
    """Return the rows of `all_windows`, or a random sample of ``limit`` rows in time order.

    Examples
    --------
    >>> sample_windows(np.zeros((9, 1)), 2, None, 3, np.random.default_rng(0)).shape
    (3, 2)
    """
    view = window_view(values, window)
    if limit is not None and limit < len(view):
        view = view[np.sort(rng.choice(len(view), size=limit, replace=False))]
    return _matrix(view, normalize)


def center_on_points(window_scores: NDArray[Scalar], n_points: int) -> NDArray[Scalar]:
    """Assign each window's score to its center; repeat the first and last score at the ends.

    Examples
    --------
    >>> center_on_points(np.array([1.0, 2.0, 3.0]), 6)
    array([1., 1., 1., 2., 3., 3.])
    """
    missing = n_points - len(window_scores)
    before = (missing + 1) // 2
    return np.pad(window_scores, (before, missing - before), mode="edge")
