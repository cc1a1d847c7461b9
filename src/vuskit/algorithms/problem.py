"""What an algorithm is given and what it gives back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OperationCounter", "Problem", "RangeRates"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class RangeRates(NamedTuple):
    """The points of the range-aware curves, thresholds from high to low.

    Attributes
    ----------
    thresholds : ndarray of shape (N,)
        The thresholds, in the dtype of the scores.
    fpr, tpr, precision : ndarray of shape (W, N)
        One row for each buffer length.
    """

    thresholds: NDArray[Any]
    fpr: FloatArray
    tpr: FloatArray
    precision: FloatArray


class OperationCounter:
    """Counts the array elements that an algorithm touches, by kind of operation.

    Seconds depend on the machine; these counts do not, so they are what tests look at.

    Examples
    --------
    >>> counter = OperationCounter()
    >>> counter.touch(predict=np.zeros(5), sum=np.zeros(2))
    >>> counter.touch(predict=np.zeros(5))
    >>> counter.elements["predict"], counter.total
    (10, 12)
    """

    def __init__(self) -> None:
        self.elements: Counter[str] = Counter()

    def touch(self, **arrays: NDArray[Any]) -> None:
        """Add the size of each array to the kind of operation it is named after."""
        for kind, array in arrays.items():
            self.elements[kind] += array.size

    @property
    def total(self) -> int:
        """Elements touched by all kinds of operation together."""
        return self.elements.total()


@dataclass(frozen=True)
class Problem:
    """Checked input of an algorithm.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,)
        True for anomalous points.
    scores : ndarray of shape (n,)
        Finite anomaly scores.
    thresholds : ndarray of shape (N,)
        From high to low.
    buffers : tuple of int
        The buffer lengths.
    memory_limit : int
        Bytes that stored predictions may take.
    counter : OperationCounter or None
        Where to count the elements touched.
    """

    labels: BoolArray
    scores: NDArray[Any]
    thresholds: NDArray[Any]
    buffers: tuple[int, ...]
    memory_limit: int
    counter: OperationCounter | None = None
