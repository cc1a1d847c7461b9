"""Models of other libraries and plain functions as detectors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity, LocalOutlierFactor

from vuskit.detectors import (
    AeonDetector,
    FunctionDetector,
    PyODDetector,
    SklearnDetector,
    adapt,
    get_detector,
)
from vuskit.detectors._windows import all_windows, center_on_points
from vuskit.detectors.adapters import find_model_class
from vuskit.errors import InvalidInputError


def spiked(n=300):
    series = np.random.default_rng(0).normal(size=n)
    series[200:204] = 9
    return series


ROWS = all_windows(spiked()[:, None], 4)


@pytest.mark.parametrize(
    "estimator",
    [IsolationForest(random_state=1), KernelDensity(), LocalOutlierFactor(novelty=True)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learn_scores_are_turned_round(estimator):
    expected = center_on_points(-estimator.fit(ROWS).score_samples(ROWS), 300)
    scores = SklearnDetector(estimator, window=4).fit_score(spiked())
    np.testing.assert_allclose(scores, expected)
    assert 196 <= scores.argmax() <= 207


def test_the_given_estimator_is_not_fitted():
    estimator = EllipticEnvelope()
    SklearnDetector(estimator, window=4).fit_score(spiked())
    assert not hasattr(estimator, "location_")
    assert estimator.random_state is None


def test_the_seed_reaches_the_estimator():
    first, same, other = (
        SklearnDetector(IsolationForest(n_estimators=5), window=4, seed=seed).fit_score(spiked())
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_training_share_makes_it_semi_supervised():
    detector = SklearnDetector(KernelDensity(), window=4, train_share=0.5)
    assert detector.supervision == "semi-supervised"
    expected = -KernelDensity().fit(ROWS[:147]).score_samples(ROWS)
    np.testing.assert_allclose(detector.fit_score(spiked()), center_on_points(expected, 300))


def test_training_windows_can_be_limited():
    detector = SklearnDetector(KernelDensity(), window=4, max_train_windows=25).fit(spiked())
    assert detector._model.tree_.data.shape == (25, 4)


def test_the_estimator_is_part_of_the_identity():
    assert "estimator=KernelDensity(bandwidth=2.0)" in repr(
        SklearnDetector(KernelDensity(bandwidth=2.0))
    )


@pytest.mark.parametrize(
    ("adapter", "estimator", "message"),
    [
        (SklearnDetector, IsolationForest, "`estimator` must be an estimator with"),
        (SklearnDetector, LocalOutlierFactor(), "novelty=True"),
        (SklearnDetector, 5, "got 5"),
        (PyODDetector, KernelDensity(), "with `fit` and `decision_function`, got KernelDensity"),
        (AeonDetector, KernelDensity(), "with `fit` and `predict`, got KernelDensity"),
        (FunctionDetector, "abs", "`function` must be a function, got 'abs'"),
    ],
)
def test_what_cannot_be_adapted_is_refused(adapter, estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        adapter(estimator)


def double(values):
    values *= 2
    return values if values.ndim == 1 else values.sum(axis=1)


def test_a_function_gets_its_own_copy():
    series = np.arange(5.0)
    np.testing.assert_array_equal(FunctionDetector(double).fit_score(series), 2 * np.arange(5))
    np.testing.assert_array_equal(series, np.arange(5))


def test_a_function_sees_one_or_two_dimensions():
    pairs = np.ones((5, 2))
    np.testing.assert_array_equal(FunctionDetector(double).fit_score(pairs), np.full(5, 4.0))


def test_a_function_is_shown_by_name():
    assert ".double, " in repr(FunctionDetector(double))
    assert FunctionDetector(double) == FunctionDetector(double)
    assert FunctionDetector(double) != FunctionDetector(abs)


def test_a_function_with_too_few_scores_is_caught():
    with pytest.raises(InvalidInputError, match=r"5 scores, got shape \(4,\): 1 .* windows of 2\?"):
        FunctionDetector(np.diff).fit_score(np.arange(5.0))


def test_pyod_keeps_the_scores_of_the_fitted_series():
    knn = pytest.importorskip("pyod.models.knn", reason="PyOD is not installed")
    model = knn.KNN(n_neighbors=3).fit(ROWS)
    detector = PyODDetector(knn.KNN(n_neighbors=3), window=4).fit(spiked())
    expected = center_on_points(model.decision_scores_, 300)
    np.testing.assert_allclose(detector.score(spiked()), expected)
    other = center_on_points(model.decision_function(ROWS[:97]), 100)
    np.testing.assert_allclose(detector.score(spiked()[:100]), other)


def test_a_function_may_see_missing_values():
    series = np.array([1.0, np.nan, 5.0])
    filled = FunctionDetector(np.nan_to_num, impute="linear").fit_score(series)
    assert filled.tolist() == [1.0, 3.0, 5.0]
    kept = FunctionDetector(np.nan_to_num, impute="keep").fit_score(series)
    assert kept.tolist() == [1.0, 0.0, 5.0]
    with pytest.raises(InvalidInputError, match="must return finite scores, got nan at index 1"):
        FunctionDetector(np.abs, impute="keep").fit_score(series)
    with pytest.raises(InvalidInputError, match="`impute` must be one of 'linear', 'prev"):
        get_detector("values", impute="keep")  # one of those that cannot


class Distance:
    """A model of no library: nothing says which scores mean anomalous."""

    def fit(self, rows):
        self.mean = rows.mean(axis=0)

    def decision_function(self, rows):
        return ((rows - self.mean) ** 2).sum(axis=1)


class Plain:
    """A model of no library, with one score per point."""

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, values):
        self.mean = values.mean()

    def score(self, values):
        return np.abs(values - self.mean) ** self.power


def make_forest(seed=0, n_estimators=5):
    return IsolationForest(n_estimators=n_estimators, random_state=seed)


def make_density(bandwidth=1.0):
    return KernelDensity(bandwidth=bandwidth)


def detects(values, factor=1.0):
    return factor * np.abs(values)


@pytest.mark.parametrize(
    ("thing", "params", "stochastic"),
    [
        (KernelDensity, {"bandwidth": 2.0, "window": 4}, False),
        (KernelDensity(), {"bandwidth": 2.0, "window": 4}, False),
        (KernelDensity(), {"window": 4, "max_train_windows": 50}, True),
        (IsolationForest, {"n_estimators": 5, "window": 4}, True),
        (IsolationForest, {"n_estimators": 5, "random_state": 3, "window": 4}, False),
        (IsolationForest(n_estimators=5), {"window": 4}, True),
        (LocalOutlierFactor, {"window": 4}, False),
        (make_forest, {"window": 4}, True),
        (make_density, {"bandwidth": 2.0, "window": 4}, False),
        (Distance, {"adapter": "pyod", "window": 4}, False),
        (SklearnDetector(KernelDensity(), window=9), {"window": 4}, True),
        (detects, {"factor": 2.0}, False),
        (Plain, {"power": 2.0}, False),
        (Plain(), {}, False),
    ],
)
def test_adapted_things_find_the_anomaly(thing, params, stochastic):
    adapted = adapt(thing, params)
    assert adapted.stochastic == stochastic
    assert 196 <= adapted.detector.fit_score(spiked()).argmax() <= 207


def test_a_class_gets_the_seed_and_an_instance_keeps_its_own():
    def state(thing, seed):
        return adapt(thing, {}, seed=seed).detector.estimator.random_state

    assert [state(IsolationForest, seed) for seed in (0, 4)] == [0, 4]
    assert [state(IsolationForest(random_state=7), seed) for seed in (0, 4)] == [7, 7]


def test_low_scores_of_an_unknown_model_mean_anomalous_if_asked_for():
    high = adapt(Distance, {"adapter": "pyod", "window": 4}).detector.fit_score(spiked())
    low = adapt(Distance, {"adapter": "sklearn", "window": 4}).detector.fit_score(spiked())
    np.testing.assert_array_equal(high, -low)


def test_models_are_found_by_library_and_name():
    assert find_model_class("sklearn:OneClassSVM").__module__.startswith("sklearn.svm")
    assert get_detector("sklearn:KernelDensity", window=4, seed=3).seed == 3
    pytest.importorskip("pyod", reason="PyOD is not installed")
    detector = get_detector("pyod:KNN", n_neighbors=3, window=4)
    expected = PyODDetector(find_model_class("pyod:KNN")(n_neighbors=3), window=4)
    np.testing.assert_array_equal(detector.fit_score(spiked()), expected.fit_score(spiked()))


def test_pyod_models_for_series_see_the_series():
    pytest.importorskip("pyod.models.ts_spectral_residual", reason="no PyOD with series models")
    detector = get_detector("pyod:SpectralResidual")
    assert 190 <= detector.fit_score(spiked()).argmax() <= 210
    assert len(detector.score(spiked()[:100])) == 100
