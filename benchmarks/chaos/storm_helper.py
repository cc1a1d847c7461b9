"""Code that several detectors of the storm share; the storm edits its constant."""

from __future__ import annotations

import numpy as np

WIDTH = 3


def smooth(scores):
    """Moving mean of odd width."""
    padded = np.pad(scores, WIDTH // 2, mode="edge")
    return np.convolve(padded, np.ones(WIDTH) / WIDTH, mode="valid")
