"""The picture of the scenarios: where the prediction is, and what each measure gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vuskit.report.common import family_colour, new_figure
from vuskit.studies.scenarios import EXACT, JUST_MISSING, TOUCHING, ScenarioResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_scenarios", "draw_sweep"]

_ANOMALY, _PREDICTION = "#D55E00", "#0072B2"


def draw_scenarios(result: ScenarioResult) -> Figure:
    """Draw each scenario beside the values of all measures; the first touch is framed."""
    figure, axes = new_figure(
        1, 2, size=(12, 0.42 * len(result.scenarios) + 1.6), width_ratios=[1, 2.2]
    )
    _geometry(axes[0, 0], result)
    _values(axes[0, 1], result)
    return figure


def _geometry(axis: Axes, result: ScenarioResult) -> None:
    for row, scenario in enumerate(result.scenarios):
        axis.barh(
            row, scenario.stop - scenario.start, left=scenario.start, height=0.45, color=_PREDICTION
        )
    axis.axvspan(0, result.length, color=_ANOMALY, alpha=0.3, linewidth=0)
    axis.set_yticks(
        range(len(result.scenarios)),
        [f"{scenario.name} {scenario.title}" for scenario in result.scenarios],
        fontsize=8,
    )
    axis.invert_yaxis()
    axis.set_ylim(len(result.scenarios) - 0.5, -0.5)
    axis.set_xlabel("points from the start of the anomaly (shaded)", fontsize=8)
    axis.set_title(
        f"prediction; anomaly of {result.length}, buffer {result.buffer}, "
        f"{result.n_points:,} points",
        fontsize=9,
    )


def _values(axis: Axes, result: ScenarioResult) -> None:
    axis.imshow(result.values, cmap="viridis", vmin=0, vmax=1, aspect="auto", alpha=0.85)
    for (row, column), value in np.ndenumerate(result.values):
        shade = "white" if value < 0.6 else "black"
        axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=shade)
    names = [scenario.name for scenario in result.scenarios]
    axis.set_yticks(range(len(names)), names, fontsize=8)
    titles = [measure.title for measure in result.measures]
    axis.set_xticks(range(len(titles)), titles, rotation=90, fontsize=8)
    axis.tick_params(length=0)
    if {JUST_MISSING, TOUCHING} <= set(names):
        axis.axhline(names.index(TOUCHING) - 0.5, color="red", linewidth=1.5)
        axis.set_title("values; red line: the prediction comes to touch the anomaly", fontsize=9)


def draw_sweep(result: ScenarioResult) -> Figure:
    """Draw every measure while the prediction moves point by point up to the exact match."""
    families = list(dict.fromkeys(measure.family for measure in result.measures))
    figure, axes = new_figure(
        1, len(families), size=(3.2 * len(families), 3.2), sharey=True, sharex=True
    )
    dashes = ("-", "--", ":", "-.")
    for axis, family in zip(axes.flat, families, strict=True):
        members = [
            (place, measure)
            for place, measure in enumerate(result.measures)
            if measure.family == family
        ]
        for turn, (place, measure) in enumerate(members):
            axis.plot(
                result.positions,
                result.sweep[:, place],
                color=family_colour(measure),
                linestyle=dashes[turn % len(dashes)],
                label=measure.title,
            )
        axis.axvline(0, color="red", linewidth=1)
        axis.legend(fontsize=7, loc="upper left")
        axis.set_xlabel("end of the prediction", fontsize=8)
        axis.grid(visible=True, alpha=0.3)
    axes[0, 0].set_ylabel("value")
    figure.suptitle(f"red line: first touch; right end: exact match ({EXACT})", fontsize=9)
    return figure
