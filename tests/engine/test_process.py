"""Errors of an action become part of its outcome."""

from __future__ import annotations

import signal
import subprocess
import sys
import types
import weakref

import pytest

from vuskit.engine import (
    Action,
    MemoryResults,
    Task,
    run_tasks,
)
from vuskit.engine._process import pack
from vuskit.engine.run import ExecutorSettings
from vuskit.engine.tasks import outcome_of, run_action, warm_up_action


class UnreadableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Big:
    pass


def test_memory_is_free_before_the_lack_of_it_is_reported():
    held = []

    def fill():
        big = Big()
        held.append(weakref.ref(big))
        raise MemoryError

    outcome = outcome_of(fill)
    assert (str(outcome.status), outcome.message) == ("OOM", "out of memory")
    assert held[0]() is None


def test_errors_without_readable_text():
    class Fails(Action):
        def run(self):
            raise UnreadableError

    outcome = run_action(Fails())
    assert outcome.message == "UnreadableError: (its text could not be read)"


@pytest.mark.parametrize("error", [SystemExit, ValueError])
def test_errors_of_a_warm_up_are_ignored_but_ctrl_c_is_not(error):
    class Fails(Action):
        def run(self):
            """Nothing."""

        def warm_up(self):
            raise error

    class Interrupted(Fails):
        def warm_up(self):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise error from None

    assert warm_up_action(Fails()) >= 0
    with pytest.raises(KeyboardInterrupt):
        warm_up_action(Interrupted())


# -- pickling --------------------------------------------------------------------------------------


HELPER = "def double(number):\n    return 2 * number\n"
STUDY = """
from dataclasses import dataclass
import made_helper
from vuskit.engine import Action

@dataclass(frozen=True)
class Value:
    number: float

@dataclass(frozen=True)
class Double(Action):
    number: float

    def run(self):
        return Value(made_helper.double(self.number))
"""


def load_module(monkeypatch, name, code):
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(code, f"<{name}>", "exec"), module.__dict__)
    return module


@pytest.fixture
def made_study(monkeypatch):
    load_module(monkeypatch, "made_helper", HELPER)
    return load_module(monkeypatch, "made_study", STUDY)


def unpickled_elsewhere(data, then):
    code = f"import pickle, sys; found = pickle.load(sys.stdin.buffer); print({then})"
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_modules_and_what_they_use_are_sent(made_study):
    data = pack(made_study.Double(4.0))
    assert unpickled_elsewhere(data, "found.run()") == "Value(number=8.0)"


def test_modules_of_a_folder_are_sent_to_other_machines_only(tmp_path, monkeypatch):
    (tmp_path / "folder_module.py").write_text("def triple(number):\n    return 3 * number\n")
    monkeypatch.syspath_prepend(tmp_path)
    import folder_module

    assert b"triple" in pack(folder_module.triple)
    assert unpickled_elsewhere(pack(folder_module.triple, portable=True), "found(4)") == "12"
    with pytest.raises(subprocess.CalledProcessError) as error:
        unpickled_elsewhere(pack(folder_module.triple), "found(4)")
    assert b"No module named 'folder_module'" in error.value.stderr


def test_values_of_own_classes_come_back_as_such(made_study):
    task = Task("double", "", lambda: made_study.Double(4.0))
    results = MemoryResults()
    run_tasks([task], results=results, executor=ExecutorSettings(workers=2))
    found = results.outcomes["double"]
    assert found.value == made_study.Value(8.0)
    assert type(found.value) is made_study.Value
