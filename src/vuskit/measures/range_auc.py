"""R-AUC-ROC and R-AUC-PR: anomalies with soft borders, all thresholds, one buffer length."""

from __future__ import annotations

from numpy.typing import ArrayLike

from vuskit.measures.buffered import area_settings, areas_of
from vuskit.measures.registry import register_measure
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.workspace import Workspace, range_auc

__all__ = ["range_auc_pr", "range_auc_roc"]

_PVLDB = "doi:10.14778/3551793.3551830"


def _roc(workspace: Workspace) -> float:
    return range_auc(workspace, 0)


def _pr(workspace: Workspace) -> float:
    return range_auc(workspace, 1)


@register_measure(
    name="range_auc_roc",
    title="R-AUC-ROC",
    family="range_auc",
    reference=_PVLDB,
    paper=True,
    shared=_roc,
    needs="areas",
)
def range_auc_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer,
    values: ArrayLike | None = None,
    thresholds: int | None = EvaluationSettings.thresholds,
    definition: str = EvaluationSettings.definition,
    side: str = EvaluationSettings.side,
    algorithm: str = "fast",
    memory_limit: int | None = None,
) -> float:
    """Area under the range-aware ROC curve.

    Each anomaly gets a ramp of ``buffer // 2`` points on either side, so that a detector that fires
    slightly early or late keeps part of its credit; a detector must also find every anomaly at
    least once to reach a full true-positive rate.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice
        Total width of the two ramps: a number of points (0 switches them off), or the name of a
        strategy of :func:`choose_buffer`.
    values : array-like of shape (n,) or (n, d), optional
        The series, for strategies that look for a period.
    thresholds : int, optional
        Number of thresholds, taken at evenly spaced ranks of the scores; published tables use 250.
        By default every distinct score is a threshold, and the value is exact.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Which of the published definitions.
    side : {"both", "before", "after"}, default="both"
        Where ramps are: ``"after"`` forgives late detections only.
    algorithm : {"fast", "naive", "opt", "opt_mem"}, default="fast"
        The journal paper's own algorithms need ``thresholds`` and the journal definition.
    memory_limit : int, optional
        Bytes that ``"opt_mem"`` may take for its predictions; 2 GiB by default.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Warns
    -----
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> range_auc_roc(y_true, y_score, buffer=0)
    0.875
    >>> round(range_auc_roc(y_true, y_score, buffer=2), 3)
    0.969
    """
    options = area_settings(
        buffer,
        y_true=y_true,
        values=values,
        with_volume=False,
        thresholds=thresholds,
        definition=definition,
        side=side,
    )
    return areas_of(y_true, y_score, options, algorithm, memory_limit, "range_auc_roc", _roc)


@register_measure(
    name="range_auc_pr",
    title="R-AUC-PR",
    family="range_auc",
    reference=_PVLDB,
    paper=True,
    shared=_pr,
    needs="areas",
)
def range_auc_pr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer,
    values: ArrayLike | None = None,
    thresholds: int | None = EvaluationSettings.thresholds,
    definition: str = EvaluationSettings.definition,
    side: str = EvaluationSettings.side,
    algorithm: str = "fast",
    memory_limit: int | None = None,
) -> float:
    """Area under the range-aware precision-recall curve.

    Parameters
    ----------
    y_true, y_score, buffer, values, thresholds, definition, side, algorithm, memory_limit
        As for :func:`range_auc_roc`.

    Returns
    -------
    float
        In [0, 1]; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated.

    Warns
    -----
    ThresholdResolutionWarning
        If a grid of thresholds is too coarse for the number of anomalous points.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.3, 0.9, 0.8, 0.1]
    >>> round(range_auc_pr(y_true, y_score, buffer=2), 3)
    0.94
    """
    options = area_settings(
        buffer,
        y_true=y_true,
        values=values,
        with_volume=False,
        thresholds=thresholds,
        definition=definition,
        side=side,
    )
    return areas_of(y_true, y_score, options, algorithm, memory_limit, "range_auc_pr", _pr)
