"""From AUC over R-AUC to VUS in one figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.inputs import check_labels
from vuskit.report.figures.base import Display, register_figure
from vuskit.report.figures.canvas import PAGE, SMALL, Cell, open_canvas
from vuskit.report.figures.curves import (
    CURVE_COLOURS,
    CURVE_NAMES,
    RangeCurveDisplay,
    SurfaceDisplay,
    draw_surface,
)
from vuskit.report.figures.labels import soft_label

__all__ = ["VolumeDisplay"]

Floats = NDArray[np.float64]


@register_figure(
    name="volume",
    title="from AUC over R-AUC to VUS: label, curve, surface",
    source="labels, a score and the longest buffer",
)
@dataclass(eq=False, repr=False)
class VolumeDisplay(Display):
    """Above the labels, below what they lead to: a curve, a buffered curve, a surface.

    Attributes
    ----------
    label : ndarray of bool
        The label.
    score : ndarray
        The score.
    soft : ndarray of shape (B, n)
        Soft labels of growing buffers; the last is that of the curve.
    curve : RangeCurveDisplay
        Without and with the buffer.
    surface : SurfaceDisplay
        Over all buffers.
    """

    label: NDArray[np.bool_]
    score: Floats
    soft: Floats
    curve: RangeCurveDisplay
    surface: SurfaceDisplay

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        max_buffer: int,
        curve: str = "roc",
        **options: Any,
    ) -> VolumeDisplay:
        """Compute curves, surface and soft labels; parameters as for `SurfaceDisplay`.

        Examples
        --------
        >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
        >>> VolumeDisplay.from_scores(labels, score, max_buffer=4)
        VolumeDisplay(roc: area 0.875, with buffer 4 0.986, volume 0.937)
        """
        over = SurfaceDisplay.from_scores(
            y_true, y_score, max_buffer=max_buffer, curve=curve, **options
        )
        lines = RangeCurveDisplay.from_scores(
            y_true, y_score, buffer=max_buffer, curve=curve, **options
        )
        lengths = np.unique(np.linspace(0, max_buffer, 6).round().astype(int))
        soft = [soft_label(y_true, buffer=int(length), **options) for length in lengths]
        label = check_labels(y_true).as_array()
        return cls(label, np.asarray(y_score, dtype=np.float64), np.array(soft), lines, over)

    def plot(self, ax: Any = None) -> VolumeDisplay:
        """Draw three columns, for AUC, R-AUC and VUS.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, divided into panels; a figure of its own by default.
        """
        cells = [Cell(0, 0), Cell(0, 1), Cell(0, 2), Cell(1, 0), Cell(1, 1)]
        cells.append(Cell(1, 2, projection="3d"))
        canvas = open_canvas(ax, cells, size=(PAGE, 3.4), heights=(1, 2.6), widths=(1, 1, 1.25))
        panels = canvas.panels
        names = CURVE_NAMES[self.curve.curve]
        parts = (
            (self.soft[:1], names[2].removeprefix("R-"), self.curve.plain_area),
            (self.soft[-1:], names[2], self.curve.buffered_area),
            (self.soft, names[3], self.surface.volume),
        )
        for letter, axis, (soft, name, value) in zip("abc", panels[:3], parts, strict=True):
            _draw_labels(axis, self.label, self.score, soft)
            canvas.title(axis, f"({letter}) {name} = {value:.3f}")
        for axis, points in zip(panels[3:5], (self.curve.plain, self.curve.buffered), strict=True):
            _draw_area(axis, points, self.curve.curve)
        draw_surface(panels[5], self.surface)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return (
            f"{self.curve.curve}: area {self.curve.plain_area:.3f}, with buffer "
            f"{self.curve.buffer} {self.curve.buffered_area:.3f}, volume {self.surface.volume:.3f}"
        )


def _draw_labels(axis: Any, label: NDArray[np.bool_], score: Floats, soft: Floats) -> None:
    at = np.arange(label.size)
    for one in soft:
        axis.fill_between(at, one, step="mid", color="#D55E00", alpha=0.55 / len(soft), linewidth=0)
    axis.fill_between(at, label, step="mid", color="#0072B2", alpha=0.55, linewidth=0)
    spread = np.ptp(score) or 1.0
    axis.plot(at, (score - score.min()) / spread, color="black", linewidth=0.6)
    axis.set(xlim=(-0.5, label.size - 0.5), ylim=(0, 1.05), yticks=[])
    axis.set_xlabel("point", fontsize=SMALL, labelpad=1)


def _draw_area(axis: Any, points: tuple[Floats, Floats], curve: str) -> None:
    style = {"drawstyle": "steps"} if curve == "pr" else {}
    axis.plot(*points, color=CURVE_COLOURS[curve], linewidth=1.2, **style)
    step = {"step": "pre"} if curve == "pr" else {}
    axis.fill_between(*points, color=CURVE_COLOURS[curve], alpha=0.25, linewidth=0, **step)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axis.set_xlabel(CURVE_NAMES[curve][0], fontsize=SMALL)
    axis.set_ylabel(CURVE_NAMES[curve][1], fontsize=SMALL)
