"""Commands built from the registry: a user's study, executors and limits."""

from __future__ import annotations

import json

import pytest
from studies.scored import make_several, write_scored
from typer.testing import CliRunner

from vuskit.cli.app import app
from vuskit.errors import InvalidInputError
from vuskit.studies import base as registry

OWN = """
from dataclasses import dataclass
import pandas as pd
from vuskit.parameters import number, param
from vuskit.studies import Study, StudyResult, study

@dataclass(frozen=True, eq=False)
class SpreadResult(StudyResult):
    spread: pd.DataFrame

    def tables(self):
        return {"spread": self.spread.reset_index()}

    def overview(self):
        return self.spread.mean(axis=1).to_frame("spread").rename_axis("measure")

    def score(self):
        return self.overview()["spread"]

@study(name="spread", title="Spread", question="How far apart are detectors?", better="higher")
@dataclass(frozen=True)
class Spread(Study[SpreadResult]):
    '''Range of a measure over the detectors of a series.'''

    factor: float = param(1.0, number(0), "Factor of the range.", metavar="X")

    def per_series(self, scored):
        evaluate = self.evaluator(scored.series.labels, self.choose_buffer(scored).length)
        values = [list(evaluate(score).values()) for score in scored.scores.values()]
        return [self.factor * (max(column) - min(column)) for column in zip(*values)]

    def combine(self, parts):
        return SpreadResult(pd.DataFrame(parts, columns=list(self.names)).T)
"""
QUICK = ("--measure", "auc_pr", "--measure", "vus_pr", "--buffer", "24", "--processes", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    source = tmp_path_factory.mktemp("scores")
    for scored in make_several()[:3]:
        write_scored(source, scored)
    return source


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_STUDIES", dict(registry._STUDIES))
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


def numbers(result):
    return {
        one["name"]: one["values"] for one in json.loads(result.stdout)["studies"][0]["measures"]
    }


@pytest.mark.parametrize("form", ["--load {}", "--load={}"])
def test_study_of_a_file_is_a_command(folder, own, tmp_path, form):
    line = ("study", "spread", folder, *form.format(own).split(), *QUICK, "--output", tmp_path)
    found = invoke(*line, "--json")
    assert found.exit_code == 0, found.output
    double = invoke(*line, "--json", "--set=factor=2")
    assert numbers(double)["vus_pr"]["spread"] == 2 * numbers(found)["vus_pr"]["spread"] > 0
    assert (tmp_path / "spread.md").exists()


def test_failed_series_end_with_code_3(folder, own, tmp_path):
    names = sorted(path.name for path in folder.rglob("*.csv*"))
    check = f'        if scored.series.name in "{names[0]}":\n            raise ValueError("no")\n'
    text = OWN.replace("        evaluate =", f"{check}        evaluate =")
    own.write_text(text)
    found = invoke("study", "spread", folder, "--load", own, *QUICK, "--output", tmp_path)
    assert found.exit_code == 3, found.output
    assert "spread: 1 series failed:" in found.stderr
    assert "ValueError: no" in found.stderr


def test_unknown_study(folder):
    found = invoke("study", "sprad", folder)
    assert isinstance(found.exception, InvalidInputError)
    assert "`STUDY` must be one of 'robustness'" in str(found.exception)


def test_finished_series_are_counted(folder, tmp_path):
    line = ("study", "consistency", folder, *QUICK, "--output", tmp_path, "--set=min_series=2")
    first = invoke(*line)
    assert "already finished" not in first.stderr
    again = invoke(*line)
    assert "consistency: 3 of 3 series were already finished" in again.stderr


def test_limits_are_accepted(folder, tmp_path):
    line = ("study", "consistency", folder, *QUICK, "--output", tmp_path, "--set=min_series=2")
    found = invoke(*line, "--time-limit", "10m", "--memory-limit", "8GB")
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--set=ties=best",), "`--set`: `ties` must be one of"),
        (("--set=definition=x",), "`--set`: `definition` must be one of"),
        (("--set=tie=min",), "did you mean 'ties'?"),
        (("--quick",), "must be used with timing"),
    ],
)
def test_wrong_options(folder, tmp_path, options, text):
    found = invoke("study", "consistency", folder, *QUICK, "--output", tmp_path, *options)
    assert isinstance(found.exception, InvalidInputError)
    assert text in str(found.exception)


def test_amount_of_memory(folder):
    found = invoke("study", "consistency", folder, "--memory-limit", "much")
    assert found.exit_code == 2
    assert "4 GB" in found.output
