"""Soft labels, and the sections of a series that a buffer reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import (
    draw_line,
    event_bounds,
    line_data,
    shade,
    thin_hatch,
)
from vuskit.figures.base import (
    COLUMN,
    SMALL,
    TEXT,
    Canvas,
    Data,
    Display,
    grid_cells,
    open_canvas,
    to_array,
)
from vuskit.inputs import (
    align_to_labels,
    check_int,
    check_labels,
    check_prediction,
    check_scores,
    doubles_in_order,
)
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.workspace import PreparedLabels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_DYNAMIC, _STATIC = "#009E73", "#444444"
_LABEL, _SOFT = "#0072B2", "#D55E00"
_SOFT_FILL = "#F4B183"  # opaque, so that it looks the same on every background


def soft_label(
    y_true: ArrayLike,
    *,
    buffer: int,
    y_pred: ArrayLike | None = None,
    definition: str = EvaluationSettings.definition,
    side: str = "both",
) -> Floats:
    """Return the soft label of every point: 1 in events, decreasing over the buffer around them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    buffer : int
        Buffer length.
    y_pred : array-like of shape (n,), optional
        Prediction of 0 and 1. Buffer points that are not predicted get 0.
    definition, side : str
        As for :func:`vuskit.range_auc_roc`.

    Raises
    ------
    InvalidInputError
        If the labels, the prediction or a parameter is invalid.

    Examples
    --------
    >>> soft_label([0, 0, 0, 1, 0, 0], buffer=4).round(2).tolist()
    [0.0, 0.71, 0.87, 1.0, 0.87, 0.71]
    >>> soft_label([0, 0, 0, 1, 0, 0], buffer=4, y_pred=[0, 0, 1, 1, 0, 0]).round(2).tolist()
    [0.0, 0.0, 0.87, 1.0, 0.0, 0.0]
    """
    labels = check_labels(y_true)
    settings = EvaluationSettings(buffer=buffer, definition=definition, side=side)
    plan = PreparedLabels(labels).buffered(settings, with_volume=False).plan
    weights = plan.table[0, plan.code] / plan.full_weight
    weights[plan.second <= plan.halves[0]] = 1.0  # reached from two events
    weights[: plan.n_inside] = 1.0
    soft = np.zeros(labels.n)
    soft[plan.positions] = weights
    if y_pred is not None:
        soft[~(check_prediction(y_pred, labels) | labels.as_array())] = 0.0
    return soft


def _steps(axis: Any, values: Sequence[float], **style: Any) -> None:
    axis.plot(np.arange(len(values)), values, drawstyle="steps-mid", **style)
    axis.set_xlim(-0.5, len(values) - 0.5)


@dataclass(eq=False, repr=False)
class SoftLabelDisplay(Display):
    """Label, soft label, and the part of the soft label that is predicted.

    Attributes
    ----------
    label : ndarray of shape (n,)
        The label, 0 and 1.
    soft : ndarray of shape (n,)
        The soft label.
    counted : ndarray of shape (n,) or None
        The soft label at predicted points, 0 elsewhere in the buffer.
    prediction : ndarray of bool or None
        The prediction.
    buffer : int
        Buffer length.
    """

    kind = "soft_label"
    heading = "extension of the label by the buffer, at predicted points"
    label: Bools
    soft: Floats
    counted: Floats | None
    prediction: Bools | None
    buffer: int

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, *, buffer: int, y_pred: ArrayLike | None = None, **options: Any
    ) -> SoftLabelDisplay:
        """Compute the soft label; parameters as for :func:`soft_label`.

        Examples
        --------
        >>> SoftLabelDisplay.from_labels([0, 0, 0, 1, 0, 0], buffer=4)
        SoftLabelDisplay(6 points, buffer 4)
        """
        labels = check_labels(y_true)
        soft = soft_label(y_true, buffer=buffer, **options)
        if y_pred is None:
            return cls(labels.as_array(), soft, None, None, int(buffer))
        counted = soft_label(y_true, buffer=buffer, y_pred=y_pred, **options)
        predicted = np.asarray(check_prediction(y_pred, labels))
        return cls(labels.as_array(), soft, counted, predicted, int(buffer))

    def data(self) -> dict[str, Any]:
        """Return label, soft label, prediction, and the predicted part of the soft label."""
        return {
            "buffer": self.buffer,
            "label": self.label.astype(int),
            "soft": self.soft,
            "counted": self.counted,
            "prediction": None if self.prediction is None else self.prediction.astype(int),
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        canvas = open_canvas(ax, size=(COLUMN, 1.55))
        axis = canvas.ax
        at = np.arange(len(data["soft"]))
        if data["counted"] is not None and data["prediction"] is not None:
            axis.fill_between(
                at, data["counted"], step="mid", color=_SOFT, alpha=0.3, linewidth=0,
                label="part that counts",
            )  # fmt: skip
            axis.fill_between(
                at, -0.22, -0.08, where=[bool(one) for one in data["prediction"]], step="mid",
                color="0.25", linewidth=0, label="prediction",
            )  # fmt: skip
        _steps(axis, data["soft"], color=_SOFT, linewidth=1.1, linestyle="--",
               label=f"soft label, buffer {data['buffer']}")  # fmt: skip
        _steps(axis, data["label"], color=_LABEL, linewidth=1.1, label="label")
        axis.set_ylim(-0.3, 1.08)
        axis.set_yticks([0, 0.5, 1])
        axis.set_xlabel("point", fontsize=TEXT)
        axis.set_ylabel("label", fontsize=TEXT)
        if legend:
            canvas.legend(axis.get_legend_handles_labels()[0], columns=2)
        return canvas

    def _about(self) -> str:
        predicted = "" if self.prediction is None else f", {int(self.prediction.sum())} predicted"
        return f"{self.soft.size} points, buffer {self.buffer}{predicted}"


@dataclass(eq=False, repr=False)
class SectionsDisplay(Display):
    """Score and label; only the dynamic sections change with the buffer.

    Attributes
    ----------
    label : ndarray of bool
        The label.
    score : ndarray of shape (n,)
        The score.
    dynamic : ndarray of bool
        Points in an event or within reach of one.
    soft : ndarray of shape (n,)
        Soft label at the longest buffer.
    """

    kind = "sections"
    heading = "static and dynamic sections of a series"
    label: Bools
    score: Floats
    dynamic: Bools
    soft: Floats

    @classmethod
    def from_scores(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, max_buffer: int, **options: Any
    ) -> SectionsDisplay:
        """Compute the sections.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Labels and score.
        max_buffer : int
            The longest buffer.
        **options
            ``definition`` and ``side``, as for :func:`soft_label`.

        Raises
        ------
        InvalidInputError
            If an array or a parameter is invalid.

        Examples
        --------
        >>> SectionsDisplay.from_scores([0, 0, 0, 1, 0, 0], [0, 1, 2, 3, 2, 1], max_buffer=2)
        SectionsDisplay(6 points, 3 of them dynamic)
        """
        y_true, y_score = align_to_labels(y_true, y_score=y_score)
        labels = check_labels(y_true)
        score = doubles_in_order("y_score", check_scores(y_score, labels))
        check_int("max_buffer", max_buffer, minimum=0)
        soft = soft_label(y_true, buffer=max_buffer, **options)
        return cls(labels.as_array(), score, soft > 0, soft)

    def data(self) -> dict[str, Any]:
        """Return score, label, soft label, and the bounds of the sections."""
        return {
            "score": line_data(self.score),
            "label": self.label.astype(int),
            "soft": self.soft,
            "dynamic": event_bounds(self.dynamic),
            "static": event_bounds(~self.dynamic),
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        canvas = open_canvas(ax, grid_cells(2, 1), size=(COLUMN, 1.85), share="x")
        above, below = canvas.panels
        draw_line(above, data["score"])
        canvas.title(above, "(a) score")
        _steps(below, data["soft"], color=_SOFT, linewidth=1.0, linestyle="--",
               label="soft label, longest buffer")  # fmt: skip
        _steps(below, data["label"], color=_LABEL, linewidth=1.0, label="label")
        canvas.title(below, "(b) label")
        for axis in canvas.panels:
            _shade_sections(axis, data)
            axis.set_yticks([])
        below.set_xlabel("point", fontsize=TEXT)
        if legend:
            handles = [*above.get_legend_handles_labels()[0], *below.get_legend_handles_labels()[0]]
            named = {str(handle.get_label()): handle for handle in handles}
            canvas.legend(list(named.values()), columns=2)
        return canvas

    def _about(self) -> str:
        return f"{self.score.size} points, {int(self.dynamic.sum())} of them dynamic"


def _shade_sections(axis: Any, data: Mapping[str, Any]) -> None:
    shade(axis, data["dynamic"], color=_DYNAMIC, alpha=0.22, label="dynamic section")
    # Static sections are hatched: in gray print, light green is hard to tell from white.
    before = len(axis.patches)
    shade(axis, data["static"], facecolor="none", edgecolor=_STATIC, color=None,
          label="static section")  # fmt: skip
    for patch in axis.patches[before:]:
        thin_hatch(patch, "///")


@dataclass(eq=False, repr=False)
class LabelEvolutionDisplay(Display):
    """The soft label at several buffer lengths, one below the other.

    Attributes
    ----------
    buffers : tuple of int
        The lengths.
    soft : ndarray of shape (B, n)
        The soft labels.
    label : ndarray of bool
        The label.
    """

    kind = "label_evolution"
    heading = "the soft label as the buffer grows"
    buffers: tuple[int, ...]
    soft: Floats
    label: Bools

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, *, buffers: Iterable[int], **options: Any
    ) -> LabelEvolutionDisplay:
        """Compute the soft label for each buffer length.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        buffers : iterable of int
            Buffer lengths.
        **options
            ``definition`` and ``side``, as for :func:`soft_label`.

        Raises
        ------
        InvalidInputError
            If the labels or a length is invalid, or there is no length.

        Examples
        --------
        >>> LabelEvolutionDisplay.from_labels([0, 0, 0, 1, 0, 0], buffers=[0, 2, 4])
        LabelEvolutionDisplay(6 points, buffers 0, 2, 4)
        """
        lengths = tuple(check_int("buffers", length, minimum=0) for length in buffers)
        if not lengths:
            raise InvalidInputError("`buffers` must hold at least one length, got none")
        soft = [soft_label(y_true, buffer=length, **options) for length in lengths]
        return cls(lengths, np.array(soft), check_labels(y_true).as_array())

    def data(self) -> dict[str, Any]:
        """Return the label, one soft label for each buffer, and the bounds of the sections."""
        dynamic = self.soft.max(axis=0) > 0
        return {
            "buffers": list(self.buffers),
            "soft": self.soft,
            "label": self.label.astype(int),
            "dynamic": event_bounds(dynamic),
            "static": event_bounds(~dynamic),
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        count, label = len(data["buffers"]), to_array(data["label"])
        canvas = open_canvas(ax, size=(COLUMN, 0.35 * count + 0.6))
        axis = canvas.ax
        at = np.arange(label.size)
        _shade_sections(axis, data)
        fill: dict[str, Any] = {"step": "mid", "linewidth": 0}
        for row, soft in enumerate(to_array(data["soft"])):
            base = 1.25 * (count - 1 - row)
            names = ("soft label", "label") if row == 0 else (None, None)
            axis.fill_between(at, base, base + soft, color=_SOFT_FILL, label=names[0], **fill)
            axis.fill_between(at, base, base + label, color=_LABEL, label=names[1], **fill)
            axis.axhline(base, color="black", linewidth=0.4)
        bases = 1.25 * np.arange(count)[::-1]
        axis.set_yticks(bases + 0.5, [f"L = {one}" for one in data["buffers"]], fontsize=SMALL)
        axis.tick_params(axis="y", length=0)
        axis.set_xlim(-0.5, at.size - 0.5)
        axis.set_xlabel("point", fontsize=TEXT)
        if legend:
            named = {str(one.get_label()): one for one in axis.get_legend_handles_labels()[0]}
            canvas.legend(list(named.values()), columns=2)
        return canvas

    def _about(self) -> str:
        return f"{self.label.size} points, buffers {', '.join(map(str, self.buffers))}"
