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
