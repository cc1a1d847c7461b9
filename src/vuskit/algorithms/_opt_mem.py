"""VUS_opt^mem: like VUS_opt, but store the predictions of every threshold."""

from __future__ import annotations

import numpy as np

from vuskit.algorithms._steps import (
    BoolArray,
    Problem,
    RangeRates,
    dynamic_part,
    rates,
    static_part,
)
from vuskit.errors import InvalidInputError

__all__ = ["opt_mem"]


def opt_mem(problem: Problem) -> RangeRates:
    """Compute the rates in time O(N (|T| + L D)) for D dynamic points, space O(N (L + |T|)).

    Raises
    ------
    InvalidInputError
        If the stored predictions would exceed the memory limit.
    """
    pred_th = _store(problem)

    def stored(column: int) -> BoolArray:
        row: BoolArray = pred_th[column]
        return row

    sum_pred = static_part(problem, stored)
    return rates(problem, dynamic_part(problem, stored), sum_pred)


def _store(problem: Problem) -> BoolArray:
    """Return ``Pred_Th``: one row of predictions for each threshold."""
    n, n_thresholds = problem.scores.size, problem.thresholds.size
    needed = n * n_thresholds * np.dtype(np.bool_).itemsize
    if needed > problem.memory_limit:
        raise InvalidInputError(
            f"`memory_limit` must be at least {needed} bytes for algorithm 'opt_mem', which "
            f"stores {n_thresholds} predictions of {n} points, got {problem.memory_limit}; raise "
            "it, or use algorithm='opt'"
        )
    pred_th = np.empty((n_thresholds, n), dtype=np.bool_)
    for column, threshold in enumerate(problem.thresholds):
        np.greater_equal(problem.scores, threshold, out=pred_th[column])
        if problem.counter is not None:
            problem.counter.touch(predict=pred_th[column])
    return pred_th
