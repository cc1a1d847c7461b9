"""VUS, the naive algorithm: full passes over the series for every buffer and threshold."""

from __future__ import annotations

import numpy as np

from vuskit.algorithms._steps import (
    Counts,
    Events,
    Problem,
    RangeRates,
    anomaly_index,
    create_label,
    rates,
)

__all__ = ["naive"]


def naive(problem: Problem) -> RangeRates:
    """Compute the rates directly from the definition: time O(N L |T|), space O(N L + |T|)."""
    labels, scores, counter = problem.labels, problem.scores, problem.counter
    events = Events.of(labels)
    counts = Counts(problem)
    sum_pred = np.empty(problem.thresholds.size, dtype=np.intp)
    for row, buffer in enumerate(problem.buffers):
        label_l = create_label(events, buffer)
        seq = anomaly_index(events, buffer)
        if counter is not None:
            counter.touch(create_label=label_l)
        for column, threshold in enumerate(problem.thresholds):
            pred = scores >= threshold
            label_thres = np.where(labels | pred, label_l, 0.0)
            product = label_thres * pred
            sum_pred[column] = np.count_nonzero(pred)
            counts.sum_label[row, column] = label_thres.sum()
            counts.tp[row, column] = product.sum()
            counts.existence[row, column] = seq.hit(product)
            if counter is not None:
                counter.touch(predict=pred, sum_pred=pred, change_label=label_thres)
                counter.touch(product=product, sum_label=label_thres, tp=product)
                counter.touch(existence=seq.points)
    return rates(problem, counts, sum_pred)
