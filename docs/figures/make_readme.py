"""Draw the picture of the README: a series of ``vuskit demo`` and the ranks of all detectors.

Run with ``python docs/figures/make_readme.py [FOLDER]``; runs the demo in FOLDER, which may be that
of an earlier one, or in a temporary folder, and writes ``docs/figures/readme.png``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vuskit.bench import Run
from vuskit.datasets import ScoredSeries
from vuskit.report.publication import PublicationTable, publication_table
from vuskit.studies import open_scores

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()", "demo", "--output"]
# Palette of Okabe and Ito, for readers with any kind of color vision.
_COLORS = ("#0072B2", "#D55E00", "#009E73")
_SHADE, _INK, _OTHERS = "#CC79A7", "#222222", "#C4C4C4"


def main() -> None:
    with tempfile.TemporaryDirectory() as own:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else own)
        subprocess.run([*COMMAND, str(folder)], check=True)
        run = Run(folder / "benchmark")
        table = publication_table(run, columns="measure", by="series", spread="none", rank=None)
        (source,) = open_scores(folder / "scores.csv")
        draw(source.read(), table, Path(__file__).with_name("readme.png"))


def draw(scored: ScoredSeries, table: PublicationTable, path: Path) -> None:
    """Draw a series with its scores next to the ranks of the detectors."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    colors = dict(zip(scored.scores, _COLORS, strict=False))
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.05], wspace=0.02)
    _draw_tracks(list(left.subplots(1 + len(colors), 1)), scored, colors)
    _draw_places(right.subplots(), table, colors)
    figure.savefig(path, dpi=140)


def ranks(table: PublicationTable) -> dict[tuple[str, str], int]:
    """Return the rank of each detector by the mean of each measure."""
    means = {(one["measure"], one["detector"]): one["mean"] for one in table.cells}
    return {
        (m, name): 1 + sum(means[m, other] > means[m, name] for other in table.detectors)
        for m in table.measures
        for name in table.detectors
    }


def _draw_tracks(axes: Sequence[Axes], scored: ScoredSeries, colors: Mapping[str, str]) -> None:
    series = scored.series
    first, last = _window(series.events, series.n_points)
    part = slice(first, last)
    time = np.arange(first, last)
    values = np.asarray(series.values).reshape(series.n_points, -1)[part, 0]
    axes[0].plot(time, values, color=_INK, linewidth=0.8)
    axes[0].set_title(
        f"{series.dataset}/{series.name}: anomalies shaded, scores below", loc="left", fontsize=9
    )
    axes[0].set_ylabel("series", fontsize=8)
    for axis, (name, score) in zip(axes[1:], scored.scores.items(), strict=True):
        axis.fill_between(time, score[part], score.min(), color=colors[name], linewidth=0)
        axis.set_ylabel(name, fontsize=8, color=colors[name])
        axis.set_ylim(score.min(), score.max())
    for axis in axes:
        for start, stop in series.events:
            axis.axvspan(start, stop, color=_SHADE, alpha=0.3, linewidth=0, zorder=0)
        axis.set(xlim=(first, last - 1), xticks=[], yticks=[])
        axis.spines[["top", "right", "left"]].set_visible(False)


def _window(events: Sequence[tuple[int, int]], n: int, most: int = 3) -> tuple[int, int]:
    """Return the part with the first few anomalies; a whole series would be unreadable."""
    shown = events[:most]
    room = max(60, 2 * (shown[0][1] - shown[0][0]))
    return max(shown[0][0] - room, 0), min(shown[-1][1] + room, n)


def _draw_places(axis: Axes, table: PublicationTable, colors: Mapping[str, str]) -> None:
    places = ranks(table)
    across = np.arange(len(list(table.measures)))
    for name in table.detectors:
        color = colors.get(name, _OTHERS)
        shown = name in colors
        of_detector = [places[measure, name] for measure in table.measures]
        width, layer = (2.2, 3) if shown else (1.4, 2)
        axis.plot(
            across, of_detector, "-o", color=color, markersize=5, linewidth=width, zorder=layer
        )
        axis.annotate(
            name,
            (across[-1], of_detector[-1]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=color if shown else "#555555",
            annotation_clip=False,
        )
    titles = list(table.measures.values())
    axis.set_xticks(across, titles, rotation=55, ha="right", rotation_mode="anchor", fontsize=8)
    axis.set_yticks(range(1, len(table.detectors) + 1))
    axis.tick_params(length=0, labelsize=8)
    axis.set_ylim(len(table.detectors) + 0.4, 0.6)
    axis.grid(visible=True, axis="x", alpha=0.25)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axis.set_title(
        f"Rank of {len(table.detectors)} detectors by measure",
        loc="left",
        fontsize=9,
    )


if __name__ == "__main__":
    main()
