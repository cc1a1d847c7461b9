"""Samples: calls per sample, warm-up, garbage collection, memory, other processes' work."""

from __future__ import annotations

import ast
import gc
import sys
from pathlib import Path

import pytest

from vuskit.studies.timing import sampling
from vuskit.studies.timing.sampling import OtherWork, Timer, peak_memory


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
    monkeypatch.setitem(sampling.CLOCKS, "wall", clock)
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


def test_peak_memory_of_a_call():
    assert 2_000_000 <= peak_memory(lambda: bytes(2_000_000)) < 3_000_000


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the system does not count its work")
def test_other_work_counts_other_processes():
    own, other = OtherWork(), OtherWork()
    own._begin = (0.0, 10.0, 1.0)
    own._now = lambda: (2.0, 13.0, 4.0)  # three seconds busy, all of them ours
    assert own.cores() == 0
    other._begin = (0.0, 10.0, 1.0)
    other._now = lambda: (2.0, 13.0, 1.0)
    assert other.cores() == 1.5


def test_loads_without_vuskit():
    """Peers' environments hold no vuskit."""
    nodes = list(ast.walk(ast.parse(Path(sampling.__file__).read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
