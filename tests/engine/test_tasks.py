"""Limits and outcomes."""

from __future__ import annotations

import pytest

from vuskit import InvalidInputError
from vuskit.engine import Action, Limits, Status, run_action


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seconds": -1}, "`seconds` must be > 0 or None, got -1"),
        ({"memory": 0}, "`memory` must be > 0 or None, got 0"),
        ({"warm_up_seconds": 0}, "`warm_up_seconds` must be > 0, got 0"),
        ({"threads": 0}, "`threads` must be >= 1, got 0"),
    ],
)
def test_wrong_limits(wrong, message):
    with pytest.raises(InvalidInputError) as error:
        Limits(**wrong)
    assert message in str(error.value)


def test_failed_statuses():
    assert [status for status in Status if status.failed] == ["ERROR", "TIMEOUT", "OOM"]


class Fail(Action):
    def __init__(self, error):
        self.error = error

    def run(self):
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InvalidInputError("`x` must be > 0, got 0"), "`x` must be > 0, got 0"),
        (KeyError("x"), "KeyError: 'x'"),
        (MemoryError(), "out of memory"),
        (MemoryError("too large"), "out of memory: too large"),
    ],
)
def test_reason_of_a_failure(error, reason):
    outcome = run_action(Fail(error))
    assert outcome.status.failed
    assert outcome.reason == reason


def test_action_needs_run_only():
    action = Action.__new__(type("Nothing", (Action,), {}))
    assert action.group is None
    assert action.load() is action
    assert run_action(action).error_type == "NotImplementedError"
