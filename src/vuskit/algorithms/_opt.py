"""VUS_opt: sum over dynamic sections only; recompute the prediction for every pair."""

from __future__ import annotations

from vuskit.algorithms._steps import (
    BoolArray,
    Problem,
    RangeRates,
    dynamic_part,
    rates,
    static_part,
)

__all__ = ["opt"]


def opt(problem: Problem) -> RangeRates:
    """Compute the rates in space O(N L + |T|).

    Time: O(N |T|) for the static part and O(N L D) for the D dynamic points. In addition, every
    pair of buffer and threshold compares the whole series with the threshold once.
    """

    def predict(column: int) -> BoolArray:
        pred: BoolArray = problem.scores >= problem.thresholds[column]
        if problem.counter is not None:
            problem.counter.touch(predict=pred)
        return pred

    sum_pred = static_part(problem, predict)
    return rates(problem, dynamic_part(problem, predict), sum_pred)
