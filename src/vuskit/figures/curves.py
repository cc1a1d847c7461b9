"""ROC and PR curves with a buffer, and the surface over all buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.figures._drawing import line_data
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    SMALL,
    TEXT,
    Canvas,
    Cell,
    Data,
    Display,
    open_canvas,
    to_array,
)
from vuskit.figures.soft_labels import soft_label
from vuskit.inputs import check_choice, check_int, check_pair, doubles_in_order
from vuskit.measures.evaluate import evaluate
from vuskit.measures.surface import Surface, surface_to_draw

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
_BRIGHTEST = 1.2  # height of the brightest color of a surface
_LABEL, _SOFT = "#0072B2", "#F4B183"  # label, and soft label next to it
_BUFFERS = 40


def _rates(y_true: ArrayLike, y_score: ArrayLike, longest: int, step: int, **options: Any) -> Any:
    many = np.size(y_score) > _ALL_SCORES
    thresholds = options.pop("thresholds", None) or (_THRESHOLDS if many else None)
    return surface_to_draw(
        y_true, y_score, buffer=longest, step=step, thresholds=thresholds, **options
    )


def _curve(found: Surface, curve: str, row: int) -> tuple[Floats, Floats]:
    """Return the points of one curve, from left to right."""
    tpr = found.tpr[row]
    if curve == "roc":
        return np.concatenate([[0], found.fpr[row], [1]]), np.concatenate([[0], tpr, [1]])
    # The rate can decrease slightly where a lower threshold adds more to P' than to TP.
    order = np.argsort(tpr, kind="stable")
    return tpr[order], found.precision[row][order]


def _plain_curve(y_true: ArrayLike, y_score: ArrayLike, curve: str) -> tuple[Floats, Floats]:
    """Return the points of the curve without a buffer, thinned for drawing."""
    labels, scores = check_pair(y_true, y_score)
    order = np.argsort(-doubles_in_order("y_score", scores), kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), labels.n - 1)  # of equal scores
    if last.size > _ALL_SCORES:
        last = last[np.linspace(0, last.size - 1, _THRESHOLDS).astype(np.intp)]
    hits = np.cumsum(labels.as_array()[order])[last]
    tpr = hits / labels.n_anomalous
    if curve == "pr":
        return tpr, hits / (last + 1)
    fpr = (last + 1 - hits) / (labels.n - labels.n_anomalous)
    return np.concatenate([[0], fpr]), np.concatenate([[0], tpr])


def surface_heights(found: Surface, curve: str, places: Floats) -> Floats:
    """Return the heights of a surface at given rates, one row for each buffer."""

    def read_off(x: Floats, y: Floats) -> Floats:
        if curve == "roc":
            return np.interp(places, x, y)
        return y[np.minimum(np.searchsorted(x, places), x.size - 1)]

    return np.array([read_off(*_curve(found, curve, row)) for row in range(found.buffers.size)])


@dataclass(eq=False, repr=False)
class RangeCurveDisplay(Display):
    """Curves of the label without (dashed) and with a buffer.

    Attributes
    ----------
    curve : str
        ``"roc"`` or ``"pr"``.
    plain, buffered : tuple of two ndarrays
        Horizontal and vertical coordinates without and with the buffer.
    plain_area, buffered_area : float
        Exact areas, even if the drawn curve is thinned.
    buffer : int
        Buffer length.
    name : str
        Name of the score.
    """

    kind = "range_curve"
    heading = "ROC or PR curve without and with a buffer"
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
            ROC or PR curve.
        name : str
            Name of the score, for the legend.
        **options
            ``definition``, ``thresholds`` and ``side``, as for :func:`vuskit.range_auc_roc`.

        Raises
        ------
        InvalidInputError
            If an array or a parameter is invalid, or only one class is present.

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
        # Not the first row of the surface, which weights by detected events even without a buffer.
        plain, buffered = _plain_curve(y_true, y_score, curve), _curve(found, curve, -1)
        return cls(curve, plain, buffered, areas[names[0]], areas[names[1]], length, name)

    def data(self) -> dict[str, Any]:
        """Return coordinates and areas of both curves."""
        return {
            "curve": self.curve,
            "buffer": self.buffer,
            "name": self.name,
            "plain": {"x": self.plain[0], "y": self.plain[1], "area": self.plain_area},
            "buffered": {"x": self.buffered[0], "y": self.buffered[1], "area": self.buffered_area},
        }

    def _draw(
        self,
        ax: Any,
        data: Data,
        *,
        color: str | None = None,
        marker: str | None = None,
        fill: bool = True,
        legend: bool = True,
    ) -> Canvas:
        canvas = open_canvas(ax, size=(2.6, 2.6))
        axis: Any = canvas.ax
        x_label, y_label, area_name, _ = CURVE_NAMES[data["curve"]]
        style: dict[str, Any] = {"color": color or CURVE_COLORS[data["curve"]], "linewidth": 1.1}
        style |= {"marker": marker, "markersize": 3.5, "markevery": _BETWEEN_MARKERS}
        if data["curve"] == "pr":
            style["drawstyle"] = "steps"
        before = f"{data['name']}: " if data["name"] else ""
        plain, buffered = data["plain"], data["buffered"]
        axis.plot(
            plain["x"], plain["y"], linestyle="--",
            label=f"{before}{area_name.removeprefix('R-')} {plain['area']:.3f}", **style,
        )  # fmt: skip
        axis.plot(
            buffered["x"], buffered["y"], label=f"{before}{area_name} {buffered['area']:.3f}",
            **style,
        )  # fmt: skip
        if fill:
            step: dict[str, Any] = {"step": "pre"} if data["curve"] == "pr" else {}
            axis.fill_between(
                buffered["x"], buffered["y"], color=style["color"], alpha=0.2, linewidth=0, **step
            )
        axis.set(xlim=(0, 1), ylim=(0, 1.02))
        axis.set_xlabel(x_label, fontsize=TEXT)
        axis.set_ylabel(y_label, fontsize=TEXT)
        if legend:
            where = "lower right" if data["curve"] == "roc" else "lower left"
            # The curve may pass behind the legend.
            axis.legend(fontsize=SMALL, facecolor="white", edgecolor="none", framealpha=0.8,
                        loc=where)  # fmt: skip
        return canvas

    def _about(self) -> str:
        return f"{self.curve}, buffer {self.buffer}, area {self.buffered_area:.3f}"


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """Surface over all buffers; VUS is the volume under it.

    Attributes
    ----------
    curve : str
        ``"roc"`` or ``"pr"``.
    buffers : ndarray of shape (B,)
        Drawn buffer lengths.
    places : ndarray of shape (P,)
        False-positive rates, or recalls.
    heights : ndarray of shape (B, P)
        True-positive rates, or precisions.
    volume : float
        Exact VUS, even if only some buffers are drawn.
    """

    kind = "surface"
    heading = "ROC or PR surface over all buffers, in three dimensions"
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
        """Compute the surface at no more than 40 buffer lengths.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Labels and score.
        max_buffer : int
            Longest buffer.
        curve : {"roc", "pr"}
            ROC or PR surface.
        **options
            ``definition``, ``thresholds`` and ``side``, as for :func:`vuskit.vus_roc`.

        Raises
        ------
        InvalidInputError
            If an array or a parameter is invalid, or only one class is present.

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
        return cls(curve, found.buffers, places, surface_heights(found, curve, places), volume)

    def data(self) -> dict[str, Any]:
        """Return buffers, rates, and heights by buffer and rate."""
        return {
            "curve": self.curve,
            "buffers": self.buffers,
            "places": self.places,
            "heights": self.heights,
            "volume": self.volume,
        }

    def _draw(self, ax: Any, data: Data, *, title: str | None = None) -> Canvas:
        canvas = open_canvas(ax, [Cell(0, 0, projection="3d")], size=(COLUMN, 3.0))
        draw_surface(canvas.panels[0], data)
        name = CURVE_NAMES[data["curve"]][3]
        text = f"{name} = {data['volume']:.3f}" if title is None else title
        canvas.panels[0].set_title(text, fontsize=TEXT, pad=-4)
        return canvas

    def _about(self) -> str:
        longest = int(self.buffers[-1])
        return f"{self.curve}, buffers {self.buffers[0]} to {longest}, volume {self.volume:.3f}"


def draw_surface(axis: Any, data: Mapping[str, Any], *, zoom: float = 0.92) -> None:
    """Draw a surface on a three-dimensional axis; wide panels have room for more zoom."""
    x, y = np.meshgrid(data["places"], data["buffers"])
    heights = to_array(data["heights"])
    # The brightest color of the map would look white in gray print.
    axis.plot_surface(
        x, y, heights, cmap="cividis", vmin=0, vmax=_BRIGHTEST, rcount=_BUFFERS + 1,
        ccount=_PLACES, linewidth=0.1, edgecolor=(1, 1, 1, 0.25), antialiased=True,
    )  # fmt: skip
    # Lines at some buffers and along the edges show the shape in gray print.
    axis.plot_wireframe(x, y, heights, rcount=5, ccount=0, color="black", linewidth=0.5)
    for column in (0, -1):
        axis.plot(x[:, column], y[:, column], heights[:, column], color="black", linewidth=0.5)
    axis.set(xlim=(0, 1), zlim=(0, 1), xticks=[0, 0.5, 1], zticks=[0, 0.5, 1])
    # Buffer 0 is at the corner of the axes, where it would overlap the label of the rate 1.
    axis.set_yticks(np.linspace(0, data["buffers"][-1], 3)[1:].round().astype(int))
    axis.view_init(elev=24, azim=-60)
    axis.tick_params(labelsize=SMALL, pad=-3)
    axis.set_box_aspect((1, 1, 0.75), zoom=zoom)
    x_label, y_label, *_ = CURVE_NAMES[data["curve"]]
    axis.set_xlabel(x_label, fontsize=SMALL, labelpad=-7)
    axis.set_ylabel("buffer", fontsize=SMALL, labelpad=-5)
    axis.set_zlabel(y_label, fontsize=SMALL, labelpad=-7)


@dataclass(eq=False, repr=False)
class VolumeDisplay(Display):
    """Labels above; below them the curve, the curve with a buffer, and the surface.

    Attributes
    ----------
    label : ndarray of bool
        The label.
    score : ndarray
        The score.
    soft : ndarray of shape (B, n)
        Soft labels of growing buffers; the last has the buffer of the curve.
    curve : RangeCurveDisplay
        Curves without and with the buffer.
    surface : SurfaceDisplay
        Surface over all buffers.
    """

    kind = "volume"
    heading = "from AUC to R-AUC to VUS: label, curve, surface"
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
        volume_factor: float = 1.0,
        **options: Any,
    ) -> VolumeDisplay:
        """Compute curves, surface and soft labels; parameters as for `SurfaceDisplay`.

        The surface reaches up to `volume_factor` times the buffer of the curve.

        Examples
        --------
        >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
        >>> VolumeDisplay.from_scores(labels, score, max_buffer=4)
        VolumeDisplay(roc: area 0.875, with buffer 4 0.986, volume 0.937)
        """
        over = SurfaceDisplay.from_scores(
            y_true, y_score, max_buffer=round(volume_factor * max_buffer), curve=curve, **options
        )
        lines = RangeCurveDisplay.from_scores(
            y_true, y_score, buffer=max_buffer, curve=curve, **options
        )
        lengths = np.unique(np.linspace(0, max_buffer, 6).round().astype(int))
        kept = {name: options[name] for name in ("definition", "side") if name in options}
        soft = [soft_label(y_true, buffer=int(length), **kept) for length in lengths]
        labels, scores = check_pair(y_true, y_score)
        score = doubles_in_order("y_score", scores)
        return cls(labels.as_array(), score, np.array(soft), lines, over)

    def data(self) -> dict[str, Any]:
        """Return label, score, soft labels, and the data of curve and surface."""
        return {
            "label": self.label.astype(int),
            "score": line_data(self.score),
            "soft": self.soft,
            "curve": self.curve.to_dict(),
            "surface": self.surface.to_dict(),
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        cells = [Cell(0, 0), Cell(0, 1), Cell(0, 2), Cell(1, 0), Cell(1, 1)]
        cells.append(Cell(1, 2, projection="3d"))
        canvas = open_canvas(ax, cells, size=(PAGE, 3.4), heights=(1, 2.6), widths=(1, 1, 1.25))
        panels, curve, surface = canvas.panels, data["curve"], data["surface"]
        names = CURVE_NAMES[curve["curve"]]
        parts = (
            (data["soft"][:1], names[2].removeprefix("R-"), curve["plain"]["area"]),
            (data["soft"][-1:], names[2], curve["buffered"]["area"]),
            (data["soft"], names[3], surface["volume"]),
        )
        for letter, axis, (soft, name, value) in zip("abc", panels[:3], parts, strict=True):
            _draw_labels(axis, data, to_array(soft))
            canvas.title(axis, f"({letter}) {name} = {value:.3f}")
        for axis, points in zip(panels[3:5], (curve["plain"], curve["buffered"]), strict=True):
            _draw_area(axis, points, curve["curve"])
        draw_surface(panels[5], surface, zoom=0.97)
        canvas.legend(panels[1].get_legend_handles_labels()[0])
        return canvas

    def _about(self) -> str:
        return (
            f"{self.curve.curve}: area {self.curve.plain_area:.3f}, with buffer "
            f"{self.curve.buffer} {self.curve.buffered_area:.3f}, volume {self.surface.volume:.3f}"
        )


def _draw_labels(axis: Any, data: Mapping[str, Any], soft: Floats) -> None:
    label = to_array(data["label"])
    at = np.arange(label.size)
    fill: dict[str, Any] = {"step": "mid", "linewidth": 0}
    outside = np.where(label > 0, 0.0, soft)
    for row, one in enumerate(outside):
        name = "soft label" if row == 0 else None
        axis.fill_between(at, one, color=_SOFT, alpha=max(1 / len(soft), 0.3), label=name, **fill)
    axis.fill_between(at, label, color=_LABEL, alpha=0.7, label="label", **fill)
    score = to_array(data["score"]["y"])
    share = (score - score.min()) / (np.ptp(score) or 1.0)
    axis.plot(data["score"]["x"], share, color="black", linewidth=0.6, label="score")
    axis.set(xlim=(-0.5, at.size - 0.5), ylim=(0, 1.05), yticks=[])
    axis.set_xlabel("point", fontsize=SMALL, labelpad=1)


def _draw_area(axis: Any, points: Mapping[str, Any], curve: str) -> None:
    x, y = points["x"], points["y"]
    style = {"drawstyle": "steps"} if curve == "pr" else {}
    axis.plot(x, y, color=CURVE_COLORS[curve], linewidth=1.2, **style)
    step = {"step": "pre"} if curve == "pr" else {}
    axis.fill_between(x, y, color=CURVE_COLORS[curve], alpha=0.25, linewidth=0, **step)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axis.set_xlabel(CURVE_NAMES[curve][0], fontsize=SMALL)
    axis.set_ylabel(CURVE_NAMES[curve][1], fontsize=SMALL)
