"""Sizes of differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from studies.tables import random_table

from vuskit.statistics import effect_sizes


def test_rank_biserial_from_its_definition():
    table = random_table(8, k=2)
    difference = (table["a"] - table["b"]).to_numpy()
    ranks = stats.rankdata(np.abs(difference))
    expected = (ranks[difference > 0].sum() - ranks[difference < 0].sum()) / ranks.sum()
    assert effect_sizes(table)["rank_biserial"].item() == pytest.approx(expected)


def test_equal_values_have_no_rank():
    found = effect_sizes([[1.0, 1.0], [2.0, 1.0], [0.0, 3.0]]).iloc[0]
    # Of the differences 1 and -3, the second is larger; the difference 0 does not count.
    assert found["rank_biserial"] == pytest.approx(-1 / 3)
