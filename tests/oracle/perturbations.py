"""The procedure of the published experiments: sections, lags of labels, crops, pooled spread."""

import math

from oracle.runs import events


def rare_section(labels, length):
    """Start, stop and anomaly of the stretch around an anomaly with the fewest anomalous points.

    Every anomaly is tried in turn: from 200 points before its start, `length` points.
    """
    n = len(labels)
    best = None
    for start, _ in events(labels):
        window = [labels[i] for i in range(start - 200, start - 200 + length) if 0 <= i < n]
        count = sum(1 for label in window if label)
        if best is None or count < best[0]:
            best = (count, start)
    if best is None:
        return 0, min(length, n), 0
    first = best[1] - 200
    stop = first + length
    while stop > n:  # one point to the left at a time
        first, stop = first - 1, stop - 1
    return max(first, 0), stop, best[1] - max(first, 0)


def label_lags(buffer):
    """Every step from minus a quarter of the buffer to below a quarter of it."""
    step = max(1, buffer // 2 // 20)
    lag, lags = -math.ceil(buffer / 4), []
    while lag < buffer // 4:
        lags.append(lag)
        lag += step
    return lags


def shift_labels(labels, lag):
    """Label of each point, from where it was before; normal where there was nothing."""
    return [labels[i - lag] if 0 <= i - lag < len(labels) else 0 for i in range(len(labels))]


def growing_crops(n, anchor, count=21):
    """Starts and stops that move outward by equal steps."""
    start, stop = max(anchor - 200, 0), min(anchor + 200, n)
    left = max(anchor - 200, 0) // (count - 1)
    right = max(n - anchor - 200, 0) // (count - 1)
    crops = [(start, stop)]
    for _ in range(count - 1):
        start, stop = max(start - left, 0), min(stop + right, n)
        crops.append((start, stop))
    return crops


def pooled_spread(values_by_detector):
    """One population standard deviation of all values, each less the mean of its detector."""
    centered = []
    for values in values_by_detector:
        mean = math.fsum(values) / len(values)
        centered += [value - mean for value in values]
    middle = math.fsum(centered) / len(centered)
    return math.sqrt(math.fsum((one - middle) ** 2 for one in centered) / len(centered))


def mean_spread(values_by_detector):
    """Mean of the detectors' population standard deviations."""
    return math.fsum(pooled_spread([values]) for values in values_by_detector) / len(
        values_by_detector
    )


def unit(scores):
    """Scores scaled to 0..1."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def raw_z(first, second):
    """Difference of means by the root of the sum of the population variances."""
    means = [math.fsum(values) / len(values) for values in (first, second)]
    variances = [pooled_spread([values]) ** 2 for values in (first, second)]
    return (means[0] - means[1]) / math.sqrt(sum(variances))


def cascade(scores):
    """0/1 predictions: above the mean plus 3 deviations, else 2, else 1."""
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    predicted = []
    for factor in (3, 2, 1):
        predicted = [1 if s > mean + factor * deviation else 0 for s in scores]
        if any(predicted):
            break
    return predicted
