"""Affiliation precision and recall of predicted ranges, in closed form.

Point i is the stretch [i, i + 1) of the time axis. Positions are doubled, so that the borders
between the zones of the events, which may lie in the middle of a point, are whole numbers. A share
of a zone does not depend on the scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints, overlaps

__all__ = ["Zones", "affiliation", "closeness", "recall_loss"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Zones:
    """Events ``[start, stop)`` and the zones ``[left, right)`` nearer to them than to any other.

    All positions are doubled.
    """

    start: Ints
    stop: Ints
    left: Ints
    right: Ints

    @classmethod
    def of(cls, starts: Ints, stops: Ints, n: int) -> Zones:
        """Zones of the events of a series of n points."""
        borders = np.concatenate(([0], stops[:-1] + starts[1:], [2 * n]))
        return cls(2 * starts, 2 * stops, borders[:-1], borders[1:])

    def __getitem__(self, index: Ints) -> Zones:
        return Zones(self.start[index], self.stop[index], self.left[index], self.right[index])

    @property
    def length(self) -> Ints:
        """Length of each zone."""
        return self.right - self.left


def affiliation(zones: Zones, first: Ints, last: Ints) -> tuple[Floats, Floats]:
    """Precision (NaN where nothing is predicted in its zone) and recall of every event.

    Parameters
    ----------
    zones : Zones
        Zones of the events.
    first, last : ndarray of int
        The predicted ranges ``[first, last)``, as points.
    """
    zone, begin, end = overlaps(zones.left, zones.right, 2 * first, 2 * last)
    count = zones.start.size
    own = zones[zone]
    covered = np.bincount(zone, weights=end - begin, minlength=count)
    near = np.bincount(zone, weights=closeness(own, begin, end), minlength=count)
    with np.errstate(invalid="ignore"):
        precision = near / covered
    recall = _recall(zones, zone, begin, end)
    recall[covered == 0] = 0.0
    return precision, recall


def closeness(zones: Zones, begin: Ints, end: Ints) -> Floats:
    """Integral over ``[begin, end)`` of the share of the zone that is not nearer to the event."""
    inside = np.minimum(end, zones.stop) - np.maximum(begin, zones.start)
    before = _share_further(zones, zones.start - np.minimum(end, zones.start), zones.start - begin)
    after = _share_further(zones, np.maximum(begin, zones.stop) - zones.stop, end - zones.stop)
    total: Floats = np.maximum(inside, 0) + before + after
    return total


def _share_further(zones: Zones, near: Ints, far: Ints) -> Floats:
    """The same over the distances from ``near`` to ``far`` on one side of the event."""
    far = np.maximum(near, far)
    nearer = np.zeros(near.shape)
    for room in (zones.start - zones.left, zones.right - zones.stop):
        nearer += _integral_of_min(far, room) - _integral_of_min(near, room)
    event = zones.stop - zones.start
    share: Floats = (far - near) * (1 - event / zones.length) - nearer / zones.length
    return share


def _integral_of_min(x: Ints, limit: Ints) -> Floats:
    """Integral of min(t, limit) over t from 0 to x."""
    low = np.minimum(x, limit)
    value: Floats = low * low / 2 + limit * (x - low)
    return value


def _recall(zones: Zones, zone: Ints, begin: Ints, end: Ints) -> Floats:
    """Recall of every event from the predicted pieces of its zone, given in their order."""
    count = zones.start.size
    if zone.size == 0:
        return np.zeros(count)
    is_first = np.append(True, zone[1:] != zone[:-1])
    is_last = np.append(zone[1:] != zone[:-1], True)
    # The gaps before each piece, then those after the last piece of each zone.
    gap_zone = np.concatenate((zone, zone[is_last]))
    nothing = np.full(int(is_last.sum()), -1)
    gap_begin = np.concatenate((np.where(is_first, -1, np.roll(end, 1)), end[is_last]))
    gap_end = np.concatenate((begin, nothing))
    loss = recall_loss(zones[gap_zone], gap_begin, gap_end)
    missed = np.bincount(gap_zone, weights=loss, minlength=count)
    recall: Floats = 1 - missed / (zones.stop - zones.start)
    return recall


def recall_loss(zones: Zones, left: Ints, right: Ints) -> Floats:
    """What the gap between two predicted pieces costs its event, as a length.

    Parameters
    ----------
    zones : Zones
        Zone of each gap.
    left, right : ndarray of int
        Where the prediction before the gap ends and the one after it begins; -1: there is none.
    """
    begin = np.maximum(np.where(left < 0, zones.left, left), zones.start)
    end = np.minimum(np.where(right < 0, zones.right, right), zones.stop)
    middle: Floats = np.clip((left + right) / 2, begin, np.maximum(begin, end))
    middle = np.where(left < 0, begin, np.where(right < 0, end, middle))
    by_left = _nearer(middle - left, begin - left, zones.right - left)
    by_right = _nearer(right - middle, right - end, right - zones.left)
    loss = np.where(left < 0, 0.0, by_left) + np.where(right < 0, 0.0, by_right)
    return np.where(end > begin, loss / zones.length, 0.0)


def _nearer(far: Floats, near: Ints, room: Ints) -> Floats:
    """Integral of the length of the zone that is nearer than the prediction is, over distances.

    On the other side the zone ends ``room`` from the prediction; on this side it always suffices.
    """
    value: Floats = _nearer_up_to(far, room) - _nearer_up_to(near.astype(np.float64), room)
    return value


def _nearer_up_to(distance: Floats, room: Ints) -> Floats:
    half = np.minimum(distance, room / 2)
    rest = np.maximum(distance - half, 0.0)
    beyond = rest * (room / 2) - rest * rest / 2
    total: Floats = distance * distance / 2 + half * half / 2 + beyond
    return total
