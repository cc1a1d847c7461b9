"""The scenarios: where the prediction is, and what each measure gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vuskit.report.figures._canvas import PAGE, SMALL, TEXT, Cell, grid_cells, open_canvas
from vuskit.report.figures._drawing import ANOMALY, line_styles
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.scenarios import EXACT, JUST_MISSING, TOUCHING, ScenarioResult

__all__ = ["ScenarioDisplay", "SweepDisplay"]

_PREDICTION = "#0072B2"
_TOUCH = "#D55E00"
_DARK = 0.45  # values below are on a dark ground


@register_figure(
    name="scenarios",
    title="a prediction in twelve places, and what each measure gives it",
    source="the scenario study",
)
@dataclass(eq=False, repr=False)
class ScenarioDisplay(Display):
    """Geometry on the left, values on the right; a line where the prediction first touches.

    Attributes
    ----------
    result : ScenarioResult
        What is shown.
    """

    result: ScenarioResult

    @classmethod
    def from_result(cls, result: ScenarioResult) -> ScenarioDisplay:
        """Make it from :func:`vuskit.studies.scenario_study`.

        Examples
        --------
        >>> from vuskit.studies import scenario_study
        >>> ScenarioDisplay.from_result(scenario_study(measures=["auc_pr", "vus_pr"]))
        ScenarioDisplay(12 scenarios, 2 measures)
        """
        return cls(result)

    def plot(self, ax: Any = None) -> ScenarioDisplay:
        """Draw two panels.

        Parameters
        ----------
        ax : Axes or two of them, optional
            Where to draw; one axis is divided. A figure of its own by default.
        """
        rows = len(self.result.scenarios)
        cells = [Cell(0, 0), Cell(0, 1)]
        size = (PAGE, 0.2 * rows + 1.2)
        canvas = open_canvas(ax, cells, size=size, widths=(1, 2.4))
        self._draw_geometry(canvas.panels[0])
        canvas.title(canvas.panels[0], "prediction")
        self._draw_values(canvas.panels[1])
        line = "; line: the prediction comes to touch the anomaly" if self._touches() else ""
        canvas.title(canvas.panels[1], f"value{line}")
        self._drawn(canvas)
        return self

    def _draw_geometry(self, axis: Any) -> None:
        result = self.result
        for row, scenario in enumerate(result.scenarios):
            length = scenario.stop - scenario.start
            axis.barh(row, length, left=scenario.start, height=0.5, color=_PREDICTION)
        axis.axvspan(0, result.length, color=ANOMALY, alpha=0.4, linewidth=0)
        names = [f"{scenario.name} {scenario.title}" for scenario in result.scenarios]
        axis.set_yticks(range(len(names)), names, fontsize=SMALL)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel("points from the anomaly (shaded)", fontsize=SMALL)

    def _draw_values(self, axis: Any) -> None:
        result = self.result
        axis.imshow(result.values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(result.values):
            shade = "white" if value < _DARK else "black"
            text = f"{value:.2f}" if np.isfinite(value) else "-"
            axis.text(column, row, text, ha="center", va="center", fontsize=SMALL, color=shade)
        names = [scenario.name for scenario in result.scenarios]
        axis.set_yticks(range(len(names)), names, fontsize=SMALL)
        titles = [measure.title for measure in result.measures]
        axis.set_xticks(range(len(titles)), titles, rotation=90, fontsize=SMALL)
        axis.tick_params(length=0)
        if self._touches():
            axis.axhline(names.index(TOUCHING) - 0.5, color=_TOUCH, linewidth=1.6)

    def _touches(self) -> bool:
        """Whether one scenario is just before the touch and one just after it."""
        return {JUST_MISSING, TOUCHING} <= {scenario.name for scenario in self.result.scenarios}

    def _about(self) -> str:
        return f"{len(self.result.scenarios)} scenarios, {len(self.result.measures)} measures"


@register_figure(
    name="scenario_sweep",
    title="every measure while a prediction moves up to the exact match",
    source="the scenario study",
)
@dataclass(eq=False, repr=False)
class SweepDisplay(Display):
    """One panel for each family of measures; a measure that jumps at the touch ignores near misses.

    Attributes
    ----------
    result : ScenarioResult
        What is shown.
    """

    result: ScenarioResult

    @classmethod
    def from_result(cls, result: ScenarioResult) -> SweepDisplay:
        """Make it from :func:`vuskit.studies.scenario_study`."""
        return cls(result)

    @property
    def families(self) -> list[str]:
        """Families of the measures: one panel each."""
        return list(dict.fromkeys(measure.family for measure in self.result.measures))

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes or as many as there are families, optional
            Where to draw; one axis is divided. A figure of its own by default.
        """
        cells = grid_cells(len(self.families), len(self.families))
        canvas = open_canvas(ax, cells, size=(PAGE, 2.3), share="xy")
        styles = line_styles(self.result.measures)
        for axis, family in zip(canvas.panels, self.families, strict=True):
            for place, measure in enumerate(self.result.measures):
                if measure.family != family:
                    continue
                style = {**styles[place], "marker": None}
                axis.plot(self.result.positions, self.result.sweep[:, place], **style)
            axis.axvline(0, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
            handles = [
                line for line in axis.get_lines() if not str(line.get_label()).startswith("_")
            ]
            axis.legend(
                handles=handles, fontsize=SMALL, frameon=False, loc="lower center",
                bbox_to_anchor=(0.5, 1.0), handlelength=1.6, borderpad=0, labelspacing=0.2,
            )  # fmt: skip
            axis.grid(visible=True, linewidth=0.4, alpha=0.4)
        canvas.label_bottoms(
            f"end of the prediction, in points from the anomaly; right end: {EXACT}"
        )
        canvas.panels[0].set_ylabel("value", fontsize=TEXT)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.result.positions.size} positions, {len(self.result.measures)} measures"
