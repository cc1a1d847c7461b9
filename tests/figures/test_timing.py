"""Timings show medians."""

from __future__ import annotations

import numpy as np
from report.figure_examples import (
    timed,
)


def test_timing_shows_medians():
    display = timed(generated=False).figures()["memory"]
    axis = display.plot().axes_[2]
    dots = axis.collections[0].get_offsets()
    auc = timed(generated=False).summary().query("contestant == 'auc'")
    np.testing.assert_allclose(dots, auc[["n_points", "peak_bytes"]])
    assert axis.get_yscale() == "log"
