"""Tables and states that come out of a store."""

from __future__ import annotations

import contextlib
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from vuskit import InvalidInputError
from vuskit.bench.export import export_run, run_table
from vuskit.bench.results import leaderboard, read_status, read_values_table
from vuskit.bench.states import Kind, Status
from vuskit.bench.stored import stored_plan
from vuskit.bench.verify import verify_run


@pytest.fixture
def finished(workshop):
    workshop.write(
        detectors=["fine", "raises", 'name = "random"'],
        top="seeds = [0, 1]",
        evaluate='[[evaluate]]\nmeasures = ["vus_pr", "auc_pr", {name = "f_score", beta = 2}]\n'
        "buffer = 40",
    )
    workshop.run()
    return workshop


def test_status_counts_and_lists_failures(finished):
    status = read_status(finished.folder, failures=3)
    assert status.counts == {
        (Kind.SCORE, Status.OK): 8,
        (Kind.SCORE, Status.ERROR): 2,
        (Kind.EVALUATE, Status.OK): 8,
    }
    assert status.n_values == 24
    assert {"python", "numpy", "scikit-learn"} <= set(json.loads(status.run["environment"]))
    assert (status.run["state"], status.progress["done"]) == ("finished", 18)
    assert len(status.failures) == 2
    assert {failure.message for failure in status.failures} == {
        "RuntimeError: this detector does not like the series"
    }
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


def test_every_shape_holds_the_same_numbers(finished, tmp_path):
    values = export_run(finished.folder, tmp_path / "values.csv")
    wide = export_run(finished.folder, tmp_path / "wide.parquet", shape="wide")
    board = export_run(finished.folder, tmp_path / "board.csv", shape="leaderboard")
    assert len(values) == 30  # of 24 values, and of those that a detector should have had
    assert len(wide) == 10
    assert len(board) == 3
    assert board["own"].to_list() == [2, 2, 0]  # one detector always fails
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


def test_what_failed_is_exported_with_its_status_and_no_value(finished):
    values, wide = (run_table(finished.folder, shape=shape) for shape in ("values", "wide"))
    for table in (values, wide):
        failed = table["detector"] == "misbehaving:raises"
        assert set(table.loc[failed, "status"]) == {"ERROR"}
        assert set(table.loc[~failed, "status"]) == {"OK"}
    assert len(values[values["status"] == "ERROR"]) == 6  # two series, three measures
    assert len(wide[wide["status"] == "ERROR"]) == 2
    assert values["value"].isna().equals(values["status"] == "ERROR")
    assert wide["vus_pr"].isna().equals(wide["status"] == "ERROR")
    assert not values[["dataset", "series", "settings", "measure_title"]].isna().any(axis=None)
    there = values.dropna(subset="value", ignore_index=True).drop(columns="status")
    known = read_values_table(finished.folder).astype(there.dtypes)
    pd.testing.assert_frame_equal(there, known)
    assert values["series"].is_monotonic_increasing


def test_an_evaluation_that_was_skipped_is_exported_as_such(workshop):
    (workshop.base / "quiet").mkdir()
    rows = "".join(f"{i % 7},0\n" for i in range(300))
    (workshop.base / "quiet" / "calm.csv").write_text(f"value,label\n{rows}")
    workshop.write(series='[[series]]\nfolder = "quiet"')
    workshop.run()
    assert workshop.query("SELECT kind, status FROM jobs ORDER BY kind") == [
        ("evaluate", "SKIPPED"),
        ("score", "OK"),
    ]
    for shape, names in (("values", ["value"]), ("wide", ["auc_pr", "vus_pr"])):
        table = run_table(workshop.folder, shape=shape)
        assert set(table["status"]) == {"SKIPPED"}
        assert table[names].isna().all(axis=None)


def test_a_measure_without_a_value_is_exported_as_an_empty_cell(finished):
    connection = sqlite3.connect(finished.folder / "bench.sqlite")
    with contextlib.closing(connection), connection:
        connection.execute(
            'DELETE FROM "values" WHERE measure_id = (SELECT id FROM measures WHERE name = ?)',
            ("auc_pr",),
        )
    table = run_table(finished.folder)
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
    wide = export_run(workshop.folder, workshop.base / "wide.csv", shape="wide")
    assert wide["detector"].to_list() == ["mine"]
    assert wide["seed"].isna().all()


def frame(rows):
    table = pd.DataFrame(rows, columns=["series", "detector", "seed", "value"])
    return table.assign(dataset="d", settings="s", measure="vus_pr")


def test_a_detector_that_fails_on_hard_series_does_not_look_better():
    board = leaderboard(
        frame([("easy", "A", 0, 0.9), ("hard", "A", 0, 0.1), ("easy", "B", 0, 0.8)])
    )
    assert board["detector"].to_list() == ["A", "B"]
    assert board["vus_pr"].to_list() == [0.9, 0.8]
    assert board["series"].to_list() == [1, 1]
    assert board["own"].to_list() == [2, 1]


def test_the_leaderboard_is_ordered_by_vus_pr_also_beside_a_measure_of_ones_own():
    values = frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)])
    own = values.assign(measure="my_own", value=1 - values["value"])
    assert leaderboard(pd.concat([values, own]))["detector"].to_list() == ["B", "A"]
    assert leaderboard(own)["detector"].to_list() == ["A", "B"]


def test_a_detector_without_any_value_is_on_the_leaderboard():
    board = leaderboard(frame([("x", "A", 0, 0.2), ("x", "B", 0, 0.8)]), detectors=["A", "B", "C"])
    assert board["detector"].to_list() == ["B", "A", "C"]
    assert board["own"].to_list() == [1, 1, 0]
    assert board["series"].to_list() == [1, 1, 1]
    assert board["vus_pr"].to_list()[:2] == [0.8, 0.2]
    assert board["vus_pr"].isna().to_list() == [False, False, True]


def uneven():
    """A data set of three series that A is good at, and one of a single series."""
    rows = [("a", "A", 0, 0.9), ("b", "A", 0, 0.9), ("c", "A", 0, 0.9), ("d", "A", 0, 0.1)]
    rows += [("a", "B", 0, 0.6), ("b", "B", 0, 0.6), ("c", "B", 0, 0.6), ("d", "B", 0, 0.6)]
    table = frame(rows)
    table["dataset"] = table["series"].map({"a": "large", "b": "large", "c": "large", "d": "small"})
    return table


def test_a_mean_over_data_sets_counts_each_of_them_once():
    board = leaderboard(uneven())
    assert board["detector"].to_list() == ["A", "B"]
    assert board["vus_pr"].to_list() == pytest.approx([0.7, 0.6])
    assert "datasets" not in board
    board = leaderboard(uneven(), by="dataset", detectors=["A", "B", "C"])
    assert board["detector"].to_list() == ["B", "A", "C"]
    assert board["vus_pr"].to_list() == pytest.approx([0.6, 0.5, np.nan], nan_ok=True)
    assert board["datasets"].to_list() == [2, 2, 2]
    assert board["series"].to_list() == [4, 4, 4]
    assert board["own"].to_list() == [4, 4, 0]
    with pytest.raises(InvalidInputError, match="`by` must be one of 'series', 'dataset'"):
        leaderboard(uneven(), by="detector")


def test_data_sets_can_be_kept_apart():
    board = leaderboard(uneven(), apart=["dataset"])
    assert board["dataset"].to_list() == ["large", "large", "small", "small"]
    assert board["detector"].to_list() == ["A", "B", "B", "A"]


def test_only_a_leaderboard_has_means(finished, tmp_path):
    with pytest.raises(InvalidInputError, match="`by` must be 'series' for the shape 'wide'"):
        export_run(finished.folder, tmp_path / "x.csv", shape="wide", by="dataset")
    board = export_run(finished.folder, tmp_path / "x.csv", shape="leaderboard", by="dataset")
    assert board["datasets"].to_list() == [1, 1, 1]


def test_seeds_of_a_series_count_as_one():
    board = leaderboard(frame([("x", "A", 0, 0.0), ("x", "A", 1, 0.0), ("y", "A", 0, 1.0)]))
    assert board["vus_pr"].to_list() == [0.5]


def test_an_unknown_shape_or_ending_is_refused(finished, tmp_path):
    with pytest.raises(InvalidInputError, match="`shape` must be one of 'values', 'wide'"):
        export_run(finished.folder, tmp_path / "x.csv", shape="wyde")
    with pytest.raises(InvalidInputError, match="`target` must be one of 'csv', 'parquet'"):
        export_run(finished.folder, tmp_path / "x.xlsx")


def test_the_plan_is_kept_with_the_results(finished):
    finished.path.unlink()
    assert [spec.label for spec in stored_plan(finished.folder).detectors] == [
        "misbehaving:fine",
        "misbehaving:raises",
        "Random",
    ]
    assert len(read_values_table(finished.folder)) == 24


def test_tables_and_checks_need_neither_plan_nor_place(finished, tmp_path_factory):
    moved = tmp_path_factory.mktemp("elsewhere") / "run"
    finished.folder.rename(moved)
    finished.path.unlink()
    assert len(read_values_table(moved)) == 24
    assert verify_run(moved).problems == ()
    assert stored_plan(moved).folder == moved
