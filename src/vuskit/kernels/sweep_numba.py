"""Compiled twin of the exact sweep for definitions whose P' follows the prediction.

The same sums as ``sweep`` and ``areas``, point by point. All arrays over widths are contiguous, and
a point that the shorter buffers do not reach leaves their entries alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.kernels.numba_types import FLAG, INT, INTS, TABLE, jit

__all__ = ["event_peaks", "sweep"]

_NONE = np.iinfo(np.intp).max  # past every level


@jit()
def _add_point(sums: Any, weights: Any, first: int, second: int) -> None:
    # Loops from zero over slices: an index that might be negative would not be vectorised.
    reached, weight = sums[first:second], weights[first:second]
    for w in range(reached.size):
        reached[w] += weight[w]
    twice = sums[second:]
    for w in range(twice.size):
        twice[w] += 0.5


@jit()
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
        negatives = n - positives
        both = 1.0 / (positives * negatives)  # one division for two
        ratio = miss * (both * negatives)
        new_rate = (2.0 - (ratio if ratio > 1.0 else 1.0)) * existence[w]
        new_inverse = both * positives
        jump = new_rate - rate[w]
        roc[w] += jump * (after * new_inverse + before * inverse[w])
        pr[w] += jump * (slope * positives + offset)
        rate[w] = new_rate
        inverse[w] = new_inverse


@jit()
def _by_level(level: Any, n_levels: int) -> Any:
    """Indices by ascending level, and one past the last index of each level."""
    end = np.zeros(n_levels + 1, dtype=np.int64)
    for i in range(level.size):
        if level[i] < n_levels:
            end[level[i] + 1] += 1
    for k in range(n_levels):
        end[k + 1] += end[k]
    order = np.empty(end[n_levels], dtype=np.int64)
    for i in range(level.size):
        if level[i] < n_levels:
            order[end[level[i]]] = i
            end[level[i]] += 1
    return order, end[:n_levels]


@jit(*[INTS] * 6, FLAG, FLAG, INT)
def event_peaks(
    level: NDArray[np.intp],  # of each dynamic point
    inside_starts: NDArray[np.intp],  # first point of each event, and the number of all
    gap_starts: NDArray[np.intp],  # first near point of each gap between events, and beyond all
    gap_lengths: NDArray[np.intp],
    joined_from: NDArray[np.intp],  # half-length from which an event and the next are one
    halves: NDArray[np.intp],  # half-length of each row
    before: bool,
    after: bool,
    n_peaks: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and level of the highest point of every buffered event."""
    n_events = inside_starts.size - 1
    best = np.empty(n_events, dtype=np.int64)
    for event in range(n_events):
        best[event] = level[inside_starts[event] : inside_starts[event + 1]].min()
    rows = np.empty(n_peaks, dtype=np.int64)
    levels = np.empty(n_peaks, dtype=np.int64)
    peak = 0
    done = 0
    for row in range(halves.size):
        joined = _NONE
        for event in range(n_events):
            between = gap_starts[event + 1]
            # Beyond its gap the buffer is one with the next event, which looks at that side.
            if before:
                for point in range(
                    between - min(halves[row], gap_lengths[event]),
                    between - min(done, gap_lengths[event]),
                ):
                    best[event] = min(best[event], level[point])
            if after:
                for point in range(
                    between + min(done, gap_lengths[event + 1]),
                    between + min(halves[row], gap_lengths[event + 1]),
                ):
                    best[event] = min(best[event], level[point])
            joined = min(joined, best[event])
            if event == n_events - 1 or joined_from[event] > halves[row]:
                rows[peak], levels[peak] = row, joined
                joined = _NONE
                peak += 1
        done = halves[row]
    return rows, levels


@jit(INT, INT, TABLE, *[INTS] * 11)
def sweep(
    n: int,
    n_inside: int,
    table: NDArray[np.float64],  # by (code, width)
    code: NDArray[np.intp],  # of each dynamic point
    first_width: NDArray[np.intp],  # at which the point gets its weight
    second_width: NDArray[np.intp],  # at which it touches a second event
    level: NDArray[np.intp],  # at which it is predicted
    predicted: NDArray[np.intp],
    predicted_before: NDArray[np.intp],
    found: NDArray[np.intp],
    n_events: NDArray[np.intp],  # by row
    row_start: NDArray[np.intp],  # first width of each row, and the number of widths
    peak_rows: NDArray[np.intp],
    peak_levels: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """R-AUC-ROC and R-AUC-PR of every width."""
    size = table.shape[1]
    sums = np.full(size, float(n_inside))
    existence = np.zeros(size)
    n_found = np.zeros(n_events.size)
    state = np.zeros((4, size))
    state[1] = 1.0 / (n - n_inside)
    constant = 2.0 * (n - n_inside)
    points, points_end = _by_level(level, predicted.size)
    peaks, peaks_end = _by_level(peak_levels, predicted.size)
    next_point = next_peak = last_found = 0
    for k in range(predicted.size):
        first = size
        for point in points[next_point : points_end[k]]:
            first = min(first, first_width[point])
            if code[point] > 0:  # inside an event the sum stays as it is
                _add_point(sums, table[code[point]], first_width[point], second_width[point])
        for peak in peaks[next_peak : peaks_end[k]]:
            row = peak_rows[peak]
            n_found[row] += 1.0
            for w in range(row_start[row], row_start[row + 1]):
                existence[w] = n_found[row] / n_events[row]
        next_point, next_peak = points_end[k], peaks_end[k]
        _add_level(
            state,
            sums,
            existence,
            first,
            float(n),
            2.0 * n_inside - found[k],
            predicted[k] - found[k] - constant,
            predicted_before[k] - last_found - constant,
            2.0 / predicted[k],
            (found[k] - 2.0 * n_inside) / predicted[k],
        )
        last_found = found[k]
    return 1.0 - (2.0 + 0.5 * state[2]), state[3]
