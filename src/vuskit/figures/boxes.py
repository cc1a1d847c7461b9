"""Box plots by measure: values under perturbations, and of accurate and inaccurate detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vuskit._util.optional import pd, require
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import (
    ACCURATE,
    INACCURATE,
    INACCURATE_LINE,
    box_data,
    describe_measures,
    draw_boxes,
    draw_line,
    family_hatch,
    family_legend,
    measure_rows,
    measures_named,
    shade,
    thin_hatch,
)
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    SMALL,
    Canvas,
    Cell,
    Data,
    Display,
    grid_cells,
    open_canvas,
    to_array,
)
from vuskit.figures.detectors import SeriesDisplay
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure

_MOST_ACROSS = 4
_HATCH = "/////"  # of inaccurate detectors, for gray print
_SMALLEST = 1e-9  # smaller differences are rounding errors


def _said(outside: int) -> str:
    return f", {outside} point{'s' * (outside > 1)} outside" if outside else ""


def _limit_to_whiskers(axis: Any, panel: Mapping[str, Any]) -> int:
    """Limit an axis to the whiskers plus a margin; return the number of points outside."""
    ends = to_array(panel["boxes"])[:, [0, 4]]
    ends = ends[np.isfinite(ends)]  # a measure without any value has no whiskers
    points = np.array([point for row in panel["outliers"] for point in row], dtype=np.float64)
    low, high = (ends.min(), ends.max()) if ends.size else (0.0, 0.0)
    if high - low < _SMALLEST:  # no visible box: keep all points
        return 0
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    axis.set_xlim(low, high)
    return int(((points < low) | (points > high)).sum())


@dataclass(eq=False, repr=False)
class CenteredBoxDisplay(Display):
    """One box for each measure; robust measures have narrow boxes.

    Attributes
    ----------
    series : str
        Name of the series.
    panels : dict of DataFrame
        Values minus their mean, one column for each measure, by the title of the panel.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"auc_pr": [-0.1, 0.1], "vus_pr": [-0.02, 0.02]})
    >>> CenteredBoxDisplay("ECG/s0", {"lag": table})
    CenteredBoxDisplay(ECG/s0, 2 measures: lag)
    """

    kind = "centered_boxes"
    heading = "values on one series under perturbations, minus the mean of the detector"
    series: str
    panels: dict[str, pd.DataFrame]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(next(iter(self.panels.values())).columns, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return the measures, and boxes and outliers of each panel."""
        return {
            **describe_measures(self.measures),
            "panels": [
                {"title": name, **box_data(table.to_numpy(dtype=float).T)}
                for name, table in self.panels.items()
            ],
            "label": f"value on {self.series} minus the detector's mean",
        }

    def _draw(
        self, ax: Any, data: Data, *, legend: bool | None = None, outliers: bool = False
    ) -> Canvas:
        count, measures = len(data["panels"]), data["measures"]
        rows = -(-count // _MOST_ACROSS)
        across = -(-count // rows)
        height = rows * (0.3 + 0.14 * len(measures)) + 0.25
        canvas = open_canvas(ax, grid_cells(count, across), size=(PAGE, height), share="y")
        colors = [measure["color"] for measure in measures]
        hatches = [family_hatch(measure) for measure in measures]
        for axis, panel in zip(canvas.panels, data["panels"], strict=True):
            draw_boxes(axis, panel, colors=colors, hatches=hatches)
            measure_rows(axis, measures)
            axis.axvline(0, color="black", linewidth=0.4)
            outside = 0 if outliers else _limit_to_whiskers(axis, panel)
            canvas.title(axis, f"{panel['title']}{_said(outside)}")
        canvas.label_bottoms(data["label"])
        family_legend(canvas, data, legend=legend)
        return canvas

    def _about(self) -> str:
        return f"{self.series}, {len(self.measures)} measures: {', '.join(self.panels)}"


@dataclass(eq=False, repr=False)
class SeparabilityBoxDisplay(Display):
    """Two boxes for each measure; they are apart if the measure separates the detectors.

    Attributes
    ----------
    series : str
        Name of the series.
    pairs : sequence of tuple
        Pairs of an accurate and an inaccurate detector.
    values : sequence of DataFrame
        Values of each pair, by detector and repeat, one column for each measure.
    z : sequence of sequences of float, optional
        z statistic of each pair and measure; shown on pages.
    scores : SeriesDisplay or None
        The series and the scores of all detectors, shown above the boxes.

    Raises
    ------
    InvalidInputError
        If there is no pair, or a detector has no score.
    """

    kind = "separability_boxes"
    heading = "values of accurate and inaccurate detectors under lag and noise, in pairs"
    series: str
    pairs: Sequence[tuple[str, str]]
    values: Sequence[pd.DataFrame]
    z: Sequence[Sequence[float]] = ()
    scores: SeriesDisplay | None = None

    def __post_init__(self) -> None:
        if not self.pairs:
            raise InvalidInputError("`pairs` must hold at least one pair, got none")
        if self.scores is not None:
            for detector in dict.fromkeys(one for pair in self.pairs for one in pair):
                check_choice("scores", detector, self.scores.lines)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.values[0].columns, self.own_measures)

    def data(self) -> dict[str, Any]:
        """Return the measures, two rows of boxes for each pair, and the scores if given."""
        panels = []
        for place, ((good, bad), table) in enumerate(zip(self.pairs, self.values, strict=True)):
            boxes = [box_data(table.loc[name].to_numpy(dtype=float).T) for name in (good, bad)]
            panels.append(
                {
                    "title": f"{good} | {bad}",
                    "detectors": [
                        {"name": name, "accurate": name == good, "color": color, **found}
                        for name, color, found in zip(
                            (good, bad), (ACCURATE, INACCURATE), boxes, strict=True
                        )
                    ],
                    "z": list(self.z[place]) if self.z else None,
                }
            )
        return {
            **describe_measures(self.measures),
            "series": self.series,
            "panels": panels,
            "label": f"value on {self.series}",
            "scores": None if self.scores is None else self.scores.to_dict(),
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        count, measures = len(data["panels"]), data["measures"]
        lines = [0.6, *(0.25 + 0.16 * len(names) for names in _detectors(data).values())]
        lines = [] if data["scores"] is None else lines
        above = len(lines)
        cells = [Cell(row, 0, 1, count) for row in range(above)]
        cells += [Cell(above, column) for column in range(count)]
        tall = 0.45 + 0.2 * len(measures)
        size = (PAGE if count > 1 else COLUMN, tall + sum(lines) + 0.15)
        canvas = open_canvas(ax, cells, size=size, heights=[*lines, tall])
        if above:
            _draw_scores(canvas, canvas.panels[:above], data)
        first, *others = canvas.panels[above:]
        for other in others:
            other.sharex(first)
            other.sharey(first)
        for axis, panel in zip(canvas.panels[above:], data["panels"], strict=True):
            for detector, offset in zip(panel["detectors"], (-0.2, 0.2), strict=True):
                colors = [detector["color"]] * len(measures)
                hatches = ["" if detector["accurate"] else _HATCH] * len(measures)
                draw_boxes(
                    axis, detector, colors=colors, hatches=hatches, offset=offset, width=0.32
                )
            measure_rows(axis, measures)
            canvas.title(axis, panel["title"])
            axis.tick_params(labelleft=axis is first)
        canvas.label_bottoms(data["label"])
        patches = require("matplotlib.patches", purpose="a figure")
        named = ((ACCURATE, "", "accurate"), (INACCURATE, _HATCH, "inaccurate"))
        handles = []
        for color, hatch, label in named:
            patch = patches.Patch(facecolor=color, edgecolor="black", linewidth=0.5, label=label)
            thin_hatch(patch, hatch)
            handles.append(patch)
        if canvas.own:
            canvas.legend(handles, columns=2)
        return canvas

    def _about(self) -> str:
        pairs = ", ".join(f"{good} | {bad}" for good, bad in self.pairs)
        return f"{self.series}, {len(self.measures)} measures of {pairs}"


def _detectors(data: Mapping[str, Any]) -> dict[bool, dict[str, str]]:
    """Return the colors of accurate and inaccurate detectors, by name."""
    return {
        accurate: {
            one["name"]: one["color"]
            for panel in data["panels"]
            for one in panel["detectors"]
            if one["accurate"] is accurate
        }
        for accurate in (True, False)
    }


def _draw_scores(canvas: Canvas, panels: list[Any], data: Mapping[str, Any]) -> None:
    """Draw the series, then the scores of accurate and of inaccurate detectors."""
    lines = {line["name"]: line for line in data["scores"]["lines"]}
    draw_line(panels[0], lines["series"])
    panels[0].set_yticks([])
    canvas.title(panels[0], f"series {data['series']}")
    for axis, (accurate, detectors) in zip(panels[1:], _detectors(data).items(), strict=True):
        for row, (name, color) in enumerate(detectors.items()):
            score = to_array(lines[name]["y"])
            share = (score - score.min()) / (np.ptp(score) or 1.0)
            style: dict[str, Any] = {"color": color if accurate else INACCURATE_LINE}
            style |= {"linestyle": "-" if accurate else (0, (4, 1)), "linewidth": 0.6}
            draw_line(axis, {**lines[name], "y": 0.9 * share - row}, **style)
        axis.set_yticks([0.3 - row for row in range(len(detectors))], detectors, fontsize=SMALL)
        axis.tick_params(axis="y", length=0)
        canvas.title(axis, f"scores of {'' if accurate else 'in'}accurate detectors")
    for axis in panels:
        shade(axis, data["scores"]["events"])
        axis.tick_params(labelbottom=axis is panels[-1])
