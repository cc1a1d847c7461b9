"""The storm on a benchmark run: its schedule, a tiny one, and that it notices a wrong value."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bench_chaos
import pytest
from bench_chaos import DASK_SHARES, ENDINGS, SHARES, make_schedule, share_out

SCRIPT = Path(bench_chaos.__file__)


def chaos(*arguments):
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("dask", [False, True])
def test_schedule_follows_from_the_seed(dask):
    faults, starts = make_schedule(3, 66, 300, dask=dask)
    assert make_schedule(3, 66, 300, dask=dask) == (faults, starts)
    assert make_schedule(4, 66, 300, dask=dask) != (faults, starts)
    events = [*faults, *(event for start in starts for event in (*start.edits, *start.during))]
    assert len(events) == 66
    kinds = Counter(event.kind for event in events)
    assert kinds.keys() == {**SHARES, **(DASK_SHARES if dask else {})}.keys()
    assert all(start.during[-1].kind in ENDINGS for start in starts)


def test_events_are_shared_out_in_proportion():
    assert share_out(2, {"a": 1, "b": 1, "c": 8}) == {"a": 1, "b": 1, "c": 0}
    assert share_out(10, {"a": 1, "b": 1, "c": 8}) == {"a": 1, "b": 1, "c": 8}


def test_tiny_storm_and_a_wrong_value_after_it(tmp_path):
    done = chaos("--jobs", 12, "--events", 3, "--seed", 2, "--keep", tmp_path / "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differences, 0 other problems" in done.stdout
    assert "3 events: " in done.stdout

    with sqlite3.connect(tmp_path / "kept" / "battered" / "results.sqlite") as connection:
        place = "$.values.auc_pr"
        connection.execute(
            "UPDATE results SET value = json_set(value, ?, json_extract(value, ?) + 1e-12) "
            "WHERE key = (SELECT key FROM planned JOIN results USING (key) WHERE "
            "json_extract(value, ?) IS NOT NULL LIMIT 1)",
            (place, place, place),
        )
    connection.close()
    again = chaos("--compare", tmp_path / "kept")
    assert again.returncode == 1, again.stdout + again.stderr
    assert " 1 differences" in again.stdout
