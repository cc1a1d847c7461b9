"""Windows against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.detectors import _windows as module
from vuskit.detectors._windows import (
    all_windows,
    center_on_points,
    iterate_windows,
    sample_windows,
    window_view,
)


def values_of(n, channels=1, seed=0):
    return np.random.default_rng(seed).normal(size=(n, channels))


def naive_rows(values, window, scale):
    rows = []
    for start in range(len(values) - window + 1):
        row = []
        for channel in values.T:
            row += list(scale(channel[start : start + window]))
        rows.append(row)
    return np.array(rows)


SCALES = {
    None: lambda part: part,
    "zscore": lambda part: (part - part.mean()) / part.std(),
    "minmax": lambda part: (part - part.min()) / (part.max() - part.min()),
}


@pytest.mark.parametrize("normalize", SCALES)
@given(n=st.integers(5, 30), window=st.integers(2, 5), channels=st.integers(1, 3))
def test_rows_are_the_windows_channel_by_channel(normalize, n, window, channels):
    values = values_of(n, channels)
    expected = naive_rows(values, window, SCALES[normalize])
    np.testing.assert_allclose(all_windows(values, window, normalize), expected, atol=1e-12)


@pytest.mark.parametrize("normalize", ["zscore", "minmax"])
@pytest.mark.parametrize("level", [0.0, 0.1, -1e12])
def test_flat_windows_become_zero(normalize, level):
    np.testing.assert_array_equal(all_windows(np.full((9, 1), level), 3, normalize), 0.0)


@pytest.mark.parametrize("chunk", [1, 7, 10, 1000])
def test_chunks_put_together_are_all_windows(monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK_VALUES", chunk)
    values = values_of(23, 2)
    parts = list(iterate_windows(values, 4, "zscore"))
    joined = np.concatenate([part for _, part in parts])
    np.testing.assert_array_equal(joined, all_windows(values, 4, "zscore"))
    covered = np.concatenate([np.arange(20)[rows] for rows, _ in parts])
    np.testing.assert_array_equal(covered, np.arange(20))
    assert all(part.size <= max(chunk, 8) for _, part in parts)


def test_views_cost_no_memory():
    values = values_of(1000)
    assert np.shares_memory(window_view(values, 100), values)


def test_samples_are_different_windows_in_time_order():
    values = np.arange(50.0)[:, None]
    sample = sample_windows(values, 5, None, 20, np.random.default_rng(1))
    starts = sample[:, 0]
    assert len(starts) == 20
    assert (np.diff(starts) > 0).all()
    np.testing.assert_array_equal(sample, starts[:, None] + np.arange(5))


def test_nothing_is_sampled_where_all_fit():
    values = values_of(20)
    sample = sample_windows(values, 5, None, 16, np.random.default_rng(0))
    np.testing.assert_array_equal(sample, all_windows(values, 5))


@given(n=st.integers(1, 40), window=st.integers(1, 40))
def test_a_score_stands_at_the_center_of_its_window(n, window):
    window = min(window, n)
    scores = np.arange(n - window + 1.0)
    placed = center_on_points(scores, n)
    before = int(np.ceil((window - 1) / 2))
    after = int(np.floor((window - 1) / 2))
    expected = [scores[0]] * before + list(scores) + [scores[-1]] * after
    np.testing.assert_array_equal(placed, expected)
