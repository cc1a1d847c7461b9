"""The fuzzer: a few seeded cases pass, and what is broken on purpose is found."""

from __future__ import annotations

import warnings

import fuzz
import numpy as np
import pytest

import vuskit
from vuskit.kernels.sweep import plain_areas
from vuskit.measures import workspace


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    """Shrink for a moment only."""
    monkeypatch.setattr(fuzz, "SHRINK_SECONDS", 0.5)


def run(*arguments):
    return fuzz.main(["--seconds", "600", *map(str, arguments)])


def test_a_few_cases_of_every_relation(capsys):
    assert run("--seed", 5, "--cases", 4) == 0
    shown = capsys.readouterr().out
    for name in fuzz.RELATIONS:
        assert f"{name} " in shown
    assert "seed 5: " in shown
    assert shown.endswith(" 0 failures\n")


def test_a_broken_measure_is_found(capsys, monkeypatch):
    def wrong(levels, n):
        roc, pr = plain_areas(levels, n)
        return roc, pr * (1 - 1e-9)

    monkeypatch.setattr(workspace, "plain_areas", wrong)
    monkeypatch.setenv("VUSKIT_NUMBA", "0")
    assert run("--seed", 2, "--cases", 20, "--only", "oracle") == 1
    shown = capsys.readouterr().out
    assert "FAILED oracle: MismatchError: auc_pr: " in shown
    assert "again: python benchmarks/fuzz.py --seed 2 --only oracle --case " in shown
    code = next(line for line in shown.splitlines() if line.startswith("  case = "))
    names = {"np": np, "Case": fuzz.Case}
    exec(code.strip(), names)
    assert names["case"].n <= 4
    with pytest.raises(fuzz.MismatchError, match="auc_pr"):
        fuzz.check("oracle", names["case"])


def test_a_leaking_warning_is_found(capsys, monkeypatch):
    def leaking(levels, n):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return plain_areas(levels, n)

    monkeypatch.setattr(workspace, "plain_areas", leaking)
    assert run("--seed", 2, "--cases", 3, "--only", "inversion") == 1
    assert "MismatchError: RuntimeWarning leaks: overflow (test_fuzz.py:" in capsys.readouterr().out


def test_documented_warnings_are_no_failures():
    labels = np.arange(200) % 10 == 0
    settings = {"buffer": 2, "measures": ["auc_roc"]}
    with pytest.warns(vuskit.InvertedScoreWarning):
        vuskit.evaluate(labels, ~labels * 1.5, **settings)
    assert fuzz.failure_of("order", fuzz.Case(labels, ~labels * 1.5, settings)) is None


def test_one_case_again(capsys):
    assert run("--seed", 3, "--only", "order", "--case", 17) == 0
    assert "order              1" in capsys.readouterr().out
    one, other = fuzz.random_case(3, 17), fuzz.random_case(3, 17)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert one.settings == other.settings
    assert one.random.random() == one.random.random() == other.random.random()
