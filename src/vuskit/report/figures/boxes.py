"""Box plots by measure: values under perturbations, and of accurate and inaccurate detectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.report.figures._canvas import COLUMN, PAGE, Canvas, Cell, grid_cells, open_canvas
from vuskit.report.figures._drawing import (
    ACCURATE,
    INACCURATE,
    boxes,
    draw_line,
    family_hatch,
    family_legend,
    measure_rows,
    measures_named,
    shade,
)
from vuskit.report.figures._families import family_color
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CenteredBoxDisplay", "SeparabilityBoxDisplay"]

Floats = NDArray[np.float64]
_MOST_ACROSS = 4
_SMALLEST = 1e-9  # differences of values below this are those of rounding


def _said(outside: int) -> str:
    return f", {outside} point{'s' * (outside > 1)} outside" if outside else ""


def _limit_to_whiskers(axis: Any, drawn: dict[str, list[Any]]) -> int:
    """Let an axis end a little beyond the whiskers; returns how many points are outside."""
    ends = np.concatenate([line.get_xdata() for line in drawn["caps"]])
    ends = ends[np.isfinite(ends)]  # a measure that is undefined throughout has none
    points = np.concatenate([line.get_xdata() for line in drawn["fliers"]])
    low, high = (ends.min(), ends.max()) if ends.size else (0.0, 0.0)
    if high - low < _SMALLEST:  # without any box to be seen the points are all there is
        return 0
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    axis.set_xlim(low, high)
    return int(((points < low) | (points > high)).sum())


@register_figure(
    name="centered_boxes",
    title="values of one series under perturbations, less the mean of the detector",
    source="the robustness study and the name of a series",
)
@dataclass(eq=False, repr=False)
class CenteredBoxDisplay(Display):
    """One box for each measure; wide boxes are measures that notice the perturbation.

    Attributes
    ----------
    series : str
        Its name.
    panels : dict of DataFrame
        Values less the mean over the repeats, one column for each measure, by the panel's title.
    """

    series: str
    panels: dict[str, pd.DataFrame]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(next(iter(self.panels.values())).columns)

    @classmethod
    def from_result(
        cls,
        result: RobustnessResult,
        series: str | None = None,
        *,
        perturbation: str | None = None,
    ) -> CenteredBoxDisplay:
        """Make it from the robustness study.

        Parameters
        ----------
        result : RobustnessResult
            Of :func:`vuskit.studies.robustness_study`.
        series : str, optional
            Name of the series, with or without its data set; the first by default.
        perturbation : str, optional
            One panel for each detector under this perturbation; by default one panel for each
            perturbation, over all detectors.

        Raises
        ------
        InvalidInputError
            If there is no such series or perturbation.
        """
        if series is None:
            if not result.values:
                raise InvalidInputError("`result` must hold at least one series, got none")
            series = result.values[0].name
        kinds = result.study.perturbations if perturbation is None else (perturbation,)
        tables = {kind: result.centered(series, kind) for kind in kinds}
        whole = next(one.name for one in result.values if series in (one.series, one.name))
        if perturbation is None:
            return cls(whole, tables)
        groups = tables[perturbation].groupby(level="detector", sort=False)
        return cls(whole, {str(name): group for name, group in groups})

    def plot(
        self, ax: Any = None, *, legend: bool | None = None, outliers: bool = False
    ) -> CenteredBoxDisplay:
        """Draw the boxes.

        Parameters
        ----------
        ax : Axes or as many as there are panels, optional
            Where to draw; one axis is divided. A figure of its own by default.
        legend : bool, optional
            Whether the families are named; by default where there is a margin.
        outliers : bool, default=False
            Whether the axes reach as far as the outliers. By default they reach as far as the
            whiskers, so that the boxes can be seen, and the titles say how many points are outside.
        """
        count = len(self.panels)
        rows = -(-count // _MOST_ACROSS)
        across = -(-count // rows)
        height = rows * (0.3 + 0.14 * len(self.measures)) + 0.25
        canvas = open_canvas(ax, grid_cells(count, across), size=(PAGE, height), share="y")
        colors = [family_color(measure) for measure in self.measures]
        hatches = [family_hatch(measure) for measure in self.measures]
        for axis, (name, table) in zip(canvas.panels, self.panels.items(), strict=True):
            columns = [table[one.name].to_numpy() for one in self.measures]
            drawn = boxes(axis, columns, colors=colors, hatches=hatches)
            measure_rows(axis, self.measures)
            axis.axvline(0, color="black", linewidth=0.4)
            outside = 0 if outliers else _limit_to_whiskers(axis, drawn)
            canvas.title(axis, f"{name}{_said(outside)}")
        canvas.label_bottoms(f"value on {self.series} less the detector's mean")
        family_legend(canvas, self.measures, legend=legend)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.series}, {len(self.measures)} measures: {', '.join(self.panels)}"


@register_figure(
    name="separability_boxes",
    title="values of accurate and inaccurate detectors under lag and noise, in pairs",
    source="the separability study and the name of a series; its scores if at hand",
)
@dataclass(eq=False, repr=False)
class SeparabilityBoxDisplay(Display):
    """Two boxes for each measure; apart if the measure separates the two detectors.

    Attributes
    ----------
    series : str
        Its name.
    pairs : list of tuple
        Accurate and inaccurate detector.
    values : list of DataFrame
        Of each pair, by detector and repeat, one column for each measure.
    scored : ScoredSeries or None
        The series and its scores, shown above the boxes.
    """

    series: str
    pairs: list[tuple[str, str]]
    values: list[pd.DataFrame]
    scored: ScoredSeries | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.values[0].columns)

    @classmethod
    def from_result(
        cls,
        result: SeparabilityResult,
        series: str | None = None,
        *,
        most: int = 4,
        scored: ScoredSeries | None = None,
    ) -> SeparabilityBoxDisplay:
        """Make it from the separability study.

        Parameters
        ----------
        result : SeparabilityResult
            Of :func:`vuskit.studies.separability_study`.
        series : str, optional
            Name of the series, with or without its data set; the first with pairs by default.
        most : int, default=4
            How many pairs are drawn.
        scored : ScoredSeries, optional
            The series and its scores, to be shown as well.

        Raises
        ------
        InvalidInputError
            If there is no such series, or no pair on it.
        """
        named = [one for one in result.values if one.notes["pairs"]]
        if series is not None:
            named = [one for one in named if series in (one.series, one.name)]
        if not named or (series is not None and len(named) != 1):
            raise InvalidInputError(f"`series` must name one series with pairs, got {series!r}")
        name = named[0].name
        pairs = [(good, bad) for good, bad in named[0].notes["pairs"][:most]]
        values = [result.pair_values(name, good, bad) for good, bad in pairs]
        if scored is not None:
            for detector in dict.fromkeys(one for pair in pairs for one in pair):
                check_choice("scored", detector, scored.detectors)
        return cls(name, pairs, values, scored)

    def plot(self, ax: Any = None) -> SeparabilityBoxDisplay:
        """Draw one panel of boxes for each pair; above them the series and its scores.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, divided into panels; a figure of its own by default.
        """
        count = len(self.pairs)
        above = 0 if self.scored is None else 3
        cells = [Cell(row, 0, 1, count) for row in range(above)]
        cells += [Cell(above, column) for column in range(count)]
        tall = 0.45 + 0.2 * len(self.measures)
        size = (PAGE if count > 1 else COLUMN, tall + 0.6 * above + 0.15)
        canvas = open_canvas(ax, cells, size=size, heights=[0.6] * above + [tall])
        self._draw_scores(canvas, canvas.panels[:above])
        first, *others = canvas.panels[above:]
        for other in others:
            other.sharex(first)
            other.sharey(first)
        for axis, pair, values in zip(canvas.panels[above:], self.pairs, self.values, strict=True):
            for name, color, offset in zip(pair, (ACCURATE, INACCURATE), (-0.2, 0.2), strict=True):
                columns = [values.loc[name][one.name].to_numpy() for one in self.measures]
                boxes(axis, columns, colors=[color] * len(columns), offset=offset, width=0.32)
            measure_rows(axis, self.measures)
            canvas.title(axis, f"{pair[0]} | {pair[1]}")
            axis.tick_params(labelleft=axis is first)
        canvas.label_bottoms(f"value on {self.series}")
        patches = require("matplotlib.patches", purpose="a figure")
        named = ((ACCURATE, "accurate"), (INACCURATE, "inaccurate"))
        handles = [
            patches.Patch(facecolor=color, edgecolor="black", linewidth=0.5, label=label)
            for color, label in named
        ]
        if canvas.own:
            canvas.legend(handles, columns=2)
        self._drawn(canvas)
        return self

    def _draw_scores(self, canvas: Canvas, panels: list[Any]) -> None:
        if self.scored is None:
            return
        accurate = dict.fromkeys(pair[0] for pair in self.pairs)
        inaccurate = dict.fromkeys(pair[1] for pair in self.pairs)
        values = self.scored.series.values
        draw_line(panels[0], values if values.ndim == 1 else values[:, 0])
        canvas.title(panels[0], f"series {self.series}")
        rows = (("accurate", accurate, ACCURATE), ("inaccurate", inaccurate, INACCURATE))
        for axis, (kind, detectors, color) in zip(panels[1:], rows, strict=True):
            for detector in detectors:
                score = self.scored.scores[detector]
                spread = np.ptp(score) or 1.0
                draw_line(axis, (score - score.min()) / spread, color=color, alpha=0.7)
            canvas.title(axis, f"{kind}: {', '.join(detectors)}")
        for axis in panels:
            shade(axis, self.scored.series.labels)
            axis.set_yticks([])
            axis.tick_params(labelbottom=axis is panels[-1])

    def _about(self) -> str:
        pairs = ", ".join(f"{good} | {bad}" for good, bad in self.pairs)
        return f"{self.series}, {len(self.measures)} measures of {pairs}"
