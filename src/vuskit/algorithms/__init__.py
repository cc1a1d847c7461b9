"""The algorithms of the VUS paper: naive, opt and opt_mem.

They return the same values as the default kernel, with the complexity described in the paper. They
serve the execution-time study and as a reference for testing the default kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.algorithms._naive import naive
from vuskit.algorithms._opt import opt
from vuskit.algorithms._opt_mem import opt_mem
from vuskit.algorithms._steps import (
    OperationCounter,
    Problem,
    RangeRates,
    areas,
    thresholds_of,
)
from vuskit.errors import InvalidInputError

__all__ = [
    "OperationCounter",
    "areas",
    "range_rates",
]

DEFAULT_MEMORY_LIMIT = 2 * 1024**3
"""Default limit in bytes for the stored predictions of ``opt_mem`` (2 GiB)."""

ALGORITHMS: dict[str, Callable[[Problem], RangeRates]] = {
    "naive": naive,
    "opt": opt,
    "opt_mem": opt_mem,
}
"""Algorithms of the paper by name."""


def range_rates(
    labels: NDArray[np.bool_],
    scores: NDArray[Any],
    buffers: Sequence[int],
    n_thresholds: int,
    *,
    algorithm: str,
    memory_limit: int | None = None,
    counter: OperationCounter | None = None,
) -> RangeRates:
    """Compute range-aware rates on a grid of thresholds with an algorithm of the paper.

    The arrays are not validated; the public measures do that.

    Parameters
    ----------
    labels : ndarray of bool, shape (n,)
        True for anomalous points.
    scores : ndarray of shape (n,)
        Finite anomaly scores of any real dtype.
    buffers : sequence of int
        W buffer lengths, each at least 0.
    n_thresholds : int
        Number N of thresholds, placed at evenly spaced ranks of the scores.
    algorithm : {"naive", "opt", "opt_mem"}
        Algorithm; all return the same values.
    memory_limit : int, optional
        Limit in bytes for the n x N stored predictions of ``opt_mem``; 2 GiB by default. The other
        algorithms store no predictions.
    counter : OperationCounter, optional
        Counter of accessed array elements.

    Returns
    -------
    RangeRates
        Thresholds of shape (N,), from high to low, and rates of shape (W, N).

    Raises
    ------
    InvalidInputError
        If the algorithm is unknown, or ``opt_mem`` exceeds the memory limit.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 1, 1, 0, 0, 0], dtype=bool)
    >>> scores = np.array([1, 0, 2, 7, 3, 6, 5, 4])
    >>> rates = range_rates(labels, scores, [0, 2], 8, algorithm="opt")
    >>> rates.thresholds
    array([7, 6, 5, 4, 3, 2, 1, 0])
    >>> rates.precision.round(2)
    array([[1.  , 0.5 , 0.33, 0.25, 0.4 , 0.33, 0.29, 0.25],
           [1.  , 0.85, 0.57, 0.43, 0.54, 0.57, 0.49, 0.43]])
    """
    if algorithm not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InvalidInputError(f"`algorithm` must be one of {known}, got {algorithm!r}")
    problem = Problem(
        labels=labels,
        scores=scores,
        thresholds=thresholds_of(scores, n_thresholds),
        buffers=tuple(buffers),
        memory_limit=DEFAULT_MEMORY_LIMIT if memory_limit is None else memory_limit,
        counter=counter,
    )
    return ALGORITHMS[algorithm](problem)
