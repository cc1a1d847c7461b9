"""kill -9 after random numbers of jobs: nothing lost, nothing twice, nothing left over."""

from __future__ import annotations

import random
import signal

import psutil
import pytest
from waiting import PATIENCE, Gate, eventually

KILLS = 3


def finished_jobs(workshop):
    if not (workshop.folder / "results.sqlite").exists():
        return {}
    try:
        return dict(workshop.query("SELECT key, finished FROM results"))
    except Exception:
        return {}  # killed before the tables were there


def gate_of(workshop):
    return Gate(workshop.base / "gate")


def plan(workshop):
    workshop.write(
        detectors=['name = "misbehaving:gated"\ngate = "gate"'],
        top=f"seeds = {list(range(6))}",
        series='[[series]]\nfamily = "ecg"\nn = 1200\nn_anomalies = 3\nseed = [1, 2, 3]',
        tail="[executor]\nworkers = 2",
    )
    return workshop


def test_killed_runs_end_like_one_that_was_left_alone(workshop, start, tmp_path_factory):
    plan(workshop)
    alone = plan(type(workshop)(tmp_path_factory.mktemp("alone")))
    gate_of(alone).open()
    undisturbed = start(alone)
    chance = random.Random(5)
    done = {}
    for _ in range(KILLS):
        # Of the 18 scores, 4 get computed and evaluated, so the run does not end before the kill.
        gate_of(workshop).admit(4)
        process = start()
        aim = len(done) + chance.randrange(1, 9)
        assert eventually(lambda aim=aim: len(finished_jobs(workshop)) >= aim)
        children = psutil.Process(process.pid).children()
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert children
        assert eventually(lambda children=children: not any(map(alive, children)))
        now = finished_jobs(workshop)
        assert done.items() <= now.items()  # what was finished stays and was not done again
        done = now
    gate_of(workshop).open()
    last = start()
    out, err = last.communicate()
    assert last.returncode == 0, err
    assert " jobs run, 0 failed, " in out
    assert "; the run has 36 of 36 jobs done: " in out
    assert done.items() <= finished_jobs(workshop).items()
    assert workshop.query("PRAGMA integrity_check") == [("ok",)]
    assert workshop.query("PRAGMA foreign_key_check") == []
    assert workshop.leftovers() == []

    undisturbed.communicate()
    assert undisturbed.returncode == 0
    assert len(alone.values()) == 36
    assert workshop.values() == alone.values()


def alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_what_jobs_have_started_ends_with_a_stopped_run(workshop, start):
    workshop.write(detectors=["has_children"])
    process = start()
    noted = workshop.base / "children"
    assert eventually(lambda: noted.exists() and noted.read_text().endswith("\n"))
    children = [psutil.Process(int(pid)) for pid in noted.read_text().split()]
    assert all(map(alive, children))
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert eventually(lambda: not any(map(alive, children)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_polite_stop_says_how_to_go_on(workshop, start, number):
    plan(workshop)
    gate_of(workshop).admit(2)  # to the others it stays closed, so the run never ends by itself
    process = start()
    assert eventually(lambda: len(finished_jobs(workshop)) >= 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert out == ""
    assert f"Finished work is in {workshop.folder}." in err
    assert f"Resume with: vuskit bench run {workshop.path}" in err
    assert "resource_tracker" not in err
    assert workshop.query("SELECT state FROM starts") == [("interrupted",)]
    assert workshop.query("SELECT DISTINCT status FROM results") == [("OK",)]
    assert workshop.leftovers() == []
