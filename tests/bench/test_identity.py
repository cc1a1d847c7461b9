"""Keys: equal work has an equal key, changed work another one."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

from vuskit.bench import Kind, Run, Store, run_plan
from vuskit.bench.expand import expand_plan
from vuskit.bench.identity import import_object
from vuskit.bench.jobs import JobAction
from vuskit.engine import InProcessExecutor, Status, run_action
from vuskit.errors import InvalidInputError

DETECTOR = """
from edited_helper import scaled
from edited_helper import FACTOR as factor
def f(values):
    return scaled(values) + factor
def g(values):
    return values
"""
HELPER = "FACTOR = 2\ndef scaled(values):\n    return 3 * values\n"


@pytest.fixture
def edited(workshop):
    """A plan with two detectors of one module, which uses another module."""
    (workshop.base / "edited_detector.py").write_text(DETECTOR)
    (workshop.base / "edited_helper.py").write_text(HELPER)
    names = ['name = "edited_detector:f"\nlabel = "F"', 'name = "edited_detector:g"\nlabel = "G"']
    yield workshop.write(detectors=names)
    for name in ("edited_detector", "edited_helper"):
        sys.modules.pop(name, None)


def edit(workshop, name, old, new):
    path = workshop.base / f"{name}.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def scores_of(workshop, label):
    run = Run(workshop.folder)
    return run.scores(run.series()[0])[label]


def ran(done):
    return sorted({job.label for job, _ in done if job.kind is Kind.SCORE})


def test_a_module_edited_between_two_runs_of_a_process_is_reloaded(edited):
    """Notebooks: modules are imported once, and the plan may be the same object."""
    plan = edited.plan()

    def run():
        done = []
        run_plan(plan, executor=InProcessExecutor(), observer=lambda _, ended: done.extend(ended))
        assert {outcome.status for _, outcome in done} <= {Status.OK}
        return ran(done)

    assert run() == ["F", "G"]
    values = scores_of(edited, "G")
    assert np.allclose(scores_of(edited, "F"), 3 * values + 2)
    edit(edited, "edited_detector", "return values", "return values  # unchanged")
    assert run() == []
    edit(edited, "edited_helper", "3 * values", "4 * values")  # same size, same second
    assert run() == ["F"]
    assert np.allclose(scores_of(edited, "F"), 4 * values + 2)
    edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 5")
    assert run() == ["F"]
    assert np.allclose(scores_of(edited, "F"), 4 * values + 5)
    edit(edited, "edited_detector", "    return values  #", "    return -values  #")
    assert run() == ["G"]
    edit(edited, "edited_helper", "FACTOR = 5", "FACTOR = 2")
    edit(edited, "edited_helper", "4 * values", "3 * values")
    assert run() == []  # the results of the first run are still there
    assert np.allclose(scores_of(edited, "F"), 3 * values + 2)


def test_a_module_that_cannot_be_reloaded_is_reported(edited):
    plan = edited.plan()
    edit(edited, "edited_helper", "return 3", "return (3")
    with pytest.raises(InvalidInputError, match=r"edited_helper\.py"):
        run_plan(plan, executor=InProcessExecutor())
    edit(edited, "edited_helper", "return (3", "return 7")
    (edited.base / "edited_helper.py").write_text("1 / 0")
    with pytest.raises(InvalidInputError, match=r"ZeroDivisionError.*edited_helper\.py, line 1"):
        run_plan(plan, executor=InProcessExecutor())
    (edited.base / "edited_helper.py").write_text(HELPER)
    assert run_plan(plan, executor=InProcessExecutor()).progress.failed == 0


def test_a_module_edited_before_the_plan_is_read_is_reloaded(edited, monkeypatch):
    monkeypatch.syspath_prepend(str(edited.base))
    module = importlib.import_module("edited_detector")  # as in the first cell of a notebook
    edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 6")
    edit(edited, "edited_helper", "3 * values", "4 * values")
    assert ran(edited.run()) == ["F", "G"]
    assert np.allclose(scores_of(edited, "F"), 4 * scores_of(edited, "G") + 6)
    assert module.f(1) == 10


def test_modules_of_the_same_name_beside_two_plans(edited, tmp_path_factory):
    assert ran(edited.run()) == ["F", "G"]
    other = type(edited)(tmp_path_factory.mktemp("other"))
    (other.base / "edited_detector.py").write_text(DETECTOR)
    (other.base / "edited_helper.py").write_text(HELPER.replace("3", "30"))
    shutil.copy(edited.path, other.path)
    assert ran(other.run()) == ["F", "G"]
    assert np.allclose(scores_of(other, "F"), 30 * scores_of(other, "G") + 2)
    assert edited.run() == []
    assert np.allclose(scores_of(edited, "F"), 3 * scores_of(edited, "G") + 2)


def test_a_process_with_other_code_refuses_a_job(edited):
    with Store(edited.folder) as store:
        jobs = expand_plan(edited.plan(), store).jobs
    first, second = (next(job for job in jobs if job.label == name) for name in "FG")
    actions = [JobAction(job, base=edited.base, expected=job.code_digests()) for job in jobs]
    assert {run_action(action).status for action in actions} == {Status.OK}
    edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 5")
    refused = run_action(JobAction(first, base=edited.base, expected=first.code_digests()))
    assert refused.error_type == "StaleWorkerError"
    assert "`edited_detector:f` must not change during a run" in refused.message
    assert "edited_helper.FACTOR" in refused.message
    assert str(edited.base) in refused.message
    other = run_action(JobAction(second, base=edited.base, expected=second.code_digests()))
    assert other.status is Status.OK  # it does not use the constant
    edit(edited, "edited_helper", "FACTOR = 5", "FACTOR = 2")
    again = run_action(JobAction(first, base=edited.base, expected=first.code_digests()))
    assert again.status is Status.OK


def test_imports_inside_functions_find_modules_beside_the_plan(workshop):
    (workshop.base / "lazy_detector.py").write_text(
        "def f(values):\n    import lazy_helper\n    return lazy_helper.FACTOR * values\n"
    )
    helper = workshop.base / "lazy_helper.py"
    helper.write_text("FACTOR = 2\n")
    workshop.write(detectors=['name = "lazy_detector:f"\nlabel = "F"'])
    try:
        assert {str(outcome.status) for _, outcome in workshop.run()} == {"OK"}
        before = scores_of(workshop, "F")
        assert workshop.run() == []
        helper.write_text("FACTOR = 6\n")
        assert ran(workshop.run()) == ["F"]
        assert np.allclose(scores_of(workshop, "F"), 3 * before)
    finally:
        for name in ("lazy_detector", "lazy_helper"):
            sys.modules.pop(name, None)


def test_the_program_itself_cannot_be_reloaded(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "from pathlib import Path\n"
        "from vuskit.bench.identity import import_object\n"
        "def f(values):\n    return values\n"
        "assert import_object('__main__:f') is f\n"
        "path = Path(__file__)\n"
        "path.write_text(path.read_text().replace('return values', 'return 2 * values'))\n"
        "import_object('__main__:f')\n"
    )
    command = [sys.executable, str(script)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "`__main__:f` must match the code in" in output
    assert "restart the program" in output


@pytest.mark.parametrize(
    "change",
    [
        {"top": "seeds = [1]"},
        {"detectors": ['name = "misbehaving:fine"\nfactor = 2.0']},
        {"series": '[[series]]\nfamily = "ecg"\nn = 1501\nn_anomalies = 3\nseed = [1, 2]'},
    ],
)
def test_what_decides_the_scores_is_in_the_key(workshop, change):
    with Store(workshop.folder) as store:
        before = {job.key for job in expand_plan(workshop.write().plan(), store).jobs}
        after = {job.key for job in expand_plan(workshop.write(**change).plan(), store).jobs}
    assert len(before) == len(after) == 2
    assert not before & after


def test_labels_are_not_in_the_key(workshop):
    with Store(workshop.folder) as store:
        before = {job.key for job in expand_plan(workshop.write().plan(), store).jobs}
        named = workshop.write(detectors=['name = "misbehaving:fine"\nlabel = "other"'])
        assert {job.key for job in expand_plan(named.plan(), store).jobs} == before


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_changed_modules_of_another_folder_do_not_matter(tmp_path, change):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name in ((first, "identity_one"), (second, "identity_two")):
        folder.mkdir()
        (folder / f"{name}.py").write_text("def number():\n    return 1\n")
    assert import_object("identity_one:number", first)() == 1
    if change == "remove":
        (first / "identity_one.py").unlink()
    else:
        (first / "identity_one.py").write_text("def number():\n    return 2\n")
    assert import_object("identity_two:number", second)() == 1
    if change == "edit":
        assert import_object("identity_one:number", first)() == 2
