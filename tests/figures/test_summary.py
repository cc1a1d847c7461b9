"""Scatter and ranks are those of the summary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from report.figure_examples import (
    summary,
)

import vuskit
from vuskit import figures
from vuskit.errors import InvalidInputError


def test_scatter_and_summary():
    axis = summary().figures()["scatter"].plot().ax_
    circles = {circle.get_label(): circle for circle in axis.collections}
    points = summary().scatter()
    expected = points.rename(index=lambda name: vuskit.get_measure(name).title)
    assert set(circles) == set(expected.index)
    for name, row in expected.iterrows():
        np.testing.assert_allclose(circles[name].get_offsets()[0], row[["deviation", "z"]])
    # Small circles are drawn last; so small that they could not be seen they are drawn larger.
    drawn = [float(circle.get_sizes()[0]) for circle in axis.collections]
    assert drawn == sorted(drawn, reverse=True)
    shares = expected["ratio"] / expected["ratio"].max()
    for name in shares.index[shares > 0.05]:
        assert circles[name].get_sizes()[0] == pytest.approx(drawn[0] * shares[name])
    image = summary().figures()["ranks"].plot().ax_
    np.testing.assert_array_equal(image.images[0].get_array(), summary().ranks)
    with pytest.raises(InvalidInputError, match="`points` must be a table with the columns"):
        figures.ScatterDisplay(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(InvalidInputError, match="`ranks` must be a non-empty table"):
        figures.SummaryDisplay(pd.DataFrame())


def test_one_huge_z_makes_the_axis_logarithmic():
    numbers = {"deviation": [0.1, 0.02, 0.03], "z": [3.0, 2.0, 195.0], "ratio": [0.1, 0.05, 0.05]}
    points = pd.DataFrame(numbers, index=["auc_pr", "f_score", "vus_pr"])
    axis = figures.ScatterDisplay(points).plot().ax_
    assert axis.get_yscale() == "symlog"
    assert len(axis.get_yticks()) >= 2
    assert figures.ScatterDisplay(points.assign(z=[3, 2, 9])).plot().ax_.get_yscale() == "linear"
