"""Point-adjusted precision, recall and F: a share of an anomaly stands for the whole of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import Labels, check_fraction
from vuskit.kernels.best import best_point_adjusted_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.best_level import at_best, finds_best
from vuskit.measures.point import check_beta, combined, thresholded
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import Workspace, defined

__all__ = ["point_adjusted_f_score", "point_adjusted_precision", "point_adjusted_recall"]

_XU = "doi:10.1145/3178876.3185996"


@finds_best("point_adjusted_f_score")
def _best_level(scores: Scores, labels: Labels, beta: float, k: float = 0.0) -> Any:
    lengths = labels.stops - labels.starts
    return best_point_adjusted_level(scores, labels.inside, lengths, check_fraction("k", k), beta)


def _counts(workspace: Workspace, k: float, beta: float) -> tuple[int, int]:
    """Anomalous points that count as found, and predicted points that are normal."""
    cut = at_best(workspace, "point_adjusted_f_score", beta, k=k)

    def count() -> tuple[int, int]:
        labels = cut.labels
        lengths = labels.stops - labels.starts
        bounds = np.searchsorted(cut.predicted, np.stack((labels.starts, labels.stops)))
        hits = bounds[1] - bounds[0]
        found = np.where(hits / lengths > k, lengths, hits)
        return int(found.sum()), int(cut.predicted.size - hits.sum())

    counts: tuple[int, int] = cut.keep(f"point-adjusted counts {k}", count)
    return counts


def _precision(workspace: Workspace, k: float = 0.0, beta: float = 1.0) -> float:
    found, false = _counts(workspace, k, beta)
    return found / (found + false) if found else 0.0


def _recall(workspace: Workspace, k: float = 0.0, beta: float = 1.0) -> float:
    return _counts(workspace, k, beta)[0] / workspace.labels.n_anomalous


def _f_score(workspace: Workspace, k: float = 0.0, beta: float = 1.0) -> float:
    return combined(_precision(workspace, k, beta), _recall(workspace, k, beta), beta)


@register_measure(
    name="point_adjusted_precision",
    title="PA-P",
    family="event",
    reference=_XU,
    extra=True,
    with_chance=True,
    shared=_precision,
)
def point_adjusted_precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    k: float = 0.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Precision by points, after every anomaly that was hit is taken as wholly predicted.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest point-adjusted F.
    k
        As for :func:`point_adjusted_f_score`.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> point_adjusted_precision([1, 1, 1, 0, 0, 0], y_pred=[0, 0, 1, 0, 1, 0])
    0.75
    """
    k = check_fraction("k", k)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "point_adjusted_precision"):
        return float("nan")
    return _precision(workspace, k)


@register_measure(
    name="point_adjusted_recall",
    title="PA-R",
    family="event",
    reference=_XU,
    extra=True,
    with_chance=True,
    shared=_recall,
)
def point_adjusted_recall(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    k: float = 0.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Recall by points, after every anomaly that was hit is taken as wholly predicted.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest point-adjusted F.
    k
        As for :func:`point_adjusted_f_score`.

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
    >>> point_adjusted_recall([1, 1, 1, 0, 0, 1], y_pred=[0, 0, 1, 0, 1, 0])
    0.75
    """
    k = check_fraction("k", k)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "point_adjusted_recall"):
        return float("nan")
    return _recall(workspace, k)


@register_measure(
    name="point_adjusted_f_score",
    title="PA-F",
    family="event",
    reference=_XU,
    extra=True,
    with_chance=True,
    shared=_f_score,
)
def point_adjusted_f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    k: float = 0.0,
    beta: float = 1.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """F-score by points, after every anomaly that was hit is taken as wholly predicted.

    It flatters: one lucky point earns the points of a whole anomaly, so a random score gets a high
    value where anomalies are long. Never quote it without :func:`chance_level`; the tables of
    :func:`evaluate` show that beside it.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` gives the highest value there is.
    k : float, default=0
        PA%K (Kim et al. 2022): only anomalies of which more than this share is predicted, from 0 to
        1, are adjusted; of the others the predicted points count. 0 adjusts at a single point, 1
        never.
    beta : float, default=1
        Above 1, recall weighs more.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Examples
    --------
    >>> y_true, y_pred = [1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0]
    >>> from vuskit import f_score
    >>> round(f_score(y_true, y_pred=y_pred), 3)
    0.4
    >>> round(point_adjusted_f_score(y_true, y_pred=y_pred), 3)
    0.857
    >>> round(point_adjusted_f_score(y_true, y_pred=y_pred, k=0.5), 3)
    0.4
    """
    k, beta = check_fraction("k", k), check_beta(beta)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "point_adjusted_f_score"):
        return float("nan")
    return _f_score(workspace, k, beta)
