"""Children ignore Ctrl-C, this process does not."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from vuskit._util.interrupts import delayed_signals, ignore_sigint_in_children, noted_interrupts

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="no masks of signals here"
)


def blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def asked_of_child():
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    return run(code) == ["True"]


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
    assert run(MEANWHILE) == ["pending", "heard"]


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
