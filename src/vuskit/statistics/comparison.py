"""Comparison of the columns of a table of results: detectors or measures over series."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit._util.text import plural
from vuskit.bench.means import common_series
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    CriticalDifferenceDisplay,
    ForestDisplay,
    ForestPanel,
    MultiComparisonMatrixDisplay,
)
from vuskit.figures.critical_difference import BARS
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure, list_measures
from vuskit.statistics.bayes import ROPE, BayesianTest, bayesian_signed_rank_test
from vuskit.statistics.tests import (
    GlobalTest,
    PairwiseTest,
    complete_rows,
    friedman_test,
    mean_intervals,
    nemenyi_test,
    rank_groups,
    rank_intervals,
    wilcoxon_test,
    without_noise,
)

if TYPE_CHECKING:
    import pandas as pd

_TESTS: dict[str, Callable[..., PairwiseTest]] = {
    "wilcoxon": wilcoxon_test,
    "nemenyi": nemenyi_test,
}
_FEWEST_FOR_FRIEDMAN = 3
_MOST_UNJOINED = 12


@dataclass(frozen=True, eq=False)
class TableComparison(TableForms):
    """Comparison of the columns of a table.

    Attributes
    ----------
    title : str
        Name of the values.
    higher_is_better : bool
        Whether high values are better.
    table : pandas.DataFrame
        The rows that were used.
    summary : pandas.DataFrame
        Mean, median, mean rank and its confidence interval by column, best rank first.
    n_means : int
        Number of rows that mean and median use: those on which all columns have a value. Columns
        without any value are ignored.
    global_test : GlobalTest or None
        Friedman's test; None for two columns, where the pairwise test is enough.
    pairs : PairwiseTest
        Test of all pairs.
    groups : tuple of tuples
        Groups of columns that are adjacent in mean rank and do not differ significantly: the bars
        of a diagram. See :func:`~vuskit.statistics.rank_groups`. Empty if Friedman's test is not
        significant: then no pair counts as different.
    """

    title: str
    higher_is_better: bool
    table: pd.DataFrame
    summary: pd.DataFrame
    n_means: int
    global_test: GlobalTest | None
    pairs: PairwiseTest
    groups: tuple[tuple[Hashable, ...], ...]

    def to_frame(self) -> pd.DataFrame:
        """Mean, median, mean rank and its confidence interval, best rank first."""
        return self.summary.reset_index()

    @property
    def _layout(self) -> TableLayout:
        frame = self.to_frame()
        best = f"{frame['mean_rank'].min():.2f}"
        rows: list[list[str | Cell]] = []
        for row in frame.itertuples(index=False):
            rank = f"{row.mean_rank:.2f}"
            numbers = ["" if math.isnan(one) else f"{one:.3f}" for one in (row.mean, row.median)]
            interval = f"{row.lower:.2f} to {row.upper:.2f}"
            rows.append([str(row.name), *numbers, Cell(rank, bold=rank == best), interval])
        direction = "higher" if self.higher_is_better else "lower"
        return TableLayout(
            ["detector", "mean", "median", "mean rank", "95% interval"],
            rows,
            caption=f"Comparison by {self.title} ({direction} is better), {self.rows_used}.",
            notes=[f"{text}." for text in self.tests],
            marks=("best",),
        )

    @property
    def rows_used(self) -> str:
        """Number of rows that ranks, mean and median use, in words."""
        ranked = plural(self.pairs.n, "row")
        if self.n_means == self.pairs.n:
            return f"over {ranked}"
        return f"ranks over {ranked}, mean and median over {self.n_means:,}"

    @cached_property
    def significant(self) -> frozenset[frozenset[Hashable]]:
        """Pairs that differ significantly; none if Friedman's test is not significant."""
        frame = self.pairs_frame()
        found = frame[frame["significant"]]
        return frozenset(map(frozenset, zip(found["first"], found["second"], strict=True)))

    @property
    def unjoined(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """Pairs that do not differ significantly, though no group contains both."""
        order = list(self.summary.index)
        joined = {frozenset(pair) for group in self.groups for pair in combinations(group, 2)}
        pairs = ((a, b) for a, b in combinations(order, 2) if frozenset((a, b)) not in joined)
        if not self.groups and not self.significant:
            return ()
        return tuple(pair for pair in pairs if frozenset(pair) not in self.significant)

    @property
    def is_filled(self) -> bool:
        """Whether missing values were filled, which is valid for ranks but not for means."""
        return self.n_means < self.pairs.n

    def leader(self, favorite: Hashable = None) -> Hashable:
        """Return the column with the best mean, or with the best mean rank if cells were filled.

        Of several, return the favorite, otherwise the one with the best mean rank.
        """
        higher = self.higher_is_better and not self.is_filled
        found = self.summary["mean_rank" if self.is_filled else "mean"] * (1 if higher else -1)
        best = list(found.index[found == found.max()])
        return favorite if favorite in best else best[0]

    def effect_sizes(self) -> pd.DataFrame:
        """Effect sizes of all pairs."""
        return self._effects.copy()

    @cached_property
    def _effects(self) -> pd.DataFrame:
        return effect_sizes(self.table, higher_is_better=self.higher_is_better)

    def matrix(self) -> MultiComparisonMatrixDisplay:
        """Return the multi-comparison matrix: difference, wins and p-value of every pair.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
        >>> compare(table).matrix()
        MultiComparisonMatrixDisplay(2 names, Wilcoxon signed-rank, holm, alpha = 0.05, n = 3)
        """
        pairs = self.pairs
        order = self.summary.index
        means = self.table.mean()
        return MultiComparisonMatrixDisplay(
            [str(name) for name in order],
            [float(means[name]) for name in order],
            self._by_pair("difference", order, sign=-1.0),
            self._by_pair("wins", order, swap="losses"),
            self._by_pair("ties", order),
            pairs.p_values.loc[order, order].to_numpy(),
            f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}, n = {pairs.n}",
            [[frozenset((a, b)) in self.significant for b in order] for a in order],
            self.higher_is_better,
            title=f"All pairs by {self.title}",
            caption=f"Row minus column: mean difference of {self.title}; wins, ties and losses of "
            "the row over the series; adjusted p-value. Color: difference, in favor of the row "
            f"(blue) or of the column (red). Bold: significant at alpha = {pairs.alpha:g}. "
            f"{' '.join(f'{text}.' for text in self.tests)}",
        )

    def forest(
        self, *others: TableComparison, chance: Mapping[str, float] | None = None
    ) -> ForestDisplay:
        """Return the means with bootstrap intervals over the rows, and chance levels.

        Parameters
        ----------
        *others : TableComparison
            Comparisons of the same detectors by other measures, one more panel each.
        chance : mapping from title to float, optional
            Mean of random scores by measure.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
        >>> compare(table).forest(chance={"value": 0.1})
        ForestDisplay(2 names: value)
        """
        levels = chance or {}
        panels = [one._panel(levels.get(one.title)) for one in (self, *others)]
        return ForestDisplay(
            panels,
            title="Means",
            caption=f"Mean over {plural(self.pairs.n, 'series', 'series')} and its 95% interval "
            "(bootstrap over the series). Overlapping intervals say little about differences, "
            "because all detectors are tried on the same series: see the pairs."
            + (" Dashed: random scores." if levels else ""),
        )

    def _panel(self, chance: float | None) -> ForestPanel:
        names = [str(name) for name in self.table.columns]
        lower, upper = mean_intervals(self.table.to_numpy(dtype=float))
        means, low, high = (
            dict(zip(names, map(float, numbers), strict=True))
            for numbers in (self.table.mean(), lower, upper)
        )
        return ForestPanel(
            self.title, means, low, high, self.pairs.n, chance, self.higher_is_better
        )

    def _by_pair(
        self, column: str, order: pd.Index, *, sign: float = 1.0, swap: str | None = None
    ) -> Any:
        """Return a column of the effect sizes as a matrix, columns against columns."""
        place = {name: number for number, name in enumerate(order)}
        matrix = np.zeros((len(order), len(order)))
        frame = self._effects
        values = zip(
            frame["first"], frame["second"], frame[column], frame[swap or column], strict=True
        )
        for first, second, value, swapped in values:
            matrix[place[first], place[second]] = value
            matrix[place[second], place[first]] = sign * swapped
        return matrix

    def bayesian(
        self, *, rope: float = ROPE, n_samples: int = 10_000, seed: int = 0
    ) -> BayesianTest:
        """Return the Bayesian signed-rank test of all pairs, best mean rank first.

        See :func:`~vuskit.statistics.bayesian_signed_rank_test`.
        """
        return bayesian_signed_rank_test(
            self.table[self.summary.index],
            rope=rope,
            n_samples=n_samples,
            seed=seed,
            higher_is_better=self.higher_is_better,
        )

    def pairs_frame(self) -> pd.DataFrame:
        """One row for each pair: p-values, significance and effect sizes.

        No pair is significant if Friedman's test is not.
        """
        frame = self.pairs.to_frame()
        if self.global_test is not None:
            frame["significant"] &= self.global_test.significant
        return frame.merge(self._effects, on=["first", "second"])

    def figure(
        self, *, title: str = "", own_measures: Sequence[Measure] = ()
    ) -> CriticalDifferenceDisplay:
        """Return the critical-difference diagram.

        Parameters
        ----------
        title : str, optional
            Heading on a page.
        own_measures : sequence of Measure, optional
            Compared measures that are not registered.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
        >>> compare(table).figure()
        CriticalDifferenceDisplay(2 names, Wilcoxon signed-rank, holm, alpha = 0.05, n = 3)
        """
        pairs, overall = self.pairs, self.global_test
        notes = [] if overall is None or overall.significant else [str(overall)]
        notes += [] if pairs.can_be_significant else [str(pairs)]
        return CriticalDifferenceDisplay(
            self.summary["mean_rank"],
            self.groups,
            f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}, n = {pairs.n}",
            self.summary[["lower", "upper"]],
            pairs.critical_difference,
            tuple(notes),
            own_measures=own_measures,
            title=title or f"Mean ranks by {self.title}",
            caption=f"Mean ranks over the series, 1 is best. {BARS} {self.unjoined_text}"
            f"{' '.join(f'{text}.' for text in self.tests)}",
        )

    @property
    def unjoined_text(self) -> str:
        """Sentence that lists the pairs which no bar joins and which do not differ."""
        pairs = self.unjoined
        if not pairs:
            return ""
        listed = ", ".join(f"{a} and {b}" for a, b in pairs[:_MOST_UNJOINED])
        more = len(pairs) - _MOST_UNJOINED
        rest = f", and {more:,} more, listed in the matrix" if more > 0 else ""
        return f"No bar joins these pairs, which do not differ either: {listed}{rest}. "

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests in words: name, outcome, correction, alpha and n."""
        overall = [] if self.global_test is None else [str(self.global_test)]
        return (*overall, str(self.pairs))


def compare_columns(
    table: pd.DataFrame,
    *,
    title: str = "value",
    higher_is_better: bool = True,
    alpha: float = 0.05,
    test: str = "wilcoxon",
    missing: str = "drop",
    n_resamples: int = 2000,
    seed: int = 0,
) -> TableComparison:
    """Compare the columns of a table; its rows are series.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.5, 0.3], [0.9, 0.4, 0.4]]
    >>> found = compare_columns(pd.DataFrame(rows, columns=list("abc")))
    >>> found.summary["mean_rank"].to_dict()
    {'a': 1.0, 'b': 2.125, 'c': 2.875}
    """
    check_choice("test", test, _TESTS)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    intervals = rank_intervals(
        complete, n_resamples=n_resamples, seed=seed, higher_is_better=higher_is_better
    ).to_frame()
    # With missing="worst", filled cells are valid for ranks but not for mean and median.
    real = table.astype(float)
    real = real[common_series(real.to_numpy().T)]
    intervals.insert(0, "mean", real.mean())
    intervals.insert(1, "median", real.median())
    intervals.index.name = "name"
    overall = None
    if complete.shape[1] >= _FEWEST_FOR_FRIEDMAN:
        overall = _with_dropped(friedman_test(complete, alpha=alpha), dropped)
    pairs = _with_dropped(_TESTS[test](complete, alpha=alpha), dropped)
    return TableComparison(
        title,
        higher_is_better,
        complete,
        intervals,
        len(real),
        overall,
        pairs,
        ()
        if overall is not None and not overall.significant
        else rank_groups(intervals["mean_rank"], pairs.p_values, alpha=alpha),
    )


def _with_dropped(test: Any, dropped: int) -> Any:
    """Return the test with the number of rows that were dropped before it."""
    return type(test)(**{**vars(test), "n_dropped": dropped})


def compare(
    results: Any,
    *,
    measure: str | None = None,
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    test: str = "wilcoxon",
    missing: str = "drop",
    n_resamples: int = 2000,
    seed: int = 0,
) -> TableComparison:
    """Compare detectors over series by one measure.

    Parameters
    ----------
    results : pandas.DataFrame, or anything with ``to_frame()``
        A wide table has one column for each detector and one row for each series. A long table has
        the columns ``series`` and ``detector`` (and ``dataset``). Its values are in a column named
        after the measure, or in ``value`` next to a column ``measure``. Repeated runs are averaged.
    measure : str, optional
        Measure to compare by; required for a long table with several measures.
    higher_is_better : bool, optional
        Whether high values are better. Default: as registered for the measure, otherwise True.
    alpha : float, default=0.05
        Significance level.
    test : {"wilcoxon", "nemenyi"}, default="wilcoxon"
        Pairwise test; Wilcoxon's test uses Holm's correction.
    missing : {"drop", "worst", "raise"}, default="drop"
        Policy for series on which a detector has no value; see
        :func:`~vuskit.statistics.complete_rows`.
    n_resamples, seed : int
        Number of bootstrap samples, and their seed.

    Returns
    -------
    TableComparison
        Mean, median, mean rank with interval, tests and groups.

    Raises
    ------
    InvalidInputError
        If the table has another form, or an option is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"series": [1, 1, 2, 2, 3, 3], "detector": ["LOF", "PCA"] * 3,
    ...                         "vus_pr": [0.9, 0.5, 0.8, 0.6, 0.7, 0.2]})
    >>> found = compare(results, measure="vus_pr")
    >>> found.summary["mean"].round(2).to_dict()
    {'LOF': 0.8, 'PCA': 0.43}
    """
    frame = results.to_frame() if hasattr(results, "to_frame") else results
    pandas = require("pandas", purpose="a comparison")
    if not isinstance(frame, pandas.DataFrame):
        raise InvalidInputError(
            f"`results` must be a table or have to_frame(), got {type(results).__name__}"
        )
    direction = _direction(measure) if higher_is_better is None else higher_is_better
    return compare_columns(
        by_detector(frame, measure),
        title=measure or "value",
        higher_is_better=direction,
        alpha=alpha,
        test=test,
        missing=missing,
        n_resamples=n_resamples,
        seed=seed,
    )


def _direction(measure: str | None) -> bool:
    known = {entry.name: entry.higher_is_better for entry in list_measures()}
    return known.get(measure or "", True)


def by_detector(frame: pd.DataFrame, measure: str | None) -> pd.DataFrame:
    """One row for each series, one column for each detector, in the order of appearance."""
    if "detector" not in frame.columns:
        return frame
    keys = [name for name in ("dataset", "series") if name in frame.columns]
    if not keys:
        raise InvalidInputError(
            f"`results` must have a column 'series', got {', '.join(map(str, frame.columns))}"
        )
    rows, column = _values_of(frame, measure)
    order = list(dict.fromkeys(rows["detector"]))
    # A pivot that keeps detectors without a value would add a row for every combination of data
    # set and series, and these rows would count as dropped.
    means = rows.groupby([*keys, "detector"], sort=False, observed=True)[column].mean()
    wide: pd.DataFrame = means.unstack("detector").reindex(rows.set_index(keys).index.unique())
    return wide[order]


def _values_of(frame: pd.DataFrame, measure: str | None) -> tuple[pd.DataFrame, str]:
    if measure is not None and measure in frame.columns:
        return frame, measure
    if "value" not in frame.columns:
        others = [name for name in frame.columns if name not in ("dataset", "series", "detector")]
        raise InvalidInputError(f"`measure` must be one of {others}, got {measure!r}")
    if "measure" not in frame.columns:
        return frame, "value"
    present = list(dict.fromkeys(frame["measure"]))
    if measure is None and len(present) == 1:
        return frame, "value"
    if measure not in present:
        raise InvalidInputError(f"`measure` must be one of {present}, got {measure!r}")
    return frame[frame["measure"] == measure], "value"


Floats = NDArray[np.float64]


def effect_sizes(
    table: ArrayLike | pd.DataFrame, *, missing: str = "drop", higher_is_better: bool = True
) -> pd.DataFrame:
    """Return the effect sizes of all pairs of columns; positive if the first column is higher.

    Returns
    -------
    pandas.DataFrame
        One row for each pair. ``difference``: difference of the means. ``rank_biserial``:
        matched-pairs rank-biserial correlation, the effect size of Wilcoxon's test.
        ``cliffs_delta``: how much more often a value of the first column is higher than one of the
        second. ``cohens_d``: difference of the means in pooled standard deviations; NaN if nothing
        varies. ``wins``, ``ties``, ``losses``: rows in which the first column is better, equal or
        worse.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> effect_sizes([[0.9, 0.5], [0.8, 0.6], [0.7, 0.4]]).round(3).iloc[0].to_list()
    [0.0, 1.0, 0.3, 1.0, 1.0, 3.0, 3.0, 0.0, 0.0]
    """
    complete, _ = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    pandas = require("pandas", purpose="effect sizes")
    sign = 1.0 if higher_is_better else -1.0
    rows = [
        {"first": a, "second": b, **_effects(complete[a].to_numpy(), complete[b].to_numpy(), sign)}
        for a, b in combinations(complete.columns, 2)
    ]
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def _effects(first: Floats, second: Floats, sign: float) -> dict[str, float]:
    pooled = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    difference = float(first.mean() - second.mean())
    moved = without_noise((first - second)[None])[0]
    wins = int((sign * moved > 0).sum())
    ties = int((moved == 0).sum())
    return {
        "difference": difference,
        "rank_biserial": _rank_biserial(moved),
        "cliffs_delta": _cliffs_delta(first, second),
        "cohens_d": difference / float(pooled) if pooled > 0 else float("nan"),
        "wins": wins,
        "ties": ties,
        "losses": len(moved) - wins - ties,
    }


def _rank_biserial(differences: Floats) -> float:
    stats = require("scipy.stats", purpose="effect sizes")
    moved = differences[differences != 0]
    if moved.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(moved))
    return float(ranks[moved > 0].sum() - ranks[moved < 0].sum()) / float(ranks.sum())


def _cliffs_delta(first: Floats, second: Floats) -> float:
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left").sum()
    above = (second.size - np.searchsorted(ordered, first, side="right")).sum()
    return float(below - above) / (first.size * second.size)
