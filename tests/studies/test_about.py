"""Stored values belong to content, code and settings; names are those of the source."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.terminal import COMMAND
from studies.scored import SOME, make_scored, make_several, stored, write_scored
from typer.testing import CliRunner

from vuskit import get_measure, register_measure
from vuskit.cli.app import app
from vuskit.datasets import ScoredSeries, Series
from vuskit.engine.tasks import StaleWorkerError
from vuskit.measures import registry
from vuskit.measures.thresholds import Sigma
from vuskit.parameters import number, param
from vuskit.store.identity import key_of
from vuskit.studies import (
    Consistency,
    Robustness,
    Separability,
    SeriesValues,
    Study,
    run_study,
    study,
)
from vuskit.studies import base as studies_registry
from vuskit.studies.result import ValuesResult
from vuskit.studies.run import about_study, check_code

OTHER_NAMES = {"good": "LOF", "late": "PCA", "noisy": "AE", "useless": "random"}


def study_digest(study):
    return key_of("study", about_study(study)[0])


def renamed(scored, *, name="pump", dataset="plantB"):
    one = scored.series
    series = Series(name, dataset, one.values, one.labels)
    return ScoredSeries(series, {OTHER_NAMES[key]: score for key, score in scored.scores.items()})


# ---- names ----


@pytest.mark.parametrize("kind", ["robustness", "separability", "consistency"])
def test_a_rename_reuses_the_values_under_the_new_names(tmp_path, kind):
    scored, other = make_scored(1), renamed(make_scored(1))
    (first,) = run_study(kind, scored, folder=tmp_path, **SOME).values
    kept = stored(tmp_path)
    found = run_study(kind, other, folder=tmp_path, **SOME)
    assert stored(tmp_path) == kept
    (second,) = found.values
    assert (second.dataset, second.series) == ("plantB", "pump")
    assert second.axes["detector"] == tuple(OTHER_NAMES[one] for one in first.axes["detector"])
    np.testing.assert_array_equal(first.values, second.values)
    fresh = run_study(kind, other, **SOME)
    assert found.to_frame().to_csv() == fresh.to_frame().to_csv()
    assert str(found.values[0].notes) == str(fresh.values[0].notes)


def test_equal_content_is_computed_once_and_listed_under_both_names(tmp_path):
    scored = make_scored(1)
    both = [scored, renamed(scored)]
    found = run_study("consistency", both, folder=tmp_path, **SOME)
    assert len(stored(tmp_path)) == 1
    assert [one.name for one in found.values] == ["plant/s1", "plantB/pump"]
    assert [set(one.axes["detector"]) for one in found.values] == [
        set(OTHER_NAMES),
        set(OTHER_NAMES.values()),
    ]


def test_equal_names_with_other_content_share_nothing(tmp_path):
    first = make_scored(1)
    labels = np.roll(first.series.labels, 3)
    other = ScoredSeries(Series("s1", "plant", first.series.values, labels), first.scores)
    values = [
        run_study("consistency", one, folder=tmp_path, **SOME).values[0].values
        for one in (first, other)
    ]
    assert len(stored(tmp_path)) == 2
    assert not np.array_equal(*values)


def test_runs_of_one_detector_are_not_those_of_several(tmp_path):
    scored = make_scored(1)
    together = ScoredSeries(scored.series, scored.scores, {"team": tuple(scored.scores)})
    apart = run_study("consistency", scored, folder=tmp_path, **SOME)
    found = run_study("consistency", together, folder=tmp_path, **SOME)
    assert len(stored(tmp_path)) == 2
    assert found.values[0].axes["detector"] == ("team",)
    means = apart.values[0].values.mean(axis=0)
    np.testing.assert_allclose(found.values[0].values[0], means, atol=1e-12)


def test_pairs_given_by_name_follow_the_names(tmp_path):
    scored = make_scored(1)
    options = {"pairs": [("good", "late")], "count": 4, "folder": tmp_path, **SOME}
    swapped = ScoredSeries(
        scored.series,
        {"late": scored.scores["good"], "good": scored.scores["late"]},
    )
    first, second = (
        run_study("separability", one, **options).to_frame() for one in (scored, swapped)
    )
    assert len(stored(tmp_path)) == 2
    fresh = run_study("separability", swapped, **{**options, "folder": None}).to_frame()
    assert second.equals(fresh)
    assert not second["z"].equals(first["z"])


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


QUICK = ("--measure", "auc_pr", "--measure", "vus_pr", "--buffer", "24", "--set", "count=4")


def test_moved_and_renamed_files_on_the_command_line(tmp_path):
    files = tmp_path / "scores"
    for scored in make_several()[:3]:
        write_scored(files, scored)
    line = ("study", "separability", files, *QUICK, "--processes", 2, "--output", tmp_path / "out")
    assert invoke(*line).exit_code == 0
    kept = stored(tmp_path / "out" / "series")
    before = pd.read_csv(tmp_path / "out" / "separability_z.csv")
    (files / "hall" / "deep").mkdir(parents=True)
    moved = files / "hall" / "deep" / "pump.csv"
    shutil.move(files / "mill" / "s1.csv", moved)
    moved.write_text(moved.read_text().replace("good", "LOF", 1))
    assert invoke(*line).exit_code == 0
    assert stored(tmp_path / "out" / "series") == kept
    after = pd.read_csv(tmp_path / "out" / "separability_z.csv")
    rows = after[after["dataset"] == "deep"]
    assert set(rows["series"]) == {"pump"}
    assert "LOF" in set(rows["accurate"])
    assert "mill" not in set(after["dataset"])
    old = before[before["dataset"] == "mill"]
    assert rows["z"].tolist() == old["z"].tolist()
    # An empty folder gives the same numbers: nothing was random about the names.
    again = (*line[:-1], tmp_path / "fresh")
    assert invoke(*again).exit_code == 0
    fresh = tmp_path / "fresh" / "separability_z.csv"
    assert fresh.read_bytes() == (tmp_path / "out" / "separability_z.csv").read_bytes()


# ---- settings and code ----


@pytest.mark.parametrize(
    "changed",
    [
        {"buffer": 25},
        {"thresholds": 100},
        {"definition": "pvldb2022"},
        {"threshold": Sigma(2.0)},
        {"seed": 1},
        {"count": 11},
        {"lag_fill": "wrap"},
        {"measures": ["f_score", "auc_pr", "range_auc_pr"]},
        {"measures": [*SOME["measures"][:3], get_measure("vus_pr").with_options(step=2)]},
    ],
)
def test_every_setting_counts(changed):
    assert study_digest(Robustness.create(**{**SOME, **changed})) != study_digest(
        Robustness.create(**SOME)
    )


def test_options_of_the_result_do_not_count():
    first = study_digest(Robustness.create(**SOME))
    assert study_digest(Robustness.create(alpha=0.01, min_values=3, **SOME)) == first
    assert study_digest(Consistency.create(**SOME)) != first


@dataclass(frozen=True)
class Weights:
    table: tuple[float, ...]
    matrix: np.ndarray


@pytest.fixture
def level(monkeypatch):
    """A study whose options are objects; `factor` is declared to matter for the result only."""
    monkeypatch.setattr(studies_registry, "_STUDIES", dict(studies_registry._STUDIES))

    @dataclass(frozen=True, eq=False)
    class LevelResult(ValuesResult):
        def tables(self):
            return {}

    @study(title="Level", question="How high?", better="higher")
    @dataclass(frozen=True)
    class Level(Study[LevelResult]):
        weights: Any = None
        table: Any = None
        factor: float = param(1.0, number(), "Factor.", stage="result")

        def per_series(self, scored):
            values = self.factor * np.array([one.mean() for one in scored.scores.values()])
            axes = {"detector": scored.detectors}
            return SeriesValues(scored.series.dataset, scored.series.name, 1, axes, values)

        def combine(self, parts):
            return LevelResult(tuple(parts))

    return Level


def test_options_that_are_objects_count_with_all_their_content(level):
    large = np.zeros((100, 100))
    other = large.copy()
    other[50, 50] = 1  # the text of a large array leaves it out
    studies = [
        level(),
        level(weights=Weights((1.0, 2.0), large)),
        level(weights=Weights((1.0, 2.0), other)),
        level(weights=Weights((1.0, 2.5), large)),
        level(table={1: "a"}),
        level(table={"1": "a"}),
    ]
    assert len(set(map(study_digest, studies))) == len(studies)
    assert study_digest(studies[1]) == study_digest(level(weights=Weights((1.0, 2.0), large * 1)))


def test_a_stored_value_does_not_depend_on_options_of_the_result(level, tmp_path):
    scored = make_scored(1)
    first = run_study(level(factor=3.0), scored, folder=tmp_path).values[0].values
    second = run_study(level(), scored).values[0].values
    np.testing.assert_array_equal(first, second)


def test_names_count_for_studies_that_may_look_at_them(level, tmp_path):
    for one in (make_scored(1), renamed(make_scored(1))):
        found = run_study(level(), one, folder=tmp_path)
        assert found.values[0].series == one.series.name
    assert len(stored(tmp_path)) == 2


# ---- code of measures and studies ----

HELPERS = """
OFFSET = 0.0

def shifted(value):
    return value + OFFSET
"""
OWN = """
from helpers import shifted
from vuskit import register_measure

LIMIT = 0.5

def share(scores):
    return float((scores > LIMIT).mean())

@register_measure(name="own", title="Own")
def own(y_true, y_score):
    return shifted(share(y_score))
"""


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_edited_code_of_a_measure_is_noticed_on_the_command_line(tmp_path):
    files, own, helpers = (tmp_path / name for name in ("scores", "own.py", "helpers.py"))
    several = [make_scored(1), make_scored(2)]
    for one in several:
        write_scored(files, one)
    own.write_text(OWN)
    helpers.write_text(HELPERS)
    known = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    line = [*COMMAND, "study", "consistency", files, "--load", own, "--measure", "own,auc_pr"]
    line += [
        "--set",
        "min_series=2",
        "--buffer",
        24,
        "--processes",
        1,
        "--output",
        tmp_path / "out",
    ]

    def study_again():
        """Number of stored series, and the first series' values of the measure."""
        subprocess.run(
            list(map(str, line)),
            env={**os.environ, "PYTHONPATH": known},
            capture_output=True,
            check=True,
        )
        ranks = pd.read_csv(tmp_path / "out" / "consistency_ranks.csv")
        rows = ranks[(ranks["measure"] == "own") & (ranks["series"] == "s1")]
        return len(stored(tmp_path / "out" / "series")), rows["value"].tolist()

    def expected(limit, offset=0.0):
        return pytest.approx(
            [(score > limit).mean() + offset for score in several[0].scores.values()], abs=1e-6
        )

    assert study_again() == (2, expected(0.5))
    edit(own, "LIMIT = 0.5", "LIMIT = 0.25")
    assert study_again() == (4, expected(0.25))
    edit(helpers, "OFFSET = 0.0", "OFFSET = 3.0")
    assert study_again() == (6, expected(0.25, 3.0))


SESSION = """
import sys
from pathlib import Path

import helpers
from vuskit import register_measure
from vuskit.errors import InvalidInputError
from vuskit.parameters import number, param
from vuskit.studies import run_study

@register_measure(name="own", title="Own")
def own(y_true, y_score):
    return helpers.shifted(float(y_score.mean()))

if __name__ == "__main__":
    module = Path(helpers.__file__)
    options = {"measures": ["own"], "buffer": 9, "processes": int(sys.argv[3])}
    for edited in [True] if sys.argv[4] == "before" else [False, True]:
        if edited:
            module.write_text(module.read_text().replace("OFFSET = 0.0", "OFFSET = 50.0"))
        try:
            run_study("consistency", sys.argv[1], folder=sys.argv[2], **options)
        except InvalidInputError as error:
            print(error)
"""


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_module_that_was_edited_after_its_import_is_refused(tmp_path, processes, when):
    """Before the first study of a session, or after it."""
    path = write_scored(tmp_path / "scores", make_scored(1))
    (tmp_path / "session.py").write_text(SESSION)
    (tmp_path / "helpers.py").write_text(HELPERS)
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    found = subprocess.run(
        [sys.executable, tmp_path / "session.py", path, tmp_path / "parts", str(processes), when],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{tmp_path}/helpers.py changed after it was imported; restart Python" in found.stdout
    assert len(stored(tmp_path / "parts")) == (when == "after")


def test_workers_refuse_another_version_of_a_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "worker_helpers.py").write_text("def low(values):\n    return values.min()\n")
    module = importlib.import_module("worker_helpers")
    study = Separability.create(criterion=module.low, **SOME)
    _, expected = about_study(study)
    check_code(study, expected)
    other = replace(expected, parts={"worker_helpers": "other"})
    with pytest.raises(StaleWorkerError, match="worker_helpers must be the code that the study"):
        check_code(study, other)


def make_measure(factor):
    def scaled(y_true, y_score):
        return factor * float(y_score.mean())

    return scaled


def test_closures_and_criteria_count(monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    digests = []
    for factor in (1.0, 2.0):
        registry._MEASURES.pop("scaled", None)
        register_measure(name="scaled", title="Scaled")(make_measure(factor))
        digests += [
            study_digest(Consistency.create(measures=["scaled"], buffer=9)),
            study_digest(Separability.create(criterion="scaled", **SOME)),
            study_digest(Separability.create(criterion=make_measure(factor + 5), **SOME)),
        ]
    digests += [study_digest(Separability.create(criterion=one, **SOME)) for one in (max, min)]
    assert len(set(digests)) == 8


def test_the_criterion_may_be_a_measure_of_ones_own_in_other_processes(monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    register_measure(name="scaled", title="Scaled")(make_measure(1.0))
    options = {"criterion": "scaled", "min_gap": 0.0, "count": 3, **SOME}
    both = [
        run_study("separability", make_scored(1), processes=count, **options) for count in (1, 2)
    ]
    assert both[0].to_frame().equals(both[1].to_frame())


def test_the_core_counts(monkeypatch):
    digests = set()
    for core in ("native", "numpy"):
        monkeypatch.setattr("vuskit.studies.run.core_name", lambda core=core: core)
        digests.add(study_digest(Robustness.create(**SOME)))
    assert len(digests) == 2


def test_code_of_a_users_study_counts(level):
    first = study_digest(level())

    def per_series(self, scored):
        return SeriesValues("a", "b", 1, {"detector": ()}, np.zeros(0))

    changed = type(level.__name__, (level,), {"per_series": per_series})
    assert study_digest(changed()) != first


# ---- content ----


class Unreadable:
    """A source that can be read the second time only."""

    name = "late"

    def __init__(self):
        self.reads = 0

    def read(self):
        self.reads += 1
        if self.reads == 1:
            raise ValueError("not yet")
        return make_scored(2)


def test_nothing_is_stored_of_a_series_that_cannot_be_read(tmp_path):
    late = Unreadable()
    found = run_study("consistency", [make_scored(9), late], folder=tmp_path, **SOME)
    assert [one.reason for one in found.failures] == ["ValueError: not yet"]
    assert len(stored(tmp_path)) == 1
    assert late.reads == 1
