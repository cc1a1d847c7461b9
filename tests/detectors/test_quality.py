"""Published accuracy, on real series that are short enough for a test.

`benchmarks/detector_quality.py` does the same for every published series.
"""

from __future__ import annotations

import csv

import numpy as np
import pytest

from vuskit import auc_roc, vus_pr
from vuskit.datasets import read_series
from vuskit.detectors import get_detector

COLUMNS = {
    "iforest": "IFOREST",
    "lof": "LOF",
    "mp": "MP",
    "norma": "NORMA",
    "pca": "PCA",
    "poly": "POLY",
    "ocsvm": "OCSVM",
    "ae": "AE",
    "cnn": "CNN",
    "lstm_ad": "LSTM",
}
# Series longer than this are left to the benchmark.
LONGEST = {"norma": 11_000, "ae": 2000, "cnn": 2000, "lstm_ad": 2000}


def published(data, longest):
    with open(data / "published" / "detector_auc_roc.csv", newline="") as file:
        return [row for row in csv.DictReader(file) if int(row["data_len"]) <= longest]


@pytest.mark.parametrize("name", COLUMNS)
def test_mean_auc_is_near_the_published_mean(name, test_data):
    ours, theirs = [], []
    data = test_data / "data"
    for row in published(data, LONGEST.get(name, 4100)):
        series = read_series(data / "series" / row["dataset"] / f"{row['filename']}.gz")
        scores = get_detector(name).fit_score(series)
        ours.append(auc_roc(series.labels, scores))
        theirs.append(float(row[COLUMNS[name]]))
    assert len(ours) >= 4
    assert np.mean(ours) >= np.mean(theirs) - 0.03


@pytest.fixture(scope="module")
def ecg_805(test_data):
    series = read_series(test_data / "data" / "series" / "ECG" / "MBA_ECG805_data.out.gz")
    return series.labels, get_detector("iforest", window=100).fit_score(series)


def test_iforest_on_ecg_805(ecg_805):
    labels, scores = ecg_805
    assert auc_roc(labels, scores) >= 0.90
    assert vus_pr(labels, scores, max_buffer=100) >= 0.85
