"""The execution-time study: measure, keep, drop and resume."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from studies.timing.estimates import estimated_times

from vuskit._util.optional import describe_environment
from vuskit.algorithms import DEFAULT_MEMORY_LIMIT
from vuskit.engine import Limits
from vuskit.errors import InvalidInputError
from vuskit.store import Store
from vuskit.studies import load_study_result
from vuskit.studies.timing import Case, Setting, synthetic_cases, timing_study
from vuskit.studies.timing.contestants import CONTESTANTS, Contestant
from vuskit.studies.timing.study import Forecast, Job

SMALL = Setting(n_points=400, n_anomalies=3, n_thresholds=20)
PAPERS = ("naive", "opt", "opt_mem")


class Recorder:
    """A progress callback that remembers."""

    def __init__(self):
        self.calls = []

    def __call__(self, progress):
        self.calls.append(progress)

    @property
    def jobs(self):
        """Titles of the jobs that ran, in order."""
        return [title for progress in self.calls for title in progress.running]


def stored_runs(folder):
    """Number of stored runs of each cell."""
    with Store.read(folder) as store:
        return sorted(len(result.value or ()) for result in store.results())


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
    assert sorted({progress.done for progress in recorder.calls}) == list(range(8))
    assert len(recorder.jobs) == len(CONTESTANTS)


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
    sizes = [title.split("length of the series ")[1].split(",")[0] for title in recorder.jobs]
    assert sizes == ["400", "30000"]
    assert all(progress.seconds_left > 0 for progress in recorder.calls[:-1])
    assert recorder.calls[-1].seconds_left == 0


def test_contestants_of_a_case_follow_each_other():
    recorder = Recorder()
    settings = [Setting(n_points=500, n_thresholds=20), SMALL]
    timing_study(synthetic_cases(settings), contestants=PAPERS, repeats=1, progress=recorder)
    sizes = [title.split("length of the series ")[1].split(",")[0] for title in recorder.jobs]
    assert sizes == ["400"] * 3 + ["500"] * 3


def test_budget_drops_the_most_expensive_and_says_which():
    settings = [SMALL, Setting(max_buffer=1000, n_thresholds=1000)]  # minutes for one naive run
    with estimated_times():
        result = timing_study(
            synthetic_cases(settings), contestants=["naive", "opt"], repeats=1, budget=20
        )
    assert {sample.setting for sample in result.samples} == {SMALL}
    buffer = "number of thresholds 1000"
    assert [title.split(", ")[0] for title in result.dropped if buffer in title] == [
        "VUS opt",
        "VUS",
    ]


def made_contestant(monkeypatch, seconds):
    """A contestant that is expected to take a second per point, and takes these seconds."""
    clock = SimpleNamespace(now=0.0, time=lambda: clock.now)
    learn = Forecast.learn

    def run(labels, scores, setting):
        clock.now += seconds[setting.n_points]
        return 0.5, 0.5

    def learn_made(forecast, job, repeats, _):
        learn(forecast, job, repeats, (repeats + 2) * seconds[job.case.setting.n_points])

    made = Contestant("made", "Made", run, lambda setting: 1e9 * setting.n_points)
    monkeypatch.setitem(CONTESTANTS, "made", made)
    monkeypatch.setattr("vuskit.studies.timing.study.time", clock)
    monkeypatch.setattr(Forecast, "learn", learn_made)
    return {"contestants": ["made"], "repeats": 1}


@pytest.mark.parametrize(("factor", "measured"), [(1, [20, 21, 22, 80]), (2, [20, 21, 22])])
def test_cases_that_take_longer_than_expected_drop_larger_ones(monkeypatch, factor, measured):
    """There are three runs of each case, with warm-up and memory."""
    settings = [Setting(n_points=n, n_anomalies=1, mean_length=2) for n in (20, 21, 22, 80)]
    times = {20: 20, 21: 21 * factor, 22: 22 * factor, 80: 80}
    options = made_contestant(monkeypatch, times)
    result = timing_study(synthetic_cases(settings), **options, budget=600)
    assert [sample.setting.n_points for sample in result.samples] == measured
    assert len(result.dropped) == 4 - len(measured)
    assert not result.failures


def test_nothing_starts_after_the_end_of_the_budget(monkeypatch):
    settings = [Setting(n_points=n, n_anomalies=1, mean_length=2) for n in (20, 21)]
    options = made_contestant(monkeypatch, {20: 900.0, 21: 1.0})
    result = timing_study(synthetic_cases(settings), **options, budget=200)
    assert [sample.setting.n_points for sample in result.samples] == [20]
    assert len(result.dropped) == 1


def test_what_is_stored_is_not_measured_again(tmp_path):
    cases = synthetic_cases([SMALL])
    options = {"contestants": PAPERS, "repeats": 2, "folder": tmp_path}
    first = timing_study(cases, **options)
    recorder = Recorder()
    again = timing_study(cases, **options, progress=recorder)
    assert recorder.jobs == []
    assert recorder.calls[-1].before == recorder.calls[-1].done == 3
    assert again.samples == first.samples
    assert stored_runs(tmp_path) == [2, 2, 2]


def test_more_repeats_are_measured_together(tmp_path):
    cases = synthetic_cases([SMALL])
    timing_study(cases, contestants=["opt"], repeats=2, folder=tmp_path)
    more = timing_study(cases, contestants=["opt"], repeats=5, folder=tmp_path)
    assert len(more.samples) == 5
    assert stored_runs(tmp_path) == [2, 5]


def test_other_series_clocks_and_machines_are_measured_apart(tmp_path, monkeypatch):
    options = {"contestants": ["opt"], "repeats": 2, "folder": tmp_path}
    first = timing_study(synthetic_cases([SMALL], seed=1), **options)
    other = timing_study(synthetic_cases([SMALL], seed=2), **options)
    assert {sample.series for sample in other.samples} == {"synthetic-2"}
    cpu = timing_study(synthetic_cases([SMALL], seed=1), clock="cpu", **options)
    assert {sample.clock for sample in cpu.samples} == {"cpu"}
    assert timing_study(synthetic_cases([SMALL], seed=1), **options).samples == first.samples
    environment = {**describe_environment(), "cpu": "Z80"}
    monkeypatch.setattr("vuskit.studies.timing.study.describe_environment", lambda: environment)
    assert timing_study(synthetic_cases([SMALL], seed=1), **options).samples != first.samples
    assert stored_runs(tmp_path) == [2, 2, 2, 2]


def test_interrupted_study_keeps_what_is_finished(tmp_path):
    cases = synthetic_cases([SMALL])
    options = {"contestants": PAPERS, "repeats": 2, "folder": tmp_path}

    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timing_study(cases, **options, progress=stop)
    assert stored_runs(tmp_path) == [2, 2]
    recorder = Recorder()
    result = timing_study(cases, **options, progress=recorder)
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
    result = timing_study(
        synthetic_cases([SMALL, too_large]), contestants=["opt_mem"], repeats=1, folder=tmp_path
    )
    assert [sample.setting for sample in result.samples] == [SMALL]
    (failure,) = result.failures
    assert failure.name.startswith("VUS opt mem, number of anomalies 3")
    assert "`memory_limit` must be at least 3000000000 bytes" in failure.reason
    assert stored_runs(tmp_path) == [0, 1]


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
    real = Case("ECG/1.csv", Setting(n_points=77), load=lambda: None)
    assert Job(real, CONTESTANTS["opt"]).title == "VUS opt, ECG/1.csv"
