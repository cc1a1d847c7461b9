"""The benchmark runner on real data: started once, killed once (kill -9), completed, verified.

    python benchmarks/bench_real.py SERIES_FOLDER [--output out/bench-real]

Writes the leaderboard and the wall time into docs/bench.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bench_runs import all_values, finish, jobs_done, kill, leftovers, query, start
from docs_block import replace_block

from vuskit._util.text import format_duration
from vuskit.bench import Run, leaderboard

PAGE = Path(__file__).parents[1] / "docs" / "bench.md"
DETECTORS = ("iforest", "pca", "poly", "mp", "moving_zscore", "random")
KILL_AFTER_JOBS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("series", type=Path)
    parser.add_argument("--output", type=Path, default=Path("out/bench-real"))
    options = parser.parse_args()
    plan = write_plan(options.series.resolve(), options.output)
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
    replace_block(PAGE, "real", report(folder, before, kept, after))


def write_plan(series: Path, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    plan = output / "bench.toml"
    detectors = "".join(f'[[detectors]]\nname = "{name}"\n' for name in DETECTORS)
    plan.write_text(
        f'folder = "run"\n[[series]]\nfolder = "{series}"\n{detectors}'
        '[[evaluate]]\nmeasures = "paper"\nbuffer = "authors"\n'
        '[limits]\nseconds = 1800\nmemory = "3 GB"\n[executor]\nworkers = 2\n'
    )
    return plan


def report(folder: Path, before: float, kept: int, after: float) -> str:
    statuses = query(folder, "SELECT kind, status, count(*) FROM jobs GROUP BY kind, status")
    counted = "; ".join(f"{kind} {status} {count:,}" for kind, status, count in statuses)
    assert not leftovers(folder), leftovers(folder)
    table = leaderboard(Run(folder).values())
    names = [name for name in table if name not in ("settings", "detector", "series", "own")]
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
        "SELECT detector, fit_seconds, score_seconds, peak_bytes FROM jobs "
        "JOIN planned_scores USING (key) WHERE kind = 'score' AND status = 'OK' AND NOT cold",
    )
    for label in table["detector"]:
        own = [row[1:] for row in costs if row[0] == label]
        fit, score, peak = (sorted(column) for column in zip(*own, strict=True))
        most = max(one + two for one, two, _ in own)
        middle = len(own) // 2
        lines.append(
            f"| {label} | {fit[middle]:.3f} | {score[middle]:.3f} | {most:.1f} "
            f"| {peak[-1] / 1e6:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
