"""Tables of results, continuous and with ties and missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


def random_table(seed, *, n=25, k=5, digits=None, missing=0.0):
    random = np.random.default_rng(seed)
    values = random.random((n, k)) + np.linspace(0, 0.3, k)
    if digits is not None:
        values = np.round(values, digits)
    values[random.random((n, k)) < missing] = np.nan
    return pd.DataFrame(values, columns=list("abcdefgh")[:k])


def without_binary_fractions(table):
    """Tenths as whole numbers, whose differences tie where they should; the rest as it is."""
    tenths = table * 10
    return tenths.round() if np.allclose(tenths, tenths.round(), equal_nan=True) else table


TABLES = [
    pytest.param(random_table(0), id="continuous"),
    pytest.param(random_table(1, digits=1), id="ties"),
    pytest.param(random_table(2, n=60, missing=0.05), id="missing"),
    pytest.param(random_table(3, n=60, digits=1, missing=0.05), id="ties and missing"),
]


def noisy_twins(n=12):
    """Two columns that are equal but for rounding errors, between two others."""
    random = np.random.default_rng(5)
    one = random.random(n) * 0.3
    # Sums in another order, and what should be zero.
    twin = (one + 0.1) - 0.1
    one[:2], twin[:2] = 0.0, 1e-18
    assert (one != twin).sum() > 4
    return pd.DataFrame({"worst": one - 0.5, "one": one, "twin": twin, "best": one + 0.5})
