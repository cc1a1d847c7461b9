"""The speed comparison: its inputs, its store, its arithmetic, and one real worker."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import speed
import speed_report
from speed import BUFFERS, grid, plan
from speed_peers import recipes
from speed_report import GROWTHS, Outcome, exponent, growth_jobs, growth_outcomes, sharing_outcomes
from speed_run import (
    FAILED,
    IMPLIED,
    OK,
    OVER_LIMIT,
    OVER_MEMORY,
    Effort,
    Job,
    Record,
    Records,
    Runner,
    collect,
    implied_by,
    key_of,
    save_input,
    size_text,
)
from speed_worker import CONTESTANTS, OWN, OWN_ENVIRONMENTS, PEERS

from vuskit.studies.timing import CONTESTANTS as STUDIED
from vuskit.studies.timing import Setting

SMALL = Setting(4, 10, 0, 1_000, max_buffer=5)
QUICK = Effort(fewest=2, most=2, budget=0.0, limit=60.0, shortest=0.0)


def record(contestant="vus-opt", setting=SMALL, status=OK, **fields):
    environment = CONTESTANTS[contestant].environments[0]
    return Record(key_of(contestant, environment, setting), status, "mark", **fields)


def test_input_is_that_of_the_timing_study(tmp_path):
    with np.load(save_input(SMALL, 3, tmp_path)) as arrays:
        labels, scores = arrays["labels"], arrays["scores"]
    found = Setting.of(labels.astype(bool), max_buffer=5, n_thresholds=250)
    assert found == SMALL
    assert labels.dtype == np.int64
    assert scores.dtype == np.float64
    with np.load(save_input(SMALL, 4, tmp_path)) as arrays:
        assert not np.array_equal(scores, arrays["scores"])


def test_grid_holds_what_fits():
    assert len(grid()) == (3 + 5 + 6 + 6) * len(BUFFERS)
    assert Setting(1000, 100, 0, 10_000, max_buffer=100) not in grid()
    assert Setting(1000, 100, 0, 1_000_000, max_buffer=100) in grid()


@pytest.mark.parametrize("name", ["fast_grid", "fast_exact"])
def test_own_contestants_are_those_of_the_timing_study(tmp_path, name):
    with np.load(save_input(SMALL, 3, tmp_path)) as arrays:
        labels, scores = arrays["labels"], arrays["scores"]
    setting = SimpleNamespace(max_buffer=5, n_thresholds=250)
    values = CONTESTANTS[name].load()(labels, scores, setting)
    assert values == STUDIED[name].run(labels, scores, SMALL)


@pytest.mark.parametrize(
    ("n", "text"),
    [(10_000, "1e4"), (20_000, "2e4"), (12_500, "12500"), (64, "64"), (1_234_567, "1234567")],
)
def test_size_text(n, text):
    assert size_text(n) == text


def test_every_peer_has_a_recipe_and_every_recipe_a_peer():
    assert {CONTESTANTS[name].environments[0] for name in PEERS} == set(recipes())


def test_plan_measures_every_contestant_on_every_setting():
    settings = grid((10_000,))
    keys = [key for job in plan(settings, list(OWN), list(PEERS)) for key in job.keys]
    assert len(keys) == len(set(keys))
    assert set(keys) == {
        key_of(name, environment, setting)
        for setting in settings
        for name in (*OWN, *PEERS)
        for environment in CONTESTANTS[name].environments
    }


def test_store_survives_a_line_cut_short(tmp_path):
    path = tmp_path / "samples.jsonl"
    Records(path).add(record(seconds=[2.0], reference_seconds=[1.0], values=[0.5, 0.25]))
    with path.open("a") as file:
        file.write('{"key": {"contestant": "ae')
    again = Records(path)
    again.add(record("aeon", seconds=[3.0], reference_seconds=[1.0]))
    found = {one.key.contestant: one for one in Records(path)}
    assert set(found) == {"vus-opt", "aeon"}
    assert found["vus-opt"] == record(seconds=[2.0], reference_seconds=[1.0], values=[0.5, 0.25])


@pytest.mark.parametrize(
    ("status", "limit", "mark", "finished"),
    [
        (OK, 5.0, "mark", True),
        (OK, 5.0, "other code", False),
        (OVER_LIMIT, 5.0, "mark", True),
        (OVER_LIMIT, 9.0, "mark", False),
        (OVER_MEMORY, 5.0, "mark", True),
        (FAILED, 5.0, "mark", False),
    ],
)
def test_resume_repeats_only_what_may_have_changed(tmp_path, status, limit, mark, finished):
    store = Records(tmp_path / "samples.jsonl")
    store.add(record(status=status, limit=5.0))
    assert store.finished(record().key, mark, limit) is finished


def test_results_of_other_code_are_not_shown(tmp_path):
    store = Records(tmp_path / "samples.jsonl")
    store.add(record("vus-opt"))
    store.add(record("aeon"))
    store.forget_stale({"vus": "mark", "aeon": "newer recipe"})
    assert [one.key.contestant for one in store] == ["vus-opt"]
    assert len(list(Records(store.path))) == 2


def test_ratio_is_the_median_of_the_rounds():
    one = record(seconds=[1.0, 9.0, 2.0], reference_seconds=[1.0, 3.0, 4.0])
    assert one.ratio == 1.0
    assert record(status=OVER_LIMIT, limit=8.0, reference_seconds=[0.5, 2.0, 4.0]).ratio == 4.0
    assert record(status=FAILED).ratio is None


def test_exponent_of_powers():
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3.0 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_a_growth_varies_one_direction():
    for growth in GROWTHS:
        sizes = [growth.size(setting) for setting in growth.settings]
        assert sizes == sorted(set(sizes))
        for one in growth.settings:
            assert one.n_anomalies * one.mean_length <= speed.LARGEST_ANOMALOUS_SHARE * one.n_points
    assert {job.environment for job in growth_jobs(GROWTHS)} == set(OWN_ENVIRONMENTS)


@pytest.mark.parametrize(("power", "verdict"), [(1.2, "pass"), (1.5, "miss")])
def test_growth_is_judged_beside_the_sort(tmp_path, power, verdict):
    store, growth = Records(tmp_path / "samples.jsonl"), GROWTHS[0]
    for setting in growth.settings:
        for name, p in (("sort", 1.1), ("fast_exact", power)):
            seconds = [1e-9 * setting.n_points**p]
            store.add(record(name, setting, seconds=seconds, reference_seconds=[1.0]))
    numpy_outcome, numba_outcome = growth_outcomes(store, (growth,))
    assert numpy_outcome.measured == pytest.approx(power)
    assert numpy_outcome.limit == pytest.approx(1.25)
    assert (numpy_outcome.verdict, numba_outcome.verdict) == (verdict, "not measured")


def test_outcomes_are_not_claimed_without_samples(tmp_path):
    outcomes = sharing_outcomes(Records(tmp_path / "none.jsonl"))
    assert {one.verdict for one in outcomes} == {"not measured"}
    assert Outcome("x", 0.5, 0.5).verdict == "pass"
    assert Outcome("x", 0.6, 0.5).verdict == "miss"


def test_larger_case_of_a_peer_over_the_limit_is_not_tried(tmp_path):
    store = Records(tmp_path / "samples.jsonl")
    store.add(record("aeon", status=OVER_LIMIT, limit=60.0))
    larger = Job(Setting(4, 10, 0, 2_000), "aeon", (("aeon", 100),))
    fewer_anomalies = Job(Setting(3, 10, 0, 2_000), "aeon", (("aeon", 100),))
    assert implied_by(store, larger, "mark", 60.0) is not None
    assert implied_by(store, fewer_anomalies, "mark", 60.0) is None
    assert implied_by(store, larger, "mark", 120.0) is None
    runner = Runner(store, QUICK, tmp_path, {}, seed=0)
    assert [one.status for one in runner.run(larger, "mark")] == [IMPLIED]


def test_worker_measures_beside_the_reference(tmp_path):
    pytest.importorskip("sklearn")
    runner = Runner(Records(tmp_path / "samples.jsonl"), QUICK, tmp_path, {"cpu": "x"}, seed=0)
    (one,) = runner.run(Job(SMALL, "numpy", (("sort", 0),)), "mark")
    assert one.status == OK, one.reason
    assert len(one.seconds) == len(one.reference_seconds) == 2
    with np.load(save_input(SMALL, 0, tmp_path)) as arrays:
        assert one.values == [arrays["scores"].min()]
    assert one.versions["numpy"] == np.__version__
    assert one.peak_kib > 0
    assert one.other_cores is None or one.other_cores >= 0


# A worker whose second call never ends, however slow the machine is.
ENDLESS = """
import json, sys, time
sys.stdin.read()
for event in (
    {"event": "ready", "versions": {}},
    {"event": "start", "contestant": "sklearn", "buffer": 0},
    {"event": "sample", "contestant": "sklearn", "round": 0, "seconds": 0.5},
    {"event": "start", "contestant": "sort", "buffer": 0},
):
    print(json.dumps(event), flush=True)
time.sleep(3600)
"""


def test_call_over_the_limit_is_stopped(tmp_path, monkeypatch):
    (tmp_path / "endless.py").write_text(ENDLESS)
    monkeypatch.setattr("speed_run.WORKER", tmp_path / "endless.py")
    effort = Effort(fewest=1, most=1, budget=0.0, limit=0.1, shortest=0.0)
    runner = Runner(Records(tmp_path / "samples.jsonl"), effort, tmp_path, {}, seed=0)
    (one,) = runner.run(Job(SMALL, "numpy", (("sort", 0),)), "mark")
    assert one.status == OVER_LIMIT
    assert one.reason == "one call took more than 0.1 s"
    assert one.ratio == pytest.approx(0.1 / 0.5)


def test_broken_worker_leaves_its_reason(tmp_path):
    runner = Runner(Records(tmp_path / "samples.jsonl"), QUICK, tmp_path, {}, seed=0)
    (one,) = runner.run(Job(SMALL, "numpy", (("aeon", 5),)), "mark")
    assert one.status == FAILED
    assert "No module named 'aeon'" in one.reason


def test_failure_after_samples_is_not_shown_as_a_ratio():
    one = record("aeon")
    one.status = FAILED
    events = [
        {"event": "sample", "contestant": "sklearn", "buffer": 0, "round": 0, "seconds": 1.0},
        {"event": "failed", "contestant": "aeon", "buffer": 5, "memory": True, "reason": "m"},
    ]
    collect(iter(events), {("aeon", 5): one})
    assert (one.status, one.reason, one.ratio) == (OVER_MEMORY, "m", None)


def test_tables_fit_a_hundred_columns(tmp_path, capsys):
    store = Records(tmp_path / "samples.jsonl")
    for setting in grid():
        for name in (*OWN, *PEERS):
            for environment in CONTESTANTS[name].environments:
                key = key_of(name, environment, setting)
                slow = {"limit": 1e5, "reference_seconds": [1.0], "other_cores": 1.5}
                store._records[key] = Record(key, OVER_LIMIT, "mark", **slow)
    speed.main(["--show", "--huge", f"--out={tmp_path}"])
    speed.print_tables(speed.parse([f"--out={tmp_path.name}"]), store, [])
    lines = capsys.readouterr().out.splitlines()
    assert any(">100000" in line for line in lines)
    assert any("aeon (1.5)" in line for line in lines)
    assert max(len(line) for line in lines if "raw samples in" not in line) <= 100


def test_ratios_from_a_busy_machine_are_named(tmp_path):
    store = Records(tmp_path / "samples.jsonl")
    store.add(record("vus-opt", seconds=[1.0], reference_seconds=[1.0], other_cores=0.05))
    assert speed_report.disturbances(store, [SMALL]) == ""
    store.add(record("aeon", seconds=[1.0], reference_seconds=[1.0], other_cores=1.25))
    text = speed_report.disturbances(store, [SMALL])
    assert "aeon (1.2)" in text
    assert "vus-opt" not in text


def test_ratio_text():
    assert speed_report.ratio_text(None) == "-"
    assert speed_report.ratio_text(record(seconds=[0.023], reference_seconds=[1.0])) == "0.023"
    assert speed_report.ratio_text(record(status=IMPLIED)) == "over*"


def test_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        speed.parse(["--only", "aeom"])
    assert "`aeom` is not one of sort" in capsys.readouterr().err
