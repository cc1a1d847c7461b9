"""Forest plots: means with intervals, one panel per measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vuskit.figures.base import COLUMN, PAGE, SMALL, Canvas, Data, Display, grid_cells, open_canvas

_ROW = 0.17  # inches
_WIDE = 3  # panels from which the figure is as wide as a page


@dataclass(frozen=True)
class ForestPanel:
    """Means of one measure with their intervals.

    Attributes
    ----------
    title : str
        The measure.
    means, lower, upper : dict of str to float
        Mean and bounds of its interval by name.
    n : int
        Number of series.
    chance : float or None
        Mean of random scores.
    higher_is_better : bool
        Whether high values are better.
    """

    title: str
    means: Mapping[str, float]
    lower: Mapping[str, float]
    upper: Mapping[str, float]
    n: int
    chance: float | None = None
    higher_is_better: bool = True


@dataclass(eq=False, repr=False)
class ForestDisplay(Display):
    """Mean, 95% interval and chance level of each detector; one panel per measure.

    ``compare(table).forest()`` makes the display of a table of results.

    Attributes
    ----------
    panels : sequence of ForestPanel
        The first one determines the order of the names, best first.

    Examples
    --------
    >>> means = {"LOF": 0.6, "PCA": 0.8}
    >>> panel = ForestPanel("VUS-PR", means, {"LOF": 0.5, "PCA": 0.7}, {"LOF": 0.7, "PCA": 0.9}, 20)
    >>> [item["title"] for item in ForestDisplay([panel]).data()["panels"][0]["items"]]
    ['PCA', 'LOF']
    """

    kind = "forest"
    heading = "means with 95% intervals and chance level, one panel per measure"
    panels: Sequence[ForestPanel]

    def data(self) -> dict[str, Any]:
        """Return the panels: items, best first, with mean and bounds, and the chance level."""
        first = self.panels[0]
        order = sorted(first.means, key=first.means.__getitem__, reverse=first.higher_is_better)
        return {
            "panels": [
                {
                    "title": one.title,
                    "n": one.n,
                    "chance": one.chance,
                    "higher_is_better": one.higher_is_better,
                    "items": [
                        {
                            "title": name,
                            "value": one.means.get(name, math.nan),
                            "lower": one.lower.get(name, math.nan),
                            "upper": one.upper.get(name, math.nan),
                        }
                        for name in order
                    ],
                }
                for one in self.panels
            ]
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        panels = data["panels"]
        rows = len(panels[0]["items"])
        size = (PAGE if len(panels) >= _WIDE else COLUMN, 0.6 + _ROW * rows)
        canvas = open_canvas(ax, grid_cells(len(panels), len(panels)), size=size, share="y")
        for axis, panel in zip(canvas.panels, panels, strict=True):
            places = np.arange(rows)
            middle, low, high = (
                np.array([item[name] for item in panel["items"]], dtype=float)
                for name in ("value", "lower", "upper")
            )
            axis.hlines(places, low, high, color="black", linewidth=0.9)
            axis.plot(middle, places, "o", color="black", markersize=3.2)
            if panel["chance"] is not None:
                axis.axvline(panel["chance"], color="black", linewidth=0.8, linestyle=(0, (3, 2)))
            arrow = "" if panel["higher_is_better"] else " (lower is better)"
            canvas.title(axis, f"{panel['title']}{arrow}")
            axis.set_yticks(places, [item["title"] for item in panel["items"]], parse_math=False)
            axis.tick_params(axis="both", labelsize=SMALL)
            axis.set_ylim(rows - 0.5, -0.5)
        known = any(panel["chance"] is not None for panel in panels)
        canvas.label_bottoms(f"mean, 95% interval{' (dashed: chance)' if known else ''}")
        return canvas

    def _about(self) -> str:
        shown = ", ".join(one.title for one in self.panels)
        return f"{len(self.panels[0].means)} names: {shown}"
