"""VUS-ROC and VUS-PR: R-AUC averaged over all buffer lengths; and volumes over any parameters."""

from __future__ import annotations

from numpy.typing import ArrayLike

from vuskit.measures.buffered import area_settings, areas_of
from vuskit.measures.registry import register_measure
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.workspace import Workspace, volume_under_surface

__all__ = ["vus_pr", "vus_roc"]

_JOURNAL = "VUS: Effective and Efficient Accuracy Measures for Time-Series Anomaly Detection"


def _roc(workspace: Workspace) -> float:
    return volume_under_surface(workspace, 0)


def _pr(workspace: Workspace) -> float:
    return volume_under_surface(workspace, 1)


@register_measure(
    name="vus_roc",
    title="VUS-ROC",
    family="vus",
    reference=_JOURNAL,
    paper=True,
    shared=_roc,
    needs="areas",
)
def vus_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer | None = None,
    max_buffer: Buffer | None = None,
    values: ArrayLike | None = None,
    thresholds: int | None = EvaluationSettings.thresholds,
    definition: str = EvaluationSettings.definition,
    step: int = EvaluationSettings.step,
    side: str = EvaluationSettings.side,
    algorithm: str = "fast",
    memory_limit: int | None = None,
) -> float:
    """Volume under the ROC surface: mean of R-AUC-ROC over the buffers 0, 1, ..., buffer.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice
        Longest buffer: a number of points, or the name of a strategy of :func:`choose_buffer`. The
        period of the series is a good choice.
    max_buffer
        Synonym of ``buffer``.
    values : array-like of shape (n,) or (n, d), optional
        The series, for strategies that look for a period.
    thresholds : int, optional
        Number of thresholds, taken at evenly spaced ranks of the scores; published tables use 250.
        By default every distinct score is a threshold, and the value is exact.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Which of the published definitions.
    step : int, default=1
        Distance between buffer lengths: 0, step, 2 step, ..., up to ``buffer``.
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
    >>> round(vus_roc(y_true, y_score, buffer=4), 3)
    0.937
    """
    options = area_settings(
        buffer,
        max_buffer,
        y_true=y_true,
        values=values,
        with_volume=True,
        thresholds=thresholds,
        definition=definition,
        step=step,
        side=side,
    )
    return areas_of(y_true, y_score, options, algorithm, memory_limit, "vus_roc", _roc)


@register_measure(
    name="vus_pr",
    title="VUS-PR",
    family="vus",
    reference=_JOURNAL,
    paper=True,
    shared=_pr,
    needs="areas",
)
def vus_pr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer | None = None,
    max_buffer: Buffer | None = None,
    values: ArrayLike | None = None,
    thresholds: int | None = EvaluationSettings.thresholds,
    definition: str = EvaluationSettings.definition,
    step: int = EvaluationSettings.step,
    side: str = EvaluationSettings.side,
    algorithm: str = "fast",
    memory_limit: int | None = None,
) -> float:
    """Volume under the PR surface: mean of R-AUC-PR over the buffer lengths 0, 1, ..., buffer.

    Parameters
    ----------
    y_true, y_score, buffer, max_buffer, values, thresholds, definition, step, side
        As for :func:`vus_roc`.
    algorithm, memory_limit
        As for :func:`vus_roc`.

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
    >>> round(vus_pr(y_true, y_score, buffer=4), 3)
    0.908
    """
    options = area_settings(
        buffer,
        max_buffer,
        y_true=y_true,
        values=values,
        with_volume=True,
        thresholds=thresholds,
        definition=definition,
        step=step,
        side=side,
    )
    return areas_of(y_true, y_score, options, algorithm, memory_limit, "vus_pr", _pr)
