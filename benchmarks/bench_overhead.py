"""What the benchmark runner itself costs: many trivial jobs, and ``status`` on a large store.

    python benchmarks/bench_overhead.py [--jobs 10000] [--values 1000000]

Writes the seconds into docs/bench.md.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from pathlib import Path

from bench_runs import finish, query
from docs_block import replace_block

from vuskit.bench import Run, Store

PAGE = Path(__file__).parents[1] / "docs" / "bench.md"
N_MEASURES = 13


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--values", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        lines = [trivial_jobs(Path(base), options.jobs), large_store(Path(base), options.values)]
    lines.append(f"Python {platform.python_version()}, {platform.machine()}, 2 worker processes.")
    replace_block(PAGE, "overhead", "\n".join(f"- {line}" for line in lines))


def trivial_jobs(base: Path, count: int) -> str:
    """Half of them score a short series, half evaluate the scores."""
    n_seeds = count // 2 // 10
    plan = base / "bench.toml"
    plan.write_text(
        f'folder = "run"\nseeds = {list(range(n_seeds))}\n'
        # Lengths differ, so that no two scores are equal and share a file.
        f'[[series]]\nfamily = "ecg"\nn = {list(range(500, 510))}\nn_anomalies = 1\n'
        '[[detectors]]\nname = "random"\n'
        '[[evaluate]]\nmeasures = ["auc_pr"]\nbuffer = 10\n[executor]\nworkers = 2\n'
    )
    seconds = finish("run", plan)
    (done,) = query(base / "run", "SELECT count(*) FROM jobs WHERE status = 'OK'")[0]
    return (
        f"{done:,} trivial jobs (half score 500 points, half evaluate) "
        f"from start to end: {seconds:.1f} s"
    )


def large_store(base: Path, n_values: int) -> str:
    """Fill a store by SQL, then ask it as ``vuskit bench status`` does."""
    folder = base / "large"
    n_jobs = n_values // N_MEASURES + 1
    with Store(folder) as store, store.transaction() as connection:
        run = (
            "2026-01-01",
            "finished",
            "here",
            1,
            "0",
            "{}",
            "local",
            "",
            "",
            "[]",
            "[]",
            "{}",
        )
        connection.execute(
            "INSERT INTO runs (started, state, host, pid, vuskit, environment, executor, plan, "
            "base, imports, notes, progress) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            run,
        )
        connection.execute("INSERT INTO series VALUES ('h', 10, 1, 1, 1, 0)")
        connection.execute("INSERT INTO planned_series VALUES ('h', 'd', 's', '{}')")
        connection.executemany(
            "INSERT INTO measures (name, version) VALUES (?, 'v')",
            [(f"m{i}",) for i in range(N_MEASURES)],
        )
        connection.executemany(
            "INSERT INTO scores VALUES (?, 10)", ((f"{i:064x}",) for i in range(n_jobs))
        )
        spec = "x" * 600
        # Every evaluation has scores of its own, and the plan names them.
        job = (
            "INSERT INTO jobs (key, kind, status, run_id, series_hash, settings, code, spec, "
            "cold, finished, message, scores_hash) "
            "VALUES (?, '{}', ?, 1, 'h', 'i', '', ?, 0, '', 'm', ?)"
        )
        connection.executemany(
            job.format("evaluate"),
            ((f"{i:032x}", "OK" if i % 50 else "ERROR", spec, f"{i:064x}") for i in range(n_jobs)),
        )
        keys = [f"{i:032x}" for i in range(n_jobs, 2 * n_jobs)]
        connection.executemany(
            job.format("score"),
            ((key, "OK", spec[:200], f"{i:064x}") for i, key in enumerate(keys)),
        )
        connection.executemany(
            "INSERT INTO planned_scores VALUES (?, 'l', NULL, 'h')", ((key,) for key in keys)
        )
        connection.executemany(
            "INSERT INTO job_measures VALUES (?, ?)",
            ((i // N_MEASURES + 1, i % N_MEASURES + 1) for i in range(n_values)),
        )
        connection.executemany(
            'INSERT INTO "values" VALUES (?, ?, 0.5)',
            ((i // N_MEASURES + 1, i % N_MEASURES + 1) for i in range(n_values)),
        )
    begin = time.perf_counter()
    status = Run(folder).status()
    inside = time.perf_counter() - begin
    assert status.n_values == n_values
    command = finish("status", folder)
    size = (folder / "bench.sqlite").stat().st_size / 1e6
    return (
        f"`vuskit bench status` with {n_values:,} values of {n_jobs:,} evaluations "
        f"({size:.0f} MB): {command:.2f} s, of which the store {inside:.2f} s"
    )


if __name__ == "__main__":
    main()
