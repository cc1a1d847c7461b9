"""Names, suggestions, decorators and plug-ins."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from vuskit.detectors import (
    Detector,
    get_detector,
    list_detectors,
    registry,
)
from vuskit.detectors.registry import ENTRY_POINTS, detector_class, register_detector
from vuskit.errors import InvalidInputError

PAPER = {"iforest", "lof", "mp", "norma", "pca", "ae", "lstm_ad", "poly", "cnn", "ocsvm"}
BASELINES = {"random", "constant", "moving_zscore", "values"}


class Flat(Detector):
    """For registration in these tests."""

    def _fit(self, train, progress): ...

    def _score(self, values):
        return values[:, 0] * 0


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))


def test_the_list_holds_the_ten_and_the_baselines():
    assert set(list_detectors()) >= PAPER | BASELINES
    assert list(list_detectors()) == sorted(list_detectors())


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("isoforest", {}, "got 'isoforest'; did you mean 'iforest'?"),
        ("zzz", {}, "got 'zzz'; choose from .*lof"),
        ("lof", {"neighbors": 3}, "lof has no parameter 'neighbors'; did you mean 'n_neighbors'?"),
        ("values", {"xyz": 3}, "values has no parameter 'xyz'; choose from impute, seed"),
        ("lof", {"n_neighbors": 0}, "`n_neighbors` must be an int >= 1, got 0"),
    ],
)
def test_typos_are_answered(name, params, message):
    with pytest.raises(InvalidInputError, match=message.replace("?", r"\?")):
        get_detector(name, **params)


def test_registering_by_decorator():
    assert register_detector("flat", title="A flat one", reference="none")(Flat) is Flat
    assert "flat" in list_detectors()
    assert repr(get_detector("flat", seed=1)) == "flat(impute=None, seed=1)"
    assert detector_class("flat").title == "A flat one"


def test_a_name_belongs_to_one_class():
    register_detector("flat")(Flat)
    register_detector("flat")(Flat)  # running a notebook cell again is fine
    with pytest.raises(InvalidInputError, match=r"`name` must be new, got 'lof' of vuskit\."):
        register_detector("lof")(Flat)


@pytest.mark.parametrize("name", ["Flat", "two words", "", "1st"])
def test_names_are_lower_case_identifiers(name):
    with pytest.raises(InvalidInputError, match="`name` must be a lower-case identifier, got"):
        register_detector(name)


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A distribution on the path that brings two entry points."""
    (tmp_path / "flat_plugin.py").write_text(
        "from vuskit.detectors import Values\nclass Plugged(Values): ...\nnot_a_detector = 5\n"
    )
    meta = tmp_path / "flat_plugin-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: flat-plugin\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text(
        f"[{ENTRY_POINTS}]\nplugged = flat_plugin:Plugged\nbroken = flat_plugin:not_a_detector\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()


@pytest.mark.usefixtures("plugin")
def test_plugins_are_found_by_entry_point():
    assert "plugged" in list_detectors()
    detector = get_detector("plugged")
    assert repr(detector) == "plugged(impute=None, seed=0)"
    assert detector.fit_score([1.0, 2.0]).tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("plugin")
def test_a_wrong_entry_point_hurts_only_its_own_name():
    assert "broken" in list_detectors()
    assert get_detector("values").name == "values"
    with pytest.raises(InvalidInputError, match=r"'broken' .* must be a Detector class, got 5"):
        get_detector("broken")


def test_listing_imports_no_heavy_library():
    code = (
        "import sys, vuskit.detectors as d; d.list_detectors(); d.get_detector('cnn');"
        "heavy = {'torch', 'sklearn', 'scipy', 'stumpy', 'numba', 'pandas'} & set(sys.modules);"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
