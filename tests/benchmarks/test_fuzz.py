"""The fuzzer: a few seeded cases pass, and what is broken on purpose is found."""

from __future__ import annotations

import os
import warnings

import fuzz
import numpy as np
import pytest

import vuskit
from vuskit.kernels.sweep import plain_areas
from vuskit.measures import areas


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

    monkeypatch.setattr(areas, "plain_areas", wrong)
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
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


class FakeCore:
    """A native core with two instruction sets, one of which changes a value."""

    used = "base"
    error = 0.0  # 0: the last bit only

    def instruction_sets(self):
        return ["base", "v3"]

    def use(self, name):
        before, self.used = self.used, name
        return before


@pytest.fixture
def core(monkeypatch):
    core, evaluate = FakeCore(), fuzz.evaluate

    def evaluate_with_core(case, *arguments, **changes):
        values = evaluate(case, *arguments, **changes)
        if core.used == "v3" and os.environ.get("VUSKIT_CORE") != "numpy":
            values["vus_pr"] = np.nextafter(values["vus_pr"] + core.error, 2.0)
        return values

    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    monkeypatch.setattr(fuzz, "native_core", lambda: core)
    monkeypatch.setattr(fuzz, "evaluate", evaluate_with_core)
    return core


def test_instruction_sets_are_compared_bit_by_bit(core, capsys):
    assert run("--seed", 2, "--cases", 1, "--only", "instructions") == 1
    shown = capsys.readouterr().out
    assert "FAILED instructions: MismatchError: vus_pr: " in shown
    assert " with v3 differs from " in shown
    assert core.used == "base"
    core.instruction_sets = lambda: ["base"]
    assert run("--seed", 2, "--cases", 1, "--only", "instructions") == 0


def test_cores_are_compared(core, capsys):
    core.used = "v3"
    assert run("--seed", 2, "--cases", 1, "--only", "core") == 0
    core.error = 1e-11
    assert run("--seed", 2, "--cases", 1, "--only", "core") == 1
    assert "FAILED core: MismatchError: vus_pr: " in capsys.readouterr().out


def test_relations_of_the_native_core_are_skipped_without_it(capsys, monkeypatch):
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    assert run("--cases", 1, "--only", "core", "--only", "instructions", "--only", "bounds") == 0
    shown = capsys.readouterr().out
    for name in ("core", "instructions"):
        assert f"{name} is skipped: the native core is not in use" in shown
    assert "seed 0: 1 cases, 0 failures" in shown


def test_a_leaking_warning_is_found(capsys, monkeypatch):
    def leaking(levels, n):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return plain_areas(levels, n)

    monkeypatch.setattr(areas, "plain_areas", leaking)
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
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
