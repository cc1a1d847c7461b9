"""Score series with the detectors of the paper, under the names of the saved scores.

    python benchmarks/score_series.py SERIES/SED SCORES/SED

The saved scores of the authors lack SED, which Figures 13 and 14 of the paper show.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from detector_quality import COLUMNS

from vuskit.datasets import read_series
from vuskit.datasets.collection import read_collection
from vuskit.detectors import get_detector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("series", type=Path, help="folder of series")
    parser.add_argument("output", type=Path, help="folder of the scores")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for file in read_collection(arguments.series).files:
        one = read_series(file.path)
        table = pd.DataFrame({"value": one.values, "label": one.labels.astype(int)})
        for name, column in COLUMNS.items():
            table[column] = get_detector(name).fit_score(one.values)
            print(one.name, column, flush=True)
        table.to_csv(arguments.output / f"{one.name}.csv.gz", index=False)


if __name__ == "__main__":
    main()
