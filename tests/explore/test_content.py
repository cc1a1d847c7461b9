from __future__ import annotations

import threading

import numpy as np
import pytest
from explore.serving import serving
from report.runs import POINTS, run_inline, write_plan, write_series
from waiting import PATIENCE, eventually

from vuskit import evaluate_many
from vuskit.bench import Run
from vuskit.bench.run import open_scores
from vuskit.datasets import ScoredSeries, Series, read_scores
from vuskit.errors import InvalidInputError
from vuskit.explore.content import RunContent, ScoresContent, open_content
from vuskit.measures.settings import EvaluationSettings

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_a_folder_of_scores_is_evaluated(tmp_path):
    write_series(tmp_path)
    bad = tmp_path / "data" / "alpha" / "bad.csv"
    bad.write_text("value,label,good\n1,0,0.1\n2,0,nan\n3,1,0.5\n")
    with serving(open_content(tmp_path / "data")) as ask:
        assert eventually(lambda: ask("/data/status").json["state"] == "finished")
        status, data = ask("/data/status").json, ask("/data/run").json
        key = data["series"]["id"][data["series"]["name"].index("two")]
        lines = ask(f"/data/series/{key}/lines?start=0&stop={POINTS}&pixels=10").json
        page = ask(f"/series/{key}")
    assert (status["done"], status["total"], status["failed"]) == (7, 7, 1)
    assert status["causes"][0]["title"].endswith("alpha/bad")
    assert data["datasets"] == ["alpha", "beta"]
    assert len(lines["scores"]) == 2
    assert page.status == 200


def test_values_of_a_file_are_those_of_evaluate(tmp_path):
    write_series(tmp_path)
    path = tmp_path / "data" / "beta" / "one.csv"
    content = open_content(path)
    assert isinstance(content, ScoresContent)
    content.start()
    assert eventually(lambda: content.status().run["state"] == "finished")
    content.stop()
    report, scored = content.report(), read_scores(path)
    table = evaluate_many(
        scored.series.labels, scored.scores, buffer="auto", values=scored.series.values
    )
    for d, name in enumerate(report.detectors):
        expected = [table[name][measure] for measure in report.measures]
        np.testing.assert_array_equal(report.values[0, :, d, 0], expected)
    with pytest.raises(InvalidInputError, match="no such series"):
        content.read("nothing")


def test_a_run_that_goes_on(tmp_path):
    """Values and progress appear while jobs finish, without a new server."""
    write_series(tmp_path)
    plan = write_plan(tmp_path)
    seen, go_on = threading.Semaphore(0), threading.Semaphore(0)
    finished = []

    def observe(progress):
        finished.append(progress.done)
        if len(finished) in (20, 60):
            seen.release()
            go_on.acquire()

    runner = threading.Thread(target=run_inline, args=(plan,), kwargs={"observer": observe})
    runner.start()
    try:
        assert seen.acquire(timeout=PATIENCE)
        with serving(open_content(plan.folder)) as ask:
            early, old = ask("/data/status").json, ask("/data/run").json
            go_on.release()
            assert seen.acquire(timeout=PATIENCE)
            changed = ask("/data/status", if_none_match=f'"{early["version"]}"')
            go_on.release()
            runner.join(PATIENCE)
            late, new = ask("/data/status").json, ask("/data/run").json
    finally:
        go_on.release(5)
        runner.join(PATIENCE)
    assert early["state"] == "running"
    assert changed.status == 200
    assert changed.json["run"] != early["run"]
    assert (late["state"], late["done"]) == ("finished", late["total"])
    assert early["done"] < late["done"]
    assert early["values"] < late["values"] == Run(plan.folder).status().n_values
    assert old["version"] == early["run"]
    assert new["version"] == late["run"]


def test_a_pack(run_folder, tmp_path):
    pack = tmp_path / "night.vuskit.zip"
    Run(run_folder).pack(pack, scores=True)
    content = open_content(pack)
    assert isinstance(content, RunContent)
    with serving(content) as ask:
        data = ask("/data/run").json
        key = data["series"]["id"][0]
        about = ask(f"/data/series/{key}").json
        page = ask(f"/series/{key}")
    assert about["has_values"] is False
    assert len(about["events"]) == 2
    assert page.status == 200


def test_only_some_things_can_be_explored(tmp_path):
    with pytest.raises(InvalidInputError, match="no such file or folder"):
        open_content(tmp_path / "nothing")
    with pytest.raises(InvalidInputError, match="must contain files"):
        open_content(tmp_path)


def test_channels_can_be_chosen(tmp_path):
    values = np.column_stack([np.full(60, np.nan), np.arange(60.0)])
    labels = np.arange(60) // 50
    series = Series("two", "demo", values, labels, channels=("empty", "<b>ramp</b>"))
    content = ScoresContent(
        tmp_path,
        open_scores(ScoredSeries(series, {"mine": np.arange(60.0)})),
        measures=["auc_pr"],
        settings=EvaluationSettings(buffer=5),
    )
    with serving(content) as ask:
        assert eventually(lambda: ask("/data/status").json["state"] == "finished")
        key = ask("/data/run").json["series"]["id"][0]
        about = ask(f"/data/series/{key}").json
        empty, ramp = (
            ask(f"/data/series/{key}/lines?channel={k}&pixels=5").json["values"] for k in (0, 1)
        )
    assert about["channels"] == ["empty", "<b>ramp</b>"]
    assert about["has_values"] is True
    assert empty == {"range": None}
    assert ramp["range"] == [0.0, 59.0]
