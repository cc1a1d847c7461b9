"""The families must tell detectors apart: not solved by all, not hopeless, no sole winner."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.datasets.synthetic import list_families, make_series

sklearn_ensemble = pytest.importorskip("sklearn.ensemble")
sklearn_neighbors = pytest.importorskip("sklearn.neighbors")
sklearn_metrics = pytest.importorskip("sklearn.metrics")


def forest(windows):
    model = sklearn_ensemble.IsolationForest(n_estimators=50, random_state=0, n_jobs=1)
    return -model.fit(windows).score_samples(windows)


def local_outlier_factor(windows):
    return -sklearn_neighbors.LocalOutlierFactor(20).fit(windows).negative_outlier_factor_


def principal_components(windows):
    standard = (windows - windows.mean(axis=0)) / windows.std(axis=0)
    values, vectors = np.linalg.eigh(np.cov(standard.T))
    return ((standard @ vectors) ** 2 / np.maximum(values, 1e-9)).sum(axis=1)


DETECTORS = (forest, local_outlier_factor, principal_components)


def auc(detector, family, difficulty, seed):
    window = min(family.period, 60)
    series = make_series(
        family.name, n=4000, n_anomalies=4, train_share=0, difficulty=difficulty, seed=seed
    )
    windows = np.lib.stride_tricks.sliding_window_view(series.values, window)
    padded = np.pad(detector(windows), (window // 2, window - 1 - window // 2), mode="edge")
    return sklearn_metrics.roc_auc_score(series.labels, padded)


@pytest.fixture(scope="module")
def table():
    """Mean AUC-ROC by difficulty: one row per family, one column per detector."""
    return {
        difficulty: np.array(
            [
                [
                    np.mean([auc(detector, family, difficulty, seed) for seed in (0, 1)])
                    for detector in DETECTORS
                ]
                for family in list_families()
            ]
        )
        for difficulty in ("easy", "hard")
    }


def test_easy_series_can_be_solved(table):
    assert (table["easy"].max(axis=1) > 0.7).all()
    assert table["easy"].max(axis=1).mean() > 0.85


def test_hard_series_are_not_solved(table):
    assert table["hard"].mean() < 0.8
    assert (table["hard"].min(axis=1) < 0.8).all()
    assert table["hard"].mean() < table["easy"].mean()


def test_no_detector_wins_everywhere(table):
    winners = np.concatenate([table[difficulty].argmax(axis=1) for difficulty in table])
    assert len(set(winners.tolist())) >= 2
    spread = table["easy"].max(axis=1) - table["easy"].min(axis=1)
    assert spread.mean() > 0.05
