"""Compiled twin of the exact sweep for definitions whose P' follows the prediction.

The same sums as ``sweep`` and ``areas``, point by point. All arrays over widths are contiguous, and
a point that the shorter buffers do not reach leaves their entries alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["compile_sweep"]


@njit(cache=True, error_model="numpy", boundscheck=False)
def _add_point(sums: Any, weights: Any, first: int, second: int) -> None:
    # Loops from zero over slices: an index that might be negative would not be vectorised.
    reached, weight = sums[first:second], weights[first:second]
    for w in range(reached.size):
        reached[w] += weight[w]
    twice = sums[second:]
    for w in range(twice.size):
        twice[w] += 0.5


@njit(cache=True, error_model="numpy", boundscheck=False)
def _add_level(
    state: Any,
    sums: Any,
    existence: Any,
    first: int,
    n: float,
    miss: float,
    after: float,
    before: float,
    slope: float,
    offset: float,
) -> None:
    rate, inverse, roc, pr = state[0, first:], state[1, first:], state[2, first:], state[3, first:]
    sums, existence = sums[first:], existence[first:]
    for w in range(sums.size):
        positives = sums[w]
        ratio = miss / positives
        new_rate = (2.0 - (ratio if ratio > 1.0 else 1.0)) * existence[w]
        new_inverse = 1.0 / (n - positives)
        jump = new_rate - rate[w]
        roc[w] += jump * (after * new_inverse + before * inverse[w])
        pr[w] += jump * (slope * positives + offset)
        rate[w] = new_rate
        inverse[w] = new_inverse


@njit(cache=True, error_model="numpy", boundscheck=False)
def _sweep(
    n: int,
    n_inside: int,
    table: NDArray[np.float64],  # by (code, width)
    code: NDArray[np.intp],
    first_width: NDArray[np.intp],  # at which the point gets its weight
    second_width: NDArray[np.intp],  # at which it touches a second event
    level_end: NDArray[np.intp],  # one past the last point of each level
    predicted: NDArray[np.intp],
    predicted_before: NDArray[np.intp],
    found: NDArray[np.intp],
    n_events: NDArray[np.intp],  # by row
    row_start: NDArray[np.intp],  # first width of each row, and the number of widths
    peak_rows: NDArray[np.intp],  # sorted by level
    peak_levels: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    size = table.shape[1]
    sums = np.full(size, float(n_inside))
    existence = np.zeros(size)
    n_found = np.zeros(n_events.size)
    state = np.zeros((4, size))
    state[1] = 1.0 / (n - n_inside)
    constant = 2.0 * (n - n_inside)
    point = 0
    peak = 0
    last_found = 0
    for level in range(level_end.size):
        first = size
        while point < level_end[level]:
            first = min(first, first_width[point])
            if code[point] > 0:  # inside an event the sum stays as it is
                _add_point(sums, table[code[point]], first_width[point], second_width[point])
            point += 1
        while peak < peak_levels.size and peak_levels[peak] == level:
            row = peak_rows[peak]
            n_found[row] += 1.0
            for w in range(row_start[row], row_start[row + 1]):
                existence[w] = n_found[row] / n_events[row]
            peak += 1
        _add_level(
            state,
            sums,
            existence,
            first,
            float(n),
            2.0 * n_inside - found[level],
            predicted[level] - found[level] - constant,
            predicted_before[level] - last_found - constant,
            2.0 / predicted[level],
            (found[level] - 2.0 * n_inside) / predicted[level],
        )
        last_found = found[level]
    return 1.0 - (2.0 + 0.5 * state[2]), state[3]


def compile_sweep() -> Callable[..., Any]:
    """Compile for the types that ``sweep`` passes."""
    zero = np.zeros(1, dtype=np.intp)
    one = zero + 1
    _sweep(
        2,
        1,
        np.ones((1, 1)),
        zero,
        zero,
        one,
        one,
        one,
        zero,
        one,
        one,
        np.array([0, 1]),
        zero,
        zero,
    )
    return _sweep
