"""Outcomes of tests: every one names its test, correction, alpha and n."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from vuskit.datasets.optional import require

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GlobalTest", "PairwiseTest", "RankIntervals"]


def _dropped(rows: int) -> str:
    """How many rows a test did without, if any, as a part of its description."""
    return f", {rows} {'row' if rows == 1 else 'rows'} dropped" if rows else ""


@dataclass(frozen=True)
class GlobalTest:
    """Whether the columns differ at all.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic, p_value : float
        Its outcome.
    effect_size : float
        Kendall's W: 0 where the rows rank the columns differently, 1 where all agree.
    alpha : float
        Level of significance.
    n : int
        Rows used.
    n_dropped : int
        Rows left out because a cell is missing.
    n_columns : int
        Columns compared.
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
    """Which columns differ from which.

    Attributes
    ----------
    test, correction : str
        Name of the test and of the correction for testing many pairs.
    p_values : pandas.DataFrame
        Corrected p-values, columns against columns; 1 on the diagonal.
    alpha : float
        Level of significance.
    n, n_dropped : int
        Rows used, and rows left out because a cell is missing.
    critical_difference : float or None
        Difference of mean ranks that is significant, where the test has one.
    raw_p_values : pandas.DataFrame or None
        P-values before the correction; None where the test has corrected ones only.
    smallest_p_value : float
        No table with as many rows and columns has a smaller corrected p-value.
    rows_needed : int or None
        Rows from which on a pair can be significant; None where no number is enough.
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
        """Whether there are rows enough for a significant pair, whatever the values."""
        return self.smallest_p_value < self.alpha

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: p-values without and with correction, and whether they differ."""
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


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Mean ranks (1 is best) with bootstrap confidence intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        Mean rank, lower and upper end by column, the best first.
    confidence : float
        Of each interval.
    n_resamples, seed, n, n_dropped : int
        Bootstrap samples, their seed, rows used and left out.
    """

    frame: pd.DataFrame
    confidence: float
    n_resamples: int
    seed: int
    n: int
    n_dropped: int

    def to_frame(self) -> pd.DataFrame:
        """Mean rank, lower and upper end by column, the best first."""
        return self.frame.copy()
