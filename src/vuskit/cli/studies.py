"""``vuskit study robustness``, ``separability``, ``consistency``, ``scenarios``, ``summary``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vuskit.cli.studies_options import (
    DEFAULT_OUTPUT,
    Alpha,
    Buffer,
    Definition,
    Load,
    Measures,
    Output,
    Pattern,
    Processes,
    Request,
    Scores,
    Seed,
    Thresholds,
    VolumeFactor,
    chosen_measures,
    request_of,
    show,
)
from vuskit.cli.study import app
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from vuskit.studies import ConsistencyResult, RobustnessResult, SeparabilityResult

__all__ = ["app"]


@app.command()
def robustness(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    count: Annotated[int, typer.Option(min=2, help="Perturbations of each kind.")] = 10,
    lag: Annotated[float, typer.Option(help="Longest lag, in buffers.")] = 0.25,
    noise: Annotated[float, typer.Option(help="Largest noise, in ranges of the score.")] = 0.05,
    seed: Seed = 0,
    processes: Processes = 0,
    alpha: Alpha = 0.1,
) -> None:
    """Measure how much measures change under lag, noise and crops.

    Standard deviations over the perturbations, averaged over detectors,
    series and data sets; Friedman's and Wilcoxon's tests.
    """
    request = request_of(
        scores,
        output,
        measure,
        load,
        series,
        buffer,
        volume_factor,
        thresholds,
        definition,
        processes,
    )
    _robustness(request, alpha, count=count, lag=lag, noise=noise, seed=seed)


def _robustness(request: Request, alpha: float, **own: Any) -> RobustnessResult:
    from vuskit.report.studies import average_table, write_robustness
    from vuskit.studies import robustness_study

    result: RobustnessResult = request.run("robustness", robustness_study, **own)
    page, *_ = write_robustness(result, request.output, alpha=alpha)
    show(page, average_table(result.averages(), result.measures), result.failures)
    counts = result.undefined()[["values", "undefined"]].sum()
    Console().print(f"Undefined values: {counts['undefined']:,} of {counts['values']:,}")
    return result


@app.command()
def separability(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="GOOD:BAD", help="Accurate and inaccurate detector; repeatable."),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="Measure that chooses the pairs; not one under study.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Detectors called accurate.")] = 3,
    bottom: Annotated[int, typer.Option(min=1, help="Detectors called inaccurate.")] = 4,
    min_gap: Annotated[float, typer.Option(help="Least difference of the criterion.")] = 0.1,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    count: Annotated[int, typer.Option(min=2, help="Perturbations of each score.")] = 50,
    seed: Seed = 0,
    processes: Processes = 0,
    alpha: Alpha = 0.1,
) -> None:
    """Measure how well measures keep good and bad detectors apart."""
    request = request_of(
        scores,
        output,
        measure,
        load,
        series,
        buffer,
        volume_factor,
        thresholds,
        definition,
        processes,
    )
    own: dict[str, Any] = {"top": top, "bottom": bottom, "min_gap": min_gap}
    if pair:
        own["pairs"] = [_split_pair(text) for text in pair]
    if criterion is not None:
        own["criterion"] = criterion
    _separability(request, alpha, count=count, seed=seed, **own)


def _split_pair(text: str) -> tuple[str, str]:
    good, colon, bad = text.partition(":")
    if not (good and colon and bad):
        raise InvalidInputError(f"`pair` must be GOOD:BAD, got {text!r}")
    return good, bad


def _separability(request: Request, alpha: float, **own: Any) -> SeparabilityResult:
    from vuskit.report.studies import average_table, write_separability
    from vuskit.studies import separability_study

    result: SeparabilityResult = request.run("separability", separability_study, **own)
    page, *_ = write_separability(result, request.output, alpha=alpha)
    show(page, average_table(result.averages(), result.measures), result.failures)
    Console().print(
        f"Pairs: {result.rule}. Series without: {len(result.series_without_pairs)}", soft_wrap=True
    )
    return result


@app.command()
def consistency(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    min_series: Annotated[
        int, typer.Option(min=2, help="Data sets with fewer series are left out.")
    ] = 3,
    processes: Processes = 0,
) -> None:
    """Measure how alike measures rank detectors within a data set."""
    request = request_of(
        scores,
        output,
        measure,
        load,
        series,
        buffer,
        volume_factor,
        thresholds,
        definition,
        processes,
    )
    _consistency(request, min_series=min_series)


def _consistency(request: Request, **own: Any) -> ConsistencyResult:
    from vuskit.report.studies import average_table, write_consistency
    from vuskit.studies import consistency_study

    result: ConsistencyResult = request.run("consistency", consistency_study, **own)
    page, *_ = write_consistency(result, request.output)
    show(page, average_table(result.averages(), result.measures), result.failures)
    return result


@app.command()
def scenarios(
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    points: Annotated[int, typer.Option(help="Length of the series.")] = 10_000,
    length: Annotated[int, typer.Option(min=10, help="Length of the anomaly.")] = 20,
    buffer: Annotated[int, typer.Option(min=1, help="Buffer of R-AUC.")] = 100,
    volume_factor: VolumeFactor = 1.0,
) -> None:
    """Walk a prediction over an anomaly, S1 to S12."""
    _scenarios(
        output,
        chosen_measures(measure, load),
        n_points=points,
        length=length,
        buffer=buffer,
        volume_factor=volume_factor,
    )


def _scenarios(output: Path, measures: tuple[Measure, ...], **own: Any) -> None:
    from vuskit.report.studies import average_table, write_scenarios
    from vuskit.studies import scenario_study

    result = scenario_study(measures=measures, **own)
    page, *_ = write_scenarios(result, output)
    show(page, average_table(result.at_first_touch(), result.measures))


@app.command()
def summary(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    seed: Seed = 0,
    processes: Processes = 0,
    alpha: Alpha = 0.1,
) -> None:
    """Rank the measures in all studies; what is finished is not repeated."""
    request = request_of(
        scores,
        output,
        measure,
        load,
        series,
        buffer,
        volume_factor,
        thresholds,
        definition,
        processes,
    )
    _summary(request, alpha, seed)


def _summary(request: Request, alpha: float, seed: int) -> None:
    from vuskit.report.studies import average_table, write_summary
    from vuskit.studies import summarise

    found = summarise(
        _robustness(request, alpha, seed=seed),
        _separability(request, alpha, seed=seed),
        _consistency(request),
    )
    page, *_ = write_summary(found, request.output)
    show(page, average_table(found.ranks, found.measures))


@app.command(name="all")
def everything(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    seed: Seed = 0,
    processes: Processes = 0,
    alpha: Alpha = 0.1,
) -> None:
    """Run the scenarios, all studies of the scores, and the summary."""
    request = request_of(
        scores,
        output,
        measure,
        load,
        series,
        buffer,
        volume_factor,
        thresholds,
        definition,
        processes,
    )
    _scenarios(output, request.measures)
    _summary(request, alpha, seed)
