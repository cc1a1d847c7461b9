"""Synthetic labels, scores and series."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vuskit.datasets import Series
from vuskit.datasets.synthetic import (
    labeled_scores,
    labels_with_events,
    list_families,
    make_series,
    three_scores,
)
from vuskit.datasets.synthetic.mackey_glass import mackey_glass, mackey_glass_curve
from vuskit.datasets.synthetic.make import DIFFICULTIES, KINDS, get_family, place_events
from vuskit.errors import InvalidInputError

FAMILIES = [family.name for family in list_families()]


def events_of(labels):
    return Series("x", "x", np.zeros(labels.size), labels).events


@given(
    st.lists(st.integers(1, 9), max_size=8),
    st.integers(0, 30),
    st.integers(0, 12),
    st.integers(1, 7),
    st.integers(0, 2**32),
)
def test_places_are_apart_and_inside(lengths, spare, first, gap, seed):
    sizes = np.array(lengths, dtype=np.intp)
    needed = first + sizes.sum() + gap * max(0, sizes.size - 1) + (gap if gap > 1 else 0)
    starts = place_events(needed + spare, sizes, np.random.default_rng(seed), first=first, gap=gap)
    stops = starts + sizes
    assert starts.size == sizes.size
    assert (starts >= first).all()
    assert (starts[1:] - stops[:-1] >= gap).all()
    assert (stops <= needed + spare).all()


def test_every_arrangement_is_equally_likely():
    # Two events of lengths 1 and 2 in six points: six arrangements.
    rng = np.random.default_rng(0)
    drawn = [tuple(place_events(6, np.array([1, 2]), rng).tolist()) for _ in range(6000)]
    arrangements, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(arrangements) == 6
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize(
    ("n", "n_anomalies", "mean_length", "std_length"),
    [
        (100_000, 0, 10, 0),
        (100_000, 2000, 10, 0),
        (100_000, 10, 1000, 0),
        (100_000, 10, 1, 0),
        (1000, 10, 10, 0),
        (100_000, 10, 10, 10),
        (100_000, 2000, 10, 10),
        (40, 20, 1, 0),
    ],
)
def test_the_timing_studys_range_fits(n, n_anomalies, mean_length, std_length):
    labels = labels_with_events(
        n, n_anomalies=n_anomalies, mean_length=mean_length, std_length=std_length, seed=3
    )
    lengths = np.array([stop - start for start, stop in events_of(labels)])
    assert labels.size == n
    assert lengths.size == n_anomalies
    if std_length == 0 and n_anomalies:
        assert set(lengths.tolist()) == {mean_length}


@pytest.mark.parametrize(("mean", "std"), [(10, 3), (10, 10), (100, 10), (2, 1)])
def test_lengths_have_the_asked_mean_and_deviation(mean, std):
    labels = labels_with_events(
        2_000_000, n_anomalies=8000, mean_length=mean, std_length=std, seed=1
    )
    lengths = np.array([stop - start for start, stop in events_of(labels)])
    assert lengths.min() >= 1
    # Rounding adds at most 1/12 to the variance, skewness a little to the mean.
    assert lengths.mean() == pytest.approx(mean, abs=0.1 + 5 * std / np.sqrt(8000))
    assert lengths.std() == pytest.approx(std, abs=0.2 + 0.05 * std)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "`n` must be an int >= 1, got 0"),
        ({"n_anomalies": -1}, "`n_anomalies` must be an int >= 0, got -1"),
        ({"n_anomalies": 2.5}, "`n_anomalies` must be an int >= 0, got 2.5"),
        ({"mean_length": 0}, "`mean_length` must be a number >= 1, got 0"),
        ({"mean_length": np.nan}, "`mean_length` must be a number >= 1, got nan"),
        ({"std_length": -1}, "`std_length` must be a number >= 0, got -1"),
        ({"mean_length": 1, "std_length": 2}, "`std_length` must be 0 when `mean_length` is 1"),
        ({"n": 109}, "`n` must be >= 119 to hold 20 anomalies with 100 points in total"),
    ],
)
def test_labels_that_cannot_be(changes, message):
    arguments = {"n": 119, "n_anomalies": 20, "mean_length": 5, "seed": 0}
    assert labels_with_events(**arguments).sum() == 100
    with pytest.raises(InvalidInputError, match=message):
        labels_with_events(**{**arguments, **changes})


def test_scores_go_with_their_labels():
    arguments = {"n": 50_000, "n_anomalies": 100, "mean_length": 20, "std_length": 5, "seed": 9}
    labels, scores = labeled_scores(**arguments)
    assert np.array_equal(labels, labels_with_events(**arguments))
    assert np.unique(scores).size == scores.size
    assert scores[labels].mean() - scores[~labels].mean() == pytest.approx(2, abs=0.1)
    _, chance = labeled_scores(**arguments, separation=0)
    assert chance[labels].mean() == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_series_are_what_was_asked_for(family, kind, difficulty):
    make = {"n": 4000, "n_anomalies": 3, "kind": kind, "difficulty": difficulty}
    series = make_series(family, **make, seed=5)
    again = make_series(family, **make, seed=5)
    other = make_series(family, **make, seed=6)
    assert series == again
    assert series.content_hash != other.content_hash
    assert series.n_points == 4000
    assert series.n_anomalies == 3
    assert np.isfinite(series.values).all()
    assert series.train_length == 400
    assert not series.labels[:400].any()
    length = 1 if kind == "point" else get_family(family).anomaly_length
    assert {stop - start for start, stop in series.events} == {length}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "native"])
def test_general_anomalies_change_nothing_but_their_events(family, kind):
    make = {"n": 4000, "anomaly_length": 30, "kind": kind, "seed": 2}
    clean = make_series(family, n_anomalies=0, **make).values
    series = make_series(family, n_anomalies=4, **make)
    changed = series.values != clean
    assert not changed[~series.labels].any()
    assert all(changed[start:stop].mean() > 0.8 for start, stop in series.events)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_easier_means_further_from_normal(family, kind):
    def distance(difficulty):
        total = 0.0
        for seed in range(6):
            make = {"n": 6000, "anomaly_length": 60, "kind": kind, "difficulty": difficulty}
            series = make_series(family, n_anomalies=6, seed=seed, **make)
            clean = make_series(family, n_anomalies=0, seed=seed, **make)
            # Noise of the native families differs: compare the shape, not the points.
            rough = np.diff(series.values)[series.labels[1:]].std() / np.diff(clean.values).std()
            level = np.abs(series.values - clean.values)[series.labels].mean() / clean.values.std()
            total += abs(np.log(rough)) + level
        return total

    assert distance("easy") > distance("hard")


@pytest.mark.parametrize("family", FAMILIES)
def test_places_do_not_depend_on_difficulty_or_kind(family):
    makes = [
        {"kind": kind, "difficulty": difficulty} for kind in KINDS for difficulty in DIFFICULTIES
    ]
    placed = {
        make_series(family, n=3000, n_anomalies=2, anomaly_length=20, seed=1, **make).events
        for make in makes
    }
    assert len(placed) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": "egc"}, "`family` must be one of 'ecg', .* got 'egc'"),
        ({"kind": "odd"}, "`kind` must be one of 'native', 'point', .* got 'odd'"),
        ({"difficulty": "eesy"}, "`difficulty` must be one of 'easy', .* got 'eesy'"),
        ({"difficulty": 1.5}, "`difficulty` must be a number from 0 to 1, got 1.5"),
        ({"train_share": 1}, r"`train_share` must be in \[0, 1\), got 1"),
        ({"anomaly_length": 0}, "`anomaly_length` must be an int >= 1, got 0"),
        ({"n": 1000, "n_anomalies": 50}, "`n` must be >= 9600 to hold 50 anomalies"),
    ],
)
def test_series_that_cannot_be(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        make_series(**{"family": "ecg", "seed": 0, **changes})


def test_difficulty_as_a_number():
    named = make_series("kpi", difficulty="medium", seed=0)
    assert make_series("kpi", difficulty=0.5, seed=0).content_hash == named.content_hash


def slow_mackey_glass(n, history, steps):
    """Explicit Euler, far finer than the library's own step."""
    delay = 18 * steps
    x = [history] * (delay + 1)
    for _ in range(n * steps):
        delayed = x[-1 - delay]
        x.append(x[-1] + (0.25 * delayed / (1 + delayed**10) - 0.1 * x[-1]) / steps)
    return np.array(x[delay::steps])


def test_mackey_glass_follows_its_equation(monkeypatch):
    monkeypatch.setattr("vuskit.datasets.synthetic.mackey_glass._WARM_UP", 0)
    curve = mackey_glass_curve(150, history=0.8)
    slow = slow_mackey_glass(150, 0.8, 400)
    # The first point of the curve is one fifth of a unit after the start.
    times = np.arange(150) + 0.2
    expected = np.interp(times, np.arange(slow.size), slow)
    assert np.abs(curve - expected).max() < 0.02


def test_mackey_glass_is_chaotic_and_stays_on_its_attractor():
    near, nearer = (mackey_glass_curve(3000, history=0.9 + tiny) for tiny in (0, 1e-9))
    assert np.abs(near - nearer)[-500:].max() > 0.3
    assert 0.2 < near.min() < 0.5
    assert 1.2 < near.max() < 1.7


def test_mackey_glass_is_cut_in_the_middle_of_the_event():
    make = {"strength": 1.0}
    clean = mackey_glass(2000, [], **make, rng=np.random.default_rng(4))
    cut = mackey_glass(2000, [(900, 1000)], **make, rng=np.random.default_rng(4))
    apart = np.abs(cut - clean) > 0.05  # the noise is at most 0.02 between two
    assert not apart[:951].any()
    assert apart[951:1200].mean() > 0.5


def test_harder_cuts_match_better():
    def jump(strength):
        jumps = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            values = mackey_glass(1000, [(450, 550)], strength=strength, rng=rng)
            jumps.append(abs(values[501] - 2 * values[500] + values[499]))
        return np.mean(jumps)

    assert jump(0.0) < jump(0.5) < jump(1.0)


def test_demo_scores_rank_as_their_names_say():
    scored = three_scores(seed=3)
    labels = scored.series.labels
    assert scored.detectors == ("good", "late", "noisy")

    def auc(score):
        order = np.argsort(np.argsort(score))[labels]
        positives, negatives = labels.sum(), (~labels).sum()
        return (order.sum() - positives * (positives - 1) / 2) / (positives * negatives)

    good, late, noisy = (auc(scored.scores[name]) for name in scored.detectors)
    assert good > 0.97
    assert good > noisy > 0.8
    assert good > late > 0.6
    assert three_scores(seed=3).scores["late"].tolist() == scored.scores["late"].tolist()
    assert all(score.min() >= 0 and score.max() == 1 for score in scored.scores.values())


def test_synthetic_needs_numpy_only():
    code = (
        "import sys\n"
        "from vuskit.datasets.synthetic import make_series, three_scores\n"
        "three_scores(); make_series('mackey_glass', n=2000, n_anomalies=1, seed=0)\n"
        "heavy = {'pandas', 'pyarrow', 'scipy', 'sklearn', 'numba', 'matplotlib', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@settings(max_examples=25)
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.integers(1, 700),
    st.integers(0, 10**6),
)
def test_any_number_and_length(family, kind, count, length, seed):
    series = make_series(
        family,
        n=4000,
        n_anomalies=count,
        anomaly_length=length,
        kind=kind,
        train_share=0,
        seed=seed,
    )
    assert [stop - start for start, stop in series.events] == [length] * count
    assert np.isfinite(series.values).all()
