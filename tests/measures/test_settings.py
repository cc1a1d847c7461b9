"""What a number was computed with: kept with it, checked early, never changed afterwards."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import vuskit
from vuskit.measures import registry

N = 400
LABELS = np.zeros(N, dtype=int)
LABELS[50:60] = LABELS[150:170] = 1
SCORE = np.random.default_rng(0).random(N) + LABELS
PREDICTION = np.zeros(N, dtype=int)
PREDICTION[40:180] = 1


@pytest.fixture
def own_measures(monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))


# A prediction where a score belongs


@pytest.mark.parametrize("kind", [int, float, bool])
def test_a_prediction_as_a_score_is_told(kind):
    with pytest.warns(vuskit.PredictionAsScoreWarning, match="pass it as y_pred") as told:
        value = vuskit.f_score(LABELS, PREDICTION.astype(kind))
    assert value == 0.0
    assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vuskit.f_score(LABELS, y_pred=PREDICTION) > 0.3
        assert vuskit.f_score(LABELS, PREDICTION, threshold=1) > 0.3


@pytest.mark.parametrize("measure", [vuskit.range_recall, vuskit.affiliation_f_score])
def test_every_threshold_based_measure_tells_its_caller(measure):
    with pytest.warns(vuskit.PredictionAsScoreWarning) as told:
        measure(LABELS, PREDICTION)
    assert [one.filename for one in told] == [__file__]


def test_events_tell_it():
    with pytest.warns(vuskit.PredictionAsScoreWarning) as told:
        assert not vuskit.events(LABELS, PREDICTION).found.any()
    assert [one.filename for one in told] == [__file__]
    assert vuskit.events(LABELS, PREDICTION, threshold=1).found.all()


def test_an_evaluation_tells_it_once():
    with pytest.warns(vuskit.PredictionAsScoreWarning) as told:
        vuskit.evaluate(LABELS, PREDICTION, buffer=4)
    assert [one.filename for one in told] == [__file__]
    vuskit.evaluate(LABELS, PREDICTION, buffer=4, measures=["auc_roc", "vus_pr"])


def test_few_ones_and_other_scores_are_no_concern():
    few = np.zeros(N)
    few[52:58] = 1
    assert vuskit.precision(LABELS, few) == 1.0  # the threshold lies between
    vuskit.f_score(LABELS, np.linspace(0, 1, N))  # above all of them, but no prediction


# Chance


def test_chance_of_a_number_predicts_as_many_points():
    noise = np.random.default_rng(3).random(N)
    names = ["point_adjusted_f_score", "affiliation_f_score", "f_score"]
    one = vuskit.evaluate(LABELS, noise, buffer=4, measures=names, threshold=0.9)
    other = vuskit.evaluate(LABELS, 100 * noise, buffer=4, measures=names, threshold=90.0)
    assert one.n_predicted == int((noise >= 0.9).sum())
    assert one.chance == other.chance
    for name, value in one.items():
        assert abs(value - one.chance.mean[name]) < 4 * one.chance.std[name]
    rule = vuskit.evaluate(LABELS, noise, buffer=4, measures=names, threshold=lambda scores: 0.9)
    assert rule.chance == one.chance


def test_chance_of_a_number_that_nothing_reaches():
    result = vuskit.evaluate(LABELS, SCORE, buffer=4, measures=["f_score"], threshold=9.0)
    assert result.n_predicted == 0
    assert result.chance.mean == {"f_score": 0.0}


def test_chance_of_many_scores_predicts_as_many_on_average():
    scores = {"a": SCORE, "b": SCORE - 0.5}
    table = vuskit.evaluate_many(LABELS, scores, buffer=4, measures="recall", threshold=0.8)
    counts = [int((score >= 0.8).sum()) for score in scores.values()]
    assert table.n_predicted == np.mean(counts)
    low, high = (table[name].chance.mean["recall"] for name in ("b", "a"))
    assert low < table.chance.mean["recall"] < high
    assert table.adjusted["a"]["recall"] == table.chance.adjust(table["a"])["recall"]


def test_a_number_means_nothing_without_a_score():
    with pytest.raises(vuskit.InvalidInputError, match=r"must be a rule .* got 0\.5"):
        vuskit.chance_level(LABELS, buffer=4, threshold=0.5)
    vuskit.chance_level(LABELS, buffer=4, threshold=0.5, measures="auc_pr")


def test_adjusted_knows_what_is_best(own_measures):
    @vuskit.register_measure(name="misses", higher_is_better=False)
    def misses(y_true, y_score):
        return float((y_score[y_true == 1] < 1).mean())

    @vuskit.register_measure(name="distance", bounds=(0.0, float("inf")), higher_is_better=True)
    def distance(y_true, y_score):
        return float(y_score.mean())

    result = vuskit.evaluate(LABELS, SCORE, buffer=4, measures=["misses", "distance"])
    assert result["misses"] == 0.0
    assert result.adjusted["misses"] == 1.0
    assert np.isnan(result.adjusted["distance"])


# Warnings of a coarse grid


def one_event(n=10_000):
    labels = np.zeros(n, dtype=int)
    labels[2000:2022] = 1
    return labels


def test_a_grid_fixed_for_one_measure_is_told():
    labels = one_event()
    coarse = vuskit.get_measure("vus_pr").with_options(thresholds=250)
    with pytest.warns(vuskit.ThresholdResolutionWarning):
        vuskit.evaluate(labels, labels, buffer=9, measures=[coarse])


def test_no_word_of_a_grid_that_nothing_uses():
    labels = one_event()
    vuskit.evaluate(labels, labels, buffer=9, measures=["auc_pr"], thresholds=250)


def test_no_word_where_a_perfect_detector_loses_nothing():
    labels = [0, 0, 0, 1, 0, 0, 0, 0]
    assert vuskit.vus_pr(labels, range(8), max_buffer=2, thresholds=8) > 0


# Settings stay with the numbers


@pytest.mark.parametrize("name", ["settings", "buffer", "measures"])
def test_an_evaluator_does_not_change(name):
    evaluator = vuskit.Evaluator(LABELS, buffer=4)
    with pytest.raises(AttributeError):
        setattr(evaluator, name, None)


def test_frames_hold_every_setting():
    pytest.importorskip("pandas")
    options = {"buffer": 8, "step": 2, "side": "after", "threshold": 1.0, "k": 5}
    columns = ["buffer", "thresholds", "definition", "step", "side", "threshold", "k"]
    frame = vuskit.evaluate(LABELS, SCORE, measures="vus_pr", **options).to_frame()
    assert list(frame.columns) == ["measure", "title", "value", *columns]
    assert frame.loc[0, ["buffer", "step", "side", "threshold", "k"]].tolist() == [
        8, 2, "after", "1.0", 5,
    ]  # fmt: skip
    table = vuskit.evaluate_many(LABELS, {"a": SCORE, "b": 0 * SCORE}, measures="paper", **options)
    long = table.to_frame(long=True)
    assert list(long.columns) == ["score", "measure", "title", "value", *columns]
    assert len(long) == 26
    values = long.pivot_table(index="score", columns="measure", values="value")
    assert values.loc["b", "vus_pr"] == table["b"]["vus_pr"]


@pytest.mark.parametrize("rule", ["bogus", None, "3"])
def test_a_threshold_is_checked_before_it_is_needed(rule):
    with pytest.raises(vuskit.InvalidInputError, match="threshold"):
        vuskit.Evaluator(LABELS, buffer=4, measures=["vus_pr"], threshold=rule)


# What users hand in


def test_swapped_arguments_are_told_wherever_two_are_given():
    with pytest.raises(vuskit.InvalidInputError, match="`y_true` and `y_scores` look swapped"):
        vuskit.evaluate_many(SCORE, {"a": LABELS}, buffer=4)
    with pytest.raises(vuskit.InvalidInputError, match="`y_true` and `y_pred` look swapped"):
        vuskit.f_score(SCORE, y_pred=LABELS)


def test_names_of_scores_differ():
    with pytest.raises(vuskit.InvalidInputError, match="must have unique names, got 1 twice"):
        vuskit.evaluate_many(LABELS, {1: SCORE, "1": -SCORE}, buffer=4)


@pytest.mark.parametrize("function", [vuskit.evaluate_many, vuskit.chance_level])
def test_unknown_options_get_a_hint(function):
    given = (LABELS, {"a": SCORE}) if function is vuskit.evaluate_many else (LABELS,)
    with pytest.raises(TypeError, match="'treshold'; did you mean 'threshold'"):
        function(*given, buffer=4, treshold=1.0)


def test_chance_of_many_at_once():
    table = vuskit.evaluate_many(LABELS, {"a": SCORE}, buffer=4, measures="auc_pr", chance=True)
    assert "chance" in vars(table)


def test_a_measure_that_returns_no_number_is_named(own_measures):
    vuskit.register_measure(name="nothing")(lambda y_true, y_score: None)
    with pytest.raises(vuskit.MeasureError, match="measure 'nothing' failed: TypeError"):
        vuskit.evaluate(LABELS, SCORE, buffer=4, measures="nothing")


def test_nobody_can_change_the_scores(own_measures):
    @vuskit.register_measure(name="careless")
    def careless(y_true, y_score):
        y_score[:] = 0
        return 0.0

    score = SCORE.copy()
    with pytest.raises(vuskit.MeasureError, match=r"'careless' failed: ValueError:.*read-only"):
        vuskit.evaluate(LABELS, score, buffer=4, measures="careless")
    with pytest.raises(ValueError, match="read-only"):
        vuskit.f_score(LABELS, score, threshold=lambda scores: scores.sort())
    assert (score == SCORE).all()
    assert score.flags.writeable


def test_whole_numbers_beyond_double_precision_keep_their_order():
    assert vuskit.auc_roc([0, 1], [2**70, 2**70 + 1]) == 1.0
    assert vuskit.auc_roc([0, 1], [2**70 + 1, 2**70]) == 0.0
    assert vuskit.auc_roc([0, 1], [2**70, 2**71]) == 1.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: vuskit.range_auc_pr(LABELS, SCORE, buffer=10**30), "buffer"),
        (lambda: vuskit.vus_pr(LABELS, SCORE, max_buffer=10**13), "buffer"),
        (lambda: vuskit.evaluate(LABELS, SCORE, buffer=10**13), "buffer"),
    ],
)
def test_buffers_without_end_are_refused(call, name):
    with pytest.raises(
        vuskit.InvalidInputError, match=rf"^`{name}` must be at most \d+, got 10+; use less"
    ):
        call()
    assert 0 < vuskit.range_auc_pr(LABELS, SCORE, buffer=10**13) <= 1


def test_functions_stand_for_their_measures():
    result = vuskit.evaluate(LABELS, SCORE, buffer=4, measures=[vuskit.vus_pr])
    assert result == vuskit.evaluate(LABELS, SCORE, buffer=4, measures="vus_pr")


# The settings object


def half_of_the_highest(scores):
    return scores.max() / 2


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"buffer": -1}, "`buffer` must be an int >= 0, got -1"),
        ({"buffer": "perod"}, "got 'perod'; did you mean 'period'?"),
        ({"thresholds": 1}, "`thresholds` must be an int >= 2, got 1"),
        ({"definition": "jornal"}, "did you mean 'journal'?"),
        ({"step": 0}, "`step` must be an int >= 1, got 0"),
        ({"side": "left"}, "`side` must be one of 'both', 'before', 'after', got 'left'"),
        ({"threshold": "sgima"}, "did you mean 'sigma'?"),
        ({"k": 0}, "`k` must be an int >= 1, got 0"),
        ({"buffer_fallback": -1}, "`buffer_fallback` must be an int >= 0, got -1"),
        ({"volume_factor": 0}, "`volume_factor` must be a number > 0, got 0"),
        ({"volume_factor": float("nan")}, "`volume_factor` must be a number > 0, got nan"),
        ({"volume_factor": "2"}, "`volume_factor` must be a number > 0, got '2'"),
    ],
)
def test_settings_are_validated_once(changes, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.EvaluationSettings(**{"buffer": 4, **changes})
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.EvaluationSettings(buffer=4).replace(**changes)


CHOICE = vuskit.BufferChoice(7, "number", "given")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"buffer": 100}, "buffer=100, thresholds=all, definition=journal"),
        ({"buffer": CHOICE}, "buffer=7, thresholds=all, definition=journal"),
        (
            {"buffer": "median-anomaly", "buffer_fallback": 9, "thresholds": 250},
            "buffer=median_anomaly else 9, thresholds=250, definition=journal",
        ),
        (
            {"step": 2, "side": "after", "threshold": half_of_the_highest, "k": 3},
            "buffer=4, thresholds=all, definition=journal, step=2, side=after, "
            "threshold=half_of_the_highest, k=3",
        ),
        (
            {"threshold": vuskit.Sigma(2.0), "volume_factor": 2},
            "buffer=4, thresholds=all, definition=journal, threshold=Sigma(factor=2.0), "
            "volume_factor=2",
        ),
    ],
)
def test_settings_print_as_one_line_and_survive_json(changes, text):
    settings = vuskit.EvaluationSettings(**{"buffer": 4, **changes})
    assert str(settings) == text
    stored = json.loads(json.dumps(settings.to_dict()))
    assert vuskit.EvaluationSettings.from_dict(stored) == settings


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ({"bufer": 4}, "has no key 'bufer'; did you mean 'buffer'?"),
        ({"buffer": 4, "threshold": {"callable": "nowhere:rule"}}, "got 'nowhere:rule'"),
        ({"buffer": 4, "threshold": {"callable": "os:<lambda>"}}, "got 'os:<lambda>'"),
    ],
)
def test_stored_settings_that_cannot_be_read(stored, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.EvaluationSettings.from_dict(stored)


def test_buffer_strategies():
    settings = vuskit.EvaluationSettings(buffer="median_anomaly")
    assert settings.choose_buffer(y_true=LABELS).length == 15
    wave = np.sin(np.arange(N) * 2 * np.pi / 25)
    assert settings.replace(buffer="period").choose_buffer(values=wave).length == 25
    none = settings.replace(buffer="period", buffer_fallback=9).choose_buffer(values=np.ones(N))
    assert (none.length, none.strategy) == (9, "fallback")
    assert "must show a period" in none.reason
    with pytest.raises(vuskit.InvalidInputError, match="buffer_fallback"):
        settings.replace(buffer="period").choose_buffer(values=np.ones(N))
    with pytest.raises(vuskit.InvalidInputError, match="`buffer` must be an int >= 0"):
        settings.replace(buffer=None).choose_buffer()


def test_buffer_means_the_same_everywhere():
    wave = np.sin(np.arange(N) * 2 * np.pi / 25)
    for buffer, length in (("median_anomaly", 15), ("period", 25), (CHOICE, 7)):
        options = {"buffer": buffer, "values": wave}
        found = vuskit.evaluate(LABELS, SCORE, measures=["vus_pr", "range_auc_roc"], **options)
        assert found.buffer == length
        assert str(found.settings).startswith(f"buffer={length}, ")
        expected = vuskit.vus_pr(LABELS, SCORE, buffer=length)
        assert found["vus_pr"] == vuskit.vus_pr(LABELS, SCORE, **options) == expected
        expected = vuskit.range_auc_roc(LABELS, SCORE, buffer=length)
        assert vuskit.range_auc_roc(LABELS, SCORE, **options) == expected
        assert vuskit.surface(LABELS, SCORE, **options).buffers[-1] == length
    assert vuskit.events(LABELS, SCORE, buffer="median_anomaly").buffer == 15


def test_max_buffer_is_a_synonym():
    for function in (vuskit.vus_roc, vuskit.vus_pr):
        expected = function(LABELS, SCORE, buffer=8)
        assert function(LABELS, SCORE, max_buffer=8) == expected
        with pytest.raises(TypeError, match="both 'buffer' and its synonym 'max_buffer'"):
            function(LABELS, SCORE, buffer=8, max_buffer=8)
    with pytest.raises(TypeError, match="max_buffer"):
        vuskit.range_auc_pr(LABELS, SCORE, max_buffer=8)


def test_settings_or_keywords():
    settings = vuskit.EvaluationSettings(buffer=8, thresholds=300, side="after")
    by_settings = vuskit.evaluate(LABELS, SCORE, settings=settings)
    assert by_settings == vuskit.evaluate(LABELS, SCORE, buffer=8, thresholds=300, side="after")
    assert str(by_settings.settings) == str(settings)
    changed = vuskit.Evaluator(LABELS, settings=settings, side="both", measures="vus_pr")
    assert changed.settings == settings.replace(side="both")
    assert changed.buffer == vuskit.BufferChoice(8, "number", "given")
    with pytest.raises(vuskit.InvalidInputError, match="`settings` must be an EvaluationSettings"):
        vuskit.evaluate(LABELS, SCORE, settings={"buffer": 8})


@pytest.mark.parametrize("definition", ["journal", "pvldb2022", "timeeval"])
@pytest.mark.parametrize("factor", [2, 0.5, 1.7])
@pytest.mark.parametrize("step", [1, 4, 50])
@pytest.mark.parametrize("thresholds", [None, 300])
def test_volume_factor(definition, factor, step, thresholds):
    buffer = 10
    options = {"definition": definition, "step": step, "thresholds": thresholds}
    found = vuskit.evaluate(LABELS, SCORE, buffer=buffer, volume_factor=factor, **options)
    for name in ("vus_roc", "vus_pr"):
        expected = getattr(vuskit, name)(LABELS, SCORE, buffer=round(factor * buffer), **options)
        assert found[name] == pytest.approx(expected, abs=1e-12)
    del options["step"]
    for name in ("range_auc_roc", "range_auc_pr"):
        expected = getattr(vuskit, name)(LABELS, SCORE, buffer=buffer, **options)
        assert found[name] == pytest.approx(expected, abs=1e-12)


def test_values_of_another_length_are_rejected():
    labels, scores = [0, 0, 1, 1, 0, 0], [0, 1, 3, 5, 4, 2]
    with pytest.raises(
        vuskit.InvalidInputError, match="`values` must have one entry per label, got 4 for"
    ):
        vuskit.evaluate(labels, scores, buffer="auto", values=[1.0, 2.0, 1.0, 2.0])
    assert vuskit.evaluate(labels, scores, buffer=2, measures=["vus_pr"])
