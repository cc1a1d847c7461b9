"""Errors of an action become part of its outcome."""

from __future__ import annotations

import signal
import weakref

import pytest

from vuskit.engine import Action, run_action
from vuskit.engine._process import outcome_of, warm_up_action


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
