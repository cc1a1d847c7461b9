"""Small series with the scores of a good, a late, a noisy and a useless detector."""

from __future__ import annotations

import numpy as np

from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.store import Store


def make_scored(seed, *, dataset="plant", n=600, n_anomalies=3, length=12):
    random = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=bool)
    for start in np.linspace(60, n - 90, n_anomalies).astype(int) + random.integers(0, 20):
        labels[start : start + length] = True
    smooth = np.convolve(labels, np.ones(9) / 9, mode="same")
    values = np.sin(np.arange(n) * 2 * np.pi / 25) + smooth
    scores = {
        "good": smooth + 0.05 * random.random(n),
        "late": np.roll(smooth, 8) + 0.05 * random.random(n),
        "noisy": smooth + 0.8 * random.random(n),
        "useless": -smooth + random.random(n),
    }
    return ScoredSeries(Series(f"s{seed}", dataset, values, labels), scores)


def write_scored(folder, scored):
    """Save as a file that read_scores() reads."""
    place = folder / scored.series.dataset
    place.mkdir(parents=True, exist_ok=True)
    columns = [scored.series.values, scored.series.labels, *scored.scores.values()]
    header = ",".join(["value", "label", *scored.detectors])
    formats = ",".join(["%.6f", "%d"] + ["%.6f"] * len(scored.scores))
    path = place / f"{scored.series.name}.csv"
    np.savetxt(path, np.column_stack(columns), formats, header=header, comments="")
    return path


SOME = {"measures": ["f_score", "auc_pr", "range_auc_pr", "vus_pr"], "buffer": 24}


def make_several():
    """Six series of two data sets."""
    return [make_scored(seed, dataset=("plant", "mill")[seed % 2]) for seed in range(6)]


def stored(folder):
    """Results in a store with the times when they were stored; empty before there is one."""
    try:
        with Store.read(folder) as store:
            return {result.key: result.finished for result in store.results()}
    except InvalidInputError:
        return {}
