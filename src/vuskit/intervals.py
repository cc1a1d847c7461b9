"""Half-open ranges ``[start, stop)``: labels as events, and how two lists of ranges overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "event_bounds", "events_to_labels", "meets", "overlaps"]

Ints = NDArray[np.intp]


def event_bounds(inside: Ints) -> tuple[Ints, Ints]:
    """Starts and stops of the events, from the sorted positions of the anomalous points.

    Parameters
    ----------
    inside : ndarray of int
        Positions of the ones in the labels, ascending.

    Returns
    -------
    starts, stops : ndarray of int
        Event ``k`` holds the points ``starts[k], ..., stops[k] - 1``.

    Examples
    --------
    >>> starts, stops = event_bounds(np.array([2, 3, 4, 8]))
    >>> starts.tolist(), stops.tolist()
    ([2, 8], [5, 9])
    """
    if inside.size == 0:
        return inside[:0], inside[:0]
    breaks = np.flatnonzero(inside[1:] - inside[:-1] > 1)
    first = np.zeros(breaks.size + 2, dtype=np.intp)
    first[1:-1] = breaks
    first[1:-1] += 1
    first[-1] = inside.size
    return inside[first[:-1]], inside[first[1:] - 1] + 1


def events_to_labels(starts: Ints, stops: Ints, n: int) -> NDArray[np.bool_]:
    """Labels of ``n`` points from half-open events; the inverse of :func:`event_bounds`.

    Examples
    --------
    >>> events_to_labels(np.array([1]), np.array([3]), 5).astype(int).tolist()
    [0, 1, 1, 0, 0]
    """
    labels = np.zeros(n, dtype=np.bool_)
    for start, stop in zip(starts, stops, strict=True):
        labels[start:stop] = True
    return labels


def overlaps(
    starts: Ints, stops: Ints, other_starts: Ints, other_stops: Ints
) -> tuple[Ints, Ints, Ints]:
    """Pieces in which two lists of disjoint, ascending ranges overlap.

    Returns
    -------
    index, first, last : ndarray of int
        Range of the first list, and the half-open piece of it, for every overlapping pair.
    """
    # Range i meets the others from the first that ends after its start to the last that starts
    # before its stop.
    begin = np.searchsorted(other_stops, starts, side="right")
    end = np.searchsorted(other_starts, stops, side="left")
    count = np.maximum(end - begin, 0)
    index = np.repeat(np.arange(starts.size), count)
    other = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + begin[index]
    first = np.maximum(starts[index], other_starts[other])
    last = np.minimum(stops[index], other_stops[other])
    return index, first, last


def meets(starts: Ints, stops: Ints, other_starts: Ints, other_stops: Ints) -> NDArray[np.bool_]:
    """Whether each range of the first list shares a point with one of the second."""
    begin = np.searchsorted(other_stops, starts, side="right")
    end = np.searchsorted(other_starts, stops, side="left")
    return np.greater(end, begin)
