"""Existence: the fraction of buffered events that contain a predicted point.

A buffered event is found once the threshold falls to its highest score, so only this *peak* is
needed. Extending the buffer by one adds one point on each side and may merge neighboring events.
The peak of a merged event is the highest peak of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vuskit.intervals import Ints
from vuskit.kernels.labels.definitions import Definition, Ramps
from vuskit.kernels.ranking import Scores

__all__ = ["ExistencePlan", "plan_existence"]

_BLOCK = 1 << 18  # (half-lengths x events) processed together


@dataclass(frozen=True)
class _Stretch:
    """A run of half-lengths (rows) that start from the same list of events.

    ``sides`` contains the points to add to each event, by (side, step, event), and the number of
    steps of each row. Both sides share one entry if their steps are equal. ``first_parts`` lists
    where each merged event begins, in flattened (row, event) order; None if nothing is merged.
    """

    n_rows: int
    rows: Ints  # row of each merged event
    sides: tuple[tuple[Ints, Ints], ...]
    first_parts: Ints | None
    peek: Ints | None  # by (row, event): a point beyond the ramp that still counts, or -1
    carried: Ints | None  # first events of the merged events with which the next run starts


@dataclass(frozen=True)
class ExistencePlan:
    """Buffered events for each distinct half-length, independent of the scores.

    ``row_of_width[i]`` is the row of width ``i``. ``n_events[row]`` is the number of buffered
    events.
    """

    row_of_width: Ints
    n_events: Ints
    stretches: tuple[_Stretch, ...]
    inside_starts: Ints

    def peaks(self, scores: Scores, inside_scores: Scores) -> Iterator[tuple[Ints, Scores]]:
        """Yield ``(rows, peaks)``: the row and the highest score of every buffered event."""
        peak = np.maximum.reduceat(inside_scores, self.inside_starts)
        for stretch in self.stretches:
            grown = np.repeat(peak[None, :], stretch.n_rows, axis=0)
            for points, count in stretch.sides:
                _raise_peaks(grown, scores, points, count)
            flat = grown.ravel()
            peak = grown[-1]
            if stretch.peek is not None:
                flat = flat.copy()
                seen = np.flatnonzero(stretch.peek.ravel() >= 0)
                flat[seen] = np.maximum(flat[seen], scores[stretch.peek.ravel()[seen]])
            if stretch.first_parts is not None:
                flat = np.maximum.reduceat(flat, stretch.first_parts)
            yield stretch.rows, flat
            if stretch.carried is not None:
                peak = np.maximum.reduceat(peak, stretch.carried)


def _raise_peaks(grown: Scores, scores: Scores, points: Ints, count: Ints) -> None:
    """Raise every row to the running peak of the ``count[row]`` points added to each event."""
    added = scores[points]
    peaks = added[0] if len(added) == 1 else np.maximum(*added)
    np.maximum.accumulate(peaks, axis=0, out=peaks)
    rows = grown[int(count.searchsorted(1)) :]
    np.maximum(rows, peaks[count[len(count) - len(rows) :] - 1], out=rows)


def plan_existence(
    starts: Ints, stops: Ints, n: int, halves: Ints, definition: Definition, ramps: Ramps
) -> ExistencePlan:
    """Prepare the buffered events for all half-lengths (ascending)."""
    new = np.empty(halves.size, dtype=np.bool_)
    new[0] = True
    np.not_equal(halves[1:], halves[:-1], out=new[1:])
    rows = halves[new]
    stretches: list[_Stretch] = []
    n_events = np.empty(rows.size, dtype=np.intp)
    lengths = stops - starts
    inside_starts = lengths.cumsum() - lengths
    before = ramps.reach_before(rows)
    after = ramps.reach_after(rows)
    if rows[-1] * (starts.size + 1) > n - inside_starts[-1] - lengths[-1]:  # the mean gap
        furthest = _furthest(starts, stops, n, definition)
        before, after = np.minimum(before, furthest), np.minimum(after, furthest)
    row = done_before = done_after = 0
    while row < rows.size:
        end = int(rows.searchsorted(rows[row] + max(_BLOCK // starts.size, 1)))
        here = rows[row:end]
        first_parts = carried = peek = row_of_part = None
        n_events[row:end] = starts.size
        if definition.events == "apart":
            peek = _peek(starts, stops, n, here, ramps)
        else:
            joined_from = ramps.joined_from(starts[1:] - stops[:-1], definition.events == "touch")
            if joined_from.size and joined_from.min() <= here[-1]:
                begins = np.empty((here.size, starts.size), dtype=np.bool_)
                begins[:, 0] = True
                np.greater(joined_from, here[:, None], out=begins[:, 1:])
                first_parts = np.flatnonzero(begins)
                row_of_part = row + first_parts // starts.size
                n_events[row:end] -= np.sort(joined_from).searchsorted(here, side="right")
                if end < rows.size:
                    carried = np.flatnonzero(begins[-1])
        if row_of_part is None:
            row_of_part = np.repeat(np.arange(row, end), starts.size)
        # Clip indices to the series; the event already contains the end points.
        steps_before = np.arange(done_before + 1, before[end - 1] + 1)[:, None]
        steps_after = np.arange(done_after + 1, after[end - 1] + 1)[:, None]
        points_before = np.maximum(starts - steps_before, 0)
        points_after = np.minimum(stops - 1 + steps_after, n - 1)
        if ramps.equal:
            sides = [(np.stack((points_before, points_after)), before[row:end] - done_before)]
        else:
            sides = [
                (points_before[None], before[row:end] - done_before),
                (points_after[None], after[row:end] - done_after),
            ]
        stretches.append(
            _Stretch(
                n_rows=end - row,
                rows=row_of_part,
                sides=tuple(side for side in sides if side[0].size),
                first_parts=first_parts,
                peek=peek,
                carried=carried,
            )
        )
        if carried is not None:
            starts = starts[carried]
            stops = stops[np.concatenate((carried[1:], [stops.size])) - 1]
        done_before, done_after, row = int(before[end - 1]), int(after[end - 1]), end
    return ExistencePlan(new.cumsum() - 1, n_events, tuple(stretches), inside_starts)


def _furthest(starts: Ints, stops: Ints, n: int, definition: Definition) -> int:
    """Return the largest number of steps from an event that can reach new points."""
    if definition.events == "apart":
        return n
    # Beyond the next event, the buffers are merged.
    return int((np.append(starts, n) - np.concatenate(([0], stops))).max())


def _peek(starts: Ints, stops: Ints, n: int, halves: Ints, ramps: Ramps) -> Ints | None:
    """Return the point after each ramp if the next event gives it a soft label, else -1.

    If events are not merged, the window of an event is one point longer on the right. This point
    counts only if it has a soft label, which only the next event can give.
    """
    point = stops + ramps.reach_after(halves)[:, None]
    following = np.concatenate((starts[1:], [2 * n + int(halves[-1])]))
    labeled = (point < n) & (point >= following - ramps.reach_before(halves)[:, None])
    return np.where(labeled, point, -1) if labeled.any() else None
