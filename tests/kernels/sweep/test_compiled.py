"""The compiled kernels against the NumPy ones."""

from __future__ import annotations

import warnings
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import buffers, labeled_scores, sides, thresholds

import vuskit
from vuskit.inputs import check_labels
from vuskit.kernels import backend
from vuskit.kernels.labels import buffers as buffer_plans
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.workspace import AreaSettings, BufferedLabels

pytest.importorskip("numba", reason="numba is not installed: no compiled kernels to test")

AREAS = AreaSettings.of(EvaluationSettings(buffer=20), 20)


@pytest.fixture(scope="module", autouse=True)
def _compiled_once():
    vuskit.warm_up()


def both(*data, **options):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        patch.setenv("VUSKIT_NUMBA", "0")
        plain = vuskit.evaluate(*data, **options)
        patch.delenv("VUSKIT_NUMBA")
        patch.setattr(backend, "_WORTH_A_CALL", 0)
        return plain, vuskit.evaluate(*data, **options)


@settings(max_examples=300)
@given(
    data=labeled_scores(),
    buffer=buffers(),
    side=sides(),
    thresholds=thresholds(),
    step=st.sampled_from([1, 1, 2, 7]),
    k=st.one_of(st.none(), st.integers(1, 2)),
)
def test_twins_agree(data, buffer, side, thresholds, step, k):
    options = {"side": side, "thresholds": thresholds, "step": step, "k": k}
    plain, fast = both(*data, buffer=buffer, **options)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


@settings(max_examples=100)
@given(data=labeled_scores(), buffer=buffers(), thresholds=thresholds())
def test_twins_agree_when_weights_are_made_in_parts(data, buffer, thresholds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_plans, "_MOST_WEIGHTS", 30)
        plain, fast = both(*data, buffer=buffer, thresholds=thresholds)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


def long_labels(rng, n=20_000):
    labels = np.zeros(n, dtype=int)
    for start in rng.integers(0, n - 100, 60):
        labels[start : start + rng.integers(1, 80)] = 1
    return labels


@pytest.mark.parametrize("thresholds", [None, 250])
@pytest.mark.parametrize("decimals", [2, 17])
def test_twins_agree_on_a_long_series(decimals, thresholds):
    rng = np.random.default_rng(decimals)
    scores = rng.random(20_000).round(decimals)
    plain, fast = both(long_labels(rng), scores, buffer=100, thresholds=thresholds)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32"])
def test_takes_scores_that_doubles_hold_exactly(dtype):
    rng = np.random.default_rng(3)
    labels, scores = long_labels(rng), (rng.random(20_000) * 200).astype(dtype)
    plan = BufferedLabels(check_labels(labels), AREAS).compiled
    assert plan.rank(scores, None, 20) is not None
    plain, fast = both(labels, scores, buffer=20)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "longdouble"])
def test_leaves_scores_to_numpy_that_doubles_would_round(dtype):
    rng = np.random.default_rng(4)
    labels = long_labels(rng)
    plan = BufferedLabels(check_labels(labels), AREAS).compiled
    assert plan.rank(np.arange(labels.size).astype(dtype), None, 20) is None


def read_only(scores):
    scores.flags.writeable = False
    return scores


def every_second(scores):
    return np.repeat(scores, 2)[::2]


def unaligned(scores):
    return np.frombuffer(b"0" + scores.tobytes(), dtype=np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize("change", [read_only, every_second, unaligned])
def test_no_layout_of_scores_starts_the_compiler_again(change):
    rng = np.random.default_rng(5)
    labels, scores = long_labels(rng), rng.random(20_000)
    kernels = backend._load()
    before = [len(kernel.signatures) for kernel in astuple(kernels)]
    expected = vuskit.evaluate(labels, scores.copy(), buffer=20)
    assert dict(vuskit.evaluate(labels, change(scores), buffer=20)) == dict(expected)
    assert [len(kernel.signatures) for kernel in astuple(kernels)] == before == [1] * len(before)
