"""Best F-score over all thresholds, and the threshold that reaches it."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from vuskit.inputs import NAN_POLICIES, check_choice, check_pair
from vuskit.measures.point import best_level, f_score, harmonic_mean
from vuskit.measures.registry import (
    MeasureProperties,
    check_option,
    list_measures,
    measure,
    warn_undefined,
)
from vuskit.measures.thresholds import plain_number
from vuskit.measures.workspace import Workspace
from vuskit.parameters import number

__all__ = ["best_f_score", "best_threshold"]

_PROPERTIES = MeasureProperties(
    independent_of_anomalies=True,
    threshold_free=True,
    sequence_adapted=False,
    parameter_free=False,
)


@measure(
    title="Best-F",
    family="threshold",
    reference="doi:10.1007/978-3-662-44851-9_15",
    parameters={"beta": number(above=0)},
    properties=_PROPERTIES,
)
def best_f_score(work: Workspace, *, beta: float = 1.0) -> float:
    """Return the highest F-score over all thresholds, an upper bound for any threshold rule.

    The result is exact over all distinct scores and costs less than sorting them. The threshold is
    chosen with the labels, so a deployed detector reaches this value only by chance. It equals
    ``f_score(y_true, y_score, threshold="best")``; :func:`best_threshold` returns the threshold.

    Examples
    --------
    >>> best_f_score([0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7])
    0.8
    """
    prediction = work.predict(best_level, {"threshold": "best"}, beta=beta)
    hits, predicted = prediction.confusion
    return harmonic_mean(hits / predicted, hits / work.labels.n_anomalous, beta)


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    measure: str = f_score.__name__,
    beta: float = 1.0,
    nan: str = NAN_POLICIES[0],
    **options: Any,
) -> float:
    """Return the distinct score that maximizes an F-score when used as the threshold.

    ``threshold="best"`` uses this threshold. It depends on the labels, so the resulting F-score is
    an upper bound.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    measure : str, default="f_score"
        ``"f_score"``, ``"range_f_score"``, ``"event_f_score"``, ``"composite_f_score"``,
        ``"point_adjusted_f_score"`` or ``"affiliation_f_score"``.
    beta : float, default=1
        Above 1, recall weighs more.
    nan : {"error", "lowest"}, default="error"
        Missing scores (NaN): refuse them, or rank them below all other scores.
    **options
        Other options of the measure, for example ``k`` of :func:`point_adjusted_f_score`,
        ``false_alarm_rate`` of :func:`event_f_score`, or ``alpha``, ``precision_bias``,
        ``recall_bias`` and ``cardinality`` of :func:`range_f_score`.

    Returns
    -------
    float
        The best threshold, the highest one if several are equally good; NaN if only one class is
        present. An integer score that a float would round is returned as an int.

    Raises
    ------
    InvalidInputError
        If an array or a parameter is invalid.

    Examples
    --------
    >>> labels, score = [0, 0, 1, 1, 0], [0.1, 0.2, 0.9, 0.4, 0.7]
    >>> best_threshold(labels, score)
    0.4
    >>> best_threshold(labels, score, measure="point_adjusted_f_score")
    0.9
    """
    known = {
        one.name: (one, one.declaration.best_threshold)
        for one in list_measures()
        if one.declaration is not None and one.declaration.best_threshold is not None
    }
    found, finder = known[check_choice("measure", measure, known)]
    checked = {}
    for name, value in {"beta": beta, **options}.items():
        check_option(measure, finder, name)
        checked[name] = found.parameters[name].checked(name, value)
    labels, scores = check_pair(y_true, y_score, check_choice("nan", nan, NAN_POLICIES))
    if not labels.has_both_classes:
        warn_undefined("best_threshold")
        return float("nan")
    return plain_number(finder(scores, labels, **checked))
