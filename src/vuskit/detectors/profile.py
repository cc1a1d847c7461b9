"""Nearest-neighbour distances of z-normalised windows (stumpy)."""

from __future__ import annotations

import warnings
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require

__all__ = ["nearest_distances", "require_stumpy"]

Floats: TypeAlias = NDArray[np.float64]


def require_stumpy(name: str) -> None:
    """Fail early, with the install line, where the detector of this name lacks stumpy."""
    require("stumpy", purpose=f"detector `{name}`")


def nearest_distances(series: Floats, window: int, reference: Floats | None = None) -> Floats:
    """Distance of each window to the nearest window of the reference, after z-normalisation.

    Parameters
    ----------
    series : ndarray of shape (n,)
        The series whose windows are looked at.
    window : int
        Their length, at least 3.
    reference : ndarray of shape (m,), optional
        Where neighbours are looked for; without it in the series itself, leaving out the windows
        that start within a quarter of the window's length.

    Returns
    -------
    ndarray of shape (n - window + 1,)
        Finite distances.
    """
    stumpy = require("stumpy", purpose="matrix profiles")
    with warnings.catch_warnings():
        # Repeated windows have distance zero; stumpy suspects a self-join behind them.
        warnings.filterwarnings("ignore", message="A large number of values", category=UserWarning)
        if reference is None:
            profile = stumpy.stump(series, window)
        else:
            profile = stumpy.stump(series, window, reference, ignore_trivial=False)
    return np.asarray(profile[:, 0].astype(np.float64))
