"""``vuskit conformance``: export the suite, check answers to it."""

from __future__ import annotations

import json

import pytest
from cli.json_keys import strict_json

from vuskit.conformance import conformance_suite


@pytest.fixture(scope="module")
def right():
    """Right answers for one measure."""
    checks = conformance_suite()["checks"]
    return {one["id"]: one["expected"] for one in checks if one["measure"] == "auc_pr"}


def write(folder, results, **more):
    (folder / "results.json").write_text(json.dumps({"results": results, **more}))
    return "results.json"


def test_export_follows_its_schema(command, tmp_path):
    outcome = command("conformance", "export", "--output", "suite.json")
    assert (outcome.code, outcome.out) == (0, "suite.json\n")
    assert "22 inputs, 26 measures, 4," in outcome.err
    found = strict_json((tmp_path / "suite.json").read_text())
    assert json.loads(command("conformance", "export").out) == found


def test_right_answers_pass(command, tmp_path, right):
    outcome = command("conformance", "check", write(tmp_path, right, implementation="mine 2"))
    assert outcome.code == 0
    assert f"mine 2: {len(right)} right, 0 wrong" in outcome.err
    assert ["AUC-PR", str(len(right)), "0", "0"] in [
        line.split() for line in outcome.out.split("\n")
    ]


def test_wrong_answers_end_with_a_code(command, tmp_path, right):
    name = "perfect/auc_pr"
    path = write(tmp_path, {**right, name: 0.5})
    outcome = command("conformance", "check", path, "--json")
    assert outcome.code == 4
    assert f"wrong: {name}: expected 1.0, got 0.5" in outcome.err
    found = strict_json(outcome.out)
    assert found["wrong"] == [{"id": name, "expected": 1.0, "got": 0.5}]
    assert command("conformance", "check", path, "--tolerance", "0.6").code == 0
    assert found["counts"]["auc_pr"] == {"right": 43, "wrong": 1, "missing": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON"),
        ("[]", 'must hold {"results": {ID: VALUE, ...}}'),
        ('{"results": {"x": 1}}', "must use check ids of the suite, got 'x'"),
        ('{"results": {}, "version": 99}', "`version` must be 1, the version of the suite, got 99"),
    ],
)
def test_unusable_results(command, tmp_path, text, message):
    (tmp_path / "results.json").write_text(text)
    outcome = command("conformance", "check", "results.json")
    assert outcome.code == 2
    assert message in outcome.err
