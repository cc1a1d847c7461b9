"""Why published lag values differ from ours: the saved scores are of shorter series.

    python benchmarks/lag_lengths.py SCORES --published FOLDER [--series WHOLE] [--docs PAGE]

SCORES is a folder of saved scores, FOLDER one of published tables, WHOLE one of whole series with
the same names. The first table compares lengths with the paper's table of data sets, and our lag
values, as published, with the published ones. The second one applies the authors' rules for the
section and the buffer to the saved and to the whole series. ``--work`` keeps finished series.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pandas as pd
from docs_block import replace_block

import vuskit
from vuskit.datasets import read_series
from vuskit.report.tables import markdown_table
from vuskit.studies import compare_with_published, open_scores, run_study
from vuskit.studies.perturbations import rare_section
from vuskit.studies.published import series_key

LENGTHS = {
    "ECG": 230_351, "IOPS": 102_119, "KDD21": 77_415, "MGAB": 100_000, "NAB": 6_301,
    "SensorScope": 27_038,
}  # fmt: skip
"""Mean lengths in the paper's table of data sets."""

SECTION = 10_000


def by_dataset(cells: pd.DataFrame, lengths: dict[tuple[str, str], int]) -> Iterator[dict]:
    """Yield one row for each data set: lengths, and the factor between the thirteen means."""
    for dataset, rows in cells[cells["quantity"] == "lag"].groupby("dataset"):
        here = [lengths[dataset, item] for item in rows["item"].unique()]
        means = rows.groupby("measure")[["here", "published"]].mean()
        ratio = means["here"] / means["published"]
        yield {
            "data set": dataset,
            "series": len(here),
            "mean length, saved": f"{fmean(here):,.0f}",
            "mean length, paper": f"{LENGTHS[dataset]:,}" if dataset in LENGTHS else "-",
            "median factor": f"{np.maximum(ratio, 1 / ratio).median():.2f}",
        }


def section_of(series: Any) -> tuple[np.ndarray, int]:
    """Return the values of the published section and its buffer."""
    found = rare_section(np.asarray(series.labels, dtype=bool), SECTION)
    values = np.ravel(series.values)[found.start : found.stop]
    return values, vuskit.choose_buffer("authors", values=values).length


def sections(saved: Any, whole: Path) -> Iterator[dict[str, Any]]:
    """Yield one row for each data set: how often section and buffer change with the length."""
    files = {series_key(path.name): path for path in whole.rglob("*.out*")}
    pairs: dict[str, list[tuple[Any, Any]]] = {}
    for source in saved:
        path = files.get(series_key(source.series))
        if path is None:
            continue
        ours, theirs = source.load().series, read_series(path)
        if len(theirs.labels) > 1.1 * len(ours.labels):
            pairs.setdefault(source.dataset, []).append((section_of(ours), section_of(theirs)))
    for dataset, several in sorted(pairs.items()):
        changes = [abs(a[1] - b[1]) / max(a[1], b[1]) for a, b in several]
        yield {
            "data set": dataset,
            "series": len(several),
            "another section": sum(not np.array_equal(a[0], b[0]) for a, b in several),
            "another L": sum(a[1] != b[1] for a, b in several),
            "median change of L": f"{median(changes):.0%}",
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--series", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    saved = open_scores(options.scores)
    blocks = {}
    if options.series:
        blocks["sections"] = pd.DataFrame(sections(saved, options.series))
        print(markdown_table(blocks["sections"]), flush=True)
    found = run_study(
        "robustness", options.scores, perturbations=["lag"], as_published=True,
        folder=options.work, processes=options.processes,
    )  # fmt: skip
    lengths = {(one.dataset, one.series): one.notes["points"] for one in found.values}
    cells = compare_with_published(found, options.published).cells
    blocks["lengths"] = pd.DataFrame(by_dataset(cells, lengths))
    print(markdown_table(blocks["lengths"]))
    for name, table in blocks.items():
        if options.docs:
            replace_block(options.docs, name, markdown_table(table))


if __name__ == "__main__":
    main()
