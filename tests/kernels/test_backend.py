"""Which core computes the kernels."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import vuskit
from vuskit.kernels import backend
from vuskit.kernels.backend import core_name, native_core

LABELS = (np.arange(400) // 10 % 8 == 3).astype(int)
SCORES = np.random.default_rng(3).random(400).round(2)
LIBRARY = object()  # stands for the library, which may not be built


@pytest.fixture
def built(monkeypatch):
    """An installation with the native core."""
    monkeypatch.setattr(backend, "_library", LIBRARY)
    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    return monkeypatch


@pytest.fixture
def not_built(monkeypatch):
    """An installation without the native core."""
    monkeypatch.setattr(backend, "_library", None)
    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    return monkeypatch


@pytest.mark.usefixtures("built")
def test_the_native_core_is_the_default():
    assert native_core() is LIBRARY
    assert core_name() == "native"


@pytest.mark.usefixtures("not_built")
def test_numpy_is_the_default_without_a_native_core():
    assert native_core() is None
    assert core_name() == "numpy"


@pytest.mark.parametrize("state", ["built", "not_built"])
def test_the_native_core_can_be_switched_off(state, request):
    request.getfixturevalue(state).setenv("VUSKIT_CORE", "numpy")
    assert native_core() is None
    assert core_name() == "numpy"


def test_the_native_core_can_be_required(built):
    built.setenv("VUSKIT_CORE", "native")
    assert native_core() is LIBRARY
    assert core_name() == "native"


def test_a_required_native_core_must_be_built(not_built):
    not_built.setenv("VUSKIT_CORE", "native")
    for ask in (native_core, core_name, lambda: vuskit.vus_pr(LABELS, SCORES, buffer=4)):
        with pytest.raises(vuskit.MissingDependencyError, match=r"=native requires .* C compiler"):
            ask()


def test_the_variable_is_read_at_each_call(built):
    for value, name in (("numpy", "numpy"), ("native", "native"), ("numpy", "numpy")):
        built.setenv("VUSKIT_CORE", value)
        assert core_name() == name
    built.delenv("VUSKIT_CORE")
    assert core_name() == "native"


def test_other_values_of_the_variable_are_refused(built):
    built.setenv("VUSKIT_CORE", "nativ")
    with pytest.raises(vuskit.InvalidInputError, match="'native' or 'numpy', got 'nativ'"):
        native_core()
    built.setenv("VUSKIT_CORE", "")
    assert core_name() == "native"


def test_values_do_not_depend_on_the_core(each_core):
    found = {each_core: vuskit.evaluate(LABELS, SCORES, buffer=30)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VUSKIT_CORE", "numpy")
        expected = vuskit.evaluate(LABELS, SCORES, buffer=30)
    assert dict(found[each_core]) == pytest.approx(dict(expected), rel=0, abs=1e-12)


def test_the_core_may_change_between_calls(each_core, monkeypatch):
    """Labels that were prepared with one core are used with the other."""
    evaluator = vuskit.Evaluator(LABELS, buffer=30)
    expected = dict(evaluator(SCORES))
    for name in ("numpy", "native", "numpy"):
        if name == "numpy" or backend._library is not None:
            monkeypatch.setenv("VUSKIT_CORE", name)
            assert dict(evaluator(SCORES)) == pytest.approx(expected, rel=0, abs=1e-12)
    monkeypatch.setenv("VUSKIT_CORE", each_core)
    assert dict(evaluator(SCORES)) == expected
    assert dict(copy.deepcopy(evaluator)(SCORES)) == expected


WITHOUT_LIBRARY = """
import json, sys
sys.modules["vuskit.kernels._core"] = None  # its import fails
import numpy as np
import vuskit
from vuskit.kernels import backend
labels = (np.arange(400) // 10 % 8 == 3).astype(int)
scores = np.random.default_rng(3).random(400).round(2)
values = dict(vuskit.evaluate(labels, scores, buffer=30))
print(json.dumps([backend.core_name(), backend.native_core() is None, values]))
"""


def test_a_library_that_cannot_be_loaded_is_not_used():
    environment = {name: value for name, value in os.environ.items() if name != "VUSKIT_CORE"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBRARY],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    name, missing, values = json.loads(done.stdout)
    assert (name, missing) == ("numpy", True)
    expected = vuskit.evaluate(LABELS, SCORES, buffer=30)
    assert values == pytest.approx(dict(expected), rel=0, abs=1e-12)
