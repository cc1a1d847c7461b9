"""Recompute entries of TSB-AD's leaderboard: which buffer do its VUS-PR values use?

    python benchmarks/tsb_ad_rows.py SERIES LEADERBOARD.csv

SERIES is a folder of series in the format of TSB-UAD, LEADERBOARD.csv the merged VUS-PR table of
TSB-AD (univariate). The detector is MatrixProfile, which is deterministic: stumpy with the period
as window, placed as TSB-AD does.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
import stumpy

import vuskit
from vuskit.datasets import read_series

# All files that were tried. Length and numbers of anomalies and anomalous points agree; the values
# could not be compared. Name in TSB-UAD, name in TSB-AD.
SERIES = {
    "NAB/NAB_data_KnownCause_3": "001_NAB_id_1_Facility_tr_1007_1st_2014",
    "NAB/NAB_data_CloudWatch_1": "019_NAB_id_19_Facility_tr_1007_1st_1171",
    "NAB/NAB_data_Traffic_3": "005_NAB_id_5_Traffic_tr_594_1st_1645",
    "NAB/NAB_data_KnownCause_1": "016_NAB_id_16_Environment_tr_1816_1st_3540",
    "KDD21/249_UCR_Anomaly_weallwalk_2753_8285_8315": "310_UCR_id_8_HumanActivity_tr_2631_1st_8285",
    "KDD21/019_UCR_Anomaly_DISTORTEDGP711MarkerLFM5z1_5000_6168_6212": (
        "419_UCR_id_117_Facility_tr_3000_1st_6168"
    ),
    "KDD21/053_UCR_Anomaly_DISTORTEDWalkingAceleration1_1500_2764_2995": (
        "334_UCR_id_32_HumanActivity_tr_1671_1st_2764"
    ),
    "NASA-SMAP/T-3.test": "549_SMAP_id_19_Sensor_tr_1998_1st_2098",
    "KDD21/066_UCR_Anomaly_DISTORTEDinsectEPG2_3700_8000_8025": (
        "437_UCR_id_135_Medical_tr_2499_1st_8000"
    ),
}


def matrix_profile(values: np.ndarray, window: int) -> np.ndarray:
    """Return the score of TSB-AD's MatrixProfile."""
    profile = stumpy.stump(values, m=window)[:, 0].astype(float)
    score = np.full(values.size, profile.min())
    score[window // 2 : -window // 2 + 1] = profile
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("series", type=Path)
    parser.add_argument("leaderboard", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
    with options.leaderboard.open(newline="") as stream:
        published = {row["file"]: float(row["MatrixProfile"]) for row in csv.DictReader(stream)}
    print('| series | L by `authors` | leaderboard | `buffer="authors"` | `buffer=100` |')
    print("| --- | ---: | ---: | ---: | ---: |")
    for ours, theirs in SERIES.items():
        series = read_series(next(options.series.glob(f"{ours}.*")))
        buffer = vuskit.choose_buffer("authors", values=series.values)
        score = matrix_profile(np.ravel(series.values), buffer.length)
        found = [
            vuskit.vus_pr(series.labels, score, buffer=length, thresholds=250)
            for length in (buffer, 100)
        ]
        cells = [f"{one:.6f}" for one in (published[f"{theirs}.csv"], *found)]
        print(f"| {theirs} | {buffer.length} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
