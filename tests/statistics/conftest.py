"""The published leaderboard."""

from __future__ import annotations

import pandas as pd
import pytest

NOT_DETECTORS = 7


@pytest.fixture(scope="module")
def leaderboard(test_data):
    path = test_data / "data" / "published" / "leaderboard_vus_pr.csv"
    return pd.read_csv(path, index_col=0).iloc[:, :-NOT_DETECTORS]
