"""Samples: calls per sample, warm-up, garbage collection."""

from __future__ import annotations

import gc

import pytest
from timer import CLOCKS, Timer


class Clock:
    """Advances by a given number of seconds per call of `work`."""

    def __init__(self, seconds):
        self.now, self.seconds, self.calls = 0.0, seconds, 0

    def __call__(self):
        return self.now

    def work(self):
        self.calls += 1
        self.now += self.seconds
        return self.calls


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(0.002)
    monkeypatch.setitem(CLOCKS, "wall", clock)
    return clock


def test_one_call_per_sample_by_default(clock):
    timer = Timer(clock.work)
    timer.warm_up()
    assert [tuple(timer.sample()) for _ in range(2)] == [
        (pytest.approx(0.002), 2, True),
        (pytest.approx(0.002), 3, True),
    ]
    assert timer.kept == 2


def test_short_calls_are_repeated_within_a_sample(clock):
    timer = Timer(clock.work, shortest=0.01)
    timer.warm_up(2)
    assert timer.calls == 5
    assert timer.sample().seconds == pytest.approx(0.002)
    assert clock.calls == 7


def test_sample_that_only_calibrates_is_not_kept(clock):
    timer = Timer(clock.work, shortest=0.01)
    assert [timer.sample().keep for _ in range(3)] == [False, True, True]
    assert timer.kept == 2
    assert clock.calls == 1 + 5 + 5
    long = Timer(clock.work, shortest=0.001)
    assert long.sample().keep  # long enough, so nothing is lost


def test_garbage_collection_pauses_and_resumes():
    assert Timer(gc.isenabled).sample().value is False
    assert gc.isenabled()

    def fail():
        raise KeyError

    with pytest.raises(KeyError):
        Timer(fail).sample()
    assert gc.isenabled()
