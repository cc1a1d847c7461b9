"""AUC, R-AUC and VUS: areas over all thresholds, without and with buffers around anomalies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from vuskit.algorithms import ALGORITHMS
from vuskit.errors import InvalidInputError
from vuskit.kernels.labels import JOURNAL
from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import (
    EvaluationSettings,
    RangeAucOptions,
    ScoreOptions,
    VolumeOptions,
)
from vuskit.measures.workspace import Workspace
from vuskit.parameters import one_of, whole

__all__ = [
    "auc_pr",
    "auc_roc",
    "check_algorithm",
    "range_auc_pr",
    "range_auc_roc",
    "vus_pr",
    "vus_roc",
]

_AT_EVERY_POINT = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=False,
    parameter_free=True,
)
_AT_ONE_BUFFER = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=True,
    parameter_free=False,
)
# As in the paper, although the longest buffer has to be chosen.
_OVER_BUFFERS = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=True,
    parameter_free=True,
)

_PVLDB = "doi:10.14778/3551793.3551830"
_JOURNAL = "VUS: Effective and Efficient Accuracy Measures for Time-Series Anomaly Detection"


@measure(
    title="AUC-ROC",
    family="auc",
    group="paper",
    reference="doi:10.1016/j.patrec.2005.10.010",
    needs="levels",
    settings=ScoreOptions,
    properties=_AT_EVERY_POINT,
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
    properties=_AT_EVERY_POINT,
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


def check_algorithm(settings: EvaluationSettings, options: Mapping[str, Any]) -> None:
    """Reject settings that the algorithms of the paper do not support."""
    algorithm = options.get("algorithm", "fast")
    if algorithm == "fast":
        return
    if settings.thresholds is None:
        raise InvalidInputError(
            f"`thresholds` must be an int >= 2 for algorithm={algorithm!r}, got None; published "
            "tables use 250"
        )
    for name, only in (("definition", JOURNAL.name), ("side", EvaluationSettings.side)):
        if getattr(settings, name) != only:
            raise InvalidInputError(
                f"`{name}` must be {only!r} for algorithm={algorithm!r}, "
                f"got {getattr(settings, name)!r}; or use algorithm='fast'"
            )


_BOTH: dict[str, Any] = {
    "group": "paper",
    "parameters": {"algorithm": one_of("fast", *ALGORITHMS), "memory_limit": whole(0)},
    "check": check_algorithm,
}
_RANGE_AUC = _BOTH | {
    "family": "range_auc",
    "reference": _PVLDB,
    "settings": RangeAucOptions,
    "needs": "range_auc",
    "properties": _AT_ONE_BUFFER,
}
_VOLUME = _BOTH | {
    "family": "vus",
    "reference": _JOURNAL,
    "settings": VolumeOptions,
    "needs": "vus",
    "properties": _OVER_BUFFERS,
}


@measure(title="R-AUC-ROC", **_RANGE_AUC)
def range_auc_roc(
    work: Workspace,
    *,
    algorithm: str = "fast",
    memory_limit: int | None = None,
    **settings: Unpack[RangeAucOptions],
) -> float:
    """Return the area under the range-aware ROC curve.

    Each anomaly gets a ramp of ``buffer // 2`` points on each side, so that slightly early or late
    detections get partial credit. A true-positive rate of 1 also requires that every anomaly is
    detected at least once.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> range_auc_roc(y_true, y_score, buffer=0)
    0.875
    >>> round(range_auc_roc(y_true, y_score, buffer=2), 3)
    0.969
    """
    return work.areas("range_auc", settings, algorithm, memory_limit).range_auc("roc")


@measure(title="R-AUC-PR", **_RANGE_AUC)
def range_auc_pr(
    work: Workspace,
    *,
    algorithm: str = "fast",
    memory_limit: int | None = None,
    **settings: Unpack[RangeAucOptions],
) -> float:
    """Return the area under the range-aware precision-recall curve.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> round(range_auc_pr(y_true, y_score, buffer=2), 3)
    0.94
    """
    return work.areas("range_auc", settings, algorithm, memory_limit).range_auc("pr")


@measure(title="VUS-ROC", **_VOLUME)
def vus_roc(
    work: Workspace,
    *,
    algorithm: str = "fast",
    memory_limit: int | None = None,
    **settings: Unpack[VolumeOptions],
) -> float:
    """Return the volume under the ROC surface: the mean of R-AUC-ROC over buffers 0, ..., buffer.

    Parameters
    ----------
    buffer
        As for :func:`vus_pr`.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> round(vus_roc(y_true, y_score, buffer=4), 3)
    0.937
    """
    return work.areas("vus", settings, algorithm, memory_limit).volume("roc")


@measure(title="VUS-PR", **_VOLUME)
def vus_pr(
    work: Workspace,
    *,
    algorithm: str = "fast",
    memory_limit: int | None = None,
    **settings: Unpack[VolumeOptions],
) -> float:
    """Return the volume under the PR surface: the mean of R-AUC-PR over buffers 0, ..., buffer.

    Parameters
    ----------
    buffer : int, str or BufferChoice
        Longest buffer: a number of points, the name of a strategy of :func:`choose_buffer`, or a
        BufferChoice. A good choice is the period of the series.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> round(vus_pr(y_true, y_score, buffer=4), 3)
    0.908
    """
    return work.areas("vus", settings, algorithm, memory_limit).volume("pr")
