"""Place names next to circles without overlaps with names, circles or the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.figures.base import POINTS_PER_INCH, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
# Distance between a circle and its name in points, and its cost in areas of the name. From the
# third distance on, a line joins the name to its circle.
_RINGS = {2.0: 0.0, 4.0: 0.1, 8.0: 0.5, 14.0: 0.7, 21.0: 0.9, 29.0: 1.2, 38.0: 1.5}
_NEAR = 2
_ANGLES = 16
_APART = 2.0  # points around a name
_ROUNDS = 4
_SAMPLES = 25  # points of a line
_TURN = 0.05  # cost of a name above instead of next to a circle, in areas of the name
_ON_NAME, _ON_CIRCLE = 10.0, 10.0


def spread_labels(
    axis: Axes, names: Sequence[str], x: Floats, y: Floats, *, radii: Floats, fontsize: float
) -> None:
    """Write each name next to its circle, where it covers neither names nor circles.

    The layout of the panel must be final. Names stay within the panel if possible. A thin line
    joins distant names to their circles.
    """
    centers = _in_points(axis, axis.transData.transform(np.column_stack([x, y])))
    shown: list[int] = np.flatnonzero(np.isfinite(centers).all(axis=1)).tolist()
    circles = np.column_stack([centers - radii[:, None], centers + radii[:, None]])
    frame = _in_points(axis, axis.transAxes.transform([(0, 0), (1, 1)])).ravel()
    frame += (_APART, _APART, -_APART, -_APART)
    sizes = {place: np.array([_width(names[place], fontsize), fontsize]) for place in shown}
    offers = {place: _offers(sizes[place], float(radii[place])) for place in shown}
    boxes = {place: _boxes(centers[place], offers[place], sizes[place]) for place in shown}
    fixed = {
        place: _fixed_costs(boxes[place], frame, np.delete(circles[shown], row, axis=0))
        for row, place in enumerate(shown)
    }
    # Place names from top to bottom, in several rounds, since each placement affects the others.
    chosen: dict[int, int] = {}
    for place in sorted(shown, key=lambda place: -centers[place, 1]) * _ROUNDS:
        rest = [boxes[other][turn] for other, turn in chosen.items() if other != place]
        others = np.array(rest).reshape(-1, 4)
        area = float(np.prod(sizes[place]))
        costs = fixed[place] + _ON_NAME * _shared(boxes[place], others)
        costs += area * _crossed(centers[place], boxes[place], others)
        chosen[place] = int(np.argmin(costs))
    for place, turn in chosen.items():
        far = turn >= _NEAR * _ANGLES
        text = axis.annotate(
            names[place],
            (x[place], y[place]),
            xytext=tuple(offers[place][turn]),
            textcoords="offset points",
            fontsize=fontsize,
            va="bottom",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "0.4"} if far else None,
        )
        text.set_in_layout(False)  # or the panel would move away from under the names


def _width(name: str, fontsize: float) -> float:
    return text_width(name, fontsize) * POINTS_PER_INCH


def _offers(size: Floats, radius: float) -> Floats:
    """Return candidate positions (lower left corners) of a name around a circle.

    Near positions come first, right and left before others. The name touches a ring around the
    circle from outside.
    """
    turns = np.arange(_ANGLES) * 2 * np.pi / _ANGLES
    turns = turns[np.argsort(np.round(np.abs(np.sin(turns)), 6), kind="stable")]
    towards = np.column_stack([np.cos(turns), np.sin(turns)])
    # The corner or side of the name that faces the circle.
    corners = np.where(np.abs(towards) < 1e-6, -0.5, np.where(towards > 0, 0.0, -1.0)) * size
    # Names above and below are shifted sideways with the angle.
    corners[:, 0] = np.where(
        np.abs(towards[:, 1]) > 0.8, (towards[:, 0] - 1) / 2 * size[0], corners[:, 0]
    )
    corners[:, 1] = np.where(
        np.abs(towards[:, 0]) > 0.8, (towards[:, 1] - 1) / 2 * size[1], corners[:, 1]
    )
    return np.concatenate([towards * (radius + ring) + corners for ring in _RINGS])


def _boxes(center: Floats, offers: Floats, size: Floats) -> Floats:
    return np.column_stack([center + offers, center + offers + size])


def _fixed_costs(boxes: Floats, frame: Floats, circles: Floats) -> Floats:
    """Return the cost of each position, without regard to other names."""
    area = float(np.prod(boxes[0, 2:] - boxes[0, :2]))
    outside = area - _shared(boxes, frame[None], apart=0.0)
    covered = _shared(boxes, circles)
    away = np.repeat(list(_RINGS.values()), _ANGLES) + np.tile(
        np.linspace(0, _TURN, _ANGLES), len(_RINGS)
    )
    return _ON_NAME * outside + _ON_CIRCLE * covered + away * area


def _crossed(center: Floats, boxes: Floats, names: Floats) -> Floats:
    """Return how many other names the line from the circle to each position crosses."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    along = np.linspace(0, 1, _SAMPLES)[:, None, None, None]
    points = center + along * (middles[:, None] - center)
    inside = ((points >= names[:, :2] - 1) & (points <= names[:, 2:] + 1)).all(axis=3)
    crossed: Floats = inside.any(axis=0).sum(axis=1).astype(np.float64)
    crossed[: _NEAR * _ANGLES] = 0  # without a line
    return crossed


def _in_points(axis: Axes, pixels: Any) -> Floats:
    figure: Any = axis.figure
    return np.asarray(pixels * POINTS_PER_INCH / figure.dpi, dtype=np.float64)


def _shared(boxes: Floats, others: Floats, *, apart: float = _APART) -> Floats:
    """Return the area that each box, with a margin, shares with others."""
    if not len(others):
        return np.zeros(len(boxes))
    low = np.maximum(boxes[:, None, :2] - apart, others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:] + apart, others[None, :, 2:])
    shared: Floats = np.prod(np.maximum(high - low, 0.0), axis=2).sum(axis=1)
    return shared
