"""Overlapping pieces of two lists of ranges, against every pair of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from oracle.runs import events
from strategies import labeled_predictions

from vuskit.kernels.overlap import overlaps


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
