"""Published accuracy and saved scores, on real series that are short enough for a test.

`benchmarks/detector_quality.py` compares the saved scores of more series.
"""

from __future__ import annotations

import csv
import gzip

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


# Short series with saved scores, and the window of these scores.
SAVED = {
    "Exchange_2": 24,
    "Exchange_3": 24,
    "Traffic_6": 56,
    "CloudWatch_15": 62,
    "Traffic_1": 91,
}


@pytest.fixture(scope="module")
def saved(test_data):
    """Values without the first point, as the published runs saw them; labels; saved scores."""
    found = {}
    for name in SAVED:
        file = f"NAB_data_{name}.out"
        series = read_series(test_data / "data" / "series" / "NAB" / f"{file}.gz")
        with gzip.open(test_data / "data" / "scores" / "NAB" / f"{file}.csv.gz", "rt") as lines:
            header = lines.readline().strip().split(",")
            columns = dict(zip(header, np.loadtxt(lines, delimiter=",").T, strict=True))
        found[name] = series.values[1:], series.labels[1:], columns
    return found


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("poly", 0.999),
        ("pca", 0.999),
        ("ocsvm", 0.99),
        ("lof", 0.99),
        ("mp", 0.99),
        ("iforest", 0.93),
    ],
)
def test_scores_correlate_with_the_saved_ones(name, required, saved):
    found = []
    for series, (values, _, columns) in saved.items():
        options = {} if name == "poly" else {"window": SAVED[series]}
        scores = get_detector(name, **options).fit_score(values)
        found.append(np.corrcoef(scores, columns[COLUMNS[name]])[0, 1])
    assert np.median(found) >= required


def test_poly_equals_the_saved_scores_up_to_their_rounding(saved):
    for values, _, columns in saved.values():
        scores = get_detector("poly").fit_score(values)
        scaled = (scores - scores.min()) / np.ptp(scores)
        np.testing.assert_allclose(scaled, columns["POLY"], atol=0.00501)


def test_saved_forecast_errors_stand_on_the_predicted_point(saved):
    """The first error is repeated for the window before it, and the last one is not repeated."""
    for series, (_, _, columns) in saved.items():
        for detector in ("CNN", "LSTM"):
            changes = np.flatnonzero(np.diff(columns[detector]))
            assert changes[0] in (SAVED[series], SAVED[series] + 1)
            assert changes[-1] == len(columns[detector]) - 2


def test_auc_of_norma_hardly_depends_on_the_seed(saved):
    """With the default number of candidates, series as short as these contribute all of them."""
    spreads = []
    for series, (values, labels, _) in saved.items():
        found = []
        for seed in range(3):
            detector = get_detector("norma", window=SAVED[series], n_candidates=600, seed=seed)
            found.append(auc_roc(labels, detector.fit_score(values)))
        spreads.append(np.std(found, ddof=1))
    assert 0 < np.median(spreads) < 0.03


@pytest.fixture(scope="module")
def ecg_805(test_data):
    series = read_series(test_data / "data" / "series" / "ECG" / "MBA_ECG805_data.out.gz")
    return series.labels, get_detector("iforest", window=100).fit_score(series)


def test_iforest_on_ecg_805(ecg_805):
    labels, scores = ecg_805
    assert auc_roc(labels, scores) >= 0.90
    assert vus_pr(labels, scores, max_buffer=100) >= 0.85
