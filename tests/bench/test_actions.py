"""Jobs use only the data and code they were planned with; failing measures fail alone."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from vuskit import InvalidInputError
from vuskit.bench import (
    Run,
    Status,
    run_plan,
)
from vuskit.bench.expand import expand_plan
from vuskit.bench.jobs import EvaluateJob, ImportJob, JobAction, Kind, MeasureSpec
from vuskit.bench.series import SeriesSource, describe_series
from vuskit.engine.run import InProcessExecutor, LocalExecutor
from vuskit.engine.tasks import run_action
from vuskit.measures import registry
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.publication import publication_table
from vuskit.statistics.results import read_results
from vuskit.store.identity import scores_digest
from vuskit.store.store import Store

OWN = """
from vuskit import register_measure

@register_measure(name="{name}")
def {name}(y_true, y_score):
    {body}
"""
BODIES = {
    "boom": "raise ValueError('no such luck')",
    "boom_too": "raise KeyError('nor here')",
    "greedy": "raise MemoryError('too much')",
    "leaving": "raise SystemExit(4)",
    "undefined": "return float('nan')",
    "mean_score": "return float(y_score.mean())",
}


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    for name in BODIES:
        monkeypatch.delitem(sys.modules, f"own_{name}", raising=False)


def planned(workshop, *names):
    """A plan with AUC-PR, VUS-PR and these, each from a module of its own."""
    for name in names:
        (workshop.base / f"own_{name}.py").write_text(OWN.format(name=name, body=BODIES[name]))
    measures = json.dumps(["auc_pr", *names, "vus_pr"])
    return workshop.write(
        top=f"imports = {json.dumps([f'own_{name}' for name in names])}",
        detectors=['name = "values"'],
        evaluate=f'[[evaluate]]\nmeasures = {measures}\nbuffer = "median_anomaly"',
    )


def evaluations(done):
    """Status by measures, of every evaluation of the first series."""
    first = done[0][0].series
    return {
        tuple(measure.name for measure in job.measures): outcome.status
        for job, outcome in done
        if job.kind is Kind.EVALUATE and job.series == first
    }


def measured(workshop):
    frame = Run(workshop.folder).values()
    assert set(frame.groupby("series").size()) == {frame["measure"].nunique()}
    return set(frame["measure"])


def test_a_measure_that_raises_fails_alone(workshop):
    done = planned(workshop, "boom", "mean_score", "boom_too").run()
    assert evaluations(done) == {
        ("auc_pr", "vus_pr"): Status.OK,
        ("boom",): Status.ERROR,
        ("mean_score",): Status.OK,
        ("boom_too",): Status.ERROR,
    }
    assert measured(workshop) == {"auc_pr", "vus_pr", "mean_score"}
    status = Run(workshop.folder).status()
    assert status.count(Status.ERROR) == 4
    failure = next(one for one in status.failures if "boom of" in one.title)
    assert failure.title.startswith("evaluate boom of Values on synthetic/")
    assert failure.message == "MeasureError: measure 'boom' failed: ValueError: no such luck"


def test_what_failed_alone_is_not_run_again_until_asked_for(workshop):
    planned(workshop, "boom", "boom_too").run()
    assert workshop.run() == []
    assert Run(workshop.folder).status().count(Status.ERROR) == 4
    # Others are added: nothing of what is known is computed again.
    assert set(evaluations(planned(workshop, "boom", "boom_too", "mean_score").run())) == {
        ("mean_score",)
    }
    with Store(workshop.folder) as store:
        failed = [key for key, status in store.statuses().items() if status.failed]
        assert store.forget(failed) == 4
    again = evaluations(workshop.run())
    assert again == {("boom",): Status.ERROR, ("boom_too",): Status.ERROR}
    assert measured(workshop) == {"auc_pr", "vus_pr", "mean_score"}


def test_a_mended_measure_runs_again_alone(workshop, monkeypatch):
    planned(workshop, "boom").run()
    monkeypatch.setitem(BODIES, "boom", "return 0.25")
    assert evaluations(planned(workshop, "boom").run()) == {("boom",): Status.OK}
    assert measured(workshop) == {"auc_pr", "vus_pr", "boom"}
    assert Run(workshop.folder).status().failures == ()


def test_memory_and_exits_of_a_measure_are_told_as_what_they_are(workshop):
    done = planned(workshop, "greedy", "leaving").run()
    assert evaluations(done) == {
        ("auc_pr", "vus_pr"): Status.OK,
        ("greedy",): Status.OOM,
        ("leaving",): Status.ERROR,
    }


def test_broken_score_files_are_no_failure_of_a_measure(workshop):
    planned(workshop, "mean_score").run()
    for path in (workshop.folder / "scores").rglob("*.npy"):
        path.write_bytes(b"broken")
    other = planned(workshop, "mean_score")
    other.path.write_text(other.path.read_text().replace('"median_anomaly"', "12"))
    assert other.run() == []
    notes = Run(workshop.folder).status().notes
    assert any("not computed: " in note and "verify --repair" in note for note in notes)


def test_a_measure_without_any_value_keeps_its_place_in_every_table(workshop):
    done = planned(workshop, "undefined", "boom").run()
    assert evaluations(done)["undefined",] is Status.OK
    folder = workshop.folder
    wide = Run(folder).table(shape="wide")
    assert wide["undefined"].isna().all()
    assert wide["status"].tolist() == ["ERROR"] * 2
    assert wide["buffer"].tolist() == [90, 90]  # of the measures that did not fail
    board = Run(folder).table(shape="leaderboard")
    assert list(board)[-4:] == ["auc_pr", "vus_pr", "boom", "undefined"]
    assert board[["boom", "undefined"]].isna().all(axis=None)
    table = publication_table(Run(folder))
    assert list(table.measures) == ["vus_pr", "auc_pr", "boom", "undefined"]
    assert "No value on any series: boom, undefined." in table.notes
    from vuskit.report.page.run import run_sections
    from vuskit.report.run_report import RunReport

    page = run_sections(RunReport.read(folder))[0].html
    assert "No value on any series: boom, undefined." in page
    results = read_results(folder)
    with pytest.raises(InvalidInputError, match="got 'undefined', which has none; choose"):
        results.chosen_measure("undefined")


# -- data that changed since the plan was expanded -------------------------------------------------

TABLE = "value,label,A,B\n1,0,0.1,5\n9,1,0.7,6\n2,0,0.2,4\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pump.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def ref(table):
    return describe_series(SeriesSource.file(table, "scores", {}))


def imported(ref, path, column):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return ImportJob(ref, str(path), column, column or "mine", digest)


def edit(path, content):
    """Write other bytes; size and time of the last change stay as they were."""
    state = path.stat()
    assert len(content) == state.st_size
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_imported_scores_of_windows_are_aligned(ref, tmp_path):
    path = tmp_path / "mine.npy"
    np.save(path, [0.25, 0.75])
    job = imported(ref, path, None)
    outcome = run_action(JobAction(job))
    assert outcome.status is Status.ERROR
    assert "1 fewer scores than labels; windows of 2? Try --align" in outcome.message
    keys = {job.key}
    for at, expected in (("center", [0.25, 0.25, 0.75]), ("start", [0.25, 0.75, 0.75])):
        aligned = replace(job, align=at, window=2)
        keys.add(aligned.key)
        assert run_action(JobAction(aligned)).value.scores.tolist() == expected
    assert len(keys) == 3


def test_missing_ends_of_imported_scores_are_filled(ref, tmp_path):
    path = tmp_path / "mine.npy"
    np.save(path, [np.nan, 0.5, np.nan])
    result = run_action(JobAction(imported(ref, path, None))).value
    assert (result.scores.tolist(), result.filled) == ([0.5, 0.5, 0.5], 2)


def test_a_series_that_travels_with_its_job_is_verified(table, ref):
    action = JobAction(imported(ref, table, "A")).load()
    assert run_action(action).status is Status.OK
    other = replace(action.series, labels=[1, 0, 0])
    assert run_action(replace(action, series=other)).error_type == "ChangedInputError"


def test_imported_scores_are_those_that_were_planned(table, ref):
    first, second = (imported(ref, table, name) for name in "AB")
    assert run_action(JobAction(first)).value.scores.tolist() == [0.1, 0.7, 0.2]
    edit(table, TABLE.replace("0.7,6", "0.7,3").encode())
    # The table that this process read before has the planned content.
    assert run_action(JobAction(second)).value.scores.tolist() == [5, 6, 4]
    again = imported(describe_series(ref.source), table, "B")
    assert run_action(JobAction(again)).value.scores.tolist() == [5, 3, 4]
    outcome = run_action(JobAction(second))
    assert outcome.error_type == "ChangedInputError"
    assert "pump.csv must not change during a run" in outcome.message
    table.unlink()
    assert run_action(JobAction(second)).error_type == "ChangedInputError"


@pytest.mark.parametrize("name", ["s.npy", "s.csv"])
def test_files_of_imported_scores_are_verified(tmp_path, ref, name):
    path = tmp_path / name
    if name == "s.npy":
        np.save(path, [3.0, 1.0, 2.0])
    else:
        path.write_text("3\n1\n2\n")
    job = imported(ref, path, None)
    assert run_action(JobAction(job)).value.scores.tolist() == [3, 1, 2]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert run_action(JobAction(job)).error_type == "ChangedInputError"


def test_scores_that_travel_with_an_evaluation_are_verified(tmp_path, ref):
    scores = np.array([1.0, 9.0, 2.0])
    np.save(tmp_path / "scores.npy", scores)
    settings = EvaluationSettings(buffer=1)
    job = EvaluateJob(ref, "0" * 32, settings, (MeasureSpec("auc_pr"),), "mine")
    path, digest = tmp_path / "scores.npy", scores_digest(scores)
    action = JobAction(job, scores_path=path, digest=digest)
    assert run_action(action.load()).value.values == {"auc_pr": 1.0}
    outcome = run_action(replace(action.load(), scores=scores[::-1].copy()))
    assert outcome.error_type == "ChangedInputError"
    path.write_bytes(b"broken")
    outcome = run_action(action)
    assert outcome.error_type == "ChangedInputError"
    assert "vuskit bench verify --repair" in outcome.message


# -- code ------------------------------------------------------------------------------------------

DETECTORS = {
    "edited": "from edited_helper import FACTOR\ndef f(values):\n    return FACTOR * values\n",
    "edited_helper": "FACTOR = 2\n",
    "other": "def f(values):\n    return values\n",
}


@pytest.fixture
def edited(workshop):
    """A plan with two detectors, the first of which uses another module."""
    for name, text in DETECTORS.items():
        (workshop.base / f"{name}.py").write_text(text)
    return workshop.write(detectors=['name = "edited:f"', 'name = "other:f"'])


def set_factor(workshop, number):
    (workshop.base / "edited_helper.py").write_text(f"FACTOR = {number}\n")


def test_a_process_with_other_code_refuses_a_job(edited):
    with Store(edited.folder) as store:
        jobs = expand_plan(edited.plan(), store).jobs
    first, second = (next(j for j in jobs if j.label == name) for name in ("edited:f", "other:f"))

    def run(job):
        fresh = replace(job, detector=replace(job.detector))  # as after unpickling
        vars(fresh).update(about=job.about)
        vars(fresh.detector).update(code=job.detector.code)
        return run_action(JobAction(fresh, base=edited.base))

    assert run(first).status is run(second).status is Status.OK
    set_factor(edited, 5)
    refused = run(first)  # it cannot load the new code, so another process must
    assert refused.error_type == "StaleWorkerError"
    assert "edited_helper.py changed after it was imported" in refused.message
    edited.forget()
    refused = run(first)
    assert refused.error_type == "StaleWorkerError"
    assert "`edited:f` must not change during a run" in refused.message
    assert "a different version of edited_helper;" in refused.message
    assert run(second).status is Status.OK  # it does not import the module
    set_factor(edited, 2)
    edited.forget()
    assert run(first).status is Status.OK


def test_a_job_of_a_worker_with_other_code_stays_unfinished(edited):
    """Workers start after an edit that the main process does not know."""
    plan = edited.plan()
    began = []

    def edit_then_note(progress):
        if not began:
            set_factor(edited, 5)
        began.append(progress)

    found = run_plan(replace(plan, detectors=plan.detectors[:1]), observer=edit_then_note)
    assert (found.progress.done, found.progress.failed) == (0, 0)
    assert any("edited_helper" in note for note in Run(edited.folder).status().notes)
    assert {outcome.status for _, outcome in edited.run()} == {Status.OK}


# -- random numbers --------------------------------------------------------------------------------

RANDOM = """
import random
import numpy as np

def by_numpy(values):
    return np.random.random(len(values))

def by_python(values):
    return np.array([random.random() for _ in values])

def by_seed(values, seed):
    return np.random.random(len(values))
"""


def test_unseeded_detectors_give_the_same_scores_everywhere(workshop, tmp_path_factory):
    shops = [workshop, *(type(workshop)(tmp_path_factory.mktemp("other")) for _ in range(2))]
    found = []
    for shop, executor in zip(
        shops,
        (InProcessExecutor(), LocalExecutor(workers=1), LocalExecutor(workers=2)),
        strict=True,
    ):
        (shop.base / "unseeded.py").write_text(RANDOM)
        names = [f'name = "unseeded:{name}"' for name in ("by_numpy", "by_python", "by_seed")]
        np.random.seed(len(found))  # noqa: NPY002
        with executor:
            done = shop.write(detectors=names, top="seeds = [0, 1]").run(executor=executor)
        assert {outcome.status for _, outcome in done} == {Status.OK}
        run = Run(shop.folder)
        found.append({
            (series.name, *score): scores.tobytes()
            for series in run.scored_series()
            for score, scores in zip(series.scores, series.read().scores.values(), strict=True)
        })  # fmt: skip
        shop.forget()
    assert found[0] == found[1] == found[2]
    # Other series, detectors and seeds have other numbers.
    assert len(set(found[0].values())) == len(found[0]) == 2 * (1 + 1 + 2)
