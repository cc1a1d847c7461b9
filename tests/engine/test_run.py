"""Many tasks: same results everywhere, resume, progress, Ctrl-C."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading

import psutil
import pytest
from dask_cluster import kill_tree, scheduler
from engine import actions
from engine.actions import call
from waiting import Gate, eventually

from vuskit import InvalidInputError
from vuskit.engine import (
    DaskExecutor,
    ExecutorSettings,
    InProcessExecutor,
    Limits,
    LocalExecutor,
    ResultFolder,
    TaskProgress,
    encode_value,
    run_tasks,
)

SEEDS = range(12)


def bytes_of(outcomes):
    return [(key, encode_value(outcome.value)) for key, outcome in outcomes.items()]


def gated(gate):
    return [call(actions.numbers, seed, gate.folder, key=f"numbers-{seed}") for seed in SEEDS]


def test_same_bytes_everywhere_also_if_a_worker_is_killed(tmp_path):
    tasks = [call(actions.numbers, seed) for seed in SEEDS]
    expected = bytes_of(run_tasks(tasks))
    assert [key for key, _ in expected] == [task.key for task in tasks]
    assert bytes_of(run_tasks(tasks, executor=ExecutorSettings(workers=2))) == expected
    gate, done, ready = Gate(tmp_path / "gate"), [], []
    gate.admit(3)
    with scheduler(2) as (file, workers), DaskExecutor(address=file) as executor:
        assert eventually(lambda: executor.capacity >= 4)  # both workers are there

        def kill_while_both_work():
            ready.append(eventually(lambda: len(done) == 3 and gate.count_waiting() == 2))
            kill_tree(workers[0].pid)
            gate.open()

        killer = threading.Thread(target=kill_while_both_work)
        killer.start()
        found = run_tasks(
            gated(gate), executor=executor, on_outcome=lambda task, _: done.append(task)
        )
        killer.join()
        assert ready == [True]
        assert workers[0].wait() == -signal.SIGKILL
    assert len(done) == len(tasks)
    assert bytes_of(found) == expected


def test_stored_results_are_not_computed_again(tmp_path):
    results = ResultFolder(tmp_path)
    fine = [call(actions.numbers, seed) for seed in (1, 2)]
    found = run_tasks([fine[0], call(actions.raises)], results=results)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers-1.npz"]
    assert found["raises"].status.failed
    seen = []
    again = run_tasks(
        [call(actions.raises), *fine],
        results=results,
        on_outcome=lambda task, outcome: seen.append((task.key, outcome.stored)),
    )
    # A failure is repeated, and the order is that of the tasks.
    assert list(again) == ["raises", "numbers-1", "numbers-2"]
    assert sorted(seen) == [("numbers-1", True), ("numbers-2", False), ("raises", False)]
    assert encode_value(again["numbers-1"].value) == encode_value(found["numbers-1"].value)
    # Nothing to do, so no cluster is looked for.
    dask = ExecutorSettings(kind="dask", address="tcp://127.0.0.1:9")
    assert list(run_tasks(fine, executor=dask, results=results)) == ["numbers-1", "numbers-2"]


def test_progress():
    told = []
    run_tasks([call(actions.raises), call(actions.numbers, 1)], progress=told.append)
    assert told[0] == TaskProgress(done=0, total=2)
    assert told[1].running == ("call of raises",)
    assert [state.done for state in told] == [0, 0, 1, 1, 2]
    assert [state.failed for state in told] == [0, 0, 1, 1, 1]
    assert told[2].name == "call of raises"
    assert told[2].seconds_left > 0
    assert told[-1].seconds_left == 0
    assert told[-1].running == ()


def test_progress_without_tasks():
    told = []
    assert run_tasks([], progress=told.append) == {}
    assert told == [TaskProgress(done=0, total=0)]


def test_tasks_are_requested_when_a_worker_is_free():
    asked, told = [], []

    def make_tasks():
        for seed in range(4):
            asked.append(seed)
            yield call(actions.numbers, seed % 3)  # the last one is a duplicate

    run_tasks(
        make_tasks(),
        total=4,
        on_outcome=lambda task, outcome: told.append((task.key, len(asked))),
        progress=lambda state: told.append(state.total),
    )
    # The next task is made while one runs.
    assert [entry for entry in told if isinstance(entry, tuple)] == [
        ("numbers-0", 2),
        ("numbers-1", 3),
        ("numbers-2", 4),
    ]
    assert [told[0], told[-1]] == [4, 3]


def test_one_at_a_time():
    running = []
    with LocalExecutor(workers=2) as executor:
        run_tasks(
            [call(actions.numbers, seed) for seed in range(3)],
            executor=executor,
            one_at_a_time=True,
            progress=lambda state: running.append(len(state.running)),
        )
    assert max(running) == 1


def test_equal_keys_run_once():
    tasks = [call(actions.numbers, seed, key="same") for seed in (1, 1)]
    done = []
    assert list(run_tasks(tasks, on_outcome=lambda task, _: done.append(task))) == ["same"]
    assert len(done) == 1


def test_limits_of_an_executor_are_its_own():
    with pytest.raises(InvalidInputError, match="`limits` must be None with an Executor"):
        run_tasks([], executor=InProcessExecutor(), limits=Limits())


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from engine import actions
from engine.actions import call
from vuskit.engine import ExecutorSettings, ResultFolder, run_tasks

if __name__ == "__main__":
    tasks = [
        call(actions.numbers, seed, sys.argv[3], key=f"numbers-{seed}") for seed in range(12)
    ]
    run_tasks(
        tasks, executor=ExecutorSettings(workers=2), results=ResultFolder(Path(sys.argv[2]))
    )
"""


@pytest.fixture
def start(tmp_path, request):
    """Start a script that runs twelve tasks, each of which passes a gate."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    tests = request.config.rootpath / "tests"
    started = []

    def launch(folder, gate):
        process = subprocess.Popen(
            [sys.executable, path, tests, folder, gate.folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield launch
    for process in started:  # of a failed test, at the gate
        process.kill()
        process.communicate()


def none_runs(children):
    return not any(child.is_running() for child in children)


def test_killed_runs_end_like_an_undisturbed_one(start, tmp_path):
    folder, gate = tmp_path / "results", Gate(tmp_path / "gate")
    chance = random.Random(5)
    finished = 0
    for _ in range(2):
        # The others wait, so the run does not end before it is killed.
        gate.admit(3)
        process = start(folder, gate)
        aim = finished + chance.randrange(1, 4)
        assert eventually(lambda aim=aim: len(list(folder.glob("numbers*.npz"))) >= aim)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert children
        assert eventually(lambda children=children: none_runs(children))
        times = {path: path.stat().st_mtime_ns for path in folder.glob("numbers*.npz")}
        finished = len(times)
    gate.open()
    last = start(folder, gate)
    _, err = last.communicate()
    assert (last.returncode, err) == (0, "")
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    expected = run_tasks([call(actions.numbers, seed) for seed in SEEDS])
    assert {path.stem: path.read_bytes() for path in folder.glob("numbers*.npz")} == {
        key: encode_value(outcome.value) for key, outcome in expected.items()
    }


def test_ctrl_c_ends_all_processes_with_one_traceback(start, tmp_path):
    folder, gate = tmp_path / "results", Gate(tmp_path / "gate")
    gate.admit(1)
    process = start(folder, gate)
    assert eventually(lambda: list(folder.glob("numbers*.npz")) and gate.count_waiting() >= 2)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate()
    assert process.returncode in (1, -signal.SIGINT)
    assert out == ""
    assert err.count("Traceback") == 1
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert eventually(lambda: none_runs(children))
