"""Evaluate many measures of one or many scores; ranks and buffers are computed once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Unpack

from numpy.typing import ArrayLike, NDArray

from vuskit.buffers import BufferChoice, excess_of_buffer
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
    check_int,
    check_labels,
    check_labels_beside,
    index_of,
    read_scores,
)
from vuskit.measures.registry import Measure, Measures, resolve_measures, warn_undefined
from vuskit.measures.results import (
    FAR_BELOW_CHANCE,
    Comparison,
    Evaluation,
    looks_inverted,
    warn_if_inverted,
)
from vuskit.measures.settings import (
    EvaluationSettings,
    SettingOptions,
    settings_from,
    with_setting_keywords,
)
from vuskit.measures.uncertainty import intervals_of
from vuskit.measures.workspace import (
    Needs,
    PreparedLabels,
    Workspace,
    changes_key,
    check_k,
    warn_if_coarse,
    warn_long_buffer,
)

__all__ = ["NO_BUFFER", "Evaluator", "evaluate", "evaluate_many"]

NO_BUFFER = "no buffer: "
"""Prefix of the reason in tables if the strategy found no buffer."""


class Evaluator:
    """Evaluate many scores against the labels of one series, which are prepared only once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    measures : "paper", "extra", "all", name, title, function, or iterable of these, default="paper"
        Measures to compute.
    settings : EvaluationSettings, optional
        Base settings; keywords override them.
    values : array-like of shape (n,) or (n, d), optional
        Values of the series, for buffer strategies based on the period.
    threads : int, default=1
        Threads over the buffer lengths of VUS, for long series with long buffers. Values do not
        depend on it.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a BufferChoice. Required unless `settings` is given.
    thresholds : int, optional
        Number of thresholds for R-AUC and VUS; by default every distinct score is a threshold.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Definition of R-AUC and VUS.
    step : int, default=1
        Distance between the buffer lengths of VUS.
    side : {"both", "before", "after"}, default="both"
        Side of the anomalies that has a buffer.
    threshold : {"sigma", "quantile", "cascade", "best"}, number or callable, default="sigma"
        Threshold of the threshold-based measures; "best" uses the labels.
    k : int, optional
        The k of Precision@k; by default the number of anomalous points.
    buffer_fallback : int, optional
        Buffer length if the strategy finds none.
    volume_factor : float, default=1
        Longest buffer of VUS as a multiple of R-AUC's buffer.
    nan : {"error", "lowest"}, default="error"
        Missing scores (NaN): refuse them, or rank them below all other scores. The result counts
        them.

    Raises
    ------
    InvalidInputError
        If the labels or a parameter are invalid.

    Warns
    -----
    LongBufferWarning
        If a buffer exceeds a quarter of the series, or buffers cover more than half of it.
    ThresholdResolutionWarning
        If the grid of thresholds is too coarse for the number of anomalous points.
    UndefinedMeasureWarning
        If some measures need a buffer and the strategy finds none; their values are NaN.

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
        threads: int = 1,
        **options: Unpack[SettingOptions],
    ) -> None:
        self._prepare(y_true, measures, settings_from(settings, options), values, threads)
        if self._excess_of_buffer is not None:
            warn_long_buffer(self._excess_of_buffer)

    @classmethod
    def _of_many(cls, labels: ArrayLike | Labels, **options: Any) -> Evaluator:
        """Return an evaluator for one of many series, whose long buffers are counted instead."""
        evaluator = cls.__new__(cls)
        evaluator._prepare(labels, **options)
        return evaluator

    def _prepare(
        self,
        y_true: Any,
        measures: Measures,
        settings: EvaluationSettings,
        values: ArrayLike | None = None,
        threads: int = 1,
    ) -> None:
        self._threads = check_int("threads", threads, minimum=1)
        y_true, values = align_to_labels(y_true, values=values)
        labels = y_true if isinstance(y_true, Labels) else check_labels(y_true)
        self._index = index_of(y_true)
        self._settings = settings
        self._measures = resolve_measures(measures)
        self._prepared = PreparedLabels(labels, values)
        self._lengths: set[int] = set()
        self._without_buffer = self._find_without_buffer()
        self._warn_without_buffer()
        if self._settings.k is not None:
            check_k(self._settings.k, labels.n)
        self._needs = _needs_of(self._computed)
        warn_if_coarse(self._prepared, self._settings, self._needs)

    # Read-only, because results refer to the evaluator for their settings.

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Measures to compute."""
        return self._measures

    @property
    def settings(self) -> EvaluationSettings:
        """Settings of the measures."""
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
        """Buffer length and reason, as stored in tables; the length is None if none was found."""
        chosen = self.buffer
        if chosen is not None:
            return chosen.length, f"{chosen.strategy}: {chosen.reason}"
        return None, next(
            (f"{NO_BUFFER}{one}" for one in self.without_buffer.values()), "not needed"
        )

    @property
    def without_buffer(self) -> Mapping[str, str]:
        """Measures that are NaN because no buffer was found, with the reason."""
        return self._without_buffer

    @cached_property
    def _excess_of_buffer(self) -> str | None:
        """Why a buffer is too long for the series."""
        for length in self._lengths:
            excess = excess_of_buffer(self._prepared.labels, length, self._settings.side)
            if excess is not None and any(one.uses_buffer for one in self._computed):
                return excess
        return None

    @property
    def _computed(self) -> tuple[Measure, ...]:
        return tuple(one for one in self._measures if one.name not in self._without_buffer)

    def _find_without_buffer(self) -> dict[str, str]:
        """Return measures whose strategy finds no buffer; raise an error if all lack one."""
        found: dict[str, str] = {}
        # Reject values of wrong length even if no measure needs a buffer.
        general = self._missing_buffer(self._settings)
        for measure in self._measures:
            if "buffer" in measure.options:
                fixed = self._settings.replace(buffer=measure.options["buffer"])
                reason = self._missing_buffer(fixed)
            else:
                reason = general
            if reason is not None and measure.uses_buffer:
                found[measure.name] = reason
        if found and len(found) == len(self._measures):
            raise BufferNotFoundError(next(iter(found.values())))
        return found

    def _missing_buffer(self, settings: EvaluationSettings) -> str | None:
        """Return why there is no buffer for some settings, or None if there is one."""
        try:
            self._lengths.add(self._prepared.choose_buffer(settings).length)
        except BufferNotFoundError as error:
            return str(error)
        return None

    def __call__(self, y_score: ArrayLike) -> Evaluation:
        """Evaluate one score.

        Raises
        ------
        InvalidInputError
            If the score is invalid.
        """
        return self._evaluate(*self._read(self._aligned(y_score)))

    def _read(self, y_score: Any) -> tuple[NDArray[Any], int]:
        """Return checked scores and the number of missing ones."""
        return read_scores(y_score, self._prepared.labels, self._settings.nan)

    def _aligned(self, y_score: ArrayLike) -> Any:
        """Return the score in the order of the labels' index."""
        if self._index is None:
            return y_score
        aligned = align_to_index(self._index, y_score, "y_true", "y_score")
        if aligned is not y_score and index_of(y_score).is_monotonic_increasing:
            raise InvalidInputError(
                "`y_true` must have an ascending index if the index of `y_score` is ascending, got "
                "another order; use y_true.sort_index()"
            )
        return aligned

    def _evaluate(self, scores: NDArray[Any], missing: int) -> Evaluation:
        if not self._prepared.labels.has_both_classes:
            names = [measure.name for measure in self._measures]
            warn_undefined(", ".join(names))
            return Evaluation(dict.fromkeys(names, float("nan")), self, missing=missing)
        workspace = self._workspace(scores, self.settings)
        values = self._values(workspace)
        workspace.warn_if_predicted()
        return Evaluation(values, self, workspace.n_predicted, _inverted(workspace), missing)

    def _workspace(self, scores: NDArray[Any], settings: EvaluationSettings) -> Workspace:
        return Workspace(self._prepared, scores, settings, self._needs, threads=self._threads)

    def _values(self, workspace: Workspace) -> dict[str, float]:
        return {
            measure.name: float("nan")
            if measure.name in self._without_buffer
            else measure.compute(workspace)
            for measure in self._measures
        }

    def _warn_without_buffer(self) -> None:
        if self._without_buffer:
            reason = next(iter(self._without_buffer.values()))
            warn(
                f"{', '.join(self._without_buffer)} need a buffer; returning NaN: {reason}",
                UndefinedMeasureWarning,
            )


def _inverted(workspace: Workspace) -> float | None:
    """Return the AUC-ROC of a score that looks inverted, if AUC-ROC is already known."""
    labels, auc_roc = workspace.labels, workspace.known_auc_roc
    if auc_roc is None or auc_roc >= FAR_BELOW_CHANCE:
        return None
    inverted = looks_inverted(auc_roc, n_points=labels.n, n_events=labels.starts.size)
    return auc_roc if inverted else None


def _needs_of(measures: tuple[Measure, ...]) -> Needs:
    """Return what the measures need from a workspace, by the settings that they fix."""
    needs: dict[Any, set[str]] = {}
    for measure in measures:
        need = measure.needs
        if measure.declaration is None and measure.takes("thresholds"):
            need = "vus"  # a custom function that uses the evaluation's grid
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
    interval: float | None = None,
    threads: int = 1,
    **options: Unpack[SettingOptions],
) -> Evaluation:
    """Compute many measures of one score; the score is ranked only once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a BufferChoice. Required unless `settings` is given.
    chance : bool, default=False
        Compute the chance level immediately instead of on first use.
    interval : float, optional
        Confidence level, such as 0.95, of intervals for the values: ``intervals`` of the result.
        See :class:`vuskit.IntervalTable`. Takes some hundred evaluations.
    measures, settings, values, threads
        As for :class:`Evaluator`.
    thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor, nan
        As for :class:`Evaluator`.

    Returns
    -------
    Evaluation
        A mapping from measure names to values that prints as a table.

    Raises
    ------
    InvalidInputError
        If an array or a parameter is invalid.

    Warns
    -----
    InvertedScoreWarning
        If AUC-ROC is far below 0.5, so that low scores seem to mean anomalous. Checked only if the
        measures require the necessary ranks.
    LongBufferWarning
        As for :class:`Evaluator`.
    ThresholdResolutionWarning
        If the grid of thresholds is too coarse for the number of anomalous points.
    UndefinedMeasureWarning
        If only one class is present, or if measures need a buffer and the strategy finds none.
        These measures are NaN.

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
    used = settings_from(settings, options)
    scores, missing = read_scores(y_score, labels, used.nan)
    evaluator = Evaluator(labels, measures=measures, settings=used, values=values, threads=threads)
    result = evaluator._evaluate(scores, missing)
    if result._inverted is not None:
        warn_if_inverted({"`y_score`": result._inverted})
    if interval is not None:
        result._intervals = intervals_of(evaluator, result, scores, confidence=interval)
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
    interval: float | None = None,
    threads: int = 1,
    **options: Unpack[SettingOptions],
) -> Comparison:
    """Compute many measures of several scores of one series.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_scores : mapping from name to array-like of shape (n,)
        Scores by detector name. A pandas or polars DataFrame of score columns also works.
    chance, interval
        As for :func:`evaluate`.
    measures, settings, values, threads
        As for :class:`Evaluator`.
    buffer, thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor, nan
        As for :class:`Evaluator`.

    Returns
    -------
    Comparison
        A mapping from detector names to evaluations that prints as a table.

    Raises
    ------
    InvalidInputError
        If an array or a parameter is invalid. The message names the detector.

    Warns
    -----
    InvertedScoreWarning
        If scores look inverted; one warning for all of them.
    LongBufferWarning
        As for :class:`Evaluator`.

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
    evaluator = Evaluator(
        labels, measures=measures, settings=settings, values=values, threads=threads, **options
    )
    evaluations: dict[str, Evaluation] = {}
    for name in names:
        if str(name) in evaluations:
            raise InvalidInputError(
                f"`y_scores` must have unique names, got {name!s} twice; rename one of them"
            )
        try:
            scores, missing = evaluator._read(y_scores[name])
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} (score {name!r})") from None
        result = evaluations[str(name)] = evaluator._evaluate(scores, missing)
        if interval is not None:
            result._intervals = intervals_of(evaluator, result, scores, confidence=interval)
    warn_if_inverted(
        {name: one._inverted for name, one in evaluations.items() if one._inverted is not None}
    )
    comparison = Comparison(evaluations, evaluator)
    if chance:
        _ = comparison.chance  # computed and kept
    return comparison


def _aligned_scores(
    y_true: Any, y_scores: Any, values: Any, names: list[Any]
) -> tuple[Any, Any, Any]:
    """Return labels, scores and values in the same order."""
    if index_of(y_scores) is not None:
        y_true, y_scores, values = align_to_labels(y_true, y_scores=y_scores, values=values)
        return y_true, y_scores, values
    scores = {f"y_scores[{name!r}]": y_scores[name] for name in names}
    y_true, values, *aligned = align_to_labels(y_true, values=values, **scores)
    return y_true, dict(zip(names, aligned, strict=True)), values


def _names(y_scores: Any) -> list[Any]:
    """Return the column names of a frame or the keys of a mapping."""
    columns = getattr(y_scores, "columns", None)
    if columns is None and not isinstance(y_scores, Mapping):
        raise InvalidInputError(
            f"`y_scores` must be a mapping from names to scores, got {type(y_scores).__name__}; "
            "use evaluate() for a single score"
        )
    names = list(y_scores if columns is None else columns)
    if not names:
        raise InvalidInputError("`y_scores` must hold at least one score, got none")
    return names
