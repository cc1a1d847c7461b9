"""Overview figure of the demo: one series with three scores, and the rank of every detector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.bench._leaderboard import measure_called
from vuskit.cli.demo.findings import CHANCE, DECIDING, Findings, Floats
from vuskit.datasets import ScoredSeries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["most_disputed_series", "write_overview"]

# Palette of Okabe and Ito, for readers with any kind of color vision.
_COLORS = ("#0072B2", "#D55E00", "#009E73")
_SHADE, _INK, _OTHERS = "#CC79A7", "#222222", "#C4C4C4"


def most_disputed_series(findings: Findings, sources: Sequence[Any]) -> ScoredSeries:
    """Return the series on which the three leading detectors disagree most, with their scores.

    Parameters
    ----------
    findings : Findings
        Findings of the run.
    sources : sequence of Source
        The series with their scores.

    Returns
    -------
    ScoredSeries
        The series on which most of the three are best by some measure. Ties are broken by the
        highest value of the deciding measure.
    """
    report, names = findings.report, _preferred(findings)
    known = {source.name: source for source in sources}
    chosen = report.values[0][:, [report.detectors.index(name) for name in names]]

    def interest(place: int) -> tuple[int, float]:
        values = chosen[:, :, place]
        return _lone_winners(values), float(values[report.measures.index(DECIDING)].max())

    complete = np.isfinite(chosen).all(axis=(0, 1))
    places = [
        place for place, one in enumerate(report.series) if one.title in known and complete[place]
    ]
    scored: ScoredSeries = known[report.series[max(places, key=interest)].title].read()
    return ScoredSeries(scored.series, {name: scored.scores[name] for name in names})


def _preferred(findings: Findings) -> list[str]:
    """Return the detectors that are best by most measures; ties by the deciding measure."""
    firsts = (findings.places == 1).sum(axis=0)
    ranked = sorted(findings.order, key=lambda d: -firsts[d])
    names = [findings.detectors[d] for d in ranked if findings.detectors[d] != CHANCE]
    return names[: len(_COLORS)]


def _lone_winners(values: Floats) -> int:
    """Return how many columns are the unique best of some row."""
    best = values == values.max(axis=1, keepdims=True)
    return int(best[best.sum(axis=1) == 1].any(axis=0).sum())


def write_overview(findings: Findings, scored: ScoredSeries, path: Path) -> None:
    """Draw a series with its scores next to the ranks of the detectors; save it as png.

    Parameters
    ----------
    findings : Findings
        The run.
    scored : ScoredSeries
        From `most_disputed_series`.
    path : Path
        File to write.
    """
    # Figure instead of pyplot: no global state, no display.
    figure = require("matplotlib.figure", purpose="a figure").Figure(
        figsize=(10, 4.4), layout="constrained"
    )
    colors = dict(zip(scored.scores, _COLORS, strict=False))
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.05], wspace=0.02)
    _draw_tracks(list(left.subplots(1 + len(colors), 1)), scored, colors)
    _draw_places(right.subplots(), findings, colors)
    figure.savefig(path, dpi=140)


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


def _draw_places(axis: Axes, findings: Findings, colors: Mapping[str, str]) -> None:
    across = np.arange(len(findings.measures))
    for d, name in enumerate(findings.detectors):
        color = colors.get(name, _OTHERS)
        shown = name in colors
        places = findings.places[:, d]
        width, layer = (2.2, 3) if shown else (1.4, 2)
        axis.plot(across, places, "-o", color=color, markersize=5, linewidth=width, zorder=layer)
        axis.annotate(
            name,
            (across[-1], places[-1]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=color if shown else "#555555",
            annotation_clip=False,
        )
    titles = [measure_called(name).title for name in findings.measures]
    axis.set_xticks(across, titles, rotation=55, ha="right", rotation_mode="anchor", fontsize=8)
    axis.set_yticks(range(1, len(findings.detectors) + 1))
    axis.tick_params(length=0, labelsize=8)
    axis.set_ylim(len(findings.detectors) + 0.4, 0.6)
    axis.grid(visible=True, axis="x", alpha=0.25)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axis.set_title(
        f"Rank of {len(findings.detectors)} detectors on {findings.series_used}, by measure",
        loc="left",
        fontsize=9,
    )
