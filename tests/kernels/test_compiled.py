"""The compiled sweep against the NumPy one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import buffers, labeled_scores, sides

import vuskit
from vuskit.kernels import buffers as buffer_plans
from vuskit.kernels import compiled

pytest.importorskip("numba", reason="numba is not installed: no compiled sweep to test")

MEASURES = ["vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"]


@pytest.fixture(scope="module", autouse=True)
def _compiled_once():
    vuskit.warm_up()


def both(*data, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VUSKIT_NUMBA", "0")
        plain = vuskit.evaluate(*data, measures=MEASURES, **options)
        patch.delenv("VUSKIT_NUMBA")
        patch.setattr(compiled, "_WORTH_A_CALL", 0)
        return plain, vuskit.evaluate(*data, measures=MEASURES, **options)


@settings(max_examples=300)
@given(data=labeled_scores(), buffer=buffers(), side=sides())
def test_twins_agree(data, buffer, side):
    plain, fast = both(*data, buffer=buffer, side=side)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


@settings(max_examples=100)
@given(data=labeled_scores(), buffer=buffers())
def test_twins_agree_when_weights_are_made_in_parts(data, buffer):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer_plans, "_MOST_WEIGHTS", 30)
        plain, fast = both(*data, buffer=buffer)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


@pytest.mark.parametrize("decimals", [2, 17])
def test_twins_agree_on_a_long_series(decimals):
    rng = np.random.default_rng(decimals)
    labels = np.zeros(20_000, dtype=int)
    for start in rng.integers(0, 19_900, 60):
        labels[start : start + rng.integers(1, 80)] = 1
    plain, fast = both(labels, rng.random(20_000).round(decimals), buffer=100)
    assert dict(fast) == pytest.approx(dict(plain), abs=1e-12)


def test_is_not_used_before_it_pays(monkeypatch):
    """A small evaluation must not wait for a compiler."""
    monkeypatch.setattr(compiled, "_loaded", {})
    assert compiled.compiled_sweep(10**6) is None
    assert not compiled._loaded
    assert compiled.compiled_sweep(10**10) is not None


def test_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("VUSKIT_NUMBA", "0")
    assert compiled.compiled_sweep(10**12) is None
