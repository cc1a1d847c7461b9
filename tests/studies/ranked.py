"""A table of results whose alike detectors are not always neighbors in mean rank."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEVELS = {
    "LOF": 0.3,
    "IForest": 0.28,
    "PCA": 0.26,
    "OCSVM": 0.1,
    "Random": 0.0,
    "MP": 0.22,
    "NormA": 0.29,
    "AE": 0.2,
    "CNN": 0.18,
    "LSTM-AD": 0.05,
    "POLY": 0.12,
    "HBOS": 0.3,
}
ALPHA = 0.1


def crossing_table():
    random = np.random.default_rng(3)
    ease = random.random(25)
    columns = {name: ease + random.normal(level, 0.12, 25) for name, level in LEVELS.items()}
    return pd.DataFrame(columns).round(3)
