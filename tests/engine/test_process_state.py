"""What is restored in a process after a task, and what is not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from waiting import PATIENCE

SCRIPT = """
import json, sys, threading, time
import numpy, os, signal, warnings
sys.path.insert(0, sys.argv[1])
from vuskit.engine import _process
from vuskit.engine._process import ProcessState

_process._THREAD_GRACE_SECONDS = float(sys.argv[3])

def use_up_descriptors(count):
    for _ in range(count):
        os.open(os.devnull, os.O_RDONLY)

def start(target):
    threading.Thread(target=target, daemon=True).start()

state = ProcessState(0)
before = {name: read() for name, (read, _) in _process._SETTINGS.items()}

def changed():
    settings = _process._SETTINGS.items()
    return [name for name, (read, _) in settings if read() != before[name]]

exec(sys.argv[2])
first = changed()
state.restore()
print(json.dumps([first, changed(), state.usable, state.reserved]))
"""
IMPORTED = """
import os, sys, warnings, numpy
os.environ["NEW"] = "1"
sys.path.append("/new")
warnings.filterwarnings("ignore", "new")
"""


def restored(tmp_path, code, grace=PATIENCE):
    """Settings that differ before and after; threads get some seconds to end or to wait."""
    (tmp_path / "library.py").write_text(IMPORTED)
    (tmp_path / "careless.py").write_text(f"{IMPORTED}\nnumpy.seterr(all='raise')\nos.chdir('/')")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), code, str(grace)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("open(os.devnull).close(); start(lambda: None)", []),
        ("event = threading.Event(); start(event.wait)", []),
        ("os.umask(0); sys.setrecursionlimit(5000)", ["the file mode mask", "the recursion limit"]),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.stdout = None", None),
        (
            "os.environ['NEW'] = '1'; warnings.simplefilter('error'); sys.path.pop()",
            ["environment variables", "the module search path", "warning filters"],
        ),
    ],
)
def test_changes_are_restored(tmp_path, code, names):
    names = ["signal handlers", "the standard streams"] if names is None else names
    assert restored(tmp_path, code) == [names, [], True, False]


def test_changes_of_an_imported_library_stay(tmp_path):
    added = ["environment variables", "the module search path", "warning filters"]
    assert restored(tmp_path, "import library") == [added, added, True, False]
    kept = [*added, "NumPy's handling of floating-point errors"]
    found = restored(tmp_path, "import careless")
    assert found == [["the working directory", *kept], kept, True, True]


@pytest.mark.parametrize(
    "code",
    [
        "start(lambda: time.sleep(3600))",
        "[start(threading.Event().wait) for _ in range(40)]",
        "use_up_descriptors(100)",
    ],
)
def test_threads_and_open_files_cannot_be_restored(tmp_path, code):
    assert restored(tmp_path, code, 0.1) == [[], [], False, False]
