"""What a run answers, from its folder or its pack: status, tables, measures, scores."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from bench.conftest import Workshop

from vuskit import InvalidInputError
from vuskit.bench import (
    Run,
    Status,
    leaderboard,
)
from vuskit.bench.jobs import Kind
from vuskit.measures.registry import measure_called

OWN = """
import vuskit

@vuskit.register_measure(
    name="misplaced", title="Misplaced", family="threshold", bounds=(0.0, {bound}),
    higher_is_better=False, reference="mine",
)
def misplaced(y_true, y_score, share=0.1):
    top = y_score.argsort()[::-1][: int(share * len(y_true))]
    return float((y_true[top] == 0).mean())
"""
EVALUATE = """
[[evaluate]]
measures = ["auc_pr", "misplaced", {name = "misplaced", share = 0.2}]
buffer = 20
"""


def write_and_run(workshop):
    workshop.write(
        detectors=["fine", "raises", 'name = "random"'],
        top="seeds = [0, 1]",
        evaluate='[[evaluate]]\nmeasures = ["vus_pr", "auc_pr", {name = "f_score", beta = 2}]\n'
        "buffer = 40",
    )
    workshop.run()
    return workshop


@pytest.fixture
def finished(workshop):
    return write_and_run(workshop)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A run folder and its pack."""
    shop = write_and_run(Workshop(tmp_path_factory.mktemp("read")))
    Run(shop.folder).pack(shop.base / "run.zip")
    shop.forget()
    return {"folder": shop.folder, "pack": shop.base / "run.zip"}


@pytest.fixture(params=["folder", "pack"])
def run(request, places):
    return Run(places[request.param])


def test_status_counts_and_lists_failures(run):
    status = run.status(failures=3)
    assert status.counts == {
        (Kind.SCORE, Status.OK): 8,
        (Kind.SCORE, Status.ERROR): 2,
        (Kind.EVALUATE, Status.OK): 8,
    }
    assert status.n_values == 24
    assert {"python", "numpy", "vuskit", "core"} <= set(status.run["environment"])
    assert (status.run["state"], status.progress["done"]) == ("finished", 18)
    assert len(status.failures) == 2
    assert {failure.message for failure in status.failures} == {
        "RuntimeError: this detector does not like the series"
    }
    if not run.is_pack:
        assert status.failures[0].command.startswith("vuskit bench run-job ")
    assert {(one.kind, one.detector, one.dataset, one.seed) for one in status.failures} == {
        (Kind.SCORE, "misbehaving:raises", "synthetic", None)
    }
    assert {one.series[-5:] for one in status.failures} == {"seed1", "seed2"}
    assert status.by_detector == {
        ("Random", Kind.SCORE, Status.OK): 4,
        ("Random", Kind.EVALUATE, Status.OK): 4,
        ("misbehaving:fine", Kind.SCORE, Status.OK): 4,
        ("misbehaving:fine", Kind.EVALUATE, Status.OK): 4,
        ("misbehaving:raises", Kind.SCORE, Status.ERROR): 2,
    }
    (cause,) = status.causes
    assert (cause.n_jobs, cause.example) == (2, status.failures[0])


def test_every_shape_holds_the_same_numbers(run, tmp_path):
    values = run.export(tmp_path / "values.csv")
    wide = run.export(tmp_path / "wide.parquet", shape="wide")
    board = run.export(tmp_path / "board.csv", shape="leaderboard")
    assert len(values) == 30  # of 24 values, and of those that a detector should have had
    assert len(wide) == 10
    assert len(board) == 3
    assert board["own_series"].to_list() == [2, 2, 0]  # one detector always fails
    measures = ["f_score(beta=2)", "auc_pr", "vus_pr"]
    assert [name for name in wide if name in measures] == measures
    for measure in measures:
        long = values[values["measure"] == measure]
        assert sorted(long["value"].dropna()) == sorted(wide[measure].dropna())
        for _, row in board.iterrows():
            own = long[long["detector"] == row["detector"]]
            by_series = own.groupby("series")["value"].mean()
            assert row[measure] == pytest.approx(by_series.mean(), abs=1e-15, nan_ok=True)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "wide.parquet"), wide)
    read = pd.read_csv(tmp_path / "values.csv")["value"]
    assert np.array_equal(read, values["value"], equal_nan=True)


def test_what_failed_is_exported_with_its_status_and_no_value(run):
    values, wide = (run.table(shape=shape) for shape in ("values", "wide"))
    for table in (values, wide):
        failed = table["detector"] == "misbehaving:raises"
        assert set(table.loc[failed, "status"]) == {"ERROR"}
        assert set(table.loc[~failed, "status"]) == {"OK"}
    assert len(values[values["status"] == "ERROR"]) == 6  # two series, three measures
    assert len(wide[wide["status"] == "ERROR"]) == 2
    assert values["value"].isna().equals(values["status"] == "ERROR")
    assert wide["vus_pr"].isna().equals(wide["status"] == "ERROR")
    assert not values[["dataset", "series", "settings", "measure_title"]].isna().any(axis=None)
    there = values.dropna(subset="value", ignore_index=True)
    there = there.drop(columns=["status", "message"])
    known = run.values().astype(there.dtypes)
    pd.testing.assert_frame_equal(there, known)
    assert values["series"].is_monotonic_increasing


def test_an_evaluation_that_was_skipped_is_exported_as_such(workshop):
    (workshop.base / "quiet").mkdir()
    rows = "".join(f"{i % 7},0\n" for i in range(300))
    (workshop.base / "quiet" / "calm.csv").write_text(f"value,label\n{rows}")
    workshop.write(series='[[series]]\nfolder = "quiet"')
    workshop.run()
    assert workshop.query("SELECT kind, status FROM results ORDER BY kind") == [
        ("evaluate", "SKIPPED"),
        ("score", "OK"),
    ]
    for shape, names in (("values", ["value"]), ("wide", ["auc_pr", "vus_pr"])):
        table = Run(workshop.folder).table(shape=shape)
        assert set(table["status"]) == {"SKIPPED"}
        assert table[names].isna().all(axis=None)


def test_a_measure_without_a_value_is_exported_as_an_empty_cell(finished):
    finished.change("UPDATE results SET value = json_remove(value, '$.values.auc_pr')")
    table = Run(finished.folder).table()
    assert len(table) == 30
    undefined = table[(table["measure"] == "auc_pr") & (table["status"] == "OK")]
    assert len(undefined) == 8
    assert undefined["value"].isna().all()
    assert not undefined["evaluate_key"].isna().any()


def test_wide_keeps_scores_without_a_seed(workshop):
    folder = workshop.base / "scores" / "Heart"
    folder.mkdir(parents=True)
    rows = "".join(f"{i % 7},{int(20 <= i < 25)},{i % 5}\n" for i in range(60))
    (folder / "a.csv").write_text(f"value,label,mine\n{rows}")
    workshop.path.write_text(
        '[[scores]]\nfolder = "scores"\n'
        '[[evaluate]]\nmeasures = ["auc_pr", "auc_roc"]\nbuffer = 5\n'
    )
    workshop.run()
    wide = Run(workshop.folder).export(workshop.base / "wide.csv", shape="wide")
    assert wide["detector"].to_list() == ["mine"]
    assert wide["seed"].isna().all()


def test_a_pack_reads_like_its_folder(places):
    run, pack = Run(places["folder"]), Run(places["pack"])
    for name in ("values", "outcomes", "leaderboard"):
        pd.testing.assert_frame_equal(getattr(pack, name)(), getattr(run, name)())
    for name in ("detectors", "measures_by_settings", "score_records", "alignments", "changes",
                 "inverted_note"):  # fmt: skip
        assert getattr(pack, name)() == getattr(run, name)()
    assert [one.title for one in pack.measures().values()] == [
        one.title for one in run.measures().values()
    ]
    assert pickle.loads(pickle.dumps(pack)).detectors() == run.detectors()
    assert pack.unsuccessful_jobs(pack.series()[0].hash) == {"ERROR": 1}


def test_scores_labels_and_settings(run):
    (settings,) = run.measures_by_settings()
    for series, stored in zip(run.series(), run.scored_series(), strict=True):
        assert (series.n_points, series.n_anomalies, series.n_channels) == (1500, 3, 1)
        scored = stored.read()
        np.testing.assert_array_equal(scored.series.labels, series.without_values().labels)
        assert list(scored.scores) == [
            f"{name} (seed {seed})" for name in ("Random", "misbehaving:fine") for seed in (0, 1)
        ]
        first = run.scores(series)
        assert first.keys() == {"Random", "misbehaving:fine"}
        np.testing.assert_array_equal(first["Random"], scored.scores["Random (seed 0)"])
        assert int(run.evaluation_settings(series, settings).buffer) == 40
        assert run.evaluated_from(series, settings) == 0
        assert series.read().n_points == 1500  # synthetic, so that a pack can


def test_a_pack_runs_nothing(places):
    pack = Run(places["pack"])
    with pytest.raises(InvalidInputError, match="holds only results"):
        pack.plan(allow_code=True)
    with pytest.raises(InvalidInputError, match="holds only results"):
        pack.action("0", allow_code=True)


def test_only_a_leaderboard_has_means(run, tmp_path):
    with pytest.raises(InvalidInputError, match="`by` must be 'series' for shape 'wide'"):
        run.export(tmp_path / "x.csv", shape="wide", by="dataset")
    board = run.export(tmp_path / "x.csv", shape="leaderboard", by="dataset")
    assert board["datasets"].to_list() == [1, 1, 1]


def test_an_unknown_shape_or_ending_is_refused(run, tmp_path):
    with pytest.raises(InvalidInputError, match="`shape` must be one of 'values', 'wide'"):
        run.export(tmp_path / "x.csv", shape="wyde")
    with pytest.raises(InvalidInputError, match="`target` must be one of 'csv', 'parquet'"):
        run.export(tmp_path / "x.xlsx")


def test_the_plan_is_kept_with_the_results(finished):
    finished.path.unlink()
    assert [spec.label for spec in Run(finished.folder).plan(allow_code=True).detectors] == [
        "misbehaving:fine",
        "misbehaving:raises",
        "Random",
    ]
    assert len(Run(finished.folder).values()) == 24


def test_tables_and_checks_need_neither_plan_nor_place(finished, tmp_path_factory):
    moved = tmp_path_factory.mktemp("elsewhere") / "run"
    finished.folder.rename(moved)
    finished.path.unlink()
    assert len(Run(moved).values()) == 24
    assert Run(moved).verify().problems == []
    assert Run(moved).plan(allow_code=True).folder == moved


def test_jobs_are_found_by_the_beginning_of_their_key(workshop):
    workshop.write().run()
    run = Run(workshop.folder)
    for (key,) in workshop.query("SELECT key FROM results"):
        action, status = run.action(key[:12], allow_code=True)
        assert (action.job.key, status) == (key, Status.OK)
    for wrong, reason in (("", "several jobs"), ("zz", "no job")):
        with pytest.raises(InvalidInputError, match=f"which matches {reason}"):
            run.action(wrong)


# -- names come from the plan of the latest start -----------------------------------------------


def labeled(workshop, *labels):
    """A plan with the values and minus the values as detectors, under these labels."""
    (workshop.base / "minus.py").write_text("def minus(values):\n    return -values\n")
    names = ("values", "minus:minus", "values")
    entries = [
        f'name = "{name}"\nlabel = "{label}"' for name, label in zip(names, labels, strict=False)
    ]
    return workshop.write(detectors=entries)


def means(folder):
    return Run(folder).values().groupby("detector")["value"].mean().to_dict()


def test_tables_follow_renamed_and_swapped_labels(workshop):
    labeled(workshop, "A", "B").run()
    before = means(workshop.folder)
    assert before["A"] != before["B"]
    assert labeled(workshop, "B", "A").run() == []
    assert means(workshop.folder) == {"A": before["B"], "B": before["A"]}
    assert labeled(workshop, "new", "B").run() == []
    assert means(workshop.folder) == {"new": before["A"], "B": before["B"]}
    assert Run(workshop.folder).detectors() == ("B", "new")
    assert {name for name, _, _ in Run(workshop.folder).status().by_detector} == {"B", "new"}
    assert [name for name, *_ in next(Run(workshop.folder).scored_series()).scores] == ["B", "new"]


def test_one_detector_may_have_two_labels(workshop):
    done = labeled(workshop, "A", "B", "C").run()
    assert len(done) == 8  # two detectors, two series, scores and evaluations
    found = means(workshop.folder)
    assert found["A"] == found["C"] != found["B"]
    for shape, rows in (("values", 12), ("wide", 6), ("leaderboard", 3)):
        assert len(Run(workshop.folder).table(shape=shape)) == rows
    assert Run(workshop.folder).status().count(Status.OK) == 8
    assert workshop.run() == []


def test_tables_follow_a_moved_series(workshop):
    folder = workshop.base / "data" / "old"
    folder.mkdir(parents=True)
    rows = [f"{i % 5},{int(i in (9, 10))}" for i in range(40)]
    (folder / "a.csv").write_text("\n".join(["value,label", *rows]))
    workshop.write(series='[[series]]\nfolder = "data"').run()
    values = Run(workshop.folder).values()
    assert set(values["dataset"]) == {"old"}
    folder.rename(workshop.base / "data" / "new")
    assert workshop.run() == []
    moved = Run(workshop.folder).values()
    assert set(moved["dataset"]) == {"new"}
    assert moved["value"].to_list() == values["value"].to_list()
    assert [one.title for one in Run(workshop.folder).series()] == ["new/a"]


# -- measures -----------------------------------------------------------------------------------


@pytest.fixture
def own(workshop, start):
    """A run with a measure of one's own, made by another process."""
    (workshop.base / "own_measures.py").write_text(OWN.format(bound=1.0))
    workshop.write(
        top='imports = ["own_measures"]',
        detectors=['name = "values"', 'name = "random"', "raises"],
        evaluate=EVALUATE,
        tail="[executor]\nworkers = 1",
    )
    process = start()
    process.communicate()
    assert process.returncode == 3  # one detector always fails
    (workshop.base / "own_measures.py").unlink()
    return workshop


def test_measures_of_the_package_keep_what_it_knows_of_them(workshop):
    evaluate = '[[evaluate]]\nmeasures = ["ucr_score", {name = "f_score", beta = 2}]\nbuffer = 20'
    workshop.write(detectors=['name = "values"'], evaluate=evaluate).run()
    found = Run(workshop.folder).measures()
    assert [measure.group for measure in found.values()] == ["paper", "extra"]
    assert list(found) == ["f_score(beta=2)", "ucr_score"]
    assert found["ucr_score"].misleading_without_chance


def test_title_family_bounds_and_direction_are_read_from_the_store(own):
    assert measure_called("misplaced").higher_is_better  # nobody knows it here
    found = Run(own.folder).measures()
    assert list(found) == ["auc_pr", "misplaced", "misplaced(share=0.2)"]
    for name, title in (
        ("misplaced", "Misplaced"),
        ("misplaced(share=0.2)", "Misplaced(share=0.2)"),
    ):
        measure = found[name]
        facts = (measure.title, measure.family, measure.bounds, measure.reference)
        assert facts == (title, "threshold", (0.0, 1.0), "mine")
        assert not measure.higher_is_better
    assert found["auc_pr"].title == "AUC-PR"
    assert found["auc_pr"].higher_is_better

    # Lower is better.
    values = Run(own.folder).values()
    table = values[values["measure"] == "misplaced"]
    assert set(table["measure_title"]) == {"Misplaced"}
    assert set(table["higher_is_better"]) == {False}
    board = leaderboard(table, detectors=Run(own.folder).detectors())
    assert board["misplaced"].dropna().is_monotonic_increasing
    assert board["misplaced"].notna().to_list() == [True, True, False]
    assert board["detector"].to_list()[-1] == "misbehaving:raises"


def test_a_page_ranks_it_the_right_way_and_names_whom_it_leaves_out(own):
    from vuskit.report.run_report import RunReport
    from vuskit.statistics.results import read_results

    run = RunReport.read(own.folder)
    assert run.measures == ("auc_pr", "misplaced", "misplaced(share=0.2)")
    assert [run.measure(name).title for name in run.measures][1] == "Misplaced"
    (settings,) = run.settings
    found = run.comparison(settings, "misplaced")
    assert not found.higher_is_better
    first, last = found.summary.index
    assert found.summary["mean"][first] < found.summary["mean"][last]
    assert run.without_values(settings, "misplaced") == ("misbehaving:raises",)
    measure = read_results(own.folder).measure("misplaced")
    assert (measure.title, measure.higher_is_better) == ("Misplaced", False)


def test_values_of_another_version_of_a_measure_are_not_shown(workshop):
    """The plan goes from one version to another and back."""
    module = workshop.base / "versioned.py"
    workshop.write(
        top='imports = ["versioned"]',
        evaluate='[[evaluate]]\nmeasures = ["auc_pr", "versioned"]\nbuffer = 20',
    )
    for number, jobs in ((1, 6), (2, 2), (1, 0)):
        module.write_text(
            "import vuskit\n"
            f"@vuskit.register_measure(name='versioned', title='V{number}')\n"
            f"def versioned(y_true, y_score):\n    return {number}.0\n"
        )
        assert len(workshop.run()) == jobs
        values = Run(workshop.folder).values()
        shown = values[values["measure"] == "versioned"]
        assert set(shown["value"]) == {float(number)}
        assert set(shown["measure_title"]) == {f"V{number}"}
        assert len(values) == 4
