"""Freeze autorank's statistics as golden data: ``tests/golden/autorank.json``.

With ``E`` a folder of your choice::

    python3 -m venv E
    E/bin/pip install autorank
    E/bin/python benchmarks/freeze_autorank.py tests/golden/autorank.json --leaderboard TABLE

``TABLE`` is a csv of detectors (columns) over series; only what autorank says about it is stored.
autorank takes no missing cells, so rows that have one are dropped before it sees the table.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
from autorank import autorank

NOT_DETECTORS = 7  # the leaderboard's last columns describe the series
EFFECTS = {"cohens_d": "cohen_d", "cliffs_delta": "cliff_delta"}


def tables() -> dict[str, pd.DataFrame]:
    random = np.random.default_rng(2024)
    continuous = random.random((30, 5)) + np.linspace(0, 0.4, 5)
    tied = np.round(random.random((40, 6)) + np.linspace(0, 0.3, 6), 1)
    missing = random.random((50, 4)) + np.linspace(0, 0.2, 4)
    missing[random.random(missing.shape) < 0.08] = np.nan
    alike = random.random((12, 3))
    found = {"continuous": continuous, "tied": tied, "missing": missing, "alike": alike}
    return {
        name: pd.DataFrame(values, columns=[f"d{k}" for k in range(values.shape[1])])
        for name, values in found.items()
    }


def answers(table: pd.DataFrame, alpha: float) -> dict[str, object]:
    complete = table.dropna()
    effects = {}
    for ours, theirs in EFFECTS.items():
        with contextlib.redirect_stdout(io.StringIO()):  # it prints its table
            found = autorank(complete, alpha=alpha, force_mode="nonparametric", effect_size=theirs)
        first = found.rankdf.index[0]
        sizes = found.rankdf["effect_size"].drop(first)
        effects[ours] = {"first": first, "sizes": {name: float(v) for name, v in sizes.items()}}
    return {
        "alpha": alpha,
        "n": len(complete),
        "p_value": float(found.pvalue),
        "critical_difference": float(found.cd),
        "mean_ranks": {name: float(rank) for name, rank in found.rankdf["meanrank"].items()},
        "effects": effects,
    }


def _as_json(table: pd.DataFrame) -> dict[str, object]:
    # Not DataFrame.to_json, which rounds.
    data = [[None if np.isnan(v) else v for v in row] for row in table.to_numpy().tolist()]
    return {"columns": list(table.columns), "data": data}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", type=Path)
    parser.add_argument("--leaderboard", type=Path)
    arguments = parser.parse_args()
    cases = [
        {
            "name": name,
            "alpha": alpha,
            "table": _as_json(table),
            "autorank": answers(table, alpha),
        }
        for name, table in tables().items()
        for alpha in (0.05, 0.1)
    ]
    if arguments.leaderboard is not None:
        board = pd.read_csv(arguments.leaderboard, index_col=0).iloc[:, :-NOT_DETECTORS]
        cases.append({"name": "leaderboard", "alpha": 0.05, "autorank": answers(board, 0.05)})
    version = importlib.metadata.version("autorank")
    content = {"autorank": version, "tolerance": 1e-9, "cases": cases}
    arguments.target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
