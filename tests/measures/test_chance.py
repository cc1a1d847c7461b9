"""Chance levels: seeded, lazy, and as high as they really are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vuskit
from vuskit.measures import registry

LABELS = np.zeros(400, dtype=int)
LABELS[50:60] = LABELS[150:170] = 1
SCORE = np.random.default_rng(0).random(400) + LABELS


def with_events(n, n_events, length):
    labels = np.zeros(n, dtype=int)
    for start in np.linspace(0.03 * n, 0.95 * n, n_events).astype(int):
        labels[start : start + length] = 1
    return labels


@pytest.mark.parametrize(("length", "expected"), [(100, 0.62), (1, 0.94)])
def test_noise_does_not_get_a_half(length, expected):
    chance = vuskit.chance_level(with_events(10_000, 10, length), buffer=100, measures="vus_roc")
    assert chance.mean["vus_roc"] == pytest.approx(expected, abs=0.01)
    assert 0 < chance.std["vus_roc"] < 0.02


def test_noise_gets_a_half_of_the_plain_area():
    chance = vuskit.chance_level(LABELS, buffer=4, measures=["auc_roc", "auc_pr"], draws=200)
    assert chance.mean["auc_roc"] == pytest.approx(0.5, abs=0.01)
    assert chance.mean["auc_pr"] == pytest.approx(LABELS.mean(), abs=0.02)


def test_is_reproducible():
    options = {"buffer": 6, "measures": ["vus_pr"]}
    first = vuskit.chance_level(LABELS, **options)
    assert vuskit.chance_level(LABELS, **options) == first
    assert (first.draws, first.seed) == (20, 0)
    other = vuskit.chance_level(LABELS, seed=1, draws=5, **options)
    assert other.mean != first.mean
    assert (other.draws, other.seed) == (5, 1)


def test_leaves_the_global_generator_alone():
    np.random.seed(3)  # noqa: NPY002  # the state that must not be touched
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    vuskit.chance_level(LABELS, buffer=6, measures="auc_pr")
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_is_the_mean_over_seeded_uniform_scores():
    rng = np.random.default_rng(5)
    values = [vuskit.vus_pr(LABELS, rng.random(LABELS.size), max_buffer=6) for _ in range(4)]
    chance = vuskit.chance_level(LABELS, buffer=6, measures="vus_pr", draws=4, seed=5)
    assert chance.mean["vus_pr"] == pytest.approx(np.mean(values), abs=1e-12)
    assert chance.std["vus_pr"] == pytest.approx(np.std(values), abs=1e-12)


def test_follows_the_options():
    options = {"thresholds": 390, "definition": "timeeval", "side": "after", "step": 2}
    chance = vuskit.chance_level(LABELS, buffer=6, measures="vus_roc", draws=1, **options)
    score = np.random.default_rng(0).random(LABELS.size)
    expected = vuskit.vus_roc(LABELS, score, max_buffer=6, **options)
    assert chance.mean["vus_roc"] == pytest.approx(expected, abs=1e-12)
    assert chance.std["vus_roc"] == 0.0


def test_is_computed_when_asked_for(monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    calls = []

    @vuskit.register_measure(name="counting")
    def counting(y_true, y_score):
        calls.append(y_score)
        return 0.5

    result = vuskit.evaluate(LABELS, SCORE, buffer=4, measures="counting")
    repr(result), result.to_dict(), result.settings, result._repr_html_()
    assert len(calls) == 1
    assert result.chance.mean == {"counting": 0.5}
    assert len(calls) == 21
    assert result.adjusted == {"counting": 0.0}
    assert result.chance is result.chance
    assert len(calls) == 21
    vuskit.evaluate(LABELS, SCORE, buffer=4, measures="counting", chance=True)
    assert len(calls) == 42


def test_evaluation_knows_the_chance_of_its_own_settings():
    result = vuskit.evaluate(LABELS, SCORE, buffer=9, definition="pvldb2022", measures="vus_roc")
    expected = vuskit.chance_level(LABELS, buffer=9, definition="pvldb2022", measures="vus_roc")
    assert result.chance == expected
    assert result.chance != vuskit.chance_level(LABELS, buffer=9, measures="vus_roc")


def test_adjusted():
    result = vuskit.evaluate(LABELS, SCORE, buffer=6)
    for name, value in result.adjusted.items():
        chance = result.chance.mean[name]
        assert value == pytest.approx((result[name] - chance) / (1 - chance))
    perfect = vuskit.evaluate(LABELS, LABELS, buffer=6, measures=["vus_pr", "auc_roc"])
    assert perfect.adjusted == pytest.approx({"vus_pr": 1.0, "auc_roc": 1.0})


def test_adjusted_where_chance_reaches_one():
    chance = vuskit.ChanceLevel({"sure": 1.0}, {"sure": 0.0}, draws=1, seed=0)
    assert math.isnan(chance.adjust({"sure": 1.0})["sure"])


def test_comparisons_share_one_chance_level():
    table = vuskit.evaluate_many(LABELS, {"a": SCORE, "b": 0 * SCORE}, buffer=6, measures="vus_pr")
    assert table.chance == table["a"].chance


def test_one_class_has_no_chance():
    with pytest.warns(vuskit.UndefinedMeasureWarning, match="chance_level needs both"):
        chance = vuskit.chance_level([0, 0, 0], buffer=2)
    assert len(chance.mean) == 13
    assert all(map(math.isnan, [*chance.mean.values(), *chance.std.values()]))
    with pytest.warns(vuskit.UndefinedMeasureWarning):
        result = vuskit.evaluate([0, 0, 0], [1, 2, 3], buffer=2)
    assert math.isnan(result.adjusted["vus_pr"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"draws": 0}, "`draws` must be an int >= 1, got 0"),
        ({"seed": -1}, "`seed` must be an int >= 0, got -1"),
        ({"seed": None}, "`seed` must be an int >= 0, got None"),
        ({"side": "left"}, "`side` must be one of"),
    ],
)
def test_bad_options(options, text):
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.chance_level(LABELS, buffer=4, **options)
