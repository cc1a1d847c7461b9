"""The benchmark runner: under kill -9, its overhead, and on real data.

Rewrites docs/bench-limits.md.

    python benchmarks/bench_runs.py kill [--kills 10] [--jobs 400]
    python benchmarks/bench_runs.py overhead [--jobs 10000] [--values 1000000]
    python benchmarks/bench_runs.py real SERIES_FOLDER [--output out/bench-real]

``kill``: kill -9 at random moments of a run, started again each time, compared with an undisturbed
run; stops with an error if anything was lost, repeated, changed or left over. ``overhead``: many
trivial jobs, and ``status`` on a large store. ``real``: started, killed once, completed, verified.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from docs_block import replace_block

from vuskit._util.text import format_duration
from vuskit.bench import (
    Run,
    leaderboard,
)
from vuskit.engine import Action, Outcome, Status, Task
from vuskit.store import Named
from vuskit.store.store import Store

PAGE = Path(__file__).parents[1] / "docs" / "bench-limits.md"
COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()", "bench"]
N_MEASURES = 13
DETECTORS = ("iforest", "pca", "poly", "mp", "moving_zscore", "random")
KILL_AFTER_JOBS = 300
VALUE_KEYS = ("dataset", "series", "detector", "seed", "settings", "measure")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    killed = commands.add_parser("kill")
    killed.add_argument("--kills", type=int, default=10)
    killed.add_argument("--jobs", type=int, default=400)
    killed.add_argument("--seed", type=int, default=0)
    overhead = commands.add_parser("overhead")
    overhead.add_argument("--jobs", type=int, default=10_000)
    overhead.add_argument("--values", type=int, default=1_000_000)
    real = commands.add_parser("real")
    real.add_argument("series", type=Path)
    real.add_argument("--output", type=Path, default=Path("out/bench-real"))
    options = parser.parse_args()
    text = {"kill": run_kill, "overhead": run_overhead, "real": run_real}[options.command](options)
    replace_block(PAGE, options.command, text)


def run_kill(options: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as base:
        chance = random.Random(options.seed)
        return compare_with_undisturbed(Path(base), options.kills, options.jobs, chance)


def run_overhead(options: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as base:
        lines = [trivial_jobs(Path(base), options.jobs), large_store(Path(base), options.values)]
    lines.append(f"Python {platform.python_version()}, {platform.machine()}, 2 worker processes.")
    return "\n".join(f"- {line}" for line in lines)


def run_real(options: argparse.Namespace) -> str:
    plan = write_real_plan(options.series.resolve(), options.output)
    folder = options.output / "run"
    begin = time.perf_counter()
    first = start("run", plan)
    while jobs_done(folder) < KILL_AFTER_JOBS and first.poll() is None:
        time.sleep(1)
    kill(first)
    before = time.perf_counter() - begin
    kept = jobs_done(folder)
    after = finish("run", plan)
    finish("verify", folder, "--sample", 20)
    return describe_real(folder, before, kept, after)


# Starting, killing and comparing runs -------------------------------------------------------------


def bench(*arguments: object) -> list[str]:
    """Command line of ``vuskit bench``."""
    return [*COMMAND, *map(str, arguments)]


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(bench(*arguments), stdout=subprocess.DEVNULL)


def finish(*arguments: object) -> float:
    """Run a command to its end and return the seconds; failed jobs are no reason to stop."""
    begin = time.perf_counter()
    code = subprocess.run(bench(*arguments), stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 3):
        raise SystemExit(f"vuskit bench {arguments} ended with {code}")
    return time.perf_counter() - begin


def kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def query(folder: Path, sql: str) -> list[tuple]:
    connection = sqlite3.connect(folder / "results.sqlite", timeout=60)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def jobs_done(folder: Path) -> int:
    try:
        return query(folder, "SELECT count(*) FROM results")[0][0]
    except sqlite3.OperationalError:
        return 0  # not there yet


def all_values(folder: Path) -> dict[tuple, float]:
    """Every value by series, detector, seed, settings and measure."""
    table = Run(folder).values()
    names = [name for name in table if name in VALUE_KEYS]
    keys = table[names].astype(str).itertuples(index=False, name=None)
    return dict(zip(keys, table["value"], strict=True))


def leftovers(folder: Path) -> list[str]:
    """Files that a finished run should not have."""
    known = {f"{row[0]}.npy" for row in query(folder, "SELECT key FROM results")}
    expected = {"results.sqlite", ".vuskit-lock", *known}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in expected
    )


# kill ---------------------------------------------------------------------------------------------


def write_kill_plan(folder: Path, n_jobs: int) -> Path:
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


def compare_with_undisturbed(base: Path, kills: int, n_jobs: int, chance: random.Random) -> str:
    plan = write_kill_plan(base / "killed", n_jobs)
    folder = plan.parent / "run"
    moments, finished = [], {}
    for number in range(kills):
        process = start("run", plan)
        aim = n_jobs * (number + chance.random()) / (kills + 2)
        while jobs_done(folder) < aim and process.poll() is None:
            time.sleep(0.02)
        time.sleep(chance.random() * 0.3)
        kill(process)
        now = dict(query(folder, "SELECT key, finished FROM results"))
        assert finished.items() <= now.items(), "a finished job was lost or done again"
        finished = now
        moments.append(len(now))
    assert moments[-1] < n_jobs, "the last kill came too late"
    finish("run", plan)
    after = dict(query(folder, "SELECT key, finished FROM results"))
    assert finished.items() <= after.items(), "a finished job was lost or done again"
    assert query(folder, "PRAGMA integrity_check") == [("ok",)]
    assert query(folder, "PRAGMA foreign_key_check") == []
    assert leftovers(folder) == [], leftovers(folder)

    alone = write_kill_plan(base / "alone", n_jobs)
    finish("run", alone)
    expected = all_values(alone.parent / "run")
    assert all_values(folder) == expected, "values differ"
    assert set(after) == {row[0] for row in query(alone.parent / "run", "SELECT key FROM results")}
    return (
        f"{kills} kills with {', '.join(map(str, moments))} of {len(after)} jobs finished. "
        f"At the end: all {len(after)} jobs, each once; {len(expected):,} values, equal to the "
        "last bit to those of an undisturbed run; `PRAGMA integrity_check` ok; no temporary file."
    )


# overhead -----------------------------------------------------------------------------------------


def trivial_jobs(base: Path, count: int) -> str:
    """Half of them score a short series, half evaluate the scores."""
    n_seeds = count // 2 // 10
    plan = base / "bench.toml"
    plan.write_text(
        f'folder = "run"\nseeds = {list(range(n_seeds))}\n'
        f'[[series]]\nfamily = "ecg"\nn = {list(range(500, 510))}\nn_anomalies = 1\n'
        '[[detectors]]\nname = "random"\n'
        '[[evaluate]]\nmeasures = ["auc_pr"]\nbuffer = 10\n[executor]\nworkers = 2\n'
    )
    seconds = finish("run", plan)
    (done,) = query(base / "run", "SELECT count(*) FROM results WHERE status = 'OK'")[0]
    return (
        f"{done:,} trivial jobs (half score 500 points, half evaluate) "
        f"from start to end: {seconds:.1f} s"
    )


def large_store(base: Path, n_values: int) -> str:
    """Fill a store with evaluations, then ask it as ``vuskit bench status`` does."""
    folder = base / "large"
    n_jobs = n_values // N_MEASURES
    n_values = n_jobs * N_MEASURES
    values = {f"m{number}": 0.5 for number in range(N_MEASURES)}
    value = {"values": values, "buffer": 10, "buffer_reason": "number: given"}
    about = {"series": "h", "settings": {"buffer": 10}, "measures": {name: {} for name in values}}
    tasks = [Task(f"{i:032x}", "", Action, "evaluate", {**about, "i": i}) for i in range(n_jobs)]
    named = [
        Named(task.key, "evaluate", None, "data", "series", "h", "detector", 0, "buffer=10")
        for task in tasks
    ]
    with Store(folder) as store:
        store.begin(planned=named)
        store.save((task, Outcome(Status.OK, value)) for task in tasks)
        store.end("finished")
    begin = time.perf_counter()
    status = Run(folder).status()
    inside = time.perf_counter() - begin
    assert status.n_values == n_values
    command = finish("status", folder)
    size = (folder / "results.sqlite").stat().st_size / 1e6
    return (
        f"`vuskit bench status` with {n_values:,} values of {n_jobs:,} evaluations "
        f"({size:.0f} MB): {command:.2f} s, of which the store {inside:.2f} s"
    )


# real ---------------------------------------------------------------------------------------------


def write_real_plan(series: Path, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    plan = output / "bench.toml"
    detectors = "".join(f'[[detectors]]\nname = "{name}"\n' for name in DETECTORS)
    plan.write_text(
        f'folder = "run"\n[[series]]\nfolder = "{series}"\n{detectors}'
        '[[evaluate]]\nmeasures = "paper"\nbuffer = "authors"\n'
        '[limits]\nseconds = 1800\nmemory = "3 GB"\n[executor]\nworkers = 2\n'
    )
    return plan


def describe_real(folder: Path, before: float, kept: int, after: float) -> str:
    statuses = query(folder, "SELECT kind, status, count(*) FROM results GROUP BY kind, status")
    counted = "; ".join(f"{kind} {status} {count:,}" for kind, status, count in statuses)
    assert not leftovers(folder), leftovers(folder)
    table = leaderboard(Run(folder).values())
    names = [name for name in table if name not in ("settings", "detector", "series", "own_series")]
    lines = [
        f"Killed after {format_duration(before)} with {kept:,} jobs finished, started again, "
        f"complete after {format_duration(after)} more: {format_duration(before + after)} in all. "
        f"{counted}; {len(all_values(folder)):,} values.",
        "",
        f"Means over {table['series'].max()} series, {table['settings'].iloc[0]}:",
        "",
        "| detector | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * len(names),
    ]
    lines += [
        f"| {row['detector']} | " + " | ".join(f"{row[name]:.3f}" for name in names) + " |"
        for _, row in table.iterrows()
    ]
    lines += [
        "",
        "Cost of a score (first of its kind in a worker aside), medians and largest:",
        "",
    ]
    lines += [
        "| detector | fit s | score s | largest s | peak MB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    costs = query(
        folder,
        "SELECT detector, value ->> 'fit_seconds', value ->> 'score_seconds', peak_bytes "
        "FROM results JOIN planned USING (key) "
        "WHERE results.kind = 'score' AND status = 'OK' AND NOT value ->> 'cold'",
    )
    for name in table["detector"]:
        own = [row[1:] for row in costs if row[0] == name]
        fit, score, peak = (sorted(column) for column in zip(*own, strict=True))
        most = max(one + two for one, two, _ in own)
        middle = len(own) // 2
        lines.append(
            f"| {name} | {fit[middle]:.3f} | {score[middle]:.3f} | {most:.1f} "
            f"| {peak[-1] / 1e6:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
