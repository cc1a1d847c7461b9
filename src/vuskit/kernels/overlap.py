"""How predicted ranges and events overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints

__all__ = ["meets", "overlaps"]


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
