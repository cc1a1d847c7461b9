"""The classical methods against slow, literal versions of what they say they compute."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.poly import poly_blocks
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from vuskit.detectors import LOF, MP, OCSVM, PCA, POLY, IForest, MovingZScore, NormA
from vuskit.detectors._windows import all_windows, center_on_points
from vuskit.detectors.norma import _cluster, _moving_average, _normal_model, _sample


def walk(n=150, seed=0):
    return np.random.default_rng(seed).normal(size=n).cumsum()


def rows_of(series, window):
    return np.array([series[i : i + window] for i in range(len(series) - window + 1)])


def zscore(part):
    return (part - part.mean()) / part.std()


def centered(window_scores, window):
    before, after = int(np.ceil((window - 1) / 2)), (window - 1) // 2
    return np.concatenate([[window_scores[0]] * before, window_scores, [window_scores[-1]] * after])


# -- PCA ---------------------------------------------------------------------------------------


def standardized(series, window):
    rows = rows_of(series, window)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def test_pca_offers_the_mahalanobis_distance():
    rows = standardized(walk(), 6)
    inverse = np.linalg.inv(np.cov(rows.T, bias=True))
    distances = np.array([row @ inverse @ row for row in rows]) * 6
    np.testing.assert_allclose(
        PCA(window=6, distance="mahalanobis").fit_score(walk()), centered(distances, 6), rtol=1e-8
    )


def test_pca_sums_distances_as_pyod_by_default():
    rows = standardized(walk(), 6)
    variances, components = np.linalg.eigh(np.cov(rows.T, bias=True))
    shares = variances / variances.sum()
    scores = [
        sum(np.linalg.norm(row - components[:, k]) / shares[k] for k in range(len(shares)))
        for row in rows
    ]
    np.testing.assert_allclose(PCA(window=6).fit_score(walk()), centered(scores, 6), rtol=1e-8)


def test_pca_drops_components_without_variance():
    series = np.sin(np.arange(200) / 5)  # a sine has two components, whatever the window
    detector = PCA(window=10).fit(series)
    assert np.isfinite(detector.score(series)).all()
    assert detector._components.shape[1] < 10


# -- POLY --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (640, {}),
        (633, {}),  # the last block is incomplete
        (90, {"window": 12, "neighborhood": 4}),  # the neighborhood is the whole series
        (151, {"window": 7, "power": 1, "neighborhood": 2}),
        (5200, {"window": 150, "power": 2}),  # the first block with a score begins after 500 points
    ],
)
def test_poly_is_the_published_program(n, options):
    series = walk(n)
    expected = poly_blocks(series.tolist(), **options)
    np.testing.assert_allclose(POLY(**options).fit_score(series), expected, atol=1e-8)


def naive_sliding_poly(series, window, power, neighborhood):
    n = len(series)
    length = min(max(neighborhood * window, 100), n)
    scores = []
    for start in range(n - window + 1):
        left = min(max(start - (length - window) // 2, 0), n - length)
        around = [i for i in range(left, left + length) if not start <= i < start + window]
        # Positions relative to the window keep the least-squares problem well conditioned.
        fit = np.polyfit((np.array(around) - start) / length, series[around], power)
        inside = np.arange(start, start + window)
        misses = series[inside] - np.polyval(fit, (inside - start) / length)
        scores.append(np.sqrt((misses**2).mean()))
    return centered(scores, window)


@pytest.mark.parametrize(
    ("n", "window", "power", "neighborhood"), [(250, 12, 3, 10), (151, 7, 1, 4), (60, 12, 3, 10)]
)
def test_sliding_poly_predicts_the_window_around_each_point(n, window, power, neighborhood):
    detector = POLY(window=window, power=power, neighborhood=neighborhood, windows="sliding")
    expected = naive_sliding_poly(walk(n), window, power, neighborhood)
    np.testing.assert_allclose(detector.fit_score(walk(n)), expected, atol=1e-7)


def test_sliding_poly_does_not_err_on_a_polynomial():
    time = np.arange(200) / 200
    scores = POLY(window=10, windows="sliding").fit_score(3 * time**3 - time + 5)
    assert scores.max() < 1e-9


def test_poly_adds_the_squared_errors_of_the_channels():
    first, second = walk(300), walk(300, seed=1)
    both = POLY().fit_score(np.column_stack([first, second]))
    expected = np.hypot(POLY().fit_score(first), POLY().fit_score(second))
    np.testing.assert_allclose(both, expected, atol=1e-9)


def test_poly_takes_20_points_whatever_the_period():
    detector = POLY()
    detector.fit_score(np.sin(2 * np.pi * np.arange(1000) / 50))
    assert detector.window_ == 20
    detector = POLY(window="period")
    detector.fit_score(np.sin(2 * np.pi * np.arange(1000) / 50))
    assert detector.window_ == 50


# -- LOF, OCSVM, IForest -----------------------------------------------------------------------


def test_lof_leaves_a_window_out_of_its_own_neighborhood():
    rows = rows_of(walk(), 6)
    expected = -LocalOutlierFactor(n_neighbors=9).fit(rows).negative_outlier_factor_
    scores = LOF(window=6, n_neighbors=9).fit_score(walk())
    np.testing.assert_allclose(scores, centered(expected, 6))


def test_lof_scores_another_series_against_the_fitted_windows():
    model = LocalOutlierFactor(n_neighbors=9, novelty=True).fit(rows_of(walk(), 6))
    expected = -model.score_samples(rows_of(walk(80, seed=1), 6))
    scores = LOF(window=6, n_neighbors=9).fit(walk()).score(walk(80, seed=1))
    np.testing.assert_allclose(scores, centered(expected, 6))


def test_lof_takes_a_smaller_neighborhood_in_a_short_series():
    assert LOF(window=5, n_neighbors=500).fit_score(walk(30)).shape == (30,)


def test_ocsvm_learns_from_the_first_tenth_scaled_window_by_window():
    series = walk(300)
    rows = np.array([(r - r.min()) / (r.max() - r.min()) for r in rows_of(series, 6)])
    model = OneClassSVM(nu=0.05, gamma="auto").fit(rows[: 30 - 5])
    scores = OCSVM(window=6).fit_score(series)
    np.testing.assert_allclose(scores, centered(-model.decision_function(rows), 6))


def test_normalization_is_a_parameter():
    series = walk() * np.linspace(1, 50, 150)
    plain = IForest(window=6).fit_score(series)
    scaled = IForest(window=6, normalize="zscore").fit_score(series)
    assert np.abs(plain - scaled).max() > 0.05
    # Windows scaled one by one do not see the scale of the series (a power of two is exact).
    again = IForest(window=6, normalize="zscore").fit_score(series * 1024)
    np.testing.assert_allclose(scaled, again)


# -- matrix profile ----------------------------------------------------------------------------


def naive_nearest(series, reference, window, is_self):
    rows, others = rows_of(series, window), rows_of(reference, window)
    excluded = int(np.ceil(window / 4))
    return [
        min(
            np.linalg.norm(zscore(row) - zscore(other))
            for j, other in enumerate(others)
            if not is_self or abs(i - j) > excluded
        )
        for i, row in enumerate(rows)
    ]


def test_mp_of_a_fitted_series_is_its_self_join():
    expected = naive_nearest(walk(80), walk(80), 8, is_self=True)
    np.testing.assert_allclose(MP(window=8).fit_score(walk(80)), centered(expected, 8), atol=1e-6)


def test_mp_of_another_series_is_a_join_with_the_fitted_one():
    expected = naive_nearest(walk(60, seed=1), walk(80), 8, is_self=False)
    scores = MP(window=8).fit(walk(80)).score(walk(60, seed=1))
    np.testing.assert_allclose(scores, centered(expected, 8), atol=1e-6)


# -- NormA -------------------------------------------------------------------------------------


def test_norma_finds_as_many_patterns_as_there_are():
    rng = np.random.default_rng(0)
    shapes = [np.sin(np.arange(60) / 3), np.sign(np.sin(np.arange(60) / 9)), np.arange(60.0)]
    kinds = np.repeat([0, 1, 2], 30)
    members = np.array([zscore(shapes[k] + 0.05 * rng.normal(size=60)) for k in kinds])
    labels = _cluster(members, max_clusters=10, n_independent=90)
    assert len(np.unique(labels)) == 3
    assert all(len(np.unique(labels[kinds == kind])) == 1 for kind in range(3))


def test_norma_takes_every_subsequence_of_a_short_series():
    series = np.sin(np.arange(300) / 4) + 0.1 * walk(300)
    first, second = (NormA(window=12, n_candidates=300, seed=s).fit_score(series) for s in (0, 1))
    np.testing.assert_array_equal(first, second)


def test_norma_draws_one_candidate_from_each_part_of_a_longer_series():
    series = walk(519)[:, None]  # 500 subsequences of 20 points
    for seed in range(3):
        starts, candidates = _sample(series, 20, 50, np.random.default_rng(seed))
        np.testing.assert_array_equal(starts // 10, np.arange(50))
        np.testing.assert_allclose(candidates[7], zscore(series[starts[7] :][:20, 0]))


def test_norma_weights_frequency_coverage_and_distance():
    candidates = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0], [6.0, 8.0]])
    starts = np.array([0, 10, 20, 30, 60, 70])
    labels = np.array([1, 1, 2, 2, 2, 3])
    patterns, weights = _normal_model(candidates, starts, labels)
    np.testing.assert_array_equal(patterns, [[0, 0], [3, 4], [6, 8]])
    raw = np.array([(2 / 6) ** 2 * 10 / 15, (3 / 6) ** 2 * 40 / 10, 0.0])
    np.testing.assert_allclose(weights, raw / raw.sum())


def test_norma_scores_by_weighted_distance_to_the_patterns():
    series = np.sin(np.arange(300) / 4) + 0.1 * walk(300)
    detector = NormA(window=12, n_candidates=40).fit(series)
    rows = rows_of(series, 12)
    total = np.zeros(len(rows))
    for pattern, weight in zip(detector.patterns_, detector.weights_, strict=True):
        subsequences = [zscore(row) for row in rows_of(pattern, 12)]
        total += weight * np.array(
            [min(np.linalg.norm(zscore(row) - sub) for sub in subsequences) for row in rows]
        )
    expected = _moving_average(centered(total, 12), 12)
    np.testing.assert_allclose(detector.score(series), expected, atol=1e-5)


def test_moving_average_is_centered_and_keeps_the_length():
    spike = np.zeros(11)
    spike[5] = 1
    np.testing.assert_allclose(_moving_average(spike, 3), [0] * 4 + [1 / 3] * 3 + [0] * 4)
    np.testing.assert_allclose(_moving_average(np.full(9, 2.0), 4), 2.0)


# -- baseline ----------------------------------------------------------------------------------


def test_moving_zscore():
    series = walk(60)
    rows = all_windows(series[:, None], 7)
    mean, spread = center_on_points(rows.mean(1), 60), center_on_points(rows.std(1), 60)
    scores = MovingZScore(window=7).fit_score(series)
    np.testing.assert_allclose(scores, np.abs(series - mean) / spread)
