"""Budgets of the timing study that do not depend on the speed of the machine."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest


@contextlib.contextmanager
def estimated_times():
    """Let estimates alone decide what a budget allows: the clock stands still."""
    with pytest.MonkeyPatch.context() as patch:
        clock = SimpleNamespace(time=lambda: 0.0)
        patch.setattr("vuskit.studies.timing.study.time", clock)
        patch.setattr("vuskit.studies.timing.study.Forecast.learn", lambda *_: None)
        yield
