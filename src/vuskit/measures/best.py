"""Best thresholds: what a threshold could reach at most, if it were chosen by the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from vuskit.inputs import Labels, check_choice, check_pair
from vuskit.kernels.best import best_point_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.point import check_beta, combined
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import is_best
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["at_best", "best_f_score", "best_threshold", "finds_best"]


Finder = TypeVar("Finder", bound=Callable[..., Any])

_FINDERS: dict[str, Callable[..., Any]] = {}


def finds_best(measure: str) -> Callable[[Finder], Finder]:
    """Register how the threshold is found at which an F-score is highest, by decoration.

    The function gets the scores, the labels, beta and the options of the measure.
    """

    def decorate(finder: Finder) -> Finder:
        _FINDERS[measure] = finder
        return finder

    return decorate


@finds_best("f_score")
def _best_level(scores: Scores, labels: Labels, beta: float) -> Any:
    return best_point_level(scores, labels.inside, beta)


def at_best(workspace: Workspace, measure: str, beta: float = 1.0, **options: Any) -> Workspace:
    """The workspace; where its threshold is "best", with the prediction at a measure's best one."""
    if workspace.prediction is not None or not is_best(workspace.threshold):
        return workspace

    def cut() -> Workspace:
        scores = workspace.ranked_scores
        level = _FINDERS[measure](scores, workspace.labels, beta, **options)
        return Workspace(workspace.prepared, scores, prediction=scores >= level)

    found: Workspace = workspace.keep(f"best {measure} {beta} {options}", cut)
    return found


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
        Other options of the measure, such as the ``k`` of point adjustment.

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
    finder = _FINDERS[check_choice("measure", measure, _FINDERS)]
    beta = check_beta(beta)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "best_threshold"):
        return float("nan")
    return float(finder(scores, labels, beta, **options))
