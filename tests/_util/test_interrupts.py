"""Ctrl-C is never lost in the command, and nothing of it happens in other programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from waiting import PATIENCE, eventually

from vuskit._util.interrupts import delayed_signals, ignore_sigint_in_children, noted_interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")

# Signals come from the process itself, so that they come at the same place everywhere.
BEGIN = """
import os, signal, sys, time
# What a shell starts in the background does not hear Ctrl-C by itself.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "/usr/bin/vuskit"
from vuskit._util import interrupts

def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)

def wait():
    while True:
        time.sleep(0.01)

"""


def run(code, folder=None):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout.split(), done.stderr


LOST = {
    "suppressed": """
try:
    press()
except BaseException:
    print("suppressed")
""",
    "in a finalizer": """
class Closing:
    def __del__(self):
        print("suppressed")
        press()
Closing()
""",
    "while an import suppresses it": """
import suppressing
print("suppressed", suppressing.complete)
""",
    "while other code raises it": """
def stop():
    raise KeyboardInterrupt
try:
    stop()
except KeyboardInterrupt:
    press()
    print("suppressed")
""",
}


@pytest.mark.parametrize("place", LOST)
def test_it_is_repeated_until_it_is_handled(tmp_path, place):
    (tmp_path / "suppressing.py").write_text(
        "from __main__ import press\ntry:\n    press()\n"
        "except BaseException:\n    complete = False\nelse:\n    complete = True\n"
    )
    lines = [f"    {line}" for line in LOST[place].strip().splitlines()]
    code = "\n".join(
        [
            "sys.path.insert(0, '.')",
            "interrupts.raise_interrupts()",
            "try:",
            *lines,
            "    wait()",
            "except KeyboardInterrupt:",
            "    interrupts.end_interrupts()",
            "    print('heard')",
        ]
    )
    expected = ["suppressed", "heard"]
    if "import" in place:
        expected.insert(1, "True")  # no module is half loaded
    assert run(code, tmp_path) == (0, expected, "")


CLEANING = """
interrupts.raise_interrupts()
try:
    try:
        press()
        wait()
    finally:
        end = time.monotonic() + 0.3  # several repetitions
        while time.monotonic() < end:
            time.sleep(0.01)
        print("cleaned")
except KeyboardInterrupt as error:
    interrupts.end_interrupts()
    print("heard", error.__context__)
"""


def test_it_is_not_repeated_while_blocks_clean_up():
    assert run(CLEANING) == (0, ["cleaned", "heard", "None"], "")


IMPATIENT = """
interrupts.raise_interrupts()
try:
    press()
finally:
    time.sleep(1.1)
    print("begun", flush=True)
    press()
    wait()
"""


def test_the_second_one_ends_a_clean_up_that_hangs():
    assert run(IMPATIENT) == (130, ["begun"], "vuskit: stopped\n")


def test_before_the_command_begins_it_exits():
    assert run("press()\nwait()") == (130, [], "vuskit: stopped\n")


COMPLETE = """
interrupts.raise_interrupts()
interrupts.begin_result()
press()
print("complete")
interrupts.end_interrupts()
class Last:
    def __del__(self):
        press()
last = Last()
"""


def test_a_written_result_is_a_success():
    assert run(COMPLETE) == (0, ["complete"], "")


PENDING = """
interrupts.raise_interrupts()
try:
    import suppressing
    interrupts.begin_result()
    print("never")
except KeyboardInterrupt:
    print(interrupts.was_interrupted())
"""


def test_a_result_is_not_begun_after_it(tmp_path):
    (tmp_path / "suppressing.py").write_text("from __main__ import press\npress()\n")
    assert run("sys.path.insert(0, '.')" + PENDING, tmp_path) == (0, ["True"], "")


# Holds the import of a module until the test lets it go on.
START = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
held = sys.argv.pop(1)

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == held and not os.path.exists("held"):
            open("held", "w").close()
            while not os.path.exists("go"):
                time.sleep(0.01)

sys.meta_path.insert(0, Finder)
sys.argv[0] = "/usr/bin/vuskit"
from vuskit.cli.main import run
run()
"""


@pytest.mark.parametrize(
    "module",
    ["numpy", "vuskit.measures", "typer", "vuskit.cli.app", "vuskit.bench", "sqlite3", "pandas"],
)
def test_while_the_command_imports(tmp_path, module):
    (tmp_path / "scores").mkdir()
    for name in ("a", "b"):
        (tmp_path / "scores" / f"{name}.csv").write_text("label,A\n" + "0,1\n1,2\n0,0\n" * 9)
    arguments = ["evaluate", "scores", "--output", "run", "--processes", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, module, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert eventually((tmp_path / "held").exists), "the module is not imported"
        process.send_signal(signal.SIGINT)
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, ""), err
    assert "topped" in err.splitlines()[-1]
    assert "Traceback" not in err


OTHERS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "notebook.py"
import vuskit
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
sys.argv[0] = "vuskit"
from vuskit._util.interrupts import install_handler
signal.signal(signal.SIGINT, signal.SIG_IGN)
install_handler()
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.default_int_handler)
install_handler()
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_other_programs_keep_their_handlers():
    done = subprocess.run(
        [sys.executable, "-c", OTHERS], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "False"]


def test_python_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "vuskit", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("vuskit ")


# -- signals that wait -----------------------------------------------------------------------------


def blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def printed_by(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def asked_of_child():
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    return printed_by(code) == ["True"]


def test_children_and_threads_ignore_sigint():
    seen = []
    with ignore_sigint_in_children():
        assert asked_of_child()
        thread = threading.Thread(target=lambda: seen.append(blocked()))
        thread.start()
        thread.join()
    assert seen == [True]
    assert not blocked()
    assert not asked_of_child()


MEANWHILE = """
import signal, threading
from vuskit._util.interrupts import delayed_signals, ignore_sigint_in_children, noted_interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with ignore_sigint_in_children():
        # To this thread: those of numerical libraries do not block the signal.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        print("pending")
    print("never")
except KeyboardInterrupt:
    print("heard")
"""


def test_signal_arrives_when_the_block_ends():
    assert printed_by(MEANWHILE) == ["pending", "heard"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_handlers_wait_for_the_end_of_the_block(number):
    """Also if another thread receives the signal."""
    done = []

    def stop(*_):
        raise InterruptedError

    def receive_elsewhere():
        sender = threading.Thread(target=signal.raise_signal, args=(number,))
        sender.start()
        sender.join()
        done.append("all of it")

    before = signal.signal(number, stop)
    try:
        with pytest.raises(InterruptedError), delayed_signals():
            receive_elsewhere()
        assert signal.getsignal(number) is stop
        assert done == ["all of it"]
    finally:
        signal.signal(number, before)


def test_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with delayed_signals():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_stop_is_noted_even_if_ctrl_c_is_ignored():
    """As in a program that a script starts in the background."""

    def stop(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, stop)
    try:
        with noted_interrupts() as interrupted:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            assert interrupted()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
