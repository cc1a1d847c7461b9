"""Many measures of one score, or of many scores, from shared work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from vuskit.buffers import BufferChoice
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    UndefinedMeasureWarning,
    warn,
)
from vuskit.inputs import (
    Labels,
    align_to_index,
    align_to_labels,
    check_labels,
    check_labels_beside,
    check_scores,
    index_of,
)
from vuskit.measures.inversion import FAR_BELOW_CHANCE, looks_inverted, warn_if_inverted
from vuskit.measures.registry import Measure, Measures, resolve_measures, warn_undefined
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.settings import (
    EvaluationSettings,
    SettingOptions,
    settings_from,
    with_setting_keywords,
)
from vuskit.measures.workspace import (
    Needs,
    PreparedLabels,
    Workspace,
    changes_key,
    check_k,
    warn_if_coarse,
)

__all__ = ["NO_BUFFER", "Evaluator", "evaluate", "evaluate_many"]

NO_BUFFER = "no buffer: "
"""Begins the reason in a table where the strategy found no buffer."""


class Evaluator:
    """Labels of one series, prepared once for many scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    measures : "paper", "extra", "all", name, title, function, or iterable of these, default="paper"
        What to compute.
    settings : EvaluationSettings, optional
        Settings made before; keywords change them.
    values : array-like of shape (n,) or (n, d), optional
        The series, for strategies that look for a period.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a choice. Required unless there are settings.
    thresholds : int, optional
        Number of thresholds for R-AUC and VUS; by default every distinct score.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Definition of R-AUC and VUS.
    step : int, default=1
        Distance between the buffer lengths of VUS.
    side : {"both", "before", "after"}, default="both"
        Where the buffers are.
    threshold : {"sigma", "quantile", "cascade", "best"}, number or callable, default="sigma"
        Threshold of the threshold-based measures; "best" uses the labels.
    k : int, optional
        The k of Precision@k; by default the number of anomalous points.
    buffer_fallback : int, optional
        Buffer length where the strategy finds none.
    volume_factor : float, default=1
        Longest buffer of VUS in multiples of R-AUC's buffer.

    Raises
    ------
    InvalidInputError
        If the labels or a parameter cannot be used.

    Warns
    -----
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.
    UndefinedMeasureWarning
        If measures need a buffer that the strategy does not find; their values are NaN.

    Examples
    --------
    >>> from vuskit import Evaluator
    >>> evaluator = Evaluator([0, 0, 1, 1, 0, 0], buffer=2, measures=["auc_pr", "vus_pr"])
    >>> for score in ([0, 1, 3, 5, 4, 2], [5, 4, 3, 2, 1, 0]):
    ...     print(evaluator(score).round(3))
    {'auc_pr': 0.833, 'vus_pr': 0.869}
    {'auc_pr': 0.417, 'vus_pr': 0.456}
    """

    @with_setting_keywords
    def __init__(
        self,
        y_true: ArrayLike | Labels,
        *,
        measures: Measures = "paper",
        settings: EvaluationSettings | None = None,
        values: ArrayLike | None = None,
        **options: Unpack[SettingOptions],
    ) -> None:
        y_true, values = align_to_labels(y_true, values=values)
        labels = y_true if isinstance(y_true, Labels) else check_labels(y_true)
        self._index = index_of(y_true)
        self._settings = settings_from(settings, options)
        self._measures = resolve_measures(measures)
        self._prepared = PreparedLabels(labels, values)
        self._without_buffer = self._find_without_buffer()
        self._warn_without_buffer()
        if self._settings.k is not None:
            check_k(self._settings.k, labels.n)
        self._needs = _needs_of(self._computed)
        warn_if_coarse(self._prepared, self._settings, self._needs)

    # Results read their settings here, so that nothing of it may change afterwards.

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is computed."""
        return self._measures

    @property
    def settings(self) -> EvaluationSettings:
        """What it is computed with."""
        return self._settings

    @property
    def buffer(self) -> BufferChoice | None:
        """Buffer of this series, with the strategy and the reason; None if none was found."""
        try:
            return self._prepared.choose_buffer(self._settings)
        except BufferNotFoundError:
            return None

    @property
    def buffer_record(self) -> tuple[int | None, str]:
        """Length of the buffer and why, as tables store it; None and why there is none."""
        chosen = self.buffer
        if chosen is not None:
            return chosen.length, f"{chosen.strategy}: {chosen.reason}"
        return None, next(
            (f"{NO_BUFFER}{one}" for one in self.without_buffer.values()), "not needed"
        )

    @property
    def without_buffer(self) -> Mapping[str, str]:
        """Names of the measures that lack a buffer and are NaN, each with the reason."""
        return self._without_buffer

    @property
    def _computed(self) -> tuple[Measure, ...]:
        return tuple(one for one in self.measures if one.name not in self._without_buffer)

    def _find_without_buffer(self) -> dict[str, str]:
        """Measures whose strategy finds no buffer; an error if no other measure is left."""
        found: dict[str, str] = {}
        _ = self.buffer  # values of another series are an error, whatever the measures need
        for measure in self.measures:
            if not measure.uses_buffer:
                continue
            fixed = {name: measure.options[name] for name in ("buffer",) if name in measure.options}
            try:
                self._prepared.choose_buffer(self._settings.replace(**fixed))
            except BufferNotFoundError as error:
                found[measure.name] = str(error)
        if found and len(found) == len(self.measures):
            raise BufferNotFoundError(next(iter(found.values())))
        return found

    def __call__(self, y_score: ArrayLike) -> Evaluation:
        """Evaluate one score.

        Raises
        ------
        InvalidInputError
            If the score cannot be evaluated.
        """
        return self._evaluate(check_scores(self._aligned(y_score), self._prepared.labels))

    def _aligned(self, y_score: ArrayLike) -> Any:
        """Score in the order of the labels' index, where both have the same entries."""
        aligned = align_to_index(self._index, y_score, "y_true", "y_score")
        if aligned is not y_score and index_of(y_score).is_monotonic_increasing:
            raise InvalidInputError(
                "`y_true` must have an ascending index if that of `y_score` is ascending, got "
                "another order; use y_true.sort_index()"
            )
        return aligned

    def _evaluate(self, scores: NDArray[Any]) -> Evaluation:
        labels = self._prepared.labels
        names = [measure.name for measure in self.measures]
        if not labels.has_both_classes:
            warn_undefined(", ".join(names))
            return Evaluation(dict.fromkeys(names, float("nan")), self)
        workspace = self._workspace(scores, self.settings)
        values = self._values(workspace)
        workspace.warn_if_predicted()
        return Evaluation(values, self, workspace.n_predicted, _inverted(workspace))

    def _workspace(self, scores: NDArray[Any], settings: EvaluationSettings) -> Workspace:
        return Workspace(self._prepared, scores, settings, self._needs)

    def _values(self, workspace: Workspace) -> dict[str, float]:
        return {
            measure.name: float("nan")
            if measure.name in self._without_buffer
            else measure.compute(workspace)
            for measure in self.measures
        }

    def _warn_without_buffer(self) -> None:
        if self._without_buffer:
            reason = next(iter(self._without_buffer.values()))
            warn(
                f"{', '.join(self._without_buffer)} need a buffer; returning NaN: {reason}",
                UndefinedMeasureWarning,
            )


def _inverted(workspace: Workspace) -> float | None:
    """AUC-ROC of a score that looks inverted, where it costs nothing."""
    labels, auc_roc = workspace.labels, workspace.known_auc_roc
    if auc_roc is None or auc_roc >= FAR_BELOW_CHANCE:
        return None
    inverted = looks_inverted(auc_roc, n_points=labels.n, n_events=labels.starts.size)
    return auc_roc if inverted else None


def _needs_of(measures: tuple[Measure, ...]) -> Needs:
    """What measures will ask a workspace for, by the settings that they fix."""
    needs: dict[Any, set[str]] = {}
    for measure in measures:
        need = measure.needs
        if measure.declaration is None and measure.takes("thresholds"):
            need = "vus"  # a function of the user's own, on the evaluation's grid
        if need and measure.options.get("algorithm", "fast") == "fast":
            key = changes_key(measure.options) if need != "levels" else ()
            needs.setdefault(key, set()).add(need)
    return {key: frozenset(found) for key, found in needs.items()}


@with_setting_keywords
def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    measures: Measures = "paper",
    settings: EvaluationSettings | None = None,
    values: ArrayLike | None = None,
    chance: bool = False,
    **options: Unpack[SettingOptions],
) -> Evaluation:
    """Compute many measures of one score, sharing the ranking and the labels' work.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a choice. Required unless there are settings.
    chance : bool, default=False
        Compute the chance level at once; it is computed on first use otherwise.
    measures, settings, values
        As for :class:`Evaluator`.
    thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor
        As for :class:`Evaluator`.

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
    InvertedScoreWarning
        If AUC-ROC is far below 0.5 and computed with the measures: low scores seem to mean
        anomalous.
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.
    UndefinedMeasureWarning
        If only one class is present, or measures need a buffer that the strategy does not find.
        Their values are NaN then.

    Examples
    --------
    >>> from vuskit import evaluate
    >>> result = evaluate([0, 0, 1, 1, 0, 0], [0, 1, 3, 5, 4, 2], buffer=2)
    >>> result["auc_roc"]
    0.875
    >>> round(result["vus_pr"], 3)
    0.869
    """
    y_true, y_score, values = align_to_labels(y_true, y_score=y_score, values=values)
    labels = check_labels_beside(y_true, y_score=y_score)
    scores = check_scores(y_score, labels)
    evaluator = Evaluator(labels, measures=measures, settings=settings, values=values, **options)
    result = evaluator._evaluate(scores)
    if result._inverted is not None:
        warn_if_inverted({"`y_score`": result._inverted})
    if chance:
        _ = result.chance  # computed and kept
    return result


@with_setting_keywords
def evaluate_many(
    y_true: ArrayLike,
    y_scores: Mapping[str, ArrayLike],
    *,
    measures: Measures = "paper",
    settings: EvaluationSettings | None = None,
    values: ArrayLike | None = None,
    chance: bool = False,
    **options: Unpack[SettingOptions],
) -> Comparison:
    """Compute many measures of several scores of one series.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_scores : mapping from name to array-like of shape (n,)
        Scores by the name of their detector. A pandas or polars frame of score columns will do.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a choice. Required unless there are settings.
    chance : bool, default=False
        Compute the chance level at once; it is computed on first use otherwise.
    measures, settings, values
        As for :class:`Evaluator`.
    thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor
        As for :class:`Evaluator`.

    Returns
    -------
    Comparison
        A mapping from names of scores to evaluations that prints as a table.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated; the text names the score.

    Warns
    -----
    InvertedScoreWarning
        If scores look inverted; once for all of them.

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
    y_true, y_scores, values = _aligned_scores(y_true, y_scores, values, names)
    labels = check_labels_beside(y_true, y_scores=y_scores[names[0]])
    evaluator = Evaluator(labels, measures=measures, settings=settings, values=values, **options)
    evaluations: dict[str, Evaluation] = {}
    for name in names:
        if str(name) in evaluations:
            raise InvalidInputError(f"`y_scores` must have different names, got {name!s} twice")
        try:
            scores = check_scores(y_scores[name], evaluator._prepared.labels)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} (score {name!r})") from None
        evaluations[str(name)] = evaluator._evaluate(scores)
    warn_if_inverted(
        {name: one._inverted for name, one in evaluations.items() if one._inverted is not None}
    )
    result = Comparison(evaluations, evaluator)
    if chance:
        _ = result.chance  # computed and kept
    return result


def _aligned_scores(
    y_true: Any, y_scores: Any, values: Any, names: list[Any]
) -> tuple[Any, Any, Any]:
    """Labels, scores and values in one order; a frame has one index for all of its columns."""
    if index_of(y_true) is None:
        return y_true, y_scores, values
    if index_of(y_scores) is not None:
        y_true, y_scores, values = align_to_labels(y_true, y_scores=y_scores, values=values)
        return y_true, y_scores, values
    scores = {f"y_scores[{name!r}]": y_scores[name] for name in names}
    y_true, values, *aligned = align_to_labels(y_true, values=values, **scores)
    return y_true, dict(zip(names, aligned, strict=True)), values


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
