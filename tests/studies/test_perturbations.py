"""Perturbations do what they say, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.scored import SOME, make_scored

from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.studies import run_study
from vuskit.studies.perturbations import (
    add_noise,
    add_normal_noise,
    crops_by_ratio,
    even_lags,
    first_section,
    generator,
    generator_of,
    growing_crops,
    label_lags,
    noisy_score,
    random_label_lag,
    rare_section,
    scale_to_unit,
    shift,
    shift_labels,
)


@given(st.integers(0, 400), st.integers(2, 20), st.floats(0, 1))
def test_lags_are_even_and_within_bounds(buffer, count, fraction):
    lags = even_lags(buffer, count=count, fraction=fraction)
    assert lags.size == count
    assert np.abs(lags).max() <= fraction * buffer
    assert (lags == -lags[::-1]).all()
    assert (np.diff(lags) >= 0).all()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(-40, 40))
def test_shift_moves_every_point_that_stays(values, lag):
    score = np.array(values)
    moved = shift(score, lag)
    for i in range(score.size):
        assert moved[i] == score[min(max(i - lag, 0), score.size - 1)]
    np.testing.assert_array_equal(shift(score, lag, fill="wrap"), np.roll(score, lag))


def test_unknown_fill_is_refused():
    with pytest.raises(InvalidInputError, match="`fill` must be"):
        shift(np.zeros(3), 1, fill="zeros")


def test_noise_fills_its_range_and_no_more():
    score = np.linspace(-2, 8, 20_000)
    change = add_noise(score, generator(0, "a"), amplitude=0.05) - score
    assert np.abs(change).max() <= 0.5
    assert np.abs(change).max() > 0.499
    assert abs(change.mean()) < 0.01


def test_generators_depend_on_seed_and_parts_only():
    draws = {
        key: generator(*key).random()
        for key in [(0, "a", "b"), (0, "b", "a"), (1, "a", "b"), (0, "ab"), (0,)]
    }
    assert len(set(draws.values())) == len(draws)
    assert draws[0, "a", "b"] == generator(0, "a", "b").random()


def changed(scored, **fields):
    """The same series with another name, other values, ..."""
    kept = scored.series
    known = {"name": kept.name, "dataset": kept.dataset, "values": kept.values}
    return ScoredSeries(
        Series(**{**known, "labels": kept.labels, **fields}), scored.scores, scored.repeats
    )


def test_random_numbers_belong_to_content_not_to_names():
    scored = make_scored(1)

    def draw(scored, detector="good", seed=0, purpose="noise"):
        return generator_of(seed, scored, detector, purpose).random()

    first = draw(scored)
    renamed = ScoredSeries(scored.series, {"mine": scored.scores["good"]})
    assert draw(renamed, "mine") == first
    assert draw(changed(scored, name="other", dataset="elsewhere")) == first
    others = [
        draw(scored, "late"),
        draw(scored, seed=1),
        draw(scored, purpose="lag"),
        draw(changed(scored, values=scored.series.values + 1)),
        draw(changed(scored, labels=~scored.series.labels)),
    ]
    assert len({first, *others}) == 6


def test_runs_of_a_detector_share_their_random_numbers():
    scored = make_scored(1)
    runs = {"late (seed 0)": scored.scores["late"], "late (seed 1)": scored.scores["good"]}
    several = ScoredSeries(scored.series, runs, {"late": tuple(runs)})
    backwards = ScoredSeries(scored.series, dict(reversed(runs.items())), several.repeats)
    draws = {generator_of(0, one, "late", "noise").random() for one in (several, backwards)}
    assert len(draws) == 1


@pytest.mark.parametrize("study", ["robustness", "separability"])
def test_other_names_give_the_same_numbers(study):
    scored = make_scored(1)
    other = changed(scored, name="pump", dataset="plantB")
    names = {"good": "LOF", "late": "PCA", "noisy": "AE", "useless": "random"}
    other = ScoredSeries(other.series, {names[key]: one for key, one in other.scores.items()})
    first, second = (run_study(study, one, count=5, **SOME).values[0] for one in (scored, other))
    np.testing.assert_array_equal(first.values, second.values)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 25))
def test_crops_hold_a_whole_anomaly_and_have_their_share(seed, n_anomalies, length):
    random = np.random.default_rng(seed)
    labels = np.zeros(3000, dtype=bool)
    for start in random.integers(0, 2970, n_anomalies):
        labels[start : start + length] = True
    crops = crops_by_ratio(labels, tolerance=0.1)
    assert [crop.target for crop in crops] == pytest.approx(np.linspace(0.01, 0.2, 10))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
    events = list(zip(edges[::2], edges[1::2], strict=True))
    reached = [crop for crop in crops if crop.reached]
    for crop in reached:
        share = labels[crop.start : crop.stop].mean()
        assert abs(share - crop.target) <= 0.1 * crop.target + 1e-12
    whole = [
        [event for event in events if crop.start <= event[0] and event[1] <= crop.stop]
        for crop in reached
    ]
    if whole:
        assert set.intersection(*map(set, whole))


def test_crops_are_the_longest_with_their_share():
    labels = np.zeros(2000, dtype=bool)
    labels[1000:1010] = True
    for crop in crops_by_ratio(labels, tolerance=0.05):
        wider = labels[max(crop.start - 1, 0) : crop.stop + 1]
        assert wider.mean() < 0.95 * crop.target


def test_shares_out_of_reach_are_said_to_be():
    dense = np.tile(np.repeat([False, True], 10), 50)
    assert not crops_by_ratio(dense)[0].reached
    assert not any(crop.reached for crop in crops_by_ratio(np.zeros(50, dtype=bool)))


# ---- the procedure of the published experiments ----


@st.composite
def anomalies(draw, longest=2500):
    """Labels with a few anomalies anywhere, also at the ends."""
    n = draw(st.integers(1, longest))
    labels = np.zeros(n, dtype=bool)
    for start, length in draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(1, 300)), max_size=6)
    ):
        labels[start : start + length] = True
    return labels


@given(anomalies(), st.integers(400, 1500))
def test_sections_are_those_of_the_oracle(labels, length):
    found = rare_section(labels, length)
    assert (found.start, found.stop, found.anchor) == oracle.rare_section(labels.tolist(), length)
    assert found.stop - found.start <= length
    if labels.any():
        assert labels[found.start + found.anchor]
        assert found.start + found.anchor == 0 or not labels[found.start + found.anchor - 1]


def test_a_section_near_the_end_is_moved_not_shortened():
    labels = np.zeros(12_000, dtype=bool)
    labels[11_500:11_600] = True
    found = rare_section(labels, 10_000)
    assert (found.start, found.stop, found.anchor) == (2000, 12_000, 9500)


def test_the_first_section_has_its_first_anomaly():
    labels = np.zeros(1000, dtype=bool)
    labels[[120, 700]] = True
    assert first_section(labels, 500).anchor == 120
    assert first_section(labels, 5000).stop == 1000
    assert first_section(np.zeros(10, dtype=bool), 5).anchor == 0


@given(st.integers(0, 600))
def test_lags_of_labels_are_those_of_the_oracle(buffer):
    assert label_lags(buffer).tolist() == oracle.label_lags(buffer)


@given(st.integers(0, 600), st.integers(0, 5))
def test_random_lags_of_labels_stay_within_a_quarter(buffer, seed):
    random = generator(seed)
    for _ in range(20):
        assert -buffer // 4 <= random_label_lag(random, buffer) <= buffer // 4


@given(anomalies(60), st.integers(-80, 80))
def test_labels_move_and_the_free_end_is_normal(labels, lag):
    moved = shift_labels(labels, lag)
    assert moved.tolist() == oracle.shift_labels(labels.tolist(), lag)
    assert moved.dtype == np.bool_


@given(st.integers(1, 3000), st.data(), st.integers(2, 30))
def test_growing_crops_are_those_of_the_oracle(n, data, count):
    anchor = data.draw(st.integers(0, n - 1))
    labels = np.zeros(n, dtype=bool)
    labels[anchor] = True
    crops = growing_crops(labels, anchor, count=count)
    assert [(one.start, one.stop) for one in crops] == oracle.growing_crops(n, anchor, count)
    for crop in crops:
        assert crop.reached
        assert crop.target == pytest.approx(1 / (crop.stop - crop.start))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_scaling_to_the_unit_range(values):
    np.testing.assert_allclose(scale_to_unit(np.array(values)), oracle.unit(values), atol=1e-12)


def test_normal_noise_is_added_to_the_scaled_score():
    score = np.linspace(3.0, 7.0, 5000)
    noisy = add_normal_noise(score, generator(1), mean=-0.1, std=0.1)
    noise = generator(1).normal(-0.1, 0.1, score.size)
    expected = oracle.unit([a + b for a, b in zip(oracle.unit(score.tolist()), noise, strict=True)])
    np.testing.assert_allclose(noisy, expected, atol=1e-12)
    np.testing.assert_array_equal(noisy_score("normal:-0.1:0.1", score, generator(1)), noisy)
    np.testing.assert_array_equal(
        noisy_score("uniform:0.2", score, generator(1)),
        add_noise(score, generator(1), amplitude=0.2),
    )
