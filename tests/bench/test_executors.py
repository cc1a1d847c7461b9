"""One suite for every executor: what it does with jobs that behave and with those that do not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from waiting import eventually

from vuskit import InvalidInputError
from vuskit.bench import Kind, Run, Status
from vuskit.bench.executors import DaskExecutor, LocalExecutor, cluster
from vuskit.bench.executors.slot import Slot
from vuskit.bench.plan import Limits
from vuskit.bench.runner import run_plan

# Generous: the machine may be busy. Only a job that sleeps for ever meets a short limit.
LIMITS = Limits(seconds=300.0, memory=400_000_000, threads=1)
SHORT = Limits(seconds=2.0, threads=1)
PATIENT = Limits(seconds=300.0, threads=1)
ONE_SERIES = '[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3\nseed = 1'
TWO_SERIES = ONE_SERIES.replace("seed = 1", "seed = [1, 2]")


@contextlib.contextmanager
def scheduler(workers=2):
    """A Dask scheduler with worker processes, as a user would start them."""
    # The results that a killed worker still held are looked for there no longer than this.
    hurried = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    file = f"/tmp/vuskit-test-scheduler-{os.getpid()}-{time.monotonic_ns()}.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", file]
    processes = [subprocess.Popen([*command, *options], env=hurried, **quiet)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file]
    options = ["--nthreads", "1", "--no-dashboard"]
    processes += [subprocess.Popen([*worker, *options], **quiet) for _ in range(workers)]
    try:
        assert eventually(lambda: os.path.exists(file) and os.path.getsize(file))
        yield file, processes[1:]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


def address_in(file):
    with open(file) as stream:
        return json.load(stream)["address"]


@contextlib.contextmanager
def local(workshop, limits, workers):
    with LocalExecutor(workers=workers, limits=limits, scratch=workshop.base / "tmp") as executor:
        yield executor


@contextlib.contextmanager
def dask(workshop, limits, workers):
    with (
        scheduler(workers) as (file, _),
        DaskExecutor(address=address_in(file), workers=1, limits=limits) as executor,
    ):
        yield executor


@pytest.fixture(params=[local, dask], ids=["local", "dask"])
def make(request):
    return request.param


def test_every_misdeed_has_its_status_and_costs_its_job_only(workshop, make):
    names = ["fine", "allocates", "raises", "segfaults", "killed", "exits"]
    names += ["gives_nan", "too_short", "prints", "counts_threads", "hears_interrupts"]
    workshop.write(
        detectors=names, series='[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3\nseed = 1'
    )
    with make(workshop, LIMITS, 2) as executor:
        done = workshop.run(executor=executor)
    assert executor.running == ()
    found = {
        job.label.removeprefix("misbehaving:"): outcome
        for job, outcome in done
        if job.kind is Kind.SCORE
    }
    statuses = {name: str(outcome.status) for name, outcome in found.items()}
    assert statuses == {
        "fine": "OK",
        "prints": "OK",
        "counts_threads": "OK",
        "hears_interrupts": "OK",
        "allocates": "OOM",
        "killed": "OOM",
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
    assert "must give finite scores, got nan at index 7" in found["gives_nan"].message
    assert "must give 1500 scores, got shape (1499,)" in found["too_short"].message
    assert set(found["counts_threads"].scores) == {1.0}
    assert set(found["hears_interrupts"].scores) == {0.0}
    assert found["fine"].peak_bytes > 10_000_000
    assert found["fine"].fit_seconds >= 0
    assert found["fine"].score_seconds > 0
    # Every failure can be looked at again.
    failures = Run(workshop.folder).status().failures
    assert len(failures) == 7
    assert all(one.key in one.command and "run-job" in one.command for one in failures)
    evaluated = [outcome for job, outcome in done if job.kind is Kind.EVALUATE]
    assert {outcome.status for outcome in evaluated} == {Status.OK}
    assert workshop.leftovers() == []


def test_a_job_over_its_time_is_killed_and_the_record_shows_where_it_was(workshop, make):
    workshop.write(
        detectors=["sleeps"],
        series='[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3\nseed = 1',
    )
    with make(workshop, SHORT, 1) as executor:
        ((_, outcome),) = workshop.run(executor=executor)
    assert (outcome.status, outcome.message) == (Status.TIMEOUT, "took more than 2 s")
    assert "in sleeps" in outcome.traceback
    assert workshop.query("SELECT status FROM jobs") == [("TIMEOUT",)]
    assert workshop.leftovers() == []


def test_what_a_job_has_started_ends_with_its_time(workshop):
    workshop.write(detectors=["has_children"], series=ONE_SERIES)
    with local(workshop, SHORT, 1) as executor:
        ((_, outcome),) = workshop.run(executor=executor)
        assert outcome.status is Status.TIMEOUT
        children = [int(pid) for pid in (workshop.base / "children").read_text().split()]
        assert len(children) == 2
        assert eventually(lambda: not any(map(alive, children)))
    assert workshop.leftovers() == []


def test_a_job_that_dies_of_being_looked_at_had_no_time_left(workshop):
    workshop.write(detectors=["dies_of_the_alarm"], series=ONE_SERIES)
    with local(workshop, SHORT, 1) as executor:
        ((_, outcome),) = workshop.run(executor=executor)
    # It dies just before it would be killed.
    assert outcome.status is Status.TIMEOUT
    assert outcome.message.startswith("took more than 2 s")
    assert "in dies_of_the_alarm" in outcome.traceback
    assert workshop.leftovers() == []


def test_what_killed_a_worker_decides_its_status(tmp_path):
    slot = Slot(SHORT, tmp_path)
    slot._stack.write_text('File "x.py", line 1, in before\n')
    early = slot._died(-signal.SIGSEGV)
    assert early.status is Status.ERROR
    assert early.message == "the worker process died of signal 11 (SIGSEGV)"
    slot._stack.write_text('Stack (most recent call first):\n  File "x.py", line 1 in last\n')
    late = slot._died(-signal.SIGSEGV)
    assert late.status is Status.TIMEOUT
    assert late.message == "took more than 2 s, at the end of which it died of signal 11 (SIGSEGV)"
    assert "in last" in late.traceback
    assert slot._died(-signal.SIGKILL).status is Status.OOM


def test_compiling_does_not_count_as_time_of_a_job(workshop, make):
    """It takes four seconds, a job may take three."""
    workshop.write(detectors=["compiles", "Compiles"], series=TWO_SERIES, evaluate="")
    with make(workshop, Limits(seconds=3.0, threads=1), 1) as executor:
        done = workshop.run(executor=executor)
    scored = [outcome for job, outcome in done if job.kind is Kind.SCORE]
    assert [str(outcome.status) for outcome in scored] == ["OK"] * 4
    warmed = [outcome.warm_up_seconds for outcome in scored if outcome.warm_up_seconds is not None]
    assert len(warmed) == 2  # once per detector and process
    assert max(warmed) >= 4.0
    assert not any(outcome.cold for outcome in scored)
    assert all(outcome.score_seconds < 3.0 for outcome in scored)
    stored = workshop.query("SELECT max(warm_up_seconds) FROM jobs WHERE kind = 'score'")
    assert stored == [(max(warmed),)]


def test_who_kills_a_process_does_so_to_what_it_has_loaded_once_only(workshop):
    """Of two detectors one takes long to load, the other gets every process killed."""
    series = ONE_SERIES.replace("seed = 1", "seed = [1, 2, 3, 4, 5]")
    workshop.write(detectors=["Loads", "killed"], series=series)
    with local(workshop, PATIENT, 1) as executor:
        done = workshop.run(executor=executor)
    scored = [(job, outcome) for job, outcome in done if job.kind is Kind.SCORE]
    statuses = {job.label: set() for job, _ in scored}
    for job, outcome in scored:
        statuses[job.label].add(str(outcome.status))
    assert statuses == {"misbehaving:Loads": {"OK"}, "misbehaving:killed": {"OOM"}}
    loaded = [
        outcome.warm_up_seconds is not None for job, outcome in scored if "Loads" in job.label
    ]
    assert loaded == [True, True, False, False, False]
    assert workshop.leftovers() == []


def test_a_warm_up_that_goes_wrong_costs_its_time_only(workshop):
    names = ["sleeps_when_warmed_up", "crashes_when_warmed_up", "raises_when_warmed_up"]
    workshop.write(detectors=names, series=TWO_SERIES)
    limits = Limits(seconds=300.0, warm_up_seconds=1.0, threads=1)
    with local(workshop, limits, 1) as executor:
        done = workshop.run(executor=executor)
    assert [str(outcome.status) for _, outcome in done] == ["OK"] * 8
    slept = [
        outcome.warm_up_seconds
        for job, outcome in done
        if job.kind is Kind.SCORE and "sleeps" in job.label
    ]
    assert sorted(slept, key=str) == [1.0, None]  # it is not tried again
    assert workshop.leftovers() == []


def test_worker_processes_end_with_their_executor(workshop, make):
    workshop.write()
    with make(workshop, PATIENT, 1) as executor:
        done = workshop.run(executor=executor)
        workers = {int(outcome.worker.rpartition(":")[2]) for _, outcome in done}
        assert os.getpid() not in workers
    assert eventually(lambda: not any(alive(pid) for pid in workers))


def test_a_worker_that_dies_idle_is_replaced(workshop, make):
    with make(workshop, PATIENT, 1) as executor:
        done = workshop.write().run(executor=executor)
        (worker,) = {int(outcome.worker.rpartition(":")[2]) for _, outcome in done}
        os.kill(worker, signal.SIGKILL)
        assert eventually(lambda: not alive(worker))
        done = workshop.write(top="seeds = [5]").run(executor=executor)
    assert [str(outcome.status) for _, outcome in done] == ["OK"] * 4
    assert str(worker) not in {outcome.worker.rpartition(":")[2] for _, outcome in done}


def test_a_memory_limit_below_the_libraries_is_an_outcome_too(workshop):
    limits = Limits(seconds=60.0, memory=20_000_000, threads=1)
    with local(workshop, limits, 1) as executor:
        done = workshop.write(series='[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3').run(
            executor=executor
        )
    assert len(done) == 1
    assert done[0][1].status.failed


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def many(workshop):
    """A plan of 24 jobs, half of which take a moment."""
    return workshop.write(
        detectors=['name = "misbehaving:slow"\nseconds = 0.4'],
        top="seeds = [0, 1, 2, 3, 4, 5]",
    )


def test_one_process_two_and_a_cluster_that_loses_a_worker_agree(workshop, tmp_path_factory):
    bases = [tmp_path_factory.mktemp("other") for _ in range(2)]
    shops = [many(workshop), *(many(type(workshop)(base)) for base in bases)]
    for shop, workers in zip(shops, (1, 2), strict=False):
        with local(shop, PATIENT, workers) as executor:
            assert len(shop.run(executor=executor)) == 24
    with scheduler(2) as (file, workers):
        with DaskExecutor(address=file, workers=1, limits=PATIENT) as executor:
            assert eventually(lambda: executor.capacity >= 4)  # both are there
            victim = Victim(workers[0])
            done = run_and_watch(shops[2], executor, victim)
        assert victim.killed
    assert len(done) == len({job.key for job, _ in done}) == 24
    expected = shops[0].values()
    assert len(expected) == 24
    for shop in shops:
        assert shop.values() == expected  # to the last bit
        assert shop.query("SELECT count(*), count(DISTINCT key) FROM jobs") == [(24, 24)]
        assert shop.query("SELECT DISTINCT status FROM jobs") == [("OK",)]
        assert shop.leftovers() == []


class Victim:
    """A Dask worker that is killed, with its nanny, once some jobs are done."""

    def __init__(self, nanny):
        self.nanny = nanny
        self.killed = False

    def strike(self):
        processes = [psutil.Process(self.nanny.pid)]
        processes += processes[0].children(recursive=True)
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGKILL)
        self.killed = True


def run_and_watch(shop, executor, victim):
    done = []

    def note(progress, ended):
        done.extend(ended)
        if len(done) >= 6 and not victim.killed:
            victim.strike()

    run_plan(shop.plan(), executor=executor, observer=note)
    return done


def test_dask_starts_a_cluster_of_its_own(workshop):
    workshop.write()
    with DaskExecutor(address=None, workers=1, limits=PATIENT) as executor:
        done = workshop.run(executor=executor)
    assert [str(outcome.status) for _, outcome in done] == ["OK"] * 4


def test_an_address_without_a_scheduler_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with pytest.raises(InvalidInputError, match=r"`executor\.address` must be a Dask scheduler"):
        DaskExecutor(address="tcp://127.0.0.1:9", workers=1, limits=PATIENT)
