"""Make the picture of ``docs/how-vus-works.md``: from labels to the volume under the surface.

Run with ``python docs/figures/make_how_vus_works.py``; writes ``docs/figures/how_vus_works.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from make_gallery import shrunk
from matplotlib import pyplot as plt

import vuskit
from vuskit.figures import soft_label

LONGEST, SHOWN = 40, 20  # the longest buffer, and the one of the curve
SCORE, LABEL, BUFFER = "#555555", "#c1272d", "#1f4e79"


def late_score() -> tuple[np.ndarray, np.ndarray]:
    """Return labels with one anomaly, and a score that rises late and has a false peak."""
    labels = np.zeros(200, dtype=int)
    labels[90:120] = 1
    points = np.arange(labels.size)
    score = np.exp(-(((points - 118) / 12) ** 2)) + 0.55 * np.exp(-(((points - 35) / 5) ** 2))
    return labels, score + 0.08 * np.random.default_rng(0).random(labels.size)


def main() -> None:
    labels, score = late_score()
    surface = vuskit.surface(labels, score, buffer=LONGEST, thresholds=None)
    volume = vuskit.vus_pr(labels, score, buffer=LONGEST)
    width = int(np.flatnonzero(surface.buffers == SHOWN)[0])
    points = np.arange(labels.size)

    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(7.2, 7.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12)
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1.15, 1.3))

    def panel(where: object, title: str, **options: object) -> plt.Axes:
        axes = figure.add_subplot(where, **options)
        axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
        return axes

    axes = panel(grid[0, :], "1  Labels and score: the detector is a little late")
    axes.fill_between(points, labels, step="mid", color=LABEL, alpha=0.25, lw=0, label="label")
    axes.plot(points, score, color=SCORE, lw=1.3, label="score")
    axes.set(xlim=(0, 199), ylim=(0, 1.15), xlabel="point", yticks=(0, 1))
    axes.legend(loc="upper right", frameon=False)

    axes = panel(grid[1, 0], "2  Ramps: soft labels for buffers w")
    for w, alpha in ((40, 0.35), (20, 0.6), (0, 1.0)):
        soft = soft_label(labels, buffer=w)
        axes.plot(points, soft, color=LABEL, alpha=alpha, lw=1.5, label=f"w = {w}")
    axes.set(xlim=(60, 150), ylim=(0, 1.15), xlabel="point", ylabel="soft label", yticks=(0, 1))
    axes.legend(loc="lower center", frameon=False)

    axes = panel(grid[1, 1], f"3  Curve at one buffer (w = {SHOWN})")
    complete = int(np.argmax(surface.tpr[width] == 1)) + 1
    recall = np.append(0, surface.tpr[width, :complete])
    precision = np.append(1, surface.precision[width, :complete])
    axes.fill_between(recall, precision, step="pre", color=BUFFER, alpha=0.2, lw=0)
    axes.step(recall, precision, where="pre", color=BUFFER, lw=1.5)
    axes.text(0.3, 0.4, f"area = R-AUC-PR\n= {surface.range_auc_pr[width]:.2f}", color=BUFFER)
    axes.set(xlim=(0, 1.02), ylim=(0, 1.05), xlabel="recall (TPR)", ylabel="precision")

    axes = panel(grid[2, 0], "4  Surface: a curve for every buffer", projection="3d")
    axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=9.5, fontweight="bold", x=-0.12)
    x = np.linspace(0.005, 1, 80)
    heights = np.array(
        [
            precision[np.minimum(np.searchsorted(recall, x), recall.size - 1)]
            for recall, precision in zip(surface.tpr, surface.precision, strict=True)
        ]
    )
    axes.plot_surface(
        *np.meshgrid(x, surface.buffers), heights, cmap="Blues", vmin=-0.4, lw=0, rstride=1,
        cstride=1, antialiased=True,
    )  # fmt: skip
    axes.plot(x, np.full_like(x, SHOWN), heights[width], color=BUFFER, lw=2, zorder=9)
    axes.set(xlabel="recall", ylabel="buffer w", zlim=(0, 1), xticks=(0, 0.5, 1))
    axes.set(yticks=(0, SHOWN, LONGEST), zticks=(0, 0.5, 1))
    axes.set_zlabel("precision", labelpad=-6)
    axes.tick_params(pad=-1)
    axes.view_init(elev=28, azim=-58)
    axes.set_box_aspect(None, zoom=1.02)

    axes = panel(grid[2, 1], "5  Volume: the mean area")
    areas = surface.range_auc_pr
    axes.fill_between(surface.buffers, areas, color=BUFFER, alpha=0.2, lw=0)
    axes.plot(surface.buffers, areas, color=BUFFER, lw=1.5)
    axes.plot(SHOWN, areas[width], "o", color=BUFFER, ms=5)
    axes.axhline(volume, color=LABEL, lw=1.3, ls="--")
    axes.text(LONGEST, volume - 0.03, f"VUS-PR = {volume:.2f}", color=LABEL, ha="right", va="top")
    axes.set(xlim=(0, LONGEST), ylim=(0, 1), xlabel="buffer w", ylabel="R-AUC-PR")

    path = Path(__file__).with_name("how_vus_works.png")
    figure.savefig(path, dpi=150)
    shrunk(path)


if __name__ == "__main__":
    main()
