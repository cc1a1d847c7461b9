"""kill -9 at random moments: nothing lost, nothing twice, nothing left over."""

from __future__ import annotations

import contextlib
import random
import signal
import time

import psutil
import pytest
from waiting import eventually

KILLS = 3


def finished_jobs(workshop):
    if not (workshop.folder / "bench.sqlite").exists():
        return {}
    try:
        return dict(workshop.query("SELECT key, finished FROM jobs"))
    except Exception:
        return {}  # killed before the tables were there


def plan(workshop, *others):
    workshop.write(
        detectors=['name = "misbehaving:slow"\nseconds = 0.2', *others],
        top=f"seeds = {list(range(6))}",
        series='[[series]]\nfamily = "ecg"\nn = 1200\nn_anomalies = 3\nseed = [1, 2, 3]',
        tail="[executor]\nworkers = 2",
    )
    return workshop


def test_killed_runs_end_like_one_that_was_left_alone(workshop, start, tmp_path_factory):
    plan(workshop)
    alone = plan(type(workshop)(tmp_path_factory.mktemp("alone")))
    undisturbed = start(alone)
    chance = random.Random(5)
    children, done, codes = [], {}, []
    for _ in range(KILLS):
        process = start()
        aim = len(done) + chance.randrange(1, 6)
        while len(finished_jobs(workshop)) < aim and process.poll() is None:
            time.sleep(0.02)
        time.sleep(chance.random() * 0.2)
        with contextlib.suppress(psutil.NoSuchProcess):  # a slow machine came too late
            children += psutil.Process(process.pid).children()
        process.kill()
        process.communicate()
        codes.append(process.returncode)
        now = finished_jobs(workshop)
        assert done.items() <= now.items()  # what was finished stays and was not done again
        done = now
    assert done
    assert -signal.SIGKILL in codes
    last = start()
    out, err = last.communicate()
    assert last.returncode == 0, err
    assert " jobs run, 0 failed, " in out
    assert "; the run has 36 of 36 jobs done: " in out
    assert done.items() <= finished_jobs(workshop).items()
    assert workshop.query("PRAGMA integrity_check") == [("ok",)]
    assert workshop.query("PRAGMA foreign_key_check") == []
    assert workshop.leftovers() == []
    assert children
    assert eventually(lambda: not any(map(alive, children)))

    undisturbed.communicate()
    assert undisturbed.returncode == 0
    assert len(alone.values()) == 36
    assert workshop.values() == alone.values()


def alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_what_jobs_have_started_ends_with_a_killed_run(workshop, start):
    workshop.write(detectors=["has_children"])
    process = start()
    noted = workshop.base / "children"
    assert eventually(lambda: noted.exists() and noted.read_text().endswith("\n"))
    children = [psutil.Process(int(pid)) for pid in noted.read_text().split()]
    assert all(map(alive, children))
    process.kill()
    process.communicate()
    assert eventually(lambda: not any(map(alive, children)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_polite_stop_says_how_to_go_on(workshop, start, number):
    plan(workshop, 'name = "misbehaving:sleeps"')  # so it never ends by itself
    process = start()
    assert eventually(lambda: len(finished_jobs(workshop)) >= 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert out == ""
    assert f"Finished work is in {workshop.folder}." in err
    assert f"Resume with: vuskit bench run {workshop.path}" in err
    assert "resource_tracker" not in err
    assert workshop.query("SELECT state FROM runs") == [("interrupted",)]
    assert workshop.query("SELECT DISTINCT status FROM jobs") == [("OK",)]
    assert workshop.leftovers() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stop_is_no_failure_of_a_job(number):
    from vuskit.cli.bench.run import stopped_by_signals
    from vuskit.engine._process import outcome_of

    with stopped_by_signals() as stop_if_asked:
        stop_if_asked()
        with pytest.raises(KeyboardInterrupt):
            outcome_of(lambda: signal.raise_signal(number))
        with pytest.raises(KeyboardInterrupt):
            stop_if_asked()
