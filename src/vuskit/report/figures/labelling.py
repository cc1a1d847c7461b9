"""One anomaly, labelled in several ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_labels, check_scores, check_series
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.suite import evaluate
from vuskit.report.figures.base import Display, register_figure
from vuskit.report.figures.canvas import COLUMN, SMALL, TEXT, grid_cells, open_canvas
from vuskit.report.figures.marks import ANOMALY, draw_line, shade

__all__ = ["LabellingDisplay"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@register_figure(
    name="labelling",
    title="one score under several ways to label the same anomaly",
    source="a series, a score and several labels of it",
)
@dataclass(eq=False, repr=False)
class LabellingDisplay(Display):
    """Series, score, and the labels of several strategies with what measures make of them.

    Attributes
    ----------
    series, score : ndarray of shape (n,)
        The series and its score.
    labels : dict of ndarray of bool
        By the name of the strategy.
    values : dict of dict
        Value of each measure by strategy.
    measures : tuple of Measure
        The measures.
    """

    series: Floats
    score: Floats
    labels: dict[str, Bools]
    values: dict[str, dict[str, float]]
    measures: tuple[Measure, ...]

    @classmethod
    def from_labels(
        cls,
        series: ArrayLike,
        y_score: ArrayLike,
        labels: Mapping[str, ArrayLike],
        *,
        buffer: int,
        measures: str | Measure | Iterable[str | Measure] = ("auc_pr", "vus_pr"),
    ) -> LabellingDisplay:
        """Evaluate one score under each labelling.

        Parameters
        ----------
        series, y_score : array-like of shape (n,)
            The series and its score.
        labels : mapping from str to array-like of shape (n,)
            Labels by the name of the strategy.
        buffer : int
            Buffer length of R-AUC and longest buffer of VUS.
        measures : "paper", "extra", "all", name, or iterable of names and measures
            What to write beside each label; AUC-PR and VUS-PR by default.

        Raises
        ------
        InvalidInputError
            If there are no labels, or an array cannot be used.

        Examples
        --------
        >>> labels = {"whole": [0, 1, 1, 1, 0, 0], "peak": [0, 0, 1, 0, 0, 0]}
        >>> score = [0, 1, 3, 2, 1, 0]
        >>> LabellingDisplay.from_labels(score, score, labels, buffer=2)
        LabellingDisplay(6 points, labels 'whole', 'peak')
        """
        if not labels:
            raise InvalidInputError("`labels` must hold at least one labelling, got none")
        checked = {str(name): check_labels(one, "labels") for name, one in labels.items()}
        chosen = resolve_measures(measures)
        values = {
            str(name): evaluate(one, y_score, buffer=buffer, measures=chosen).to_dict()
            for name, one in labels.items()
        }
        first = next(iter(checked.values()))
        score = np.asarray(check_scores(y_score, first), dtype=np.float64)
        line = check_series(series)
        if line.shape != score.shape:
            raise InvalidInputError(
                f"`series` must be of shape {score.shape}, got shape {line.shape}"
            )
        arrays = {name: one.as_array() for name, one in checked.items()}
        return cls(line, score, arrays, values, chosen)

    def plot(self, ax: Any = None) -> LabellingDisplay:
        """Draw series, score and labels above each other.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw, divided into panels; a figure of its own by default.
        """
        heights = [1.0, 1.0, 0.45 * len(self.labels)]
        canvas = open_canvas(
            ax,
            grid_cells(3, 1),
            size=(COLUMN, 1.7 + 0.4 * len(self.labels)),
            heights=heights,
            share="x",
        )
        above, middle, below = canvas.panels
        draw_line(above, self.series)
        canvas.title(above, "(1) series")
        draw_line(middle, self.score)
        canvas.title(middle, "(2) score")
        for row, (name, label) in enumerate(self.labels.items()):
            below.fill_between(
                np.arange(label.size), row + 0.38, row - 0.05, where=label.tolist(), step="mid",
                color=ANOMALY, linewidth=0,
            )  # fmt: skip
            said = ", ".join(
                f"{measure.title} {self.values[name][measure.name]:.2f}"
                for measure in self.measures
            )
            below.annotate(
                f"{name}: {said}", (0, row - 0.12), xytext=(4, 0), textcoords="offset points",
                fontsize=SMALL, va="bottom",
            )  # fmt: skip
        below.set_ylim(len(self.labels) - 0.5, -0.7)
        canvas.title(below, "(3) labels, and what they make of the score")
        widest = np.any(list(self.labels.values()), axis=0)
        for axis in (above, middle):
            shade(axis, widest)
        for axis in canvas.panels:
            axis.set_yticks([])
        below.set_xlabel("point", fontsize=TEXT)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{self.score.size} points, labels {', '.join(map(repr, self.labels))}"
