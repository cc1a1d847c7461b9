"""Supervision, training parts, identity and the check of the scores."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from vuskit.datasets import Series
from vuskit.detectors import Detector, ModelDetector, Windowed, WindowModel, get_detector
from vuskit.errors import InvalidInputError
from vuskit.parameters import param, whole


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Recorder(Windowed, ModelDetector):
    """Keeps what it was fitted on."""

    def _fit(self, train, progress):
        self.seen = train[:, 0].copy()

    def _score(self, values):
        return np.zeros(len(values))


RAMP = np.arange(100.0)


def seen_by(train_on=None, series=RAMP, **params):
    recorder = Recorder(window=5, **params)
    recorder.fit_score(series, train_on=train_on)
    return recorder.seen


def test_unsupervised_fits_on_everything():
    assert Recorder().supervision == "unsupervised"
    np.testing.assert_array_equal(seen_by(), RAMP)


def test_semi_supervised_fits_on_the_first_share():
    assert Recorder(train_share=0.3).supervision == "semi-supervised"
    np.testing.assert_array_equal(seen_by(train_share=0.3), RAMP[:30])


def test_a_share_too_small_for_the_window_grows_to_what_a_fit_needs():
    np.testing.assert_array_equal(seen_by(train_share=0.01), RAMP[:12])


def test_a_known_train_length_overrules_the_share():
    series = Series("a", "b", RAMP, np.zeros(100), train_length=40)
    np.testing.assert_array_equal(seen_by(series=series, train_share=0.1), RAMP[:40])
    np.testing.assert_array_equal(seen_by(series=series), RAMP)


@pytest.mark.parametrize(
    ("train_on", "expected"),
    [
        (25, RAMP[:25]),
        (slice(50, 80), RAMP[50:80]),
        (slice(-20, None), RAMP[80:]),
        (RAMP[::-1], RAMP[::-1]),
        (Series("a", "b", RAMP[:30], np.zeros(30)), RAMP[:30]),
    ],
)
def test_train_on_is_explicit(train_on, expected):
    np.testing.assert_array_equal(seen_by(train_on=train_on, train_share=0.5), expected)


@pytest.mark.parametrize(
    ("train_on", "message"),
    [
        (0, "`train_on` must be an int >= 1, got 0"),
        ("first", "`train_on` must be an int >= 1, got 'first'"),
        (5, r"the training series must have at least 12 points .* got 5"),
        (np.zeros((50, 2)), "`train_on` must have 1 channels, got 2"),
        ([np.nan] * 30, "`train_on` must be finite, got nan at index 0"),
    ],
)
def test_bad_train_on(train_on, message):
    with pytest.raises(InvalidInputError, match=message):
        seen_by(train_on=train_on)


def test_the_window_is_the_period_of_the_whole_series_not_of_its_first_part():
    series = np.sin(2 * np.pi * np.arange(2000) / 40)
    detector = Recorder(train_share=0.05)
    detector.fit_score(series)
    assert detector.window_ == 40
    assert len(detector.seen) == 100


@pytest.mark.parametrize("share", [0, 1.5, -0.1, "half"])
def test_train_share_is_checked(share):
    with pytest.raises(InvalidInputError, match="`train_share` must be a number > 0 and <= 1"):
        Recorder(train_share=share)


def test_repr_shows_every_parameter_in_order():
    assert repr(get_detector("values")) == "values(impute=None, seed=0)"
    expected = "Recorder(impute=None, seed=2, train_share=None, window=7)"
    assert repr(Recorder(seed=2, window=7)) == expected


def test_numbers_of_other_types_make_the_same_identity():
    assert get_detector("iforest", n_trees=np.int64(50)) == get_detector("iforest", n_trees=50)
    assert get_detector("iforest", n_trees=50.0) == get_detector("iforest", n_trees=50)


def test_detectors_differ_from_other_things():
    assert get_detector("values") != "values(impute=None, seed=0)"


class Broken(Detector):
    scores: object = None

    def _fit(self, train, progress): ...

    def _score(self, values):
        return self.scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros(3), r"must return 4 scores, got shape \(3,\)"),
        (np.zeros((4, 1)), r"must return 4 scores, got shape \(4, 1\)"),
        ([0.0, np.nan, 0.0, np.inf], "must return finite scores, got nan at index 1"),
        (np.zeros(4) + 0j, "`scores of .*` must be real numbers, got 0j at index 0"),
        (
            np.ma.array(np.zeros(4), mask=[0, 0, 1, 0]),
            "`scores of .*` must not be masked, got a masked value at index 2; fill",
        ),
        ([0.0, 1.0, np.ma.masked, 0.0], "must not be masked, got a masked value at index 2"),
        (np.array([1.0, None, 2.0, 3.0]), "must be numbers, got None at index 1"),
        (np.arange(4).astype("M8[s]"), "must be numbers, got datetime"),
        (np.zeros(4, dtype=[("a", float)]), r"must be numbers, got \(0.0,\) at index 0"),
        (["a", "b", "c", "d"], "must be numbers, got 'a' at index 0"),
    ],
)
def test_wrong_scores_are_caught(scores, message):
    detector = Broken()
    detector.scores = scores
    with pytest.raises(InvalidInputError, match=message):
        detector.fit_score(np.zeros(4))


@pytest.mark.parametrize("dtype", ["i8", "u8", "O"])
def test_large_integer_scores_keep_their_order(dtype):
    detector = Broken()
    detector.scores = np.array([2**60 + 2, 2**60 + 1, 2**60, 2**60 + 2]).astype(dtype)
    scores = detector.fit_score(np.zeros(4))
    assert scores.dtype == np.float64
    assert scores[2] < scores[1] < scores[0] == scores[3]


class CountingWindows(WindowModel):
    def _fit(self, train, progress):
        self.seen = 0

    def _score_windows(self, windows):
        rows = self.seen + np.arange(len(windows))
        self.seen += len(windows)
        return 2**60 + rows * 7 % 39


def test_large_integer_scores_of_windows_keep_their_order_across_chunks(monkeypatch):
    monkeypatch.setattr("vuskit.detectors._windows.CHUNK_VALUES", 30)
    detector = CountingWindows(window=2)
    scores = detector.fit_score(np.zeros(40))[1:]
    assert detector.seen == 39
    assert scores.argsort().tolist() == (np.arange(39) * 7 % 39).argsort().tolist()


def test_a_parameter_declared_by_a_subclass_is_checked():
    @dataclasses.dataclass(kw_only=True, repr=False, eq=False)
    class Mine(Recorder):
        k: int = param(3, whole(1))

    assert repr(Mine(k=4)).startswith("Mine(impute=None, k=4")
    with pytest.raises(InvalidInputError, match="`k` must be an int >= 1, got 0"):
        Mine(k=0)
