"""Areas under curves, and the two that look at points alone."""

import math

from oracle.points import hits, predictions, ratio
from oracle.runs import one_class


def trapezoid(heights, positions):
    """Area under the straight lines between the points."""
    return math.fsum(
        (positions[k] - positions[k - 1]) * (heights[k] + heights[k - 1]) / 2
        for k in range(1, len(positions))
    )


def stairs(heights, positions):
    """Area under the stairs whose step k has the height of its right end."""
    return math.fsum(
        (positions[k] - positions[k - 1]) * heights[k] for k in range(1, len(positions))
    )


PR_AREAS = {"step": stairs, "trapezoid": trapezoid}


def point_curve(labels, scores):
    """FPR, recall and precision at every distinct score, from high to low."""
    positives = sum(1 for label in labels if label)
    negatives = len(labels) - positives
    fpr, tpr, precisions = [], [], []
    for threshold in sorted(set(scores), reverse=True):
        predicted = predictions(scores, threshold, None)
        found = hits(labels, predicted)
        fpr.append((sum(predicted) - found) / negatives)
        tpr.append(found / positives)
        precisions.append(ratio(found, sum(predicted)))
    return fpr, tpr, precisions


def auc_roc(y_true, y_score):
    """Trapezoid under the ROC curve."""
    if one_class(y_true):
        return math.nan
    fpr, tpr, _ = point_curve(y_true, y_score)
    return trapezoid([0.0, *tpr], [0.0, *fpr])


def auc_pr(y_true, y_score, *, interpolation="step"):
    """Area under the precision-recall curve, which starts at recall 0 with precision 1."""
    if one_class(y_true):
        return math.nan
    _, tpr, precisions = point_curve(y_true, y_score)
    return PR_AREAS[interpolation]([1.0, *precisions], [0.0, *tpr])
