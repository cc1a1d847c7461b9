"""Mean ranks: bootstrap intervals, and groups of columns that do not differ significantly."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.inputs import check_fraction, check_int
from vuskit.statistics.tables import complete_rows, row_ranks

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 200  # resamples held in memory at a time


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Mean ranks (1 is best) with bootstrap confidence intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        Mean rank, lower and upper bound by column, best rank first.
    confidence : float
        Confidence level of each interval.
    n_resamples, seed, n, n_dropped : int
        Number of bootstrap samples, their seed, rows used and rows dropped.
    """

    frame: pd.DataFrame
    confidence: float
    n_resamples: int
    seed: int
    n: int
    n_dropped: int

    def to_frame(self) -> pd.DataFrame:
        """Mean rank, lower and upper bound by column, best rank first."""
        return self.frame.copy()


def rank_intervals(
    table: ArrayLike | pd.DataFrame,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    missing: str = "drop",
    higher_is_better: bool = True,
) -> RankIntervals:
    """Return bootstrap percentile intervals of the mean ranks; whole rows are resampled.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`, or if a number is out of range.

    Examples
    --------
    >>> rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.4, 0.5, 0.3]]
    >>> rank_intervals(rows).to_frame().round(2).loc[2].to_list()
    [3.0, 3.0, 3.0]
    """
    check_fraction("confidence", confidence)
    check_int("n_resamples", n_resamples, minimum=1)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    ranks = row_ranks(complete, higher_is_better)
    stats = require("scipy.stats", purpose="a confidence interval")
    found = stats.bootstrap(
        (ranks.to_numpy(),),
        np.mean,
        axis=0,
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        n_resamples=n_resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    pandas = require("pandas", purpose="a confidence interval")
    frame = pandas.DataFrame(
        {"mean_rank": ranks.mean(), "lower": found.low, "upper": found.high}, index=ranks.columns
    ).sort_values("mean_rank", kind="stable")
    return RankIntervals(frame, confidence, n_resamples, seed, len(complete), dropped)


def mean_intervals(
    table: ArrayLike, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bootstrap percentile interval of the mean of each column; rows are resampled.

    All columns use the same resamples.
    """
    values = np.asarray(table, dtype=np.float64)
    n = len(values)
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(counts @ values / n, [tail, 1 - tail], axis=0)
    return lower, upper


def rank_groups(
    ranks: Mapping[Hashable, float] | pd.Series, p_values: pd.DataFrame, *, alpha: float = 0.05
) -> tuple[tuple[Hashable, ...], ...]:
    """Return the longest ranges of mean ranks within which no pair differs significantly.

    A group contains every name between its first and its last member, so that one bar can join
    them. Two names that do not differ share no group if any pair in the range between them differs;
    look up such pairs in the p-values. Names with the same mean rank are always grouped together.

    Parameters
    ----------
    ranks : mapping or pandas.Series
        Mean rank by name.
    p_values : pandas.DataFrame
        P-value of each pair, names against names.
    alpha : float, default=0.05
        Pairs with a p-value below it differ.

    Returns
    -------
    tuple of tuples
        Groups of two or more names, each ordered by rank, best group first. No group is part of
        another.

    Examples
    --------
    >>> import pandas as pd
    >>> p = pd.DataFrame([[1, 0.5, 0.01], [0.5, 1, 0.3], [0.01, 0.3, 1]], list("abc"), list("abc"))
    >>> rank_groups({"a": 1.2, "b": 1.9, "c": 2.9}, p)
    (('a', 'b'), ('b', 'c'))

    Here a and c do not differ, but b lies between them and differs from c:

    >>> p = pd.DataFrame([[1, 0.5, 0.2], [0.5, 1, 0.01], [0.2, 0.01, 1]], list("abc"), list("abc"))
    >>> rank_groups({"a": 1.2, "b": 1.9, "c": 2.9}, p)
    (('a', 'b'),)
    """
    place = {name: float(rank) for name, rank in dict(ranks).items()}
    order = sorted(place, key=lambda name: place[name])
    levels = [list(names) for _, names in groupby(order, key=lambda name: place[name])]
    cells = p_values.T.to_dict()
    groups: list[tuple[Hashable, ...]] = []
    furthest = 0
    for start in range(len(levels)):
        group: list[Hashable] = []
        stop = start
        while stop < len(levels) and _none_differs(cells, group, levels[stop], alpha):
            group += levels[stop]
            stop += 1
        # A group that ends where an earlier one ends is part of it.
        if stop > furthest and len(group) > 1:
            groups.append(tuple(group))
        furthest = max(furthest, stop)
    return tuple(groups)


def _none_differs(
    cells: Mapping[Hashable, Mapping[Hashable, float]],
    group: list[Hashable],
    more: list[Hashable],
    alpha: float,
) -> bool:
    """Whether names can join a group: they differ neither from it nor from each other."""
    return not any(
        cells[name][other] < alpha
        for place, name in enumerate(more)
        for other in [*group, *more[:place]]
    )
