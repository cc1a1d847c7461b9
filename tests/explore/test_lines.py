from __future__ import annotations

import base64
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.errors import InvalidInputError
from vuskit.explore.app import envelope, line_data


def slow_envelope(line, start, stop, pixels):
    """One pixel after the other, as the docstring says."""
    low, high = [], []
    for p in range(pixels):
        first = start + p * (stop - start) // pixels
        last = start + (p + 1) * (stop - start) // pixels
        part = [value for value in line[first:last] if not math.isnan(value)]
        low.append(min(part, default=float("nan")))
        high.append(max(part, default=float("nan")))
    return np.array(low), np.array(high)


@given(
    line=st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=60),
    data=st.data(),
)
def test_envelope_equals_its_slow_twin(line, data):
    numbers = np.array(line)
    start = data.draw(st.integers(0, len(line) - 1))
    stop = data.draw(st.integers(start + 1, len(line)))
    pixels = data.draw(st.integers(1, stop - start))
    found = envelope(numbers, start, stop, pixels)
    np.testing.assert_array_equal(found, slow_envelope(numbers, start, stop, pixels))


def test_a_million_points():
    rng = np.random.default_rng(3)
    line = np.cumsum(rng.standard_normal(1_000_000)) + 1e6
    line[123_456] += 1_000  # one point that no thinning may lose
    found = line_data(line, 17, 999_983, 1200)
    low, high = slow_envelope(line.tolist(), 17, 999_983, 1200)
    base, (least, most) = found["base"], found["range"]
    assert (least, most) == (line.min(), line.max())
    step = np.spacing(np.float32(most - least))
    np.testing.assert_allclose(unpacked(found["low"]) + base, low, atol=step)
    np.testing.assert_allclose(unpacked(found["high"]) + base, high, atol=step)


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(float)


def test_few_points_are_sent_as_they_are():
    line = np.arange(100.0)
    assert "points" in line_data(line, 0, 100, 50)
    assert "low" in line_data(line, 0, 100, 49)
    np.testing.assert_array_equal(unpacked(line_data(line, 40, 50, 50)["points"]), line[40:50])


def test_a_line_without_numbers():
    assert line_data(np.full(9, np.nan), 0, 9, 3) == {"range": None}


@pytest.mark.parametrize(
    ("start", "stop", "pixels"), [(-1, 3, 2), (2, 2, 2), (0, 11, 2), (0, 5, 0)]
)
def test_unusable_parts(start, stop, pixels):
    with pytest.raises(InvalidInputError, match="must be"):
        line_data(np.arange(10.0), start, stop, pixels)
