"""Compiled twin of the exact sweep for definitions whose P' follows the prediction.

The same sums as ``sweep`` and ``areas``, point by point. All arrays over widths are contiguous, and
a point that the shorter buffers do not reach leaves their entries alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.kernels.compiled import MOST_WIDTHS
from vuskit.kernels.numba_types import FLAG, INT, INTS, TABLE, jit

__all__ = ["event_peaks", "sweep"]

_EXISTENCE, _RATE, _INVERSE, _ROC, _PR, _END = (i * MOST_WIDTHS for i in range(1, 7))
_LANE = 8  # widths that the processor works on together
_NONE = np.iinfo(np.intp).max  # past every level


@jit()
def _add_level(
    state: Any, weights: Any, n: float, miss: float, after: float, before: float, slope: float,
    offset: float,
) -> None:  # fmt: skip
    """Take one level into the running sums: see ``areas``."""
    # One array and offsets that the compiler knows: else it could not rule out that the sums of one
    # width are those of another, and would go through them one by one.
    for w in range(weights.size):
        positives = state[w] + weights[w]
        negatives = n - positives
        both = 1.0 / (positives * negatives)  # one division for two
        ratio = miss * (both * negatives)
        rate = (2.0 - (ratio if ratio > 1.0 else 1.0)) * state[_EXISTENCE + w]
        inverse = both * positives
        jump = rate - state[_RATE + w]
        state[_ROC + w] += jump * (after * inverse + before * state[_INVERSE + w])
        state[_PR + w] += jump * (slope * positives + offset)
        state[_RATE + w] = rate
        state[_INVERSE + w] = inverse
        state[w] = positives


@jit()
def _add_points(total: Any, weights: Any, points: Any, code: Any, first: Any, second: Any) -> Any:
    """Sum of the weights of some points into ``total``; the first width that they reach."""
    total[:] = 0.0
    reached = total.size
    for point in points:
        begin, end = first[point], second[point]
        reached = min(reached, begin)
        if code[point] == 0:  # inside an event the sum stays as it is
            continue
        # Loops from zero over slices: an index that might be negative would not be vectorised.
        once, weight, twice = total[begin:end], weights[code[point], begin:end], total[end:]
        for w in range(once.size):
            once[w] += weight[w]
        for w in range(twice.size):  # it touches a second event: full weight
            twice[w] += 0.5
    return reached


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
    """R-AUC-ROC and R-AUC-PR of every width, of which there are at most ``MOST_WIDTHS``."""
    n_codes, size = table.shape
    # Whole lanes of widths, and a row more for levels that are not a single plain point.
    weights = np.zeros((n_codes + 1, size + -size % _LANE))
    weights[:n_codes, :size] = table
    state = np.zeros(_END)
    state[:_EXISTENCE] = n_inside
    state[_INVERSE:_ROC] = 1.0 / (n - n_inside)
    n_found = np.zeros(n_events.size)
    constant = 2.0 * (n - n_inside)
    points, points_end = _by_level(level, predicted.size)
    peaks, peaks_end = _by_level(peak_levels, predicted.size)
    point = peak = found_before = 0
    for k in range(predicted.size):
        # Indices rather than slices, of which each would count the references to its array.
        for i in range(peak, peaks_end[k]):
            row = peak_rows[peaks[i]]
            n_found[row] += 1.0
            for w in range(row_start[row], row_start[row + 1]):
                state[_EXISTENCE + w] = n_found[row] / n_events[row]
        row, first = 0, size  # no weights
        if points_end[k] - point == 1 and second_width[points[point]] >= size:
            row, first = code[points[point]], first_width[points[point]]
        elif points_end[k] > point:
            here, total = points[point : points_end[k]], weights[n_codes, :size]
            first = _add_points(total, weights, here, code, first_width, second_width)
            row = n_codes
        first -= first % _LANE
        _add_level(
            state[first:],
            weights[row, first:],
            float(n),
            2.0 * n_inside - found[k],
            predicted[k] - found[k] - constant,
            predicted_before[k] - found_before - constant,
            2.0 / predicted[k],
            (found[k] - 2.0 * n_inside) / predicted[k],
        )
        point, peak, found_before = points_end[k], peaks_end[k], found[k]
    roc, pr = state[_ROC : _ROC + size], state[_PR : _PR + size]
    return 1.0 - (2.0 + 0.5 * roc), pr.copy()
