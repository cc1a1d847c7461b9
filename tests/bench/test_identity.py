"""Keys: equal work has an equal key, changed work another one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from vuskit.bench import Kind, Run, Store, load_plan, run_plan
from vuskit.bench.expand import expand_plan
from vuskit.store.identity import import_object
from vuskit.bench.jobs import JobAction
from vuskit.engine import InProcessExecutor, Status, run_action
from vuskit.errors import ChangedInputError, InvalidInputError

DETECTOR = """
import os
from edited_helper import scaled

R = {}
def register(function):
    R[function.__name__] = function
@register
def g(values):
    return values + 1

def configure():
    global LIMIT
    LIMIT = 1
configure()

TABLE = {}
TABLE.update(a=1)

class Base:
    pass
class Child(Base):
    power = 1

def hidden(values):
    return 1 * values

def f(values):
    import edited_lazily
    found = R["g"](scaled(values)) * LIMIT * TABLE["a"] + edited_lazily.OFFSET
    return globals()["hidden"](found) ** Base.__subclasses__()[0].power
"""
FILES = {
    "edited_detector": DETECTOR,
    "edited_helper": "FACTOR = 2\ndef scaled(values):\n    return FACTOR * values\n",
    "edited_lazily": "OFFSET = 0\n",
    "other_detector": "def f(values):\n    return values\n",
}
# Each edit has the same size and happens within a second.
EDITS = [
    ("edited_detector", "values + 1", "values + 2"),  # reached through a registry
    ("edited_detector", "LIMIT = 1", "LIMIT = 2"),  # set by a function that runs on import
    ("edited_detector", "a=1", "a=3"),  # filled by a call
    ("edited_detector", "1 * values", "4 * values"),  # reached through globals()
    ("edited_detector", "power = 1", "power = 3"),  # reached through __subclasses__()
    ("edited_helper", "FACTOR = 2", "FACTOR = 5"),
    ("edited_lazily", "OFFSET = 0", "OFFSET = 6"),
]


@pytest.fixture
def edited(workshop):
    """A plan with detectors of two modules, one of which uses other modules."""
    for name, text in FILES.items():
        (workshop.base / f"{name}.py").write_text(text)
    names = ['name = "edited_detector:f"\nlabel = "F"', 'name = "other_detector:f"\nlabel = "G"']
    return workshop.write(detectors=names)


def edit(workshop, name, old, new):
    path = workshop.base / f"{name}.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def scores_of(workshop, label):
    run = Run(workshop.folder)
    return run.scores(run.series()[0])[label]


def ran(done):
    assert {outcome.status for _, outcome in done} <= {Status.OK}
    return sorted({job.label for job, _ in done if job.kind is Kind.SCORE})


def test_each_edit_of_imported_code_runs_again(edited):
    assert ran(edited.run()) == ["F", "G"]
    assert ran(edited.run()) == []
    before = scores_of(edited, "F")
    assert np.allclose(before, 2 * scores_of(edited, "G") + 1)
    for name, old, new in EDITS:
        edit(edited, name, old, new)
        assert ran(edited.run()) == ["F"], (old, new)
        assert not np.allclose(scores_of(edited, "F"), before), (old, new)
        edit(edited, name, new, old)
    (edited.base / "unrelated.py").write_text("import edited_detector")
    assert ran(edited.run()) == []  # the results of the first run are still there
    assert np.allclose(scores_of(edited, "F"), before)


def test_a_moved_folder_matches(edited, tmp_path_factory):
    edited.run()
    other = type(edited)(tmp_path_factory.mktemp("other"))
    shutil.copytree(edited.base, other.base, dirs_exist_ok=True)
    assert ran(other.run()) == []


def test_a_module_edited_between_two_runs_of_a_process_is_refused(edited):
    """Notebooks: modules are imported once, and the plan may be the same object."""
    plan = edited.plan()
    run_plan(plan, executor=InProcessExecutor())
    edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 30")
    message = r"edited_helper\.py changed after it was imported; restart Python"
    for start in (lambda: run_plan(plan), lambda: load_plan(edited.path)):
        with pytest.raises(InvalidInputError, match=message):
            start()
    edit(edited, "edited_helper", "FACTOR = 30", "FACTOR = 2")
    assert run_plan(plan, executor=InProcessExecutor()).progress.failed == 0


def test_a_module_that_cannot_be_imported_is_reported(edited):
    edit(edited, "edited_helper", "return", "return (")
    with pytest.raises(InvalidInputError, match=r"edited_helper\.py"):
        edited.plan()
    (edited.base / "edited_helper.py").write_text("1 / 0")
    with pytest.raises(InvalidInputError, match=r"ZeroDivisionError.*edited_helper\.py, line 1"):
        edited.plan()


def test_modules_of_the_same_name_beside_two_plans_are_refused(edited, tmp_path_factory):
    edited.run()
    other = type(edited)(tmp_path_factory.mktemp("other"))
    for name, text in FILES.items():
        (other.base / f"{name}.py").write_text(text.replace("FACTOR = 2", "FACTOR = 30"))
    shutil.copy(edited.path, other.path)
    with pytest.raises(InvalidInputError, match=r"edited_helper\.py of the same name; restart"):
        load_plan(other.path)
    edited.forget()
    assert ran(other.run()) == ["F", "G"]
    other.forget()
    assert ran(edited.run()) == []


def test_a_process_with_other_code_refuses_a_job(edited):
    with Store(edited.folder) as store:
        jobs = expand_plan(edited.plan(), store).jobs
    first, second = (next(job for job in jobs if job.label == name) for name in "FG")
    expected = {job: job.code_digests() for job in (first, second)}

    def run(job):
        return run_action(JobAction(job, base=edited.base, expected=expected[job]))

    assert run(first).status is run(second).status is Status.OK
    edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 5")
    refused = run(first)  # it cannot load the new code, so another process must
    assert refused.error_type == "StaleWorkerError"
    assert "edited_helper.py changed after it was imported" in refused.message
    edited.forget()
    refused = run(first)
    assert refused.error_type == "StaleWorkerError"
    assert "`edited_detector:f` must not change during a run" in refused.message
    assert "a different version of edited_helper;" in refused.message
    assert run(second).status is Status.OK  # it does not import the module
    edit(edited, "edited_helper", "FACTOR = 5", "FACTOR = 2")
    edited.forget()
    assert run(first).status is Status.OK


def test_a_job_of_a_worker_with_other_code_stays_unfinished(edited):
    """Workers start after an edit that the main process does not know."""
    plan = edited.plan()
    began = []

    def edit_then_note(progress, ended):
        if not began:
            edit(edited, "edited_helper", "FACTOR = 2", "FACTOR = 5")
        began.append(progress)

    found = run_plan(replace(plan, detectors=plan.detectors[:1]), observer=edit_then_note)
    assert (found.progress.done, found.progress.failed) == (0, 0)
    assert any("edited_helper" in note for note in Run(edited.folder).status().notes)
    assert ran(edited.run()) == ["F", "G"]


def test_a_program_that_changed_after_its_start_is_refused(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "from pathlib import Path\n"
        "from vuskit.store.identity import import_object\n"
        "def f(values):\n    return values\n"
        "assert import_object('__main__:f') is f\n"
        "path = Path(__file__)\n"
        "path.write_text(path.read_text().replace('return values', 'return 2 * values'))\n"
        "import_object('__main__:f')\n"
    )
    command = [sys.executable, str(script)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "program.py changed after it was imported; restart Python" in output


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
    folders = [tmp_path / name for name in ("first", "second")]
    names = [f"identity_{change}_{count}" for count in range(2)]
    for folder, name in zip(folders, names, strict=True):
        folder.mkdir()
        (folder / f"{name}.py").write_text("def number():\n    return 1\n")
    assert import_object(f"{names[0]}:number", folders[0])() == 1
    path = folders[0] / f"{names[0]}.py"
    path.unlink() if change == "remove" else path.write_text("def number():\n    return 2\n")
    assert import_object(f"{names[1]}:number", folders[1])() == 1
    with pytest.raises(ChangedInputError, match="restart Python"):
        import_object(f"{names[0]}:number", folders[0])
