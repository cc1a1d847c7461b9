"""Products in pieces against products in one go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.kernels import _arrays

sizes = st.integers(1, 20)


@given(rows=sizes, inner=sizes, columns=sizes, alone=st.sampled_from([1, 7, 60, 1 << 18]))
def test_product(rows, inner, columns, alone):
    rng = np.random.default_rng(rows + 100 * inner + 10_000 * columns)
    left, right = rng.random((rows, inner)), rng.random((inner, columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_arrays, "_ALONE", alone)
        found = _arrays.product(left, right)
    assert found == pytest.approx(left @ right, abs=1e-12)


def test_a_long_product_goes_in_pieces():
    rng = np.random.default_rng(0)
    left, right = rng.random((300, 16)), rng.random((16, 300))
    np.testing.assert_allclose(_arrays.product(left, right), left @ right, atol=1e-12)


def test_row_dots():
    matrix = np.arange(12.0).reshape(3, 4)
    assert _arrays.row_dots(matrix, np.arange(4)).tolist() == (matrix @ np.arange(4)).tolist()


@given(rows=sizes, lanes=st.integers(1, 5))
def test_running_sums(rows, lanes):
    rng = np.random.default_rng(rows * 7 + lanes)
    weights, carry = rng.random((rows, 16 * lanes)), rng.random(rows)
    expected = np.cumsum(weights, axis=1) + carry[:, None]
    assert _arrays.running_sums(weights.copy(), carry) == pytest.approx(expected, abs=1e-12)
