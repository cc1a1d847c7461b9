"""Buffer dependence: whether the ranking of detectors changes with the buffer length."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from vuskit._util.optional import pd, require
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import listed
from vuskit.bench import Run
from vuskit.bench.run import open_scores
from vuskit.datasets import ScoredSeries
from vuskit.errors import BufferNotFoundError, InvalidInputError, InvertedScoreWarning
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import Measure, get_measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.statistics.comparison import TableComparison, compare_columns

_Row = dict[str, Any]
_SHOWN = 6
_TIED = 1e-9


@dataclass(frozen=True, eq=False)
class BufferDependence(TableForms):
    """Mean ranks of detectors for several multiples of each series' buffer.

    Attributes
    ----------
    measure : Measure
        Measure that ranks the detectors.
    reference : float
        Factor that the others are compared with: 1 if present, otherwise the first.
    comparisons : dict from float to TableComparison
        Comparison of the detectors for each factor.
    """

    measure: Measure
    reference: float
    comparisons: dict[float, TableComparison]

    @property
    def by_buffer(self) -> dict[str, TableComparison]:
        """Comparisons by text, without the reference."""
        found = self.comparisons.items()
        return {f"times {factor:g}": one for factor, one in found if factor != self.reference}

    @property
    def mean_ranks(self) -> pd.DataFrame:
        """One row per detector, one column per factor; best rank at the reference first."""
        ranks = {factor: found.summary["mean_rank"] for factor, found in self.comparisons.items()}
        table: pd.DataFrame = pd.DataFrame(ranks)
        table.index.name = "detector"
        return table.sort_values(self.reference, kind="stable")

    @property
    def taus(self) -> dict[float, float]:
        """Kendall's tau between the mean ranks of each factor and those of the reference."""
        stats = require("scipy.stats", purpose="Kendall's tau")
        ranks = self.mean_ranks
        return {
            factor: float(stats.kendalltau(ranks[self.reference], ranks[factor]).statistic)
            for factor in self.comparisons
        }

    @property
    def means(self) -> pd.DataFrame:
        """Mean values: one row per detector, one column per factor; rows as in `mean_ranks`."""
        means = {factor: found.summary["mean"] for factor, found in self.comparisons.items()}
        return pd.DataFrame(means).loc[self.mean_ranks.index]

    @property
    def warnings(self) -> tuple[str, ...]:
        """How the ranking depends on the buffer; empty if it does not.

        It does if no detector has the best mean rank, or the best mean, with all buffers. It also
        does if two detectors swap places and differ significantly with at least one buffer.
        """
        ranks, found = self.mean_ranks, []
        sign = -1.0 if self.measure.higher_is_better else 1.0
        for what, table in (
            ("best detector", ranks),
            (f"detector with the best mean {self.measure.title}", sign * self.means),
        ):
            best = {factor: _lowest(table[factor]) for factor in self.comparisons}
            if not set.intersection(*map(set, best.values())):
                winners = ", ".join(
                    f"{' and '.join(names)} at {factor:g}" for factor, names in best.items()
                )
                found.append(f"the {what} depends on the buffer: {winners}")
                break
        swapped = [f"{a} and {b}" for a, b in combinations(ranks.index, 2) if self._swap(a, b)]
        if swapped:
            found.append(
                f"detectors that differ significantly change places: {listed(swapped, most=_SHOWN)}"
            )
        return tuple(found)

    @property
    def verdict(self) -> str:
        """Conclusion in one sentence, for results without a warning."""
        if all(math.isclose(tau, 1.0) for tau in self.taus.values()):
            return "the ranking does not depend on the buffer"
        return (
            "the best detector does not depend on the buffer; others change places, "
            "none of them significantly"
        )

    def _swap(self, first: Any, second: Any) -> bool:
        """Whether two detectors swap places and differ significantly at least once."""
        signs, significant = set(), False
        for found in self.comparisons.values():
            ranks = found.summary["mean_rank"]
            signs.add(float(np.sign(ranks[first] - ranks[second])))
            significant |= frozenset((first, second)) in found.significant
        return significant and {-1.0, 1.0} <= signs

    def __repr__(self) -> str:
        return self.to_text()

    def to_frame(self) -> pd.DataFrame:
        """Mean ranks: one row for each detector and factor."""
        ranks = self.mean_ranks.reset_index()
        frame: pd.DataFrame = ranks.melt("detector", var_name="factor", value_name="mean_rank")
        return frame.astype({"factor": float})

    @property
    def _layout(self) -> TableLayout:
        ranks = self.mean_ranks
        rows = [[str(name), *(f"{one:.2f}" for one in row)] for name, *row in ranks.itertuples()]
        rows.append(["Kendall's tau", *(f"{tau:.2f}" for tau in self.taus.values())])
        n = next(iter(self.comparisons.values())).pairs.n
        return TableLayout(
            ["buffer times", *(f"{factor:g}" for factor in self.comparisons)],
            rows,
            caption=f"Mean ranks by {self.measure.title} over {n:,} series, for multiples of each "
            f"series' buffer. Kendall's tau compares each column with {self.reference:g}.",
        )


def _lowest(numbers: pd.Series) -> list[str]:
    """Names of the lowest numbers; rounding errors do not break ties."""
    lowest = numbers.min()
    return [str(name) for name, number in numbers.items() if number - lowest <= _TIED]


def buffer_dependence(
    source: Any,
    *,
    factors: Iterable[float] = (0.5, 1.0, 2.0),
    measure: str | Measure = "vus_pr",
    settings: str | EvaluationSettings | None = None,
    detectors: Sequence[str] | None = None,
    alpha: float = 0.05,
    test: str = "wilcoxon",
) -> BufferDependence:
    """Rank detectors for several multiples of each series' buffer, from stored scores.

    Parameters
    ----------
    source : str, Path, ScoredSeries or iterable of these
        A run folder, a pack, a folder of saved scores, or series with scores.
    factors : iterable of float, default=(0.5, 1, 2)
        Multiples of each buffer; the products are rounded.
    measure : str or Measure, default="vus_pr"
        A measure with a buffer.
    settings : str or EvaluationSettings, optional
        For a run: the text of one of its settings. For other scores: ``buffer="auto"`` by default.
    detectors : sequence of str, optional
        Detectors to rank. Default: all.
    alpha : float, default=0.05
        Significance level.
    test : {"wilcoxon", "nemenyi"}, default="wilcoxon"
        Pairwise test.

    Returns
    -------
    BufferDependence
        Mean ranks, Kendall's tau and warnings.

    Raises
    ------
    InvalidInputError
        If a factor is negative, the measure has no buffer, or there are too few series.

    Examples
    --------
    >>> import numpy as np
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> def scored(name, shift):
    ...     labels = np.isin(np.arange(300) // 10, [9, 20])
    ...     scores = {"early": np.roll(labels, -5 - shift), "exact": labels}
    ...     return ScoredSeries(Series(name, "docs", np.arange(300.0), labels), scores)
    >>> found = buffer_dependence([scored("a", 0), scored("b", 1), scored("c", 2)])
    >>> found.mean_ranks.loc["exact"].tolist(), found.warnings
    ([1.0, 1.0, 1.0], ())
    """
    wanted = get_measure(measure) if isinstance(measure, str) else measure
    if not wanted.uses_buffer or "buffer" in wanted.options:
        raise InvalidInputError(
            f"`measure` must depend on the buffer, got {wanted.name!r}; try 'vus_pr'"
        )
    multiples = _checked_factors(factors)
    rows = [
        row
        for scored, used in _series(source, settings)
        for row in _values(scored, used, wanted, multiples, detectors)
    ]
    if not rows:
        raise InvalidInputError("`source` must hold series with a buffer and scores, got none")
    frame = pd.DataFrame(rows)
    comparisons = {
        factor: compare_columns(
            part.pivot_table(index="series", columns="detector", values="value"),
            title=wanted.title,
            higher_is_better=wanted.higher_is_better,
            alpha=alpha,
            test=test,
            n_resamples=2,  # no interval is shown
        )
        for factor, part in frame.groupby("factor", sort=False)
    }
    reference = 1.0 if 1.0 in comparisons else multiples[0]
    return BufferDependence(wanted, reference, comparisons)


def _checked_factors(factors: Iterable[float]) -> list[float]:
    found = list(dict.fromkeys(float(factor) for factor in factors))
    if len(found) < 2 or not all(0 <= factor < float("inf") for factor in found):
        raise InvalidInputError(
            f"`factors` must be two or more numbers >= 0, such as 0.5, 1 and 2, got {found}"
        )
    return found


def _series(
    source: Any, settings: str | EvaluationSettings | None
) -> Iterator[tuple[ScoredSeries, EvaluationSettings]]:
    """Yield each series with its scores and its settings; series without a buffer are skipped."""
    run = Run(source) if isinstance(source, (str, Path)) else None
    if run is not None and run.exists:
        text = str(settings) if settings else next(iter(run.measures_by_settings()))
        for stored in run.scored_series():
            used = run.evaluation_settings(stored.series, text)
            if used is not None and not isinstance(used.buffer, str):
                scored = stored.read()
                first = run.evaluated_from(stored.series, text)
                if first:
                    scores = {name: score[first:] for name, score in scored.scores.items()}
                    scored = ScoredSeries(scored.series.after(first), scores, scored.repeats)
                yield scored, used
        return
    if settings is None or isinstance(settings, str):
        settings = EvaluationSettings(buffer="auto")
    for one in open_scores(source):
        scored = one.read()
        series = scored.series
        try:
            choice = settings.choose_buffer(values=series.values, y_true=series.labels)
        except BufferNotFoundError:
            continue
        yield scored, settings.replace(buffer=choice)


def _values(
    scored: ScoredSeries,
    used: EvaluationSettings,
    measure: Measure,
    factors: Iterable[float],
    detectors: Sequence[str] | None,
) -> Iterator[_Row]:
    """Yield the values of one series by detector and factor; seeds are averaged."""
    labels = np.asarray(scored.series.labels, dtype=bool)
    if labels.all() or not labels.any():
        return
    length = used.choose_buffer().length
    names = [name for name in scored.detectors if detectors is None or name in detectors]
    runs = {name: scored.repeats.get(name, (name,)) for name in names}
    scores = {run: scored.scores[run] for several in runs.values() for run in several}
    if not scores:
        return
    title = f"{scored.series.dataset}/{scored.series.name}"
    for factor in factors:
        changed = used.replace(buffer=round(factor * length), buffer_fallback=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InvertedScoreWarning)  # does not name the series
            found = evaluate_many(labels, scores, measures=measure, settings=changed)
        for name, several in runs.items():
            value = float(np.mean([found[run][measure.name] for run in several]))
            yield {"series": title, "detector": name, "factor": factor, "value": value}
