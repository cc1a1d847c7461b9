"""Best thresholds: what a threshold could reach at most, if it were chosen by the labels."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from vuskit.inputs import check_pair
from vuskit.measures.best_level import at_best, best_finder
from vuskit.measures.point import check_beta, combined
from vuskit.measures.registry import check_option, register_measure
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["best_f_score", "best_threshold"]


def _best_f_score(workspace: Workspace, beta: float = 1.0) -> float:
    asked = Workspace(workspace.prepared, workspace.scores, "best")
    hits, predicted = at_best(asked, "f_score", beta).confusion
    return combined(hits / predicted, hits / workspace.labels.n_anomalous, beta)


@register_measure(
    name="best_f_score",
    title="Best-F",
    family="threshold",
    reference="doi:10.1007/978-3-662-44851-9_15",
    extra=True,
    shared=_best_f_score,
)
def best_f_score(y_true: ArrayLike, y_score: ArrayLike, *, beta: float = 1.0) -> float:
    """Highest F-score over all thresholds: what a rule could reach at most.

    Every distinct score is tried as a threshold, exactly and for less than the cost of sorting.
    The threshold is chosen by the labels, so no detector in use reaches this value but by luck.
    It equals ``f_score(y_true, y_score, threshold="best")``; :func:`best_threshold` gives the
    threshold.

    Parameters
    ----------
    y_true, y_score
        As for :func:`precision`.
    beta : float, default=1
        Above 1, recall weighs more.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> best_f_score([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7])
    0.8
    """
    beta = check_beta(beta)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "best_f_score"):
        return float("nan")
    return _best_f_score(Workspace(PreparedLabels(labels, None), scores), beta)


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    measure: str = "f_score",
    beta: float = 1.0,
    **options: Any,
) -> float:
    """Threshold at which an F-score is highest, of all distinct scores.

    What ``threshold="best"`` stands for. It is chosen by the labels: an upper bound, not a rule.

    Parameters
    ----------
    y_true, y_score
        As for :func:`precision`.
    measure : str, default="f_score"
        ``"f_score"``, ``"range_f_score"``, ``"event_f_score"``, ``"composite_f_score"``,
        ``"point_adjusted_f_score"`` or ``"affiliation_f_score"``.
    beta : float, default=1
        Above 1, recall weighs more.
    **options
        Other options of the measure, such as the ``k`` of point adjustment; of
        :func:`range_f_score` ``alpha``, the biases and the cardinality, of :func:`event_f_score`
        ``false_alarm_rate``.

    Returns
    -------
    float
        A score of the series, of several equally good ones the highest; NaN when only one class is
        present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> labels, score = [0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7]
    >>> best_threshold(labels, score)
    0.4
    >>> best_threshold(labels, score, measure="point_adjusted_f_score")
    0.9
    """
    finder = best_finder(measure)
    for option in options:
        check_option(measure, finder, option)
    beta = check_beta(beta)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "best_threshold"):
        return float("nan")
    return float(finder(scores, labels, beta, **options))
