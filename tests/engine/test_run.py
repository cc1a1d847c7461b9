"""Many tasks: same results everywhere, parents first, resume, progress, Ctrl-C."""

from __future__ import annotations

import json
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
    Action,
    ExecutorSettings,
    Limits,
    MemoryResults,
    Status,
    Task,
    run_tasks,
)
from vuskit.engine._dask import DaskExecutor
from vuskit.engine.run import InProcessExecutor, LocalExecutor
from vuskit.engine.tasks import StaleWorkerError
from vuskit.errors import ChangedInputError
from vuskit.store import Store

SEEDS = range(12)


def run(tasks, **options):
    """Run tasks; return the outcomes, and the order in which they ended."""
    results, order = options.pop("results", MemoryResults()), []
    progress = run_tasks(
        tasks, results=results, on_outcome=lambda task, _: order.append(task.key), **options
    )
    return results, order, progress


def bytes_of(results):
    return {key: json.dumps(outcome.value) for key, outcome in results.outcomes.items()}


def test_same_bytes_everywhere_also_if_a_worker_is_killed(tmp_path):
    tasks = [call(actions.numbers, seed) for seed in SEEDS]
    results, order, _ = run(tasks)
    expected = bytes_of(results)
    assert order == [task.key for task in tasks]
    assert bytes_of(run(tasks, executor=ExecutorSettings(workers=2))[0]) == expected
    gate, done, ready, results = Gate(tmp_path / "gate"), [], [], MemoryResults()
    gated = [call(actions.numbers, seed, gate.folder, key=f"numbers-{seed}") for seed in SEEDS]
    gate.admit(3)
    with scheduler(2) as (file, workers), DaskExecutor(address=file) as executor:
        assert eventually(lambda: executor.capacity >= 4)  # both workers are there

        def kill_while_both_work():
            ready.append(eventually(lambda: len(done) == 3 and gate.count_waiting() == 2))
            kill_tree(workers[0].pid)
            gate.open()

        killer = threading.Thread(target=kill_while_both_work)
        killer.start()
        run_tasks(
            gated, results=results, executor=executor, on_outcome=lambda one, _: done.append(one)
        )
        killer.join()
        assert ready == [True]
        assert workers[0].wait() == -signal.SIGKILL
    assert len(done) == len(tasks)
    assert bytes_of(results) == expected


# -- what runs, and in which order -----------------------------------------------------------------


def child(parent, name):
    return call(actions.numbers, 1, key=name, parent=parent)


def test_children_run_after_their_parents_and_before_other_tasks():
    parents = [call(actions.numbers, seed, key=f"parent-{seed}") for seed in range(3)]
    children = [child(parent.key, f"{parent.key}-child-{n}") for parent in parents for n in (1, 2)]
    grandchild = child("parent-0-child-2", "grandchild")
    _, order, progress = run([*parents, *children, grandchild])
    assert progress.total == progress.done == 10
    places = {key: place for place, key in enumerate(order)}
    assert places["parent-0-child-1"] < places["parent-2"]  # one task was requested meanwhile
    for task in (*children, grandchild):
        assert places[task.parent] < places[task.key]
    with LocalExecutor(workers=2) as executor:
        _, order, _ = run([*parents, *children, grandchild], executor=executor)
    places = {key: place for place, key in enumerate(order)}
    assert len(order) == 10
    for task in (*children, grandchild):
        assert places[task.parent] < places[task.key]


def test_a_failed_parent_drops_its_children():
    tasks = [
        *(call(actions.raises, key="bad"), child("bad", "never")),
        *(call(actions.skips, key="no"), child("no", "neither")),
        *(call(actions.numbers, 1, key="good"), child("good", "yes")),
    ]
    results, order, progress = run(tasks)
    assert sorted(order) == ["bad", "good", "no", "yes"]
    assert (progress.total, progress.done, progress.failed) == (4, 4, 1)
    assert progress.counts == {Status.ERROR: 1, Status.SKIPPED: 1, Status.OK: 2}
    # The same from earlier results, and for tasks of a parent that is not in the list.
    _, order, progress = run([*tasks, child("unknown", "nobody")], results=results)
    assert order == []
    assert (progress.total, progress.before, progress.failed_before) == (4, 4, 1)


def test_finished_tasks_do_not_run_again(tmp_path):
    fine = [call(actions.numbers, seed, key=f"{seed:032x}") for seed in (1, 2)]
    bad = call(actions.raises, key="f" * 32)
    with Store(tmp_path) as store:
        _, order, _ = run([fine[0], bad], results=store)
        assert order == [fine[0].key, bad.key]
        first = store.get(fine[0].key)
        _, order, progress = run([bad, *fine], results=store)
        assert order == [fine[1].key]
        assert (progress.before, progress.failed_before, progress.done) == (2, 1, 3)
        assert store.get(fine[0].key).finished == first.finished
        # Failed tasks are repeated if asked for.
        _, order, progress = run([bad, *fine], results=store, repeat_failed=True)
        assert order == [bad.key]
        assert (progress.before, progress.failed_before, progress.failed) == (2, 0, 1)
        # Nothing to do, so no cluster is looked for.
        dask = ExecutorSettings(kind="dask", address="tcp://127.0.0.1:9")
        assert run(fine, executor=dask, results=store)[2].done == 2


def test_values_come_from_the_parent_when_a_task_starts():
    results = MemoryResults()

    def make():
        return actions.Call(int, (results.get("parent").value["seed"] + 1,))

    later = Task("child", "child", make, parent="parent")
    run_tasks([call(actions.numbers, 41, key="parent"), later], results=results)
    assert results.get("child").value == 42


def test_tasks_are_requested_when_a_worker_is_free():
    asked, told = [], []

    def make_tasks():
        for seed in range(4):
            asked.append(seed)
            yield call(actions.numbers, seed % 3)  # the last one is a duplicate

    found = run_tasks(
        make_tasks(),
        results=MemoryResults(),
        total=4,
        on_outcome=lambda task, outcome: told.append((task.key, len(asked))),
    )
    assert told == [("numbers-0", 1), ("numbers-1", 2), ("numbers-2", 3)]
    assert found.total == found.done == 3


def test_at_most_one_at_a_time():
    running = []
    with LocalExecutor(workers=2) as executor:
        found = run_tasks(
            [call(actions.numbers, seed) for seed in range(3)],
            results=MemoryResults(),
            executor=executor,
            at_most=1,
            progress=lambda state: running.append(len(state.running)),
        )
    assert max(running) == 1
    assert found.done == 3


def test_equal_keys_run_once():
    tasks = [call(actions.numbers, seed, key="same") for seed in (1, 1)]
    _, order, progress = run(tasks)
    assert order == ["same"]
    assert progress.total == progress.done == 1


def refuses():
    raise ChangedInputError("data changed; run the same command again")


@pytest.mark.parametrize("later", [False, True])
def test_tasks_whose_data_changed_stay_unfinished(later):
    tasks = [call(refuses, key="a"), call(refuses, key="b"), child("a", "c"),
             call(actions.numbers, 1, key="d")]  # fmt: skip
    source, options = (iter(tasks), {"total": 4}) if later else (tasks, {})
    results, order, progress = run(source, **options)
    assert order == ["d"]
    assert list(results.outcomes) == ["d"]  # so that the same call runs the others
    assert progress.not_computed == (
        "2 jobs were not computed: data changed; run the same command again",
    )
    assert (progress.total, progress.done, progress.failed) == (4, 1, 0)


class Outdated(Action):
    """A task whose code has changed; notes that it was tried."""

    code = "version 1"
    tried = 0

    def run(self):
        type(self).tried += 1
        raise StaleWorkerError("own.py changed")


def test_code_that_changed_is_not_tried_by_all_tasks():
    Outdated.tried = 0
    tasks = [Task(key, key, Outdated) for key in "abcf"]
    results, _, progress = run([*tasks, child("b", "d"), call(actions.numbers, 1, key="e")])
    assert list(results.outcomes) == ["e"]
    assert Outdated.tried == 2  # the second one had started already
    assert progress.not_computed == ("4 jobs were not computed: own.py changed",)
    assert (progress.total, progress.done) == (6, 1)


def test_progress():
    told = []
    tasks = [call(actions.raises), call(actions.numbers, 1)]
    run_tasks(tasks, results=MemoryResults(), progress=told.append)
    assert (told[0].total, told[0].done, told[0].running) == (2, 0, ())
    assert told[1].running == ("call of raises",)
    # The second task starts before the first one is saved.
    assert [state.done for state in told] == [0, 0, 0, 1, 2]
    assert [state.failed for state in told] == [0, 0, 0, 1, 1]
    assert told[3].name == "call of raises"
    assert told[3].seconds_left > 0
    assert told[-1].seconds_left == 0
    assert told[-1].running == ()
    stored = told[-1].as_json()
    assert (stored["total"], stored["done"], stored["failed"]) == (2, 2, 1)


def test_progress_without_tasks():
    told = []
    found = run_tasks([], results=MemoryResults(), progress=told.append)
    assert (found.total, found.done, found.seconds_left) == (0, 0, None)
    assert len(told) == 1


def test_limits_of_an_executor_are_its_own():
    with pytest.raises(InvalidInputError, match="`limits` must be None with an Executor"):
        run_tasks([], results=MemoryResults(), executor=InProcessExecutor(), limits=Limits())


# -- stopped runs ----------------------------------------------------------------------------------

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from engine import actions
from engine.actions import call
from vuskit.engine import ExecutorSettings, run_tasks
from vuskit.store import Store

if __name__ == "__main__":
    tasks = [
        call(actions.numbers, seed, sys.argv[3], key=f"{seed:032x}") for seed in range(12)
    ]
    with Store(sys.argv[2]) as store:
        run_tasks(tasks, executor=ExecutorSettings(workers=2), results=store)
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


def finished(folder):
    """Times of finished tasks by key."""
    try:
        with Store.read(folder) as store:
            return {result.key: result.finished for result in store.results()}
    except InvalidInputError:
        return {}  # not created yet


def test_killed_runs_end_like_an_undisturbed_one(start, tmp_path):
    folder, gate = tmp_path / "results", Gate(tmp_path / "gate")
    chance = random.Random(5)
    times = {}
    for _ in range(2):
        # The others wait, so the run does not end before it is killed.
        gate.admit(3)
        process = start(folder, gate)
        aim = len(times) + chance.randrange(1, 4)
        assert eventually(lambda aim=aim: len(finished(folder)) >= aim)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert children
        assert eventually(lambda children=children: none_runs(children))
        times = finished(folder)
    gate.open()
    last = start(folder, gate)
    _, err = last.communicate()
    assert (last.returncode, err) == (0, "")
    assert times.items() <= finished(folder).items()
    expected, _, _ = run([call(actions.numbers, seed, key=f"{seed:032x}") for seed in SEEDS])
    with Store.read(folder) as store:
        assert {one.key: json.dumps(one.value) for one in store.results()} == bytes_of(expected)
        assert store.damages() == []


def test_ctrl_c_ends_all_processes_with_one_traceback(start, tmp_path):
    folder, gate = tmp_path / "results", Gate(tmp_path / "gate")
    gate.admit(1)
    process = start(folder, gate)
    assert eventually(lambda: finished(folder) and gate.count_waiting() >= 2)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate()
    assert process.returncode in (1, -signal.SIGINT)
    assert out == ""
    assert err.count("Traceback") == 1
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert eventually(lambda: none_runs(children))
    assert len(finished(folder)) == 1
