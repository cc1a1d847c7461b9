"""Reading a series: containers, missing values, messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from vuskit.detectors._values import read_values
from vuskit.errors import InvalidInputError

NAN = np.nan


@pytest.mark.parametrize(
    "container",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], dtype=np.int8),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([9, 1, 9, 2, 9, 3])[1::2],
        pd.Series([1, 2, 3], index=[7, 8, 9]),
        pd.DataFrame({"a": [1, 2, 3]}),
        pl.Series([1, 2, 3]),
        torch.tensor([1.0, 2.0, 3.0]),
    ],
    ids=lambda container: type(container).__name__,
)
def test_containers(container):
    values = read_values("series", container)
    np.testing.assert_array_equal(values, [[1.0], [2.0], [3.0]])
    assert values.dtype == np.float64


def test_no_copy_and_no_way_to_write():
    series = np.arange(5.0)
    values = read_values("series", series)
    assert np.shares_memory(values, series)
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1
    series[0] = 3  # the caller's own array stays writable


@pytest.mark.parametrize(
    ("impute", "expected"),
    [("linear", [2, 2, 3, 4, 5, 5]), ("previous", [2, 2, 2, 4, 5, 5])],
)
def test_imputation(impute, expected):
    series = [NAN, 2, NAN, 4, 5, NAN]
    np.testing.assert_array_equal(read_values("series", series, impute=impute)[:, 0], expected)


def test_nan_can_be_kept_and_infinity_cannot():
    series = [1.0, NAN, 3.0]
    np.testing.assert_array_equal(read_values("series", series, impute="keep")[:, 0], series)
    with pytest.raises(InvalidInputError, match=r"must be finite, got inf at index 2$"):
        read_values("series", [1.0, NAN, np.inf], impute="keep")


def test_channels_are_imputed_apart():
    series = np.array([[1.0, 10.0], [NAN, 20.0], [3.0, NAN]])
    filled = read_values("series", series, impute="linear")
    np.testing.assert_array_equal(filled, [[1, 10], [2, 20], [3, 20]])


@pytest.mark.parametrize(
    ("series", "options", "message"),
    [
        ([], {}, r"`series` must be of shape \(n,\) or \(n, d\) and not empty, got shape \(0,\)"),
        (np.zeros((2, 2, 2)), {}, r"got shape \(2, 2, 2\)"),
        (5.0, {}, r"got shape \(\)"),
        (["a", "b"], {}, "`series` must be real numbers, got <U1"),
        ([1 + 2j], {}, "`series` must be real numbers, got complex128"),
        ([1.0, NAN], {}, 'got nan at index 1; impute="linear"'),
        ([1.0, np.inf], {"impute": "linear"}, "must be finite, got inf at index 1$"),
        ([[1.0, 2.0], [3.0, NAN]], {}, "got nan at index 1, channel 1"),
        ([NAN, NAN], {"impute": "linear"}, "must have a known value per channel, got only nan"),
    ],
)
def test_bad_series(series, options, message):
    with pytest.raises(InvalidInputError, match=message):
        read_values("series", series, **options)
