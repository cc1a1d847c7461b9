"""Numbers of box plots."""

from __future__ import annotations

import numpy as np
from matplotlib import cbook

from vuskit.figures._drawing import box_data, box_numbers


def test_boxes_are_those_of_matplotlib():
    values = np.random.default_rng(3).standard_t(2, size=(6, 40))
    values[1, ::3] = np.nan
    values[2] = 0.25
    values[3, 1:] = np.nan
    for row, found in zip(values, box_numbers(values), strict=True):
        (stats,) = cbook.boxplot_stats(row[np.isfinite(row)])
        names = ("whislo", "q1", "med", "q3", "whishi")
        np.testing.assert_allclose(found, [stats[name] for name in names])
        outliers = box_data(row[None])["outliers"][0]
        assert sorted(outliers) == sorted(stats["fliers"])
    assert np.isnan(box_numbers(np.full(5, np.nan))).all()
