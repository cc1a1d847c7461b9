"""Measures that count points."""

import math

from oracle.runs import one_class


def sigma_threshold(scores, factor=3):
    """Mean plus `factor` population standard deviations."""
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((s - mean) ** 2 for s in scores) / len(scores)
    return mean + factor * math.sqrt(variance)


def predictions(scores, threshold, y_pred):
    """0/1 predictions: `y_pred` as given, else the scores cut at a number or by the sigma rule."""
    if y_pred is not None:
        return [int(p) for p in y_pred]
    if threshold is None:
        threshold = sigma_threshold(scores)
    return [1 if s >= threshold else 0 for s in scores]


def ratio(numerator, denominator):
    """Divide; zero where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def combine(precision_value, recall_value, beta):
    """Weighted harmonic mean of a precision and a recall."""
    return ratio(
        (1 + beta**2) * precision_value * recall_value,
        beta**2 * precision_value + recall_value,
    )


def hits(labels, predicted):
    """Count the points that are both anomalous and predicted."""
    return sum(1 for label, p in zip(labels, predicted, strict=True) if label and p)


def precision(y_true, y_score=None, *, threshold=None, y_pred=None):
    """Share of the predicted points that are anomalous."""
    if one_class(y_true):
        return math.nan
    predicted = predictions(y_score, threshold, y_pred)
    return ratio(hits(y_true, predicted), sum(predicted))


def recall(y_true, y_score=None, *, threshold=None, y_pred=None):
    """Share of the anomalous points that are predicted."""
    if one_class(y_true):
        return math.nan
    predicted = predictions(y_score, threshold, y_pred)
    return ratio(hits(y_true, predicted), sum(1 for label in y_true if label))


def f_score(y_true, y_score=None, *, beta=1, threshold=None, y_pred=None):
    """Weighted harmonic mean of precision and recall."""
    cut = {"threshold": threshold, "y_pred": y_pred}
    return combine(precision(y_true, y_score, **cut), recall(y_true, y_score, **cut), beta)


def precision_at_k(y_true, y_score, *, k=None):
    """Precision of the k highest scores; ties at the k-th place share the places that are left."""
    if one_class(y_true):
        return math.nan
    if k is None:
        k = sum(1 for label in y_true if label)
    kth_score = sorted(y_score, reverse=True)[k - 1]
    above = [label for label, s in zip(y_true, y_score, strict=True) if s > kth_score]
    tied = [label for label, s in zip(y_true, y_score, strict=True) if s == kth_score]
    places_left = k - len(above)
    return (sum(above) + places_left * sum(tied) / len(tied)) / k
