"""A metric that collects batches gives what `evaluate` gives for whole series."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import vuskit
from vuskit.errors import InvalidInputError, UndefinedMeasureWarning
from vuskit.metric import SeriesMetric


def series(seed, n=200):
    rng = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=int)
    labels[60:75] = labels[140:150] = 1
    return labels, rng.random(n) + 0.6 * labels


@pytest.mark.parametrize("size", [1, 37, 200])
def test_batches_of_one_series(size):
    labels, scores = series(1)
    metric = SeriesMetric("vus_pr", buffer=10)
    for start in range(0, 200, size):
        metric.update(labels[start : start + size], scores[start : start + size])
    assert metric.compute() == vuskit.vus_pr(labels, scores, buffer=10)


def test_mean_over_series_whose_batches_alternate():
    made = {name: series(seed) for name, seed in (("a", 1), ("b", 2), ("c", 3))}
    metric = SeriesMetric(["vus_pr", "f_score"], buffer=10, threshold=1.0)
    for start in (0, 100):
        for name, (labels, scores) in made.items():
            part = slice(start, start + 100)
            metric.update(labels[part], scores[part], series=name)
    expected = [vuskit.vus_pr(*pair, buffer=10) for pair in made.values()]
    assert metric.compute()["vus_pr"] == pytest.approx(np.mean(expected), abs=1e-15)
    assert [one["vus_pr"] for one in metric.per_series().values()] == expected
    assert len(metric) == 3


def test_reset_and_reused_memory():
    metric = SeriesMetric("auc_pr")
    labels, scores = series(1)
    batch = scores.copy()
    metric.update(labels, batch)
    batch[:] = 0
    assert metric.compute() == vuskit.auc_pr(labels, scores)
    metric.reset()
    with pytest.raises(InvalidInputError, match="at least one `update`"):
        metric.compute()
    metric.update(labels, -scores)
    assert metric.compute() < 0.5


def test_series_without_anomalies_do_not_count():
    labels, scores = series(1)
    metric = SeriesMetric("vus_pr", buffer=5)
    metric.update(np.zeros(50), np.arange(50), series="normal")
    with pytest.warns(UndefinedMeasureWarning, match="undefined for every series"):
        assert np.isnan(metric.compute())
    metric.update(labels, scores, series="both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric.compute() == vuskit.vus_pr(labels, scores, buffer=5)


def test_values_reach_the_strategy():
    labels, scores = series(1)
    values = np.sin(2 * np.pi * np.arange(200) / 20)
    metric = SeriesMetric("vus_pr", buffer="period")
    for part in (slice(0, 90), slice(90, 200)):
        metric.update(labels[part], scores[part], values=values[part])
    assert metric.compute() == vuskit.vus_pr(labels, scores, buffer="period", values=values)


def test_merging_metrics_of_two_processes():
    labels, scores = series(1)
    one, other = SeriesMetric("vus_pr", buffer=5), SeriesMetric("vus_pr", buffer=5)
    one.update(labels, scores, series="a")
    other.update(*series(2), series="b")
    one.merge(pickle.loads(pickle.dumps(other)))
    assert set(one.per_series()) == {"a", "b"}
    with pytest.raises(InvalidInputError, match="same measures and settings"):
        one.merge(SeriesMetric("vus_pr", buffer=6))


def test_swapped_arguments_are_an_error():
    labels, scores = series(1)
    with pytest.raises(InvalidInputError, match=r"pass labels first: update\(y_true, y_score\)"):
        SeriesMetric("auc_pr").update(scores, labels)
    with pytest.raises(InvalidInputError, match=r"equal length, got shapes \(2,\) and \(3,\)"):
        SeriesMetric("auc_pr").update([0, 1], [1, 2, 3])
    with pytest.raises(TypeError, match="'buffer'"):
        SeriesMetric("vus_pr")


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    labels, scores = series(1)
    metric = SeriesMetric("vus_pr", buffer=5)
    metric.update(torch.from_numpy(labels).bool(), torch.from_numpy(scores).requires_grad_())
    assert metric.compute() == vuskit.vus_pr(labels, scores, buffer=5)
