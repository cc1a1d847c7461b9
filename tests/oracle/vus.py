"""Range-AUC and VUS: every threshold, every buffer and every point visited one by one."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from oracle.areas import PR_AREAS, trapezoid
from oracle.runs import events, one_class

# Which of the two ramps exist: (before an event, after it).
SIDES = {"both": (True, True), "before": (True, False), "after": (False, True)}


@dataclass(frozen=True)
class Ramps:
    """The ramps of a buffer: how far they reach before and after an event."""

    buffer: int
    before: int
    after: int

    @classmethod
    def of(cls, buffer, side):
        half = buffer // 2
        has_before, has_after = SIDES[side]
        return cls(buffer, half if has_before else 0, half if has_after else 0)


# --- soft labels ---------------------------------------------------------------------------------


def touched(i, runs, before, after):
    """Distances at which point i touches events: at most `before` ahead or `after` behind them."""
    distances = []
    for start, stop in runs:
        if 1 <= start - i <= before:
            distances.append(start - i)
        if 1 <= i - (stop - 1) <= after:
            distances.append(i - (stop - 1))
    return distances


def root_weight(distance, ramps):
    return math.sqrt(1 - distance / ramps.buffer)


def linear_weight(distance, ramps):
    return 1 - (1 - math.sqrt(0.5)) * distance / (ramps.buffer // 2)


def capped_sum(weights):
    return min(1.0, sum(weights))


def highest(weights):
    return max(weights, default=0.0)


def journal_label(i, runs, ramps):
    distances = touched(i, runs, ramps.before, ramps.after)
    return capped_sum(root_weight(d, ramps) for d in distances)


def pvldb2022_label(i, runs, ramps):
    distances = touched(i, runs, ramps.before, ramps.after - 1)  # one point shorter behind
    return capped_sum(root_weight(d, ramps) for d in distances)


def timeeval_label(i, runs, ramps):
    distances = touched(i, runs, ramps.before, ramps.after)
    return highest(linear_weight(d, ramps) for d in distances)


# --- the positives that recall and FPR are measured against --------------------------------------


def positives_by_prediction(anomalous, predicted_buffer, whole_buffer):
    """P' where a soft label counts only at predicted points."""
    return anomalous + predicted_buffer / 2


def positives_fixed(anomalous, predicted_buffer, whole_buffer):
    """P' whatever is predicted: the mean of the labels' and the soft labels' sums."""
    return (anomalous + (anomalous + whole_buffer)) / 2


# --- what must hold a predicted point to exist ---------------------------------------------------


def merged_buffered_events(runs, ramps, soft):
    """Points of each buffered event; neighbours that share a point are one."""
    merged = []
    for start, stop in runs:
        start, stop = start - ramps.before, stop + ramps.after
        if merged and merged[-1][1] - 1 >= start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    n = len(soft)
    return [range(max(start, 0), min(stop, n)) for start, stop in merged]


def soft_label_runs(runs, ramps, soft):
    """Points of each run of non-zero soft labels."""
    return [range(start, stop) for start, stop in events(soft)]


def events_apart(runs, ramps, soft):
    """Points with a soft label around each event, one past its ramp included.

    The point past the end counts also where there is no ramp after events: TimeEval itself looks at
    it when its buffer is empty.
    """
    n = len(soft)
    groups = []
    for start, stop in runs:
        near = range(max(start - ramps.before, 0), min(stop + ramps.after + 1, n))
        groups.append([i for i in near if soft[i] > 0])
    return groups


# --- the definitions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Definition:
    """The four choices in which the published versions differ."""

    buffer_label: Callable
    positives: Callable
    groups: Callable
    pr_area: Callable


DEFINITIONS = {
    "journal": Definition(
        journal_label, positives_by_prediction, merged_buffered_events, PR_AREAS["step"]
    ),
    "pvldb2022": Definition(
        pvldb2022_label, positives_fixed, soft_label_runs, PR_AREAS["trapezoid"]
    ),
    "timeeval": Definition(timeeval_label, positives_fixed, events_apart, PR_AREAS["trapezoid"]),
}


def soft_labels(labels, buffer, *, definition="journal", side="both"):
    """1 inside events, the ramps' weight beside them, 0 elsewhere."""
    runs = events(labels)
    ramps = Ramps.of(buffer, side)
    label_of = DEFINITIONS[definition].buffer_label
    return [1.0 if inside else label_of(i, runs, ramps) for i, inside in enumerate(labels)]


def threshold_values(scores, thresholds):
    """Thresholds from high to low: every distinct score, or N of them at evenly spaced ranks."""
    if thresholds is None:
        return sorted(set(scores), reverse=True)
    descending = sorted(scores, reverse=True)
    last = len(scores) - 1
    gap = last / (thresholds - 1)
    ranks = [int(k * gap) for k in range(thresholds - 1)] + [last]
    return [descending[rank] for rank in ranks]


def curve(labels, scores, buffer, *, thresholds=None, definition="journal", side="both"):
    """FPR, TPR and precision at each threshold, from high to low (without added end points)."""
    rules = DEFINITIONS[definition]
    runs = events(labels)
    soft = soft_labels(labels, buffer, definition=definition, side=side)
    groups = rules.groups(runs, Ramps.of(buffer, side), soft)
    anomalous = sum(1 for label in labels if label)
    whole_buffer = math.fsum(s for s, label in zip(soft, labels, strict=True) if not label)
    n = len(labels)

    def at(threshold):
        predicted_points = inside = 0
        outside = 0.0
        for i in range(n):
            if scores[i] >= threshold:
                predicted_points += 1
                if labels[i]:
                    inside += 1
                else:
                    outside += soft[i]
        found = sum(1 for group in groups if any(scores[i] >= threshold for i in group))
        true_positives = inside + outside
        positives = rules.positives(anomalous, outside, whole_buffer)
        fpr = min((predicted_points - true_positives) / (n - positives), 1.0)
        tpr = min(true_positives / positives, 1.0) * found / len(groups)
        return fpr, tpr, true_positives / predicted_points

    values = threshold_values(scores, thresholds)
    points = {threshold: at(threshold) for threshold in set(values)}
    fpr, tpr, precision = zip(*(points[threshold] for threshold in values), strict=True)
    return list(fpr), list(tpr), list(precision)


# --- areas and volumes ---------------------------------------------------------------------------


def range_auc_roc(y_true, y_score, *, buffer, thresholds=None, definition="journal", side="both"):
    """Trapezoid under the range ROC curve from (0, 0) to (1, 1)."""
    if one_class(y_true):
        return math.nan
    options = {"thresholds": thresholds, "definition": definition, "side": side}
    fpr, tpr, _ = curve(y_true, y_score, buffer, **options)
    return trapezoid([0.0, *tpr, 1.0], [0.0, *fpr, 1.0])


def range_auc_pr(y_true, y_score, *, buffer, thresholds=None, definition="journal", side="both"):
    """Area under the range precision-recall curve from recall 0."""
    if one_class(y_true):
        return math.nan
    options = {"thresholds": thresholds, "definition": definition, "side": side}
    _, tpr, precision = curve(y_true, y_score, buffer, **options)
    return DEFINITIONS[definition].pr_area([1.0, *precision], [0.0, *tpr])


def mean_over_buffers(measure, y_true, y_score, max_buffer, step, options):
    values = [
        measure(y_true, y_score, buffer=buffer, **options)
        for buffer in range(0, max_buffer + 1, step)
    ]
    return math.fsum(values) / len(values)


def vus_roc(
    y_true, y_score, *, max_buffer, thresholds=None, definition="journal", step=1, side="both"
):
    """Mean of R-AUC-ROC over the buffers 0, step, 2 * step, ... up to `max_buffer`."""
    options = {"thresholds": thresholds, "definition": definition, "side": side}
    return mean_over_buffers(range_auc_roc, y_true, y_score, max_buffer, step, options)


def vus_pr(
    y_true, y_score, *, max_buffer, thresholds=None, definition="journal", step=1, side="both"
):
    """Mean of R-AUC-PR over the buffers 0, step, 2 * step, ... up to `max_buffer`."""
    options = {"thresholds": thresholds, "definition": definition, "side": side}
    return mean_over_buffers(range_auc_pr, y_true, y_score, max_buffer, step, options)
