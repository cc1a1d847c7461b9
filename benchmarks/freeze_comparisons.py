"""Freeze comparisons of aeon and baycomp as golden data: ``tests/golden/comparisons.json``.

With ``E`` a folder of your choice::

    python3 -m venv E
    E/bin/pip install aeon baycomp matplotlib
    E/bin/python benchmarks/freeze_comparisons.py tests/golden/comparisons.json

The values are multiples of 1/64, so equal differences are equal in the computer, too.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import baycomp
import numpy as np
import pandas as pd
from aeon.visualisation import create_multi_comparison_matrix

TABLES = 20
ROPE = 2.25 / 64  # no mean of two differences is at its edge
TEST = {"zero_method": "wilcox", "alternative": "two-sided"}


def table(seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    shape = int(random.integers(8, 41)), 3
    values = random.integers(0, 40, shape) + random.integers(0, 12, 3)
    return pd.DataFrame(values / 64, columns=["a", "b", "c"])


def matrix(values: pd.DataFrame) -> dict[str, list[float]]:
    """Mean difference, wins, ties, losses and p-value of each pair, as aeon computes them."""
    with tempfile.TemporaryDirectory() as folder:
        create_multi_comparison_matrix(
            values, save_path=f"{folder}/mcm", formats="json", pvalue_test_params=TEST
        )
        found = json.loads(Path(f"{folder}/mcm_analysis.json").read_text())
    names = ("mean", "win", "tie", "loss", "pvalue")
    pairs = combinations(values.columns, 2)
    return {
        f"{one}{other}": [found[f"{one}-vs-{other}"][key] for key in names] for one, other in pairs
    }


def better(values: pd.DataFrame) -> list[float]:
    """Probabilities that a is better than b, equal and worse, as baycomp computes them."""
    sample = baycomp.SignedRankTest(
        values["b"].to_numpy(), values["a"].to_numpy(), ROPE, random_state=0
    )
    worse, equal, more = sample.probs()
    return [float(more), float(equal), float(worse)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", type=Path)
    cases: list[dict[str, Any]] = []
    for seed in range(TABLES):
        values = table(seed)
        sixty_fourths = (values * 64).astype(int).to_numpy().tolist()
        cases.append({"values": sixty_fourths, "aeon": matrix(values), "baycomp": better(values)})
    versions = {name: importlib.metadata.version(name) for name in ("aeon", "baycomp", "scipy")}
    lines = ",\n".join(map(json.dumps, cases))
    head = json.dumps({**versions, "rope": ROPE})[:-1]
    text = f'{head}, "cases": [\n{lines}\n]}}\n'
    parser.parse_args().target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
