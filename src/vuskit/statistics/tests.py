"""Mean ranks, and Friedman's, Nemenyi's and Wilcoxon's tests for tables of results.

The distributions come from SciPy. This module adds the treatment of missing cells, the direction of
ranks, corrections for several pairs, and results that name their test, correction, alpha and n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction, check_int

if TYPE_CHECKING:
    import pandas as pd


def _dropped(rows: int) -> str:
    """Number of dropped rows, if any, for the description of a test."""
    return f", {rows} {'row' if rows == 1 else 'rows'} dropped" if rows else ""


@dataclass(frozen=True)
class GlobalTest:
    """Result of a test whether any columns differ.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic, p_value : float
        Outcome of the test.
    effect_size : float
        Kendall's W: 0 if the rows rank the columns differently, 1 if all rows agree.
    alpha : float
        Significance level.
    n : int
        Number of rows used.
    n_dropped : int
        Number of rows dropped because a cell is missing.
    n_columns : int
        Number of columns compared.
    """

    test: str
    statistic: float
    p_value: float
    effect_size: float
    alpha: float
    n: int
    n_dropped: int
    n_columns: int

    @property
    def significant(self) -> bool:
        """Whether the p-value is below alpha."""
        return self.p_value < self.alpha

    def __str__(self) -> str:
        dropped = _dropped(self.n_dropped)
        return (
            f"{self.test}: statistic {self.statistic:.4g}, p = {self.p_value:.3g}, "
            f"W = {self.effect_size:.3f} (alpha = {self.alpha:g}, n = {self.n}{dropped}, "
            f"{self.n_columns} columns){'' if self.significant else '; not significant'}"
        )


@dataclass(frozen=True, eq=False)
class PairwiseTest:
    """Result of a test which pairs of columns differ.

    Attributes
    ----------
    test, correction : str
        Name of the test, and of its correction for multiple comparisons.
    p_values : pandas.DataFrame
        Corrected p-values, columns against columns; 1 on the diagonal.
    alpha : float
        Significance level.
    n, n_dropped : int
        Number of rows used, and of rows dropped because a cell is missing.
    critical_difference : float or None
        Smallest significant difference of mean ranks; None if the test has none.
    raw_p_values : pandas.DataFrame or None
        Uncorrected p-values; None if the test has only corrected ones.
    smallest_p_value : float
        Smallest corrected p-value that a table of this size can have.
    rows_needed : int or None
        Minimum number of rows for a significant pair; None if no number suffices.
    """

    test: str
    correction: str
    p_values: pd.DataFrame
    alpha: float
    n: int
    n_dropped: int
    critical_difference: float | None = None
    raw_p_values: pd.DataFrame | None = None
    smallest_p_value: float = 0.0
    rows_needed: int | None = None

    @property
    def can_be_significant(self) -> bool:
        """Whether there are enough rows for a significant pair."""
        return self.smallest_p_value < self.alpha

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: raw and corrected p-values, and significance."""
        pandas = require("pandas", purpose="to_frame()")
        raw, corrected = self.raw_p_values, self.p_values
        rows = [
            (a, b, float("nan") if raw is None else raw.loc[a, b], corrected.loc[a, b])
            for a, b in combinations(corrected.columns, 2)
        ]
        names = ["first", "second", "p_raw", "p_adjusted"]
        frame: pd.DataFrame = pandas.DataFrame(rows, columns=names)
        return frame.assign(significant=frame["p_adjusted"] < self.alpha)

    def __str__(self) -> str:
        dropped = _dropped(self.n_dropped)
        return (
            f"{self.test}, correction: {self.correction} "
            f"(alpha = {self.alpha:g}, n = {self.n}{dropped}){self._too_few}"
        )

    @property
    def _too_few(self) -> str:
        if self.can_be_significant:
            return ""
        needed = "" if self.rows_needed is None else f" (needs n >= {self.rows_needed:,})"
        return f"; n too small: no pair can be significant{needed}"


Values = NDArray[np.float64]


_FEWEST_FOR_FRIEDMAN = 3
_MANY_ROWS = range(1, 1000)  # 2.0 ** (1 - n) does not underflow
_FEW_FOR_ALL_SIGNS = 13  # SciPy's limit; above it SciPy uses the normal approximation
_CORRECTIONS = ("holm", "bonferroni", "fdr_bh")


def friedman_test(
    table: ArrayLike | pd.DataFrame,
    *,
    alpha: float = 0.05,
    missing: str = "drop",
    higher_is_better: bool = True,
) -> GlobalTest:
    """Friedman's test, corrected for ties, with Kendall's W.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`, or if there are fewer than three columns.

    Examples
    --------
    >>> rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.5, 0.3]]
    >>> print(friedman_test(rows))
    Friedman: statistic 6, p = 0.0498, W = 1.000 (alpha = 0.05, n = 3, 3 columns)
    """
    check_fraction("alpha", alpha)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    n, k = complete.shape
    if k < _FEWEST_FOR_FRIEDMAN:
        raise InvalidInputError(
            f"`table` must have at least {_FEWEST_FOR_FRIEDMAN} columns for Friedman's test, "
            f"got {k}; compare two columns by a pairwise test"
        )
    stats = require("scipy.stats", purpose="Friedman's test")
    if not np.ptp(complete.to_numpy(), axis=1).any():
        statistic, p_value = 0.0, 1.0  # if all are tied, the correction would divide by zero
    else:
        outcome = stats.friedmanchisquare(*complete.to_numpy().T)
        statistic, p_value = float(outcome.statistic), float(outcome.pvalue)
    return GlobalTest(
        "Friedman", statistic, p_value, statistic / (n * (k - 1)), alpha, n, dropped, k
    )


def nemenyi_test(
    table: ArrayLike | pd.DataFrame,
    *,
    alpha: float = 0.05,
    missing: str = "drop",
    higher_is_better: bool = True,
) -> PairwiseTest:
    """Nemenyi's post-hoc test of all pairs, with the critical difference.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.5, 0.3]]
    >>> round(nemenyi_test(rows).critical_difference, 3)
    1.914
    """
    check_fraction("alpha", alpha)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    pandas = require("pandas", purpose="Nemenyi's test")
    stats = require("scipy.stats", purpose="Nemenyi's test")
    n, k = complete.shape
    ranks = stats.rankdata(complete.to_numpy(), axis=1).mean(axis=0)
    distances = np.abs(ranks[:, None] - ranks) / np.sqrt(k * (k + 1.0) / (6.0 * n)) * np.sqrt(2.0)
    p_values = stats.studentized_range.sf(distances, k, np.inf)
    np.fill_diagonal(p_values, 1.0)
    quantile = float(stats.studentized_range.ppf(1 - alpha, k, np.inf))
    error = np.sqrt(k * (k + 1) / (12 * n))
    # Mean ranks differ by at most k - 1: one column is first and another last in every row.
    smallest = float(stats.studentized_range.sf((k - 1) / error, k, np.inf))
    needed = quantile**2 * k * (k + 1) / (12 * (k - 1) ** 2)
    return PairwiseTest(
        "Nemenyi",
        "family-wise",
        _named(pandas.DataFrame(p_values), complete),
        alpha,
        n,
        dropped,
        critical_difference=float(quantile * error),
        smallest_p_value=smallest,
        rows_needed=math.floor(needed) + 1 if math.isfinite(needed) else None,
    )


def wilcoxon_test(
    table: ArrayLike | pd.DataFrame,
    *,
    alpha: float = 0.05,
    correction: str = "holm",
    zero_method: str = "wilcox",
    missing: str = "drop",
    higher_is_better: bool = True,
) -> PairwiseTest:
    """Wilcoxon's signed-rank test of all pairs, corrected for multiple comparisons.

    Parameters
    ----------
    table, missing, higher_is_better
        As for :func:`complete_rows`.
    alpha : float, default=0.05
        Significance level.
    correction : {"holm", "bonferroni", "fdr_bh"}, default="holm"
        Correction for several pairs: Holm and Bonferroni bound the family-wise error rate,
        Benjamini-Hochberg (``"fdr_bh"``) the false discovery rate.
    zero_method : str, default="wilcox"
        Treatment of zero differences by ``scipy.stats.wilcoxon``.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> rows = [[0.9, 0.5], [0.8, 0.6], [0.7, 0.4], [0.9, 0.1], [0.6, 0.5], [0.8, 0.3]]
    >>> test = wilcoxon_test(rows)
    >>> round(float(test.p_values.loc[0, 1]), 5), test.correction, test.n
    (0.03125, 'holm', 6)
    """
    check_fraction("alpha", alpha)
    check_choice("correction", correction, _CORRECTIONS)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    columns = complete.to_numpy().T
    pairs = list(combinations(range(len(columns)), 2))
    firsts, seconds = np.array(pairs).T
    raw = _signed_rank_p_values(columns[firsts], columns[seconds], zero_method)
    uncorrected, corrected = np.ones((2, len(columns), len(columns)))
    for matrix, found in ((uncorrected, raw), (corrected, _corrected(raw, correction))):
        matrix[firsts, seconds] = matrix[seconds, firsts] = found
    pandas = require("pandas", purpose="Wilcoxon's test")
    n = len(complete)
    return PairwiseTest(
        "Wilcoxon signed-rank",
        correction,
        _named(pandas.DataFrame(corrected), complete),
        alpha,
        n,
        dropped,
        raw_p_values=_named(pandas.DataFrame(uncorrected), complete),
        smallest_p_value=_smallest_p_value(n, len(pairs), correction),
        rows_needed=_rows_needed(alpha, len(pairs), correction),
    )


def _smallest_p_value(n: int, n_pairs: int, correction: str) -> float:
    """Smallest possible corrected p-value: in all pairs, all differences have the same sign."""
    return float(_corrected(np.full(n_pairs, 2.0 ** (1 - n)), correction).min())


def _rows_needed(alpha: float, n_pairs: int, correction: str) -> int | None:
    """Minimum number of rows for a corrected p-value below alpha."""
    enough = (n for n in _MANY_ROWS if _smallest_p_value(n, n_pairs, correction) < alpha)
    return next(enough, None)


def _corrected(p_values: Values, method: str) -> Values:
    """Return p-values corrected for multiple comparisons."""
    if method == "bonferroni":
        return np.minimum(p_values * len(p_values), 1.0)
    if method == "fdr_bh":
        stats = require("scipy.stats", purpose="Wilcoxon's test")
        return np.asarray(stats.false_discovery_control(p_values))
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def _signed_rank_p_values(one: Values, other: Values, zero_method: str) -> Values:
    """Return two-sided p-values of pairs of rows, equal to those of ``scipy.stats.wilcoxon``.

    One call for many pairs is fifty times as fast as one call per pair. But SciPy then chooses one
    method for all pairs, so pairs with ties and pairs without are tested separately.
    """
    stats = require("scipy.stats", purpose="Wilcoxon's test")
    differences = without_noise(one - other)
    sizes = np.sort(np.abs(differences), axis=1)
    equal = sizes[:, -1] == 0
    tied = (sizes[:, 0] == 0) | (np.diff(sizes, axis=1) == 0).any(axis=1)
    few = differences.shape[1] <= _FEW_FOR_ALL_SIGNS and zero_method == "wilcox"
    p_values = np.ones(len(differences))  # stays 1 for equal columns
    for group in (~equal & ~tied, ~equal & tied):
        if few and bool(tied[group].any()):
            p_values[group] = [_exact_p_value(row) for row in differences[group]]
        elif group.any():
            p_values[group] = stats.wilcoxon(
                differences[group], zero_method=zero_method, axis=1
            ).pvalue
    return p_values


def _exact_p_value(differences: Values) -> float:
    """Return the exact p-value over all signs of a few differences, some of them tied.

    SciPy enumerates the signs one by one, which takes a tenth of a second for twelve differences.
    One matrix product gives the same distribution.
    """
    stats = require("scipy.stats", purpose="Wilcoxon's test")
    kept = differences[differences != 0]
    ranks = stats.rankdata(np.abs(kept))
    signs = np.arange(2**kept.size)[:, None] >> np.arange(kept.size) & 1
    sums, found = signs @ ranks, ranks[kept > 0].sum()
    # Sums of ranks are multiples of 0.5, so sums that differ by less than 0.25 are equal.
    below, above = (sums < found + 0.25).mean(), (sums > found - 0.25).mean()
    return float(min(1.0, 2 * min(below, above)))


def _named(matrix: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    return matrix.set_axis(table.columns, axis=0).set_axis(table.columns, axis=1)


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


_FEWEST_ROWS = 2
_DIGITS = 12
_MOST_DECIMALS = 290  # larger powers of ten overflow


def without_noise(values: Values, *, alone: bool = False) -> Values:
    """Round a table so that values which differ only by rounding errors are tied.

    Values keep twelve significant digits. For values below the scale of the table, the digits are
    counted from that scale, so that rounding errors around zero become zero. The scale is the
    median of the largest absolute values of the rows; ``alone`` scales each row by its own.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    largest = sizes.max(axis=1, initial=0.0, keepdims=True)
    scale: Any = np.where(largest > 0, largest, 1.0)
    if not alone and largest.any():
        # The median ignores rows that are zero or far larger than the others.
        scale = np.quantile(largest[largest > 0], 0.5, method="lower")
    magnitude = np.floor(np.log10(np.maximum(sizes, scale)))
    factor = 10.0 ** np.minimum(_DIGITS - 1 - magnitude, _MOST_DECIMALS)
    rounded: Values = np.rint(values * factor) / factor + 0.0  # turns -0.0 into 0.0
    return rounded


def _as_table(table: ArrayLike | pd.DataFrame) -> pd.DataFrame:
    pandas = require("pandas", purpose="a comparison")
    frame = pandas.DataFrame(table)
    try:
        frame = frame.astype(float)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`table` must hold numbers only, got {error}") from None
    if frame.shape[1] < 2:
        raise InvalidInputError(f"`table` must have at least 2 columns, got {frame.shape[1]}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInputError(f"`table` must name each column once, got {twice!r} twice")
    if np.isinf(frame.to_numpy()).any():
        raise InvalidInputError(
            "`table` must be finite or missing, got an infinite cell; replace it by NaN"
        )
    rounded = without_noise(frame.to_numpy())
    checked: pd.DataFrame = pandas.DataFrame(rounded, frame.index, frame.columns)
    return checked


def _drop(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    return frame.dropna()


def _rank_last(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    # Worse than every value of the row, so that missing cells come last and tie.
    extreme = frame.min(axis=1) - 1 if higher_is_better else frame.max(axis=1) + 1
    return frame.T.fillna(extreme).T.dropna()


def _refuse(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    missing = frame.isna().to_numpy()
    if missing.any():
        row, column = (int(axis[0]) for axis in np.nonzero(missing))
        raise InvalidInputError(
            f"`table` must have no missing cell, got one in row {frame.index[row]!r}, "
            f"column {frame.columns[column]!r}; use missing='drop' or missing='worst'"
        )
    return frame


_MISSING: Mapping[str, Callable[[pd.DataFrame, bool], pd.DataFrame]] = {
    "drop": _drop,
    "worst": _rank_last,
    "raise": _refuse,
}


def complete_rows(
    table: ArrayLike | pd.DataFrame, *, missing: str = "drop", higher_is_better: bool = True
) -> tuple[pd.DataFrame, int]:
    """Return the table without missing cells, and the number of dropped rows.

    Cells are rounded to twelve significant digits, so that rounding errors do not break ties.

    See Also
    --------
    without_noise : Details of the rounding.

    Examples
    --------
    >>> frame, dropped = complete_rows([[1.0, 2.0], [3.0, float("nan")], [5.0, 4.0]])
    >>> frame.shape, dropped
    ((2, 2), 1)
    """
    frame = _as_table(table)
    policy = _MISSING[check_choice("missing", missing, _MISSING)]
    complete = policy(frame, higher_is_better)
    if len(complete) < _FEWEST_ROWS:
        raise InvalidInputError(
            f"`table` must have at least {_FEWEST_ROWS} rows without a missing cell, "
            f"got {len(complete)} of {len(frame)}{_values_per_column(frame)}"
        )
    return complete, len(frame) - len(complete)


def _values_per_column(frame: pd.DataFrame) -> str:
    counts = frame.notna().sum()
    if counts.eq(len(frame)).all():
        return ""
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"; values per column: {listed}. Leave out a column, or use missing='worst'"


def row_ranks(complete: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Rank of each cell within its row; 1 is best, and ties get their mean rank."""
    return complete.rank(axis=1, ascending=not higher_is_better)


def mean_ranks(
    table: ArrayLike | pd.DataFrame, *, higher_is_better: bool = True, missing: str = "drop"
) -> pd.Series:
    """Mean rank of each column over the rows; 1 is best, and ties get their mean rank.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.5, 0.1], [0.8, 0.8, 0.2]]).to_list()
    [1.25, 1.75, 3.0]
    """
    complete, _ = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    ranks: pd.Series = row_ranks(complete, higher_is_better).mean()
    return ranks
