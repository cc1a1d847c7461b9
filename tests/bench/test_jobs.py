"""Measures of users that fail, hang or have no value cost nobody else's."""

from __future__ import annotations

import json
import sys

import pytest

from vuskit import InvalidInputError
from vuskit.bench import Kind, Run, Status, Store
from vuskit.cli._results_table import chosen_measure, read_results
from vuskit.cli.bench.leaderboard import leaderboard_content, leaderboard_text
from vuskit.measures import registry
from vuskit.report.page.run import RunReport, run_sections

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
        assert store.forget([Status.ERROR]) == 4
    again = evaluations(workshop.run())
    assert again == {("boom",): Status.ERROR, ("boom_too",): Status.ERROR}
    assert measured(workshop) == {"auc_pr", "vus_pr", "mean_score"}


def test_a_mended_measure_runs_again_alone(workshop, monkeypatch):
    planned(workshop, "boom").run()
    monkeypatch.setitem(BODIES, "boom", "return 0.25")
    monkeypatch.delitem(sys.modules, "own_boom")
    monkeypatch.delitem(registry._MEASURES, "boom")
    for cache in ("vuskit.bench.jobs._measure_identity", "vuskit.bench.identity._module_version"):
        module, _, name = cache.rpartition(".")
        getattr(sys.modules[module], name).cache_clear()
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


def test_a_failure_of_all_is_told_for_each(workshop):
    planned(workshop, "mean_score").run()
    for path in (workshop.folder / "scores").rglob("*.npy"):
        path.write_bytes(b"broken")
    other = planned(workshop, "mean_score")
    other.path.write_text(other.path.read_text().replace('"median_anomaly"', "12"))
    assert evaluations(other.run()) == {
        ("auc_pr", "vus_pr"): Status.ERROR,
        ("mean_score",): Status.ERROR,
    }


def test_a_measure_without_any_value_keeps_its_place_in_every_table(workshop, capsys):
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
    leaderboard_text(leaderboard_content(folder, "series"))
    shown = capsys.readouterr().out
    assert "VUS-PR  AUC-PR  boom  undefined\n" in shown
    assert shown.endswith("No value on any series: boom, undefined\n")
    page = run_sections(RunReport.read(folder))[0].html
    assert "No value on any series: boom, undefined." in page
    results = read_results(folder)
    with pytest.raises(InvalidInputError, match="got 'undefined': no value on any series; there"):
        chosen_measure(results.frame, "undefined")
