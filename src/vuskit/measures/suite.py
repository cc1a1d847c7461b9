"""Many measures of one score, or of many scores, from shared work."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import (
    InvalidInputError,
    MeasureError,
    ThresholdResolutionWarning,
    VuskitError,
)
from vuskit.inputs import (
    Labels,
    check_labels,
    check_labels_beside,
    check_pair,
    check_scores,
    did_you_mean,
)
from vuskit.measures.point import check_k
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.thresholds import ThresholdRule, check_rule
from vuskit.measures.workspace import BufferOptions, PreparedLabels, Workspace, defined

__all__ = ["Evaluator", "evaluate", "evaluate_many", "prepared_evaluator"]


class Evaluator:
    """Labels of one series, prepared once for many scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    buffer : int
        Buffer length of R-AUC and longest buffer of VUS.
    measures : "paper", "extra", "all", name, function, or iterable of these, default="paper"
        What to compute.
    thresholds : int, optional
        Number of thresholds for R-AUC and VUS; by default every distinct score.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Definition of R-AUC and VUS.
    step : int, default=1
        Distance between the buffer lengths of VUS.
    side : {"both", "before", "after"}, default="both"
        Where the buffers are.
    threshold : {"sigma", "quantile", "best"}, number or callable, default="sigma"
        Threshold of the threshold-based measures; "best" looks at the labels.
    k : int, optional
        The k of Precision@k; by default the number of anomalous points.

    Raises
    ------
    InvalidInputError
        If the labels or a parameter cannot be used.

    Warns
    -----
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.

    Examples
    --------
    >>> from vuskit import Evaluator
    >>> evaluator = Evaluator([0, 0, 1, 1, 0, 0], buffer=2, measures=["auc_pr", "vus_pr"])
    >>> for score in ([0, 1, 3, 5, 4, 2], [5, 4, 3, 2, 1, 0]):
    ...     print(evaluator(score).round(3))
    {'auc_pr': 0.833, 'vus_pr': 0.869}
    {'auc_pr': 0.417, 'vus_pr': 0.456}
    """

    def __init__(
        self,
        y_true: ArrayLike,
        *,
        buffer: int,
        measures: Measures = "paper",
        thresholds: int | None = None,
        definition: str = "journal",
        step: int = 1,
        side: str = "both",
        threshold: ThresholdRule = "sigma",
        k: int | None = None,
    ) -> None:
        self._prepare(
            check_labels(y_true),
            stacklevel=3,
            buffer=buffer,
            measures=measures,
            thresholds=thresholds,
            definition=definition,
            step=step,
            side=side,
            threshold=threshold,
            k=k,
        )

    def _prepare(
        self,
        labels: Labels,
        *,
        stacklevel: int,
        buffer: int,
        measures: Measures = "paper",
        thresholds: int | None = None,
        definition: str = "journal",
        step: int = 1,
        side: str = "both",
        threshold: ThresholdRule = "sigma",
        k: int | None = None,
    ) -> None:
        options = BufferOptions.of(
            "buffer", buffer, thresholds, definition=definition, step=step, side=side
        )
        self._prepared = PreparedLabels(labels, options)
        self._measures = resolve_measures(measures)
        self._threshold = check_rule(threshold)
        self._k = check_k(k, labels.n)
        self._needs = frozenset(
            measure.needs for measure in self.measures if measure.shared is not None
        )
        if any(_on_grid(measure) for measure in self.measures):
            self._prepared.warn_if_coarse(stacklevel=stacklevel)

    # Results read their settings here, so that nothing of it may change afterwards.

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is computed."""
        return self._measures

    @property
    def threshold(self) -> ThresholdRule:
        """Rule of the threshold-based measures."""
        return self._threshold

    @property
    def k(self) -> int | None:
        """The k of Precision@k; None: the number of anomalous points."""
        return self._k

    @property
    def options(self) -> BufferOptions:
        """Buffer, thresholds, definition, step and side."""
        assert self._prepared.options is not None
        return self._prepared.options

    def __call__(self, y_score: ArrayLike) -> Evaluation:
        """Evaluate one score.

        Raises
        ------
        InvalidInputError
            If the score cannot be evaluated.
        """
        return self._evaluate(check_scores(y_score, self._prepared.labels), stacklevel=2)

    def _evaluate(self, scores: NDArray[Any], stacklevel: int) -> Evaluation:
        labels = self._prepared.labels
        if labels.has_both_classes:
            workspace = self._workspace(scores, self.threshold)
            values = self._values(workspace)
            if "_threshold" in workspace.__dict__:
                workspace.warn_if_predicted(stacklevel=stacklevel + 1)
            return Evaluation(values, self, workspace.n_predicted)
        names = [measure.name for measure in self.measures]
        defined(labels, ", ".join(names), stacklevel=stacklevel + 1)
        return Evaluation(dict.fromkeys(names, float("nan")), self)

    def _workspace(self, scores: NDArray[Any], threshold: ThresholdRule) -> Workspace:
        return Workspace(self._prepared, scores, threshold, k=self.k, needs=self._needs)

    def _values(self, workspace: Workspace) -> dict[str, float]:
        return {
            measure.name: self._call(measure, workspace)
            if measure.shared is None
            else float(measure.shared(workspace))
            for measure in self.measures
        }

    def _call(self, measure: Measure, workspace: Workspace) -> float:
        """Value of a measure that shares no work, with those of our options that it takes."""
        offered = {
            "buffer": self.options.buffer,
            "max_buffer": self.options.buffer,
            "thresholds": self.options.thresholds,
            "definition": self.options.definition,
            "step": self.options.step,
            "side": self.options.side,
            "threshold": workspace.threshold,
        }
        options = {name: value for name, value in offered.items() if measure.takes(name)}
        y_true = self._prepared.labels.as_array().astype(np.int8)
        with warnings.catch_warnings():
            if measure.takes("thresholds"):
                # The evaluator has said it already, for all measures at once.
                warnings.simplefilter("ignore", ThresholdResolutionWarning)
            try:
                value: Any = measure.function(
                    y_true, workspace.ranked_scores, **{**options, **measure.options}
                )
                return float(value)
            except VuskitError:
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise MeasureError(f"measure {measure.name!r} failed: {reason}") from error


def _on_grid(measure: Measure) -> bool:
    """Whether a measure uses the evaluator's grid of thresholds."""
    if measure.shared is not None:
        return measure.needs == "areas"
    return measure.takes("thresholds")


_OPTIONS = tuple(inspect.signature(Evaluator).parameters)


def prepared_evaluator(labels: Labels, *, stacklevel: int, **options: Any) -> Evaluator:
    """Evaluator of checked labels; its warnings name the caller ``stacklevel`` frames up."""
    for name in options:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS)
            raise TypeError(f"got an unexpected keyword argument {name!r}{hint}")
    evaluator = Evaluator.__new__(Evaluator)
    evaluator._prepare(labels, stacklevel=stacklevel + 2, **options)
    return evaluator


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: int,
    measures: Measures = "paper",
    thresholds: int | None = None,
    definition: str = "journal",
    step: int = 1,
    side: str = "both",
    threshold: ThresholdRule = "sigma",
    k: int | None = None,
    chance: bool = False,
) -> Evaluation:
    """Compute many measures of one score, sharing the ranking and the labels' work.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int
        Buffer length of R-AUC and longest buffer of VUS.
    measures, thresholds, definition, step, side, threshold, k
        As for :class:`Evaluator`.
    chance : bool, default=False
        Compute the chance level at once; it is computed on first use otherwise.

    Returns
    -------
    Evaluation
        A mapping from names of measures to values that prints as a table.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Warns
    -----
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.
    UndefinedMeasureWarning
        If only one class is present; the values are NaN then.

    Examples
    --------
    >>> from vuskit import evaluate
    >>> result = evaluate([0, 0, 1, 1, 0, 0], [0, 1, 3, 5, 4, 2], buffer=2)
    >>> result["auc_roc"]
    0.875
    >>> round(result["vus_pr"], 3)
    0.869
    """
    labels, scores = check_pair(y_true, y_score)
    evaluator = prepared_evaluator(
        labels,
        stacklevel=2,
        buffer=buffer,
        measures=measures,
        thresholds=thresholds,
        definition=definition,
        step=step,
        side=side,
        threshold=threshold,
        k=k,
    )
    result = evaluator._evaluate(scores, stacklevel=2)
    if chance:
        _ = result.chance  # computed and kept
    return result


def evaluate_many(
    y_true: ArrayLike,
    y_scores: Mapping[str, ArrayLike],
    *,
    buffer: int,
    chance: bool = False,
    **options: Any,
) -> Comparison:
    """Compute many measures of several scores of one series.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_scores : mapping from name to array-like of shape (n,)
        Scores by the name of their detector. A pandas or polars frame of score columns will do.
    buffer : int
        Buffer length of R-AUC and longest buffer of VUS.
    chance : bool, default=False
        Compute the chance level at once; it is computed on first use otherwise.
    **options
        As for :class:`Evaluator`.

    Returns
    -------
    Comparison
        A mapping from names of scores to evaluations that prints as a table.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated; the text names the score.

    Examples
    --------
    >>> from vuskit import evaluate_many
    >>> table = evaluate_many(
    ...     [0, 0, 1, 1, 0, 0],
    ...     {"good": [0, 1, 3, 5, 4, 2], "poor": [5, 4, 3, 2, 1, 0]},
    ...     buffer=2,
    ...     measures=["auc_pr", "vus_pr"],
    ... )
    >>> print(table)
          AUC-PR  VUS-PR
    good   0.833   0.869
    poor   0.417   0.456
    (buffer=2, thresholds=all, definition=journal)
    """
    names = _names(y_scores)
    labels = check_labels_beside(y_true, y_scores=y_scores[names[0]])
    evaluator = prepared_evaluator(labels, stacklevel=2, buffer=buffer, **options)
    evaluations: dict[str, Evaluation] = {}
    for name in names:
        if str(name) in evaluations:
            raise InvalidInputError(f"`y_scores` must have different names, got {name!s} twice")
        try:
            scores = check_scores(y_scores[name], evaluator._prepared.labels)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} (score {name!r})") from None
        evaluations[str(name)] = evaluator._evaluate(scores, stacklevel=2)
    result = Comparison(evaluations, evaluator)
    if chance:
        _ = result.chance  # computed and kept
    return result


def _names(y_scores: Any) -> list[Any]:
    """Column names of a frame or keys of a mapping."""
    columns = getattr(y_scores, "columns", None)
    if columns is None and not isinstance(y_scores, Mapping):
        raise InvalidInputError(
            f"`y_scores` must be a mapping from names to scores, got {type(y_scores).__name__}"
        )
    names = list(y_scores if columns is None else columns)
    if not names:
        raise InvalidInputError("`y_scores` must hold at least one score, got none")
    return names
