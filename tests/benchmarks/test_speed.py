"""The speed comparison: its inputs, its store, its arithmetic, and one real worker."""

from __future__ import annotations

import numpy as np
import pytest
import speed
import speed_tables
from speed_cases import BUFFERS, SIZES, Series, grid, make_input, size_text
from speed_checks import GROWTHS, Outcome, exponent, growth_jobs, growth_outcomes, sharing_outcomes
from speed_contenders import CONTENDERS, OWN, OWN_ENVIRONMENTS, PEERS
from speed_peers import recipes
from speed_run import Effort, Job, Runner, collect, implied_by, plan
from speed_store import FAILED, IMPLIED, OK, OVER_LIMIT, OVER_MEMORY, Key, Record, Store

SMALL = Series(1_000, 4, 10)
QUICK = Effort(fewest=2, most=2, budget=0.0, limit=60.0, shortest=0.0)


def record(contender="vus-opt", series=SMALL, buffer=5, status=OK, **fields):
    environment = CONTENDERS[contender].environments[0]
    return Record(Key(contender, environment, series, buffer), status, "mark", **fields)


@pytest.mark.parametrize("series", [SMALL, Series(100, 20, 1), Series(10_000, 10, 100)])
def test_input_holds_exactly_the_events_asked_for(series):
    labels, scores = make_input(series, seed=3)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
    assert np.array_equal(edges[1::2] - edges[::2], [series.length] * series.anomalies)
    assert labels.dtype == np.int64
    assert scores.dtype == np.float64
    assert np.array_equal(scores, make_input(series, seed=3)[1])
    assert not np.array_equal(scores, make_input(series, seed=4)[1])


def test_grid_holds_what_fits():
    assert len(grid()) == 3 + 5 + 6 + 6
    assert Series(10_000, 1000, 100) not in grid()
    assert Series(1_000_000, 1000, 100) in grid()


@pytest.mark.parametrize(
    ("n", "text"),
    [(10_000, "1e4"), (20_000, "2e4"), (12_500, "12500"), (64, "64"), (1_234_567, "1234567")],
)
def test_size_text(n, text):
    assert size_text(n) == text


def test_every_peer_has_a_recipe_and_every_recipe_a_peer():
    assert {CONTENDERS[name].environments[0] for name in PEERS} == set(recipes())


def test_plan_measures_every_contender_on_every_case():
    keys = [
        key for job in plan(grid((10_000,)), BUFFERS, list(OWN), list(PEERS)) for key in job.keys
    ]
    assert len(keys) == len(set(keys))
    series = len(grid((10_000,)))
    per_series = sum(
        len(one.environments) * (len(BUFFERS) if one.uses_buffer else 1)
        for one in (CONTENDERS[name] for name in (*OWN, *PEERS))
    )
    assert len(keys) == series * per_series


def test_store_survives_a_line_cut_short(tmp_path):
    path = tmp_path / "samples.jsonl"
    Store(path).add(record(seconds=[2.0], reference_seconds=[1.0], values=[0.5, 0.25]))
    with path.open("a") as file:
        file.write('{"key": {"contender": "ae')
    again = Store(path)
    again.add(record("aeon", seconds=[3.0], reference_seconds=[1.0]))
    found = {one.key.contender: one for one in Store(path)}
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
    store = Store(tmp_path / "samples.jsonl")
    store.add(record(status=status, limit=5.0))
    assert store.finished(record().key, mark, limit) is finished


def test_results_of_other_code_are_not_shown(tmp_path):
    store = Store(tmp_path / "samples.jsonl")
    store.add(record("vus-opt"))
    store.add(record("aeon"))
    store.forget_stale({"vus": "mark", "aeon": "newer recipe"})
    assert [one.key.contender for one in store] == ["vus-opt"]
    assert len(list(Store(store.path))) == 2


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
        sizes = [growth.size(series, buffer) for series, buffer in growth.cases]
        assert sizes == sorted(set(sizes))
        assert all(series.fits for series, _ in growth.cases)
    assert {job.environment for job in growth_jobs(GROWTHS)} == set(OWN_ENVIRONMENTS)


@pytest.mark.parametrize(("power", "verdict"), [(1.2, "pass"), (1.5, "miss")])
def test_growth_is_judged_beside_the_sort(tmp_path, power, verdict):
    store, growth = Store(tmp_path / "samples.jsonl"), GROWTHS[0]
    for series, buffer in growth.cases:
        for name, length, p in (("sort", 0, 1.1), ("vus-exact", buffer, power)):
            seconds = [1e-9 * series.n**p]
            store.add(record(name, series, length, seconds=seconds, reference_seconds=[1.0]))
    numpy_outcome, numba_outcome = growth_outcomes(store, (growth,))
    assert numpy_outcome.measured == pytest.approx(power)
    assert numpy_outcome.limit == pytest.approx(1.25)
    assert (numpy_outcome.verdict, numba_outcome.verdict) == (verdict, "not measured")


def test_outcomes_are_not_claimed_without_samples(tmp_path):
    outcomes = sharing_outcomes(Store(tmp_path / "none.jsonl"))
    assert {one.verdict for one in outcomes} == {"not measured"}
    assert Outcome("x", 0.5, 0.5).verdict == "pass"
    assert Outcome("x", 0.6, 0.5).verdict == "miss"


def test_larger_case_of_a_peer_over_the_limit_is_not_tried(tmp_path):
    store = Store(tmp_path / "samples.jsonl")
    store.add(record("aeon", buffer=5, status=OVER_LIMIT, limit=60.0))
    larger = Job(Series(2_000, 4, 10), "aeon", (("aeon", 100),))
    fewer_anomalies = Job(Series(2_000, 3, 10), "aeon", (("aeon", 100),))
    assert implied_by(store, larger, "mark", 60.0) is not None
    assert implied_by(store, fewer_anomalies, "mark", 60.0) is None
    assert implied_by(store, larger, "mark", 120.0) is None
    runner = Runner(store, QUICK, tmp_path, {}, seed=0)
    assert [one.status for one in runner.run(larger, "mark")] == [IMPLIED]


def test_worker_measures_beside_the_reference(tmp_path):
    pytest.importorskip("sklearn")
    runner = Runner(Store(tmp_path / "samples.jsonl"), QUICK, tmp_path, {"cpu": "x"}, seed=0)
    (one,) = runner.run(Job(SMALL, "numpy", (("sort", 0),)), "mark")
    assert one.status == OK, one.reason
    assert len(one.seconds) == len(one.reference_seconds) == 2
    assert one.values == [make_input(SMALL, 0)[1].min()]
    assert one.versions["numpy"] == np.__version__
    assert one.peak_kib > 0


def test_call_over_the_limit_is_stopped(tmp_path):
    pytest.importorskip("sklearn")
    effort = Effort(fewest=1, most=1, budget=0.0, limit=1e-4, shortest=0.0)
    runner = Runner(Store(tmp_path / "samples.jsonl"), effort, tmp_path, {}, seed=0)
    (one,) = runner.run(Job(Series(300_000, 4, 10), "numpy", (("sort", 0),)), "mark")
    assert one.status == OVER_LIMIT
    assert one.ratio == pytest.approx(1e-4 / one.reference_seconds[0])


def test_broken_worker_leaves_its_reason(tmp_path):
    runner = Runner(Store(tmp_path / "samples.jsonl"), QUICK, tmp_path, {}, seed=0)
    (one,) = runner.run(Job(SMALL, "numpy", (("aeon", 5),)), "mark")
    assert one.status == FAILED
    assert "No module named 'aeon'" in one.reason


def test_failure_after_samples_is_not_shown_as_a_ratio():
    one = record("aeon")
    one.status = FAILED
    events = [
        {"event": "sample", "contender": "sklearn", "buffer": 0, "round": 0, "seconds": 1.0},
        {"event": "failed", "contender": "aeon", "buffer": 5, "memory": True, "reason": "m"},
    ]
    collect(iter(events), {("aeon", 5): one})
    assert (one.status, one.reason, one.ratio) == (OVER_MEMORY, "m", None)


def test_tables_fit_a_hundred_columns(tmp_path, capsys):
    store = Store(tmp_path / "samples.jsonl")
    for series in grid(SIZES):
        for buffer in BUFFERS:
            for name in (*OWN, *PEERS):
                for environment in CONTENDERS[name].environments:
                    key = Key(name, environment, series, buffer)
                    slow = {"limit": 1e5, "reference_seconds": [1.0]}
                    store._records[key] = Record(key, OVER_LIMIT, "mark", **slow)
    speed.main(["--show", "--huge", f"--out={tmp_path}"])
    speed.print_tables(speed.parse([f"--out={tmp_path.name}"]), store, [])
    lines = capsys.readouterr().out.splitlines()
    assert any(">100000" in line for line in lines)
    assert max(len(line) for line in lines if "raw samples in" not in line) <= 100


def test_ratio_text():
    assert speed_tables.ratio_text(None) == "-"
    assert speed_tables.ratio_text(record(seconds=[0.023], reference_seconds=[1.0])) == "0.023"
    assert speed_tables.ratio_text(record(status=IMPLIED)) == "over*"


def test_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        speed.parse(["--only", "aeom"])
    assert "`aeom` is not one of sort" in capsys.readouterr().err
