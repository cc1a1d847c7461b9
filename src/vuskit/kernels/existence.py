"""Existence: the share of buffered events that hold a predicted point.

A buffered event is found as soon as the threshold falls to its highest score, so its *peak* is all
that is needed. Growing the buffer by one adds one point on either side and may join neighbours; the
peak of a joined event is the highest peak of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vuskit.events import Ints
from vuskit.kernels.definitions import Definition, Ramps
from vuskit.kernels.ranking import Scores

__all__ = ["ExistencePlan", "plan_existence"]

_BLOCK = 1 << 18  # (events x half-lengths) looked at together


@dataclass(frozen=True)
class _Stretch:
    """A run of half-lengths during which the list of events, joined so far, is kept as it is."""

    first_row: int
    starts: Ints
    stops: Ints
    before: Ints  # points added before an event, in order
    after: Ints
    columns: Ints  # number of added points per row
    after_columns: Ints
    parts: list[Ints | None]  # per row: first part of each joined event; None: nothing joined
    joined: Ints | None  # how the next stretch joins this one's events
    peeks: list[Ints | None]  # per row: point beyond the ramp that still counts, or -1


@dataclass(frozen=True)
class ExistencePlan:
    """Buffered events for each distinct half-length, independent of the scores.

    ``row_of_width[i]`` is the row of width ``i``; ``n_events[row]`` the number of buffered events.
    """

    row_of_width: Ints
    n_events: Ints
    stretches: tuple[_Stretch, ...]
    inside_starts: Ints

    def peaks(self, scores: Scores, inside_scores: Scores) -> Iterator[tuple[int, Scores]]:
        """Yield ``(first row, peaks)``: peaks of shape (events, rows), or of one row's events."""
        peak = np.maximum.reduceat(inside_scores, self.inside_starts)
        for stretch in self.stretches:
            grown = _grow(stretch, scores, peak)
            if all(part is None for part in stretch.parts) and not any(
                peek is not None for peek in stretch.peeks
            ):
                yield stretch.first_row, grown
            else:
                for row, (part, peek) in enumerate(zip(stretch.parts, stretch.peeks, strict=True)):
                    column = grown[:, row]
                    if peek is not None:
                        seen = peek >= 0
                        column = column.copy()
                        column[seen] = np.maximum(column[seen], scores[peek[seen]])
                    if part is not None:
                        column = np.maximum.reduceat(column, part)
                    yield stretch.first_row + row, column[:, None]
            peak = grown[:, -1]
            if stretch.joined is not None:
                peak = np.maximum.reduceat(peak, stretch.joined)


def _grow(stretch: _Stretch, scores: Scores, peak: Scores) -> Scores:
    """Peaks of the stretch's events, one column per row, before joining."""
    grown = np.repeat(peak[:, None], stretch.columns.size, axis=1)
    last = scores.size - 1
    # Beyond an end of the series the index stays at the end, which the event already holds.
    if stretch.before.size:
        added = scores[np.maximum(stretch.starts[:, None] - stretch.before, 0)]
        _raise(grown, np.maximum.accumulate(added, axis=1), stretch.columns)
    if stretch.after.size:
        added = scores[np.minimum(stretch.stops[:, None] - 1 + stretch.after, last)]
        _raise(grown, np.maximum.accumulate(added, axis=1), stretch.after_columns)
    return grown


def _raise(grown: Scores, running: Scores, columns: Ints) -> None:
    """Raise each column to the running peak of the points added up to it."""
    reached = columns > 0
    grown[:, reached] = np.maximum(grown[:, reached], running[:, columns[reached] - 1])


def plan_existence(
    starts: Ints, stops: Ints, n: int, halves: Ints, definition: Definition, ramps: Ramps
) -> ExistencePlan:
    """Prepare the buffered events for all half-lengths."""
    rows, row_of_width = np.unique(halves, return_inverse=True)
    touching = definition.events == "touch"
    joins = definition.events != "apart"
    stretches = []
    n_events = np.empty(rows.size, dtype=np.intp)
    inside_starts = np.concatenate(([0], np.cumsum(stops - starts)))[:-1]
    done_before = done_after = 0
    row = 0
    while row < rows.size:
        joined_from = ramps.joined_from(starts[1:] - stops[:-1], touching)
        half_limit = int(rows[row]) + max(_BLOCK // starts.size, 1)
        end = max(int(np.searchsorted(rows, half_limit)), row + 1)
        here = rows[row:end]
        reach_before = np.array([ramps.reach_before(int(half)) for half in here])
        reach_after = np.array([ramps.reach_after(int(half)) for half in here])
        parts: list[Ints | None] = []
        peeks: list[Ints | None] = []
        part: Ints | None = None
        for half in here:
            merged = joined_from <= half
            part = None
            if joins and merged.any():
                part = np.concatenate(([0], np.flatnonzero(~merged) + 1))
            parts.append(part)
            peeks.append(None if joins else _peek(starts, stops, n, int(half), ramps))
            n_events[row + len(parts) - 1] = starts.size if part is None else part.size
        joined = part if end < rows.size else None
        stretches.append(
            _Stretch(
                first_row=row,
                starts=starts,
                stops=stops,
                before=np.arange(done_before + 1, reach_before[-1] + 1),
                after=np.arange(done_after + 1, reach_after[-1] + 1),
                columns=reach_before - done_before,
                after_columns=reach_after - done_after,
                parts=parts,
                joined=joined,
                peeks=peeks,
            )
        )
        if joined is not None:
            starts = starts[joined]
            stops = stops[np.concatenate((joined[1:], [stops.size])) - 1]
        done_before, done_after = int(reach_before[-1]), int(reach_after[-1])
        row = end
    return ExistencePlan(row_of_width, n_events, tuple(stretches), inside_starts)


def _peek(starts: Ints, stops: Ints, n: int, half: int, ramps: Ramps) -> Ints | None:
    """The point just past each ramp where the next event gives it a soft label, else -1.

    Where events are counted apart, the window looked at is one point longer on the right; that point
    counts only with a soft label, which can come from the following event alone.
    """
    point = stops + ramps.reach_after(half)
    following = np.concatenate((starts[1:], [n + half + 1]))
    labelled = (point < n) & (point >= following - ramps.reach_before(half))
    return np.where(labelled, point, -1) if labelled.any() else None
