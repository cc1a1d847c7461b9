"""What `evaluate_frame` and `vuskit evaluate` cost on one parquet file of many series.

python benchmarks/fleet.py [--series 2000] [--points 1000] [--engine duckdb|polars] [--shuffled]

Rows are grouped by series unless `--shuffled`. The loop gets each series as arrays in memory and
reads nothing, so the ratio contains all reading, sorting and grouping. The command is run without
its start: it opens the file, evaluates it in one process and makes the table of means. Each side
runs in a process of its own, whose peak resident memory is printed. The processes run one after
the other; on a busy machine, compare their processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import vuskit

BUFFER = 100
_PROCESSOR = "processor_seconds"
WRITTEN_AT_ONCE = 1000  # series; one row group of the file
SIDES = ("loop", "frame", "command")
PARTS = ("write", *SIDES)


def make_series(number: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels with one anomaly, and a score that sees it."""
    random = np.random.default_rng(number)
    label = np.zeros(points, dtype=np.int8)
    start = int(random.integers(points // 4, points // 2))
    label[start : start + max(points // 30, 1)] = 1
    return label, random.random(points) + 0.3 * label


def write_file(path: Path, series: int, points: int, shuffled: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("series", pa.string()), ("t", pa.int32()), ("label", pa.int8()), ("score", pa.float64())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, series, WRITTEN_AT_ONCE):
            numbers = range(first, min(first + WRITTEN_AT_ONCE, series))
            if shuffled:  # from all over the range, so that a sort has to move rows across the file
                numbers = range(first // WRITTEN_AT_ONCE, series, -(-series // WRITTEN_AT_ONCE))
            made = [make_series(number, points) for number in numbers]
            names = np.repeat([f"s{number:07d}" for number in numbers], points)
            table = pa.table(
                {
                    "series": names,
                    "t": np.tile(np.arange(points, dtype=np.int32), len(made)),
                    "label": np.concatenate([label for label, _ in made]),
                    "score": np.concatenate([score for _, score in made]),
                },
                schema=schema,
            )
            if shuffled:
                table = table.take(np.random.default_rng(first).permutation(table.num_rows))
            writer.write_table(table)


class Clock:
    """Seconds and processor seconds, of all threads, inside its blocks."""

    def __init__(self) -> None:
        self.seconds = self.processor_seconds = 0.0

    def __enter__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self.start[0]
        self.processor_seconds += time.process_time() - self.start[1]


def run_loop(clock: Clock, series: int, points: int) -> float:
    """Call `evaluate` for each series; return the sum of all values of VUS-PR."""
    total = 0.0
    for number in range(series):
        label, score = make_series(number, points)
        with clock:
            total += vuskit.evaluate(label, score, buffer=BUFFER)["vus_pr"]
    return total


def run_frame(clock: Clock, path: Path, engine: str) -> float:
    """Call `evaluate_frame` once; return the sum of all values of VUS-PR."""
    options = {"by": "series", "order": "t", "scores": "score", "buffer": BUFFER}
    if engine == "duckdb":
        import duckdb

        connection = duckdb.connect()
        connection.execute("set memory_limit = '400MB'")
        connection.execute(f"set temp_directory = '{path.parent}'")
        frame = connection.read_parquet(str(path))
    else:
        import polars

        frame = polars.scan_parquet(path)
    with clock:
        values = vuskit.evaluate_frame(frame, **options)
    if engine == "duckdb":
        return values.filter("measure = 'vus_pr'").aggregate("sum(value)").fetchall()[0][0]
    return values.filter(polars.col("measure") == "vus_pr")["value"].sum()


def run_command(clock: Clock, path: Path) -> float:
    """Do what ``vuskit evaluate FILE --by series`` does; return the sum of all values of VUS-PR."""
    from vuskit.bench import evaluate_inputs
    from vuskit.datasets import Columns, open_inputs
    from vuskit.engine import ExecutorSettings
    from vuskit.report.publication import publication_table

    settings = vuskit.EvaluationSettings(buffer=BUFFER)
    with clock:
        values = evaluate_inputs(
            open_inputs(path, columns=Columns(by="series", score="score", order="t")),
            settings=settings,
            executor=ExecutorSettings("local", 1),
        )
        publication_table(values)
    return sum(row["value"] for row in values.records() if row["measure"] == "vus_pr")


def run_part(part: str, path: Path, options: argparse.Namespace) -> dict[str, float]:
    """Run one part in a process of its own."""
    # A process starts with the peak memory of its parent, so this one must stay small.
    command = [sys.executable, __file__, "--part", part, "--file", str(path)]
    command += ["--series", str(options.series), "--points", str(options.points)]
    command += ["--engine", options.engine, *["--shuffled"] * options.shuffled]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def run_here(options: argparse.Namespace) -> dict[str, float]:
    """Run one part in this process."""
    clock = Clock()
    if options.part == "write":
        write_file(options.file, options.series, options.points, options.shuffled)
        return {}
    if options.part == "loop":
        total = run_loop(clock, options.series, options.points)
    elif options.part == "frame":
        total = run_frame(clock, options.file, options.engine)
    else:
        total = run_command(clock, options.file)
    return {
        "seconds": clock.seconds,
        "processor_seconds": clock.processor_seconds,
        "total": total,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--engine", choices=["duckdb", "polars"], default="duckdb")
    parser.add_argument("--shuffled", action="store_true", help="rows of a series lie apart")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        print(json.dumps(run_here(options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.parquet"
        run_part("write", path, options)
        print(f"{options.series:,} series of {options.points:,} points, {options.engine}")
        found = {side: run_part(side, path, options) for side in SIDES}
    print("          seconds  processor seconds  peak MB")
    for side, result in found.items():
        seconds, processor = result["seconds"], result["processor_seconds"]
        print(f"{side:6} {seconds:10.1f} {processor:18.1f} {result['peak'] / 1e6:8.0f}")
    loop = found["loop"]
    for side in SIDES[1:]:
        # Sums in another order may differ in their last digits.
        if abs(found[side]["total"] - loop["total"]) > 1e-9 * options.series:
            sys.exit(f"values must be equal, got sums {found[side]['total']!r}, {loop['total']!r}")
    for side, other in (("frame", "loop"), ("command", "frame")):
        ratios = [found[side][name] / found[other][name] for name in ("seconds", _PROCESSOR)]
        print("{} / {}  {:10.2f} {:18.2f}".format(side, other, *ratios))


if __name__ == "__main__":
    main()
