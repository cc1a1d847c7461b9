"""PATE: precision and recall weighed by how near points are to anomalies, over all thresholds."""

from __future__ import annotations

from numpy.typing import ArrayLike

from vuskit.inputs import check_choice, check_int, check_pair
from vuskit.kernels.pate import PateCounts
from vuskit.measures.registry import register_measure
from vuskit.measures.workspace import defined

__all__ = ["pate"]


@register_measure(
    name="pate",
    title="PATE",
    family="proximity",
    reference="arXiv:2405.12096",
    extra=True,
)
def pate(y_true: ArrayLike, y_score: ArrayLike, *, buffer: int, side: str = "both") -> float:
    """Area under a precision-recall curve in which points near an anomaly count by their distance.

    At a threshold, a predicted point of an anomaly is worth 1, one in the zone before or after it
    less the further it is from the anomaly's points, the zone before it only once the anomaly is
    found; all others are worth 0. Precision is the worth of the predicted points over their number.
    Recall is the worth over itself and the weight of the missed points, of which the late ones of
    an anomaly weigh less once it is found. The value is the mean area over four curves: without
    zones, with either, and with both.

    Parameters
    ----------
    y_true, y_score
        As for :func:`precision`.
    buffer : int
        The zones reach ``buffer // 2`` points to either side, and not beyond other anomalies. The
        buffers of 100 points of the authors' package are a buffer of 200.
    side : {"both", "before", "after"}, default="both"
        Where the zones are.

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
    >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
    >>> round(pate(labels, score, buffer=4), 3)
    0.837
    """
    half = check_int("buffer", buffer, minimum=0) // 2
    check_choice("side", side, ("both", "before", "after"))
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, "pate"):
        return float("nan")
    counts = PateCounts.of(scores, labels.inside, labels.starts, labels.stops)
    zones = [
        (early, late)
        for early in (0, half * (side != "after"))
        for late in (0, half * (side != "before"))
    ]
    areas = {zone: counts.area(*zone) for zone in set(zones)}
    return min(sum(areas[zone] for zone in zones) / len(zones), 1.0)
