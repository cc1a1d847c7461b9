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
_FEW_GROUPS = 2
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
    rows: Mapping[Hashable, str] | None = None,
    by_measure: Mapping[str, TableComparison] | None = None,
    by_buffer: Mapping[str, TableComparison] | None = None,
    unit: str = "series",
    compared: str = "detectors",
    seed: int = 0,
) -> Verdict:
    """Return the verdict of a comparison of detectors.

    The leader has the best mean; if another detector has the best mean rank, the verdict is
    undecided and says so. Where missing values rank last, the leader has the best mean rank.

    Parameters
    ----------
    comparison : TableComparison
        Result of :func:`vuskit.studies.compare`.
    chance : float, optional
        Mean value of random scores on the same rows.
    datasets : mapping, optional
        Data set of each row, to name the one on which the leader is weakest.
    rows : mapping, optional
        Name of each row, used instead if there is one data set; by default its label.
    by_measure : mapping from title to TableComparison, optional
        Comparisons of the same detectors by other measures.
    by_buffer : mapping from text to TableComparison, optional
        Comparisons of the same detectors with other buffers.
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
    leader = str(comparison.leader())
    ranks = _by_name(comparison, "mean_rank")
    top = leader if ranks[leader] == min(ranks.values()) else str(comparison.summary.index[0])
    if comparison.is_filled:
        sentences = {"leader": _best_rank(comparison, ranks, unit)}
    else:
        sentences = {"leader": _best_mean(comparison, leader, unit, seed)}
        if top != leader:
            best, own = f"{ranks[top]:.2f}", f"{ranks[leader]:.2f}"
            sentences["leader"] += f" {top} has the best mean rank, {best}; {leader} has {own}."
    decided, sentences["significance"] = _significance(comparison, leader, top, unit, compared)
    if not comparison.is_filled:
        sentences["weakness"] = _weakness(comparison, leader, datasets or {}, rows or {}, unit)
        if chance is not None and math.isfinite(chance):
            direction = 1 if comparison.higher_is_better else -1
            above = {
                name: direction * (mean - chance) > 0
                for name, mean in _by_name(comparison, "mean").items()
            }
            sentences["chance"] = _chance(chance, above)
    if by_measure:
        sentences["measures"] = _measures(comparison, leader, by_measure)
    if by_buffer:
        winners = {text: str(one.leader(leader)) for text, one in by_buffer.items()}
        sentences["buffer"] = (
            f"{leader} also leads with the buffer {_names(list(winners))}."
            if set(winners.values()) == {leader}
            else f"The winner depends on the buffer: {_winners(winners, 'with the buffer')}."
        )
    return Verdict(sentences, decided)


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
        above = {name: sign * (values[name] - level) > 0 for name in order}
        sentences["chance"] = _chance(level, above)
    if len(order) > 1 and len(report.measures) > 1:
        winners = {}
        for one in report.measures:
            found = {name: evaluation[one.name] for name, evaluation in report.table.items()}
            if first := _ordered(found, one):
                winners[one.title] = best if found[best] == found[first[0]] else first[0]
        sentences["measures"] = (
            f"{best} is best by all {len(winners)} measures."
            if set(winners.values()) == {best}
            else f"The best detector depends on the measure: {_winners(winners)}."
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
            f"{overall.test}'s test: {_p(overall.p_value)}, Kendall's W = "
            f"{_value(overall.effect_size)}; pairs: {pairs.test}, correction {pairs.correction}"
        )
    said.append(f"{tested}, alpha = {pairs.alpha:g}, n = {pairs.n:,}.")
    if details:
        said.append(details)
    said.append(f"Computed with vuskit {__version__}.")
    return " ".join(said)


def _value(number: float) -> str:
    text = f"{number:.3f}"
    if number and not float(text):
        text = f"{number:.2g}"
    return text.replace("0.", ".", 1) if abs(number) < 1 else text


def _p(p_value: float) -> str:
    return "p < .001" if p_value < 0.001 else f"p = {_value(p_value)}"


def _names(names: Sequence[str], *, most: int = 12) -> str:
    """Return names in a sentence: "A, B and C"."""
    if 1 < len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return listed(names, most=most)


def _by_name(comparison: TableComparison, column: str) -> dict[str, float]:
    """Return a column of the summary, best mean rank first."""
    return {str(name): float(value) for name, value in comparison.summary[column].items()}


def _best_mean(comparison: TableComparison, leader: str, unit: str, seed: int) -> str:
    """Return who has the best mean, by how much, with an interval of the difference."""
    direction = 1 if comparison.higher_is_better else -1
    rows, n = comparison.table.rename(columns=str), comparison.pairs.n
    means = _by_name(comparison, "mean")
    second = max((name for name in means if name != leader), key=lambda k: direction * means[k])
    differences = direction * (rows[leader] - rows[second]).to_numpy()
    if not differences.any():
        return (
            f"{leader} and {second} have the same {comparison.title} on all {n} {unit}, "
            f"{_value(means[leader])} on average."
        )
    rng = np.random.default_rng(seed)
    draws = differences[rng.integers(n, size=(_RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return (
        f"{leader} has the best mean {comparison.title}, {_value(means[leader])} over {n:,} "
        f"{unit}, {_value(differences.mean())} ahead of {second} (95% interval of the "
        f"difference {_value(low)} to {_value(high)})."
    )


def _best_rank(comparison: TableComparison, ranks: Mapping[str, float], unit: str) -> str:
    first, second = list(ranks)[:2]
    return (
        f"{first} has the best mean rank by {comparison.title}, {ranks[first]:.2f} over "
        f"{comparison.pairs.n:,} {unit}, before {second} with {ranks[second]:.2f}; missing values "
        "rank last."
    )


def _significance(
    comparison: TableComparison, leader: str, top: str, unit: str, compared: str
) -> tuple[bool, str]:
    """Return whether the leader is significantly better than all others, and a sentence."""
    pairs, overall = comparison.pairs, comparison.global_test
    if not pairs.can_be_significant:
        needed = "" if pairs.rows_needed is None else f" ({pairs.rows_needed:,} or more are needed)"
        text = f"Undecided: with {pairs.n:,} {unit}, no pair can differ significantly{needed}."
        return False, text
    if overall is not None and not overall.significant:
        return False, (
            f"Undecided: {overall.test}'s test finds no difference among the "
            f"{overall.n_columns} {compared} ({_p(overall.p_value)}, {pairs.n:,} {unit})."
        )
    method = f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}"
    p_values = pairs.p_values.rename(index=str, columns=str)
    better, worse = _differing(comparison, leader)
    if top != leader:
        p_value = p_values.loc[leader, top]
        differ = "differ" if top in [*better, *worse] else "do not differ"
        said = [
            f"{name} is significantly better than "
            f"{_names(_differing(comparison, name)[0], most=6) or f'none of the other {compared}'}"
            for name in (leader, top)
        ]
        return False, (
            f"Undecided: {leader} leads by mean and {top} by mean rank; these two {differ} "
            f"significantly ({_p(p_value)}). {'. '.join(said)} ({method})."
        )
    rest = [name for name in p_values if name not in (leader, *better, *worse)]
    unclear = _names([f"{name} ({_p(p_values.loc[leader, name])})" for name in rest])
    if len(rest) > _SHOWN:
        unclear = f"{_names(rest)} (smallest {_p(p_values.loc[leader, rest].min())})"
    if not better and not worse:
        text = f"Undecided: {leader} does not differ significantly from {unclear} ({method})."
        return False, text
    several = len(better) > 1 and not rest and not worse
    than = f"all other {compared}" if several else _names(better)
    said = [f"{leader} is significantly better than {than} ({method})."] * bool(better)
    said += [f"{leader} is significantly worse than {_names(worse)} ({method})."] * bool(worse)
    said += [f"{leader} does not differ significantly from {unclear}."] * bool(rest)
    return not rest and not worse, " ".join(said)


def _differing(comparison: TableComparison, name: str) -> tuple[list[str], list[str]]:
    """Return the names than which a name is significantly better, and significantly worse."""
    ranks = _by_name(comparison, "mean_rank")
    sign = 1 if comparison.higher_is_better else -1
    found: tuple[list[str], list[str]] = ([], [])
    for row in comparison.pairs_frame().query("significant").itertuples(index=False):
        first, second = str(row.first), str(row.second)
        # Wilcoxon's test is about the signed ranks of differences, Nemenyi's about mean ranks.
        ahead = sign * row.rank_biserial
        if comparison.pairs.critical_difference is not None:
            ahead = ranks[second] - ranks[first]
        if name in (first, second):
            other = second if name == first else first
            found[(ahead > 0) != (name == first)].append(other)
    better, worse = (sorted(names, key=ranks.__getitem__) for names in found)
    return better, worse


def _weakness(
    comparison: TableComparison,
    leader: str,
    datasets: Mapping[Hashable, str],
    rows: Mapping[Hashable, str],
    unit: str,
) -> str:
    """Return where the leader does worst compared with the best other detector."""
    table: pd.DataFrame = comparison.table.rename(columns=str)
    names, groups = [str(datasets.get(row, "")) for row in table.index], "data sets"
    if len(set(names)) < _FEW_GROUPS:
        names, groups = [str(rows.get(row, _label(row))) for row in table.index], unit
    found = table.groupby(names, sort=False).mean()
    direction = 1 if comparison.higher_is_better else -1
    others = direction * found.drop(columns=leader)
    gaps = direction * found[leader] - others.max(axis=1)
    place = gaps.idxmin()
    if gaps[place] >= 0:
        lowest = (direction * found[leader]).idxmin()
        return (
            f"{leader} is best on each of the {len(found):,} {groups}; its worst value is "
            f"{_value(found.loc[lowest, leader])} on {lowest}."
        )
    rival = others.loc[place].idxmax()
    return (
        f"{leader} is not the best on {(gaps < 0).sum():,} of {len(found):,} {groups}; it is "
        f"weakest on {place}: {_value(found.loc[place, leader])}, where {rival} gets "
        f"{_value(found.loc[place, rival])}."
    )


def _label(row: Hashable) -> str:
    """Return the label of a row of a table: data set and series, a name or a number."""
    if isinstance(row, tuple):
        return "/".join(map(str, row))
    return row if isinstance(row, str) else f"row {row}"


def _chance(level: float, above: Mapping[str, bool]) -> str:
    """Return what random scores get, and who is not above it."""
    named = [name for name in above if name.lower() != "random"]
    below = [name for name in named if not above[name]]
    others = "all detectors" if len(named) == len(above) else "all other detectors"
    rest = f"{others}{' except ' * bool(below)}{_names(below)} are above"
    if below == named:
        rest = "no detector is above"
    if len(above) == 1:
        (name,) = above
        rest = f"{name} is {'not ' * bool(below)}above"
    return f"Random scores get {_value(level)} on average; {rest}."


def _measures(
    comparison: TableComparison, leader: str, by_measure: Mapping[str, TableComparison]
) -> str:
    """Return whether the leader leads by other measures, and how similar the orders are."""
    taus = {title: kendall_tau(comparison, one) for title, one in by_measure.items()}
    winners = {title: str(one.leader(leader)) for title, one in by_measure.items()}
    lowest = min(taus, key=lambda title: taus[title])
    least = (
        _value(taus[lowest]) if len(taus) == 1 else f"at least {_value(taus[lowest])} ({lowest})"
    )
    tau = f"Kendall's tau with the mean ranks by {comparison.title}: {least}."
    if set(winners.values()) == {leader}:
        return f"{leader} also leads by {_names(list(winners), most=_SHOWN)}. {tau}"
    winners = {comparison.title: leader, **winners}
    return f"The winner depends on the measure: {_winners(winners)}. {tau}"


def _winners(winners: Mapping[str, str], by: str = "by") -> str:
    """Return who leads by what: "A leads by X and Y; B leads by Z"."""
    found: dict[str, list[str]] = {}
    for what, name in winners.items():
        found.setdefault(name, []).append(what)
    return "; ".join(
        f"{name} leads {by} {_names(several, most=_SHOWN)}" for name, several in found.items()
    )


def kendall_tau(one: TableComparison, other: TableComparison) -> float:
    """Return Kendall's tau-b of the mean ranks of the detectors in both comparisons."""
    ranks = [_by_name(found, "mean_rank") for found in (one, other)]
    names = [name for name in ranks[0] if name in ranks[1]]
    upper = np.triu_indices(len(names), 1)
    first, second = (
        np.sign(np.subtract.outer(values, values))[upper]
        for values in (np.array([found[name] for name in names]) for found in ranks)
    )
    norm = math.sqrt(float((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / norm if norm else math.nan
