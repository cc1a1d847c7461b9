"""``vuskit study robustness``, ``separability``, ``consistency``, ``scenarios``, ``summary``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.buffers import parse_buffer
from vuskit.cli._files import check_page
from vuskit.cli._options import (
    Alpha,
    AsLatexFiles,
    Buffer,
    FigureFormat,
    Html,
    Load,
    Measures,
    VolumeFactor,
    chosen_measures,
    count_option,
)
from vuskit.cli._output import AsCsv, AsJson, chosen_format
from vuskit.cli.study._options import (
    DEFAULT_OUTPUT,
    MinSeries,
    Output,
    PairChoice,
    Perturbing,
    Request,
    check_figure_format,
    with_request,
)
from vuskit.cli.study._output import StudyFiles, StudyOutcome, emit_studies, write_study_page
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from vuskit.studies import ConsistencyResult, RobustnessResult, SeparabilityResult

__all__ = ["consistency", "everything", "robustness", "scenarios", "separability", "summary"]

Count = Annotated[
    int | None, count_option("10 of each kind in robustness, 50 in separability, unless given.")
]
_PERIODS_FREE = ("auto", "median_anomaly", "mean_anomaly")


def _emit(request: Request, outcomes: Sequence[StudyOutcome]) -> None:
    """Write what was found, and the page if one is wanted."""
    emit_studies(request.form, outcomes)
    write_study_page(request.html, (one.result for one in outcomes))


@with_request
def robustness(
    request: Request,
    perturbing: Perturbing,
    count: Annotated[int, count_option("of each kind.")] = 10,
    alpha: Alpha = 0.1,
) -> None:
    """Measure how much measures change under lag, noise and crops.

    Standard deviations over the perturbations, averaged over detectors,
    series and data sets; Friedman's and Wilcoxon's tests.

    Example: vuskit study robustness scores --measure vus_pr --measure auc_pr
    """
    outcome = _robustness(request, alpha, **perturbing.to_options(count))
    _emit(request, [outcome])


def _robustness(request: Request, alpha: float, **own: Any) -> StudyOutcome:
    from vuskit.report.page import write_study
    from vuskit.studies import robustness_study

    result: RobustnessResult = request.run("robustness", robustness_study, **own)
    result = result.with_options(alpha=alpha)
    counts = result.undefined()[["values", "undefined"]].sum()
    return StudyOutcome(
        "robustness",
        result,
        result.averages(),
        result.measures,
        request.files.write(write_study, result),
        result.failures,
        facts={"values": int(counts["values"]), "undefined": int(counts["undefined"])},
        notes=(f"undefined values: {counts['undefined']:,} of {counts['values']:,}",),
        buffers=result.buffers,
        datasets=result.datasets,
    )


@with_request
def separability(
    request: Request,
    pairs: PairChoice,
    perturbing: Perturbing,
    count: Annotated[int, count_option("of each score.")] = 50,
    alpha: Alpha = 0.1,
) -> None:
    """Measure how well measures keep good and bad detectors apart.

    Example: vuskit study separability scores --pair good:bad
    """
    own = pairs.to_options() | perturbing.to_options(count)
    _emit(request, [_separability(request, alpha, **own)])


def _separability(request: Request, alpha: float, **own: Any) -> StudyOutcome:
    from vuskit.report.page import write_study
    from vuskit.studies import separability_study

    result: SeparabilityResult = request.run("separability", separability_study, **own)
    result = result.with_options(alpha=alpha)
    without = len(result.series_without_pairs)
    return StudyOutcome(
        "separability",
        result,
        result.averages(),
        result.measures,
        request.files.write(write_study, result),
        result.failures,
        facts={"pairs": result.rule, "series_without_pairs": without},
        notes=(f"pairs: {result.rule}; series without: {without}",),
        buffers=result.buffers,
    )


@with_request
def consistency(
    request: Request,
    min_series: MinSeries = 3,
) -> None:
    """Measure how alike measures rank detectors within a data set.

    Example: vuskit study consistency scores --min-series 5
    """
    _emit(request, [_consistency(request, min_series=min_series)])


def _consistency(request: Request, **own: Any) -> StudyOutcome:
    from vuskit.report.page import write_study
    from vuskit.studies import consistency_study

    result: ConsistencyResult = request.run("consistency", consistency_study, **own)
    return StudyOutcome(
        "consistency",
        result,
        result.averages(),
        result.measures,
        request.files.write(write_study, result),
        result.failures,
        facts={"small_datasets": list(result.small_datasets)},
        buffers=result.buffers,
        datasets=result.datasets,
    )


def scenarios(
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    points: Annotated[int, typer.Option(metavar="N", help="Length of the series.")] = 10_000,
    length: Annotated[int, typer.Option(min=10, metavar="N", help="Length of the anomaly.")] = 20,
    buffer: Buffer = "100",
    volume_factor: VolumeFactor = 1.0,
    figure_format: FigureFormat = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
) -> None:
    """Walk a prediction over an anomaly, S1 to S12.

    Example: vuskit study scenarios --measure vus_pr --measure f_score
    """
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_page("--html", html, made=output)
    files = StudyFiles(output, check_figure_format(figure_format), as_latex)
    settings = {"n_points": points, "length": length, "volume_factor": volume_factor}
    measures = chosen_measures(measure, load)
    outcome = _scenarios(files, measures, buffer=_scenario_strategy(buffer), **settings)
    emit_studies(form, [outcome])
    write_study_page(html, [outcome.result])


def _scenario_strategy(text: str) -> str | int:
    """Buffer of a series that is made up: all there is to look at is its one anomaly."""
    strategy = parse_buffer(text, name="--buffer")
    if isinstance(strategy, str) and strategy not in _PERIODS_FREE:
        raise InvalidInputError(
            f"`--buffer {text}` needs values, and scenarios have none; give a number of points, "
            "or median-anomaly"
        )
    return strategy


def _scenarios(
    files: StudyFiles,
    measures: tuple[Measure, ...],
    **own: Any,
) -> StudyOutcome:
    from vuskit.report.page import write_study
    from vuskit.studies import scenario_study

    result = scenario_study(measures=measures, **own)
    return StudyOutcome(
        "scenarios",
        result,
        result.at_first_touch(),
        result.measures,
        files.write(write_study, result),
        facts={"points": result.n_points, "length": result.length, "buffer": result.buffer},
        buffers=result.buffers,
    )


@with_request
def summary(
    request: Request,
    pairs: PairChoice,
    perturbing: Perturbing,
    count: Count = None,
    alpha: Alpha = 0.1,
    min_series: MinSeries = 3,
) -> None:
    """Rank the measures in all studies; what is finished is not repeated.

    Example: vuskit study summary scores --measure vus_pr --measure auc_pr
    """
    _emit(request, _summary(request, alpha, pairs, perturbing, count, min_series))


def _summary(
    request: Request,
    alpha: float,
    pairs: PairChoice,
    perturbing: Perturbing,
    count: int | None,
    min_series: int,
) -> list[StudyOutcome]:
    from vuskit.report.page import write_study
    from vuskit.studies import summarize

    perturbed = perturbing.to_options(count)
    # The quickest first: data sets that are too small for it show before the long ones begin.
    consistent = _consistency(request, min_series=min_series)
    studied = [
        _robustness(request, alpha, **perturbed),
        _separability(request, alpha, **pairs.to_options(), **perturbed),
        consistent,
    ]
    found = summarize(*(outcome.result for outcome in studied))
    files = request.files.write(write_study, found)
    return [*studied, StudyOutcome("summary", found, found.ranks, found.measures, files)]


@with_request
def everything(
    request: Request,
    pairs: PairChoice,
    perturbing: Perturbing,
    count: Count = None,
    alpha: Alpha = 0.1,
    min_series: MinSeries = 3,
) -> None:
    """Run the scenarios, all studies of the scores, and the summary.

    The costs of the measures are a study of their own: vuskit study timing

    Example: vuskit study all scores --measure vus_pr --measure auc_pr
    """
    walked = _scenarios(request.files, request.measures)
    studied = _summary(request, alpha, pairs, perturbing, count, min_series)
    _emit(request, [walked, *studied])
