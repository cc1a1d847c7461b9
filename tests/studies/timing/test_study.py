"""The execution-time study: measure, keep, drop and resume."""

from __future__ import annotations

import numpy as np
import pytest
from studies.timing.estimates import estimated_times

from vuskit.algorithms import DEFAULT_MEMORY_LIMIT
from vuskit.engine import Limits
from vuskit.errors import InvalidInputError
from vuskit.studies import load_study_result
from vuskit.studies.timing import (
    CONTESTANTS,
    Job,
    Setting,
    TimingStore,
    synthetic_cases,
    timing_study,
)

SMALL = Setting(n_points=400, n_anomalies=3, n_thresholds=20)
PAPERS = ("naive", "opt", "opt_mem")


class Recorder:
    """A progress callback that remembers."""

    def __init__(self, stop_at=None):
        self.calls = []
        self.stop_at = stop_at

    def __call__(self, progress):
        self.calls.append(progress)
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt

    @property
    def jobs(self):
        return [progress.job.key for progress in self.calls if progress.job is not None]


def test_samples_hold_every_run():
    recorder = Recorder()
    result = timing_study(synthetic_cases([SMALL]), repeats=3, progress=recorder)
    frame = result.to_frame()
    assert frame.groupby("contestant").size().to_dict() == dict.fromkeys(CONTESTANTS, 3)
    assert (frame["seconds"] > 0).all()
    assert (frame["peak_bytes"] > 0).all()
    assert set(frame["series"]) == {"synthetic-0"}
    assert (frame["n_points"] == 400).all()
    assert recorder.calls[-1].done == recorder.calls[-1].total == len(CONTESTANTS)
    assert [progress.done for progress in recorder.calls] == list(range(len(CONTESTANTS) + 1))


def test_summary_has_median_and_spread():
    result = timing_study(synthetic_cases([SMALL]), contestants=["opt"], repeats=5)
    (row,) = result.summary().to_dict("records")
    seconds = [sample.seconds for sample in result.samples]
    assert row["runs"] == 5
    assert row["median"] == np.median(seconds)
    assert (row["fastest"], row["slowest"]) == (min(seconds), max(seconds))
    assert row["lower_quartile"] == pytest.approx(np.quantile(seconds, 0.25))
    assert row["upper_quartile"] == pytest.approx(np.quantile(seconds, 0.75))


def test_stored_predictions_show_in_the_memory():
    setting = Setting(n_points=20_000, n_anomalies=5, n_thresholds=50, max_buffer=2)
    result = timing_study(synthetic_cases([setting]), contestants=PAPERS, repeats=1)
    peak = result.to_frame().set_index("contestant")["peak_bytes"]
    assert peak["opt_mem"] >= 20_000 * 50
    assert peak["opt"] < peak["opt_mem"] / 2
    assert peak["opt_mem"] < DEFAULT_MEMORY_LIMIT


def test_without_anomalies_only_the_algorithms_run():
    nothing = Setting(n_points=400, n_anomalies=0, n_thresholds=5)
    result = timing_study(synthetic_cases([nothing]), repeats=1)
    assert set(result.to_frame()["contestant"]) == set(PAPERS)


def test_cheapest_first():
    recorder = Recorder()
    settings = [SMALL, Setting(n_points=30_000, n_thresholds=20)]
    timing_study(synthetic_cases(settings), contestants=["naive"], repeats=1, progress=recorder)
    assert [key[2].n_points for key in recorder.jobs] == [400, 30_000]
    assert all(progress.seconds_left > 0 for progress in recorder.calls[:-1])
    assert recorder.calls[-1].seconds_left == 0


def test_contestants_of_a_case_follow_each_other():
    recorder = Recorder()
    settings = [Setting(n_points=500, n_thresholds=20), SMALL]
    timing_study(synthetic_cases(settings), contestants=PAPERS, repeats=1, progress=recorder)
    assert [key[2].n_points for key in recorder.jobs] == [400] * 3 + [500] * 3


def test_budget_drops_the_most_expensive_and_says_which():
    settings = [SMALL, Setting(max_buffer=1000, n_thresholds=1000)]  # minutes for one naive run
    with estimated_times():
        result = timing_study(
            synthetic_cases(settings), contestants=["naive", "opt"], repeats=1, budget=20
        )
    assert {sample.setting for sample in result.samples} == {SMALL}
    assert [(job.contestant.name, job.case.setting.max_buffer) for job in result.dropped] == [
        ("opt", 1000),
        ("naive", 1000),
    ]


def test_what_is_stored_is_not_measured_again(tmp_path):
    cases = synthetic_cases([SMALL])
    first = timing_study(cases, contestants=PAPERS, repeats=2, store=TimingStore(tmp_path))
    recorder = Recorder()
    again = timing_study(
        cases, contestants=PAPERS, repeats=2, store=TimingStore(tmp_path), progress=recorder
    )
    assert recorder.jobs == []
    assert again.samples == first.samples


def test_more_repeats_are_added_to_those_stored(tmp_path):
    cases = synthetic_cases([SMALL])
    first = timing_study(cases, contestants=["opt"], repeats=2, store=TimingStore(tmp_path))
    more = timing_study(cases, contestants=["opt"], repeats=5, store=TimingStore(tmp_path))
    assert more.samples[:2] == first.samples
    assert len(more.samples) == 5


def test_other_cells_of_the_store_stay_out_of_the_result(tmp_path):
    store = TimingStore(tmp_path)
    timing_study(synthetic_cases([SMALL], seed=1), contestants=["opt"], repeats=1, store=store)
    result = timing_study(
        synthetic_cases([SMALL], seed=2), contestants=["opt"], repeats=1, store=store
    )
    assert {sample.series for sample in result.samples} == {"synthetic-2"}
    assert len(store.read()) == 2


def test_clocks_are_not_mixed(tmp_path):
    cases = synthetic_cases([SMALL])
    options = {"contestants": ["opt"], "repeats": 2}
    wall = timing_study(cases, store=TimingStore(tmp_path), **options)
    cpu = timing_study(cases, store=TimingStore(tmp_path), clock="cpu", **options)
    assert {sample.clock for sample in cpu.samples} == {"cpu"}
    assert len(TimingStore(tmp_path).read()) == 4
    assert timing_study(cases, store=TimingStore(tmp_path), **options).samples == wall.samples


def test_interrupted_study_keeps_what_is_finished(tmp_path):
    cases = synthetic_cases([SMALL])
    with pytest.raises(KeyboardInterrupt):
        timing_study(
            cases,
            contestants=PAPERS,
            repeats=2,
            store=TimingStore(tmp_path),
            progress=Recorder(stop_at=3),
        )
    assert len(TimingStore(tmp_path).read()) == 4
    recorder = Recorder()
    result = timing_study(
        cases, contestants=PAPERS, repeats=2, store=TimingStore(tmp_path), progress=recorder
    )
    assert len(recorder.jobs) == 1
    assert recorder.calls[0].done == 2
    assert len(result.samples) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": 0}, "`repeats` must be an int >= 1, got 0"),
        ({"budget": 0}, "`budget` must be a number of seconds > 0, got 0"),
        ({"clock": "sun"}, "`clock` must be one of 'wall', 'cpu', got 'sun'"),
        ({"contestants": ["best"]}, "`contestants` must be among auc, .*, got 'best'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InvalidInputError, match=message):
        timing_study(synthetic_cases([SMALL]), **options)


def test_cases_that_cannot_be_told_apart_are_refused():
    with pytest.raises(
        InvalidInputError, match="must differ in name or setting, got 'synthetic-0'"
    ):
        timing_study(synthetic_cases([SMALL, SMALL]), repeats=1)


def test_failed_job_is_reported_and_the_study_goes_on(tmp_path):
    too_large = Setting(n_points=100_000, n_anomalies=3, n_thresholds=30_000, max_buffer=0)
    store = TimingStore(tmp_path)
    result = timing_study(
        synthetic_cases([SMALL, too_large]), contestants=["opt_mem"], repeats=1, store=store
    )
    assert [sample.setting for sample in result.samples] == [SMALL]
    (failure,) = result.failures
    assert failure.name.startswith("VUS opt mem, number of anomalies 3")
    assert "`memory_limit` must be at least 3000000000 bytes" in failure.reason
    assert len(store.read()) == 1


def test_jobs_on_workers_run_under_limits():
    """Of two jobs one takes milliseconds, the other minutes."""
    settings = [SMALL, Setting(n_points=50_000, max_buffer=1000, n_thresholds=1000)]
    result = timing_study(
        synthetic_cases(settings), contestants=["naive"], repeats=1, limits=Limits(seconds=5)
    )
    assert [sample.setting for sample in result.samples] == [SMALL]
    assert "took more than 5 s" in result.failures[0].reason


def test_results_name_the_measured_core(tmp_path, monkeypatch):
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    result = timing_study(synthetic_cases([SMALL]), contestants=["fast_exact"], repeats=1)
    assert (result.core, result.environment["core"]) == ("numpy", "numpy")
    assert load_study_result(result.save(tmp_path)).core == "numpy"


def test_job_has_a_title():
    (case,) = synthetic_cases([Setting(max_buffer=100, std_length=2)])
    job = Job(case, CONTESTANTS["opt"])
    assert (
        job.title
        == "VUS opt, standard deviation of the anomaly length 2, maximum buffer length 100"
    )
    (default,) = synthetic_cases([Setting()])
    assert Job(default, CONTESTANTS["opt"]).title == "VUS opt, defaults"
