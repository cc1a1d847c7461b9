"""Figures of the paper from results of studies, for chosen series, detectors and data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    CenteredBoxDisplay,
    ConsistencyPanelsDisplay,
    DifferencePanelsDisplay,
    EntropyDisplay,
    RankLinesDisplay,
    ScatterDisplay,
    SeparabilityBarsDisplay,
    SeparabilityBoxDisplay,
    SeriesDisplay,
)
from vuskit.inputs import check_choice
from vuskit.measures.registry import get_measure
from vuskit.statistics.comparison import compare
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.examples import first_channel, first_run
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import summarize

__all__ = [
    "centered_values",
    "consistency_panels",
    "detector_differences",
    "robustness_and_separability",
    "separability_by_dataset",
    "separability_example",
]

_MOST_PANELS, _MOST_PAIRS, _MOST_DATASETS = 8, 4, 2


def detector_differences(
    result: ConsistencyResult,
    dataset: str | None = None,
    *,
    measures: Sequence[str] = ("f_score", "range_f_score"),
    alpha: float = 0.1,
) -> DifferencePanelsDisplay:
    """Critical-difference diagrams of the detectors on one data set, by several measures (Fig. 1).

    Parameters
    ----------
    result : ConsistencyResult
        Contains the value of every detector on every series.
    dataset : str, optional
        The data set. Default: the one with the most series.
    measures : sequence of str, default=("f_score", "range_f_score")
        Names of studied measures; each gets a diagram.
    alpha : float, default=0.1
        Significance level.

    Raises
    ------
    InvalidInputError
        If the data set or a measure was not studied, or there are fewer than two series or
        detectors.

    Examples
    --------
    >>> from vuskit.studies import consistency_study
    >>> from vuskit.studies.examples import example_series
    >>> several = [example_series(seed=seed) for seed in range(3)]
    >>> found = consistency_study(several, measures=["f_score", "range_f_score", "vus_pr"])
    >>> detector_differences(found)
    DifferencePanelsDisplay(F, RF; 2 names)
    """
    frame = result.to_frame()
    name = frame.groupby("dataset")["series"].nunique().idxmax() if dataset is None else dataset
    check_choice("dataset", name, dict.fromkeys(frame["dataset"]))
    frame = frame[frame["dataset"] == name]
    panels = {}
    for one in measures:
        check_choice("measures", one, result.study.names)
        rows = frame[frame["measure"] == one][["dataset", "series", "detector", "value"]]
        panels[get_measure(one).title] = compare(
            rows.rename(columns={"value": one}), measure=one, alpha=alpha
        ).figure()
    return DifferencePanelsDisplay(
        panels,
        title=f"Detectors on {name}, by {' and '.join(panels)}",
        caption="Mean ranks of the detectors. Bars join detectors whose ranks do not differ "
        f"significantly (Wilcoxon-Holm, alpha = {alpha:g}).",
    )


def centered_values(
    result: RobustnessResult,
    series: str | None = None,
    *,
    perturbation: str = "lag",
    detectors: Sequence[str] | None = None,
) -> CenteredBoxDisplay:
    """Values of every measure under a perturbation, one panel per detector (Fig. 10).

    Parameters
    ----------
    result : RobustnessResult
        Result of the robustness study.
    series : str, optional
        Name of the series, with or without its data set. Default: the first series.
    perturbation : str, default="lag"
        Name of the perturbation.
    detectors : sequence of str, optional
        Detectors to show. Default: the first eight.

    Raises
    ------
    InvalidInputError
        If the series, the perturbation or a detector was not studied.

    Examples
    --------
    >>> from vuskit.studies import robustness_study
    >>> from vuskit.studies.examples import example_series
    >>> several = [example_series(seed=seed) for seed in range(3)]
    >>> found = robustness_study(several, measures=["f_score", "range_f_score", "vus_pr"], count=3)
    >>> centered_values(found, detectors=["late"])
    CenteredBoxDisplay(synthetic/ecg-native-medium-3x90-seed0, 3 measures: late)
    """
    name = result.values[0].name if series is None else series
    table = result.centered(name, perturbation)
    found = result.series_named(name)
    known = found.axes["detector"]
    chosen = known[:_MOST_PANELS] if detectors is None else tuple(detectors)
    for one in chosen:
        check_choice("detectors", one, known)
    return CenteredBoxDisplay(
        found.name,
        {one: table.loc[one] for one in chosen},
        own_measures=result.measures,
        title=f"Centered values under {perturbation} on {found.name}",
        caption=f"Values of each measure over {result.study.count} perturbations, centered on "
        "their mean. Box: quartiles and median. Whiskers: last value within 1.5 box lengths.",
    )


def separability_example(
    result: SeparabilityResult,
    scored: ScoredSeries,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> SeparabilityBoxDisplay:
    """Scores of accurate and inaccurate detectors above the box plots of pairs (Fig. 13).

    Parameters
    ----------
    result : SeparabilityResult
        Result of the separability study.
    scored : ScoredSeries
        One of its series, with the scores.
    pairs : sequence of (accurate, inaccurate), optional
        Pairs of the study. Default: up to four, evenly spaced in the study's list of pairs.

    Raises
    ------
    InvalidInputError
        If the series or a pair was not studied.

    Examples
    --------
    >>> from vuskit.studies import separability_study
    >>> from vuskit.studies.examples import example_series
    >>> several = [example_series(seed=seed) for seed in range(3)]
    >>> pairs = [("late", "noisy")]
    >>> found = separability_study(several, measures=["f_score", "vus_pr"], count=3, pairs=pairs)
    >>> separability_example(found, several[0])
    SeparabilityBoxDisplay(synthetic/ecg-native-medium-3x90-seed0, 2 measures of late | noisy)
    """
    series = f"{scored.series.dataset}/{scored.series.name}"
    studied = [tuple(pair) for pair in result.series_named(series).notes["pairs"]]
    if not studied:
        raise InvalidInputError(f"`scored` must be a series with pairs, got {series!r}")
    places = np.unique(np.linspace(0, len(studied) - 1, _MOST_PAIRS).round().astype(int))
    chosen = [studied[place] for place in places] if pairs is None else [tuple(p) for p in pairs]
    values = [result.pair_values(series, good, bad) for good, bad in chosen]
    frame = result.to_frame()
    here = frame["dataset"] == scored.series.dataset
    own = frame[here & (frame["series"] == scored.series.name)]
    z = own.set_index(["accurate", "inaccurate", "measure"])["z"]
    names = list(result.study.names)
    detectors = dict.fromkeys(name for pair in chosen for name in pair)
    lines = {name: first_run(scored, name) for name in detectors}
    return SeparabilityBoxDisplay(
        series,
        [(good, bad) for good, bad in chosen],
        values,
        [[float(z[good, bad, name]) for name in names] for good, bad in chosen],
        SeriesDisplay.from_scores(scored.series.labels, lines, series=first_channel(scored)),
        own_measures=result.measures,
        title=f"Separability on {series}",
        caption="Scores and values of accurate (green) and inaccurate (red, hatched) detectors "
        f"under {result.study.count} perturbations. A measure separates a pair if its boxes are "
        "far apart.",
    )


def separability_by_dataset(
    result: SeparabilityResult, datasets: Sequence[str] | None = None
) -> SeparabilityBarsDisplay:
    """Mean and median z on each data set and overall (Fig. 14).

    Parameters
    ----------
    result : SeparabilityResult
        Result of the separability study.
    datasets : sequence of str, optional
        Data sets to show. Default: all.

    Raises
    ------
    InvalidInputError
        If a data set was not studied.

    Examples
    --------
    >>> from vuskit.studies import separability_study
    >>> from vuskit.studies.examples import example_series
    >>> several = [example_series(seed=seed) for seed in range(3)]
    >>> pairs = [("late", "noisy")]
    >>> found = separability_study(several, measures=["f_score", "vus_pr"], count=3, pairs=pairs)
    >>> separability_by_dataset(found)
    SeparabilityBarsDisplay(2 measures: overall, synthetic)
    """
    pandas = require("pandas", purpose="separability_by_dataset()")
    averages = result.averages()
    means = result.by_series().groupby(level="dataset", sort=False).mean().T
    medians = result.to_frame().pivot_table(
        index="measure", columns="dataset", values="z", aggfunc="median", sort=False
    )
    known = list(means.columns)
    chosen = known if datasets is None else list(datasets)
    for one in chosen:
        check_choice("datasets", one, known)
    table = pandas.DataFrame({"overall": averages["mean"], **{one: means[one] for one in chosen}})
    marks = pandas.DataFrame(
        {"overall": averages["median"], **{one: medians.get(one, np.nan) for one in chosen}}
    )
    return SeparabilityBarsDisplay(
        table,
        "mean z",
        marks.loc[table.index],
        own_measures=result.measures,
        title="Separability by data set",
        caption="z between accurate and inaccurate detectors. Bar: mean over series, each with the "
        "mean of its finite z. Diamond, or note on a bar: median over the pairs. Longer bars: more "
        "separable.",
    )


def robustness_and_separability(
    robustness: RobustnessResult, separability: SeparabilityResult
) -> ScatterDisplay:
    """Mean and median z against the deviation under lag and noise (Fig. 15).

    Parameters
    ----------
    robustness : RobustnessResult
        Result for lag, noise and ratio.
    separability : SeparabilityResult
        Result for the same measures.

    Raises
    ------
    InvalidInputError
        If lag, noise or ratio is missing, or the measures differ.

    Examples
    --------
    >>> from vuskit.studies import robustness_study, separability_study
    >>> from vuskit.studies.examples import example_series
    >>> several, pairs = [example_series(seed=seed) for seed in range(2)], [("late", "noisy")]
    >>> robust = robustness_study(several, measures=["f_score", "vus_pr"], count=3)
    >>> apart = separability_study(several, measures=["f_score", "vus_pr"], count=3, pairs=pairs)
    >>> robustness_and_separability(robust, apart)
    ScatterDisplay(2 measures)
    """
    summary = summarize(robustness, separability)
    if not summary.has_scatter:
        raise InvalidInputError(
            "`robustness` must cover lag, noise and ratio, got "
            f"{', '.join(robustness.study.perturbations)}; run the study with all three"
        )
    averages = separability.averages()
    return ScatterDisplay(
        summary.scatter().assign(z=averages["mean"]),
        "mean z",
        averages["median"],
        own_measures=separability.measures,
        title="Robustness against separability",
        caption="Left is robust, up is separable. Circle: mean z. Dash: median z. The larger the "
        "circle, the more the measure depends on the share of anomalous points.",
    )


def consistency_panels(
    result: ConsistencyResult, datasets: Sequence[str] | None = None
) -> ConsistencyPanelsDisplay:
    """Entropy by family, and ranks and entropies overall and by data set (Fig. 16).

    Parameters
    ----------
    result : ConsistencyResult
        Result of the consistency study.
    datasets : sequence of str, optional
        Data sets with an entropy. Default: the two with the most series.

    Raises
    ------
    InvalidInputError
        If a data set was not studied or has no entropy.

    Examples
    --------
    >>> from vuskit.studies import consistency_study
    >>> from vuskit.studies.examples import example_series
    >>> several = [example_series(seed=seed) for seed in range(3)]
    >>> found = consistency_study(several, measures=["f_score", "range_f_score", "vus_pr"])
    >>> consistency_panels(found)
    ConsistencyPanelsDisplay(3 measures, all data sets, synthetic)
    """
    entropies = result.entropies()
    known = list(dict.fromkeys(entropies.index.get_level_values("dataset")))
    sizes = {one: sum(name == one for name in result.datasets) for one in known}
    largest = sorted(known, key=lambda one: -sizes[one])[:_MOST_DATASETS]
    chosen = largest if datasets is None else list(datasets)
    for one in chosen:
        check_choice("datasets", one, known)
    names, own = list(result.study.names), result.measures
    overall = entropies.groupby(level="detector", sort=False).mean()
    averages = result.averages()["entropy"]
    ranks = [
        RankLinesDisplay(
            result.rank_table(one).reindex(columns=names), "rank", one, own_measures=own
        )
        for one in (None, *chosen)
    ]
    return ConsistencyPanelsDisplay(
        EntropyDisplay(averages, result.by_family(), result.study.entropy, own_measures=own),
        ranks,
        [
            RankLinesDisplay(
                overall if one is None else entropies.loc[one],
                "entropy",
                one,
                result.study.entropy,
                own_measures=own,
            )
            for one in (None, *chosen)
        ],
        title="Ranks of the detectors and their entropy",
        caption="(a) Mean entropy of the ranks by family. (b) Mean rank of each detector, "
        "1 is best. (c) Entropy of its ranks over the series; low is consistent.",
    )
