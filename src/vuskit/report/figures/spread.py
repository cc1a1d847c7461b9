"""Names beside points such that no two names overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["spread_labels"]

Floats = NDArray[np.float64]
_POINTS_PER_INCH = 72.0


def spread_labels(
    axis: Axes, names: Sequence[str], x: Floats, y: Floats, *, radii: Floats, fontsize: float
) -> None:
    """Write each name beside its circle, where it covers no other name and few circles.

    Names stay within the axis as far as they can.
    Names that had to move away from their circle are tied to it by a thin line.
    """
    axis.autoscale_view()
    centres = _in_points(axis, x, y)
    circles = np.column_stack([centres - radii[:, None], centres + radii[:, None]])
    frame = _frame(axis)
    taken: list[Floats] = []
    for place in np.argsort(centres[:, 1], kind="stable")[::-1]:
        if not np.isfinite(centres[place]).all():
            continue
        width, height = _extent(names[place], fontsize)
        offers = list(_offers(width, height, float(radii[place])))
        boxes = [np.concatenate([centres[place] + low, centres[place] + low + (width, height)])
                 for low in offers]  # fmt: skip
        others = np.delete(circles, place, axis=0)
        costs = [
            10 * (_overlap(box, taken) + width * height - _overlap(box, [frame]))
            + _overlap(box, list(others))
            + 0.02 * step * width * height
            for step, box in enumerate(boxes)
        ]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        far = best >= _NEAR
        axis.annotate(
            names[place],
            (x[place], y[place]),
            xytext=tuple(offers[best]),
            textcoords="offset points",
            fontsize=fontsize,
            va="bottom",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "0.4"} if far else None,
        )


_NEAR = 8


def _offers(width: float, height: float, radius: float) -> Iterator[Floats]:
    """Lower left corners of a name around a circle, the best places first."""
    for gap in (radius + 1.5, radius + 9.0, radius + 17.0, radius + 26.0):
        slant = 0.75 * gap
        middle = -height / 2
        for corner in (
            (gap, middle),
            (-gap - width, middle),
            (-width / 2, gap),
            (-width / 2, -gap - height),
            (slant, slant),
            (slant, -slant - height),
            (-slant - width, slant),
            (-slant - width, -slant - height),
        ):
            yield np.array(corner)


def _extent(name: str, fontsize: float) -> tuple[float, float]:
    """Width and height of a name in points."""
    paths = require("matplotlib.textpath", purpose="a figure")
    box = paths.TextPath((0, 0), name, size=fontsize).get_extents()
    return float(box.width), fontsize


def _in_points(axis: Axes, x: Floats, y: Floats) -> Floats:
    """Where the points of the axis come to lie, roughly: before the figure is laid out."""
    return _scaled(axis, axis.transData.transform(np.column_stack([x, y])))


def _frame(axis: Axes) -> Floats:
    """Lower left and upper right corner of the axis."""
    return _scaled(axis, axis.transAxes.transform([(0, 0), (1, 1)])).ravel()


def _scaled(axis: Axes, pixels: Any) -> Floats:
    figure: Any = axis.figure
    return np.asarray(pixels * _POINTS_PER_INCH / figure.dpi, dtype=np.float64)


def _overlap(box: Floats, others: Sequence[Floats]) -> float:
    """Area that a box shares with others."""
    if not others:
        return 0.0
    rest = np.array(others)
    low = np.maximum(rest[:, :2], box[:2])
    high = np.minimum(rest[:, 2:], box[2:])
    return float(np.prod(np.maximum(high - low, 0.0), axis=1).sum())
