"""Ranks by several measures, against Kendall's tau of SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from vuskit.report.measure_ranks import MeasureRanks
from vuskit.statistics.comparison import compare_columns


@pytest.fixture
def ranks():
    rng = np.random.default_rng(0)
    tables = {
        name: pd.DataFrame(rng.random((15, 5)), columns=list("ABCDE"))
        for name in ("vus_pr", "vus_roc", "mine")
    }
    found = {
        name: compare_columns(table, title=name.upper(), n_resamples=20)
        for name, table in tables.items()
    }
    return MeasureRanks(found)


def test_taus_and_orders(ranks):
    frame = ranks.to_frame()
    for name in frame:
        expected = kendalltau(frame["vus_pr"], frame[name]).statistic
        assert ranks.taus[name] == pytest.approx(expected, abs=1e-12)
    record = ranks.to_records()[1]
    assert record["order"] == list(frame["vus_roc"].sort_values().index)
    assert list(ranks.by_title) == ["VUS_ROC", "MINE"]


def test_text_and_figure(ranks):
    lines = ranks.to_text(80).splitlines()
    assert lines[1].split() == ["detector", "VUS_PR", "VUS_ROC", "MINE"]
    assert lines[-2].split() == ["tau", *(f"{tau:.2f}" for tau in ranks.taus.values())]
    figure = ranks.figure()
    assert figure.to_dict()["detectors"] == list(ranks.to_frame().index)
    figure.plot()
