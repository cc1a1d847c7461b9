"""Run the studies on a folder of saved scores, time them, and compare with published numbers.

    python benchmarks/studies_run.py SCORES --published FOLDER --output out/studies

``--authors PYTHON`` also times the package vus 0.0.6 on a random sample of the series and says how
long it would take for the same robustness study; PYTHON is that of an environment with the package
(``python benchmarks/speed.py`` makes one in ``.peers/vus``). Results are kept in the output folder
as ``vuskit study`` keeps them: to time a study anew, give an empty one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from docs_block import replace_block

from vuskit._util.optional import describe_environment
from vuskit.report.tables import markdown_table, titled_table
from vuskit.studies import Robustness, compare_with_published, open_scores, run_study, summarize

ON_WHOLE_SERIES = 2  # lag and noise; crops are shorter, so they are left out of the estimate


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(name: str, run: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    wall, cpu = time.perf_counter(), processor_seconds()
    result = run()
    row = {
        "study": name,
        "seconds": round(time.perf_counter() - wall, 1),
        "processor seconds": round(processor_seconds() - cpu, 1),
        "load average": round(os.getloadavg()[0], 1),
    }
    print(row, flush=True)
    return result, row


def times_text(rows: list[dict[str, Any]], n_series: int, processes: int) -> str:
    machine = describe_environment()
    return (
        f"{n_series} series in {processes} processes on {machine['cpus']} cores "
        f"({machine['cpu']}), numpy {machine['libraries']['numpy']}, {machine['core']} core; the "
        "load average, taken at the end, says how much else was running:\n\n"
        f"{markdown_table(pd.DataFrame(rows))}"
    )


def estimate_authors(scores: Path, python: str, sample: int, count: int = 10) -> None:
    sources = open_scores(scores)
    random = np.random.default_rng(0)
    chosen = set(random.choice(len(sources), size=min(sample, len(sources)), replace=False))
    jobs, cells = [], 0
    for index, source in enumerate(sources):
        scored = source.read()
        cells += len(scored.detectors)
        if index in chosen:
            detector = str(random.choice(scored.detectors))
            buffer = Robustness().choose_buffer(scored).length
            jobs.append([str(source.path.resolve()), detector, buffer])  # type: ignore[attr-defined]
    done = subprocess.run(
        [python, str(Path(__file__).with_name("studies_authors.py"))],
        input=json.dumps(jobs), capture_output=True, text=True, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    seconds = np.array(json.loads(done.stdout))
    evaluations = cells * count * ON_WHOLE_SERIES
    means = [random.choice(seconds, seconds.size).mean() for _ in range(2000)]
    days = np.array([seconds.mean(), *np.quantile(means, [0.025, 0.975])]) * evaluations / 86_400
    print(
        f"\nAuthors' code: {seconds.size} evaluations of one random detector on random series took "
        f"{seconds.mean():.2f} processor seconds each (median {np.median(seconds):.2f}, "
        f"{seconds.min():.2f} to {seconds.max():.2f}); the {evaluations:,} evaluations of lag and "
        f"noise alone would take {days[0]:.1f} days of one core (95% interval {days[1]:.1f} to "
        f"{days[2]:.1f})\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("--published", type=Path, help="folder of published tables")
    parser.add_argument("--output", type=Path, default=Path("out") / "studies")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--authors", metavar="PYTHON", help="of an environment with vus 0.0.6")
    parser.add_argument("--sample", type=int, default=20, help="evaluations by the authors' code")
    parser.add_argument("--docs", type=Path, help="page whose tables and figures are rewritten")
    parser.add_argument("--times", action="store_true", help="also write the times")
    parser.add_argument("--only", choices=["robustness", "authors"], help="nothing else")
    arguments = parser.parse_args()
    options = {"processes": arguments.processes, "folder": arguments.output / "series"}
    if arguments.only != "authors":
        run_studies(arguments, options)
    if arguments.authors:
        estimate_authors(arguments.scores, arguments.authors, arguments.sample)


def run_studies(arguments: argparse.Namespace, options: dict[str, Any]) -> None:
    scores = arguments.scores
    robust, row = timed("robustness", lambda: run_study("robustness", scores, **options))
    rows, blocks = [row], {}
    if arguments.only is None:
        consistent, row = timed("consistency", lambda: run_study("consistency", scores, **options))
        rows += [row, timed("scenarios", lambda: run_study("scenarios"))[1]]
        separable, row = timed("separability", lambda: run_study("separability", scores, **options))
        rows.append(row)
        found = summarize(robust, separable, consistent)
        blocks["ranks"] = titled_table(found.ranks, found.measures)
        blocks["separability"] = titled_table(separable.averages(), found.measures)
        print(markdown_table(titled_table(consistent.averages(), found.measures)))
        if arguments.docs is not None:
            drawn = {
                "scatter": found.figures()["scatter"],
                "lag_ranks": robust.comparisons()["lag"].figure(own_measures=robust.measures),
            }
            for name, display in drawn.items():
                place = arguments.docs.parent / "figures" / f"studies_{name}.png"
                display.plot().figure_.savefig(place, dpi=150)
    blocks["deviations"] = titled_table(robust.averages(), robust.measures)
    tables = {name: markdown_table(one) for name, one in blocks.items()}
    if arguments.times:
        tables["times"] = times_text(rows, len(robust.values), options["processes"])
    for name, table in tables.items():
        print(table)
        if arguments.docs is not None:
            replace_block(arguments.docs, name, table)
    counts = robust.undefined().groupby("perturbation", sort=False).sum(numeric_only=True)
    print(markdown_table(counts.reset_index()))
    if arguments.published is not None:
        print(compare_with_published(robust, arguments.published))


if __name__ == "__main__":
    main()
