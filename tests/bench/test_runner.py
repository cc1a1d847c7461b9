"""Runs of plans: jobs that misbehave, and the same values from every executor."""

from __future__ import annotations

import threading

import pytest
from dask_cluster import kill_tree, scheduler
from waiting import Gate, eventually

from vuskit.bench import (
    Run,
    run_plan,
)
from vuskit.bench.jobs import Kind
from vuskit.engine import (
    Limits,
    Status,
)
from vuskit.engine._dask import DaskExecutor
from vuskit.engine.run import InProcessExecutor, LocalExecutor
from vuskit.store.store import Store

# Generous: the machine may be busy. Only a job that sleeps for ever meets a short limit.
LIMITS = Limits(seconds=300.0, memory=400_000_000)
SHORT = Limits(seconds=2.0)
PATIENT = Limits(seconds=300.0)
ONE_SERIES = '[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3\nseed = 1'


def local(workshop, limits, workers=1):
    return LocalExecutor(workers=workers, limits=limits, scratch=workshop.base / "scratch")


def test_every_failure_has_its_status_and_costs_its_job_only(workshop):
    names = ["fine", "allocates", "raises", "segfaults", "killed", "exits"]
    names += ["gives_nan", "too_short", "prints", "counts_threads", "hears_interrupts"]
    workshop.write(detectors=names, series=ONE_SERIES)
    with local(workshop, LIMITS, 2) as executor:
        done = workshop.run(executor=executor)
    assert executor.running == ()
    found = {
        job.label.removeprefix("misbehaving:"): outcome
        for job, outcome in done
        if job.kind == Kind.SCORE
    }
    statuses = {name: str(outcome.status) for name, outcome in found.items()}
    assert statuses == {
        "fine": "OK",
        "prints": "OK",
        "counts_threads": "OK",
        "hears_interrupts": "OK",
        "allocates": "OOM",
        "killed": "KILLED",
        "raises": "ERROR",
        "segfaults": "ERROR",
        "exits": "ERROR",
        "gives_nan": "ERROR",
        "too_short": "ERROR",
    }
    assert "Unable to allocate" in found["allocates"].message
    assert "in allocates" in found["allocates"].traceback
    assert found["raises"].message == "RuntimeError: this detector does not like the series"
    assert "in raises" in found["raises"].traceback
    assert found["segfaults"].message == "the worker process died of signal 11 (SIGSEGV)"
    assert "in segfaults" in found["segfaults"].traceback
    assert "SIGKILL" in found["killed"].message
    assert found["exits"].message == "SystemExit: 3"
    assert "must return finite scores, got nan at index 7" in found["gives_nan"].message
    assert "must return 1500 scores, got shape (1499,)" in found["too_short"].message
    assert set(found["counts_threads"].value.scores) == {1.0}
    assert set(found["hears_interrupts"].value.scores) == {0.0}
    assert found["fine"].peak_bytes > 10_000_000
    assert found["fine"].value.fit_seconds >= 0
    assert found["fine"].value.score_seconds > 0
    # Every failure can be looked at again.
    failures = Run(workshop.folder).status().failures
    assert len(failures) == 7
    assert all(one.key in one.command and "run-job" in one.command for one in failures)
    evaluated = [outcome for job, outcome in done if job.kind == Kind.EVALUATE]
    assert {outcome.status for outcome in evaluated} == {Status.OK}
    assert workshop.leftovers() == []


def test_job_over_its_time_is_killed_and_the_record_shows_where_it_was(workshop):
    workshop.write(detectors=["sleeps"], series=ONE_SERIES)
    with local(workshop, SHORT) as executor:
        ((_, outcome),) = workshop.run(executor=executor)
    assert (outcome.status, outcome.message) == (Status.TIMEOUT, "took more than 2 s")
    assert "in sleeps" in outcome.traceback
    assert workshop.query("SELECT status FROM results") == [("TIMEOUT",)]
    assert workshop.leftovers() == []


def test_compiling_does_not_count_as_time_of_a_job(workshop):
    series = ONE_SERIES.replace("seed = 1", "seed = [1, 2]")
    workshop.write(detectors=["compiles", "Compiles"], series=series, evaluate="")
    with local(workshop, PATIENT) as executor:
        done = workshop.run(executor=executor)
    scored = [outcome for job, outcome in done if job.kind == Kind.SCORE]
    assert [str(outcome.status) for outcome in scored] == ["OK"] * 4
    warmed = [outcome.warm_up_seconds for outcome in scored if outcome.warm_up_seconds is not None]
    assert len(warmed) == 2  # once per detector and process
    assert max(warmed) >= 0.5
    assert not any(outcome.value.cold for outcome in scored)
    stored = workshop.query("SELECT max(warm_up_seconds) FROM results WHERE kind = 'score'")
    assert stored == [(max(warmed),)]


def many(workshop):
    """A plan of 24 jobs, half of which pass a gate."""
    return workshop.write(
        detectors=['name = "misbehaving:gated"\ngate = "gate"'],
        top="seeds = [0, 1, 2, 3, 4, 5]",
    )


def test_one_process_two_and_a_cluster_that_loses_a_worker_agree(workshop, tmp_path_factory):
    shops = [workshop, *(type(workshop)(tmp_path_factory.mktemp("other")) for _ in range(2))]
    gates = [Gate(shop.base / "gate") for shop in shops]
    for shop in shops:
        many(shop)
    for shop, gate, workers in zip(shops, gates, (1, 2), strict=False):
        gate.open()
        with local(shop, PATIENT, workers) as executor:
            assert len(shop.run(executor=executor)) == 24
    gate, done, ready = gates[2], [], []
    gate.admit(4)
    with scheduler(2) as (file, workers), DaskExecutor(address=file, limits=PATIENT) as executor:
        assert eventually(lambda: executor.capacity >= 4)  # both workers are there

        def kill_while_both_work():
            ready.append(eventually(lambda: len(done) >= 4 and gate.count_waiting() == 2))
            kill_tree(workers[0].pid)
            gate.open()

        killer = threading.Thread(target=kill_while_both_work)
        killer.start()
        run_plan(
            shops[2].plan(), executor=executor, on_outcome=lambda task, _: done.append(task.key)
        )
        killer.join()
    assert ready == [True]
    assert len(done) == len(set(done)) == 24
    expected = shops[0].values()
    assert len(expected) == 24
    for shop in shops:
        assert shop.values() == expected  # to the last bit
        assert shop.query("SELECT count(*), count(DISTINCT key) FROM results") == [(24, 24)]
        assert shop.query("SELECT DISTINCT status FROM results") == [("OK",)]
        assert shop.leftovers() == []


# -- inputs that change, and ends of runs --------------------------------------------------------

SPOILER = """
import pathlib

def spoil(values):
    base = pathlib.Path(__file__).parent
    if not (base / "spoiled").exists():
        (base / "spoiled").touch()
        file = base / "data" / "b.csv"
        file.write_text(file.read_text().replace(",0\\n", ",1\\n", 9))
    return values
"""


def test_jobs_whose_data_changed_are_reported_and_run_later(workshop, start):
    (workshop.base / "spoiler.py").write_text(SPOILER)
    (workshop.base / "data").mkdir()
    for name, factor in (("a", 7), ("b", 11)):
        rows = "".join(f"{i % factor},{int(20 <= i < 25)}\n" for i in range(60))
        (workshop.base / "data" / f"{name}.csv").write_text(f"value,label\n{rows}")
    workshop.write(
        series='[[series]]\nfolder = "data"',
        detectors=['name = "spoiler:spoil"'],
        evaluate='[[evaluate]]\nmeasures = ["auc_pr"]\nbuffer = 5',
        tail="[executor]\nworkers = 1",
    )
    first = start()
    out, err = first.communicate()
    assert first.returncode == 3, err
    assert "1 job was not computed: data/b must not change during a run" in err
    assert "b.csv" in err
    assert "2 of 4 jobs done, 0 failed" in out
    assert workshop.query("SELECT state FROM starts") == [("interrupted",)]
    assert workshop.query("SELECT DISTINCT status FROM results") == [("OK",)]
    assert any("not computed" in note for note in Run(workshop.folder).status().notes)
    second = start()
    out, err = second.communicate()
    assert second.returncode == 0, err
    assert "Resuming: 2 of 4 jobs are done" in err
    assert "the run has 4 of 4 jobs done" in out
    assert len(workshop.values()) == 2


DRIFTING = """
from pathlib import Path

def drift(values):
    note = Path(__file__).with_name("calls")
    note.write_text(note.read_text() + "x" if note.exists() else "x")
    return values ** len(note.read_text())
"""


def test_new_scores_of_a_drifting_detector_are_evaluated_again(workshop):
    (workshop.base / "drifting.py").write_text(DRIFTING)
    workshop.write(detectors=['name = "drifting:drift"'], series=ONE_SERIES).run()
    before = Run(workshop.folder).values()["value"].tolist()
    ((key,),) = workshop.query("SELECT key FROM results WHERE kind = 'score'")
    with Store(workshop.folder) as store:
        assert store.forget([key]) == 1
        assert store.statuses() == {}  # old values do not belong to the new scores
    assert [job.kind for job, _ in workshop.run()] == [Kind.SCORE, Kind.EVALUATE]
    assert Run(workshop.folder).values()["value"].tolist() != before
    assert Run(workshop.folder).verify().problems == []


class BrokenError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "state"), [(BrokenError, "failed"), (KeyboardInterrupt, "interrupted")]
)
def test_no_stopped_run_stays_running(workshop, monkeypatch, error, state):
    def stop(*_):
        raise error

    workshop.write()
    with pytest.raises(error):  # while the plan is expanded: nothing has begun
        run_plan(workshop.plan(), executor=InProcessExecutor(), reading=stop)
    assert workshop.query("SELECT state FROM starts") == []
    with pytest.raises(error):
        run_plan(workshop.plan(), executor=InProcessExecutor(), observer=stop)
    assert workshop.query("SELECT state FROM starts") == [(state,)]
    # The end cannot be recorded at once: Ctrl-C is pressed again, or the disk is full.
    end, attempts = Store.end, []

    def end_later(self, *arguments, **options):
        attempts.append(arguments)
        if len(attempts) == 1:
            raise error
        end(self, *arguments, **options)

    monkeypatch.setattr(Store, "end", end_later)
    with pytest.raises(error):
        run_plan(workshop.plan(), executor=InProcessExecutor())
    assert workshop.query("SELECT state FROM starts ORDER BY id") == [(state,), (state,)]


def test_the_next_writer_marks_a_killed_run(workshop):
    workshop.write().run()
    workshop.change("UPDATE starts SET state = 'running'")
    Store(workshop.folder).close()
    assert workshop.query("SELECT state FROM starts") == [("interrupted",)]
