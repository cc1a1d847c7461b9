"""Figures 9 to 16 and 19: results of the studies about the measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.figures import (
    CenteredBoxDisplay,
    EntropyDisplay,
    Panel,
    PanelsDisplay,
    RankLinesDisplay,
    RobustnessBarsDisplay,
    ScatterDisplay,
    SeparabilityBarsDisplay,
    SeparabilityBoxDisplay,
    SeriesDisplay,
    SummaryDisplay,
)
from vuskit.figures.critical_difference import BARS
from vuskit.measures.registry import Measure
from vuskit.paper.concept_figures import first_channel, first_run
from vuskit.paper.examples import MBA_805, MBA_820, SED, find_series
from vuskit.paper.exhibits import Built, NotPossibleError, Part, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import (
    RANGE_AWARE,
    in_order,
    number,
    plural,
    series_count,
    title_of,
    titles,
    with_values,
)
from vuskit.studies import RobustnessResult, Separability, SeparabilityResult

if TYPE_CHECKING:
    import pandas as pd

__all__: list[str] = []

_MOST_PAIRS = 4
_DATASETS = {"pairs": 2, "separability": 3, "consistency": 2}
_PERTURBATIONS = ("lag", "noise", "ratio")


def _concat(tables: Any, **options: Any) -> pd.DataFrame:
    frame: pd.DataFrame = require("pandas", purpose="tables").concat(tables, **options)
    return frame


def _long(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a long table with one row for each cell; the columns of `table` are measures."""
    table = table.rename_axis(columns="measure")
    found: pd.DataFrame = table.stack(future_stack=True).rename(value).reset_index()
    return found


# -- Figure 9 --------------------------------------------------------------------------------------


@exhibit("fig", 9, "scenarios", title="A prediction moves over an anomaly", needs=["scenarios"])
def scenarios(material: Material) -> Built:
    """Values of all measures for predictions around one anomaly."""
    found = material.scenarios
    credit = in_order(found.at_first_touch()["credit"], lowest_first=False)
    nothing = [str(name) for name, value in credit.items() if value < 0.005]
    some = credit[credit >= 0.005]
    caption = (
        f"Values for {len(found.scenarios)} predictions on a synthetic series of "
        f"{found.n_points:,} points with one anomaly of {found.length} points and a buffer of "
        f"{found.buffer}. Credit of a prediction that ends just before the anomaly, as a share of "
        f"the way from a clear miss to the exact match: {with_values(some) or 'none'}"
        + (f"; no credit from {titles(nothing)}" if nothing else "")
        + ". Line: first prediction that touches the anomaly. Shaded: near misses that a measure "
        "ignores."
    )
    return Built(caption, found.to_frame(), (Part(found.figures()["values"]),))


# -- Figures 10 to 12: robustness ------------------------------------------------------------------


@exhibit(
    "fig",
    10,
    "lag",
    title="Values of the measures under lag, on one series",
    needs=["consistency", "robustness"],
)
def lag(material: Material) -> Built:
    """Centered values of every measure, one panel for each detector."""
    series = material.examples.compared[0].series
    found = material.robustness
    centered = found.centered(series, "lag")
    detectors = list(dict.fromkeys(centered.index.get_level_values("detector")))
    deviations = found.by_series("lag").loc[tuple(series.rsplit("/", 1))]
    means = RobustnessBarsDisplay(deviations.to_frame("lag"), own_measures=found.measures)
    boxes = CenteredBoxDisplay(
        series,
        {one: centered.loc[one] for one in detectors},
        own_measures=found.measures,
        title=f"Centered values under lag on {series}",
    )
    order = in_order(deviations)
    moved = "labels" if found.study.lag.startswith("labels") else "scores"
    caption = (
        f"(a) Standard deviation of each measure, {_spread_over_detectors(found)}; smallest "
        f"{with_values(order, 3)}; largest {with_values(order.iloc[::-1], 2)}. (b) Values under "
        f"{plural(len(centered.loc[detectors[0]]), 'lag')} of the {moved}, for "
        f"{plural(len(detectors), 'detector')} on {series}, minus the mean of the detector. A "
        "narrow box is robust. Boxes: quartiles and median. Whiskers: last value within 1.5 "
        "interquartile ranges of the box. Scales of the panels differ."
    )
    table = _long(centered, "centered_value").merge(
        deviations.rename_axis("measure").rename("deviation").reset_index(), on="measure"
    )
    return Built(caption, table, (Part(means, "(a) deviation"), Part(boxes, "(b) values")))


def _spread_over_detectors(found: RobustnessResult) -> str:
    return "pooled over detectors" if found.study.spread == "pooled" else "averaged over detectors"


@exhibit(
    "fig",
    11,
    "robustness",
    title="Robustness to lag, noise and ratio",
    needs=["robustness"],
)
def robustness(material: Material) -> Built:
    """Averages over data sets, and each data set."""
    found = material.robustness
    averages, by_dataset = found.averages(), found.by_dataset()
    measures = found.measures
    # Each perturbation has its own scale: noise changes the measures much less than ratio.
    overall = RobustnessBarsDisplay(averages, shares_axis=False, own_measures=measures)
    parts = [Part(overall, "all data sets")]
    said = []
    for kind in found.study.perturbations:
        label = f"mean standard deviation under {kind}"
        display = RobustnessBarsDisplay(by_dataset.loc[kind].T, label, own_measures=measures)
        parts.append(Part(display, f"{kind}, each data set"))
        order = in_order(averages[kind])
        said.append(
            f"{kind}: lowest {with_values(order, 3)}; highest {with_values(order.iloc[::-1], 1)}"
        )
    caption = (
        "Standard deviation of each measure under lag, noise and a changed share of anomalous "
        f"points (ratio), {_spread_text(found)}; lower is more robust. "
        f"{series_count(len(found.values))} of {plural(len(set(found.datasets)), 'data set')}. "
        f"{'. '.join(one[:1].upper() + one[1:] for one in said)}."
    )
    whole = averages.T.rename_axis("perturbation").assign(dataset="all").set_index(
        "dataset", append=True
    )  # fmt: skip
    table = _long(_concat([whole, by_dataset]), "deviation")
    return Built(caption, table, tuple(parts))


def _spread_text(found: RobustnessResult) -> str:
    return f"{_spread_over_detectors(found)}, then averaged over series and data sets"


@exhibit(
    "fig",
    12,
    "robustness-ranks",
    title="Measures ranked by robustness",
    needs=["robustness"],
)
def robustness_ranks(material: Material) -> Built:
    """Diagrams for lag, noise and ratio."""
    found = material.robustness
    compared = found.comparisons()
    if not compared:
        raise NotPossibleError(
            f"tests need at least two series and two measures, got {len(found.values)} series"
        )
    rows, tables, said = [], [], []
    for letter, (kind, one) in zip("abc", compared.items(), strict=False):
        rows.append([Panel(f"({letter}) {kind}", one.figure(own_measures=found.measures))])
        tables.append(one.to_frame().assign(perturbation=kind))
        best = [str(name) for name in one.summary.index[:4]]
        together = next((group for group in one.groups if best[0] in group), ())
        equal = [str(name) for name in together if name != best[0]]
        said.append(
            f"{kind}: {title_of(best[0])} has the best mean rank "
            f"({number(one.summary['mean_rank'].iloc[0])} on {series_count(one.pairs.n)})"
            + (f", not significantly better than {titles(equal)}" if equal else "")
        )
    alpha = next(iter(compared.values())).pairs.alpha
    caption = (
        "Mean ranks of the measures by their standard deviation; 1 is most robust. "
        f"{'. '.join(one[:1].upper() + one[1:] for one in said)}. {BARS} Friedman test, then "
        f"Wilcoxon\N{EN DASH}Holm, \N{GREEK SMALL LETTER ALPHA} = {alpha:g}."
    )
    return Built(caption, _concat(tables, ignore_index=True), (Part(PanelsDisplay(rows)),))


# -- Figures 13 to 15: separability ----------------------------------------------------------------


@exhibit(
    "fig",
    13,
    "pairs",
    title="Accurate and inaccurate detectors under lag and noise",
    needs=["consistency", "separability"],
)
def pairs(material: Material) -> Built:
    """Scores and boxes of a few pairs on two series."""
    parts, tables, said = [], [], []
    for letter, series in zip("ab", _paired_series(material), strict=False):
        found, own = _pairs_on(material, series)
        chosen = _spread(own, _MOST_PAIRS)
        z = found.to_frame()
        z = z[(z["dataset"] + "/" + z["series"]) == series]
        by_pair = z.set_index(["accurate", "inaccurate", "measure"])["z"]
        studied, _ = found.study.prepare(material.scored(series))
        display = pairs_display(found, studied, chosen, by_pair)
        parts.append(Part(display, f"({letter}) {series}"))
        tables.append(z)
        means = in_order(by_pair.groupby("measure").mean(), lowest_first=False)
        said.append(
            f"({letter}) {series}, {len(chosen)} of {plural(len(own), 'pair')} shown: highest "
            f"mean z over all pairs {with_values(means, 3)}; lowest "
            f"{with_values(means.iloc[::-1], 1)}"
        )
    caption = (
        "Values of pairs of an accurate and an inaccurate detector under random lag and noise. "
        f"{'. '.join(said)}. Upper box: accurate detector. Lower, hatched box: inaccurate "
        f"detector. z: difference of their means in {_z_unit(found)}; higher is more separable."
        f"{_without_sed(material)}"
    )
    return Built(caption, _concat(tables, ignore_index=True), tuple(parts))


def _without_sed(material: Material) -> str:
    """Return a sentence if the second series of the paper is missing and none was chosen."""
    if material.choice.series or find_series(SED, material.examples.series) is not None:
        return ""
    return " The paper's second series, SED, is not among the data."


def pairs_display(
    found: SeparabilityResult, scored: ScoredSeries, chosen: list[tuple[str, str]], z: pd.Series
) -> SeparabilityBoxDisplay:
    """Return the scores of some pairs of detectors above the boxes of their values."""
    series = f"{scored.series.dataset}/{scored.series.name}"
    detectors = dict.fromkeys(name for pair in chosen for name in pair)
    lines = {name: first_run(scored, name) for name in detectors}
    return SeparabilityBoxDisplay(
        series,
        chosen,
        [found.pair_values(series, good, bad) for good, bad in chosen],
        [[float(z[good, bad, name]) for name in found.study.names] for good, bad in chosen],
        SeriesDisplay.from_scores(scored.series.labels, lines, series=first_channel(scored)),
        own_measures=found.measures,
        title=f"Separability on {series}",
    )


def _z_unit(found: SeparabilityResult) -> str:
    return "joint standard deviations" if found.study.z == "raw" else "standard errors"


def _spread(items: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Return evenly spaced items, so that most detectors are shown."""
    if len(items) <= count:
        return items
    return [items[round(place * (len(items) - 1) / (count - 1))] for place in range(count)]


def _paired_series(material: Material) -> list[str]:
    """Return the series of Figure 13: those chosen, the paper's, or those with the widest gaps."""
    examples, found = material.examples, material.separability
    if material.choice.series or material.choice.pairs:
        return [one.series for one in examples.compared]
    usable = {one.name: one for one in found.values if one.notes["pairs"]}
    if not usable:
        raise NotPossibleError("no series has a detector that is clearly better than another")
    gaps = {  # published pairs have no criterion
        name: float(np.ptp(list(one.notes["criterion"].values()))) if one.notes["criterion"] else 0
        for name, one in usable.items()
    }
    ordered = sorted(gaps, key=lambda name: (-len(usable[name].notes["pairs"]), -gaps[name], name))
    paper = [find_series(pattern, list(usable)) for pattern in (MBA_805, SED)]
    first = [name for name in paper if name is not None]
    # The second series comes from another data set if possible.
    used = {name.rpartition("/")[0] for name in first or ordered[:1]}
    others = [name for name in ordered if name.rpartition("/")[0] not in used]
    return list(dict.fromkeys([*first, *ordered[: 1 - len(first)], *others, *ordered]))[
        : _DATASETS["pairs"]
    ]


def _pairs_on(material: Material, series: str) -> tuple[SeparabilityResult, list[tuple[str, str]]]:
    """Return the pairs of a series and the result with their values.

    Pairs that the user chose are evaluated here, since the study uses other pairs.
    """
    chosen = material.examples.pairs_on(series)
    if not chosen:
        found = material.separability
        own = [(good, bad) for good, bad in found.series_named(series).notes["pairs"]]
        return found, own
    study = material.separability.study
    options = {name: getattr(study, name) for name in study.options()}
    alone = Separability(
        measures=study.measures,
        settings=study.settings,
        **{**options, "pairs": chosen, "criterion": None},
    )
    return alone.run(material.scored(series)), list(chosen)


@exhibit(
    "fig", 14, "separability", title="Separability of accurate and inaccurate detectors",
    needs=["consistency", "separability"],
)  # fmt: skip
def separability(material: Material) -> Built:
    """Mean and median z over all series, and the mean z of some data sets."""
    found = material.separability
    averages, by_series = found.averages(), found.by_series()
    z = found.to_frame()
    groups = _groups_of_14(material, by_series)
    names = z["dataset"] + "/" + z["series"]
    pandas = require("pandas", purpose="tables")
    bars = pandas.DataFrame(
        {"overall": averages["mean"], **{one: rows.mean() for one, rows in groups.items()}}
    )
    medians = {
        one: z[names.isin(["/".join(pair) for pair in rows.index])].groupby("measure")["z"].median()
        for one, rows in groups.items()
    }
    marks = pandas.DataFrame({"overall": averages["median"], **medians})
    display = SeparabilityBarsDisplay(
        bars,
        "mean z",
        marks.loc[bars.index],
        own_measures=found.measures,
        title="Separability by data set",
    )
    mean = in_order(averages["mean"], lowest_first=False)
    median = in_order(averages["median"], lowest_first=False)
    used = len(found.values) - len(found.series_without_pairs)
    caption = (
        f"z of {int(averages['pairs'].iloc[0]):,} pairs of an accurate and an inaccurate detector "
        f"on {series_count(used)}: difference of their means in {_z_unit(found)}; higher is more "
        f"separable. Highest mean z: {with_values(mean, 3)}. Highest median z: "
        f"{with_values(median, 3)}. AUC-ROC: mean {_of(averages['mean'], 'auc_roc')}, median "
        f"{_of(averages['median'], 'auc_roc')}. Bars: mean over series of their mean finite z, as "
        "in the paper; a few pairs that hardly vary can dominate it. Diamonds: median over pairs."
        f"{_pairs_of_14(found, groups)}"
    )
    columns = {f"mean z, {name}": bars[name] for name in groups}
    columns |= {f"median z, {name}": marks[name] for name in groups}
    table = averages.assign(**columns).reset_index()
    return Built(caption, table, (Part(display),))


def _groups_of_14(material: Material, by_series: Any) -> dict[str, Any]:
    """Return z by series for each panel: the paper's series as published, else data sets."""
    names = ["/".join(map(str, one)) for one in by_series.index]
    if material.separability.study.pairs_are_published and not material.choice.datasets:
        patterns = {"MBA(805)": MBA_805, "MBA(820)": MBA_820, "SED": SED}
        found = {title: find_series(pattern, names) for title, pattern in patterns.items()}
        return {
            title: by_series.iloc[[names.index(name)]]
            for title, name in found.items()
            if name is not None
        }
    present = set(by_series.index.get_level_values("dataset"))
    wanted = material.choice.datasets and material.examples.datasets(_DATASETS["separability"])
    shown = [one for one in wanted or material.examples.sizes if one in present]
    if not wanted:
        shown = shown[: _DATASETS["separability"]]
    return {one: by_series.loc[[one]] for one in shown}


def _pairs_of_14(found: SeparabilityResult, groups: dict[str, Any]) -> str:
    """Name the pairs of the paper's series; empty for data sets."""
    if not found.study.pairs_are_published or not groups:
        return ""
    kept = {"/".join(map(str, one)) for rows in groups.values() for one in rows.index}
    count = sum(len(one.notes["pairs"]) for one in found.values if one.name in kept)
    missing = [one for one in ("MBA(805)", "MBA(820)", "SED") if one not in groups]
    text = f" {', '.join(groups)}: {plural(count, 'pair')}; the paper has 36 on three series."
    return text + (f" Not among the data: {', '.join(missing)}." if missing else "")


def _of(values: Any, name: str) -> str:
    return number(float(values[name])) if name in values else "not computed"


@exhibit(
    "fig",
    15,
    "global",
    title="Robustness and separability",
    needs=["robustness", "separability", "consistency"],
)
def robustness_separability(material: Material) -> Built:
    """One circle for each measure, by mean z as in the paper and by median z."""
    rows, tables, said = [], [], []
    for letter, average in zip("ab", ("mean", "median"), strict=True):
        summary = material.summary(average)
        if not summary.has_scatter:
            raise NotPossibleError("needs lag, noise, ratio and separability")
        points = summary.scatter()
        display = ScatterDisplay(points, f"{average} z", own_measures=summary.measures)
        rows.append([Panel(f"({letter})", display)])
        tables.append(points.reset_index().assign(average=average))
        good = points[
            (points["deviation"] <= points["deviation"].median())
            & (points["z"] >= points["z"].median())
        ]
        said.append(f"({letter}) {titles(map(str, good.index)) or 'none'}")
    caption = (
        "Robustness: mean standard deviation under lag and noise; left is robust. Separability: z "
        "of accurate and inaccurate detectors, as (a) mean and (b) median; up is separable. Circle "
        "area: mean standard deviation under ratio. Measures better than the median measure in "
        f"both: {'; '.join(said)}."
    )
    return Built(caption, _concat(tables, ignore_index=True), (Part(PanelsDisplay(rows)),))


# -- Figure 16: consistency ------------------------------------------------------------------------


@exhibit("fig", 16, "consistency", title="Consistency of the ranks", needs=["consistency"])
def consistency(material: Material) -> Built:
    """Entropy by measure; ranks and entropies of the detectors, overall and by data set."""
    found = material.consistency
    measures, entropies, unit = found.measures, found.entropies(), found.study.entropy
    averages, families = found.averages()["entropy"], found.by_family()
    whole = EntropyDisplay(averages, families, unit, wide=True, own_measures=measures)
    overall = [[Panel("(a) mean entropy", whole)]]
    overall.append(_rank_row(material, None, "", measures))
    studied = list(dict.fromkeys(entropies.index.get_level_values("dataset")))
    chosen = material.examples.datasets(_DATASETS["consistency"])
    shown = [name for name in chosen if name in studied]
    rows = [
        _rank_row(material, name, f".{place}", measures)
        for place, name in enumerate(shown, start=1)
    ]
    parts = [Part(PanelsDisplay(overall), "all data sets")]
    # Two rows fill a page.
    parts += [Part(PanelsDisplay(rows[at : at + 2]), "data sets") for at in range(0, len(rows), 2)]
    order = in_order(averages)
    ranks = found.rank_table()
    first = {name: str(ranks[name].idxmin()) for name in ranks.columns if ranks[name].notna().any()}
    leaders = dict.fromkeys(first.values())
    led = "; ".join(
        f"{leader} by {titles([name for name, own in first.items() if own == leader])}"
        for leader in leaders
    )
    caption = (
        "Entropy: how much the rank of a detector varies over the series of a data set, in "
        f"{unit}; lower is more consistent. (a) Mean entropy by measure and by family of measures. "
        "(b) Mean rank of each detector; 1 is best. (c) Mean entropy of each detector. "
        f"{series_count(len(found.values))}; {plural(len(studied), 'data set')} with enough "
        f"series for an entropy. Lowest mean entropy: {with_values(order, 3)}; highest: "
        f"{with_values(order.iloc[::-1], 2)}. Best mean rank over all series: {led}."
    )
    names = dict.fromkeys(one.dataset for one in found.values)
    tables = [_ranks_of(material, None), *(_ranks_of(material, name) for name in names)]
    means = _concat([averages.rename_axis("measure"), families.rename_axis("measure")])
    tables.append(means.reset_index().assign(dataset="all", detector="all"))
    columns = ["dataset", "detector", "measure", "mean_rank", "entropy"]
    return Built(caption, _concat(tables, ignore_index=True)[columns], tuple(parts))


def _ranks_and_entropies(material: Material, dataset: str | None) -> tuple[Any, Any]:
    """Return mean rank and mean entropy by detector and measure, of one data set or all."""
    found = material.consistency
    ranks = found.rank_table(dataset).reindex(columns=list(found.study.names))
    entropies = found.entropies()
    if dataset is None:
        return ranks, entropies.groupby(level="detector", sort=False).mean()
    known = dataset in entropies.index.get_level_values("dataset")
    return ranks, entropies.loc[dataset] if known else entropies.iloc[:0].droplevel("dataset")


def _ranks_of(material: Material, dataset: str | None) -> pd.DataFrame:
    ranks, entropies = _ranks_and_entropies(material, dataset)
    keys = ["detector", "measure"]
    long = _long(ranks.rename_axis(index="detector"), "mean_rank")
    joined = long.merge(_long(entropies, "entropy"), on=keys, how="left")
    return joined.assign(dataset=dataset or "all")


def _rank_row(
    material: Material, dataset: str | None, suffix: str, measures: tuple[Measure, ...]
) -> list[Panel]:
    ranks, entropies = _ranks_and_entropies(material, dataset)
    unit = material.consistency.study.entropy
    return [
        Panel(
            f"(b{suffix}) mean rank",
            RankLinesDisplay(ranks, "rank", dataset, own_measures=measures),
        ),
        Panel(
            f"(c{suffix}) entropy",
            RankLinesDisplay(entropies, "entropy", dataset, unit=unit, own_measures=measures),
        ),
    ]


# -- Figure 19 -------------------------------------------------------------------------------------


@exhibit(
    "fig",
    19,
    "summary",
    title="Ranks of the measures in all tests",
    needs=["robustness", "separability", "consistency"],
)
def summary(material: Material) -> Built:
    """Rank of every measure in every test, and the mean rank."""
    found, by_median = material.summary("mean"), material.summary("median")
    ranks = found.ranks.join(
        by_median.ranks[["separability", "mean"]].rename(
            columns={"separability": "separability_median_z", "mean": "mean_with_median_z"}
        )
    )
    display = SummaryDisplay(found.ranks, own_measures=found.measures)
    best, other = (str(one.ranks.index[0]) for one in (found, by_median))
    proposed = [str(name) for name in found.ranks.index if name in RANGE_AWARE]
    places = [list(map(str, found.ranks.index)).index(name) + 1 for name in proposed]
    said = ", ".join(
        f"{title_of(name)} {place}" for name, place in zip(proposed, places, strict=True)
    )
    caption = (
        f"Ranks of {len(found.ranks)} measures in every test, and their mean; 1 is best, and all "
        f"tests have equal weight. Best mean rank: {title_of(best)} "
        f"({number(found.ranks['mean'].iloc[0])}) with the mean z as separability, as shown; "
        f"{title_of(other)} ({number(by_median.ranks['mean'].iloc[0])}) with the median z. Places "
        f"of the range-aware measures: {said}."
    )
    table = ranks.join(found.scores.add_suffix("_value")).reset_index()
    return Built(caption, table, (Part(display),))
