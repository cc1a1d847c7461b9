"""Several displays in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.figures.base import TEXT, Canvas, Data, Display

_HEADING = 0.2  # inches


class Panel(NamedTuple):
    """A display with its heading.

    Attributes
    ----------
    heading : str
        Heading, such as ``"(a) lag"``.
    display : Display
        The display below it.
    """

    heading: str
    display: Display


@dataclass(eq=False, repr=False)
class PanelsDisplay(Display):
    """Rows of displays; each keeps its own size.

    Attributes
    ----------
    rows : sequence of sequences of Panel
        The displays from the upper left to the lower right.

    Raises
    ------
    InvalidInputError
        If there are no panels.

    Examples
    --------
    >>> from vuskit.figures import SeriesDisplay
    >>> one = SeriesDisplay.from_scores([0, 1, 0], {"LOF": [0.1, 0.9, 0.2]})
    >>> two = SeriesDisplay.from_scores([0, 1, 0], {"PCA": [0.3, 0.4, 0.1]})
    >>> PanelsDisplay([[Panel("(a) LOF", one)], [Panel("(b) PCA", two)]])
    PanelsDisplay((a) LOF, (b) PCA)
    """

    kind: ClassVar[str] = "panels"
    rows: Sequence[Sequence[Panel]]

    def __post_init__(self) -> None:
        if not self.rows or not all(self.rows):
            raise InvalidInputError("`rows` must hold at least one panel each, got none")

    @property
    def panels(self) -> list[Panel]:
        """All panels, row by row."""
        return [panel for row in self.rows for panel in row]

    def data(self) -> dict[str, Any]:
        """Return headings and data of the displays."""
        return {
            "rows": [
                [{"heading": panel.heading, "display": panel.display.to_dict()} for panel in row]
                for row in self.rows
            ]
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        if ax is not None:
            raise InvalidInputError(
                f"`ax` must be None for several displays, got {type(ax).__name__}; "
                "draw them one by one"
            )
        # Draw each display alone to find its size, which depends on its legend and titles.
        sizes = [[_size_alone(panel.display) for panel in row] for row in self.rows]
        width = max(sum(size[0] for size in row) for row in sizes)
        heights = [max(size[1] for size in row) + _HEADING for row in sizes]
        figure = require("matplotlib.figure", purpose="a figure").Figure(
            figsize=(width, sum(heights)), layout="constrained"
        )
        places = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        drawn: list[Display] = []
        for row, place, widths in zip(self.rows, places, sizes, strict=True):
            ratios = [size[0] for size in widths]
            parts = place.subfigures(1, len(row), width_ratios=ratios, squeeze=False)[0]
            for panel, part in zip(row, parts, strict=True):
                part.suptitle(panel.heading, x=0.01, ha="left", fontsize=TEXT, fontweight="bold")
                drawn.append(panel.display.plot(part))
        axes = [axis for one in drawn for axis in one.axes_]
        return Canvas(figure, axes[0], axes, own=True)

    def _about(self) -> str:
        return ", ".join(panel.heading for panel in self.panels)


def _size_alone(display: Display) -> tuple[float, float]:
    drawn = display.plot()
    width, height = drawn.figure_.get_size_inches()
    return float(width), float(height)
