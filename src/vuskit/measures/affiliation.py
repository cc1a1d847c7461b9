"""Affiliation precision, recall and F (Huet et al. 2022): how near predictions are to anomalies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import Labels
from vuskit.kernels.affiliation import Zones, affiliation
from vuskit.kernels.affiliation_best import best_affiliation_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.best_level import at_best, finds_best
from vuskit.measures.point import check_beta, combined, thresholded
from vuskit.measures.registry import register_measure
from vuskit.measures.thresholds import ThresholdRule
from vuskit.measures.workspace import Workspace, defined

__all__ = ["affiliation_f_score", "affiliation_precision", "affiliation_recall"]

_HUET = "doi:10.1145/3534678.3539339"


@finds_best("affiliation_f_score")
def _best_level(scores: Scores, labels: Labels, beta: float) -> Any:
    return best_affiliation_level(scores, Zones.of(labels.starts, labels.stops, labels.n), beta)


def _means(workspace: Workspace, beta: float = 1.0) -> tuple[float, float]:
    """Mean precision and recall over the anomalies."""
    cut = at_best(workspace, "affiliation_f_score", beta)

    def means() -> tuple[float, float]:
        labels = cut.labels
        zones = Zones.of(labels.starts, labels.stops, labels.n)
        precision, recall = affiliation(zones, *cut.predicted_ranges)
        known = precision[~np.isnan(precision)]
        return float(known.mean()) if known.size else 0.0, float(recall.mean())

    found: tuple[float, float] = cut.keep("affiliation", means)
    return found


def _precision(workspace: Workspace) -> float:
    return _means(workspace)[0]


def _recall(workspace: Workspace) -> float:
    return _means(workspace)[1]


def _f_score(workspace: Workspace, beta: float = 1.0) -> float:
    return combined(*_means(workspace, beta), beta)


@register_measure(
    name="affiliation_precision",
    title="Aff-P",
    family="proximity",
    reference=_HUET,
    extra=True,
    with_chance=True,
    shared=_precision,
)
def affiliation_precision(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """How near to anomalies the predictions are, against a random place.

    Every anomaly has a zone: what is nearer to it than to any other. A predicted place x of the
    zone counts with the share of the zone that is at least as far from the anomaly as x, 1 inside
    it; the precision of an anomaly is the mean over the predicted places of its zone. Anomalies
    with no prediction in their zone are left out of the mean over anomalies.

    A prediction at a random place gets about a half, not 0; see :func:`chance_level`.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest affiliation F.

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
    Point i is the stretch from i to i + 1. Half of the zone is further away than the prediction is
    in its middle:

    >>> affiliation_precision([1, 0, 0, 0, 0], y_pred=[0, 0, 1, 0, 0])
    0.5
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "affiliation_precision"):
        return float("nan")
    return _precision(workspace)


@register_measure(
    name="affiliation_recall",
    title="Aff-R",
    family="proximity",
    reference=_HUET,
    extra=True,
    with_chance=True,
    shared=_recall,
)
def affiliation_recall(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """How near to predictions the anomalies are, against a random place.

    A place y of an anomaly counts with the share of the anomaly's zone that is at least as far from
    y as the nearest prediction in the zone, 1 where y is predicted; the recall of an anomaly is the
    mean over its places, 0 where nothing is predicted in its zone.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` is that of the highest affiliation F.

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
    >>> affiliation_recall([1, 0, 0, 0, 0], y_pred=[0, 1, 0, 0, 0])
    0.85
    """
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "affiliation_recall"):
        return float("nan")
    return _recall(workspace)


@register_measure(
    name="affiliation_f_score",
    title="Aff-F",
    family="proximity",
    reference=_HUET,
    extra=True,
    with_chance=True,
    shared=_f_score,
)
def affiliation_f_score(
    y_true: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    beta: float = 1.0,
    threshold: ThresholdRule = "sigma",
    y_pred: ArrayLike | None = None,
) -> float:
    """Weighted harmonic mean of affiliation precision and affiliation recall.

    Parameters
    ----------
    y_true, y_score, threshold, y_pred
        As for :func:`precision`; ``threshold="best"`` gives the highest value there is.
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
    >>> round(affiliation_f_score([1, 0, 0, 0, 0], y_pred=[0, 1, 0, 0, 0]), 3)
    0.768
    """
    beta = check_beta(beta)
    workspace = thresholded(y_true, y_score, threshold, y_pred)
    if not defined(workspace.labels, "affiliation_f_score"):
        return float("nan")
    return _f_score(workspace, beta)
