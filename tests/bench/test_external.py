"""Scores that somebody else computed enter without any detector."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit import evaluate
from vuskit.bench.agenda import draw_up
from vuskit.bench.results import read_values_table
from vuskit.bench.states import Kind, Status
from vuskit.bench.store import Store
from vuskit.datasets.synthetic import make_series, three_scores

EVALUATE = '[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = 30\n'


@pytest.fixture
def table(workshop):
    scored = three_scores(0)
    frame = scored.to_frame()
    folder = workshop.base / "scores" / "Heart"
    folder.mkdir(parents=True)
    frame.to_csv(folder / "beats.csv.gz", index=False)
    return scored


def test_a_table_of_scores_brings_its_series_along(workshop, table):
    workshop.path.write_text(f'{EVALUATE}[[scores]]\nfolder = "scores"\n')
    done = workshop.run()
    assert [job.kind for job, _ in done].count(Kind.IMPORT) == 3
    frame = read_values_table(workshop.folder)
    for name, scores in table.scores.items():
        expected = evaluate(table.series.labels, scores, buffer=30, measures=["auc_pr", "vus_pr"])
        rows = frame[frame["detector"] == name]
        assert set(rows["dataset"]) == {"Heart"}
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == pytest.approx(
            dict(expected), abs=1e-12
        )
    assert workshop.run() == []


@pytest.mark.usefixtures("table")
def test_columns_can_be_chosen(workshop):
    workshop.path.write_text(
        f'{EVALUATE}[[scores]]\nfolder = "scores"\ndetectors = ["good", "late"]\n'
    )
    assert {job.label for job, _ in workshop.run()} == {"good", "late"}


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_files_are_found_by_their_names(workshop, ending):
    series = make_series("ecg", n=1500, n_anomalies=3, seed=1)
    scores = {"first": series.values, "second": -series.values, "short": series.values[:-1]}
    scores["hole"] = np.where(np.arange(1500) == 5, np.nan, series.values)
    folder = workshop.base / "mine"
    for name, values in scores.items():
        path = folder / name / series.dataset / f"{series.name}.{ending}"
        path.parent.mkdir(parents=True)
        np.save(path, values) if ending == "npy" else np.savetxt(path, values)
    workshop.write(
        detectors=(),
        evaluate=EVALUATE,
        tail='[[scores]]\nfolder = "mine"\n'
        f'pattern = "{{detector}}/{{dataset}}/{{series}}.{ending}"',
    )
    outcomes = {(job.label, job.kind): outcome for job, outcome in workshop.run()}
    assert outcomes["first", Kind.EVALUATE].values == dict(
        evaluate(series.labels, series.values, buffer=30, measures=["auc_pr", "vus_pr"])
    )
    assert outcomes["second", Kind.IMPORT].status is Status.OK
    assert outcomes["short", Kind.IMPORT].status is Status.ERROR
    assert "must have shape (1500,), got (1499,)" in outcomes["short", Kind.IMPORT].message
    assert "must be finite, got nan at index 5" in outcomes["hole", Kind.IMPORT].message
    assert len(outcomes) == 6


def test_the_saved_scores_of_the_paper(workshop, test_data):
    folder = test_data / "data" / "scores" / "Dodgers"
    workshop.path.write_text(f'{EVALUATE}[[scores]]\nfolder = "{folder}"\n')
    done = workshop.run()
    assert {outcome.status for _, outcome in done} == {Status.OK}
    assert len(done) > 10


def notes_of(workshop):
    with Store(workshop.folder) as store:
        return draw_up(workshop.plan(), store).notes


@pytest.mark.usefixtures("table")
def test_score_files_with_another_header_are_noted(workshop):
    folder = workshop.base / "scores"
    (folder / "odd.csv").write_text("A,value,label\n1,2,0\n")
    (folder / "shouted.csv").write_text("value,Label,A\n1,0,1\n2,1,3\n")
    workshop.path.write_text(f'{EVALUATE}[[scores]]\nfolder = "scores"\n')
    assert notes_of(workshop) == [
        f"{folder}: 1 file has not the header value,label,<detector>,... and is left out: 'odd.csv'"
    ]
    assert "A" in {job.label for job, _ in workshop.run()}


def test_score_files_of_no_series_are_noted(workshop):
    series = make_series("ecg", n=1500, n_anomalies=3, seed=1)
    folder = workshop.base / "mine"
    folder.mkdir()
    np.save(folder / f"{series.name}.npy", series.values)
    np.save(folder / "other.npy", series.values)
    workshop.write(
        detectors=(),
        tail='[[scores]]\nfolder = "mine"\npattern = "{series}.npy"',
        evaluate=EVALUATE,
    )
    (note,) = notes_of(workshop)
    assert note.endswith("for no series of the plan and is left out: 'other.npy'")


def test_a_hole_in_one_column_fails_that_detector_only(workshop, table):
    path = workshop.base / "scores" / "Heart" / "beats.csv.gz"
    frame = table.to_frame()
    frame.loc[5, "late"] = np.nan
    frame.to_csv(path, index=False)
    workshop.path.write_text(f'{EVALUATE}[[scores]]\nfolder = "scores"\n')
    imported = {job.label: out for job, out in workshop.run() if job.kind is Kind.IMPORT}
    assert len(imported) == 3
    late = imported.pop("late")
    assert late.status is Status.ERROR
    assert "`scores['late']` must be finite, got nan at index 5" in late.message
    assert {outcome.status for outcome in imported.values()} == {Status.OK}
