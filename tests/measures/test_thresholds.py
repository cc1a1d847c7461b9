"""Threshold rules: by name, by number, by function."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vuskit
from vuskit.measures.thresholds import Quantile, threshold_value

LABELS = np.zeros(200, dtype=int)
LABELS[40:50] = 1
SCORE = np.random.default_rng(4).random(200) + 3 * LABELS * (np.arange(200) % 2)


def predicted_by(rule):
    """The measures of a score at a rule, and of the prediction that the rule stands for."""
    prediction = threshold_value(rule, SCORE) <= SCORE
    for name in ("precision", "recall", "f_score", "range_precision", "range_recall"):
        measure = getattr(vuskit, name)
        assert measure(LABELS, SCORE, threshold=rule) == measure(LABELS, y_pred=prediction)
    return np.count_nonzero(prediction)


def test_sigma_is_the_default():
    assert threshold_value("sigma", SCORE) == pytest.approx(oracle.sigma_threshold(SCORE))
    assert vuskit.recall(LABELS, SCORE) == vuskit.recall(LABELS, SCORE, threshold="sigma") == 0.5
    assert predicted_by("sigma") == 5


def test_sigma_factor():
    assert predicted_by(vuskit.Sigma(0)) > predicted_by(vuskit.Sigma(0.3)) > 5
    expected = oracle.sigma_threshold(SCORE, -1)
    assert threshold_value(vuskit.Sigma(-1), SCORE) == pytest.approx(expected)


@pytest.mark.parametrize("factor", ["3", None, np.nan, np.inf, [3]])
def test_sigma_factor_is_a_number(factor):
    with pytest.raises(vuskit.InvalidInputError, match="`factor` must be a finite number, got "):
        vuskit.Sigma(factor)
    assert vuskit.Sigma(np.float32(2))(np.array([0.0, 2.0])) == 3.0


@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-200, 1e-160, 1e160, 1e306])
@pytest.mark.parametrize("rule", ["sigma", "quantile", "cascade"])
def test_numpy_may_raise_at_the_ends_of_the_range(scale, rule):
    """A whole power of two apart from others, so that the prediction is the same."""
    whole = np.rint(8 * SCORE)
    scaled = whole * 2.0 ** np.rint(np.log2(scale))
    expected = vuskit.f_score(LABELS, whole, threshold=rule)
    with np.errstate(all="raise"):
        assert vuskit.f_score(LABELS, scaled, threshold=rule) == expected


@pytest.mark.parametrize("rule", ["sigma", "quantile", "cascade"])
@pytest.mark.parametrize("power", [400, -400])
def test_scores_beyond_double_precision_have_no_such_threshold(rule, power):
    score = SCORE.astype(np.longdouble) * np.longdouble(10) ** power
    if not np.isfinite(score).all() or not score.any():
        pytest.skip("long doubles are doubles here")
    assert vuskit.auc_roc(LABELS, score) == vuskit.auc_roc(LABELS, SCORE)
    with pytest.raises(
        vuskit.InvalidInputError, match=r"for a threshold rule, got \d\.\d+e.\d{3} at"
    ):
        vuskit.f_score(LABELS, score, threshold=rule)
    near = SCORE.astype(np.longdouble)
    expected = vuskit.f_score(LABELS, SCORE, threshold=rule)
    assert vuskit.f_score(LABELS, near, threshold=rule) == expected


def test_sigma_of_a_long_score_in_pieces():
    score = np.random.default_rng(0).normal(5, 2, 30_001)
    expected = score.mean() + 3 * score.std()
    assert vuskit.Sigma()(score) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e300, 1e-310, 0.0, -7.3])
@pytest.mark.parametrize("n", [7, 10_000])
def test_sigma_of_a_constant_is_the_constant(value, n):
    assert vuskit.Sigma()(np.full(n, value)) == value


def test_quantile():
    assert predicted_by("quantile") == 2
    assert predicted_by(vuskit.Quantile(0.5)) == 100
    assert threshold_value(vuskit.Quantile(0.25), np.arange(5)) == 1.0


def test_only_measures_know_the_labels_that_best_looks_at():
    with pytest.raises(vuskit.InvalidInputError, match="must not use the labels here"):
        threshold_value("best", SCORE)


def test_numbers_are_reached_from_above():
    """A point with exactly the threshold's score is predicted."""
    labels, score = [0, 1, 1, 0], [0.2, 0.5, 0.7, 0.5]
    assert vuskit.recall(labels, score, threshold=0.5) == 1.0
    assert vuskit.precision(labels, score, threshold=0.5) == pytest.approx(2 / 3)
    assert vuskit.recall(labels, score, threshold=np.nextafter(0.5, 1)) == 0.5


def test_infinite_thresholds_are_numbers():
    assert vuskit.recall(LABELS, SCORE, threshold=-np.inf) == 1.0
    assert vuskit.precision(LABELS, SCORE, threshold=np.inf) == 0.0


def test_callables_get_the_scores():
    assert predicted_by(np.median) == 100
    assert vuskit.recall(LABELS, SCORE, threshold=lambda s: s.max()) == 0.1


def test_rules_reach_evaluate():
    found = vuskit.evaluate(LABELS, SCORE, buffer=4, threshold=vuskit.Quantile(0.5))
    assert found["precision"] == vuskit.precision(LABELS, SCORE, threshold=vuskit.Quantile(0.5))
    assert found["range_f_score"] == vuskit.range_f_score(
        LABELS, SCORE, threshold=vuskit.Quantile(0.5)
    )
    assert vuskit.evaluate(LABELS, SCORE, buffer=4, k=3)["precision_at_k"] == (
        vuskit.precision_at_k(LABELS, SCORE, k=3)
    )


@pytest.mark.filterwarnings("error")
def test_quantile_of_scores_that_span_all_floats():
    spread = np.array([-1.7e308, 1.7e308, 1.0])
    assert Quantile(0.5)(spread) == 1.0
    assert Quantile(0.75)(spread) == 0.85e308
    assert Quantile(0.0)(spread) == -1.7e308
    assert Quantile(1.0)(spread) == 1.7e308
    assert vuskit.recall([0, 1, 0], spread, threshold="quantile") == 1.0
    assert vuskit.recall([0, 1, 0], spread, threshold=Quantile(1.0)) == 1.0


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 8, 50]), min_size=1, max_size=40),
    st.sampled_from([np.float64, np.float32, np.int64]),
)
def test_the_cascade_is_that_of_the_oracle(scores, kind):
    array = np.array(scores, dtype=kind)
    predicted = array >= threshold_value("cascade", array)
    assert predicted.tolist() == [bool(one) for one in oracle.cascade(scores)]


def test_the_cascade_predicts_above_the_threshold_only():
    constant = np.full(20, 0.25)
    assert threshold_value("cascade", constant) > 0.25
    two = np.array([0.0] * 4 + [0.5])  # two deviations above the mean, not more
    assert vuskit.recall([0, 0, 0, 0, 1], two, threshold="cascade") == 1.0
    assert vuskit.recall([0, 0, 0, 0, 1], two) == 0.0
    only = vuskit.Cascade((3,))
    assert vuskit.recall([0, 0, 0, 0, 1], two, threshold=only) == 0.0
    assert predicted_by("cascade") == predicted_by("sigma")
    with pytest.raises(vuskit.InvalidInputError, match="`factors` must hold at least one number"):
        vuskit.Cascade(())


def test_precision_at_k_of_the_predicted_points_is_the_recall():
    settings = {"buffer": 5, "threshold": "cascade"}
    measure = vuskit.get_measure("precision_at_k").with_options(points="predicted")
    found = vuskit.evaluate(LABELS, SCORE, measures=[measure, "recall"], **settings)
    assert found[measure.name] == found["recall"] == 0.5
    assert vuskit.precision_at_k(LABELS, SCORE, points="predicted", k=5) == 1.0
