"""Verdicts: what a comparison shows, in sentences for terminal, page, LaTeX and JSON.

No sentence claims more than the tests support; where they decide nothing, it says "undecided".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit import __version__
from vuskit._util.text import escape_latex, listed, plural
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, main_measure
from vuskit.measures.uncertainty import intervals_of
from vuskit.statistics.comparison import TableComparison

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.report.evaluation import EvaluationReport

_RESAMPLES = 2000
_STEADY = 0.7  # Kendall's tau from which two orders count as similar
_FEW_SERIES = 2
_SHOWN = 4  # measures, missed anomalies
_MOST_RESAMPLED = 20_000  # points of a series whose interval a page computes

QUESTIONS = {
    "leader": "Best",
    "interval": "Interval",
    "significance": "Significant",
    "weakness": "Weakest",
    "missed": "Anomalies",
    "chance": "Chance",
    "measures": "Other measures",
    "buffer": "Other buffers",
}
"""Titles of the sentences of a verdict."""


@dataclass(frozen=True)
class Verdict:
    """Sentences about a comparison, each with the question that it answers.

    Attributes
    ----------
    sentences : dict
        Sentences by question: ``leader``, ``significance``, ``weakness``, ``chance``,
        ``measures``, ``buffer``.
    decided : bool
        Whether the leader differs significantly from every other detector.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit.report.verdict import verdict_of
    >>> from vuskit.studies import compare
    >>> rows = {"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]}
    >>> print(verdict_of(compare(pd.DataFrame(rows))).sentences["significance"])
    Undecided: with 3 series, no pair can differ significantly (6 or more are needed).
    """

    sentences: Mapping[str, str]
    decided: bool

    def __str__(self) -> str:
        return " ".join(self.sentences.values())

    @property
    def answers(self) -> dict[str, str]:
        """The sentences by title of their question."""
        return {QUESTIONS[name]: text for name, text in self.sentences.items()}

    def to_latex(self) -> str:
        """Return the sentences as LaTeX."""
        return " ".join(escape_latex(text) for text in self.sentences.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the sentences by question, and whether they decide."""
        return {"decided": self.decided, "sentences": dict(self.sentences)}


def verdict_of(
    comparison: TableComparison,
    *,
    chance: float | None = None,
    datasets: Mapping[Hashable, str] | None = None,
    by_measure: Mapping[str, TableComparison] | None = None,
    by_buffer: Mapping[str, Sequence[str]] | None = None,
    unit: str = "series",
    compared: str = "detectors",
    seed: int = 0,
) -> Verdict:
    """Return the verdict of a comparison of detectors.

    Parameters
    ----------
    comparison : TableComparison
        Result of :func:`vuskit.studies.compare`.
    chance : float, optional
        Mean value of random scores on the same rows.
    datasets : mapping, optional
        Data set of each row, to name the one on which the leader is weakest.
    by_measure : mapping from title to TableComparison, optional
        Comparisons of the same detectors by other measures.
    by_buffer : mapping from text to sequence of str, optional
        Order of the detectors, best first, with other buffers.
    unit : str, default="series"
        What a row is, in the plural: series or data sets.
    compared : str, default="detectors"
        What a column is, in the plural: detectors or measures.
    seed : int, default=0
        Seed of the interval of the difference.

    Returns
    -------
    Verdict
    """
    order = [str(name) for name in comparison.summary.index]
    means = {str(name): float(mean) for name, mean in comparison.table.mean().items()}
    # Cells filled by missing="worst" are valid for ranks only.
    filled = comparison.n_means < comparison.pairs.n
    sentences = {
        "leader": _leader_by_rank(comparison, order, unit)
        if filled
        else _leader(comparison, order, means, unit, seed),
        "significance": _significance(comparison, order, unit, compared),
    }
    if datasets and not filled:
        weakness = _weakness(comparison, order[0], datasets)
        if weakness:
            sentences["weakness"] = weakness
    if chance is not None and math.isfinite(chance) and not filled:
        sentences["chance"] = _chance(comparison, means, chance)
    if by_measure:
        sentences["measures"] = _measures(comparison, order, by_measure)
    if by_buffer:
        sentences["buffer"] = _buffers(order, by_buffer)
    differing = {str(name) for pair in comparison.significant for name in pair if order[0] in pair}
    return Verdict(sentences, len(differing) == len(order))


def verdict_of_evaluation(report: EvaluationReport, *, interval: bool = True) -> Verdict:
    """Return the verdict of one evaluated series, which cannot decide anything.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.
    interval : bool, default=True
        Compute the interval of the best value, unless the series is long.

    Returns
    -------
    Verdict
    """
    main = main_measure([measure.name for measure in report.measures])
    measure = next(one for one in report.measures if one.name == main)
    values = {name: found[main] for name, found in report.table.items()}
    order = _ordered(values, measure)
    if not order:
        return Verdict({"leader": f"No detector has a value of {measure.title}."}, False)
    best = order[0]
    sentences = {"leader": _best_of_series(order, values, measure)}
    if interval:
        sentences["interval"] = _interval(report, best, measure)
    if len(order) > 1:
        sentences["significance"] = "Undecided: one series allows no test of a difference."
    sentences["missed"] = _missed(report, best)
    level = math.nan if report.chance is None else report.chance.mean[main]
    if math.isfinite(level):
        sign = 1 if measure.higher_is_better else -1
        below = [name for name in order if sign * (values[name] - level) <= 0]
        rest = f"not above: {listed(below)}" if below else "all detectors are above"
        rest = rest if len(values) > 1 or below else f"{best} is above"
        sentences["chance"] = f"Random scores get {_value(level)} on average; {rest}."
    elsewhere = {
        one.title: first[0]
        for one in report.measures
        if (first := _ordered({name: found[one.name] for name, found in report.table.items()}, one))
        and report.table[first[0]][one.name] != report.table[best][one.name]
    }
    if len(order) > 1 and len(report.measures) > 1:
        leads = listed([f"{name} by {title}" for title, name in elsewhere.items()], most=_SHOWN)
        sentences["measures"] = (
            f"The best detector depends on the measure: {leads}."
            if elsewhere
            else f"{best} is best by all {len(report.measures)} measures."
        )
    return Verdict(sentences, False)


def _ordered(values: Mapping[str, float], measure: Measure) -> list[str]:
    """Return the detectors with a value, best first."""
    known = [name for name, value in values.items() if not math.isnan(value)]
    return sorted(known, key=lambda name: values[name], reverse=measure.higher_is_better)


def _best_of_series(order: list[str], values: Mapping[str, float], measure: Measure) -> str:
    best = order[0]
    if len(order) == 1:
        return f"{best} has {measure.title} {_value(values[best])}."
    second = order[1]
    if values[second] == values[best]:
        equal = [name for name in order if values[name] == values[best]]
        return f"{listed(equal)} have the same {measure.title}, {_value(values[best])}."
    gap = abs(values[best] - values[second])
    return (
        f"{best} has the best {measure.title}, {_value(values[best])}, "
        f"{_value(gap)} ahead of {second}."
    )


def _interval(report: EvaluationReport, best: str, measure: Measure) -> str:
    """Return the interval of the best value, or why there is none."""
    evaluation = report.table[best]
    table = evaluation.intervals
    if table is None and report.labels.size > _MOST_RESAMPLED:
        return (
            f"No interval: the series has more than {_MOST_RESAMPLED:,} points; "
            "`evaluate(..., interval=0.95)` computes it."
        )
    if table is None:
        settings = report.table.settings.replace(buffer=report.buffer)
        evaluator = Evaluator(report.labels, measures=[measure], settings=settings)
        table = intervals_of(
            evaluator, {measure.name: evaluation[measure.name]}, report.scores[best]
        )
    low, high = table[measure.name]
    if math.isnan(low):
        return f"No interval: {table.reason or 'the value is at its bound'}."
    return f"{best}: {_value(low)} to {_value(high)} ({table})."


def _missed(report: EvaluationReport, best: str) -> str:
    """Return which anomalies the best detector misses at its threshold."""
    found = report.events[best]
    missed = found.start[~found.found]
    rule = report.threshold if isinstance(report.threshold, str) else "given"
    text = (
        f"At its threshold ({rule}), {best} finds {len(found) - missed.size:,} of "
        f"{plural(len(found), 'anomaly', 'anomalies')}, with"
    )
    alarms = found.separate_alarms
    text += f" {plural(alarms, 'separate false alarm')}" if alarms else "out false alarms"
    if not missed.size:
        return f"{text}."
    starts = [
        f"{start:,}" if report.dates is None else str(report.dates[start].astype("datetime64[s]"))
        for start in missed.tolist()
    ]
    return f"{text}; it misses those that start at {listed(starts, most=_SHOWN)}."


def statement(
    verdict: Verdict, comparison: TableComparison, *, unit: str = "series", details: str = ""
) -> str:
    """Return a paragraph for a paper: the verdict, the tests and the settings.

    Parameters
    ----------
    verdict : Verdict
        Verdict of the comparison.
    comparison : TableComparison
        Result of :func:`vuskit.studies.compare`.
    unit : str, default="series"
        What a row is, in the plural: series or data sets.
    details : str, optional
        Settings and buffers.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit.studies import compare
    >>> found = compare(pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]}))
    >>> print(statement(verdict_of(found), found).partition(". ")[0])
    We compared 2 detectors by value on 3 series with values of all detectors
    """
    pairs, overall = comparison.pairs, comparison.global_test
    said = [
        f"We compared {plural(len(comparison.summary), 'detector')} by {comparison.title} on "
        f"{pairs.n:,} {unit} with values of all detectors.",
        str(verdict),
    ]
    tested = f"Pairs were tested by {pairs.test}, correction {pairs.correction}"
    if overall is not None:
        tested = (
            f"{overall.test}'s test: p = {_p(overall.p_value)}, Kendall's W = "
            f"{_value(overall.effect_size)}; pairs: {pairs.test}, correction {pairs.correction}"
        )
    said.append(f"{tested}, alpha = {pairs.alpha:g}, n = {pairs.n:,}.")
    if details:
        said.append(details)
    said.append(f"Computed with vuskit {__version__}.")
    return " ".join(said).replace("p = <", "p < ")


def _value(number: float) -> str:
    text = f"{number:.3f}"
    return text.replace("0.", ".", 1) if abs(number) < 1 else text


def _leader(
    comparison: TableComparison, order: list[str], means: dict[str, float], unit: str, seed: int
) -> str:
    """Who leads, by how much, with an interval of the difference."""
    direction = 1 if comparison.higher_is_better else -1
    by_mean = sorted(order, key=lambda name: -direction * means[name])
    leader, second = by_mean[:2]
    rows, n = comparison.table, comparison.pairs.n
    columns = {str(name): rows[name].to_numpy() for name in rows.columns}
    differences = columns[leader] - columns[second]
    if not differences.any():
        return (
            f"{leader} and {second} have the same {comparison.title} on all {n} {unit}, "
            f"{_value(means[leader])} on average."
        )
    rng = np.random.default_rng(seed)
    draws = differences[rng.integers(n, size=(_RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    low, high = sorted((low * direction, high * direction))
    text = (
        f"{leader} has the best mean {comparison.title}, {_value(means[leader])} over {n:,} "
        f"{unit}, {_value(abs(differences.mean()))} ahead of {second} (95% interval of the "
        f"difference {_value(low)} to {_value(high)})."
    )
    if order[0] != leader:
        text += f" By mean rank, {order[0]} leads."
    return text


def _leader_by_rank(comparison: TableComparison, order: list[str], unit: str) -> str:
    ranks = comparison.summary["mean_rank"].to_list()
    return (
        f"{order[0]} has the best mean rank by {comparison.title}, {ranks[0]:.2f} over "
        f"{comparison.pairs.n:,} {unit}, before {order[1]} with {ranks[1]:.2f}; missing values "
        "rank last."
    )


def _significance(comparison: TableComparison, order: list[str], unit: str, compared: str) -> str:
    """From whom the leader by mean rank differs significantly, and from whom not."""
    pairs, overall = comparison.pairs, comparison.global_test
    leader, *others = order
    if not pairs.can_be_significant:
        needed = "" if pairs.rows_needed is None else f" ({pairs.rows_needed:,} or more are needed)"
        return f"Undecided: with {pairs.n:,} {unit}, no pair can differ significantly{needed}."
    if overall is not None and not overall.significant:
        return (
            f"Undecided: {overall.test}'s test finds no difference among the {len(order)} "
            f"{compared} (p = {_p(overall.p_value)}, {pairs.n:,} {unit})."
        )
    differing = {frozenset(map(str, pair)) for pair in comparison.significant}
    p_values = pairs.p_values.rename(index=str, columns=str)
    better = [name for name in others if frozenset((leader, name)) in differing]
    rest = [name for name in others if name not in better]
    method = f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}"
    unclear = listed([f"{name} (p = {_p(p_values.loc[leader, name])})" for name in rest])
    if not better:
        return f"Undecided: {leader} does not differ significantly from {unclear} ({method})."
    if not rest:
        return f"{leader} differs significantly from all other {compared} ({method})."
    return (
        f"{leader} differs significantly from {listed(better)}, but not from {unclear} ({method})."
    )


def _p(p_value: float) -> str:
    return "<.001" if p_value < 0.001 else _value(p_value)


def _weakness(comparison: TableComparison, leader: str, datasets: Mapping[Hashable, str]) -> str:
    """Where the leader does worst compared with the best other detector."""
    table: pd.DataFrame = comparison.table.rename(columns=str)
    groups = table.groupby([str(datasets.get(row, "")) for row in table.index], sort=False).mean()
    if len(groups) < _FEW_SERIES:
        return ""
    direction = 1 if comparison.higher_is_better else -1
    others = (direction * groups.drop(columns=leader)).max(axis=1)
    gaps = direction * groups[leader] - others
    place = gaps.idxmin()
    own = _value(groups.loc[place, leader])
    if gaps[place] >= 0:
        lowest = (direction * groups[leader]).idxmin()
        return (
            f"{leader} is best on each of the {len(groups)} data sets; its worst mean is "
            f"{_value(groups.loc[lowest, leader])} on {lowest}."
        )
    rival = (direction * groups.loc[place].drop(leader)).idxmax()
    lost = plural(int((gaps < 0).sum()), "data set")
    return (
        f"{leader} is not the best on {lost} of {len(groups)}; it is weakest on {place}: {own}, "
        f"where {rival} gets {_value(groups.loc[place, rival])}."
    )


def _chance(comparison: TableComparison, means: dict[str, float], chance: float) -> str:
    """What random scores get, and who is not above it."""
    direction = 1 if comparison.higher_is_better else -1
    below = [name for name, mean in means.items() if direction * (mean - chance) <= 0]
    said = f"Random scores get {_value(chance)} on average"
    if not below:
        return f"{said}; all detectors are above."
    return f"{said}; not above: {listed(below)}."


def _measures(
    comparison: TableComparison, order: list[str], by_measure: Mapping[str, TableComparison]
) -> str:
    """Whether the leader leads by other measures, and how similar the orders are."""
    taus, elsewhere = {}, {}
    for title, other in by_measure.items():
        ranked = [str(name) for name in other.summary.index]
        common = [name for name in order if name in ranked]
        taus[title] = kendall_tau(comparison, other, common)
        if ranked[0] != order[0]:
            elsewhere[title] = ranked[0]
    lowest = min(taus, key=lambda title: taus[title])
    tau = f"Kendall's tau with the order by {lowest} is {_value(taus[lowest])}"
    if not elsewhere:
        similar = "" if taus[lowest] >= _STEADY else ", though the order of the others changes"
        names = listed(list(by_measure), most=_SHOWN)
        return f"{order[0]} also leads by {names}{similar} (lowest: {tau})."
    leads = [f"{name} leads by {title}" for title, name in elsewhere.items()]
    changed = listed(leads, most=_SHOWN)
    return f"The winner depends on the measure: {changed} (lowest: {tau})."


def kendall_tau(one: TableComparison, other: TableComparison, names: Sequence[str]) -> float:
    """Return Kendall's tau-b of the mean ranks of some detectors in two comparisons."""
    first, second = (
        np.array([float(ranks[name]) for name in names])
        for ranks in (
            {str(key): rank for key, rank in found.summary["mean_rank"].items()}
            for found in (one, other)
        )
    )
    upper = np.triu_indices(len(names), 1)
    signs = [np.sign(np.subtract.outer(ranks, ranks))[upper] for ranks in (first, second)]
    norm = math.sqrt(float((signs[0] ** 2).sum() * (signs[1] ** 2).sum()))
    return float((signs[0] * signs[1]).sum()) / norm if norm else math.nan


def _buffers(order: list[str], by_buffer: Mapping[str, Sequence[str]]) -> str:
    """Whether the leader leads with other buffers."""
    elsewhere = {text: names[0] for text, names in by_buffer.items() if names[0] != order[0]}
    if not elsewhere:
        return f"{order[0]} also leads with the buffer {listed(list(by_buffer))}."
    changed = listed([f"{name} leads with {text}" for text, name in elsewhere.items()])
    return f"The winner depends on the buffer: {changed}."
