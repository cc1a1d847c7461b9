"""Affiliation and PATE: measures that weight predictions by their distance from anomalies."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from vuskit.inputs import Labels
from vuskit.kernels.affiliation import Zones, affiliation
from vuskit.kernels.best_thresholds import best_affiliation_level
from vuskit.kernels.pate import PateCounts
from vuskit.kernels.ranking import Scores
from vuskit.measures.point import harmonic_mean
from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import BufferOptions, ThresholdOptions
from vuskit.measures.workspace import Workspace
from vuskit.parameters import number

__all__ = ["affiliation_f_score", "affiliation_precision", "affiliation_recall", "pate"]

_AFFILIATION = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=False,
    sequence_adapted=True,
    parameter_free=False,
)
_PATE = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=True,
    parameter_free=False,
)

_HUET = "doi:10.1145/3534678.3539339"


def _best_level(scores: Scores, labels: Labels, *, beta: float = 1.0) -> Any:
    return best_affiliation_level(scores, Zones.of(labels.starts, labels.stops, labels.n), beta)


def _precision_and_recall(
    work: Workspace, settings: ThresholdOptions, beta: float = 1.0
) -> tuple[float, float]:
    """Return the mean precision and recall over the anomalies."""
    prediction = work.predict(_best_level, settings, beta=beta)

    def means() -> tuple[float, float]:
        labels = prediction.labels
        zones = Zones.of(labels.starts, labels.stops, labels.n)
        precision, recall = affiliation(zones, *prediction.ranges)
        known = precision[~np.isnan(precision)]
        return float(known.mean()) if known.size else 0.0, float(recall.mean())

    found: tuple[float, float] = prediction.keep("affiliation", means)
    return found


@measure(
    title="Aff-P",
    family="proximity",
    reference=_HUET,
    settings=ThresholdOptions,
    misleading_without_chance=True,
    properties=_AFFILIATION,
)
def affiliation_precision(work: Workspace, **settings: Unpack[ThresholdOptions]) -> float:
    """Return how close predictions are to anomalies, compared with a random position.

    Each anomaly has a zone: the positions closer to it than to any other anomaly. A predicted
    position x in the zone scores the fraction of the zone that is at least as far from the anomaly
    as x, and 1 inside the anomaly. The precision of an anomaly is the mean over the predicted
    positions in its zone. The result is the mean over all anomalies with a prediction in their
    zone.

    A prediction at a random position scores about 0.5, not 0; see :func:`chance_level`.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    Point i covers the interval from i to i + 1. Half of the zone is farther from the anomaly than
    the center of the prediction:

    >>> affiliation_precision([1, 0, 0, 0, 0], y_pred=[0, 0, 1, 0, 0])
    0.5
    """
    return _precision_and_recall(work, settings)[0]


@measure(
    title="Aff-R",
    family="proximity",
    reference=_HUET,
    settings=ThresholdOptions,
    misleading_without_chance=True,
    properties=_AFFILIATION,
)
def affiliation_recall(work: Workspace, **settings: Unpack[ThresholdOptions]) -> float:
    """Return how close anomalies are to predictions, compared with a random position.

    A position y in an anomaly scores the fraction of the anomaly's zone that is at least as far
    from y as the nearest prediction in the zone, and 1 if y is predicted. The recall of an anomaly
    is the mean over its positions, or 0 if nothing is predicted in its zone. Zones are defined in
    :func:`affiliation_precision`.

    Examples
    --------
    >>> affiliation_recall([1, 0, 0, 0, 0], y_pred=[0, 1, 0, 0, 0])
    0.85
    """
    return _precision_and_recall(work, settings)[1]


@measure(
    title="Aff-F",
    family="proximity",
    reference=_HUET,
    parameters={"beta": number(above=0)},
    settings=ThresholdOptions,
    misleading_without_chance=True,
    best_threshold=_best_level,
    properties=_AFFILIATION,
)
def affiliation_f_score(
    work: Workspace, *, beta: float = 1.0, **settings: Unpack[ThresholdOptions]
) -> float:
    """Return the weighted harmonic mean of affiliation precision and affiliation recall.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> round(affiliation_f_score([1, 0, 0, 0, 0], y_pred=[0, 1, 0, 0, 0]), 3)
    0.768
    """
    return harmonic_mean(*_precision_and_recall(work, settings, beta), beta)


@measure(
    title="PATE",
    family="proximity",
    reference="arXiv:2405.12096",
    settings=BufferOptions,
    properties=_PATE,
)
def pate(work: Workspace, **settings: Unpack[BufferOptions]) -> float:
    """Return the area under a precision-recall curve that weights points by their distance.

    At each threshold, predicted points have these weights: 1 inside an anomaly, a weight that
    decreases with the distance in the zones before and after it, and 0 elsewhere. The zone before
    an anomaly counts only if the anomaly is detected.

    Precision is the total weight of the predicted points divided by their number. Recall is that
    weight divided by itself plus the weight of the missed points. Late missed points of a detected
    anomaly weigh less. The result is the mean area over four curves: without zones, with either
    zone, and with both.

    Parameters
    ----------
    buffer : int, str or BufferChoice
        Each zone covers ``buffer // 2`` points and ends at the next anomaly. Buffers of 100 points
        in the authors' package correspond to ``buffer=200``.

    Examples
    --------
    >>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
    >>> round(pate(labels, score, buffer=4), 3)
    0.837
    """
    labels, at = work.labels, work.at(settings)
    half = work.prepared.choose_buffer(at).length // 2
    counts = PateCounts.of(work.scores, labels.inside, labels.starts, labels.stops)
    zones = [
        (early, late)
        for early in (0, half * (at.side != "after"))
        for late in (0, half * (at.side != "before"))
    ]
    areas = {zone: counts.area(*zone) for zone in set(zones)}
    return min(sum(areas[zone] for zone in zones) / len(zones), 1.0)
