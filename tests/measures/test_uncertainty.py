"""Intervals of a single series: blocks, quantiles, refusals; benchmarks/ measures the coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit import Evaluator, evaluate, evaluate_many
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_labels
from vuskit.measures.uncertainty import _blocks, _student_quantile, intervals_of

AREAS = ["auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"]


def series(seed=0, *, events=12, length=20, gap=180, strength=1.5):
    labels = np.tile([0] * gap + [1] * length, events)
    rng = np.random.default_rng(seed)
    return labels, rng.normal(size=len(labels)) + strength * labels


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 20))
def test_every_point_is_in_one_block_and_every_event_in_its_own(labels, buffer):
    if not any(labels):
        labels[0] = True
    checked = check_labels(labels)
    events, quiet = _blocks(checked, buffer)
    count = [0] * len(labels)
    for start, stop in [*events, *quiet]:
        for point in range(start, stop):
            count[point] += 1
    assert count == [1] * len(labels)
    assert len(events) == len(checked.starts)
    for (start, stop), first, last in zip(events, checked.starts, checked.stops, strict=True):
        assert start <= first < last <= stop
        assert first - start <= buffer // 2
        assert stop - last <= buffer // 2


@pytest.mark.parametrize("freedom", [1, 2, 7, 30, 500])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_student_quantile_is_scipys(freedom, confidence):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t.ppf((1 + confidence) / 2, freedom)
    assert _student_quantile(confidence, freedom) == pytest.approx(expected, rel=1e-4)


def test_intervals_hold_their_values_and_are_reproducible():
    labels, score = series()
    found = evaluate(labels, score, buffer=40, measures=AREAS, interval=0.9)
    again = evaluate(labels, score, buffer=40, measures=AREAS, interval=0.9)
    assert found.intervals == again.intervals
    for name, (low, high) in found.intervals.items():
        assert 0 < low < found[name] < high < 1
    wider = evaluate(labels, score, buffer=40, measures=AREAS, interval=0.99).intervals
    assert all(wider[name][0] < low for name, (low, _) in found.intervals.items())
    assert "block bootstrap over 12 anomalies and" in repr(found)


def test_frames_have_columns_of_bounds():
    pytest.importorskip("pandas")
    labels, score = series()
    given = {"buffer": 20, "measures": AREAS}
    frame = evaluate(labels, score, interval=0.95, **given).to_frame()
    assert (frame["lower"] < frame["upper"]).all()
    assert frame.shape[1] == evaluate(labels, score, **given).to_frame().shape[1] + 2


def test_spread_over_series_is_that_of_the_resamples():
    pairs = [series(seed, events=30) for seed in range(40)]
    values = [evaluate(*pair, buffer=40, measures=["vus_pr"])["vus_pr"] for pair in pairs]
    evaluator = Evaluator(pairs[0][0], buffer=40, measures=["vus_pr"])
    result = evaluator(pairs[0][1])
    low, high = intervals_of(evaluator, result, pairs[0][1], resamples=200)["vus_pr"]
    assert (high - low) / 4 == pytest.approx(np.std(values), rel=0.35)


def test_strategies_choose_the_buffer_once():
    labels, score = series()
    labels[:60] = 0
    by_name = evaluate(labels, score, buffer="mean_anomaly", measures=["vus_roc"], interval=0.95)
    by_number = evaluate(labels, score, buffer=by_name.buffer, measures=["vus_roc"], interval=0.95)
    assert by_name.intervals == by_number.intervals


def test_few_events_have_no_interval_but_a_reason():
    labels, score = series(events=7)
    found = evaluate(labels, score, buffer=40, measures=["vus_pr"], interval=0.95)
    assert math.isnan(found.intervals["vus_pr"][0])
    assert str(found.intervals) == "no interval: 7 anomalies; an interval needs at least 8"


def test_a_perfect_score_has_no_interval():
    labels, _ = series()
    found = evaluate(labels, labels.astype(float), buffer=0, measures=["auc_pr"], interval=0.95)
    assert found["auc_pr"] == 1
    assert all(map(math.isnan, found.intervals["auc_pr"]))


def test_many_scores_and_invalid_levels():
    labels, score = series()
    given = {"buffer": 20, "measures": AREAS}
    many = evaluate_many(labels, {"a": score, "b": score + 1}, interval=0.95, **given)
    alone = evaluate(labels, score, interval=0.95, **given)
    assert many["a"].intervals == alone.intervals
    with pytest.raises(InvalidInputError, match="`interval` must be"):
        evaluate(labels, score, buffer=20, interval=95)
