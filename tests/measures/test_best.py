"""Best thresholds: the highest value there is, found without trying every threshold."""

from __future__ import annotations

import math
import re

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labeled_scores

import vuskit
from vuskit.inputs import check_labels
from vuskit.kernels import best_thresholds
from vuskit.kernels.affiliation import Zones
from vuskit.kernels.best_thresholds import adjusted_scores, false_alarms, points_to_adjust

PLAIN = [
    "f_score",
    "range_f_score",
    "event_f_score",
    "composite_f_score",
    "point_adjusted_f_score",
    "affiliation_f_score",
]
OPTIONS = [
    *[(name, {}) for name in PLAIN],
    ("point_adjusted_f_score", {"k": 0.3}),
    ("point_adjusted_f_score", {"k": 0.5}),
    ("event_f_score", {"false_alarm_rate": True}),
    ("range_f_score", {"alpha": 0.2}),
    ("range_f_score", {"cardinality": "reciprocal"}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
@settings(max_examples=60)
@given(data=labeled_scores(max_size=18), beta=st.sampled_from([0.5, 1, 2]))
def test_highest_of_all_thresholds(name, options, data, beta):
    expected, _ = oracle.best(getattr(oracle, name), *data, beta=beta, **options)
    actual = getattr(vuskit, name)(*data, beta=beta, threshold="best", **options)
    assert actual == pytest.approx(expected, abs=1e-12)
    found = vuskit.best_threshold(*data, measure=name, beta=beta, **options)
    at_found = getattr(oracle, name)(*data, beta=beta, threshold=found, **options)
    assert at_found == pytest.approx(expected, abs=1e-12)


@given(labeled_scores(), st.sampled_from([0.5, 1.0, 3.0]))
def test_best_f_score(data, beta):
    expected, _ = oracle.best(oracle.f_score, *data, beta=beta)
    assert vuskit.best_f_score(*data, beta=beta) == pytest.approx(expected, abs=1e-12)
    as_rule = vuskit.f_score(*data, beta=beta, threshold="best")
    assert vuskit.best_f_score(*data, beta=beta) == as_rule


@given(labeled_scores())
def test_false_alarms_at_every_threshold(data):
    labels, scores = check_labels(data[0]), np.array(data[1])
    levels = np.unique(scores)[::-1]
    alarms = false_alarms(scores, labels.inside, labels.starts, labels.stops, levels)
    for level, count in zip(levels.tolist(), alarms.tolist(), strict=True):
        assert count == oracle.event_wise.event_counts(*data, level, None)[2]


def at_every_threshold(data, by_rank, expected):
    """Compare values with the points up to each rank predicted, where a threshold lies."""
    order, rank = best_thresholds.falling_order(np.array(data[1]))
    values = by_rank(order, rank).tolist()
    ranked = np.array(data[1])[order].tolist()
    for place, level in enumerate(ranked):
        if place + 1 == len(ranked) or ranked[place + 1] != level:
            value = expected(*data, threshold=level)
            assert values[place] == pytest.approx(value, abs=1e-12)


@given(labeled_scores(max_size=24))
def test_affiliation_at_every_threshold(data):
    labels = check_labels(data[0])
    zones = Zones.of(labels.starts, labels.stops, labels.n)
    at_every_threshold(
        data,
        lambda _, rank: best_thresholds.affiliation_precision_by_rank(zones, rank),
        oracle.affiliation_precision,
    )
    at_every_threshold(
        data,
        lambda _, rank: best_thresholds.affiliation_recall_by_rank(zones, rank),
        oracle.affiliation_recall,
    )


@given(labeled_scores(max_size=24), st.sampled_from([0.0, 0.2, 1.0]))
def test_ranges_at_every_threshold(data, alpha):
    labels = check_labels(data[0])
    at_every_threshold(
        data,
        lambda order, rank: best_thresholds.range_precision_by_rank(labels.inside, rank, order),
        oracle.range_precision,
    )
    at_every_threshold(
        data,
        lambda _, rank: best_thresholds.range_recall_by_rank(
            labels.inside, labels.starts, labels.stops, rank, alpha
        ),
        lambda *data, threshold: oracle.range_recall(*data, threshold=threshold, alpha=alpha),
    )


@given(labeled_scores(), st.sampled_from([0.0, 0.2, 0.5, 2 / 3, 0.9, 1.0]))
def test_point_adjustment_at_every_threshold(data, k):
    labels, scores = check_labels(data[0]), np.array(data[1])
    counted = adjusted_scores(scores[labels.inside], labels.stops - labels.starts, k)
    for level in set(data[1]):
        recall = oracle.point_adjusted_recall(*data, threshold=level, k=k)
        assert np.count_nonzero(counted >= level) / labels.n_anomalous == recall


def test_points_that_are_more_than_a_share():
    """Whatever the rounding of the product: 0.29 * 100 is below 29."""
    lengths = np.arange(1, 301)
    for percent in range(101):
        needed = points_to_adjust(lengths, percent / 100)
        assert (needed / lengths > percent / 100).all()
        assert ((needed - 1) / lengths <= percent / 100).all()


FAMILIES = [
    ("f_score", ["precision", "recall"]),
    ("range_f_score", ["range_precision", "range_recall"]),
    ("event_f_score", ["event_precision", "event_recall"]),
    ("point_adjusted_f_score", ["point_adjusted_precision", "point_adjusted_recall"]),
    ("affiliation_f_score", ["affiliation_precision", "affiliation_recall"]),
]


@pytest.mark.parametrize(("f_score", "parts"), FAMILIES)
@settings(max_examples=30)
@given(data=labeled_scores())
def test_precision_and_recall_share_the_threshold_of_their_f(f_score, parts, data):
    values = vuskit.evaluate(*data, buffer=2, measures=[f_score, *parts], threshold="best")
    threshold = vuskit.best_threshold(*data, measure=f_score)
    for name, value in values.items():
        alone = getattr(vuskit, name)(*data, threshold="best")
        at_threshold = getattr(vuskit, name)(*data, threshold=threshold)
        assert value == alone == pytest.approx(at_threshold, abs=1e-15)


@given(labeled_scores())
def test_everything_is_the_best_prediction_by_events(data):
    assert vuskit.event_f_score(*data, threshold="best") == 1.0


def test_ties_take_the_highest_threshold():
    # Points: 3 predicts a hit, 2 a hit and a false one, 1 two hits of three: F 2/3, 1/2, 4/5.
    labels, score = [1, 0, 1, 0], [3, 2, 1, 0]
    assert vuskit.best_threshold(labels, score) == 1.0
    # 1 of 1 with 1 of 2 found, and 2 of 4 found with all: F 2/3 both.
    labels, score = [1, 0, 0, 1], [3, 2, 2, 1]
    assert vuskit.best_threshold(labels, score) == 3.0


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.uint8, np.int64, np.bool_, np.longdouble]
)
def test_any_kind_of_numbers(name, dtype):
    labels = np.zeros(60, dtype=int)
    labels[10:15] = labels[40:44] = 1
    score = np.random.default_rng(2).integers(0, 100, 60)
    score = (score > 50) if dtype is np.bool_ else score.astype(dtype)
    expected, _ = oracle.best(getattr(oracle, name), labels.tolist(), score.tolist())
    actual = getattr(vuskit, name)(labels, score, threshold="best")
    assert actual == pytest.approx(expected, abs=1e-12)


def test_numbers_beyond_the_precision_of_floats():
    """The threshold itself cannot be told as a float, but the prediction is right."""
    score = np.array([2**60 + 1, 2**60, 2**60 + 1, 0])
    assert vuskit.f_score([1, 0, 1, 0], score, threshold="best") == 1.0
    assert vuskit.event_f_score([1, 0, 1, 0], score, threshold="best") == 1.0
    assert vuskit.best_f_score([1, 0, 1, 0], score) == 1.0


def test_a_prediction_has_no_threshold():
    for name in PLAIN:
        measure = getattr(vuskit, name)
        y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
        expected = measure(y_true, y_pred=y_pred)
        assert measure(y_true, y_pred=y_pred, threshold="best") == expected


def test_events_at_the_best_threshold():
    table = vuskit.events([0, 1, 1, 0], [0, 3, 2, 1], threshold="best")
    assert table.threshold == 2.0
    assert table.points_share.tolist() == [1.0]


def test_errors():
    with pytest.raises(vuskit.InvalidInputError, match="'best', got 'bets'; did you mean"):
        vuskit.f_score([0, 1], [0, 1], threshold="bets")
    with pytest.raises(vuskit.InvalidInputError, match="`measure` must be one of 'f_score'"):
        vuskit.best_threshold([0, 1], [0, 1], measure="auc_pr")
    with pytest.raises(vuskit.InvalidInputError, match="`beta` must be a number > 0"):
        vuskit.best_threshold([0, 1], [0, 1], beta=0)
    with pytest.warns(vuskit.UndefinedMeasureWarning, match="best_threshold needs both"):
        assert math.isnan(vuskit.best_threshold([0, 0], [0, 1]))


@pytest.mark.parametrize(
    ("measure", "options", "text"),
    [
        ("range_f_score", {"alpha": 7}, "`alpha` must be a number from 0 to 1, got 7"),
        ("range_f_score", {"cardinality": "bogus"}, "`cardinality` must be one of 'one', "),
        ("range_f_score", {"precision_bias": "bogus"}, "`precision_bias` must be one of 'flat', "),
        ("range_f_score", {"recall_bias": 3}, "`recall_bias` must be one of 'flat', "),
        ("range_f_score", {"bias": "flat"}, "range_f_score has no option 'bias'"),
        ("range_f_score", {"apha": 1}, "has no option 'apha'; did you mean 'alpha'?"),
        ("f_score", {"k": 0.5}, "f_score has no option 'k'"),
        ("f_score", {"labels": 1}, "f_score has no option 'labels'"),
        ("point_adjusted_f_score", {"k": 2}, "`k` must be a number from 0 to 1, got 2"),
    ],
)
def test_options_are_checked(measure, options, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.best_threshold([0, 1, 1, 0], [0, 1, 2, 3], measure=measure, **options)


@pytest.mark.parametrize("bias", ["precision_bias", "recall_bias"])
def test_a_bias_is_called_by_its_name(bias):
    with pytest.raises(vuskit.InvalidInputError, match=f"`{bias}` must be one of 'flat', "):
        vuskit.range_f_score([0, 1], [0, 1], **{bias: "bogus"})


@pytest.mark.parametrize("name", PLAIN)
def test_long_series_against_thresholds_tried_one_by_one(name):
    """Ranks by buckets, not by sorting, and events of many lengths."""
    rng = np.random.default_rng(5)
    labels = np.zeros(6_000, dtype=int)
    for start in rng.integers(0, 5_900, 12):
        labels[start : start + rng.integers(1, 60)] = 1
    score = rng.random(6_000) + 0.3 * labels
    best = getattr(vuskit, name)(labels, score, threshold="best")
    tried = [
        getattr(vuskit, name)(labels, score, threshold=level)
        for level in np.sort(score)[:: -max(score.size // 300, 1)]
    ]
    assert best >= max(tried) - 1e-12
    threshold = vuskit.best_threshold(labels, score, measure=name)
    assert getattr(vuskit, name)(labels, score, threshold=threshold) == pytest.approx(best)
