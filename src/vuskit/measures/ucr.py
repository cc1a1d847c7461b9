"""The UCR score: whether the highest point is at an anomaly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vuskit.inputs import check_int, check_pair
from vuskit.measures.registry import register_measure
from vuskit.measures.workspace import PreparedLabels, Workspace, defined

__all__ = ["ucr_score"]

_SLACK = 100


def _ucr_score(workspace: Workspace, slack: int = _SLACK) -> float:
    labels, scores = workspace.labels, workspace.ranked_scores
    top = np.flatnonzero(scores == scores.max())
    margin = np.maximum(labels.stops - labels.starts, slack)
    # The highest points up to the end of a widened anomaly, less those before its beginning. Of
    # anomalies that widen into each other a point may be in several: it counts once.
    near = np.zeros(top.size + 1, dtype=np.intp)
    np.add.at(near, np.searchsorted(top, labels.starts - margin), 1)
    np.add.at(near, np.searchsorted(top, labels.stops + margin), -1)
    return float(np.count_nonzero(near.cumsum()[:-1]) / top.size)


@register_measure(
    name="ucr_score",
    title="UCR",
    family="event",
    reference="doi:10.1109/TKDE.2021.3112126",
    extra=True,
    with_chance=True,
    shared=_ucr_score,
)
def ucr_score(y_true: ArrayLike, y_score: ArrayLike, *, slack: int = _SLACK) -> float:
    """Whether the highest score is at an anomaly, give or take its length or a slack.

    1 if the highest point i has ``start - m <= i <= last + m`` for an anomaly from ``start`` to
    ``last`` with ``m = max(length, slack)``, else 0. Made for series with one anomaly; with
    several, any of them will do. Of points tied for the highest, the share that is at an anomaly:
    what a random choice among them gives.

    Parameters
    ----------
    y_true, y_score
        As for :func:`precision`.
    slack : int, default=100
        Least distance, in points, that is forgiven. 100 is that of the KDD Cup of 2021.

    Returns
    -------
    float
        In [0, 1], and 0 or 1 without ties; NaN when only one class is present.

    Raises
    ------
    InvalidInputError
        If the arrays or the slack cannot be used.

    Examples
    --------
    >>> labels, score = [0, 0, 0, 0, 1, 0, 0, 0], [0, 9, 1, 1, 4, 2, 1, 1]
    >>> ucr_score(labels, score, slack=2), ucr_score(labels, score, slack=3)
    (0.0, 1.0)
    """
    slack = check_int("slack", slack, minimum=0)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "ucr_score"):
        return float("nan")
    return _ucr_score(Workspace(PreparedLabels(labels, None), scores), slack)
