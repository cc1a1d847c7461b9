"""Runs that ``vuskit evaluate`` keeps in the cache are bounded and can be removed."""

from __future__ import annotations

import json
import os
import time

import pytest

from vuskit.cli import _evaluation_cache as cache

DAY = 86_400


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Four runs of 1000 bytes, used 0, 1, 2 and 40 days ago, and a folder of something else."""
    monkeypatch.setenv("VUSKIT_CACHE", str(tmp_path))
    folders = []
    for place, days in enumerate((0, 1, 2, 40)):
        folder = cache.cached_run(f"{place:016x}")
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(1000))
        when = time.time() - days * DAY
        for path in (folder / "file", folder):
            os.utime(path, (when, when))
        folders.append(folder)
    (tmp_path / "evaluate" / "mine").mkdir()
    return folders


def test_old_runs_are_removed(runs, tmp_path):
    assert [run.size for run in cache.kept_runs()] == [1000] * 4
    assert cache.prune_runs(runs[1]) == 1
    assert [folder.exists() for folder in runs] == [True, True, True, False]
    assert (tmp_path / "evaluate" / "mine").exists()


def test_the_oldest_runs_are_removed_while_all_are_too_large(runs, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 2500)
    assert cache.prune_runs(runs[2]) == 2
    # The current run and one that may be going on stay.
    assert [folder.exists() for folder in runs] == [True, False, True, False]


def test_doctor_shows_and_removes_them(command, runs, monkeypatch, tmp_path):
    monkeypatch.setenv("VUSKIT_CACHE", str(tmp_path))
    shown = command("doctor")
    assert "4 runs of vuskit evaluate, 0.0 MB; delete them with --clear-evaluations" in shown.out
    assert ": no data sets yet" in shown.out
    cleared = command("doctor", "--clear-evaluations", "--json")
    assert "removed: 4 runs of vuskit evaluate" in cleared.err
    assert json.loads(cleared.out)["cache"]["evaluations"] == {"runs": 0, "bytes": 0}
    assert not any(folder.exists() for folder in runs)
