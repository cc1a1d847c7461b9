"""The conformance suite: inputs, options, and values by the oracles. Options are named as ours.

`benchmarks/freeze_conformance.py` writes it into the package.
"""

import itertools
import math

import oracle

VERSION = 1
DEFINITIONS = ("journal", "pvldb2022", "timeeval")
AREAS = ("range_auc_roc", "range_auc_pr")
VOLUMES = ("vus_roc", "vus_pr")


def labels(n, *events):
    """0/1 labels with half-open events."""
    return [int(any(start <= i < stop for start, stop in events)) for i in range(n)]


def noise(n, seed):
    """Whole numbers below 61 that look random; the same in every language."""
    numbers = []
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2**31
        numbers.append(seed // 65536 % 61)
    return numbers


def raised(y_true, seed, lag=0, height=25):
    """Noise, higher at anomalies; a positive lag is late."""
    n = len(y_true)
    return [
        value + (height if 0 <= i - lag < n and y_true[i - lag] else 0)
        for i, value in enumerate(noise(n, seed))
    ]


def inputs():
    """Yield name, description, labels and scores."""
    middle, two = labels(30, (12, 18)), labels(40, (10, 14), (24, 31))
    close, borders = labels(30, (8, 12), (13, 17)), labels(30, (0, 3), (26, 30))
    dense = labels(36, *((k, k + 2) for k in range(1, 36, 5)))
    yield "middle", "one anomaly, noisy score", middle, raised(middle, 1)
    yield "two", "two anomalies, noisy score", two, raised(two, 2)
    yield "late", "score three points late", two, raised(two, 3, lag=3)
    yield "early", "score three points early", two, raised(two, 4, lag=-3)
    yield "close", "two anomalies one point apart: buffers overlap", close, raised(close, 5)
    yield "borders", "anomalies at both ends of the series", borders, raised(borders, 6)
    yield "dense", "many short anomalies; buffers cover everything", dense, raised(dense, 7)
    single = labels(20, (9, 10))
    yield "single_point", "an anomaly of one point", single, raised(single, 8)
    first = labels(12, (0, 1))
    yield "first_point", "the first point is the anomaly", first, raised(first, 9)
    last = labels(12, (11, 12))
    yield "last_point", "the last point is the anomaly", last, raised(last, 10)
    long = labels(30, (4, 25))
    yield "mostly_anomalous", "more anomalous than normal points", long, raised(long, 11)
    yield "perfect", "the score is the label", two, [float(label) for label in two]
    yield "inverted", "the score is the negated label", two, [-float(label) for label in two]
    yield "constant", "all scores are equal", middle, [2.5] * 30
    yield "ties", "three distinct scores", two, [value // 25 for value in raised(two, 12)]
    yield (
        "top_tie",
        "the highest score occurs inside and outside the anomaly",
        middle,
        [9 if i in (3, 14, 27) else value % 7 for i, value in enumerate(noise(30, 13))],
    )
    yield (
        "negative",
        "negative scores and quarters",
        close,
        [value / 4 - 20 for value in raised(close, 14)],
    )
    step = 2.0**-52
    yield (
        "neighbors",
        "scores that differ in the last bit",
        middle,
        [1 + step * (value // 8) for value in raised(middle, 15)],
    )
    yield (
        "magnitudes",
        "scores from 1e-300 to 1e300",
        middle,
        [10.0 ** (10 * value - 300) for value in raised(middle, 16, height=0)],
    )
    yield "two_points", "the shortest input with both classes", [0, 1], [1, 2]
    yield "all_normal", "no anomaly: no measure has a value", [0] * 8, noise(8, 17)
    yield "all_anomalous", "no normal point: no measure has a value", [1] * 8, noise(8, 18)


# Rounding decides what the rule predicts here.
WITHOUT_SIGMA = {"neighbors", "magnitudes", "constant"}


def threshold_options(name, scores):
    """Thresholds of the measures of predictions."""
    ordered = sorted(set(scores))
    for threshold in sorted({ordered[len(ordered) // 2], ordered[-1]}):
        yield {"threshold": threshold}
    if name not in WITHOUT_SIGMA:
        yield {"threshold": "sigma"}


PREDICTION_OPTIONS = {
    "precision": [{}],
    "recall": [{}],
    "f_score": [{}, {"beta": 2}],
    "range_precision": [{}, {"bias": "front"}, {"bias": "back", "cardinality": "reciprocal"}],
    "range_recall": [{}, {"alpha": 0.2, "bias": "middle"}, {"cardinality": "reciprocal"}],
    "range_f_score": [{}, {"alpha": 0.2, "beta": 2}],
    "event_precision": [{}, {"false_alarm_rate": True}],
    "event_recall": [{}],
    "event_f_score": [{}, {"false_alarm_rate": True, "beta": 2}],
    "composite_f_score": [{}],
    "point_adjusted_precision": [{}, {"k": 0.5}],
    "point_adjusted_recall": [{}, {"k": 0.5}],
    "point_adjusted_f_score": [{}, {"k": 0.5}],
    "affiliation_precision": [{}],
    "affiliation_recall": [{}],
    "affiliation_f_score": [{}],
}
BEST = ("f_score", "event_f_score", "composite_f_score", "point_adjusted_f_score")
SCORE_OPTIONS = {
    "auc_roc": [{}],
    "auc_pr": [{}, {"interpolation": "trapezoid"}],
    "best_f_score": [{}, {"beta": 2}],
    "precision_at_k": [{}, {"k": 2}],
    "ucr_score": [{"slack": 0}, {"slack": 3}],
    "pate": [
        {"buffer": 0},
        {"buffer": 8},
        {"buffer": 8, "side": "after"},
        {"buffer": 8, "side": "before"},
    ],
}


def buffer_options(measure):
    """Options of R-AUC and VUS."""
    for definition in DEFINITIONS:
        common = {"definition": definition}
        for buffer in (0, 1, 4, 9, 50):
            yield {**common, "buffer": buffer}
        yield {**common, "buffer": 8, "thresholds": 5}
        yield {**common, "buffer": 8, "thresholds": 250}
        for side in ("before", "after"):
            yield {**common, "buffer": 8, "side": side}
        if measure in VOLUMES:
            yield {**common, "buffer": 8, "step": 3}


def calls(name, scores):
    """Yield the measures and options of one input."""
    for measure in (*AREAS, *VOLUMES):
        yield from ((measure, options) for options in buffer_options(measure))
    for measure, variants in SCORE_OPTIONS.items():
        yield from ((measure, options) for options in variants)
    for measure, variants in PREDICTION_OPTIONS.items():
        for cut, options in itertools.product(threshold_options(name, scores), variants):
            yield measure, {**cut, **options}
    yield from ((measure, {"threshold": "best"}) for measure in BEST)


def value(measure, y_true, y_score, options):
    """Value of a measure by its oracle; None where it has none."""
    options, function = dict(options), getattr(oracle, measure)
    if measure in VOLUMES:
        options["max_buffer"] = options.pop("buffer")
    if len(set(y_true)) < 2:
        return None
    if options.get("threshold") == "best":
        return oracle.best(function, y_true, y_score)[0]
    if options.get("threshold") == "sigma":
        del options["threshold"]
    found = function(y_true, y_score, **options)
    assert math.isfinite(found)
    return found


def identifier(name, measure, options):
    """Name of a check: the same for the same input, measure and options."""
    listed = ",".join(f"{key}={options[key]}" for key in sorted(options))
    return f"{name}/{measure}" + (f"/{listed}" if listed else "")


def suite():
    """Return the version, the inputs and the checks with their expected values."""
    found = {"version": VERSION, "inputs": [], "checks": []}
    for name, description, y_true, y_score in inputs():
        found["inputs"].append(
            {"name": name, "description": description, "y_true": y_true, "y_score": y_score}
        )
        for measure, options in calls(name, y_score):
            if measure == "precision_at_k" and options.get("k", 1) > len(y_score):
                continue
            found["checks"].append(
                {
                    "id": identifier(name, measure, options),
                    "input": name,
                    "measure": measure,
                    "options": options,
                    "expected": value(measure, y_true, y_score, options),
                }
            )
    return found
