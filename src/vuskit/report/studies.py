"""Pages, tables and figures of the studies of measures, written into a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report.common import StudyReport, groups_sentence, markdown_table, titles_of
from vuskit.report.figures import (
    CentredBoxDisplay,
    CriticalDifferenceDisplay,
    EntropyDisplay,
    RankLinesDisplay,
    RobustnessBarsDisplay,
    ScatterDisplay,
    ScenarioDisplay,
    SeparabilityBarsDisplay,
    SeparabilityBoxDisplay,
    SummaryDisplay,
    SweepDisplay,
)
from vuskit.studies.base import BufferUse, Failure, MeasureSettings, SeriesValues
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.saved import save_study_result
from vuskit.studies.scenarios import ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.statistics.comparison import TableComparison
from vuskit.studies.summary import Summary

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "average_table",
    "write_comparison",
    "write_consistency",
    "write_robustness",
    "write_scenarios",
    "write_separability",
    "write_summary",
]

_LISTED = 20


def average_table(frame: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Averages by measure, under their titles, for reading."""
    titled = frame.rename(index=titles_of(measures))
    titled.index.name = "measure"
    return titled.reset_index()


def _if_possible(make: Callable[[], TableComparison]) -> TableComparison | None:
    """A comparison, or None where there are too few series or measures for one."""
    try:
        return make()
    except InvalidInputError:
        return None


def _buffers(settings: MeasureSettings, values: Iterable[SeriesValues]) -> str:
    return f"Buffer: {BufferUse.of(settings, values)}."


def _failures(failures: tuple[Failure, ...]) -> list[str]:
    if not failures:
        return ["No series failed."]
    listed = "\n".join(f"- {one.name}: {one.reason}" for one in failures[:_LISTED])
    more = f"\n- and {len(failures) - _LISTED} more" if len(failures) > _LISTED else ""
    return [f"{len(failures)} series could not be studied:\n\n{listed}{more}"]


def _tests(comparison: TableComparison, measures: Iterable[Measure]) -> list[str]:
    return [
        "\n".join(f"- {text}" for text in comparison.tests),
        groups_sentence(comparison.groups, titles_of(measures)),
    ]


def write_robustness(
    result: RobustnessResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the robustness study: deviations, averages, tests, figures and a page.

    Parameters
    ----------
    result : RobustnessResult
        At least one series.
    folder : str or Path
        Made if it does not exist.
    series : str, optional
        The series whose box plots are drawn; the first by default.
    alpha : float, default=0.1
        Level of significance of the tests.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Of the figures.
    latex : bool, default=False
        Write tables of up to 200 rows as ``.tex`` too, beside the ``.csv``.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If the result is empty, has no such series, or the format is unknown.
    """
    report = StudyReport("robustness", figure_format, latex, titles_of(result.measures))
    measures = result.measures
    averages, counts = result.averages(), result.undefined()
    over_series = result.averages(over="series")
    report.tables |= {
        "deviations": result.to_frame(),
        "datasets": result.by_dataset().reset_index(),
        "averages": averages.rename_axis("measure").reset_index(),
        "averages_over_series": over_series.rename_axis("measure").reset_index(),
        "undefined": counts,
    }
    report.say(
        "# Robustness",
        f"{len(result.values)} series, {result.task.count} perturbations of each kind, seed "
        f"{result.task.seed}. Mean standard deviation of each measure: over detectors, series, "
        "data sets. Low is robust.",
        _buffers(result.task.settings, result.values),
    )
    report.show("averages", "averages", RobustnessBarsDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, measures)))
    boxes = CentredBoxDisplay.from_result(result, series)
    report.show(f"values on {boxes.series} less the detector's mean", "boxes", boxes)
    for kind in result.task.perturbations:
        report.say(f"## {kind}")
        bars = RobustnessBarsDisplay.from_result(result, perturbation=kind)
        report.show(f"{kind} by data set", f"datasets_{kind}", bars)
        comparison = _if_possible(partial(result.compare, kind, alpha=alpha))
        if comparison is None:
            report.say("Too few series with all measures defined for a test.")
            continue
        report.tables[f"ranks_{kind}"] = comparison.to_frame()
        report.tables[f"pairs_{kind}"] = comparison.pairs_frame()
        diagram = CriticalDifferenceDisplay.from_comparison(comparison)
        report.show(f"ranks, {kind}", f"ranks_{kind}", diagram)
        report.say(*_tests(comparison, measures))
    total = counts.groupby("perturbation", sort=False).sum(numeric_only=True).reset_index()
    report.say("## Undefined", markdown_table(total), *_failures(result.failures))
    return [*report.write(folder), save_study_result(result, folder)]


def write_separability(
    result: SeparabilityResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the separability study; parameters as for :func:`write_robustness`."""
    report = StudyReport("separability", figure_format, latex, titles_of(result.measures))
    averages = result.averages()
    with_pairs = [one.name for one in result.values if one.notes["pairs"]]
    report.tables |= {
        "z": result.to_frame(),
        "series": result.by_series().reset_index(),
        "averages": averages.reset_index(),
    }
    report.say(
        "# Separability",
        f"Pairs: {result.rule}. {len(with_pairs)} series have such pairs, "
        f"{len(result.series_without_pairs)} have none. High z is separable. The mean is over the "
        "series of their mean z, without infinite and undefined ones; the median, and the share "
        "of pairs that are the right way round, know infinite z. Where nothing varies and the "
        "means are equal z is 0.",
        _buffers(result.settings, result.values),
    )
    report.show("z", "z", SeparabilityBarsDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, result.measures)))
    boxes = SeparabilityBoxDisplay.from_result(result, series)
    report.show(f"values of pairs of detectors on {boxes.series}", "pairs", boxes)
    comparison = _if_possible(lambda: result.compare(alpha=alpha))
    if comparison is not None:
        report.tables["ranks"] = comparison.to_frame()
        report.tables["measure_pairs"] = comparison.pairs_frame()
        report.show("ranks", "ranks", CriticalDifferenceDisplay.from_comparison(comparison))
        report.say(*_tests(comparison, result.measures))
    report.say(*_failures(result.failures))
    return [*report.write(folder), save_study_result(result, folder)]


def write_consistency(
    result: ConsistencyResult,
    folder: str | Path,
    *,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the consistency study: ranks, entropies, averages, figures and a page."""
    report = StudyReport("consistency", figure_format, latex, titles_of(result.measures))
    averages = result.averages()
    families = result.by_family().reset_index()
    report.tables |= {
        "ranks": result.to_frame(),
        "entropies": result.entropies().reset_index(),
        "averages": averages.reset_index(),
        "families": families,
        "rank_table": result.rank_table().reset_index(),
    }
    left_out = ", ".join(result.small_datasets)
    report.say(
        "# Consistency",
        f"Shannon entropy of a detector's ranks over the series of a data set, in bits; mean over "
        f"detectors and data sets. Low is consistent. Equal values get the {result.ties} rank. "
        f"Data sets of fewer than {result.min_series} series are left out: {left_out or 'none'}.",
        _buffers(result.settings, result.values),
    )
    report.show("entropy", "entropies", EntropyDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, result.measures)), markdown_table(families))
    report.show("ranks", "ranks", RankLinesDisplay.from_result(result))
    entropies = RankLinesDisplay.from_result(result, quantity="entropy")
    report.show("entropy by detector", "detectors", entropies)
    for dataset in dict.fromkeys(one.dataset for one in result.values):
        report.tables[f"rank_table_{dataset}"] = result.rank_table(dataset).reset_index()
    undefined = f"Undefined values: {int(result.undefined().sum())}."
    report.say(undefined, *_failures(result.failures))
    return [*report.write(folder), save_study_result(result, folder)]


def write_scenarios(
    result: ScenarioResult, folder: str | Path, *, figure_format: str = "png", latex: bool = False
) -> list[Path]:
    """Write the scenarios: values, what happens at the first touch, figures and a page."""
    report = StudyReport("scenarios", figure_format, latex, titles_of(result.measures))
    touch = result.at_first_touch()
    report.tables |= {
        "values": result.to_frame(),
        "sweep": result.sweep_frame(),
        "touch": touch.reset_index(),
    }
    report.say(
        "# Scenarios",
        f"One anomaly of {result.length} points among {result.n_points:,}, buffer "
        f"{result.buffer}, and a prediction that moves over it.",
    )
    report.show("values", "values", ScenarioDisplay.from_result(result))
    report.say(
        "## At the first touch",
        "`credit`: what just missing is worth, from 0 (a miss) to 1 (the exact match). `jump`: how "
        "much of the rise from a miss to the first touch happens at the touch itself; 1 is all of "
        "it.",
        markdown_table(average_table(touch, result.measures)),
    )
    report.show("sweep", "sweep", SweepDisplay.from_result(result))
    report.say(f"Undefined values: {sum(result.undefined().values())}.")
    return [*report.write(folder), save_study_result(result, folder)]


def write_summary(
    summary: Summary, folder: str | Path, *, figure_format: str = "png", latex: bool = False
) -> list[Path]:
    """Write the summary: ranks in all studies, the scatter and a page."""
    report = StudyReport("summary", figure_format, latex, titles_of(summary.measures))
    scatter = summary.scatter().reset_index()
    report.tables |= {"ranks": summary.to_frame(), "scatter": scatter}
    report.say(
        "# Summary",
        "Rank of every measure in every study, 1 is best, and the mean of the five ranks.",
    )
    report.show("ranks", "ranks", SummaryDisplay.from_summary(summary))
    report.say(
        markdown_table(average_table(summary.ranks, summary.measures)),
        "The numbers behind the ranks: mean standard deviations, z, mean entropy.",
        markdown_table(average_table(summary.scores, summary.measures)),
    )
    title = "robustness against separability"
    report.show(title, "scatter", ScatterDisplay.from_summary(summary))
    return [*report.write(folder), save_study_result(summary, folder)]


def write_comparison(
    comparison: TableComparison,
    folder: str | Path,
    *,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write a comparison: ranks, pairs with effect sizes, the diagram and a page."""
    report = StudyReport("comparison", figure_format, latex)
    report.tables |= {"ranks": comparison.to_frame(), "pairs": comparison.pairs_frame()}
    report.say(f"# Comparison by {comparison.title}")
    report.show("diagram", "diagram", CriticalDifferenceDisplay.from_comparison(comparison))
    report.say(markdown_table(comparison.to_frame()), *_tests(comparison, ()))
    return report.write(folder)
