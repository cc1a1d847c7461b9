"""Labels as half-open events, and back; overlapping pieces of two lists of ranges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from oracle.runs import events
from strategies import labeled_predictions, labels

from vuskit.intervals import event_bounds, events_to_labels, meets, overlaps


@given(labels(min_size=2, both_classes=False))
def test_events_are_the_maximal_runs(bits):
    starts, stops = event_bounds(np.flatnonzero(bits))
    covered = set()
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        assert all(bits[start:stop])
        assert start == 0 or bits[start - 1] == 0
        assert stop == len(bits) or bits[stop] == 0
        covered |= set(range(start, stop))
    assert covered == set(np.flatnonzero(bits).tolist())


@given(labels(min_size=2, both_classes=False))
def test_labels_come_back(bits):
    found = events_to_labels(*event_bounds(np.flatnonzero(bits)), len(bits))
    assert found.astype(int).tolist() == bits


def test_no_event():
    starts, stops = event_bounds(np.flatnonzero([0, 0]))
    assert starts.size == stops.size == 0
    assert starts.dtype == stops.dtype == np.intp


def bounds(bits):
    return np.array(events(bits), dtype=np.intp).reshape(-1, 2).T


@given(labeled_predictions(both_classes=False))
def test_every_overlapping_pair(data):
    first, second = data
    expected = [
        (i, max(a, c), min(b, d))
        for i, (a, b) in enumerate(events(first))
        for c, d in events(second)
        if max(a, c) < min(b, d)
    ]
    found = overlaps(*bounds(first), *bounds(second))
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected
    met = meets(*bounds(first), *bounds(second))
    assert met.tolist() == [i in {pair[0] for pair in expected} for i in range(len(met))]
