"""``vuskit list``: the registries, as tables and as data."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.json_keys import strict_json

import vuskit
from vuskit.datasets import list_formats
from vuskit.datasets.synthetic import list_families
from vuskit.detectors import list_detectors
from vuskit.studies import list_studies

KINDS = ["measures", "detectors", "readers", "thresholds", "studies", "families"]


def test_citations_are_those_of_the_documentation(command):
    page = (Path(__file__).parents[2] / "docs" / "citing.md").read_text(encoding="utf-8")
    assert f"```bibtex\n{command('list', 'citations').out}```" in page
    (entry,) = json.loads(command("list", "citations", "boniol2025vus", "--json").out)
    assert entry["bibtex"].startswith("@article{boniol2025vus,")


@pytest.mark.parametrize("kind", KINDS)
def test_tables(snapshot, kind):
    # A process of its own: other tests register measures and detectors of theirs.
    result = subprocess.run(
        [sys.executable, "-c", "from vuskit.cli.main import run; run()", "list", kind],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    snapshot(f"list_{kind}", result.stdout)


NAMES = {
    "measures": lambda: [measure.name for measure in vuskit.list_measures()],
    "detectors": list_detectors,
    "readers": lambda: [entry.name for entry in list_formats()],
    "thresholds": vuskit.list_threshold_rules,
    "studies": lambda: [study.name for study in list_studies()],
    "families": lambda: [family.name for family in list_families()],
}


@pytest.mark.parametrize("kind", KINDS)
def test_json_and_csv_agree(command, kind):
    as_json = json.loads(command("list", kind, "--json").out)
    as_csv = list(csv.DictReader(io.StringIO(command("list", kind, "--csv").out)))
    assert [row["name"] for row in as_json] == list(NAMES[kind]())
    assert [row["name"] for row in as_csv] == list(NAMES[kind]())
    assert list(as_json[0]) == list(as_csv[0])


def test_parameters_of_a_detector(command):
    rows = {row["name"]: row for row in json.loads(command("list", "detectors", "--json").out)}
    assert "n_neighbors" in rows["lof"]["parameters"]


def test_parameters_of_the_study_of_times_can_be_set(command):
    listed = json.loads(command("list", "studies", "timing", "--json").out)
    assert [one["name"] for one in listed] == ["repeats", "clock", "average"]
    for one in listed:
        refused = command("study", "timing", f"--set={one['name']}=0")
        assert refused.code == 2
        assert f"`{one['name']}` must be " in refused.err
    refused = command("study", "timing", "--set=auc_pr.interpolation=trapezoid")
    assert "`--set` must name a parameter of the study" in refused.err


def test_parameters_of_a_study(command):
    rows = json.loads(command("list", "studies", "robustness", "--json").out)
    assert {"name": "count", "default": "10"}.items() <= rows[
        [r["name"] for r in rows].index("count")
    ].items()
    assert max(map(len, command("list", "studies", "robustness").out.splitlines())) <= 80
    assert "did you mean 'robustness'" in command("list", "studies", "robust").err


def test_mistyped_kind(command):
    outcome = command("list", "measure")
    assert outcome.code == 2
    assert "measures" in outcome.err


def test_properties_in_every_form(command):
    line = ("list", "measures", "--properties")
    assert command(*line, "--latex").out.startswith("% Independent of anomalies")
    assert "| UCR | yes | yes | yes | no |" in command(*line, "--markdown").out
    assert max(map(len, command(*line).out.splitlines())) <= 80
    found = strict_json(command(*line, "--json").out)
    assert [one["name"] for one in found] == [one.name for one in vuskit.list_measures()]
    refused = command("list", "measures", "--latex")
    assert refused.code != 0
    assert "`--latex` must be used with --properties" in refused.err
