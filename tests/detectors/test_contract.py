"""What every registered detector, and every adapter, must do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from vuskit.datasets import Series
from vuskit.detectors import (
    FunctionDetector,
    SklearnDetector,
    get_detector,
    list_detectors,
)
from vuskit.errors import InvalidInputError

# Less training than by default, and smaller batches for the few windows of a short series.
# Detectors that are not named here run with their defaults.
QUICK = {
    "iforest": {"n_trees": 10},
    "ae": {"epochs": 40, "batch_size": 4},
    "cnn": {"epochs": 2, "max_train_windows": 128},
    "lstm_ad": {"epochs": 2, "max_train_windows": 32},
}
# These know nothing of the series, or nothing of its shape.
BLIND = {"random", "constant", "values"}


def spikiness(values):
    values = values if values.ndim == 2 else values[:, None]
    return np.abs(values - np.median(values, axis=0)).max(axis=1)


def quick(name, **params):
    return get_detector(name, **QUICK.get(name, {}), **params)


MAKERS = {name: lambda name=name, **params: quick(name, **params) for name in list_detectors()}
MAKERS["adapted estimator"] = lambda **params: SklearnDetector(
    IsolationForest(n_estimators=10), **params
)
MAKERS["adapted function"] = lambda **params: FunctionDetector(spikiness, **params)


@pytest.fixture(params=list(MAKERS))
def make(request):
    return MAKERS[request.param]


def only(condition):
    """Run a test with the detectors that fulfill a condition."""
    names = [name for name, make in MAKERS.items() if condition(name, make())]
    return pytest.mark.parametrize("make", names, indirect=True)


only_windowed = only(lambda _, detector: "window" in detector.params)


def wave(n=240, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * np.arange(n) / 20) + 0.05 * rng.normal(size=n)


def is_univariate(detector):
    return not detector.multivariate


def test_one_finite_score_per_point(make):
    scores = make().fit_score(wave())
    assert scores.shape == (240,)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


@only(lambda name, _: name not in BLIND)
def test_finds_an_obvious_anomaly(make):
    series, labels = wave(600), np.zeros(600, dtype=int)
    series[400:406] = [4, 5, 4, 5, 4, 5]
    labels[400:406] = 1
    assert roc_auc_score(labels, make().fit_score(series)) > 0.8


def test_the_same_seed_gives_the_same_scores(make):
    np.testing.assert_array_equal(make(seed=3).fit_score(wave()), make(seed=3).fit_score(wave()))


def test_fitting_again_forgets_the_first_series(make):
    detector = make()
    detector.fit_score(50 * wave(300, seed=1) + 7)
    np.testing.assert_array_equal(detector.fit_score(wave()), make().fit_score(wave()))


def test_global_random_numbers_are_left_alone(make):
    # The next draw tells: a draw moves the position within the key and changes the key only rarely.
    state = np.random.get_state()  # noqa: NPY002
    expected = np.random.random_sample()  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    make().fit_score(wave())
    assert np.random.random_sample() == expected  # noqa: NPY002


def test_input_is_not_changed(make):
    series = wave()
    before = series.copy()
    make().fit_score(series)
    np.testing.assert_array_equal(series, before)
    series.flags.writeable = False
    make().fit_score(series)


def test_a_later_change_of_the_training_array_changes_nothing(make):
    train = wave()
    detector = make().fit(train)
    expected = detector.score(wave())
    train[:] = 0
    np.testing.assert_array_equal(detector.score(wave()), expected)


def test_any_container_gives_the_same_scores(make):
    expected = make().fit_score(wave())
    containers = [wave().tolist(), wave()[:, None], Series("a", "b", wave(), np.zeros(240))]
    for container in containers:
        np.testing.assert_array_equal(make().fit_score(container), expected)


@only(lambda _, detector: detector.supervision == "unsupervised")
def test_fit_then_score_equals_fit_score_when_unsupervised(make):
    np.testing.assert_array_equal(make().fit(wave()).score(wave()), make().fit_score(wave()))


def test_scores_a_series_it_was_not_fitted_on(make):
    scores = make().fit(wave(300)).score(wave(100, seed=1))
    assert scores.shape == (100,)
    assert np.isfinite(scores).all()


def test_score_before_fit_is_an_error(make):
    with pytest.raises(InvalidInputError, match="`fit` must be called before `score`"):
        make().score(wave())


@pytest.mark.parametrize("level", [0.0, 5.0, -1e9])
def test_constant_series(make, level):
    scores = make().fit_score(np.full(100, level))
    assert np.isfinite(scores).all()
    # No point differs from another, so none may stand out by more than rounding errors.
    if not isinstance(make(), type(get_detector("random"))):
        assert np.ptp(scores) <= 1e-6 * max(1.0, np.abs(scores).max())


def test_flat_start_does_not_break_training(make):
    series = wave()
    series[:100] = 1.0
    assert np.isfinite(make().fit_score(series)).all()


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6)])
def test_any_scale_gives_finite_scores(make, scale, shift):
    assert np.isfinite(make().fit_score(scale * wave() + shift)).all()


def test_the_shortest_series(make):
    shortest = make().min_points
    assert make().fit_score(wave(shortest)).shape == (shortest,)


def test_a_shorter_series_is_an_error(make):
    too_short = make().min_points - 1
    if too_short == 0:
        with pytest.raises(InvalidInputError, match="not empty"):
            make().fit_score([])
        return
    with pytest.raises(InvalidInputError, match=rf"at least \d+ points .* got {too_short}"):
        make().fit_score(wave(too_short))


@only_windowed
def test_a_series_shorter_than_a_given_window_is_an_error(make):
    with pytest.raises(InvalidInputError, match=r"at least 200 points .* got 90"):
        make(window=100).fit_score(wave(90))
    fitted = make(window=20).fit(wave())
    with pytest.raises(InvalidInputError, match=r"at least 21 points .* got 15"):
        fitted.score(wave(15))


@only_windowed
def test_the_period_window_is_cut_for_a_short_series(make):
    detector = make(window="period")
    detector.fit_score(np.random.default_rng(0).normal(size=60).cumsum())
    assert 3 <= detector.window_ <= 15


def test_nan_is_an_error_that_names_the_place(make):
    series = wave()
    series[[17, 30]] = np.nan
    with pytest.raises(InvalidInputError, match=r"`series` must be finite, got nan at index 17"):
        make().fit_score(series)
    with pytest.raises(InvalidInputError, match=r"`train` must be finite, got nan at index 17"):
        make().fit(series)


@pytest.mark.parametrize("impute", ["linear", "previous"])
def test_nan_can_be_imputed(make, impute):
    series = wave()
    series[[0, 17, 18, -1]] = np.nan
    scores = make(impute=impute).fit_score(series)
    assert np.isfinite(scores).all()
    assert np.isnan(series).sum() == 4


def test_infinity_is_an_error_even_when_imputing(make):
    series = wave()
    series[5] = -np.inf
    with pytest.raises(InvalidInputError, match=r"must be finite, got -inf at index 5"):
        make(impute="linear").fit_score(series)


def test_several_channels_or_a_clear_error(make):
    series = np.column_stack([wave(), wave(seed=1), wave(seed=2)])
    detector = make()
    if is_univariate(detector):
        with pytest.raises(InvalidInputError, match=r"one channel .* got 3 channels"):
            detector.fit_score(series)
        return
    assert np.isfinite(detector.fit_score(series)).all()
    with pytest.raises(InvalidInputError, match="must have 3 channels, got 1"):
        detector.score(wave())


def test_parameters_are_the_identity(make):
    detector = make(seed=4)
    assert detector == make(seed=4)
    assert hash(detector) == hash(make(seed=4))
    assert detector != make(seed=5)
    assert "seed=4" in repr(detector)
    assert all(f"{name}=" in repr(detector) for name in detector.params)


def test_fitting_does_not_change_the_identity(make):
    detector = make()
    before = repr(detector)
    detector.fit_score(wave())
    assert repr(detector) == before


def test_a_fitted_detector_survives_pickling(make):
    detector = make().fit(wave())
    copy = pickle.loads(pickle.dumps(detector))
    assert copy == detector
    np.testing.assert_array_equal(copy.score(wave()), detector.score(wave()))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"seed": -1}, "`seed` must be an int >= 0, got -1"),
        ({"impute": "zero"}, "`impute` must be one of 'linear', 'previous'"),
    ],
)
def test_common_parameters_are_checked(make, params, message):
    with pytest.raises(InvalidInputError, match=message):
        make(**params)


@only_windowed
@pytest.mark.parametrize("window", [0, 1, 2.5, "week", None])
def test_window_is_checked(make, window):
    with pytest.raises(InvalidInputError, match=r"`window` must be 'period' or an int >= [23]"):
        make(window=window)


@pytest.mark.parametrize("name", list_detectors())
def test_a_detector_can_be_made_again_from_its_parameters(name):
    detector = quick(name)
    assert get_detector(name, **detector.params) == detector
    assert detector.name == name
    assert detector.title
