"""Linear interpolation over missing values."""

from __future__ import annotations

import numpy as np

from vuskit._util.gaps import bridge_gaps

NAN = np.nan


def test_no_gaps_no_copy():
    values = np.arange(4.0)
    assert bridge_gaps(values) is values


def test_gaps_within_and_at_the_ends():
    values = np.array([NAN, 2.0, NAN, NAN, 5.0, NAN])
    assert bridge_gaps(values).tolist() == [2, 2, 3, 4, 5, 5]
    assert np.isnan(values[0])


def test_channels_are_separate_and_empty_ones_are_zero():
    values = np.array([[0.0, 4.0, NAN], [NAN, NAN, NAN], [2.0, 8.0, NAN]])
    assert bridge_gaps(values).tolist() == [[0, 4, 0], [1, 6, 0], [2, 8, 0]]
    assert bridge_gaps(np.asfortranarray(values)).tolist() == [[0, 4, 0], [1, 6, 0], [2, 8, 0]]
