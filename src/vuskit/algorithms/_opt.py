"""VUS_opt: sums over dynamic sections only; predictions are made anew for each pair."""

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

    Time: O(N |T|) for the static part, O(N L D) for the D dynamic points, and N L
    comparisons of the whole series, the one full pass that is left for each pair.
    """

    def predict(column: int) -> BoolArray:
        pred: BoolArray = problem.scores >= problem.thresholds[column]
        if problem.counter is not None:
            problem.counter.touch(predict=pred)
        return pred

    sum_pred = static_part(problem, predict)
    return rates(problem, dynamic_part(problem, predict), sum_pred)
