"""UCR score: whether the highest score lies at an anomaly."""

from __future__ import annotations

import numpy as np

from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.workspace import Workspace
from vuskit.parameters import whole

__all__ = ["ucr_score"]

_PROPERTIES = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=True,
    parameter_free=False,
)


@measure(
    title="UCR",
    family="event",
    reference="doi:10.1109/TKDE.2021.3112126",
    parameters={"slack": whole(0)},
    misleading_without_chance=True,
    properties=_PROPERTIES,
)
def ucr_score(work: Workspace, *, slack: int = 100) -> float:
    """Return 1 if the highest score lies at an anomaly, otherwise 0.

    "At an anomaly" means within ``max(length, slack)`` points of it. If several points share the
    highest score, return the fraction of them that lie at an anomaly. Made for series with one
    anomaly; with several, any of them counts.

    Parameters
    ----------
    slack : int, default=100
        Minimum tolerance in points. The KDD Cup 2021 used 100.

    Returns
    -------
    float
        In [0, 1], and 0 or 1 without ties; NaN when only one class is present.

    Examples
    --------
    >>> labels, score = [0, 0, 0, 0, 1, 0, 0, 0], [0, 9, 1, 1, 4, 2, 1, 1]
    >>> ucr_score(labels, score, slack=2), ucr_score(labels, score, slack=3)
    (0.0, 1.0)
    """
    labels = work.labels
    top = np.flatnonzero(work.scores == work.scores.max())
    margin = np.maximum(labels.stops - labels.starts, slack)
    # Tolerance zones of neighboring anomalies may overlap; each point counts once.
    near = np.zeros(top.size + 1, dtype=np.intp)
    np.add.at(near, np.searchsorted(top, labels.starts - margin), 1)
    np.add.at(near, np.searchsorted(top, labels.stops + margin), -1)
    return float(np.count_nonzero(near.cumsum()[:-1]) / top.size)
