"""kill -9 at random moments of a run, started again each time, compared with an undisturbed run.

    python benchmarks/bench_kill.py [--kills 10] [--jobs 400]

Writes what it saw into docs/bench.md; stops with an error if anything was lost, done twice,
changed or left over.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from bench_runs import all_values, finish, jobs_done, kill, leftovers, query, start
from docs_block import replace_block

PAGE = Path(__file__).parents[1] / "docs" / "bench.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        text = compare(Path(base), options.kills, options.jobs, random.Random(options.seed))
    replace_block(PAGE, "kill", text)


def write_plan(folder: Path, n_jobs: int) -> Path:
    folder.mkdir()
    plan = folder / "bench.toml"
    seeds = list(range(n_jobs // 2 // 8))
    plan.write_text(
        f'folder = "run"\nseeds = {seeds}\n'
        '[[series]]\nfamily = ["ecg", "mackey_glass"]\nn = 6000\nn_anomalies = 4\nseed = [1, 2]\n'
        '[[detectors]]\nname = "iforest"\nwindow = 30\n[[detectors]]\nname = "random"\n'
        '[[evaluate]]\nmeasures = "paper"\nbuffer = "median_anomaly"\n[executor]\nworkers = 2\n'
    )
    return plan


def compare(base: Path, kills: int, n_jobs: int, chance: random.Random) -> str:
    plan = write_plan(base / "killed", n_jobs)
    folder = plan.parent / "run"
    moments, finished = [], {}
    for number in range(kills):
        process = start("run", plan)
        aim = n_jobs * (number + chance.random()) / (kills + 2)
        while jobs_done(folder) < aim and process.poll() is None:
            time.sleep(0.02)
        time.sleep(chance.random() * 0.3)
        kill(process)
        now = dict(query(folder, "SELECT key, finished FROM jobs"))
        assert finished.items() <= now.items(), "a finished job was lost or done again"
        finished = now
        moments.append(len(now))
    assert moments[-1] < n_jobs, "the last kill came too late"
    finish("run", plan)
    after = dict(query(folder, "SELECT key, finished FROM jobs"))
    assert finished.items() <= after.items(), "a finished job was lost or done again"
    assert query(folder, "PRAGMA integrity_check") == [("ok",)]
    assert query(folder, "PRAGMA foreign_key_check") == []
    assert leftovers(folder) == [], leftovers(folder)

    alone = write_plan(base / "alone", n_jobs)
    finish("run", alone)
    expected = all_values(alone.parent / "run")
    assert all_values(folder) == expected, "values differ"
    assert set(after) == {row[0] for row in query(alone.parent / "run", "SELECT key FROM jobs")}
    return (
        f"{kills} kills with {', '.join(map(str, moments))} of {len(after)} jobs finished. "
        f"At the end: all {len(after)} jobs, each once; {len(expected):,} values, equal to the "
        "last bit to those of an undisturbed run; `PRAGMA integrity_check` ok; no temporary file."
    )


if __name__ == "__main__":
    main()
