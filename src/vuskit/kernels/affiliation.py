"""Affiliation precision and recall of predicted ranges, in closed form.

Point i covers the interval [i, i + 1) of the time axis. Borders between zones may lie in the middle
of a point, so positions are doubled to keep them whole numbers. Fractions of a zone do not depend
on the scale.
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
    """Events ``[start, stop)`` and their zones ``[left, right)``, in doubled positions.

    The zone of an event contains the positions closer to it than to any other event.
    """

    start: Ints
    stop: Ints
    left: Ints
    right: Ints

    @classmethod
    def of(cls, starts: Ints, stops: Ints, n: int) -> Zones:
        """Return the zones of the events of a series of n points."""
        borders = np.concatenate(([0], stops[:-1] + starts[1:], [2 * n]))
        return cls(2 * starts, 2 * stops, borders[:-1], borders[1:])

    def __getitem__(self, index: Ints) -> Zones:
        return Zones(self.start[index], self.stop[index], self.left[index], self.right[index])

    @property
    def length(self) -> Ints:
        """Length of each zone."""
        return self.right - self.left


def affiliation(zones: Zones, first: Ints, last: Ints) -> tuple[Floats, Floats]:
    """Return precision (NaN if nothing is predicted in the zone) and recall of every event.

    Parameters
    ----------
    zones : Zones
        Zones of the events.
    first, last : ndarray of int
        Predicted ranges ``[first, last)`` in points.
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
    """Return the integral over ``[begin, end)`` of the fraction of the zone that is not closer."""
    inside = np.minimum(end, zones.stop) - np.maximum(begin, zones.start)
    before = _share_further(zones, zones.start - np.minimum(end, zones.start), zones.start - begin)
    after = _share_further(zones, np.maximum(begin, zones.stop) - zones.stop, end - zones.stop)
    total: Floats = np.maximum(inside, 0) + before + after
    return total


def _share_further(zones: Zones, near: Ints, far: Ints) -> Floats:
    """Return that integral over the distances from ``near`` to ``far`` on one side."""
    far = np.maximum(near, far)
    nearer = np.zeros(near.shape)
    for room in (zones.start - zones.left, zones.right - zones.stop):
        nearer += _integral_of_min(far, room) - _integral_of_min(near, room)
    event = zones.stop - zones.start
    share: Floats = (far - near) * (1 - event / zones.length) - nearer / zones.length
    return share


def _integral_of_min(x: Ints, limit: Ints) -> Floats:
    """Return the integral of min(t, limit) over t from 0 to x."""
    low = np.minimum(x, limit)
    value: Floats = low * low / 2 + limit * (x - low)
    return value


def _recall(zones: Zones, zone: Ints, begin: Ints, end: Ints) -> Floats:
    """Return the recall of every event from the ordered predicted pieces of its zone."""
    count = zones.start.size
    if zone.size == 0:
        return np.zeros(count)
    is_first = np.append(True, zone[1:] != zone[:-1])
    is_last = np.append(zone[1:] != zone[:-1], True)
    # First the gaps before each piece, then the gaps after the last piece of each zone.
    gap_zone = np.concatenate((zone, zone[is_last]))
    nothing = np.full(int(is_last.sum()), -1)
    gap_begin = np.concatenate((np.where(is_first, -1, np.roll(end, 1)), end[is_last]))
    gap_end = np.concatenate((begin, nothing))
    loss = recall_loss(zones[gap_zone], gap_begin, gap_end)
    missed = np.bincount(gap_zone, weights=loss, minlength=count)
    recall: Floats = 1 - missed / (zones.stop - zones.start)
    return recall


def recall_loss(zones: Zones, left: Ints, right: Ints) -> Floats:
    """Return the recall that an event loses by a gap between predicted pieces, as a length."""
    begin = np.maximum(np.where(left < 0, zones.left, left), zones.start)
    end = np.minimum(np.where(right < 0, zones.right, right), zones.stop)
    middle: Floats = np.clip((left + right) / 2, begin, np.maximum(begin, end))
    middle = np.where(left < 0, begin, np.where(right < 0, end, middle))
    by_left = _nearer(middle - left, begin - left, zones.right - left)
    by_right = _nearer(right - middle, right - end, right - zones.left)
    loss = np.where(left < 0, 0.0, by_left) + np.where(right < 0, 0.0, by_right)
    return np.where(end > begin, loss / zones.length, 0.0)


def _nearer(far: Floats, near: Ints, room: Ints) -> Floats:
    """Integrate, over distances, the length of the zone that is closer than the prediction.

    On the far side, the zone ends ``room`` from the prediction; the near side is never limited.
    """
    value: Floats = _nearer_up_to(far, room) - _nearer_up_to(near.astype(np.float64), room)
    return value


def _nearer_up_to(distance: Floats, room: Ints) -> Floats:
    half = np.minimum(distance, room / 2)
    rest = np.maximum(distance - half, 0.0)
    beyond = rest * (room / 2) - rest * rest / 2
    total: Floats = distance * distance / 2 + half * half / 2 + beyond
    return total
