"""Draw every synthetic family for its docstring: python docs/figures/make_synthetic.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from vuskit.datasets.synthetic import (
    list_families,
    make_series,
)
from vuskit.datasets.synthetic.make import DIFFICULTIES, KINDS

FOLDER = Path(__file__).parent
SEED = 8
BEFORE, AFTER = 2, 3  # periods shown on either side of the first anomaly


def draw(axis, family, kind, difficulty):
    series = make_series(
        family.name, n=6000, n_anomalies=3, kind=kind, difficulty=difficulty, seed=SEED
    )
    first, last = series.events[0]
    begin = max(0, first - BEFORE * family.period)
    end = min(series.n_points, last + AFTER * family.period)
    axis.plot(range(begin, end), series.values[begin:end], color="#30475e", linewidth=0.7)
    for start, stop in series.events:
        if start < end:
            axis.axvspan(start - 0.5, min(stop, end) - 0.5, color="#e4572e", alpha=0.3, linewidth=0)
    axis.set_xlim(begin, end)
    axis.tick_params(labelsize=6)


def figure(family):
    grid, axes = plt.subplots(
        len(KINDS), len(DIFFICULTIES), figsize=(10, 6), layout="constrained", squeeze=False
    )
    for row, kind in zip(axes, KINDS, strict=True):
        for axis, difficulty in zip(row, DIFFICULTIES, strict=True):
            draw(axis, family, kind, difficulty)
            axis.set_title(f"{kind}, {difficulty}", fontsize=8)
    grid.suptitle(f"{family.name}: {family.title}", fontsize=10)
    grid.savefig(FOLDER / f"synthetic_{family.name}.png", dpi=70)
    plt.close(grid)


for entry in list_families():
    figure(entry)
