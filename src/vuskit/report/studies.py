"""Pages, tables and figures of the studies of measures, written into a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report import figures_measures as figures
from vuskit.report.common import markdown_table, picture, titles_of, write_files
from vuskit.report.figures_scenarios import draw_scenarios, draw_sweep
from vuskit.studies.comparison import TableComparison
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.runner import Failure
from vuskit.studies.saved import save_study_result
from vuskit.studies.scenarios import ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import Summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

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


def _failures(failures: tuple[Failure, ...]) -> list[str]:
    if not failures:
        return ["No series failed."]
    listed = "\n".join(f"- {one.name}: {one.reason}" for one in failures[:_LISTED])
    more = f"\n- and {len(failures) - _LISTED} more" if len(failures) > _LISTED else ""
    return [f"{len(failures)} series could not be studied:\n\n{listed}{more}"]


def _tests(comparison: TableComparison, measures: Iterable[Measure]) -> list[str]:
    titles = titles_of(measures)
    groups = "; ".join(
        ", ".join(titles.get(str(name), str(name)) for name in group)
        for group in comparison.cliques
    )
    return [
        "\n".join(f"- {text}" for text in comparison.tests),
        f"Groups without a significant difference: {groups or 'none'}.",
    ]


def write_robustness(
    result: RobustnessResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
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

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If the result is empty, has no such series, or the format is unknown.
    """
    measures = result.measures
    averages, counts = result.averages(), result.undefined()
    tables = {
        "deviations": result.to_frame(),
        "datasets": result.by_dataset().reset_index(),
        "averages": averages.rename_axis("measure").reset_index(),
        "averages_over_series": result.averages(over="series").rename_axis("measure").reset_index(),
        "undefined": counts,
    }
    shown = series or result.values[0].name
    pictures: dict[str, Figure] = {
        "averages": figures.draw_averages(result),
        "boxes": figures.draw_centred_boxes(result, shown),
    }
    page = [
        "# Robustness",
        f"{len(result.values)} series, {result.task.count} perturbations of each kind, seed "
        f"{result.task.seed}. Mean standard deviation of each measure: over detectors, series, "
        "data sets. Low is robust.",
        picture("averages", f"robustness_averages.{figure_format}"),
        markdown_table(average_table(averages, measures)),
        picture("one series", f"robustness_boxes.{figure_format}"),
    ]
    for kind in result.task.perturbations:
        pictures[f"datasets_{kind}"] = figures.draw_dataset_bars(result, perturbation=kind)
        page += [
            f"## {kind}",
            picture(f"{kind} by data set", f"robustness_datasets_{kind}.{figure_format}"),
        ]
        comparison = _if_possible(lambda kind=kind: result.compare(kind, alpha=alpha))  # type: ignore[misc]
        if comparison is None:
            page.append("Too few series with all measures defined for a test.")
            continue
        tables[f"ranks_{kind}"] = comparison.to_frame()
        tables[f"pairs_{kind}"] = comparison.pairs.to_frame()
        pictures[f"ranks_{kind}"] = figures.draw_critical_difference(
            comparison, titles=titles_of(measures)
        )
        page += [picture(f"ranks, {kind}", f"robustness_ranks_{kind}.{figure_format}")]
        page += _tests(comparison, measures)
    total = counts.groupby("perturbation", sort=False).sum(numeric_only=True).reset_index()
    page += ["## Undefined", markdown_table(total), *_failures(result.failures)]
    return [
        *write_files(
            folder,
            "robustness",
            tables=tables,
            figures=pictures,
            page=page,
            figure_format=figure_format,
        ),
        save_study_result(result, folder),
    ]


def write_separability(
    result: SeparabilityResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
) -> list[Path]:
    """Write the separability study; parameters as for :func:`write_robustness`."""
    averages = result.averages()
    with_pairs = [one.name for one in result.values if one.notes["pairs"]]
    tables = {
        "z": result.to_frame(),
        "series": result.by_series().reset_index(),
        "averages": averages.reset_index(),
    }
    pictures = {
        "z": figures.draw_z(result),
        "pairs": figures.draw_pairs(result, series or with_pairs[0]),
    }
    page = [
        "# Separability",
        f"Pairs: {result.rule}. {len(with_pairs)} series have such pairs, "
        f"{len(result.series_without_pairs)} have none. High z is separable; infinite z and "
        "undefined ones are counted, not averaged.",
        picture("z", f"separability_z.{figure_format}"),
        markdown_table(average_table(averages, result.measures)),
        picture("pairs", f"separability_pairs.{figure_format}"),
    ]
    comparison = _if_possible(lambda: result.compare(alpha=alpha))
    if comparison is not None:
        tables["ranks"] = comparison.to_frame()
        pictures["ranks"] = figures.draw_critical_difference(
            comparison, titles=titles_of(result.measures)
        )
        page += [
            picture("ranks", f"separability_ranks.{figure_format}"),
            *_tests(comparison, result.measures),
        ]
    page += _failures(result.failures)
    return [
        *write_files(
            folder,
            "separability",
            tables=tables,
            figures=pictures,
            page=page,
            figure_format=figure_format,
        ),
        save_study_result(result, folder),
    ]


def write_consistency(
    result: ConsistencyResult, folder: str | Path, *, figure_format: str = "png"
) -> list[Path]:
    """Write the consistency study: ranks, entropies, averages, figures and a page."""
    averages = result.averages()
    tables: dict[str, Any] = {
        "ranks": result.to_frame(),
        "entropies": result.entropies().reset_index(),
        "averages": averages.reset_index(),
        "families": result.by_family().reset_index(),
        "rank_table": result.rank_table().reset_index(),
    }
    pictures = {
        "entropies": figures.draw_entropies(result),
        "ranks": figures.draw_rank_lines(result),
    }
    left_out = ", ".join(result.small_datasets)
    page = [
        "# Consistency",
        f"Shannon entropy of a detector's ranks over the series of a data set, in bits; mean over "
        f"detectors and data sets. Low is consistent. Equal values get the {result.ties} rank. "
        f"Data sets of fewer than {result.min_series} series are left out: {left_out or 'none'}.",
        picture("entropy", f"consistency_entropies.{figure_format}"),
        markdown_table(average_table(averages, result.measures)),
        markdown_table(result.by_family().reset_index()),
        picture("ranks", f"consistency_ranks.{figure_format}"),
    ]
    for dataset in dict.fromkeys(one.dataset for one in result.values):
        name = f"rank_table_{dataset}"
        tables[name] = result.rank_table(dataset).reset_index()
    page += [f"Undefined values: {int(result.undefined().sum())}.", *_failures(result.failures)]
    return [
        *write_files(
            folder,
            "consistency",
            tables=tables,
            figures=pictures,
            page=page,
            figure_format=figure_format,
        ),
        save_study_result(result, folder),
    ]


def write_scenarios(
    result: ScenarioResult, folder: str | Path, *, figure_format: str = "png"
) -> list[Path]:
    """Write the scenarios: values, what happens at the first touch, figures and a page."""
    touch = result.at_first_touch()
    tables = {
        "values": result.to_frame(),
        "sweep": result.sweep_frame(),
        "touch": touch.reset_index(),
    }
    pictures = {"values": draw_scenarios(result), "sweep": draw_sweep(result)}
    page = [
        "# Scenarios",
        f"One anomaly of {result.length} points among {result.n_points:,}, buffer "
        f"{result.buffer}, and a prediction that moves over it.",
        picture("values", f"scenarios_values.{figure_format}"),
        "## At the first touch",
        "`credit`: what just missing is worth, from 0 (a miss) to 1 (the exact match). `jump`: the "
        "share of the value of touching that was not there just before.",
        markdown_table(average_table(touch, result.measures)),
        picture("sweep", f"scenarios_sweep.{figure_format}"),
        f"Undefined values: {sum(result.undefined().values())}.",
    ]
    return [
        *write_files(
            folder,
            "scenarios",
            tables=tables,
            figures=pictures,
            page=page,
            figure_format=figure_format,
        ),
        save_study_result(result, folder),
    ]


def write_summary(
    summary: Summary, folder: str | Path, *, figure_format: str = "png"
) -> list[Path]:
    """Write the summary: ranks in all studies, the scatter and a page."""
    pictures = {
        "ranks": figures.draw_summary(summary),
        "scatter": figures.draw_scatter(summary),
    }
    page = [
        "# Summary",
        "Rank of every measure in every study, 1 is best, and the mean of the five ranks.",
        picture("ranks", f"summary_ranks.{figure_format}"),
        markdown_table(average_table(summary.ranks, summary.measures)),
        "The numbers behind the ranks: mean standard deviations, z, mean entropy.",
        markdown_table(average_table(summary.scores, summary.measures)),
        picture("robustness against separability", f"summary_scatter.{figure_format}"),
    ]
    tables = {"ranks": summary.to_frame(), "scatter": summary.scatter().reset_index()}
    return [
        *write_files(
            folder,
            "summary",
            tables=tables,
            figures=pictures,
            page=page,
            figure_format=figure_format,
        ),
        save_study_result(summary, folder),
    ]


def write_comparison(
    comparison: TableComparison, folder: str | Path, *, figure_format: str = "png"
) -> list[Path]:
    """Write a comparison: ranks, pairs with effect sizes, the diagram and a page."""
    pairs = comparison.pairs.to_frame().merge(comparison.effect_sizes(), on=["first", "second"])
    tables = {"ranks": comparison.to_frame(), "pairs": pairs}
    pictures = {"diagram": figures.draw_critical_difference(comparison)}
    page = [
        f"# Comparison by {comparison.title}",
        picture("diagram", f"comparison_diagram.{figure_format}"),
        markdown_table(comparison.to_frame()),
        *_tests(comparison, ()),
    ]
    return write_files(
        folder,
        "comparison",
        tables=tables,
        figures=pictures,
        page=page,
        figure_format=figure_format,
    )
