"""Draw the picture of the README: one series, three scores, four measures.

Run with ``python docs/figures/make_readme.py``; writes ``docs/figures/readme.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import vuskit
from vuskit.datasets.synthetic import three_scores

COLOURS = {"good": "#0072B2", "late": "#D55E00", "noisy": "#009E73"}
MEASURES = ["f_score", "auc_pr", "auc_roc", "vus_pr", "vus_roc"]


def main() -> None:
    scored = three_scores()
    series = scored.series
    table = vuskit.evaluate_many(series.labels, scored.scores, buffer=90, measures=MEASURES)
    start, stop = series.events[3][0] - 500, series.events[4][1] + 500
    window = slice(start, stop)
    time = np.arange(start, stop)

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(9, 3.9), layout="constrained")
    grid = figure.add_gridspec(4, 2, width_ratios=[1.5, 1])
    axes = [figure.add_subplot(grid[row, 0]) for row in range(4)]
    axes[0].plot(time, series.values[window], color="0.25", linewidth=0.8)
    axes[0].set_ylabel("series")
    for axis, (name, score) in zip(axes[1:], scored.scores.items(), strict=True):
        axis.fill_between(time, score[window], color=COLOURS[name], linewidth=0)
        axis.set_ylabel(name)
        axis.set_ylim(0, 1)
    for axis in axes:
        for a, b in series.events:
            axis.axvspan(a, b, color="#CC79A7", alpha=0.25, linewidth=0)
        axis.set(xlim=(start, stop - 1), xticks=[], yticks=[])
    axes[0].set_title("anomalies shaded", loc="left", fontsize=9)

    bars = figure.add_subplot(grid[:, 1])
    positions = np.arange(len(MEASURES))
    for shift, name in enumerate(scored.scores):
        values = [table[name][measure] for measure in MEASURES]
        drawn = bars.barh(
            positions + (shift - 1) * 0.27, values, 0.25, color=COLOURS[name], label=name
        )
        bars.bar_label(drawn, fmt="%.2f", padding=2, fontsize=7)
    bars.set_yticks(positions, [vuskit.get_measure(name).title for name in MEASURES])
    bars.invert_yaxis()
    bars.set(xlim=(0, 1.12), xticks=[0, 0.5, 1])
    bars.legend(loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_name("readme.png"), dpi=150)


if __name__ == "__main__":
    main()
