"""Sensitivity of measures to threshold, lag, noise, ratio and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import (
    AFTER,
    ANOMALY,
    BEFORE,
    describe_measures,
    draw_line,
    event_bounds,
    line_data,
    line_styles,
    measure_bars,
    measure_rows,
    shade,
)
from vuskit.figures.base import (
    COLUMN,
    PAGE,
    SMALL,
    TEXT,
    Canvas,
    Cell,
    Data,
    Display,
    grid_cells,
    open_canvas,
    to_array,
)
from vuskit.inputs import check_labels, check_scores, check_series, doubles_in_order
from vuskit.measures.evaluate import evaluate
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.settings import EvaluationSettings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(eq=False, repr=False)
class SensitivityDisplay(Display):
    """One line for each measure while one condition varies.

    Attributes
    ----------
    vary : str
        What varies: threshold, lag, noise or ratio.
    at : ndarray of shape (V,)
        Its values.
    values : ndarray of shape (V, M)
        Values of the measures; NaN if the series has no crop with that share of anomalies.
    measures : tuple of Measure
        The measures.
    label : str
        Label of the horizontal axis.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> values = np.array([[0.9], [0.7]])
    >>> SensitivityDisplay("lag", np.array([0.0, 5.0]), values, (get_measure("vus_pr"),), "lag")
    SensitivityDisplay(1 measures at 2 values of lag)
    """

    kind = "sensitivity"
    heading = "measures of one score while threshold, lag, noise or ratio varies"
    vary: str
    at: Floats
    values: Floats
    measures: tuple[Measure, ...]
    label: str

    def data(self) -> dict[str, Any]:
        """Return the measures, the values of the condition, and one row of values for each."""
        return {
            **describe_measures(self.measures),
            "at": self.at,
            "values": self.values,
            "label": self.label,
        }

    def _draw(self, ax: Any, data: Data, *, legend: bool = True) -> Canvas:
        canvas = open_canvas(ax, size=(COLUMN, 2.5))
        axis = canvas.ax
        columns = to_array(data["values"]).T
        for column, style in zip(columns, line_styles(data["measures"]), strict=True):
            axis.plot(data["at"], column, **style)
        axis.set_xlabel(data["label"], fontsize=TEXT)
        axis.set_ylabel("value", fontsize=TEXT)
        axis.grid(visible=True, linewidth=0.4, alpha=0.4)
        if legend:
            canvas.legend(axis.get_lines(), columns=3)
        return canvas

    def _about(self) -> str:
        return f"{len(self.measures)} measures at {self.at.size} values of {self.vary}"


@dataclass(frozen=True, eq=False)
class Case:
    """One variant of a score.

    Attributes
    ----------
    name : str
        Name of the variant.
    y_true, y_score : ndarray
        Labels and scores.
    threshold : float
        Points with a score at or above it are predicted.
    values : ndarray
        Values of the measures.
    start : int
        For crops, the first point in the whole series.
    """

    name: str
    y_true: Bools
    y_score: Floats
    threshold: float
    values: Floats
    start: int = 0


@dataclass(eq=False, repr=False)
class CasesDisplay(Display):
    """Two variants of a score side by side, their measures, and the differences.

    Crops are drawn at their place in the whole series.

    Attributes
    ----------
    cases : sequence of Case
        The two variants.
    measures : tuple of Measure
        The measures.
    label : ndarray of bool
        Label of the whole series.
    series : ndarray or None
        The series.

    Raises
    ------
    InvalidInputError
        If there are not two variants.
    """

    kind = "cases"
    heading = "two variants of a score, and the values of all measures"
    cases: Sequence[Case]
    measures: tuple[Measure, ...]
    label: Bools
    series: Floats | None = None

    def __post_init__(self) -> None:
        if len(self.cases) != 2:
            raise InvalidInputError(f"`cases` must hold two variants, got {len(self.cases)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variants."""
        return tuple(case.name for case in self.cases)

    @property
    def values(self) -> Floats:
        """Values by variant and measure."""
        return np.array([case.values for case in self.cases])

    def data(self) -> dict[str, Any]:
        """Return measures and series; score, anomalies, threshold and values of each variant."""
        return {
            **describe_measures(self.measures),
            "series": None if self.series is None else line_data(self.series),
            "events": event_bounds(self.label),
            "cases": [
                {
                    "name": case.name,
                    "score": line_data(case.y_score, start=case.start),
                    "events": [
                        [case.start + bound for bound in bounds]
                        for bounds in event_bounds(case.y_true)
                    ],
                    "threshold": case.threshold,
                    "values": case.values,
                }
                for case in self.cases
            ],
            "differences": self.values[1] - self.values[0],
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        cells = _case_cells(data, 0)
        canvas = open_canvas(ax, cells, size=(PAGE, 2.6), widths=_CASE_WIDTHS)
        _draw_cases(canvas, canvas.panels, data)
        return canvas

    def _about(self) -> str:
        return f"{self.names[0]!r} and {self.names[1]!r}, {len(self.measures)} measures"


_CASE_WIDTHS = (1.5, 1, 0.8)
_LINES = 3  # rows of a part: the series and two variants of the score


def _case_cells(data: Mapping[str, Any], top: int) -> list[Cell]:
    """Return the cells of lines, values and differences, starting at a row."""
    rows = 2 + (data["series"] is not None)
    lines = [Cell(top + row, 0) for row in range(rows)]
    return [*lines, Cell(top, 1, rows), Cell(top, 2, rows)]


def _draw_cases(
    canvas: Canvas, panels: Sequence[Any], data: Mapping[str, Any], prefix: str = ""
) -> None:
    *lines, bars, differences = panels
    measures = data["measures"]
    if data["series"] is not None:
        draw_line(lines[0], data["series"])
        canvas.title(lines[0], f"{prefix}series")
        shade(lines[0], data["events"])
    for axis, case in zip(lines[-2:], data["cases"], strict=True):
        draw_line(axis, case["score"])
        shade(axis, case["events"])
        axis.axhline(case["threshold"], color="black", linewidth=0.8, linestyle="--")
        canvas.title(axis, f"score, {case['name']}")
    for axis in lines:
        axis.set_yticks([])
    height = 0.38
    for place, (case, color) in enumerate(zip(data["cases"], (BEFORE, AFTER), strict=True)):
        at = np.arange(len(measures)) + (place - 0.5) * height
        bars.barh(at, to_array(case["values"]), height, color=color, edgecolor="black",
                  linewidth=0.4, label=case["name"])  # fmt: skip
    measure_rows(bars, measures)
    canvas.title(bars, "value")
    bars.legend(
        fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.4, -0.07),
        ncols=2, handlelength=1, columnspacing=0.8,
    )  # fmt: skip
    measure_bars(differences, to_array(data["differences"]), measures)
    differences.axvline(0, color="black", linewidth=0.6)
    differences.tick_params(labelleft=False)
    canvas.title(differences, "difference")


@dataclass(eq=False, repr=False)
class CasePanelsDisplay(Display):
    """Several pairs of variants below each other, each as in :class:`CasesDisplay`.

    Attributes
    ----------
    panels : dict of CasesDisplay
        Panels by condition; all with a series, or all without.

    Raises
    ------
    InvalidInputError
        If there is no panel.
    """

    kind = "case_panels"
    heading = "threshold, lag, noise and ratio: two variants of a score each, and all measures"
    panels: Mapping[str, CasesDisplay]

    def __post_init__(self) -> None:
        if not self.panels:
            raise InvalidInputError("`panels` must hold at least one pair of variants, got none")

    def data(self) -> dict[str, Any]:
        """Return the data of each pair, by condition."""
        return {"panels": {name: panel.to_dict() for name, panel in self.panels.items()}}

    def _draw(self, ax: Any, data: Data) -> Canvas:
        panels = data["panels"]
        cells: list[Cell] = []
        places = []
        for number, data in enumerate(panels.values()):
            own = _case_cells(data, number * _LINES)
            places.append(slice(len(cells), len(cells) + len(own)))
            cells += own
        size = (PAGE, 2.2 * len(panels))
        canvas = open_canvas(ax, cells, size=size, widths=_CASE_WIDTHS)
        for letter, (name, data), place in zip("abcdefgh", panels.items(), places, strict=False):
            _draw_cases(canvas, canvas.panels[place], data, f"({letter}) {name}: ")
        return canvas

    def _about(self) -> str:
        return (
            f"{', '.join(self.panels)}; {len(next(iter(self.panels.values())).measures)} measures"
        )


@dataclass(eq=False, repr=False)
class LabelingDisplay(Display):
    """Series, score, and several labelings with the values of the measures.

    Attributes
    ----------
    series, score : ndarray of shape (n,)
        The series and its score.
    labels : dict of ndarray of bool
        Labels by the name of the labeling.
    values : dict of dict
        Values of the measures by labeling.
    measures : tuple of Measure
        The measures.
    """

    kind = "labeling"
    heading = "one score, several labelings of the same anomaly"
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
        settings: EvaluationSettings | None = None,
    ) -> LabelingDisplay:
        """Evaluate one score under each labeling.

        Parameters
        ----------
        series, y_score : array-like of shape (n,)
            The series and its score.
        labels : mapping from str to array-like of shape (n,)
            Labels by the name of the labeling.
        buffer : int
            Buffer length of R-AUC and longest buffer of VUS.
        measures : "paper", "extra", "all", name, or iterable of names and measures
            Measures to write next to each labeling; AUC-PR and VUS-PR by default.
        settings : EvaluationSettings, optional
            Other settings of the measures; `buffer` replaces theirs.

        Raises
        ------
        InvalidInputError
            If there are no labels, or an array is invalid.

        Examples
        --------
        >>> labels = {"whole": [0, 1, 1, 1, 0, 0], "peak": [0, 0, 1, 0, 0, 0]}
        >>> score = [0, 1, 3, 2, 1, 0]
        >>> LabelingDisplay.from_labels(score, score, labels, buffer=2)
        LabelingDisplay(6 points, labels 'whole', 'peak')
        """
        if not labels:
            raise InvalidInputError("`labels` must hold at least one labeling, got none")
        checked = {str(name): check_labels(one, "labels") for name, one in labels.items()}
        chosen = resolve_measures(measures)
        own = (settings or EvaluationSettings()).replace(buffer=buffer)
        values = {
            str(name): evaluate(one, y_score, measures=chosen, settings=own).to_dict()
            for name, one in labels.items()
        }
        first = next(iter(checked.values()))
        score = doubles_in_order("y_score", check_scores(y_score, first))
        line = check_series(series)
        if line.shape != score.shape:
            raise InvalidInputError(
                f"`series` must have the shape of the score, {score.shape}, got {line.shape}"
            )
        arrays = {name: one.as_array() for name, one in checked.items()}
        return cls(line, score, arrays, values, chosen)

    def data(self) -> dict[str, Any]:
        """Return series, score, and each labeling with the values of the measures."""
        return {
            "series": line_data(self.series),
            "score": line_data(self.score),
            "labelings": [
                {
                    "name": name,
                    "label": label.astype(int),
                    "values": [
                        {"title": one.title, "value": self.values[name][one.name]}
                        for one in self.measures
                    ],
                }
                for name, label in self.labels.items()
            ],
            "events": event_bounds(np.any(list(self.labels.values()), axis=0)),
        }

    def _draw(self, ax: Any, data: Data) -> Canvas:
        count = len(data["labelings"])
        canvas = open_canvas(
            ax,
            grid_cells(3, 1),
            size=(COLUMN, 1.7 + 0.4 * count),
            heights=[1.0, 1.0, 0.45 * count],
            share="x",
        )
        above, middle, below = canvas.panels
        draw_line(above, data["series"])
        canvas.title(above, "(1) series")
        draw_line(middle, data["score"])
        canvas.title(middle, "(2) score")
        for row, one in enumerate(data["labelings"]):
            below.fill_between(
                np.arange(len(one["label"])), row + 0.38, row - 0.05,
                where=[bool(label) for label in one["label"]], step="mid", color=ANOMALY,
                linewidth=0,
            )  # fmt: skip
            values = to_array([found["value"] for found in one["values"]])
            titles = [found["title"] for found in one["values"]]
            said = ", ".join(
                f"{title} {value:.2f}" for title, value in zip(titles, values, strict=True)
            )
            below.annotate(
                f"{one['name']}: {said}", (0, row - 0.12), xytext=(4, 0),
                textcoords="offset points", fontsize=SMALL, va="bottom",
            )  # fmt: skip
        below.set_ylim(count - 0.5, -0.7)
        canvas.title(below, "(3) labelings and values")
        for axis in (above, middle):
            shade(axis, data["events"])
        for axis in canvas.panels:
            axis.set_yticks([])
        below.set_xlabel("point", fontsize=TEXT)
        return canvas

    def _about(self) -> str:
        return f"{self.score.size} points, labels {', '.join(map(repr, self.labels))}"
