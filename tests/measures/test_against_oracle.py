"""Every measure against its slow literal twin, on small nasty inputs."""

from __future__ import annotations

import warnings

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import buffers, definitions, labeled_predictions, labeled_scores, sides
from strategies import thresholds as grids_or_all

import vuskit
from vuskit.kernels.labels import buffers as buffer_plans
from vuskit.kernels.sweep import exact, grid


def quietly(function, *arguments, **options):
    """Call without warnings about coarse grids and scores of 0 and 1: the inputs are all tiny."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        warnings.simplefilter("ignore", vuskit.PredictionAsScoreWarning)
        return function(*arguments, **options)


@pytest.mark.parametrize("name", ["vus_roc", "vus_pr"])
@settings(max_examples=300)
@given(
    max_buffer=buffers(),
    thresholds=grids_or_all(),
    definition=definitions(),
    side=sides(),
    step=st.sampled_from([1, 1, 2, 3, 7]),
    data=labeled_scores(),
)
def test_vus(name, data, max_buffer, thresholds, definition, side, step):
    options = {
        "max_buffer": max_buffer,
        "thresholds": thresholds,
        "definition": definition,
        "side": side,
        "step": step,
    }
    expected = getattr(oracle, name)(*data, **options)
    actual = quietly(getattr(vuskit, name), *data, **options)
    assert type(actual) is float
    assert actual == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["range_auc_roc", "range_auc_pr"])
@settings(max_examples=200)
@given(
    buffer=buffers(),
    thresholds=grids_or_all(),
    definition=definitions(),
    side=sides(),
    data=labeled_scores(),
)
def test_range_auc(name, data, buffer, thresholds, definition, side):
    options = {"buffer": buffer, "thresholds": thresholds, "definition": definition, "side": side}
    expected = getattr(oracle, name)(*data, **options)
    actual = quietly(getattr(vuskit, name), *data, **options)
    assert actual == pytest.approx(expected, abs=1e-12)


@settings(max_examples=300)
@given(
    max_buffer=buffers(),
    definition=definitions(),
    block=st.sampled_from([1, 40, 300]),
    rows=st.sampled_from([1, 3, 8]),
    data=labeled_scores(),
)
def test_exact_sweep_in_small_pieces(data, max_buffer, definition, block, rows):
    """Blocks of points and of widths that end in the middle of ties, events and ramps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_BLOCK", block)
        patch.setattr(exact, "_ROWS", rows)
        values = vuskit.evaluate(
            *data, buffer=max_buffer, definition=definition, measures=["vus_roc", "vus_pr"]
        )
    for name, value in values.items():
        expected = getattr(oracle, name)(*data, max_buffer=max_buffer, definition=definition)
        assert value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=200)
@given(
    max_buffer=buffers(),
    thresholds=grids_or_all(),
    definition=definitions(),
    most=st.sampled_from([1, 20, 100]),
    steps=st.sampled_from([0, 25, 10**6]),
    data=labeled_scores(),
)
def test_weights_made_in_parts(data, max_buffer, thresholds, definition, most, steps):
    """Buffers so long that their weights are never held all at once; both ways of adding them."""
    options = {"thresholds": thresholds, "definition": definition}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_plans, "_MOST_WEIGHTS", most)
        patch.setattr(grid, "_PRODUCT_STEPS", steps)
        values = quietly(
            vuskit.evaluate, *data, buffer=max_buffer, measures=["vus_roc", "vus_pr"], **options
        )
    for name, value in values.items():
        expected = getattr(oracle, name)(*data, max_buffer=max_buffer, **options)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("interpolation", ["step", "trapezoid"])
@given(data=labeled_scores())
def test_auc_pr(interpolation, data):
    expected = oracle.auc_pr(*data, interpolation=interpolation)
    assert vuskit.auc_pr(*data, interpolation=interpolation) == pytest.approx(expected, abs=1e-12)


@given(labeled_scores())
def test_auc_roc(data):
    assert vuskit.auc_roc(*data) == pytest.approx(oracle.auc_roc(*data), abs=1e-12)


@given(labeled_scores(), st.integers(1, 60))
def test_precision_at_k(data, k):
    k = min(k, len(data[0]))
    expected = oracle.precision_at_k(*data, k=k)
    assert vuskit.precision_at_k(*data, k=k) == pytest.approx(expected, abs=1e-12)
    assert vuskit.precision_at_k(*data) == pytest.approx(oracle.precision_at_k(*data), abs=1e-12)


@pytest.mark.parametrize("name", ["precision", "recall", "f_score"])
@given(threshold=st.integers(-8, 260), data=labeled_scores())
def test_point_measures(name, data, threshold):
    actual = getattr(vuskit, name)(*data, threshold=threshold / 4)
    expected = getattr(oracle, name)(*data, threshold=threshold / 4)
    assert actual == pytest.approx(expected, abs=1e-12)


@given(labeled_scores(), st.sampled_from([0.0, 1.0, 3.0]))
def test_sigma_threshold(data, factor):
    scores = data[1]
    expected = oracle.sigma_threshold(scores, factor)
    assert vuskit.Sigma(factor)(np.array(scores)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(labeled_scores(), st.sampled_from([0.5, 2.0, 3.5]))
def test_f_score_beta(data, beta):
    expected = oracle.f_score(*data, beta=beta, threshold=1.0)
    assert vuskit.f_score(*data, beta=beta, threshold=1.0) == pytest.approx(expected, abs=1e-12)


def steep(position, length):
    return position * position + length


def half_per_range(count):
    return 0.5**count


BIASES = [*["flat", "front", "middle", "back"], steep]
CARDINALITIES = ["one", "reciprocal", half_per_range]


@settings(max_examples=300)
@given(
    bias=st.sampled_from(BIASES),
    cardinality=st.sampled_from(CARDINALITIES),
    alpha=st.sampled_from([0.0, 0.2, 1.0]),
    data=labeled_predictions(),
)
def test_range_measures(data, bias, cardinality, alpha):
    y_true, y_pred = data
    common = {"y_pred": y_pred, "cardinality": cardinality}
    for name, options in (
        ("range_precision", {"bias": bias}),
        ("range_recall", {"bias": bias, "alpha": alpha}),
    ):
        expected = getattr(oracle, name)(y_true, **common, **options)
        actual = getattr(vuskit, name)(y_true, **common, **options)
        assert actual == pytest.approx(expected, abs=1e-12)
    expected = oracle.range_f_score(y_true, bias=bias, alpha=alpha, beta=2, **common)
    actual = vuskit.range_f_score(
        y_true, precision_bias=bias, recall_bias=bias, alpha=alpha, beta=2, **common
    )
    assert actual == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100)
@given(buffer=buffers(), thresholds=grids_or_all(), data=labeled_scores())
def test_evaluate_equals_the_functions(data, buffer, thresholds):
    """Shared work gives what each function gives by itself."""
    result = quietly(vuskit.evaluate, *data, buffer=buffer, thresholds=thresholds)
    assert len(result) == 13
    # Its value has its own test: a score that equals it but for rounding may fall on either side.
    threshold = vuskit.Sigma()(np.array(data[1]))
    for name, value in result.items():
        options = {} if name.startswith(("auc", "precision_at")) else {"threshold": threshold}
        if name.startswith("vus"):
            options = {"max_buffer": buffer, "thresholds": thresholds}
        elif name.startswith("range_auc"):
            options = {"buffer": buffer, "thresholds": thresholds}
        assert value == pytest.approx(getattr(oracle, name)(*data, **options), abs=1e-12)


@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
@settings(max_examples=100)
@given(
    max_buffer=st.integers(0, 12),
    thresholds=st.integers(2, 12),
    definition=definitions(),
    side=sides(),
    data=labeled_scores(),
)
def test_surface(data, max_buffer, thresholds, definition, side):
    actual = vuskit.surface(
        *data, buffer=max_buffer, thresholds=thresholds, definition=definition, side=side
    )
    for row, buffer in enumerate(actual.buffers.tolist()):
        fpr, tpr, precision = oracle.curve(
            *data, buffer, thresholds=thresholds, definition=definition, side=side
        )
        assert actual.fpr[row] == pytest.approx(fpr, abs=1e-12)
        assert actual.tpr[row] == pytest.approx(tpr, abs=1e-12)
        assert actual.precision[row] == pytest.approx(precision, abs=1e-12)
