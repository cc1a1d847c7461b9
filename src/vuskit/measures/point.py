"""Point-wise precision, recall, F-score and Precision@k."""

from __future__ import annotations

from typing import Any, Unpack

from vuskit.inputs import Labels
from vuskit.kernels.best_thresholds import best_point_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.registry import MeasureProperties, measure
from vuskit.measures.settings import ThresholdOptions, TopOptions
from vuskit.measures.workspace import Prediction, Workspace
from vuskit.parameters import number, one_of

__all__ = ["best_level", "f_score", "harmonic_mean", "precision", "precision_at_k", "recall"]

_POINTWISE = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=False,
    sequence_adapted=False,
    parameter_free=False,
)
_TOP = MeasureProperties(
    independent_of_anomalies=False,
    threshold_free=True,
    sequence_adapted=False,
    parameter_free=False,
)

_FAWCETT = "doi:10.1016/j.patrec.2005.10.010"


def harmonic_mean(precision: float, recall: float, beta: float) -> float:
    """Return the F-score of a precision and a recall; 0 if both are 0."""
    weight = beta * beta
    total = weight * precision + recall
    return (1 + weight) * precision * recall / total if total > 0 else 0.0


def best_level(scores: Scores, labels: Labels, *, beta: float = 1.0) -> Any:
    """Return the threshold of the highest point-wise F-score."""
    return best_point_level(scores, labels.inside, beta)


def _precision_and_recall(prediction: Prediction) -> tuple[float, float]:
    hits, predicted = prediction.confusion
    return hits / predicted if predicted else 0.0, hits / prediction.labels.n_anomalous


@measure(
    title="Precision",
    family="threshold",
    group="paper",
    reference=_FAWCETT,
    settings=ThresholdOptions,
    properties=_POINTWISE,
)
def precision(work: Workspace, **settings: Unpack[ThresholdOptions]) -> float:
    """Return the fraction of predicted points that are anomalous.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> precision([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.8, 0.7], threshold=0.7)
    0.6666666666666666
    >>> precision([0, 0, 1, 1, 0], y_pred=[0, 0, 1, 0, 0])
    1.0
    """
    return _precision_and_recall(work.predict(best_level, settings))[0]


@measure(
    title="Recall",
    family="threshold",
    group="paper",
    reference=_FAWCETT,
    settings=ThresholdOptions,
    properties=_POINTWISE,
)
def recall(work: Workspace, **settings: Unpack[ThresholdOptions]) -> float:
    """Return the fraction of anomalous points that are predicted.

    Examples
    --------
    >>> recall([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7], threshold=0.7)
    0.5
    """
    return _precision_and_recall(work.predict(best_level, settings))[1]


@measure(
    title="F",
    family="threshold",
    group="paper",
    reference=_FAWCETT,
    parameters={"beta": number(above=0)},
    settings=ThresholdOptions,
    best_threshold=best_level,
    properties=_POINTWISE,
)
def f_score(work: Workspace, *, beta: float = 1.0, **settings: Unpack[ThresholdOptions]) -> float:
    """Return the weighted harmonic mean of precision and recall.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is predicted, NaN when only one class is present.

    Examples
    --------
    >>> f_score([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7], threshold=0.7)
    0.5
    """
    prediction = work.predict(best_level, settings, beta=beta)
    return harmonic_mean(*_precision_and_recall(prediction), beta)


@measure(
    title="Precision@k",
    family="threshold",
    group="paper",
    reference=_FAWCETT,
    parameters={"points": one_of("top", "predicted")},
    settings=TopOptions,
    needs="levels",
    properties=_TOP,
)
def precision_at_k(
    work: Workspace, *, points: str = "top", **settings: Unpack[TopOptions]
) -> float:
    """Return the precision of the k highest scores.

    Points tied at the k-th place count fractionally, with the expected value of a random choice
    among them. The value therefore does not depend on the order of the points.

    Parameters
    ----------
    points : {"top", "predicted"}, default="top"
        ``"predicted"`` divides the number of predicted anomalous points by k, as the authors' code
        does. With the default k, this equals the recall. The threshold comes from the settings of
        the evaluation.

    Examples
    --------
    >>> precision_at_k([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7])
    0.5
    >>> precision_at_k([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7], points="predicted")
    0.0
    """
    if points == "top":
        hits, k = work.top_counts(settings)
        return hits / k
    found, _ = work.predict(best_level, {}).confusion
    return found / work.top_k(settings)
