"""Values of detectors on synthetic series by difficulty: easier series must score higher.

    python benchmarks/difficulty.py --seeds 5

For each family and detector the script prints the mean AUC-ROC and VUS-PR of easy, medium and hard
series. A detector suits a family if its mean AUC-ROC is at least 0.7 at one difficulty. Exit status
1: a measure of a suited detector is higher on harder series, by more than two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import auc_roc, vus_pr
from vuskit.datasets.synthetic import list_families, make_series
from vuskit.datasets.synthetic.make import DIFFICULTIES, KINDS
from vuskit.detectors import get_detector

# LOF by default compares a window with 20 others. One long anomaly contains more, so the anomalies
# that differ most from the rest look normal to it.
DETECTORS: dict[str, dict[str, Any]] = {
    "iforest": {},
    "lof": {"n_neighbors": 150},
    "pca": {},
    "mp": {},
    "norma": {},
    "poly": {},
}
SUITED = 0.7


def values_by_difficulty(
    family: str, detector: str, seeds: int, *, kind: str = "native", n: int = 4000
) -> NDArray[np.float64]:
    """AUC-ROC and VUS-PR: shape (3 difficulties from easy to hard, seeds, 2)."""
    return np.array(
        [
            [_values(family, detector, difficulty, seed, kind, n) for seed in range(seeds)]
            for difficulty in DIFFICULTIES
        ]
    )


def _values(
    family: str, detector: str, difficulty: str, seed: int, kind: str, n: int
) -> tuple[float, float]:
    series = make_series(
        family, n=n, n_anomalies=n // 1000, kind=kind, difficulty=difficulty, seed=seed
    )
    scores = get_detector(detector, **DETECTORS[detector]).fit_score(series)
    return auc_roc(series.labels, scores), vus_pr(series.labels, scores, max_buffer=50)


def rising_measures(values: NDArray[np.float64]) -> list[str]:
    """Names of the measures that rise with the difficulty; empty if the detector is not suited."""
    if values[..., 0].mean(axis=1).max() < SUITED:
        return []
    rises = np.diff(values, axis=0)
    errors = rises.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    found = (rises.mean(axis=1) > 2 * errors).any(axis=0)
    return [name for name, rising in zip(("AUC-ROC", "VUS-PR"), found, strict=True) if rising]


def main(arguments: Sequence[str] | None = None) -> int:
    families = [family.name for family in list_families()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", choices=families, default=families)
    parser.add_argument("--detectors", nargs="+", choices=DETECTORS, default=DETECTORS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=("native",))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(arguments)
    problems = 0
    for family in options.families:
        for kind in options.kinds:
            for detector in options.detectors:
                values = values_by_difficulty(family, detector, options.seeds, kind=kind)
                rising = rising_measures(values)
                means = values.mean(axis=1)
                problems += bool(rising)
                print(
                    f"{family:13} {kind:10} {detector:8}",
                    "AUC-ROC",
                    *(f"{value:.2f}" for value in means[:, 0]),
                    " VUS-PR",
                    *(f"{value:.2f}" for value in means[:, 1]),
                    f" {' and '.join(rising)} must not rise" if rising else "",
                    flush=True,
                )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
