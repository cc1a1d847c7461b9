"""AUC-ROC and AUC-PR: every point for itself, all thresholds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import check_choice, check_pair
from vuskit.measures.registry import register_measure
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["auc_pr", "auc_roc"]


def _auc_roc(workspace: Workspace) -> float:
    return workspace.plain_areas[0]


def _auc_pr(workspace: Workspace, interpolation: str = "step") -> float:
    if interpolation == "step":
        return workspace.plain_areas[1]
    levels = workspace.point_levels
    found_before = np.concatenate(([0], levels.found[:-1]))
    predicted_before = np.maximum(levels.predicted_before, 1)
    before = np.where(levels.predicted_before > 0, found_before / predicted_before, 1.0)
    jump = (levels.found - found_before) / workspace.labels.n_anomalous
    return min(float(jump @ (levels.found / levels.predicted + before)) / 2, 1.0)


@register_measure(
    name="auc_roc",
    title="AUC-ROC",
    family="auc",
    reference="doi:10.1016/j.patrec.2005.10.010",
    paper=True,
    shared=_auc_roc,
    needs="levels",
)
def auc_roc(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Area under the ROC curve, over every distinct score.

    Equals ``sklearn.metrics.roc_auc_score``.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays cannot be evaluated.

    Examples
    --------
    >>> auc_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "auc_roc"):
        return float("nan")
    return _auc_roc(Workspace(PreparedLabels(labels, None), scores, needs={"levels"}))


@register_measure(
    name="auc_pr",
    title="AUC-PR",
    family="auc",
    reference="doi:10.1145/1143844.1143874",
    paper=True,
    shared=_auc_pr,
    needs="levels",
)
def auc_pr(y_true: ArrayLike, y_score: ArrayLike, *, interpolation: str = "step") -> float:
    """Area under the precision-recall curve, over every distinct score.

    Parameters
    ----------
    y_true, y_score
        As for :func:`auc_roc`.
    interpolation : {"step", "trapezoid"}, default="step"
        ``"step"`` equals ``sklearn.metrics.average_precision_score``; ``"trapezoid"`` joins the
        points of the curve by lines, as older published tables do, and is too optimistic.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or the interpolation cannot be used.

    Examples
    --------
    >>> auc_pr([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    check_choice("interpolation", interpolation, ("step", "trapezoid"))
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "auc_pr"):
        return float("nan")
    workspace = Workspace(PreparedLabels(labels, None), scores, needs={"levels"})
    return _auc_pr(workspace, interpolation)
