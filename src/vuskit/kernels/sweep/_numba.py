"""Compiled version of the exact sweep, for definitions whose P' follows the prediction.

It computes the same sums as ``sweep`` and ``areas``, point by point. Arrays over widths are
contiguous. A point does not update the entries of buffers that do not reach it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.kernels._numba_types import FLAG, INT, INTS, TABLE, jit

__all__ = ["LANE", "MOST_WIDTHS", "sweep"]

# Defined in this file, because numba compiles them in, and its cache only notices changes of the
# file of a function.
MOST_WIDTHS = 128  # maximum number of widths of one sweep
LANE = 8  # widths that the processor handles together
_EXISTENCE, _RATE, _INVERSE, _ROC, _PR, _END = (np.uintp(i * MOST_WIDTHS) for i in range(1, 7))
_NONE = np.iinfo(np.intp).max  # past every level


@jit()
def _add_level(
    state: Any, weights: Any, row: int, first: int, n: float, terms: tuple[float, ...]
) -> None:
    """Add one level to the running sums, from the first width that reaches it; see ``areas``."""
    miss, after, before, slope, offset = terms
    # A single array with constant offsets lets the compiler rule out aliasing and vectorize the
    # loop. Unsigned indices also help, because numba handles negative indices separately.
    for w in range(np.uintp(first - first % LANE), np.uintp(weights.shape[1])):
        positives = state[w] + weights[row, w]
        negatives = n - positives
        both = 1.0 / (positives * negatives)  # one division for two
        ratio = miss * (both * negatives)
        inverse = both * positives
        rate = (2.0 - (ratio if ratio > 1.0 else 1.0)) * state[w + _EXISTENCE]
        jump = rate - state[w + _RATE]
        state[w + _ROC] += jump * (after * inverse + before * state[w + _INVERSE])
        state[w + _PR] += jump * (slope * positives + offset)
        state[w + _RATE] = rate
        state[w + _INVERSE] = inverse
        state[w] = positives


@jit()
def _add_anomalous_level(state: Any, size: int, terms: tuple[float, ...]) -> None:
    """Add a level with one point inside an event, which leaves P' unchanged."""
    miss, after, before, slope, offset = terms
    for w in range(np.uintp(size)):
        ratio = miss / state[w]
        rate = (2.0 - (ratio if ratio > 1.0 else 1.0)) * state[w + _EXISTENCE]
        jump = rate - state[w + _RATE]
        state[w + _ROC] += jump * ((after + before) * state[w + _INVERSE])
        state[w + _PR] += jump * (slope * state[w] + offset)
        state[w + _RATE] = rate


@jit()
def _add_points(total: Any, weights: Any, points: Any, code: Any, first: Any, second: Any) -> Any:
    """Sum the weights of some points into ``total``; return the first width that reaches one."""
    total[:] = 0.0
    reached = total.size
    for point in points:
        begin, end = first[point], second[point]
        reached = min(reached, begin)
        if code[point] == 0:  # points inside an event do not change the sum
            continue
        # Loop from zero over slices; loops with possibly negative indices are not vectorized.
        once, weight, twice = total[begin:end], weights[code[point], begin:end], total[end:]
        for w in range(once.size):
            once[w] += weight[w]
        for w in range(twice.size):  # in the buffers of two events: full weight
            twice[w] += 0.5
    return reached


@jit()
def _event_peaks(
    level: Any, n_events: Any, inside_starts: Any, gap_starts: Any, gap_lengths: Any,
    joined_from: Any, halves: Any, before: bool, after: bool, n_levels: int,
) -> Any:  # fmt: skip
    """Return the rows of buffered events ordered by the level of their peak; ends of the levels.

    See ``sweep`` for the arguments.
    """
    best = np.empty(inside_starts.size - 1, dtype=np.int64)
    for event in range(best.size):
        best[event] = level[inside_starts[event] : inside_starts[event + 1]].min()
    rows, levels = np.empty((2, n_events.sum()), dtype=np.int64)
    end = np.zeros(n_levels + 1, dtype=np.int64)
    peak = done = 0
    for row in range(halves.size):
        joined = _NONE
        for event in range(best.size):
            between = gap_starts[event + 1]
            # Beyond its gap, the buffer is merged with the next event, which covers that side.
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
            if event == best.size - 1 or joined_from[event] > halves[row]:
                rows[peak], levels[peak] = row, joined
                end[joined + 1] += 1
                joined = _NONE
                peak += 1
        done = halves[row]
    for k in range(n_levels):
        end[k + 1] += end[k]
    by_level = np.empty(rows.size, dtype=np.int64)
    for peak in range(rows.size):
        by_level[end[levels[peak]]] = rows[peak]
        end[levels[peak]] += 1
    return by_level, end


@jit(INT, INT, TABLE, *[INTS] * 16, FLAG, FLAG)
def sweep(
    n: int,
    n_inside: int,
    table: NDArray[np.float64],  # weights by (code, width), padded to whole lanes
    code: NDArray[np.intp],  # code of each dynamic point
    first_width: NDArray[np.intp],  # first width that reaches each dynamic point
    second_width: NDArray[np.intp],  # first width at which a second event reaches it
    n_events: NDArray[np.intp],  # number of buffered events by row
    row_start: NDArray[np.intp],  # first width of each row, and the number of widths
    halves: NDArray[np.intp],  # half-length of each row
    predicted: NDArray[np.intp],  # by level; see ``Levels``
    predicted_before: NDArray[np.intp],
    found: NDArray[np.intp],
    level: NDArray[np.intp],  # level of each dynamic point
    points: NDArray[np.intp],  # dynamic points ordered by level
    points_end: NDArray[np.intp],  # end of each level in ``points``
    inside_starts: NDArray[np.intp],  # first point of each event, and the total number
    gap_starts: NDArray[np.intp],  # first near point of each gap between events, and the end
    gap_lengths: NDArray[np.intp],
    joined_from: NDArray[np.intp],  # half-length at which an event and the next are merged
    before: bool,  # whether events have buffers before them
    after: bool,  # whether events have buffers after them
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return R-AUC-ROC and R-AUC-PR of every width (at most ``MOST_WIDTHS``)."""
    size = row_start[-1]
    state = np.zeros(_END)
    together = np.zeros((1, table.shape[1]))  # total weight of levels with several points
    state[:_EXISTENCE] = n_inside
    state[_INVERSE:_ROC] = 1.0 / (n - n_inside)
    n_found = np.zeros(n_events.size)
    constant = 2.0 * (n - n_inside)
    peaks, peaks_end = _event_peaks(
        level, n_events, inside_starts, gap_starts, gap_lengths, joined_from, halves, before, after,
        predicted.size,
    )  # fmt: skip
    point = peak = found_before = 0
    for k in range(predicted.size):
        # Use indices instead of slices, because each slice costs reference counting.
        for i in range(peak, peaks_end[k]):
            row = peaks[i]
            n_found[row] += 1.0
            for w in range(np.uintp(row_start[row]), np.uintp(row_start[row + 1])):
                state[w + _EXISTENCE] = n_found[row] / n_events[row]
        miss = 2.0 * n_inside - found[k]
        fpr = predicted[k] - found[k] - constant
        fpr_before = predicted_before[k] - found_before - constant
        slope, offset = 2.0 / predicted[k], -miss / predicted[k]
        terms = miss, fpr, fpr_before, slope, offset
        if points_end[k] - point == 1 and second_width[points[point]] >= size:
            one = points[point]
            if code[one] == 0:
                _add_anomalous_level(state, table.shape[1], terms)
            else:
                _add_level(state, table, code[one], first_width[one], float(n), terms)
        elif points_end[k] > point:
            here, total = points[point : points_end[k]], together[0, :size]
            first = _add_points(total, table, here, code, first_width, second_width)
            _add_level(state, together, 0, first, float(n), terms)
        point, peak, found_before = points_end[k], peaks_end[k], found[k]
    roc, pr = state[_ROC : _ROC + size], state[_PR : _PR + size]
    return 1.0 - (2.0 + 0.5 * roc), pr.copy()
