"""Keys, and identity of code: which edits change it, and which do not."""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import vuskit
from vuskit.detectors import Detector
from vuskit.errors import ChangedInputError
from vuskit.store import code_of, identity, key_of
from vuskit.store.identity import note_module, package_digest

# Code that no analysis of names could follow.
MODULES = {
    "subject": '''
import functools
import numpy as np
import package.deep
from registry import R
from constants import *
from setting import LEVEL

def configure():
    global LIMIT
    LIMIT = 10
configure()
TABLE = {}
TABLE.update(a=1)

def by_registry(x):
    return R["g"](x) + LIMIT + TABLE["a"]

def by_globals(x):
    return globals()["hidden"](x)

def hidden(x):
    return x

class Base:
    pass

class Child(Base):
    factor = 3

def by_subclass(x):
    return x * Base.__subclasses__()[0].factor

def lazy(x):
    import lazily
    from without.init import module
    return x + lazily.OTHER

def literal(x):
    import importlib
    return importlib.import_module("literally").OTHER

fixed = functools.partial(hidden, 3)
instance = Child()
''',
    "registry": "R = {}\ndef register(f):\n    R[f.__name__] = f\n    return f\nimport handlers\n",
    "handlers": "from registry import register\n@register\ndef g(x):\n    return x\n",
    "constants": "STARRED = 4\n",
    "setting": "import json\nLEVEL = json.loads('1')\n",
    "lazily": "OTHER = 5\n",
    "literally": "OTHER = 6\n",
    "package/__init__": "from . import side\n",
    "package/deep": "from .side import aside\nfrom . import inner\n",
    "package/side": "def aside(x):\n    return x\n",
    "package/inner/__init__": "from ..other import OTHER\n",
    "package/other": "OTHER = 7\n",
    "without/init/module": "NUMBER = 7\n",
    "unrelated": "NUMBER = 1\n",
}  # fmt: skip
EDITS = [
    ("handlers", "return x", "return 2 * x"),
    ("subject", "LIMIT = 10", "LIMIT = 11"),
    ("subject", "a=1", "a=2"),
    ("subject", "def hidden(x):\n    return x", "def hidden(x):\n    return -x"),
    ("subject", "factor = 3", "factor = 4"),
    ("constants", "STARRED = 4", "STARRED = 5"),
    ("setting", "'1'", "'2'"),
    ("lazily", "OTHER = 5", "OTHER = 6"),
    ("literally", "OTHER = 6", "OTHER = 7"),
    ("package/__init__", "side", "side, other"),
    ("package/side", "return x", "return +x"),
    ("package/other", "OTHER = 7", "OTHER = 8"),
    ("without/init/module", "NUMBER = 7", "NUMBER = 8"),
]


class Project:
    """A folder with local modules; `load` imports them as a new process would."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        path = self.folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, old, new):
        path = self.folder / f"{name}.py"
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def forget(self):
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(self.folder)):
                del sys.modules[name]

    def load(self, name="subject"):
        self.forget()
        importlib.invalidate_caches()
        note_module(name)
        return importlib.import_module(name)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    project = Project(tmp_path / "code")
    for name, text in MODULES.items():
        project.write(name, text)
    yield project
    project.forget()


def test_each_edit_of_imported_code_counts(project):
    before = code_of(project.load().by_registry).parts
    names = {name.removesuffix("/__init__").replace("/", ".") for name in MODULES}
    assert before.keys() == names - {"unrelated"} | {"dist:vuskit"}
    for name, old, new in EDITS:
        project.edit(name, old, new)
        after = code_of(project.load().by_registry).parts
        changed = {one for one in {*before, *after} if before.get(one) != after.get(one)}
        assert changed == {name.removesuffix("/__init__").replace("/", ".")}
        project.write(name, MODULES[name])
    project.edit("unrelated", "1", "2")
    assert code_of(project.load().by_registry).parts == before


def test_every_object_of_a_module_counts_with_its_files(project):
    module = project.load()
    code = code_of(module)
    for name in ("by_globals", "by_subclass", "Child", "lazy"):
        assert code_of(getattr(module, name)) == code
    for name in ("fixed", "instance"):
        assert code_of(getattr(module, name), "subject") == code
        assert code_of(getattr(module, name)).parts.items() > code.parts.items()  # and the state


def test_the_loaded_code_is_that_of_the_file_after_a_quick_edit(project, monkeypatch):
    """Python would load old bytecode: the edit has the same size in the same second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = project.folder / "lazily.py"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    assert project.load("lazily").OTHER == 5
    project.edit("lazily", "5", "9")
    os.utime(path, ns=times)
    project.forget()
    assert importlib.import_module("lazily").OTHER == 5
    assert project.load("lazily").OTHER == 9


PRINT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import subject
from vuskit.store import code_of
things = [subject.by_registry, subject.instance, subject.fixed, lambda x: x]
print(json.dumps([str(code_of(thing)) for thing in things]))
"""


def test_code_is_equal_in_all_processes_and_folders(project, tmp_path):
    shutil.copytree(project.folder, tmp_path / "moved")
    found = set()
    for seed, folder in (("1", project.folder), ("2", tmp_path / "moved")):
        command = [sys.executable, "-c", PRINT, str(folder)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    (versions,) = map(json.loads, found)
    assert len(set(versions)) == 4


def test_a_file_that_changed_after_its_import_is_refused(project):
    module = project.load()
    code_of(module.by_registry)
    project.edit("lazily", "5", "15")  # not imported yet
    code_of(module.by_registry)
    project.edit("package/side", "return x", "return 2 * x")
    with pytest.raises(ChangedInputError, match=r"side\.py changed after it was imported; restart"):
        code_of(module.by_registry)
    with pytest.raises(ChangedInputError, match="restart Python"):
        note_module("subject")
    project.write("package/side", MODULES["package/side"])
    code_of(module.by_registry)
    project.edit("package/side", "return x", "return 2 * x")
    importlib.reload(sys.modules["package.side"])  # as notebooks can do
    code_of(module.by_registry)


def test_a_file_that_changed_before_it_was_noted_is_refused(project, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module = importlib.import_module("subject")
    project.edit("constants", "4", "40")
    with pytest.raises(ChangedInputError, match=r"constants\.py changed"):
        code_of(module.by_registry)


def test_a_module_of_the_same_name_elsewhere_is_refused(project, tmp_path):
    project.load()
    note_module("subject", project.folder)
    shutil.copy(project.folder / "registry.py", tmp_path)
    note_module("subject", tmp_path)
    (tmp_path / "registry.py").write_text("")
    with pytest.raises(ChangedInputError, match=r"registry\.py cannot be imported after .*code"):
        note_module("subject", tmp_path)


def test_parts_of_packages_count_by_version(monkeypatch):
    own = code_of(vuskit).parts
    assert own.keys() == {"dist:vuskit"}
    for thing in (np.sort, np.add, np.ndarray, np):
        found = code_of(thing)
        assert found.parts == {"dist:numpy": np.__version__, **own}
        assert (str(found), found.libraries) == (f"numpy {np.__version__}", ("numpy",))
        assert not found.is_own
    assert str(code_of(json.dumps)).startswith("python 3.")
    state = code_of(functools.partial(np.sort, axis=0)).parts
    assert state.keys() == {"dist:vuskit", "object partial"}
    for editable in (True, False):
        monkeypatch.setattr(identity, "_is_in_library_folder", lambda _, e=editable: not e)
        identity._version_of.cache_clear()
        version = code_of(vuskit.vus_pr).parts["dist:vuskit"]
        assert code_of(Detector).is_own
        assert version == code_of(Detector).parts["dist:vuskit"]
        assert version.startswith(vuskit.__version__)
        assert ("+" in version) == editable
    monkeypatch.undo()
    identity._version_of.cache_clear()


@pytest.mark.parametrize("name", ["a.py", "kernels/core/sweep.c", "kernels/_core.abi3.pyd"])
def test_files_of_the_package_count(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    found = set()
    for content in ("one", "two"):
        path.write_text(content)
        found.add(package_digest.__wrapped__(tmp_path))
    assert len(found) == 2
    path.write_text("two")
    assert package_digest.__wrapped__(tmp_path, ("kernels", "a.py")) not in found


def test_libraries_of_local_code(project):
    assert code_of(project.load().hidden).libraries == ("numpy",)
    project.write("uses", "from sklearn.svm import SVC\nimport subject\n"
                  "def f(x):\n    import pandas.api, nowhere\n    return SVC\n")  # fmt: skip
    found = code_of(project.load("uses").f)
    assert found.libraries == ("numpy", "pandas", "scikit-learn")
    # An update of NumPy discards no results.
    assert [name for name in found.parts if name.startswith("dist:")] == ["dist:vuskit"]


def make(factor):
    def scaled(x, power=factor):
        return factor * x**power

    return scaled


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def test_state_counts():
    versions = [
        str(code_of(thing))
        for value in (1, 2, [1, {"a": (2.5, None)}], np.arange(3))
        for thing in (make(value), Slotted(value), functools.partial(print, value))
    ]
    assert len(set(versions)) == len(versions)
    again = [str(code_of(make(np.arange(3)))) for _ in range(2)]
    assert again == [versions[-3]] * 2


def test_state_that_cannot_be_pickled_is_never_the_same():
    found = [code_of(Slotted(threading.Lock())) for _ in range(2)]
    assert str(found[0]) != str(found[1])


NOTEBOOK = """
import numpy as np
LIMIT = 2
def inner(x):
    return np.sort(x) * LIMIT
def outer(x):
    return inner(x) if len(x) else outer(x)
"""


def in_notebook(text, file):
    """Code of a function without a file, as in a cell."""
    namespace = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), namespace)
    return code_of(namespace["outer"])


def test_functions_without_a_file_count_by_content():
    before = in_notebook(NOTEBOOK, "<cell 1>")
    assert before == in_notebook("\n\n" + NOTEBOOK, "<cell 2>")
    for old, new in (("LIMIT = 2", "LIMIT = 3"), ("np.sort(x)", "np.abs(x)")):
        assert in_notebook(NOTEBOOK.replace(old, new), "<cell 1>") != before


def test_keys_depend_on_everything_and_on_no_order():
    about = {"window": 10, "params": {"b": 1, "a": [None, 2.5]}}
    key = key_of("score", about)
    assert len(key) == 32
    assert key == key_of("score", {"params": {"a": [None, 2.5], "b": 1}, "window": 10})
    others = [
        key_of("import", about),
        key_of("score", about, key),
        key_of("score", about | {"window": 10.5}),
        key_of("score", about | {"params": {"b": 1, "a": [None, "2.5"]}}),
    ]
    assert len({key, *others}) == 5
