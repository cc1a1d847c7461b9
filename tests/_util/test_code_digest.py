"""Digests of code: what changes them, and what does not."""

from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vuskit
from vuskit._util.code_digest import code_digest
from vuskit.detectors import Detector

MODULES = {
    "subject": '''
"""Everything that a detector may be."""
import functools, re
import numpy as np
import tools
import package.deep
from constants import *
from tools import wrapped, plainly_wrapped, Base as Parent
try:
    from absent_module import speed
except ImportError:
    from tools import speed
from registry import handlers

LIMIT = 10
TABLE = np.arange(4)
NAMES = {"a": 1, "b": 2}
PATTERN = re.compile("a+")
MIXED = (1, ("x", 2.5), None)
CACHE = {}
COUNT = 0

def helper(x):
    return x + 1

def neighbor(x):
    """Not used by anybody."""
    return x - 1  # a comment

def plain(x):
    """Docstring."""
    return helper(x) * LIMIT

def arrays(x):
    return TABLE[0] + NAMES["a"] + len(PATTERN.pattern) + MIXED[0]

def by_attribute(x):
    return tools.scale(x)

def by_package(x):
    return package.deep.work(x)

def by_module(x):
    return getattr(tools, "scale")(x)

def star(x):
    return x * STARRED

def lazy(x):
    import lazily
    from lazily import constant as c
    return lazily.work(x) + c

def optional(x):
    return speed(x)

def caching(x):
    global COUNT
    COUNT += 1
    CACHE[x] = COUNT
    return CACHE

@wrapped
def decorated(x):
    return helper(x)

@plainly_wrapped
def plainly_decorated(x):
    return helper(x)

@functools.lru_cache
def cached(x):
    return helper(x)

fixed = functools.partial(plain, LIMIT)
vectorized = np.vectorize(plain)
shorter = lambda x: helper(x)
random = functools.partial(helper, np.random.mtrand._rand)

def make(factor):
    def inner(x, offset=factor):
        return helper(x) * factor + offset
    return inner

closure = make(3)

class Model(Parent):
    limit = LIMIT
    def __init__(self, window=5):
        self.window = window
    def __call__(self, x):
        return self.step(x)
    def step(self, x):
        return helper(x)

instance = Model(7)
method = instance.step

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def handled(x):
    return handlers["a"](x)
''',
    "tools": """
import functools
FACTOR = 2
def scale(x):
    return x * FACTOR
def speed(x):
    return x * 7
def unused(x):
    return x
def wrapped(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper
def plainly_wrapped(f):
    def wrapper(*args):
        return f(*args) + 0
    return wrapper
class Base:
    def finish(self):
        return FACTOR
""",
    "constants": "STARRED = 4\nOTHER = 5\n",
    "registry": """
handlers = {}
def first(x):
    return x
handlers["a"] = first
""",
    "lazily": "constant = 3\nother = 4\ndef work(x):\n    return x + other\n",
    "package/__init__": "ROOT = 1\n",
    "package/deep": "from . import ROOT\nfrom .side import aside\n"
    "def work(x):\n    return aside(x) + ROOT\n",
    "package/side": "def aside(x):\n    return x * 5\n",
}
THINGS = [
    "helper", "neighbor", "plain", "arrays", "by_attribute", "by_package", "by_module", "star",
    "lazy", "optional", "caching", "decorated", "plainly_decorated", "cached", "fixed",
    "vectorized", "shorter", "random", "closure", "Model", "instance", "method", "even", "odd",
    "handled",
]  # fmt: skip
USES_HELPER = {
    "helper", "plain", "decorated", "plainly_decorated", "cached", "fixed", "vectorized",
    "shorter", "random", "closure", "Model", "instance", "method",
}  # fmt: skip
MODELS = {"Model", "instance", "method"}
EDITS = [
    ("subject", "# a comment", "# another comment\n\n\n\n", set()),
    ("subject", '"""Docstring."""', '"""Another."""', set()),
    ("subject", '"""Everything that', '"""All that', set()),
    ("subject", "return x - 1", "return x - 2", {"neighbor"}),
    ("subject", "return x + 1", "return 1 + x", USES_HELPER),
    ("subject", "LIMIT = 10", "LIMIT = 11", {"plain", "fixed", "vectorized"} | MODELS),
    ("subject", "LIMIT = 10", "LIMIT = 5 + 5", set()),
    ("subject", "np.arange(4)", "np.arange(5)", {"arrays"}),
    ("subject", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}', {"arrays"}),
    ("subject", 're.compile("a+")', 're.compile("a+", re.I)', {"arrays"}),
    ("subject", '("x", 2.5)', '("x", 2.25)', {"arrays"}),
    ("subject", "CACHE = {}", "CACHE = {1: 2}", {"caching"}),
    ("subject", "make(3)", "make(4)", {"closure"}),
    ("subject", "offset=factor", "offset=-factor", {"closure"}),
    ("subject", "factor + offset", "factor - offset", {"closure"}),
    ("subject", "Model(7)", "Model(8)", {"instance", "method"}),
    ("subject", "window=5", "window=6", MODELS),
    ("subject", "self.step(x)", "-self.step(x)", MODELS),
    ("subject", "partial(plain, LIMIT)", "partial(plain, 3)", {"fixed"}),
    ("subject", "partial(plain, LIMIT)", "partial(helper, LIMIT)", {"fixed"}),
    ("subject", "np.vectorize(plain)", "np.vectorize(plain, otypes=[float])", {"vectorized"}),
    ("subject", "lambda x: helper(x)", "lambda x: -helper(x)", {"shorter"}),
    ("subject", "n == 0 or", "n == 1 or", {"even", "odd"}),
    ("subject", "c\n\ndef optional", "c + 1\n\ndef optional", {"lazy"}),
    ("subject", "@functools.lru_cache\n", "", {"cached"}),
    ("tools", "return x * FACTOR", "return FACTOR * x", {"by_attribute", "by_module"}),
    ("tools", "FACTOR = 2", "FACTOR = 3", {"by_attribute", "by_module"} | MODELS),
    ("tools", "return x * 7", "return x * 8", {"optional", "by_module"}),
    ("tools", "def unused(x):\n    return x", "def unused(x):\n    return -x", {"by_module"}),
    ("tools", "return f(*args)\n", "return -f(*args)\n", {"decorated", "by_module"}),
    ("tools", "+ 0", "+ 1", {"plainly_decorated", "by_module"}),
    ("tools", "def finish(self)", "def finish(self, x=1)", MODELS | {"by_module"}),
    ("constants", "STARRED = 4", "STARRED = 5", {"star"}),
    ("constants", "OTHER = 5", "OTHER = 6", set()),
    ("registry", "return x", "return -x", {"handled"}),
    ("lazily", "constant = 3", "constant = 4", {"lazy"}),
    ("lazily", "other = 4", "other = 5", {"lazy"}),
    ("package/__init__", "ROOT = 1", "ROOT = 2", {"by_package"}),
    ("package/side", "x * 5", "x * 6", {"by_package"}),
]  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with local modules, which each `load` imports anew."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    project = Project(tmp_path)
    for name, text in MODULES.items():
        project.write(name, text)
    yield project
    project.forget()


class Project:
    def __init__(self, folder):
        self.folder = folder
        self.names = set()

    def write(self, name, text):
        path = self.folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.names.add(name.partition("/")[0])

    def edit(self, name, old, new):
        path = self.folder / f"{name}.py"
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def forget(self):
        for name in list(sys.modules):
            if name.partition(".")[0] in self.names:
                del sys.modules[name]

    def load(self, name="subject"):
        self.forget()
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def versions(self):
        module = self.load()
        return {name: code_digest(getattr(module, name)).version for name in THINGS}


def changed(before, after):
    return {name for name in before if before[name] != after[name]}


def test_an_edit_changes_what_depends_on_it_and_nothing_else(project):
    before = project.versions()
    assert len(set(before.values())) == len(before)
    wrong = {}
    for name, old, new, expected in EDITS:
        project.edit(name, old, new)
        found = changed(before, project.versions())
        if found != expected:
            wrong[name, old, new] = found ^ expected
        project.edit(name, new, old) if new else project.write(name, MODULES[name])
    assert wrong == {}
    assert project.versions() == before


def test_parts_name_what_changed(project):
    before = code_digest(project.load().plain).parts
    assert set(before) == {"subject.plain", "subject.helper", "subject.LIMIT"}
    project.edit("subject", "LIMIT = 10", "LIMIT = 11")
    assert changed(before, code_digest(project.load().plain).parts) == {"subject.LIMIT"}
    model = code_digest(project.load().Model)
    assert {"subject.Model", "tools.Base", "tools.FACTOR"} <= set(model.parts)


def test_running_code_does_not_change_its_digest(project):
    module = project.load()
    before = {name: code_digest(getattr(module, name)).version for name in THINGS}
    module.caching(3)
    module.cached(3)
    module.lazy(np.arange(2))
    module.vectorized([1, 2])
    module.decorated(1)
    assert "lazily" in sys.modules
    after = {name: code_digest(getattr(module, name)).version for name in THINGS}
    assert changed(before, after) == set()


def test_digests_are_equal_in_all_processes(project):
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import subject\n"
        "from vuskit._util.code_digest import code_digest\n"
        "print(json.dumps({name: code_digest(getattr(subject, name)).version"
        " for name in sys.argv[2:]}))"
    )
    found = project.versions()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", script, str(project.folder), *THINGS]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        output = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert output.returncode == 0, output.stderr
        assert json.loads(output.stdout) == found


def test_a_module_edited_after_its_import_has_another_digest_than_either(project):
    module = project.load()
    project.edit("subject", "return x + 1", "return x + 2")  # read first after the edit
    stale = {name: code_digest(getattr(module, name)).version for name in THINGS}
    fresh = project.versions()
    assert changed(stale, fresh) == USES_HELPER


def test_a_digest_stays_that_of_the_loaded_code(project):
    module = project.load()
    before = code_digest(module.plain).version
    project.edit("subject", "return x + 1", "return x + 2")
    assert code_digest(module.plain).version == before


def test_values_set_at_run_time_count(project):
    module = project.load()
    before = {name: code_digest(getattr(module, name)).version for name in THINGS}
    module.LIMIT = 12
    module.instance.window = 1
    after = {name: code_digest(getattr(module, name)).version for name in THINGS}
    assert changed(before, after) == {"plain", "fixed", "vectorized"} | MODELS


def test_parts_of_packages_count_by_version():
    assert code_digest(vuskit.vus_pr).version == f"vuskit {vuskit.__version__}"
    assert code_digest(Detector).version == f"vuskit {vuskit.__version__}"
    for thing in (np.sort, np.add, np.ndarray, np):
        found = code_digest(thing)
        assert found.version == f"numpy {np.__version__}"
        assert found.libraries == ("numpy",)
        assert found.parts == {}
    assert code_digest(json.dumps).version.startswith("python 3.")


def test_libraries_of_local_code(project):
    assert code_digest(project.load().plain).libraries == ()
    assert code_digest(project.load().arrays).libraries == ("numpy",)
    assert code_digest(project.load().vectorized).libraries == ("numpy",)
    project.write("uses", "import numpy as np\nfrom sklearn.svm import SVC\n"
                  "def f(x):\n    import pandas.api\n    return np.sort(x), SVC\n")  # fmt: skip
    assert code_digest(project.load("uses").f).libraries == ("numpy", "pandas", "scikit-learn")


def test_compiled_functions(project):
    pytest.importorskip("numba")
    text = "from numba import njit\nK = 2\n@njit\ndef f(x):\n    return g(x)\n"
    text += "@njit(fastmath=False)\ndef g(x):\n    return x * K\n"
    project.write("compiled", text)
    before = code_digest(project.load("compiled").f)
    assert before.libraries == ("numba",)
    for old, new in (("x * K", "x + K"), ("K = 2", "K = 3"), ("math=False", "math=True")):
        project.edit("compiled", old, new)
        assert code_digest(project.load("compiled").f).version != before.version
        project.edit("compiled", new, old)
    assert code_digest(project.load("compiled").f) == before


def test_objects_that_hide_their_content_count_by_type():
    locks = [code_digest(functools.partial(print, threading.Lock())).version for _ in range(2)]
    other = code_digest(functools.partial(print, iter([1]))).version
    assert locks[0] == locks[1] != other


def test_objects_that_contain_themselves():
    one, two = [1], [1]
    one.append(one)
    two.append(two)
    versions = {code_digest(functools.partial(print, value)).version for value in (one, two)}
    assert len(versions) == 1
    assert versions != {code_digest(functools.partial(print, [1, [1]])).version}


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __call__(self, x):
        return x + self.value


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=5,
)


@settings(max_examples=50)
@given(plain_values, plain_values)
def test_equal_states_have_equal_digests(one, other):
    same = repr(_ordered(one)) == repr(_ordered(other))
    for wrap in (lambda value: functools.partial(print, value), Slotted):
        versions = [code_digest(wrap(value)).version for value in (one, other)]
        assert (versions[0] == versions[1]) == same
        assert code_digest(wrap(one)).version == versions[0]


def _ordered(value):
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(one) for one in value] if isinstance(value, list) else value
