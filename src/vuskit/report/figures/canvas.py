"""Where a display draws: a figure of its own, one given axis, or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.gridspec import GridSpecBase

__all__ = ["COLUMN", "PAGE", "SMALL", "TEXT", "Canvas", "Cell", "grid_cells", "open_canvas"]

COLUMN, PAGE = 3.33, 7.0  # inches: one column, and both columns of a page
SMALL, TEXT = 7.0, 8.0  # points
_LINE = 0.6


class Cell(NamedTuple):
    """Where a panel stands in the grid, counted in rows and columns."""

    top: int
    left: int
    height: int = 1
    width: int = 1
    projection: str | None = None


def grid_cells(count: int, columns: int) -> list[Cell]:
    """So many panels, row by row.

    Examples
    --------
    >>> [(cell.top, cell.left) for cell in grid_cells(3, columns=2)]
    [(0, 0), (0, 1), (1, 0)]
    """
    return [Cell(place // columns, place % columns) for place in range(count)]


@dataclass
class Canvas:
    """Panels to draw on.

    Attributes
    ----------
    figure : Figure
        Of matplotlib; where an axis was given, what it belongs to.
    ax : Axes
        The axis that was given, else the first panel.
    panels : list of Axes
        One for each cell.
    own : bool
        Whether the figure was made here, so that its margins may be used.
    """

    figure: Figure | SubFigure
    ax: Axes
    panels: list[Axes]
    own: bool

    def legend(self, handles: Sequence[Any], *, columns: int, where: str = "best") -> None:
        """Legend below a figure of our own; within the first panel where the axis was given."""
        options: dict[str, Any] = {"fontsize": SMALL, "handlelength": 1.8, "edgecolor": "none"}
        if self.own:
            self.figure.legend(
                handles=handles, loc="outside lower center", ncols=columns, **options
            )
        else:
            first: Any = self.panels[0]
            first.legend(handles=handles, loc=where, ncols=min(columns, 2), **options)


def open_canvas(
    ax: Any,
    cells: Sequence[Cell] = (Cell(0, 0),),
    *,
    size: tuple[float, float],
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
    share: str = "",
) -> Canvas:
    """Make panels for the cells of a grid.

    Parameters
    ----------
    ax : Axes, sequence of Axes, or None
        Where to draw. One axis is drawn on if one flat panel is wanted; else it is switched off
        and its place divided. Several must be as many as there are cells. None: a figure of its
        own, which belongs to no window.
    cells : sequence of Cell
        The panels.
    size : tuple of float
        Of a figure of its own, in inches.
    widths, heights : sequence of float, optional
        Of columns and rows, relatively.
    share : str
        The axes that the panels share: ``"x"``, ``"y"`` or ``"xy"``.

    Raises
    ------
    InvalidInputError
        If `ax` is something else.
    """
    if ax is None:
        # Figure itself instead of pyplot: nothing global is touched, no display is needed.
        figure = require("matplotlib.figure", purpose="a figure").Figure(
            figsize=size, layout="constrained"
        )
        ratios = {"width_ratios": widths, "height_ratios": heights}
        grid = figure.add_gridspec(*_extent(cells), **ratios)
        panels = _filled(figure, grid, cells, share)
        return _styled(Canvas(figure, panels[0], panels, own=True))
    given = _given(ax)
    if len(given) == 1 and not _fits(given[0], cells):
        panels = _divided(given[0], cells, widths, heights, share)
        return _styled(Canvas(given[0].figure, given[0], panels, own=False))
    if len(given) != len(cells):
        raise InvalidInputError(f"`ax` must be one axis or {len(cells)} axes, got {len(given)}")
    panels = [
        panel if _fits(panel, [cell]) else _divided(panel, [cell], None, None, "")[0]
        for panel, cell in zip(given, cells, strict=True)
    ]
    return _styled(Canvas(given[0].figure, given[0], panels, own=False))


def _given(ax: Any) -> list[Axes]:
    kind = require("matplotlib.axes", purpose="a figure").Axes
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    for one in given:
        if not isinstance(one, kind):
            raise InvalidInputError(
                f"`ax` must be an axis of matplotlib, several, or None, got {type(one).__name__}"
            )
    if not given:
        raise InvalidInputError("`ax` must be an axis of matplotlib, several, or None, got none")
    return given


def _fits(axis: Axes, cells: Sequence[Cell]) -> bool:
    return len(cells) == 1 and axis.name == (cells[0].projection or "rectilinear")


def _divided(
    axis: Axes,
    cells: Sequence[Cell],
    widths: Sequence[float] | None,
    heights: Sequence[float] | None,
    share: str,
) -> list[Axes]:
    place = axis.get_subplotspec()
    if place is None:
        raise InvalidInputError(
            "`ax` must be part of a grid of subplots to be divided, got an axis placed freely"
        )
    axis.set_axis_off()
    grid = place.subgridspec(*_extent(cells), width_ratios=widths, height_ratios=heights)
    return _filled(axis.figure, grid, cells, share)


def _extent(cells: Sequence[Cell]) -> tuple[int, int]:
    rows = max(cell.top + cell.height for cell in cells)
    return rows, max(cell.left + cell.width for cell in cells)


def _filled(figure: Any, grid: GridSpecBase, cells: Sequence[Cell], share: str) -> list[Axes]:
    panels: list[Axes] = []
    for cell in cells:
        first = panels[0] if panels else None
        panel = figure.add_subplot(
            grid[cell.top : cell.top + cell.height, cell.left : cell.left + cell.width],
            projection=cell.projection,
            sharex=first if "x" in share else None,
            sharey=first if "y" in share else None,
        )
        # Numbers stand once, at the outer panels of an axis that is shared.
        if "y" in share and cell.left > 0:
            panel.tick_params(labelleft=False)
        if "x" in share and any(
            other.left == cell.left and other.top > cell.top for other in cells
        ):
            panel.tick_params(labelbottom=False)
        panels.append(panel)
    return panels


def _styled(canvas: Canvas) -> Canvas:
    for panel in canvas.panels:
        panel.tick_params(which="both", labelsize=SMALL, width=_LINE, length=2.5, pad=2)
        if panel.name == "rectilinear":
            for side, spine in panel.spines.items():
                spine.set_linewidth(_LINE)
                spine.set_visible(side in ("left", "bottom"))
        panel.set_axisbelow(True)
    return canvas
