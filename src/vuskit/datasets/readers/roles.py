"""What a column is for, as far as its name and its numbers tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABEL_NAMES", "PLACE_NAMES", "RISING", "label_column", "only_rises"]

LABEL_NAMES = (
    "label", "labels", "is_anomaly", "anomaly", "is_outlier", "outlier", "target",
    "y_true", "ground_truth", "truth", "gt",
)  # fmt: skip
# Columns that say when or which, not what: taken for nothing unless asked for by name.
PLACE_NAMES = frozenset({"", "timestamp", "time", "date", "datetime", "index", "id", "is_ignored"})

RISING = "it only rises, as time does"  # why a column is left out
_FEW = 12  # so many numbers may rise by chance


def label_column(names: Sequence[str]) -> str | None:
    """Return the column with a usual name for labels, in any case, or None.

    Examples
    --------
    >>> label_column(["value", "Y_true"])
    'Y_true'
    """
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[usual] for usual in LABEL_NAMES if usual in lower), None)


def only_rises(numbers: NDArray[np.float64]) -> bool:
    """Whether every number is greater than the one before: a time or a count, nothing measured.

    Examples
    --------
    >>> only_rises(np.arange(100.0)), only_rises(np.arange(5.0)), only_rises(np.zeros(100))
    (True, False, False)
    """
    return numbers.size > _FEW and bool((numbers[1:] > numbers[:-1]).all())
