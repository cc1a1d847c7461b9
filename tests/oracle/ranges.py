"""Range-based precision and recall (Tatbul et al., 2018)."""

import math

from oracle.points import combine, predictions
from oracle.runs import events, one_class

# Weight of the i-th point (from 1) of a range of the given length.
BIASES = {
    "flat": lambda i, length: 1,
    "front": lambda i, length: length - i + 1,
    "middle": lambda i, length: i if i <= length / 2 else length - i + 1,
    "back": lambda i, length: i,
}

# Factor for a range that meets `count` > 1 ranges of the other side.
CARDINALITIES = {
    "one": lambda count: 1,
    "reciprocal": lambda count: 1 / count,
}


def named(choice, registry):
    """A function by its name, or the function itself."""
    return choice if callable(choice) else registry[choice]


def covered_share(own, other_ranges, bias):
    """Share of a range's weight that lies in the other side's ranges."""
    start, stop = own
    length = stop - start
    covered = total = 0
    for i in range(1, length + 1):
        weight = bias(i, length)
        total += weight
        position = start + i - 1
        if any(a <= position < b for a, b in other_ranges):
            covered += weight
    return covered / total


def reward(own, other_ranges, alpha, cardinality, bias):
    """Existence and overlap reward of one range."""
    start, stop = own
    met = [(a, b) for a, b in other_ranges if max(a, start) < min(b, stop)]
    existence = 1 if met else 0
    factor = 1 if len(met) <= 1 else cardinality(len(met))
    return alpha * existence + (1 - alpha) * factor * covered_share(own, met, bias)


def mean_reward(own_ranges, other_ranges, alpha, cardinality, bias):
    """Mean reward over one side's ranges; zero where it has none."""
    if not own_ranges:
        return 0.0
    cardinality = named(cardinality, CARDINALITIES)
    bias = named(bias, BIASES)
    rewards = [reward(own, other_ranges, alpha, cardinality, bias) for own in own_ranges]
    return math.fsum(rewards) / len(rewards)


def range_precision(
    y_true, y_score=None, *, cardinality="one", bias="flat", threshold=None, y_pred=None
):
    """Mean reward of the predicted ranges (existence earns nothing: alpha is 0)."""
    if one_class(y_true):
        return math.nan
    predicted = events(predictions(y_score, threshold, y_pred))
    return mean_reward(predicted, events(y_true), 0, cardinality, bias)


def range_recall(
    y_true, y_score=None, *, alpha=0, cardinality="one", bias="flat", threshold=None, y_pred=None
):
    """Mean reward of the anomalous ranges."""
    if one_class(y_true):
        return math.nan
    predicted = events(predictions(y_score, threshold, y_pred))
    return mean_reward(events(y_true), predicted, alpha, cardinality, bias)


def range_f_score(
    y_true,
    y_score=None,
    *,
    beta=1,
    alpha=0,
    cardinality="one",
    bias="flat",
    threshold=None,
    y_pred=None,
):
    """Weighted harmonic mean of range precision and range recall."""
    options = {
        "cardinality": cardinality,
        "bias": bias,
        "threshold": threshold,
        "y_pred": y_pred,
    }
    return combine(
        range_precision(y_true, y_score, **options),
        range_recall(y_true, y_score, alpha=alpha, **options),
        beta,
    )
