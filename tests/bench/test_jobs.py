"""Keys of jobs: equal work has an equal key, changed work another one."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from vuskit.bench import (
    Run,
    load_plan,
    run_plan,
)
from vuskit.bench.expand import expand_plan
from vuskit.bench.jobs import Kind
from vuskit.engine import (
    Status,
)
from vuskit.engine.run import InProcessExecutor
from vuskit.errors import ChangedInputError, InvalidInputError
from vuskit.store import import_object
from vuskit.store.store import Store

DETECTOR = """
from edited_helper import scaled
from edited_registry import OTHERS

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
    found = OTHERS["h"](found)
    return globals()["hidden"](found) ** Base.__subclasses__()[0].power
"""
FILES = {
    "edited_detector": DETECTOR,
    "edited_helper": "FACTOR = 2\ndef scaled(values):\n    return FACTOR * values\n",
    "edited_lazily": "OFFSET = 0\n",
    "edited_registry": "OTHERS = {}\nimport edited_handlers\n",
    "edited_handlers": (
        "import edited_registry\ndef h(values):\n    return 1 * values\n"
        "edited_registry.OTHERS.update(h=h)\n"
    ),
    "other_detector": "def f(values):\n    return values\n",
}
# Each edit has the same size and happens within a second.
EDITS = [
    ("edited_detector", "values + 1", "values + 2"),  # reached through a registry
    ("edited_detector", "LIMIT = 1", "LIMIT = 2"),  # set by a function that runs on import
    ("edited_detector", "a=1", "a=3"),  # filled by a call
    ("edited_detector", "1 * values", "4 * values"),  # reached through globals()
    ("edited_detector", "power = 1", "power = 3"),  # reached through __subclasses__()
    ("edited_handlers", "1 * values", "7 * values"),  # through a registry in another module
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


def keys(workshop, **changes):
    with Store.read_or_empty(workshop.folder) as store:
        jobs = expand_plan(workshop.write(**changes).plan(), store).jobs
        return {kind: {job.key for job in jobs if job.kind is kind} for kind in Kind}


TWO = '[[series]]\nfamily = "ecg"\nn = {n}\nn_anomalies = 3\nseed = [1, 2]'


@pytest.mark.parametrize(
    "change",
    [
        {"top": "seeds = [1]"},
        {"detectors": ['name = "misbehaving:fine"\nfactor = 2.0']},
        {"series": TWO.format(n=1501)},
    ],
)
def test_what_decides_the_scores_is_in_their_keys_and_in_those_of_evaluations(workshop, change):
    before, after = keys(workshop), keys(workshop, **change)
    for kind in (Kind.SCORE, Kind.EVALUATE):
        assert len(before[kind]) == len(after[kind]) == 2
        assert not before[kind] & after[kind]


def test_settings_and_measures_are_in_the_keys_of_evaluations_only(workshop):
    texts = ('["auc_pr"]\nbuffer = 20', '["auc_pr"]\nbuffer = 30', '["vus_pr"]\nbuffer = 30',
                 '[{name = "f_score", beta = 2}]', '["f_score"]',
                 '["f_score"]\ntrain_length = 5')  # fmt: skip
    plans = [f"[[evaluate]]\nmeasures = {text}" for text in texts]
    found = [keys(workshop), *(keys(workshop, evaluate=plan) for plan in plans)]
    assert len({key for one in found for key in one[Kind.EVALUATE]}) == 2 * len(found)
    assert len({key for one in found for key in one[Kind.SCORE]}) == 2


def test_names_and_defaults_are_not_in_the_keys(workshop):
    labeled = keys(workshop, detectors=['name = "misbehaving:fine"\nlabel = "other"'])
    assert labeled == keys(workshop)
    default = keys(workshop, detectors=['name = "lof"'])
    assert default == keys(workshop, detectors=['name = "lof"\nwindow = "period"'])
    assert default != keys(workshop, detectors=['name = "lof"\nwindow = 30'])


def test_labels_and_names_of_files_are_not_in_the_keys_of_scores(workshop):
    data = workshop.base / "data"
    data.mkdir()
    found = []
    for name, first in (("a", 20), ("b", 20), ("b", 30)):
        for path in data.iterdir():
            path.unlink()
        rows = [f"{i % 7},{int(first <= i < first + 5)}" for i in range(60)]
        (data / f"{name}.csv").write_text("\n".join(["value,label", *rows]))
        found.append(keys(workshop, series='[[series]]\nfolder = "data"'))
    assert found[0] == found[1]
    assert found[1][Kind.SCORE] == found[2][Kind.SCORE]
    assert not found[1][Kind.EVALUATE] & found[2][Kind.EVALUATE]


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
