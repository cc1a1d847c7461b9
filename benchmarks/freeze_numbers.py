"""Freeze every measure on real scores, and compare another version with the frozen values.

    python benchmarks/freeze_numbers.py SCORES --output frozen.json       # with the old version
    python benchmarks/freeze_numbers.py SCORES --compare frozen.json      # with the new version

SCORES is a folder of files ``value,label,<detector>,...``. The script computes all registered
measures for every definition, with all thresholds and on a grid of 250, for several sides, steps,
threshold rules and options. The comparison fails when a value differs by more than 1e-12. Only
public names are used, so that one file runs with versions that differ inside.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import vuskit

TOLERANCE = 1e-12
LONGEST = 20_000  # points; keeps the slow measures of other papers affordable
SETTINGS: list[dict[str, Any]] = [
    *(
        {"definition": definition, "thresholds": thresholds}
        for definition in ("journal", "pvldb2022", "timeeval")
        for thresholds in (None, 250)
    ),
    {"side": "before"},
    {"side": "after", "definition": "pvldb2022"},
    {"step": 7},
    {"threshold": "quantile"},
    {"threshold": "best"},
    {"threshold": 0.5},
    {"k": 25},
]
OPTIONS = [
    ("f_score", {"beta": 2}),
    ("range_f_score", {"cardinality": "reciprocal"}),
    ("range_recall", {"alpha": 0.2}),
    ("auc_pr", {"interpolation": "trapezoid"}),
    ("range_auc_pr", {"definition": "pvldb2022"}),
    ("point_adjusted_f_score", {"k": 0.5}),
]


def values_of(path: Path) -> Iterator[tuple[str, float]]:
    """Yield an identifier and a value for every detector, setting and measure."""
    table = pd.read_csv(path)[:LONGEST]
    labels, values = table["label"].to_numpy(dtype=int), table["value"].to_numpy()
    buffer = vuskit.choose_buffer("authors", values=np.nan_to_num(values)).length
    optional = [vuskit.get_measure(name).with_options(**options) for name, options in OPTIONS]
    for place, detector in enumerate(table.columns[2:]):
        score = table[detector].to_numpy()
        # All settings for the first two detectors, the defaults for all of them.
        for settings in SETTINGS if place < 2 else SETTINGS[:2]:
            measures = "all" if place < 2 else "paper"
            found = vuskit.evaluate(labels, score, buffer=buffer, measures=measures, **settings)
            for name, value in found.items():
                yield f"{detector} {json.dumps(settings)} {name}", float(value)
        if place < 2:
            found = vuskit.evaluate(labels, score, buffer=buffer, measures=optional)
            for name, value in found.items():
                yield f"{detector} {name}", float(value)
            for function in (vuskit.vus_roc, vuskit.vus_pr):
                value = function(labels, score, max_buffer=buffer, step=3, thresholds=100)
                yield f"{detector} single {function.__name__}", float(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--every", type=int, default=5, help="use every n-th file")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--compare", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    frozen: dict[str, float] = {}
    paths = sorted(arguments.scores.rglob("*.csv*"))[:: arguments.every]
    for path in paths:
        for name, value in values_of(path):
            frozen[f"{path.relative_to(arguments.scores)} {name}"] = value
    print(f"{len(frozen)} values of {len(paths)} files")
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(frozen))
    if arguments.compare is None:
        return 0
    expected = json.loads(arguments.compare.read_text())
    missing = expected.keys() ^ frozen.keys()
    gaps = {
        name: abs(frozen[name] - expected[name])
        for name in expected.keys() & frozen.keys()
        if not (np.isnan(frozen[name]) and np.isnan(expected[name]))
    }
    worst = max(gaps, key=lambda name: gaps[name])
    differing = [name for name, gap in gaps.items() if not gap <= TOLERANCE]
    equal = sum(gap == 0 for gap in gaps.values())
    print(f"{equal} of {len(gaps)} values are identical; largest difference {gaps[worst]:.2g}")
    for name in [*sorted(missing)[:10], *sorted(differing)[:10]]:
        print(name, expected.get(name), frozen.get(name))
    return 1 if missing or differing else 0


if __name__ == "__main__":
    sys.exit(main())
