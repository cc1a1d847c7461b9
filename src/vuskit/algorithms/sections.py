"""The dynamic part of VUS_opt and VUS_opt^mem: only sections that a buffer can reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vuskit.algorithms.problem import BoolArray, Problem
from vuskit.algorithms.steps import Counts, Events, anomaly_index, create_label

__all__ = ["dynamic_part", "static_part"]


def static_part(problem: Problem, predict: Callable[[int], BoolArray]) -> NDArray[np.intp]:
    """``SumPred`` of each threshold: it does not depend on the buffer length."""
    sum_pred = np.empty(problem.thresholds.size, dtype=np.intp)
    for column in range(problem.thresholds.size):
        pred = predict(column)
        sum_pred[column] = np.count_nonzero(pred)
        if problem.counter is not None:
            problem.counter.touch(sum_pred=pred)
    return sum_pred


def dynamic_part(problem: Problem, predict: Callable[[int], BoolArray]) -> Counts:
    """Everything that does depend on it, within the dynamic sections ``seq_L`` alone.

    Outside of them every soft label is 0 at every length, so nothing there adds to
    ``TP_l``, ``SumLabel`` or ``Existence``.
    """
    counter = problem.counter
    events = Events.of(problem.labels)
    seq_max = anomaly_index(events, max(problem.buffers))
    dynamic = seq_max.points
    anomalous = problem.labels[dynamic]
    # No ramp leaves its section, so the sections can be laid end to end as one short series.
    events = events.within(seq_max)
    counts = Counts(problem)
    for row, buffer in enumerate(problem.buffers):
        label_l = create_label(events, buffer)
        seq = anomaly_index(events, buffer)
        if counter is not None:
            counter.touch(create_label=label_l)
        for column in range(problem.thresholds.size):
            pred = predict(column)[dynamic]
            label_thres = np.where(anomalous | pred, label_l, 0.0)
            product = label_thres * pred
            counts.sum_label[row, column] = label_thres.sum()
            counts.tp[row, column] = product.sum()
            counts.existence[row, column] = seq.hit(product)
            if counter is not None:
                counter.touch(select=pred, change_label=label_thres, product=product)
                counter.touch(sum_label=label_thres, tp=product, existence=seq.points)
    return counts
