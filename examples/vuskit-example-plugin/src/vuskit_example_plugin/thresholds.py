"""A threshold rule."""

from __future__ import annotations

from typing import Any

import numpy as np


def mad(scores: Any) -> float:
    """Median plus three median absolute deviations of the score."""
    median = np.median(scores)
    return float(median + 3 * np.median(np.abs(scores - median)))
