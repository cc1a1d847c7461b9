"""What counts as a change of a process, and what does not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from waiting import PATIENCE

SCRIPT = """
import json, sys, threading, time
import numpy, os, warnings
sys.path.insert(0, sys.argv[1])
from vuskit.engine import _process_state
from vuskit.engine._process_state import StateMonitor

_process_state._THREAD_GRACE_SECONDS = float(sys.argv[3])

def use_up_descriptors(count):
    for _ in range(count):
        os.open(os.devnull, os.O_RDONLY)

def start(target):
    threading.Thread(target=target, daemon=True).start()

monitor = StateMonitor([1, 2])
exec(sys.argv[2])
first = monitor.changes()
again = monitor.changes()
print(json.dumps([first.harmful, first.imported, again.harmful, again.imported]))
"""
IMPORTED = """
import os, sys, warnings, numpy
os.environ["NEW"] = "1"
sys.path.append("/new")
warnings.filterwarnings("ignore", "new")
"""


def changes(tmp_path, code, grace):
    """What a process notices, and notices again; threads get some seconds to end or to wait."""
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
    ("code", "harmful", "imported"),
    [
        ("open(os.devnull).close(); start(lambda: None)", [], []),
        ("import library", [], []),
        (
            "import careless",
            ["the working directory"],
            ["NumPy's handling of floating-point errors"],
        ),
        (
            "os.environ['NEW'] = '1'; warnings.simplefilter('error'); sys.path.pop()",
            ["environment variables", "the module search path", "warning filters"],
            [],
        ),
        ("sys.setrecursionlimit(5000)", ["the recursion limit"], []),
        ("event = threading.Event(); start(event.wait)", [], []),
    ],
)
def test_changes_are_noticed_once(tmp_path, code, harmful, imported):
    assert changes(tmp_path, code, PATIENCE) == [harmful, imported, [], []]


@pytest.mark.parametrize(
    ("code", "harmful"),
    [
        ("start(lambda: time.sleep(3600))", "the running threads"),
        ("[start(threading.Event().wait) for _ in range(40)]", "the running threads"),
        ("use_up_descriptors(100)", "the number of open files"),
    ],
)
def test_what_stays_is_noticed_again(tmp_path, code, harmful):
    assert changes(tmp_path, code, 0.1) == [[harmful], [], [harmful], []]
