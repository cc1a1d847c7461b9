"""Measures of whole anomalies: event-wise, composite, point-adjusted, and the UCR score."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labeled_predictions, labeled_scores

import vuskit

EVENT_WISE = ["event_precision", "event_recall", "event_f_score", "composite_f_score"]
ADJUSTED = ["point_adjusted_precision", "point_adjusted_recall", "point_adjusted_f_score"]
SHARES = st.sampled_from([0.0, 0.2, 0.25, 0.29, 1 / 3, 0.5, 2 / 3, 1.0])


@settings(max_examples=200)
@given(data=labeled_predictions(), beta=st.sampled_from([0.5, 1, 2]), k=SHARES)
def test_equal_the_oracle(data, beta, k):
    y_true, y_pred = data
    for name in [*EVENT_WISE, *ADJUSTED]:
        options = {"beta": beta} if name.endswith("f_score") else {}
        options |= {"k": k} if name in ADJUSTED else {}
        expected = getattr(oracle, name)(y_true, y_pred=y_pred, **options)
        actual = getattr(vuskit, name)(y_true, y_pred=y_pred, **options)
        assert type(actual) is float
        assert actual == pytest.approx(expected, abs=1e-12), name


@given(data=labeled_predictions(), beta=st.sampled_from([0.5, 1, 2]))
def test_false_alarm_rate_equals_the_oracle(data, beta):
    y_true, y_pred = data
    options = {"y_pred": y_pred, "false_alarm_rate": True}
    expected = oracle.event_precision(y_true, **options)
    assert vuskit.event_precision(y_true, **options) == pytest.approx(expected, abs=1e-12)
    expected = oracle.event_f_score(y_true, beta=beta, **options)
    actual = vuskit.event_f_score(y_true, beta=beta, **options)
    assert actual == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(data=labeled_scores(), threshold=st.integers(-8, 260))
def test_scores_at_a_threshold(data, threshold):
    for name in [*EVENT_WISE, *ADJUSTED]:
        expected = getattr(oracle, name)(*data, threshold=threshold / 4)
        actual = getattr(vuskit, name)(*data, threshold=threshold / 4)
        assert actual == pytest.approx(expected, abs=1e-12), name


# --- by hand -------------------------------------------------------------------------------------


def test_events_by_hand():
    # Anomalies [1, 4) and [6, 7); predicted [0, 2), [3, 4) and [8, 9): one found, one false alarm.
    y_true, y_pred = [0, 1, 1, 1, 0, 0, 1, 0, 0], [1, 1, 0, 1, 0, 0, 0, 0, 1]
    assert vuskit.event_precision(y_true, y_pred=y_pred) == 1 / 2
    assert vuskit.event_recall(y_true, y_pred=y_pred) == 1 / 2
    # Points: 2 of 4 predicted ones are anomalous.
    assert vuskit.composite_f_score(y_true, y_pred=y_pred) == pytest.approx(0.5, abs=1e-15)
    # Adjusted: 3 of 5 points are anomalous, 3 of 4 anomalous ones are found.
    assert vuskit.point_adjusted_precision(y_true, y_pred=y_pred) == 3 / 5
    assert vuskit.point_adjusted_recall(y_true, y_pred=y_pred) == 3 / 4


def test_the_last_point_is_part_of_its_event():
    """TSB-AD ends the last event one point early, which leaves nothing of this one: 0 there."""
    y_true, y_pred = [0, 0, 0, 1], [0, 0, 0, 1]
    assert vuskit.composite_f_score(y_true, y_pred=y_pred) == 1.0
    assert vuskit.event_f_score(y_true, y_pred=y_pred) == 1.0


def test_the_first_point_is_adjusted_too():
    """TSB-AD walks back from the hit to index 1 and leaves index 0: 2/3 there."""
    y_true, y_pred = [1, 1, 0, 0], [0, 1, 0, 0]
    assert vuskit.point_adjusted_f_score(y_true, y_pred=y_pred) == 1.0


def test_adjustment_needs_more_than_the_share():
    """As Kim et al. define it; tsadmetrics adjusts at exactly the share as well."""
    y_true, y_pred = [1, 1, 0, 0], [0, 1, 0, 0]
    assert vuskit.point_adjusted_recall(y_true, y_pred=y_pred, k=0.49) == 1.0
    assert vuskit.point_adjusted_recall(y_true, y_pred=y_pred, k=0.5) == 0.5
    labels = [1] * 100 + [0]
    prediction = [1] * 29 + [0] * 72
    # 0.29 * 100 is rounded below 29, but 29 points are not more than this share.
    assert vuskit.point_adjusted_recall(labels, y_pred=prediction, k=0.29) == 0.29


@given(labeled_predictions())
def test_ends_of_the_share(data):
    y_true, y_pred = data
    plain = vuskit.f_score(y_true, y_pred=y_pred)
    assert vuskit.point_adjusted_f_score(y_true, y_pred=y_pred, k=1) == pytest.approx(plain)
    assert vuskit.point_adjusted_f_score(y_true, y_pred=y_pred) >= plain - 1e-15


@pytest.mark.parametrize("k", [-0.1, 1.1, 20, "a", np.nan])
def test_bad_share(k):
    for name in ADJUSTED:
        with pytest.raises(vuskit.InvalidInputError, match="`k` must be a number from 0 to 1"):
            getattr(vuskit, name)([0, 1], [0.1, 0.2], k=k)
    with pytest.raises(vuskit.InvalidInputError, match="`k` must be a number from 0 to 1"):
        vuskit.best_threshold([0, 1], [0.1, 0.2], measure="point_adjusted_f_score", k=k)


def test_nothing_predicted():
    for name in [*EVENT_WISE, *ADJUSTED]:
        assert getattr(vuskit, name)([0, 1, 0], y_pred=[0, 0, 0]) == 0.0


def test_predicting_everything():
    """One range meets both anomalies: no false alarm. Points tell otherwise."""
    y_true = [0, 1, 0, 0, 1, 0]
    assert vuskit.event_f_score(y_true, y_pred=[1] * 6) == 1.0
    assert vuskit.event_f_score(y_true, y_pred=[1] * 6, false_alarm_rate=True) == 0.0
    assert vuskit.composite_f_score(y_true, y_pred=[1] * 6) == pytest.approx(0.5, abs=1e-15)


# --- chance --------------------------------------------------------------------------------------


def test_point_adjustment_flatters_chance():
    """Why the value is never shown without what random scores get."""
    labels = np.zeros(2_000, dtype=int)
    labels[300:500] = labels[1200:1400] = 1
    level = vuskit.chance_level(labels, buffer=0, measures=["f_score", "point_adjusted_f_score"])
    assert level.mean["f_score"] < 0.1
    assert level.mean["point_adjusted_f_score"] > 0.8


def test_tables_show_chance_beside_it():
    labels, score = [0, 1, 1, 1, 0, 0, 0, 0], [0, 3, 1, 1, 2, 0, 1, 0]
    assert "chance" not in repr(vuskit.evaluate(labels, score, buffer=2, measures="f_score"))
    measures = ["f_score", "point_adjusted_f_score"]
    one = vuskit.evaluate(labels, score, buffer=2, measures=measures)
    assert repr(one).splitlines()[0].split() == ["measure", "value", "chance", "adjusted"]
    several = vuskit.evaluate_many(labels, {"a": score}, buffer=2, measures=measures)
    assert [line.split()[0] for line in repr(several).splitlines()[1:3]] == ["a", "chance"]
    shown = [f"{one.chance.mean[name]:.3f}" for name in measures]
    assert repr(several).splitlines()[2].split()[1:] == shown


# --- the UCR score -------------------------------------------------------------------------------


@given(data=labeled_scores(), slack=st.sampled_from([0, 1, 3, 100]))
def test_ucr_score_equals_the_oracle(data, slack):
    expected = oracle.ucr_score(*data, slack=slack)
    assert vuskit.ucr_score(*data, slack=slack) == pytest.approx(expected, abs=1e-12)


def test_ucr_score_by_hand():
    labels = [0] * 10 + [1] * 3 + [0] * 10
    for place, expected in [(6, 0), (7, 1), (12, 1), (15, 1), (16, 0)]:
        score = [int(i == place) for i in range(23)]
        assert vuskit.ucr_score(labels, score, slack=2) == expected  # its length of 3 counts
        assert vuskit.ucr_score(labels, score) == 1
    # Three points are tied for the highest; one of them is near.
    score = [int(i in (0, 9, 20)) for i in range(23)]
    assert vuskit.ucr_score(labels, score, slack=0) == pytest.approx(1 / 3)


def test_ucr_score_of_several_anomalies():
    """Any of them will do, and a point near two of them counts once."""
    labels = [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    assert vuskit.ucr_score(labels, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], slack=1) == 0
    assert vuskit.ucr_score(labels, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], slack=4) == 1
    assert vuskit.ucr_score(labels, [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], slack=1) == 1


@pytest.mark.parametrize("slack", [-1, 1.5, "a", None])
def test_bad_slack(slack):
    with pytest.raises(vuskit.InvalidInputError, match="`slack` must be an int >= 0"):
        vuskit.ucr_score([0, 1], [0.1, 0.2], slack=slack)
