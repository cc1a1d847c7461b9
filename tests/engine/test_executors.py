"""One suite for every executor: tasks that behave and tasks that do not."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from functools import partial

import distributed
import psutil
import pytest
from dask_cluster import address_in, alive, kill_tree, scheduler, start_worker
from engine import actions
from engine.actions import Coded, ReadFile, call
from waiting import Gate, eventually

import vuskit
from vuskit import InvalidInputError
from vuskit.engine import (
    ExecutorSettings,
    Limits,
    MemoryResults,
    Status,
    Task,
    _dask,
    make_executor,
    run_tasks,
)
from vuskit.engine._dask import DaskExecutor
from vuskit.engine._pool import PackedTask, Pool
from vuskit.engine._process import BROKEN_EXIT
from vuskit.engine.run import InProcessExecutor, LocalExecutor
from vuskit.engine.tasks import UNLIMITED

# Generous: the machine may be busy. Only an action that sleeps forever meets a short limit.
LIMITS = Limits(seconds=300.0, memory=400_000_000)
SHORT = Limits(seconds=2.0)
ANY = [1, 2]


@pytest.fixture(params=["local", "dask"])
def make(request, tmp_path):
    """Function that makes an executor with one worker process per thread."""
    if request.param == "local":
        return lambda limits, workers=1: LocalExecutor(
            workers=workers, limits=limits, scratch=tmp_path / "scratch"
        )
    file = request.getfixturevalue("cluster")
    return lambda limits, workers=1: DaskExecutor(address=address_in(file), limits=limits)


def outcomes_of(tasks, **options):
    """Outcomes of saved tasks by key, in the order of the tasks."""
    results = MemoryResults()
    run_tasks(tasks, results=results, **options)
    return {task.key: results.outcomes[task.key] for task in tasks if results.get(task.key)}


def test_every_failure_has_its_status_and_costs_its_task_only(make, tmp_path):
    tasks = [
        call(function)
        for function in (
            actions.allocates,
            actions.raises,
            actions.interrupts,
            actions.segfaults,
            actions.killed,
            actions.exits,
            actions.returns_what_cannot_be_pickled,
            actions.skips,
            actions.prints,
            actions.counts_threads,
            actions.receives_interrupts,
        )
    ]
    lock = Task("lock", "not picklable", lambda: actions.Call(threading.Lock().acquire))
    with make(LIMITS, 2) as executor:
        found = outcomes_of([*tasks, lock, call(actions.numbers, 1)], executor=executor)
    assert executor.running == ()
    assert {key: str(outcome.status) for key, outcome in found.items()} == {
        "allocates": "OOM",
        "raises": "ERROR",
        "interrupts": "ERROR",
        "segfaults": "ERROR",
        "killed": "KILLED",
        "exits": "ERROR",
        "returns_what_cannot_be_pickled": "ERROR",
        "skips": "SKIPPED",
        "prints": "OK",
        "counts_threads": "OK",
        "receives_interrupts": "OK",
        "lock": "ERROR",
        "numbers-1": "OK",
    }
    assert "Unable to allocate" in found["allocates"].message
    assert "in allocates" in found["allocates"].traceback
    assert found["raises"].message == "RuntimeError: this action does not work"
    assert found["raises"].error_type == "RuntimeError"
    assert "in raises" in found["raises"].traceback
    assert found["segfaults"].message == "the worker process died of signal 11 (SIGSEGV)"
    assert "in segfaults" in found["segfaults"].traceback
    assert found["killed"].message == (
        "the worker process was killed from outside by signal 9 (SIGKILL), 3 times"
    )
    assert found["exits"].message == "SystemExit: 3"
    assert "could not send its result" in found["returns_what_cannot_be_pickled"].message
    assert "cannot pickle" in found["lock"].message
    assert found["skips"].message == "there is nothing to do"
    assert found["counts_threads"].value == 1
    assert found["receives_interrupts"].value is False
    assert found["numbers-1"].peak_bytes > 10_000_000
    assert found["numbers-1"].seconds > 0
    assert not (tmp_path / "scratch").exists()


def test_no_task_suffers_from_what_others_did_to_the_process():
    """Each group damages a process that other tasks have used and will use."""
    damaging = (
        actions.changes_directory,
        actions.removes_its_directory,
        actions.changes_signals_and_mask,
        actions.leaks_descriptors,
        actions.leaks_descriptors_and_fails,
        actions.closes_output,
        actions.closes_all_descriptors,
        actions.leaves_a_thread,
        actions.changes_libraries,
        actions.exits_at_once,
        actions.exits_in_a_thread,
    )
    harmless = (
        actions.forks_and_raises,
        actions.leaves_everywhere,
        actions.generator_exit,
        actions.raises_long_text,
        actions.returns_what_leaves,
    )
    tasks = [call(actions.state, key="state")]
    for function in (*damaging, *harmless):
        tasks += [call(function), call(actions.state, key=f"after {function.__name__}")]
    with LocalExecutor(limits=Limits(seconds=300.0)) as executor:
        found = outcomes_of(tasks, executor=executor)
    expected = found.pop("state")
    assert expected.value["children"]
    states = {key: one for key, one in found.items() if key.startswith("after ")}
    assert {key: one.message for key, one in states.items() if one.status is not Status.OK} == {}
    assert {key for key, one in states.items() if one.value != expected.value} == set()
    messages = {
        key: outcome.message
        for key, outcome in found.items()
        if outcome.status is Status.ERROR and key not in states
    }
    assert messages.pop("raises_long_text").startswith("ValueError: first \\ud800\\x00 xxx")
    assert messages.pop("leaks_descriptors_and_fails").startswith("OSError: [Errno 24]")
    assert messages == {
        "closes_all_descriptors": "the task closed the connection to its worker",
        "exits_at_once": "the worker process ended with exit code 0",
        "exits_in_a_thread": "the worker process ended with exit code 0",
        "generator_exit": "GeneratorExit: ",
        "returns_what_leaves": "the result of the worker could not be loaded: SystemExit: 3",
    }
    assert found["leaves_everywhere"].value == "still here"
    assert found["forks_and_raises"].value == BROKEN_EXIT


def test_seeds_end_with_their_task():
    tasks = [call(actions.seeds), call(actions.draws, key="first")]
    tasks += [call(actions.seeds, key="seeds again"), call(actions.draws, key="second")]
    with LocalExecutor(workers=1) as executor:
        found = outcomes_of(tasks, executor=executor)
    assert not {*found["first"].value} & {*found["second"].value}


def test_tasks_are_repeated_in_a_new_process(make, tmp_path):
    tasks = [
        call(actions.remembers),
        call(actions.stale_unless_new),
        call(actions.stale),
        call(actions.remembers, key="again"),
        call(actions.crashes_after_others),
        call(actions.hoards),
        call(actions.needs_memory),
    ]
    results = MemoryResults()
    with make(LIMITS) as executor:
        progress = run_tasks(tasks, results=results, executor=executor, at_most=1)
    assert progress.not_computed == ("1 job was not computed: never good enough",)
    found = results.outcomes
    assert set(found) == {task.key for task in tasks} - {"stale"}
    assert {key: one.message for key, one in found.items() if one.status is not Status.OK} == {}


def test_processes_with_other_code_of_a_group_are_replaced(make):
    with make(UNLIMITED) as executor:
        pids = [
            outcomes_of([Task(key, key, partial(Coded, code))], executor=executor)[key].value
            for key, code in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("e", "1"))
        ]
    # A Dask cluster has one process per worker.
    if isinstance(executor, LocalExecutor):
        assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]
    assert not {pids[0], pids[1]} & {pids[2], pids[3]}
    assert pids[4] not in pids[:4]


def test_killed_task_is_repeated(make, tmp_path):
    note = tmp_path / "pid"
    killer = threading.Thread(
        target=lambda: (
            eventually(lambda: note.exists() and note.read_text())
            and os.kill(int(note.read_text()), signal.SIGTERM)
        )
    )
    killer.start()
    with make(UNLIMITED) as executor:
        (outcome,) = outcomes_of(
            [call(actions.waits_to_be_killed, note)], executor=executor
        ).values()
    killer.join()
    assert (outcome.status, outcome.value) == (Status.OK, "repeated")


def test_output_is_cut_and_its_end_kept(make):
    with make(UNLIMITED) as executor:
        (outcome,) = outcomes_of([call(actions.prints_much)], executor=executor).values()
    assert outcome.message == "the worker process ended with exit code 3"
    first, _, kept = outcome.traceback.partition("\n")
    # What is cut depends on when the file was looked at.
    assert re.fullmatch(r"\[… at least \d\d,\d{3},\d{3} bytes of output left out …\]", first)
    assert len(kept) < 20_000
    assert outcome.traceback.endswith("last words \\udcff")


def test_limits_do_not_depend_on_the_system_clock(monkeypatch):
    jumps = iter(range(0, 10**12, 10**5))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    with LocalExecutor(limits=Limits(seconds=300.0)) as executor:
        (outcome,) = outcomes_of([call(time.sleep, 0.5)], executor=executor).values()
    assert outcome.status is Status.OK


def test_task_over_its_time_is_killed_and_its_stack_kept(make, tmp_path):
    with make(SHORT) as executor:
        (outcome,) = outcomes_of([call(actions.sleeps)], executor=executor).values()
    assert (outcome.status, outcome.message) == (Status.TIMEOUT, "took more than 2 s")
    assert "in sleeps" in outcome.traceback
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize("function", [actions.stays_in_compiled_code, actions.disarms_the_limit])
def test_no_task_escapes_its_time_limit(function):
    with LocalExecutor(limits=SHORT) as executor:
        found = outcomes_of([call(function), call(actions.numbers, 1)], executor=executor)
    outcome = found[function.__name__]
    assert (outcome.status, outcome.message) == (Status.TIMEOUT, "took more than 2 s")
    assert found["numbers-1"].status is Status.OK


def test_processes_of_a_task_end_with_its_time(tmp_path):
    note = tmp_path / "children"
    with LocalExecutor(limits=SHORT) as executor:
        (outcome,) = outcomes_of([call(actions.has_children, note)], executor=executor).values()
        assert outcome.status is Status.TIMEOUT
        children = [int(pid) for pid in note.read_text().split()]
        assert len(children) == 2
        assert eventually(lambda: not any(map(alive, children)))


def test_warm_up_does_not_count_as_time_of_a_task(make):
    tasks = [Task(f"compiles-{number}", "", actions.Compiles) for number in ANY]
    with make(Limits(seconds=2.0)) as executor:
        found = outcomes_of(tasks, executor=executor, at_most=1)
    assert {outcome.message for outcome in found.values()} == {None}
    assert [str(outcome.status) for outcome in found.values()] == ["OK"] * 2
    warmed = [outcome.warm_up_seconds for outcome in found.values()]
    assert max(filter(None, warmed)) >= 2.5


def test_warm_up_happens_once_per_process():
    with LocalExecutor() as executor:
        found = outcomes_of([call(actions.loads, number) for number in ANY], executor=executor)
    assert [outcome.warm_up_seconds is not None for outcome in found.values()] == [True, False]


def test_failing_warm_up_costs_its_time_only():
    functions = (
        actions.sleeps_when_warmed_up,
        actions.crashes_when_warmed_up,
        actions.raises_when_warmed_up,
    )
    tasks = [call(function, number) for function in functions for number in ANY]
    with LocalExecutor(limits=Limits(seconds=300.0, warm_up_seconds=1.0)) as executor:
        found = outcomes_of(tasks, executor=executor)
    assert [str(outcome.status) for outcome in found.values()] == ["OK"] * 6
    slept = [outcome.warm_up_seconds for key, outcome in found.items() if "sleeps" in key]
    assert slept == [1.0, None]  # it is not tried again


def test_worker_processes_end_with_their_executor(make):
    with make(UNLIMITED) as executor:
        found = outcomes_of([call(actions.numbers, seed) for seed in ANY], executor=executor)
        workers = {int(outcome.worker.rpartition(":")[2]) for outcome in found.values()}
        assert os.getpid() not in workers
    assert eventually(lambda: not any(map(alive, workers)))


def test_ctrl_c_while_workers_end_leaves_no_process(monkeypatch):
    executor = LocalExecutor(workers=2)
    found = outcomes_of([call(actions.numbers, number) for number in ANY], executor=executor)
    workers = {int(outcome.worker.rpartition(":")[2]) for outcome in found.values()}
    presses = iter([KeyboardInterrupt])
    process = type(executor._pool._processes[0].process)
    join = process.join

    def interrupted(self, timeout=None):
        for press in presses:
            raise press
        join(self, timeout)

    monkeypatch.setattr(process, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        executor.close(kill=False)
    assert not any(map(alive, workers))


def test_thread_of_an_earlier_task_that_ends_the_process(tmp_path):
    """The thread waits, so the process is used again."""
    note = tmp_path / "note"
    tasks = [call(actions.leaves_an_exiting_thread, note), call(actions.waits_for_exit, note)]
    with LocalExecutor(limits=Limits(seconds=300.0)) as executor:
        found = outcomes_of(tasks, executor=executor)
    assert {key: one.message for key, one in found.items()} == dict.fromkeys(found)
    assert [one.value for one in found.values()] == [None, "repeated"]


def test_worker_that_dies_idle_is_replaced(make):
    with make(UNLIMITED) as executor:
        first = outcomes_of([call(actions.numbers, 1)], executor=executor)
        worker = int(first["numbers-1"].worker.rpartition(":")[2])
        os.kill(worker, signal.SIGKILL)
        assert eventually(lambda: not alive(worker))
        found = outcomes_of([call(actions.numbers, seed) for seed in ANY], executor=executor)
    assert [str(outcome.status) for outcome in found.values()] == ["OK"] * 2
    assert str(worker) not in {outcome.worker.rpartition(":")[2] for outcome in found.values()}


def test_resident_memory_is_limited():
    with LocalExecutor(limits=LIMITS) as executor:
        (outcome,) = outcomes_of([call(actions.fills_shared_memory)], executor=executor).values()
    assert (str(outcome.status), outcome.message) == ("OOM", "used more memory than allowed")


def test_memory_limit_below_the_libraries_is_an_outcome():
    with LocalExecutor(limits=Limits(seconds=60.0, memory=20_000_000)) as executor:
        (outcome,) = outcomes_of([call(actions.numbers, 1)], executor=executor).values()
    assert outcome.status.failed


def test_inputs_travel_to_a_cluster_only(make, tmp_path, request):
    (tmp_path / "input").write_text("text")
    tasks = [Task("there", "", lambda: ReadFile(tmp_path / "input"))]
    tasks.append(Task("missing", "", lambda: ReadFile(tmp_path / "nothing")))
    with make(UNLIMITED) as executor:
        found = outcomes_of(tasks, executor=executor)
    dask = "dask" in request.node.name
    assert found["there"].value == ("loaded: text" if dask else "text")
    assert found["missing"].message.startswith("FileNotFoundError: ")


def test_tasks_in_this_process():
    executor = InProcessExecutor()
    functions = (
        actions.raises,
        actions.exits,
        actions.interrupts,
        actions.skips,
        actions.counts_threads,
    )
    found = outcomes_of(
        [*map(call, functions), *(call(actions.loads, number) for number in ANY)],
        executor=executor,
    )
    statuses = [str(outcome.status) for outcome in found.values()]
    assert statuses == ["ERROR", "ERROR", "ERROR", "SKIPPED", "OK", "OK", "OK"]
    assert found["interrupts"].message == "KeyboardInterrupt: "
    assert found["counts_threads"].value == 1
    assert found["loads-1"].warm_up_seconds >= 0.2
    assert found["loads-2"].warm_up_seconds is None
    with pytest.raises(KeyboardInterrupt), executor:
        outcomes_of([call(actions.swallows_ctrl_c)], executor=executor)
    assert executor.running == ()


def test_dask_starts_a_local_cluster():
    settings = ExecutorSettings(kind="dask", workers=1)
    with make_executor(settings) as executor:
        assert executor._cluster.dashboard_link.startswith("http://127.0.0.1:")
        found = outcomes_of([call(actions.numbers, seed) for seed in ANY], executor=executor)
    assert [str(outcome.status) for outcome in found.values()] == ["OK"] * 2


def library(tmp_path, version):
    """Variables of a process in which a library seems to be installed."""
    folder = tmp_path / f"installed-{version}"
    information = folder / f"smalllib-{version}.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: smalllib\nVersion: {version}\n"
    )
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def parents(outcome):
    return {one.pid for one in psutil.Process(int(outcome.worker.rpartition(":")[2])).parents()}


def test_dask_workers_with_another_core_get_no_tasks():
    with contextlib.ExitStack() as stack:
        file, _ = stack.enter_context(scheduler(0))
        worker = start_worker(file, VUSKIT_CORE="numpy")
        stack.callback(worker.wait)
        stack.callback(worker.terminate)
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1)
        with (
            pytest.warns(RuntimeWarning, match="has core numpy instead of native and gets no"),
            pytest.raises(InvalidInputError, match="has core numpy instead of native"),
        ):
            DaskExecutor(address=file, versions={"core": "native"})
        with DaskExecutor(address=file, versions={"core": "numpy"}) as executor:
            assert executor.capacity == 2


def test_dask_workers_with_other_versions_get_no_tasks(tmp_path):
    expected = {"smalllib": "2.0", "vuskit": vuskit.__version__}
    gate, ended, ready = Gate(tmp_path / "gate"), [], []
    gate.admit(2)
    tasks = [call(actions.numbers, seed, gate.folder) for seed in range(6)]
    with contextlib.ExitStack() as stack:
        file, _ = stack.enter_context(scheduler(0))

        def join(version):
            worker = start_worker(file, **library(tmp_path, version))
            stack.callback(worker.wait)
            stack.callback(worker.terminate)
            return worker

        old = join("1.0")
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1)
        message = r"worker tcp://\S+ has smalllib 1\.0 instead of 2\.0"
        with (
            pytest.warns(RuntimeWarning, match=f"{message} and gets no tasks"),
            pytest.raises(InvalidInputError, match=f"must have a worker .* got none: {message}"),
        ):
            DaskExecutor(address=file, versions=expected)
        right = join("2.0")
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(2)
        with pytest.warns(RuntimeWarning, match=message):
            executor = DaskExecutor(address=file, versions=expected)
        with executor:
            assert executor.capacity == 2

            def check_worker(task, outcome):
                ended.append(outcome)
                if len(ended) <= 2:
                    assert right.pid in parents(outcome)
                    assert old.pid not in parents(outcome)

            def replace_worker():
                """Kill it while it works on a task."""
                ready.append(eventually(lambda: len(ended) == 2 and gate.count_waiting() == 1))
                kill_tree(right.pid)
                join("1.0")
                join("2.0")
                gate.open()

            def run():
                outcomes = outcomes_of(tasks, executor=executor, on_outcome=check_worker)
                assert eventually(lambda: executor.capacity and len(executor._unfit) == 2)
                return outcomes

            replacer = threading.Thread(target=replace_worker)
            replacer.start()
            with pytest.warns(RuntimeWarning, match=message):
                found = run()
            replacer.join()
    assert ready == [True]
    assert [str(outcome.status) for outcome in found.values()] == ["OK"] * 6


def test_address_without_scheduler(monkeypatch):
    monkeypatch.setattr(_dask, "_CONNECT_SECONDS", 1)
    with pytest.raises(
        InvalidInputError, match=r"`executor\.address` must be a reachable Dask scheduler"
    ):
        DaskExecutor(address="tcp://127.0.0.1:9")


def test_settings_decide_the_executor():
    with make_executor(ExecutorSettings()) as executor:
        assert isinstance(executor, InProcessExecutor)
    for settings, limits in [
        (ExecutorSettings(workers=2), UNLIMITED),
        (ExecutorSettings(), SHORT),
        (ExecutorSettings(), LIMITS),
    ]:
        with make_executor(settings, limits) as executor:
            assert isinstance(executor, LocalExecutor)
            assert executor.capacity == settings.workers


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "dsk"}, "`kind` must be one of 'local', 'dask', got 'dsk'; did you mean 'dask'"),
        ({"workers": 0}, "`workers` must be an integer >= 1, got 0"),
        ({"workers": 1.5}, "`workers` must be an integer >= 1, got 1.5"),
        ({"address": "tcp://a:1"}, "`address` must be omitted for local processes"),
    ],
)
def test_wrong_settings(wrong, message):
    with pytest.raises(InvalidInputError) as error:
        ExecutorSettings(**wrong)
    assert message in str(error.value)


@pytest.mark.parametrize("idle_seconds", [1, 1e4])
def test_processes_of_an_abandoned_run_are_closed(monkeypatch, tmp_path, idle_seconds):
    """The main process of another run on the same Dask worker was killed."""
    pool = Pool(1, UNLIMITED, tmp_path / "scratch")
    worker = int(pool.run(PackedTask.of(call(actions.numbers, 1))).worker.rpartition(":")[2])
    pool._last_used -= idle_seconds
    monkeypatch.setattr(_dask, "_pools", {("abandoned", 1): pool})
    _dask._close_abandoned("abandoned")
    assert alive(worker)
    _dask._close_abandoned("mine")
    assert alive(worker) is (idle_seconds == 1)
    pool.close(kill=True)
