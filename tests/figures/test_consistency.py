"""Entropies and ranks are those of the study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from figures.layout import widths
from report.figure_examples import (
    consistent,
)

from vuskit import figures
from vuskit.errors import InvalidInputError


def test_entropies_and_ranks():
    found = consistent().figures()
    above, below = found["entropies"].plot().axes_
    assert widths(above) == pytest.approx(consistent().averages()["entropy"].to_list())
    assert widths(below) == pytest.approx(consistent().by_family().to_list())
    ranks = found["ranks"].display(("mill",))
    pd.testing.assert_frame_equal(ranks.table, consistent().rank_table("mill"))
    lines = {line.get_label(): line.get_xdata() for line in ranks.plot().ax_.lines}
    np.testing.assert_array_equal(lines["late"], consistent().rank_table("mill").loc["late"])
    entropy = found["detectors"].display(("all data sets",))
    expected = consistent().entropies().groupby(level="detector").mean()
    pd.testing.assert_frame_equal(entropy.table.sort_index(), expected)
    with pytest.raises(InvalidInputError, match="`quantity` must be one of 'rank', 'entropy'"):
        figures.RankLinesDisplay(ranks.table, "score")
