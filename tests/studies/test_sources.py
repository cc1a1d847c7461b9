"""A benchmark run is a source of scores for the studies, and of values for the comparison."""

from __future__ import annotations

import numpy as np
import pytest
from studies.scored import SOME, make_scored, make_several, write_scored
from typer.testing import CliRunner

from vuskit.bench import Run
from vuskit.bench.plan import load_plan
from vuskit.bench.runner import run_plan
from vuskit.cli.app import app
from vuskit.datasets import ScoredSeries, Series
from vuskit.engine.run import InProcessExecutor
from vuskit.errors import InvalidInputError
from vuskit.report.page import studies_page_html, write_study
from vuskit.studies import (
    changed_inputs,
    compare,
    load_study_result,
    open_scores,
    run_study,
    summarize,
)

PLAN = """
seeds = [0, 1]
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = [1, 2, 3]

[[detectors]]
name = "random"

[[detectors]]
name = "pca"

[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = 50
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    base = tmp_path_factory.mktemp("bench")
    (base / "bench.toml").write_text(PLAN)
    plan = load_plan(base / "bench.toml")
    run_plan(plan, executor=InProcessExecutor())
    return plan.folder


def test_a_run_folder_holds_series_and_scores(run):
    sources = open_scores(run)
    assert len(sources) == 3
    scored = sources[0].read()
    assert len(scored.detectors) == 2
    assert scored.series.n_anomalies == 3
    # Two seeds of a random detector are one detector; the other one does not depend on seeds.
    ((random, runs),) = scored.repeats.items()
    assert runs == (f"{random} (seed 0)", f"{random} (seed 1)")
    assert len(scored.scores) == 3
    assert all(np.isfinite(score).all() for score in scored.scores.values())
    assert len(open_scores(run, select=sources[1].name)) == 1


def test_studies_and_bench_compute_the_same_values(run):
    found = run_study(
        "consistency", run, measures=["auc_pr", "vus_pr"], buffer=50, volume_factor=1.0
    ).to_frame()
    keys = ["dataset", "series", "detector", "measure"]
    ours = found.set_index(keys)["value"].sort_index()
    values = Run(run).values()
    assert len(values) == 3 * 3 * 2
    theirs = values.groupby(keys)["value"].mean()
    assert ours.index.tolist() == theirs.index.tolist()
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_compare_takes_the_run_folder(run):
    result = CliRunner().invoke(app, ["compare", str(run), "--measure", "vus_pr"])
    assert result.exit_code == 0, result.output
    assert "n = 3" in result.output
    table = compare(Run(run).values(), measure="auc_pr")
    assert table.pairs.n == 3


def test_a_plan_that_asks_for_less_gives_less(tmp_path):
    (tmp_path / "bench.toml").write_text(PLAN)
    run_plan(load_plan(tmp_path / "bench.toml"), executor=InProcessExecutor())
    (tmp_path / "bench.toml").write_text(PLAN.replace("[1, 2, 3]", "[2]"))
    plan = load_plan(tmp_path / "bench.toml")
    run_plan(plan, executor=InProcessExecutor())
    (source,) = open_scores(plan.folder)
    assert source.name.endswith("-seed2")


# ---- what results were made from ----


def test_results_know_what_they_were_made_from(tmp_path):
    files = tmp_path / "scores"
    paths = [write_scored(files, one) for one in make_several()[:3]]
    found = run_study("consistency", files, min_series=2, **SOME)
    kept = load_study_result(found.save(tmp_path))
    assert kept.inputs == found.inputs
    assert {one.name for one in kept.inputs} == {"plant/s0", "mill/s1", "plant/s2"}
    assert {one.place for one in kept.inputs} == {str(path.resolve()) for path in paths}
    assert len({one.digest for one in kept.inputs}) == 3
    again = run_study("consistency", files, folder=tmp_path / "parts", min_series=2, **SOME)
    assert again.inputs == found.inputs
    assert changed_inputs(kept.inputs) == []
    paths[1].write_text(paths[1].read_text().replace("good", "renamed", 1))
    assert changed_inputs(kept.inputs) == []
    paths[1].write_text(paths[1].read_text().replace(",0,", ",1,", 1))
    assert [one.name for one in changed_inputs(kept.inputs)] == ["mill/s1"]
    robust = run_study("robustness", files, count=2, **SOME)
    assert summarize(kept, robust).inputs == (*kept.inputs, robust.inputs[0])
    assert (
        run_study("consistency", make_several()[:2], min_series=1 + 1, **SOME).inputs[0].place == ""
    )
    assert run_study("scenarios", measures=["vus_pr"], n_points=600, buffer=20).inputs == ()


def test_report_tells_when_scores_changed_since_a_study(tmp_path):
    files, out = tmp_path / "scores", tmp_path / "out"
    paths = [write_scored(files, one) for one in make_several()[:3]]
    run_study("consistency", files, min_series=2, **SOME).save(out)
    first = CliRunner().invoke(app, ["report", str(out)])
    assert first.exit_code == 0, first.output
    assert f"consistency: made from 3 series in {files.resolve()}" in first.stderr
    assert "changed" not in first.stderr
    paths[0].write_text(paths[0].read_text().replace(",0,", ",1,", 1))
    second = CliRunner().invoke(app, ["report", str(out)])
    assert "warning: 1 of these series changed since (plant/s0)" in second.stderr


# ---- equal names ----


def test_series_with_equal_names_stay_separate_in_all_tables_and_files(tmp_path):
    files = tmp_path / "scores"
    for seed, plant in enumerate(("plantA", "plantB", "plantB/old")):
        moved = write_scored(files / plant, make_scored(seed, dataset="logs"))
        moved.rename(moved.with_name("pump.csv"))
    for seed in (3, 4):
        write_scored(files / "plantA", make_scored(seed, dataset="logs"))
    options = {"count": 3, "measures": ["auc_pr", "vus_pr"], "buffer": 24}
    robust = run_study("robustness", files, folder=tmp_path / "parts", **options)
    assert len(robust.by_series("lag")) == 5
    assert {one.name for one in robust.inputs} == {one.name for one in robust.values}
    assert len({one.name for one in robust.values}) == 5
    separable = run_study("separability", files, min_gap=0.0, **options)
    assert len(separable.by_series()) == 5
    consistent = run_study(
        "consistency", files, min_series=2, measures=options["measures"], buffer=24
    )
    frame = consistent.to_frame()
    assert len(frame.drop_duplicates(["dataset", "series"])) == 5
    for result in (robust, separable):
        figures = result.figures()
        keys = (figures.get("boxes") or figures["pairs"]).keys
        assert len({key[0] for key in keys}) == 5
    written = write_study(consistent, tmp_path / "out")
    assert tmp_path / "out" / "consistency_rank_table_plantA-logs.csv" in written
    assert all(path.parent == tmp_path / "out" for path in written)
    assert "plantA/logs" in studies_page_html([robust, consistent])
    with pytest.raises(InvalidInputError, match="names 3"):
        robust.series_named("pump")


class Custom:
    """A source of a user, whose series is called as another one."""

    name = "custom"

    def read(self):
        return make_scored(5, dataset="plant")


def test_sources_of_users_with_equal_names_stay_separate():
    other = make_scored(1)
    same = ScoredSeries(
        Series("s5", "plant", other.series.values, other.series.labels), other.scores
    )
    found = run_study("robustness", [Custom(), same], count=3, **SOME)
    assert len(found.by_series("lag")) == 2
    assert len({one.name for one in found.inputs}) == 2
