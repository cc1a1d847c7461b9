"""The conformance suite: expected values are the oracles', and the package agrees with them."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from oracle.suite import suite as made_by_oracles

import vuskit
from vuskit.conformance import answer_suite, check_answers, conformance_suite, suite_text
from vuskit.errors import InvalidInputError
from vuskit.kernels.labels import DEFINITIONS

READER = Path(__file__).parents[1] / "examples" / "conformance_reader.py"


@pytest.fixture(scope="module")
def suite():
    return conformance_suite()


@pytest.fixture(scope="module")
def oracles():
    return made_by_oracles()


def test_suite_is_that_of_the_oracles(suite, oracles):
    """`python benchmarks/freeze_conformance.py` writes it again."""
    assert suite["version"] == oracles["version"]
    assert suite["inputs"] == oracles["inputs"]
    known = {check["id"]: check for check in oracles["checks"]}
    assert len(known) == len(suite["checks"]) > 4000
    for check in suite["checks"]:
        expected = known[check["id"]]
        assert check["options"] == expected["options"]
        if expected["expected"] is None:
            assert check["expected"] is None
        else:
            assert check["expected"] == pytest.approx(expected["expected"], abs=1e-14)


def ours(measure, y_true, y_score, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coarse grids and single classes are wanted here
        return getattr(vuskit, measure)(y_true, y_score, **options)


def test_package_agrees_with_every_check():
    report = check_answers(answer_suite(ours), tolerance=1e-12)
    assert report.wrong == ()
    assert report.total("missing") == 0
    assert report.passed


def test_every_measure_definition_and_side_is_covered(suite):
    measures = {check["measure"] for check in suite["checks"]}
    assert measures == {one.name for one in vuskit.list_measures() if one.group != "own"}
    for measure in ("range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"):
        options = [one["options"] for one in suite["checks"] if one["measure"] == measure]
        assert {one["definition"] for one in options} == set(DEFINITIONS)
        assert {one.get("side") for one in options} == {None, "before", "after"}
        assert {one.get("thresholds") for one in options} == {None, 5, 250}
        assert {one["buffer"] for one in options} >= {0, 1, 50}


def test_definitions_differ_somewhere(suite):
    """A suite in which they agree would not tell an implementation which one it has."""
    found = {}
    for check in suite["checks"]:
        if check["measure"] == "vus_pr":
            others = {k: v for k, v in check["options"].items() if k != "definition"}
            place = check["input"], tuple(sorted(others.items()))
            found.setdefault(place, set()).add(check["expected"])
    assert sum(len(values) == len(DEFINITIONS) for values in found.values()) > 50


def test_written_suite_is_the_same_data(suite):
    assert json.loads(suite_text()) == suite
    assert max(map(len, suite_text().splitlines())) < 1500


def test_wrong_missing_and_unknown_answers():
    report = check_answers({"perfect/auc_roc": 0.9, "all_normal/auc_roc": float("nan")})
    assert [one.id for one in report.wrong] == ["perfect/auc_roc"]
    assert report.counts["auc_roc"]["right"] == 1
    assert not report.passed
    assert not check_answers({}).passed
    assert [one.got for one in check_answers({"perfect/auc_roc": None}).wrong] == [None]
    with pytest.raises(InvalidInputError, match="did you mean 'perfect/auc_roc'"):
        check_answers({"perfect/aucroc": 1.0})
    with pytest.raises(InvalidInputError, match="must be a number or None, got '1'"):
        check_answers({"perfect/auc_roc": "1"})


def test_reader_of_the_examples(tmp_path):
    text = READER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 45
    assert "import vuskit" not in text
    (tmp_path / "suite.json").write_text(suite_text(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(READER), "suite.json", "results.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "22 checks, 0 wrong\n"
    answers = json.loads((tmp_path / "results.json").read_text())["results"]
    report = check_answers(answers)
    assert report.passed
    assert report.counts["auc_roc"] == {"right": 22, "wrong": 0, "missing": 0}
