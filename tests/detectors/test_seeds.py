"""What detectors say about their seed is so, and warming up changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.detectors import Detector, FunctionDetector, get_detector, list_detectors
from vuskit.detectors.registry import detector_class

# Parameters under which the seed shows on a short series, and training is quick.
QUICK = {
    "iforest": {"n_trees": 5},
    "ocsvm": {"max_train_windows": 40, "train_share": None},
    "norma": {"n_candidates": 20},
    "ae": {"epochs": 1, "max_train_windows": 64},
    "cnn": {"epochs": 1, "max_train_windows": 64},
    "lstm_ad": {"epochs": 1, "max_train_windows": 32},
}
BUILT_IN = [name for name in list_detectors() if "vuskit" in detector_class(name).__module__]


def wave(n):
    rng = np.random.default_rng(5)
    return np.sin(2 * np.pi * np.arange(n) / 25) + 0.2 * rng.normal(size=n)


def scores(name, seed, n):
    return get_detector(name, **QUICK.get(name, {}), seed=seed).fit_score(wave(n))


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_seed_matters_where_a_detector_says_so_and_nowhere_else(name):
    same = [np.array_equal(scores(name, 0, n), scores(name, 1, n)) for n in (240, 1500)]
    if detector_class(name).stochastic:
        assert not all(same)
    else:
        assert all(same)


@pytest.mark.parametrize("name", BUILT_IN)
def test_warming_up_is_quick_and_leaves_no_trace(name):
    detector = get_detector(name, **QUICK.get(name, {}), seed=3)
    before = repr(detector)
    assert detector.warm_up()
    assert repr(detector) == before
    assert detector._fitted_channels is None
    np.testing.assert_array_equal(detector.fit_score(wave(240)), scores(name, 3, 240))


def test_long_windows_of_mp_and_long_training_do_not_make_it_long():
    detector = get_detector("mp", window=5_000)
    assert detector.warm_up()
    epochs = []

    class Watched(detector_class("ae")):
        def _train_network(self, *arguments):
            epochs.append(self.epochs)
            return super()._train_network(*arguments)

    assert Watched(epochs=10_000, window=900).warm_up()
    assert epochs == [1]


def test_a_function_is_called_only_if_it_has_a_warm_up_of_its_own():
    calls = []

    def score(values):
        calls.append("score")
        return values

    assert not FunctionDetector(score).warm_up()
    score.warm_up = lambda: calls.append("warm_up")
    assert FunctionDetector(score).warm_up()
    assert calls == ["warm_up"]


def test_a_detector_of_ones_own_runs_with_every_seed_unless_it_says_otherwise():
    assert Detector.stochastic
