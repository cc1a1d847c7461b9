"""AUC-ROC and AUC-PR: point-wise areas over all thresholds."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import ScoreOptions
from vuskit.measures.workspace import Workspace
from vuskit.parameters import one_of

__all__ = ["auc_pr", "auc_roc"]

_PROPERTIES = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=False,
    parameter_free=True,
)


@measure(
    title="AUC-ROC",
    family="auc",
    group="paper",
    reference="doi:10.1016/j.patrec.2005.10.010",
    needs="levels",
    settings=ScoreOptions,
    properties=_PROPERTIES,
)
def auc_roc(work: Workspace, **settings: Unpack[ScoreOptions]) -> float:
    """Return the area under the ROC curve, over every distinct score.

    Equals ``sklearn.metrics.roc_auc_score``.

    Examples
    --------
    >>> auc_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return work.ranked.plain_areas[0]


@measure(
    title="AUC-PR",
    family="auc",
    group="paper",
    reference="doi:10.1145/1143844.1143874",
    parameters={"interpolation": one_of("step", "trapezoid")},
    needs="levels",
    settings=ScoreOptions,
    properties=_PROPERTIES,
)
def auc_pr(
    work: Workspace, *, interpolation: str = "step", **settings: Unpack[ScoreOptions]
) -> float:
    """Return the area under the precision-recall curve, over every distinct score.

    Parameters
    ----------
    interpolation : {"step", "trapezoid"}, default="step"
        ``"step"`` equals ``sklearn.metrics.average_precision_score``. ``"trapezoid"`` joins the
        points of the curve by straight lines, as in older published tables, and is too optimistic.

    Examples
    --------
    >>> auc_pr([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    if interpolation == "step":
        return work.ranked.plain_areas[1]
    levels = work.ranked.levels.with_hits()
    found_before = np.concatenate(([0], levels.found[:-1]))
    predicted_before = np.maximum(levels.predicted_before, 1)
    before = np.where(levels.predicted_before > 0, found_before / predicted_before, 1.0)
    jump = (levels.found - found_before) / work.labels.n_anomalous
    return min(float((jump * (levels.found / levels.predicted + before)).sum()) / 2, 1.0)
