"""Studies on the engine: the same bytes everywhere, limits, resuming."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from dask_cluster import kill_tree, scheduler
from studies.scored import SOME, make_scored, make_several, stored, write_scored
from waiting import eventually

from vuskit.engine import ExecutorSettings, Limits
from vuskit.engine._dask import DaskExecutor
from vuskit.engine.tasks import NotApplicableError
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.studies import (
    Consistency,
    Robustness,
    SeriesValues,
    Study,
    run_study,
    study,
)
from vuskit.studies.result import ValuesResult


@dataclass(frozen=True, eq=False)
class SlowResult(ValuesResult):
    """Sums of scores."""

    def tables(self):
        return {}


@pytest.fixture
def slow(monkeypatch):
    """A study that never ends with one series; workers cannot import it."""
    monkeypatch.setattr("vuskit.studies.base._STUDIES", {})

    @study(title="Slow", question="How long?", better="lower")
    @dataclass(frozen=True)
    class Slow(Study[SlowResult]):
        def per_series(self, scored):
            while scored.series.name == "s3":
                time.sleep(0.1)
            sums = np.array([score.sum() for score in scored.scores.values()])
            one = scored.series
            return SeriesValues(one.dataset, one.name, 5, {"detector": scored.detectors}, sums)

        def combine(self, parts):
            return SlowResult(tuple(parts))

    return Slow


def own_measure(factor):
    def scaled(y_true, y_score):
        return factor * float(y_score.mean())

    return Measure("own", "Own", scaled)


def check_identity(files, parts, executor):
    """Other code gives other values, and a rename nothing but another name."""

    def study_with(factor):
        found = run_study(
            "consistency",
            files,
            measures=[own_measure(factor)],
            buffer=24,
            folder=parts,
            executor=executor,
        )
        return {one.name: one.values for one in found.values}

    first, second = study_with(1.0), study_with(2.0)
    assert len(stored(parts)) == 16
    for name, values in first.items():
        np.testing.assert_array_equal(second[name], 2 * values)
    (files / "plant" / "s7.csv").rename(files / "plant" / "pump.csv")
    np.testing.assert_array_equal(study_with(2.0)["plant/pump"], second["plant/s7"])
    assert len(stored(parts)) == 16


def test_a_killed_dask_worker_changes_nothing(tmp_path):
    files = tmp_path / "scores"
    for seed in range(8):
        write_scored(files, make_scored(seed))
    chosen = Robustness.create(count=4, **SOME)
    with scheduler(2) as (file, workers), DaskExecutor(address=file) as executor:
        assert eventually(lambda: executor.capacity >= 4)  # both workers are there
        check_identity(files, tmp_path / "parts", executor)
        killed = []

        def kill_once(progress):
            if progress.done >= 2 and not killed:
                killed.append(kill_tree(workers[0].pid))

        found = chosen.run(files, executor=executor, progress=kill_once)
        assert workers[0].wait() == -signal.SIGKILL
    here = chosen.run(files).save(tmp_path / "here").read_bytes()
    assert found.save(tmp_path / "dask").read_bytes() == here
    local = chosen.run(files, processes=2).save(tmp_path / "local")
    assert local.read_bytes() == here


def test_a_series_over_its_time_is_a_failure(slow):
    found = run_study(slow, make_several(), processes=2, limits=Limits(seconds=5.0))
    assert [failure.name for failure in found.failures] == ["mill/s3"]
    assert "took more than 5 s" in found.failures[0].reason
    assert len(found.values) == 5


def test_failures_are_repeated_and_skipped_series_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("vuskit.studies.base._STUDIES", {})
    monkeypatch.setenv("FAILING", "s3")

    @study(title="Picky", question="Which?", better="lower")
    @dataclass(frozen=True)
    class Picky(Study[SlowResult]):
        def per_series(self, scored):
            one = scored.series
            if one.name == os.environ["FAILING"]:
                raise ValueError("not yet")
            if one.name == "s4":
                raise NotApplicableError("too flat")
            return SeriesValues(one.dataset, one.name, 5, {"detector": ("a",)}, np.ones(1))

        def combine(self, parts):
            return SlowResult(tuple(parts))

    first = run_study(Picky, make_several(), folder=tmp_path)
    assert [failure.reason for failure in first.failures] == ["ValueError: not yet", "too flat"]
    monkeypatch.setenv("FAILING", "s1")
    states = []
    second = run_study(Picky, make_several(), folder=tmp_path, progress=states.append)
    assert (states[-1].before, states[-1].ran) == (5, 1)
    assert [failure.reason for failure in second.failures] == ["too flat"]


@dataclass(frozen=True)
class Part:
    number: int


def test_stored_values_of_undeclared_classes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("vuskit.studies.base._STUDIES", {})

    @study(title="Odd", question="What?", better="lower")
    @dataclass(frozen=True)
    class Odd(Study[SlowResult]):
        def per_series(self, scored):
            return Part(1)

        def combine(self, parts):
            return SlowResult(())

    assert run_study(Odd, make_several(), folder=tmp_path).failures == ()
    with pytest.raises(InvalidInputError, match=r"cannot be read \(KeyError: 'Part'\); declare"):
        run_study(Odd, make_several(), folder=tmp_path)


def test_executor_and_processes_exclude_each_other():
    with pytest.raises(InvalidInputError, match="`processes` must be left out with an executor"):
        run_study(Consistency, make_scored(1), processes=2, executor=ExecutorSettings())


SCRIPT = """
import sys, time
from pathlib import Path
from vuskit.measures.registry import Measure
from vuskit.studies import run_study

GATE = Path(sys.argv[4])

def mean(y_true, y_score):
    while len(y_true) > 400 and not GATE.exists():
        time.sleep(0.01)
    return float(y_score.mean())

if __name__ == "__main__":
    measures = ["auc_pr", "vus_pr", Measure("own", "Own", mean)]
    found = run_study(
        "robustness", sys.argv[1], measures=measures, buffer=24, processes=2, folder=sys.argv[2]
    )
    found.save(sys.argv[3])
"""


def test_a_killed_study_resumes(tmp_path):
    files, parts, gate = tmp_path / "scores", tmp_path / "parts", tmp_path / "gate"
    for seed in range(6):  # half of the series wait at the gate
        write_scored(files, make_scored(seed, n=400 if seed < 3 else 500))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def start(folder, out):
        return subprocess.Popen([sys.executable, script, files, folder, out, gate])

    process = start(parts, tmp_path)
    enough = eventually(lambda: len(stored(parts)) >= 2)
    process.kill()
    assert enough
    assert process.wait() == -signal.SIGKILL
    kept = stored(parts)
    assert 2 <= len(kept) <= 3
    gate.touch()
    assert start(parts, tmp_path / "resumed").wait() == 0
    assert len(stored(parts)) == 6
    assert kept.items() <= stored(parts).items()
    assert start(tmp_path / "other", tmp_path / "fresh").wait() == 0
    resumed, fresh = (tmp_path / name / "robustness_result.npz" for name in ("resumed", "fresh"))
    assert resumed.read_bytes() == fresh.read_bytes()


def test_edited_files_are_studied_again(tmp_path):
    files, parts = tmp_path / "scores", tmp_path / "parts"
    path = write_scored(files, make_scored(1))
    first = run_study("consistency", files, folder=parts, **SOME).to_frame()
    text = path.read_text().replace(",0,", ",1,", 1)
    path.write_text(text)
    assert not run_study("consistency", files, folder=parts, **SOME).to_frame().equals(first)
    assert len(stored(parts)) == 2


class Own:
    """A source of a user that tells when its series are read and freed."""

    def __init__(self, seed):
        self.name = f"own-{seed}"
        self.seed = seed
        self.reads = 0
        self.alive = lambda: None

    def read(self):
        self.reads += 1
        scored = make_scored(self.seed)
        self.alive = weakref.ref(scored)
        return scored


def test_sources_are_read_once_and_freed(tmp_path):
    sources = [Own(seed) for seed in range(4)]
    most = 0

    def count(progress):
        nonlocal most
        most = max(most, sum(one.alive() is not None for one in sources))

    options = {"detectors": ["good", "late"], "folder": tmp_path, **SOME}
    first = run_study("consistency", sources, progress=count, **options).to_frame()
    assert [one.reads for one in sources] == [1] * 4
    assert 1 <= most <= 2  # one is studied while the next one waits
    again = run_study("consistency", sources, **options).to_frame()
    assert [one.reads for one in sources] == [2] * 4  # for their keys
    assert first.equals(again)
