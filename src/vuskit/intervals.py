"""Half-open ranges ``[start, stop)``: convert labels to events, and intersect lists of ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "event_bounds", "events_to_labels", "meets", "overlaps"]

Ints = NDArray[np.intp]


def event_bounds(inside: Ints) -> tuple[Ints, Ints]:
    """Return the starts and stops of the events from the positions of anomalous points.

    Examples
    --------
    >>> starts, stops = event_bounds(np.array([2, 3, 4, 8]))
    >>> starts.tolist(), stops.tolist()
    ([2, 8], [5, 9])
    """
    before, after = inside[:-1], inside[1:]
    breaks = (after - before > 1).nonzero()[0]
    starts = np.concatenate((inside[:1], after[breaks]))
    stops = np.concatenate((before[breaks], inside[-1:])) + 1
    return starts, stops


def events_to_labels(starts: Ints, stops: Ints, n: int) -> NDArray[np.bool_]:
    """Return the labels of ``n`` points from half-open events.

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
    """Intersect two lists of disjoint, ascending ranges."""
    # Range i overlaps the others from the first that ends after its start to the last that starts
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
    """Whether each range of the first list overlaps a range of the second."""
    begin = np.searchsorted(other_stops, starts, side="right")
    end = np.searchsorted(other_starts, stops, side="left")
    return np.greater(end, begin)
