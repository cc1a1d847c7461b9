"""Scenarios: positions of a prediction, and the values of the measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.figures._drawing import ANOMALY, describe_measures, line_styles, thin_hatch
from vuskit.figures.base import (
    PAGE,
    SMALL,
    TEXT,
    Canvas,
    Cell,
    Data,
    Display,
    grid_cells,
    open_canvas,
    to_array,
)
from vuskit.measures.registry import Measure

Floats = NDArray[np.float64]

_PREDICTION = "#0072B2"
_TOUCH = "#D55E00"
_PROBLEM = "#D00000"
_DARK = 0.45  # cells of lower values are dark


@dataclass(frozen=True)
class Scenario:
    """A prediction relative to the anomaly.

    Attributes
    ----------
    name, title : str
        Such as ``"S8"`` and ``"exact match"``.
    start, stop : int
        The predicted points, half-open, counted from the first point of the anomaly.
    """

    name: str
    title: str
    start: int
    stop: int


@dataclass(eq=False, repr=False)
class ScenarioDisplay(Display):
    """Positions on the left, values on the right, and a line at the first touch.

    The problem region is shaded: scenarios around the first touch, for measures that ignore near
    misses.

    Attributes
    ----------
    scenarios : sequence of Scenario
        One for each row.
    values : ndarray of shape (S, M)
        Values by scenario and measure.
    measures : tuple of Measure
        The measures.
    length, buffer : int
        Lengths of the anomaly and of the buffer around it.
    touching : str or None
        Name of the first scenario whose prediction touches the anomaly.
    problem_scenarios, problem_measures : sequence of str
        Names of the scenarios and of the measures of the problem region.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> scenarios = [Scenario("A", "far", -9, -5), Scenario("B", "exact", 0, 4)]
    >>> ScenarioDisplay(scenarios, np.array([[0.1], [1.0]]), (get_measure("vus_pr"),), 4, 2)
    ScenarioDisplay(2 scenarios, 1 measures)
    """

    kind = "scenarios"
    heading = "a prediction in several positions, and the values of all measures"
    scenarios: Sequence[Scenario]
    values: Floats
    measures: tuple[Measure, ...]
    length: int
    buffer: int
    touching: str | None = None
    problem_scenarios: Sequence[str] = ()
    problem_measures: Sequence[str] = ()

    def data(self) -> dict[str, Any]:
        """Return measures, predictions, anomaly and values."""
        return {
            **describe_measures(self.measures),
            "scenarios": [asdict(one) for one in self.scenarios],
            "values": self.values,
            "length": self.length,
            "buffer": self.buffer,
            "touching": self.touching,
            "problem": {
                "scenarios": list(self.problem_scenarios),
                "measures": list(self.problem_measures),
            },
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        size = (PAGE, 0.2 * len(data["scenarios"]) + 1.2)
        canvas = open_canvas(ax, [Cell(0, 0), Cell(0, 1)], size=size, widths=(1, 2.4))
        _draw_geometry(canvas.panels[0], data)
        canvas.title(canvas.panels[0], "prediction")
        _draw_values(canvas.panels[1], data)
        line = "; line: first touch" if data["touching"] else ""
        region = "; shaded: near misses ignored" if data["problem"]["measures"] else ""
        canvas.title(canvas.panels[1], f"value{line}{region}")
        return canvas

    def _about(self) -> str:
        return f"{len(self.scenarios)} scenarios, {len(self.measures)} measures"


def _draw_geometry(axis: Any, data: dict[str, Any]) -> None:
    for row, one in enumerate(data["scenarios"]):
        length = one["stop"] - one["start"]
        axis.barh(row, length, left=one["start"], height=0.5, color=_PREDICTION)
    axis.axvspan(0, data["length"], color=ANOMALY, alpha=0.4, linewidth=0)
    for row in _problem_rows(data):
        axis.axhspan(row - 0.5, row + 0.5, color=_PROBLEM, alpha=0.2, linewidth=0, zorder=0)
    names = [f"{one['name']} {one['title']}" for one in data["scenarios"]]
    axis.set_yticks(range(len(names)), names, fontsize=SMALL)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("points from the anomaly (shaded)", fontsize=SMALL)


def _draw_values(axis: Any, data: dict[str, Any]) -> None:
    values = to_array(data["values"])
    axis.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    problem = {
        (row, column)
        for row in _problem_rows(data)
        for column, measure in enumerate(data["measures"])
        if measure["name"] in data["problem"]["measures"]
    }
    for (row, column), value in np.ndenumerate(values):
        shade = "white" if value < _DARK or (row, column) in problem else "black"
        text = f"{value:.2f}" if np.isfinite(value) else "-"
        axis.text(column, row, text, ha="center", va="center", fontsize=SMALL, color=shade)
    names = [one["name"] for one in data["scenarios"]]
    axis.set_yticks(range(len(names)), names, fontsize=SMALL)
    titles = [measure["title"] for measure in data["measures"]]
    axis.set_xticks(range(len(titles)), titles, rotation=90, fontsize=SMALL)
    axis.tick_params(length=0)
    for row, column in problem:
        _shade_cell(axis, row, column)
    if data["touching"]:
        axis.axhline(names.index(data["touching"]) - 0.5, color=_TOUCH, linewidth=1.6)


def _problem_rows(data: dict[str, Any]) -> list[int]:
    wanted = data["problem"]["scenarios"] if data["problem"]["measures"] else ()
    return [row for row, one in enumerate(data["scenarios"]) if one["name"] in wanted]


def _shade_cell(axis: Any, row: int, column: int) -> None:
    """Shade in red, and hatch for gray print."""
    patches = require("matplotlib.patches", purpose="a figure")
    place, size = (column - 0.5, row - 0.5), (1, 1)
    axis.add_patch(patches.Rectangle(place, *size, facecolor=_PROBLEM, alpha=0.45, linewidth=0))
    lines = patches.Rectangle(place, *size, fill=False, edgecolor="white", linewidth=0, alpha=0.5)
    thin_hatch(lines, "///")
    axis.add_patch(lines)


@dataclass(eq=False, repr=False)
class SweepDisplay(Display):
    """One panel for each family; a measure that jumps at the first touch ignores near misses.

    Attributes
    ----------
    positions : ndarray of shape (P,)
        End of the prediction, in points from the anomaly.
    values : ndarray of shape (P, M)
        Values by position and measure.
    measures : tuple of Measure
        The measures.
    last : str
        Name of the scenario at the last position.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> SweepDisplay(np.arange(3), np.zeros((3, 1)), (get_measure("vus_pr"),), "E")
    SweepDisplay(3 positions, 1 measures)
    """

    kind = "scenario_sweep"
    heading = "every measure while a prediction moves up to the exact match"
    positions: NDArray[np.intp]
    values: Floats
    measures: tuple[Measure, ...]
    last: str

    @property
    def families(self) -> list[str]:
        """Families of the measures; each has a panel."""
        return list(dict.fromkeys(measure.family for measure in self.measures))

    def data(self) -> dict[str, Any]:
        """Return measures, families, positions and values."""
        return {
            **describe_measures(self.measures),
            "panels": [
                [place for place, one in enumerate(self.measures) if one.family == family]
                for family in self.families
            ],
            "positions": self.positions,
            "values": self.values,
            "label": f"end of the prediction, in points from the anomaly; right end: {self.last}",
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        cells = grid_cells(len(data["panels"]), len(data["panels"]))
        canvas = open_canvas(ax, cells, size=(PAGE, 2.3), share="xy")
        styles = line_styles(data["measures"])
        values = to_array(data["values"])
        for axis, members in zip(canvas.panels, data["panels"], strict=True):
            for place in members:
                style = {**styles[place], "marker": None}
                axis.plot(data["positions"], values[:, place], **style)
            axis.axvline(0, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
            handles = [
                line for line in axis.get_lines() if not str(line.get_label()).startswith("_")
            ]
            axis.legend(
                handles=handles, fontsize=SMALL, frameon=False, loc="lower center",
                bbox_to_anchor=(0.5, 1.0), handlelength=1.6, borderpad=0, labelspacing=0.2,
            )  # fmt: skip
            axis.grid(visible=True, linewidth=0.4, alpha=0.4)
        canvas.label_bottoms(data["label"])
        canvas.panels[0].set_ylabel("value", fontsize=TEXT)
        return canvas

    def _about(self) -> str:
        return f"{self.positions.size} positions, {len(self.measures)} measures"
