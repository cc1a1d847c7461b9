"""Without an optional library a detector says what to install, and the others work."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from detectors.built_in import built_in_detectors

from vuskit.detectors import get_detector
from vuskit.errors import MissingDependencyError

NEEDS = {
    "torch": ("deep", ["ae", "cnn", "lstm_ad"]),
    "stumpy": ("bench", ["mp", "norma"]),
    "sklearn": ("bench", ["iforest", "lof", "ocsvm"]),
}
QUICK = {"ae": {"epochs": 1}, "cnn": {"epochs": 1}, "lstm_ad": {"epochs": 1}}
SERIES = np.sin(np.arange(200) / 5)


def hide(monkeypatch, package):
    """Make importing the package fail as if it were not installed."""
    for module in [m for m in sys.modules if m == package or m.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("package", NEEDS)
def test_the_install_line_is_given(monkeypatch, package):
    hide(monkeypatch, package)
    extra, detectors = NEEDS[package]
    for name in detectors:
        with pytest.raises(MissingDependencyError, match=f"`{name}` needs {package}") as caught:
            get_detector(name).fit_score(SERIES)
        assert f'pip install "vuskit[{extra}]"' in str(caught.value)


def test_the_others_need_nothing_but_numpy(monkeypatch):
    for package in (*NEEDS, "scipy", "pandas"):
        hide(monkeypatch, package)
    needy = {name for _, names in NEEDS.values() for name in names}
    free = [name for name in built_in_detectors() if name not in needy]
    assert {"pca", "poly", "random", "constant", "values", "moving_zscore"} <= set(free)
    for name in free:
        assert get_detector(name).fit_score(SERIES).shape == (200,)
