"""ROC and PR curves with a buffer, and the surface over all buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.inputs import check_choice, check_int, check_labels, check_pair
from vuskit.measures.evaluate import evaluate
from vuskit.measures.surface import Surface, surface_to_draw
from vuskit.report.figures._canvas import COLUMN, PAGE, SMALL, TEXT, Cell, open_canvas
from vuskit.report.figures.base import Display, register_figure
from vuskit.report.figures.soft_labels import soft_label

__all__ = [
    "CURVE_COLORS",
    "CURVE_NAMES",
    "RangeCurveDisplay",
    "SurfaceDisplay",
    "VolumeDisplay",
    "draw_surface",
]

Floats = NDArray[np.float64]

CURVE_NAMES = {
    "roc": ("false-positive rate", "true-positive rate", "R-AUC-ROC", "VUS-ROC"),
    "pr": ("recall", "precision", "R-AUC-PR", "VUS-PR"),
}
CURVE_COLORS = {"roc": "#009E73", "pr": "#0072B2"}
_ALL_SCORES = 20_000  # up to here every distinct score is a threshold of the picture
_THRESHOLDS = 5_000
_PLACES = 61
_BETWEEN_MARKERS = 0.17  # diagonals of the panel
_BUFFERS = 40


def _rates(y_true: ArrayLike, y_score: ArrayLike, longest: int, step: int, **options: Any) -> Any:
    many = np.size(y_score) > _ALL_SCORES
    return surface_to_draw(
        y_true,
        y_score,
        buffer=longest,
        step=step,
        thresholds=_THRESHOLDS if many else None,
        **options,
    )


def _curve(found: Surface, curve: str, row: int) -> tuple[Floats, Floats]:
    """Points of one curve, from left to right; a PR curve falls in steps."""
    tpr = found.tpr[row]
    if curve == "roc":
        return np.concatenate([[0], found.fpr[row], [1]]), np.concatenate([[0], tpr, [1]])
    # The rate can fall a little where a lower threshold adds to P' more than to TP.
    order = np.argsort(tpr, kind="stable")
    return tpr[order], found.precision[row][order]


def _plain_curve(y_true: ArrayLike, y_score: ArrayLike, curve: str) -> tuple[Floats, Floats]:
    """Points of the curve of the hard label, as many as the picture needs."""
    labels, scores = check_pair(y_true, y_score)
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), labels.n - 1)  # of equal scores
    if last.size > _ALL_SCORES:
        last = last[np.linspace(0, last.size - 1, _THRESHOLDS).astype(np.intp)]
    hits = np.cumsum(labels.as_array()[order])[last]
    tpr = hits / labels.n_anomalous
    if curve == "pr":
        return tpr, hits / (last + 1)
    fpr = (last + 1 - hits) / (labels.n - labels.n_anomalous)
    return np.concatenate([[0], fpr]), np.concatenate([[0], tpr])


def _read_off(x: Floats, y: Floats, curve: str, places: Floats) -> Floats:
    if curve == "roc":
        return np.interp(places, x, y)
    return y[np.minimum(np.searchsorted(x, places), x.size - 1)]


@register_figure(
    name="range_curve",
    title="ROC or PR curve without and with a buffer",
    source="labels, a score and a buffer",
)
@dataclass(eq=False, repr=False)
class RangeCurveDisplay(Display):
    """The curve of the hard label (dashed) and of the soft one.

    Attributes
    ----------
    curve : str
        ``"roc"`` or ``"pr"``.
    plain, buffered : tuple of two ndarrays
        Horizontal and vertical coordinates without and with the buffer.
    plain_area, buffered_area : float
        The areas; exact, whatever the picture leaves out.
    buffer : int
        Its length.
    name : str
        Of the score.
    """

    curve: str
    plain: tuple[Floats, Floats]
    buffered: tuple[Floats, Floats]
    plain_area: float
    buffered_area: float
    buffer: int
    name: str = ""

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        buffer: int,
        curve: str = "roc",
        name: str = "",
        **options: Any,
    ) -> RangeCurveDisplay:
        """Compute the curves.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Labels and score.
        buffer : int
            Buffer length.
        curve : {"roc", "pr"}
            Which curve.
        name : str
            Of the score, for the legend.
        **options
            ``definition`` and ``side``, as for :func:`vuskit.range_auc_roc`.

        Raises
        ------
        InvalidInputError
            If the arrays or a parameter cannot be evaluated, or only one class is present.

        Examples
        --------
        >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
        >>> RangeCurveDisplay.from_scores(labels, score, buffer=4, curve="pr")
        RangeCurveDisplay(pr, buffer 4, area 0.972)
        """
        check_choice("curve", curve, CURVE_NAMES)
        length = check_int("buffer", buffer, minimum=0)
        found = _rates(y_true, y_score, length, max(length, 1), **options)
        names = [f"auc_{curve}", f"range_auc_{curve}"]
        areas = evaluate(y_true, y_score, buffer=length, measures=names, **options)
        # Not the first row of the surface: without a buffer it still counts events found.
        plain, buffered = _plain_curve(y_true, y_score, curve), _curve(found, curve, -1)
        return cls(curve, plain, buffered, areas[names[0]], areas[names[1]], length, name)

    def plot(
        self,
        ax: Any = None,
        *,
        color: str | None = None,
        marker: str | None = None,
        fill: bool = True,
        legend: bool = True,
    ) -> RangeCurveDisplay:
        """Draw the two curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a figure of its own by default. Several may share an axis.
        color : str, optional
            Of both curves.
        marker : str, optional
            At some places of both curves, to tell the curves of several displays apart.
        fill : bool, default=True
            Whether the area under the buffered curve is shaded.
        legend : bool, default=True
            Whether the areas are written.
        """
        canvas = open_canvas(ax, size=(2.6, 2.6))
        axis: Any = canvas.ax
        x_label, y_label, area_name, _ = CURVE_NAMES[self.curve]
        style: dict[str, Any] = {"color": color or CURVE_COLORS[self.curve], "linewidth": 1.1}
        style |= {"marker": marker, "markersize": 3.5, "markevery": _BETWEEN_MARKERS}
        if self.curve == "pr":
            style["drawstyle"] = "steps"
        before = f"{self.name}: " if self.name else ""
        plain = area_name.removeprefix("R-")
        axis.plot(*self.plain, linestyle="--", label=f"{before}{plain} {self.plain_area:.3f}",
                  **style)  # fmt: skip
        axis.plot(*self.buffered, label=f"{before}{area_name} {self.buffered_area:.3f}", **style)
        if fill:
            step: dict[str, Any] = {"step": "pre"} if self.curve == "pr" else {}
            axis.fill_between(*self.buffered, color=style["color"], alpha=0.2, linewidth=0, **step)
        axis.set(xlim=(0, 1), ylim=(0, 1.02))
        axis.set_xlabel(x_label, fontsize=TEXT)
        axis.set_ylabel(y_label, fontsize=TEXT)
        if legend:
            where = "lower right" if self.curve == "roc" else "lower left"
            # The curve may pass behind.
            axis.legend(fontsize=SMALL, facecolor="white", edgecolor="none", framealpha=0.8,
                        loc=where)  # fmt: skip
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.curve}, buffer {self.buffer}, area {self.buffered_area:.3f}"


@register_figure(
    name="surface",
    title="the ROC or PR surface over all buffers, in three dimensions",
    source="labels, a score and the longest buffer",
)
@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """The surface under which VUS is the volume.

    Attributes
    ----------
    curve : str
        ``"roc"`` or ``"pr"``.
    buffers : ndarray of shape (B,)
        Buffer lengths that are drawn.
    places : ndarray of shape (P,)
        False-positive rates, or recalls.
    heights : ndarray of shape (B, P)
        True-positive rates, or precisions, there.
    volume : float
        VUS; exact, whatever the picture leaves out.
    """

    curve: str
    buffers: NDArray[np.intp]
    places: Floats
    heights: Floats
    volume: float

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        max_buffer: int,
        curve: str = "roc",
        **options: Any,
    ) -> SurfaceDisplay:
        """Compute the surface, at 40 buffer lengths or fewer.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Labels and score.
        max_buffer : int
            Longest buffer.
        curve : {"roc", "pr"}
            Which surface.
        **options
            ``definition`` and ``side``, as for :func:`vuskit.vus_roc`.

        Raises
        ------
        InvalidInputError
            If the arrays or a parameter cannot be evaluated, or only one class is present.

        Examples
        --------
        >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
        >>> SurfaceDisplay.from_scores(labels, score, max_buffer=4, curve="pr")
        SurfaceDisplay(pr, buffers 0 to 4, volume 0.908)
        """
        check_choice("curve", curve, CURVE_NAMES)
        longest = check_int("max_buffer", max_buffer, minimum=1)
        step = max(-(-longest // _BUFFERS), 1)
        found = _rates(y_true, y_score, longest, step, **options)
        name = f"vus_{curve}"
        volume = evaluate(y_true, y_score, buffer=longest, measures=[name], **options)[name]
        places = np.linspace(0.0, 1.0, _PLACES)
        heights = [
            _read_off(*_curve(found, curve, row), curve, places)
            for row in range(found.buffers.size)
        ]
        return cls(curve, found.buffers, places, np.array(heights), volume)

    def plot(self, ax: Any = None, *, title: str | None = None) -> SurfaceDisplay:
        """Draw the surface.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a flat one is replaced by one of three dimensions. A figure of its own
            by default.
        title : str, optional
            The volume by default.
        """
        canvas = open_canvas(ax, [Cell(0, 0, projection="3d")], size=(COLUMN, 3.0))
        draw_surface(canvas.panels[0], self)
        text = f"{CURVE_NAMES[self.curve][3]} = {self.volume:.3f}" if title is None else title
        canvas.panels[0].set_title(text, fontsize=TEXT, pad=-4)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        longest = int(self.buffers[-1])
        return f"{self.curve}, buffers {self.buffers[0]} to {longest}, volume {self.volume:.3f}"


def draw_surface(axis: Any, display: SurfaceDisplay, *, zoom: float = 0.92) -> None:
    """Draw a surface on an axis of three dimensions; wide panels have room for more zoom."""
    x, y = np.meshgrid(display.places, display.buffers)
    axis.plot_surface(
        x, y, display.heights, cmap="cividis", vmin=0, vmax=1, rcount=_BUFFERS + 1,
        ccount=_PLACES, linewidth=0.1, edgecolor=(1, 1, 1, 0.25), antialiased=True,
    )  # fmt: skip
    # A frame at some buffers, so that the shape is seen in gray as well.
    axis.plot_wireframe(x, y, display.heights, rcount=5, ccount=0, color="black", linewidth=0.5)
    axis.set(xlim=(0, 1), zlim=(0, 1), xticks=[0, 0.5, 1], zticks=[0, 0.5, 1])
    axis.set_yticks(np.linspace(0, int(display.buffers[-1]), 3).round().astype(int))
    axis.view_init(elev=24, azim=-60)
    axis.tick_params(labelsize=SMALL, pad=-3)
    axis.set_box_aspect((1, 1, 0.75), zoom=zoom)
    x_label, y_label, *_ = CURVE_NAMES[display.curve]
    axis.set_xlabel(x_label, fontsize=SMALL, labelpad=-7)
    axis.set_ylabel("buffer", fontsize=SMALL, labelpad=-5)
    axis.set_zlabel(y_label, fontsize=SMALL, labelpad=-7)


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
    axis.plot(*points, color=CURVE_COLORS[curve], linewidth=1.2, **style)
    step = {"step": "pre"} if curve == "pr" else {}
    axis.fill_between(*points, color=CURVE_COLORS[curve], alpha=0.25, linewidth=0, **step)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axis.set_xlabel(CURVE_NAMES[curve][0], fontsize=SMALL)
    axis.set_ylabel(CURVE_NAMES[curve][1], fontsize=SMALL)
