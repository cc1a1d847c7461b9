"""``vuskit doctor``: what it says, and that its self-test can fail."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sysconfig

import oracle
import pytest

from vuskit import __version__
from vuskit.cli import doctor

BUFFERED = ("range_auc_roc", "range_auc_pr")


def test_golden_values_are_those_of_the_slow_twins():
    labels, scores = doctor.golden_case()
    for case in doctor.golden_values()["cases"]:
        buffer, *rest = case["settings"].items()
        options = dict(rest)
        for name, value in case["values"].items():
            if name.startswith("vus"):
                keywords = {"max_buffer": buffer[1], **options}
            elif name in BUFFERED:
                keywords = {"buffer": buffer[1], **options}
            else:
                keywords = {}
            assert getattr(oracle, name)(labels, scores, **keywords) == pytest.approx(
                value, abs=1e-12
            )


def test_golden_values_cover_measures_and_definitions():
    cases = doctor.golden_values()["cases"]
    assert {case["settings"]["definition"] for case in cases} == {
        "journal",
        "pvldb2022",
        "timeeval",
    }
    assert max(len(case["values"]) for case in cases) == 13


def test_healthy(command, tmp_path):
    outcome = command("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == f"vuskit {__version__}"
    assert max(len(line) for line in lines if not line.startswith("cache")) <= 80
    assert f"cache: {tmp_path / 'cache'}: no data sets yet" in lines
    assert lines[-6:] == [
        "ok     buffer=16, thresholds=all, definition=journal: 13 values",
        "ok     buffer=16, thresholds=50, definition=journal: 4 values",
        "ok     buffer=16, thresholds=all, definition=pvldb2022: 4 values",
        "ok     buffer=16, thresholds=50, definition=pvldb2022: 4 values",
        "ok     buffer=16, thresholds=all, definition=timeeval: 4 values",
        "ok     buffer=16, thresholds=50, definition=timeeval: 4 values",
    ]


def stable(text, cache):
    """Without what differs from machine to machine: versions, what is installed, the cache."""
    text = text.replace(str(cache), "CACHE")
    text = re.sub(r"^(vuskit|Python|NumPy) \S+$", r"\1 VERSION", text, flags=re.MULTILINE)
    text = re.sub(r"^platform .+$", "platform NAME", text, flags=re.MULTILINE)
    text = re.sub(r"^core .+$(\n  .+$)*", "core NAME", text, flags=re.MULTILINE)
    state = r"\d\S*|missing +pip install \"vuskit\[\w+\]\""
    text = re.sub(rf"(^[\w.-]+ +({state})\n)+", "NAME STATE\n", text, flags=re.MULTILINE)
    return re.sub(r"^(optional part) +version$", r"\1 STATE", text, flags=re.MULTILINE)


def test_for_reading(command, snapshot, tmp_path):
    snapshot("doctor", stable(command("doctor").out, tmp_path / "cache"))


def test_json(command):
    found = json.loads(command("doctor", "--json").out)
    assert set(found) == {"vuskit", "versions", "core", "parts", "cache", "self_test"}
    parts = {part["name"]: part for part in found["parts"]}
    assert parts["typer"]["extra"] == "cli"
    assert parts["torch"]["install"] == 'pip install "vuskit[deep]"'
    assert parts["pandas"]["version"] == importlib.metadata.version("pandas")


class Library:
    @staticmethod
    def instruction_set():
        return "v4"


def core_lines(text):
    """The line of the core, and the lines that continue it."""
    return re.search(r"^core .+$(\n  .+$)*", text, re.MULTILINE)[0].splitlines()


def test_native_core(command, monkeypatch):
    monkeypatch.setattr(doctor, "native_core", Library)
    monkeypatch.setattr(doctor, "core_name", lambda: "native")
    assert core_lines(command("doctor").out) == ["core native: instruction set v4"]
    core = json.loads(command("doctor", "--json").out)["core"]
    assert core == {"name": "native", "instruction_set": "v4", "hint": None}


def test_numpy_core_says_how_to_get_the_native_one(command, monkeypatch):
    monkeypatch.setattr(doctor, "native_core", lambda: None)
    monkeypatch.setattr(doctor, "core_name", lambda: "numpy")
    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: None)
    lines = core_lines(command("doctor").out)
    assert lines == [
        "core numpy: for the native core, install a C compiler and run",
        "  pip install --force-reinstall --no-deps --no-binary vuskit vuskit",
    ]
    core = json.loads(command("doctor", "--json").out)["core"]
    assert (core["name"], core["instruction_set"]) == ("numpy", None)
    assert core["hint"].endswith("--no-binary vuskit vuskit")


def test_numpy_core_by_choice(command, monkeypatch):
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    found = core_lines(command("doctor").out)
    assert found == ["core numpy: unset VUSKIT_CORE to use the native core"]


def test_missing_part_gets_its_install_line(command, monkeypatch):
    real = importlib.metadata.version

    def without_torch(name):
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", without_torch)
    line = next(row for row in command("doctor").out.splitlines() if row.startswith("torch"))
    assert line.split(maxsplit=2) == ["torch", "missing", 'pip install "vuskit[deep]"']


def test_wrong_value_is_told(command, monkeypatch):
    cases = doctor.golden_values()["cases"]
    cases[0]["values"]["vus_pr"] += 1e-6
    monkeypatch.setattr(doctor, "golden_values", lambda: {"tolerance": 1e-9, "cases": cases})
    outcome = command("doctor")
    assert outcome.code == 1
    assert "WRONG  buffer=16, thresholds=all, definition=journal: 13 values" in outcome.out
    assert "vus_pr gave 0.697221" in outcome.out
