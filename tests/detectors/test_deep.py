"""Training, stopping, reproducibility and placement of the neural detectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vuskit.detectors import CNN, LSTMAD, AutoEncoder
from vuskit.detectors.deep._torch import predict, train

NEURAL = [AutoEncoder, CNN, LSTMAD]


def wave(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * np.arange(n) / 16) + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("cls", NEURAL)
def test_progress_is_reported_after_each_epoch(cls):
    reports = []
    cls(window=16, epochs=3, patience=3).fit_score(wave(), progress=reports.append)
    assert [report.epoch for report in reports] == [1, 2, 3]
    assert {report.epochs for report in reports} == {3}
    assert all(np.isfinite([r.train_loss, r.validation_loss]).all() for r in reports)


@pytest.mark.parametrize("cls", NEURAL)
def test_training_reduces_the_loss(cls):
    reports = []
    cls(window=16, epochs=40, train_share=0.8).fit_score(wave(), progress=reports.append)
    assert min(report.validation_loss for report in reports) < 0.5 * reports[0].validation_loss


@pytest.mark.parametrize("cls", NEURAL)
def test_another_seed_gives_another_network(cls):
    first, second = (cls(window=16, epochs=1, seed=s).fit_score(wave()) for s in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("cls", NEURAL)
def test_torch_is_left_as_it_was(cls):
    torch.manual_seed(123)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    cls(window=16, epochs=1).fit_score(wave())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("cls", NEURAL)
def test_many_windows_are_sampled_down(cls):
    detector = cls(window=16, epochs=1, train_share=1.0, max_train_windows=20)
    assert detector.fit_score(wave(2000)).shape == (2000,)


def fit_line(**options):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1)).astype(np.float32)
    settings = {
        "epochs": 60,
        "patience": 3,
        "batch_size": 32,
        "learning_rate": 0.05,
        "validation_share": 0.2,
        "shuffle": True,
        "keep": "last",
        "seed": 0,
        "device": "cpu",
        "progress": None,
        **options,
    }
    noise = rng.normal(size=(200, 1)).astype(np.float32)
    return train(lambda: torch.nn.Linear(1, 1), x, 3 * x + 0.5 * noise, **settings), x


def test_training_stops_when_validation_no_longer_improves():
    reports = []
    fit_line(progress=reports.append)
    losses = [report.validation_loss for report in reports]
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 3
    assert len(losses) < 60


def test_the_last_or_the_best_network_is_kept():
    reports = []
    last, x = fit_line(progress=reports.append)
    stopped, _ = fit_line(epochs=int(np.argmin([r.validation_loss for r in reports])) + 1)
    best, _ = fit_line(keep="best")
    with torch.inference_mode():
        expected = stopped(torch.from_numpy(x))
        assert torch.equal(best(torch.from_numpy(x)), expected)
        assert not torch.equal(last(torch.from_numpy(x)), expected)


@pytest.mark.parametrize("cls", [CNN, LSTMAD])
def test_a_forecast_error_stands_on_the_point_that_was_not_predicted(cls):
    series = wave(600)
    series[450] += 8
    scores = cls(window=16, epochs=10, train_share=0.5).fit_score(series)
    assert int(scores.argmax()) == 450
    np.testing.assert_array_equal(scores[:16], scores[16])
    centered = cls(window=16, epochs=10, train_share=0.5, placement="center").fit_score(series)
    np.testing.assert_array_equal(centered[8:-8], scores[16:])
    np.testing.assert_array_equal(centered[-8:], scores[-1])


@pytest.mark.parametrize("cls", [CNN, LSTMAD])
def test_a_forecast_error_has_the_unit_of_its_window(cls):
    """Published: the range of the window and the point; otherwise the training part's spread."""
    series = wave(600)
    by_window = cls(window=16, epochs=2, train_share=0.5)
    by_training = cls(window=16, epochs=2, train_share=0.5, scale="training")
    for detector in (by_window, by_training):
        detector.fit(series[:300])
    values = np.concatenate([series, 20 * series])[:, None]
    for detector in (by_window, by_training):
        scores = detector.score(values)
        for i in (50, 599, 610, 900):
            miss = abs(values[i, 0] - detector._predict(values)[i - 16, 0])
            around = values[i - 16 : i + 1, 0]
            unit = np.ptp(around) if detector is by_window else series[:300].std()
            assert scores[i] == pytest.approx(miss / unit, rel=1e-6)


@pytest.mark.parametrize("window", [2, 3, 5, 16, 100])
def test_convolutions_take_any_window(window):
    scores = CNN(window=window, epochs=1, train_share=1.0).fit_score(wave(300))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(("cls", "shape"), [(CNN, (1, 1, 16)), (LSTMAD, (1, 16, 1))])
def test_forecasters_see_windows_scaled_with_the_next_point(cls, shape):
    detector = cls(window=16, epochs=2).fit(wave())
    series = wave(50, seed=3)
    expected = []
    for i in range(16, 50):
        around = series[i - 16 : i + 1]
        scaled = ((around - around.min()) / np.ptp(around)).astype(np.float32)
        with torch.inference_mode():
            predicted = detector._network(torch.from_numpy(scaled[:-1].reshape(shape)))
        expected.append(abs(scaled[-1] - float(predicted)))
    np.testing.assert_allclose(detector.score(series)[16:], expected, atol=1e-5)


@pytest.mark.parametrize("n", [33, 47, 48, 49, 100])
def test_segments_cover_every_point_with_a_window_of_context(n):
    """A prediction is the network's answer to its segment, up to the point before."""
    detector = LSTMAD(window=16, epochs=1, context="segment").fit(wave(100))
    series = wave(n, seed=5)[:, None]
    scaled = detector._standardized(series)
    predicted = detector._standardized(detector._predict(series))
    assert predicted.shape == (n - 16, 1)
    length = min(32, n - 1)
    per_segment = length - 15
    starts = [min(start, n - 1 - length) for start in range(0, n - 16, per_segment)]
    for target in range(16, n):
        start = max(s for s in starts if s + 16 <= target < s + 16 + per_segment)
        expected = predict(detector._network, scaled[start:target][None], device="cpu")[0, -1, 0]
        assert predicted[target - 16, 0] == pytest.approx(expected, abs=1e-5)


def test_the_autoencoder_score_is_the_mean_absolute_error():
    detector = AutoEncoder(window=16, epochs=2).fit(wave())
    series = wave(50, seed=3)
    rows = np.array([series[i : i + 16] for i in range(35)])
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    rows = (rows - low) / (high - low)
    with torch.inference_mode():
        rebuilt = detector._network(torch.from_numpy(rows.astype(np.float32))).numpy()
    expected = np.abs(rows - rebuilt).mean(axis=1)
    np.testing.assert_allclose(detector.score(series)[8:43], expected, atol=1e-5)
