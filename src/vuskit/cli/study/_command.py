"""Commands of the registered studies: options, running, and writing results."""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer
import typer.main

from vuskit.buffers import parse_buffer
from vuskit.cli._completion import complete_definitions, complete_figures
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import check_exists, check_page, plan_folder
from vuskit.cli._options import (
    Address,
    AsLatexFiles,
    Buffer,
    Definition,
    ExecutorKind,
    FigureFormat,
    Html,
    Load,
    Measures,
    MemoryLimit,
    Processes,
    ThresholdName,
    Thresholds,
    TimeLimit,
    VolumeFactor,
    chosen_measures,
    flag,
    output_option,
    parse_threshold,
    series_option,
)
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say
from vuskit.cli._progress import study_progress
from vuskit.cli._stopping import resumable
from vuskit.cli.study import DEFAULT_OUTPUT
from vuskit.cli.study._output import (
    PublishedOutcome,
    StudyOutcome,
    emit_studies,
    write_study_page,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.parameters import Param, read_text

if TYPE_CHECKING:
    from vuskit.engine import ExecutorSettings, Limits, Progress
    from vuskit.measures import EvaluationSettings
    from vuskit.measures.registry import Measure
    from vuskit.studies import Study, StudyResult

__all__ = [
    "AsPublished",
    "Published",
    "build_all",
    "build_command",
    "check_figure_format",
    "resumable",
]

Scores = Annotated[
    Path,
    typer.Argument(metavar="SCORES", help="Saved scores, a run folder or a plan."),
]
Output = Annotated[Path, output_option("FOLDER", "results. The same command resumes.")]
AsPublished = Annotated[
    bool,
    flag("--as-published", "Use the published settings; other options override them."),
]
Published = Annotated[
    Path | None,
    typer.Option(
        "--published", metavar="FOLDER", help="Folder of published tables to compare with."
    ),
]
Patterns = Annotated[list[str] | None, series_option("study")]
_FLAGS = {
    "measure_options": ("--measure-option",),
    "detectors": ("--detector",),
    "perturbations": ("--perturbation",),
    "n_points": ("--points",),
    "pairs": ("--pairs", "--pair"),
}
_NO_VALUES_NEEDED = ("auto", "median_anomaly", "mean_anomaly")


@dataclass(frozen=True)
class _Request:
    """Values of the common options of study commands."""

    scores: Path | None
    series: list[str] | None
    measures: tuple[Measure, ...]
    settings: dict[str, Any]
    as_published: bool
    executor: ExecutorSettings
    limits: Limits
    output: Path
    form: str
    figure_format: str
    latex: bool
    html: Path | None
    published: Path | None

    def study_of(self, study: type[Study[Any]], options: dict[str, Any]) -> Study[Any]:
        """Return the study with the given options and settings."""
        strategy = self.settings.get("buffer")
        if (
            study.input == "none"
            and isinstance(strategy, str)
            and strategy not in _NO_VALUES_NEEDED
        ):
            raise InvalidInputError(
                f"`--buffer {strategy}` needs values, and {study.name} have none; give a number "
                "of points, or median-anomaly"
            )
        given = self.settings | options
        return study.create(measures=self.measures, as_published=self.as_published, **given)

    def sources(self, study: type[Study[Any]]) -> Any:
        """Return the selected series with scores; None for a study that needs none."""
        from vuskit.studies import open_scores

        if study.input == "none" or self.scores is None:
            return None
        if self.series is None or self.scores.is_file():
            return open_scores(self.scores)
        try:
            return open_scores(self.scores, select=self.series)
        except InvalidInputError as error:
            raise InvalidInputError(str(error).replace("`select`", "`--series`")) from error

    def run(self, study: type[Study[Any]], options: dict[str, Any]) -> StudyResult:
        """Run a study; finished series are stored in the output folder."""
        from vuskit.studies import run_study

        chosen = self.study_of(study, options)
        folder = self.output / "series"
        states: deque[Progress] = deque(maxlen=1)
        with resumable(folder), study_progress(study.name) as show:

            def progress(state: Progress) -> None:
                states.append(state)
                show(state)

            found: StudyResult = run_study(
                chosen,
                self.sources(study),
                executor=self.executor,
                limits=self.limits,
                folder=None if study.input == "none" else folder,
                progress=progress,
            )
        for state in states:
            if state.before:
                say(
                    f"{study.name}: {state.before:,} of {state.total:,} series were already "
                    f"finished in {folder}; use another --output to recompute them"
                )
        return found

    def compare(self, results: Sequence[StudyResult]) -> PublishedOutcome | None:
        """Compare with published tables, if given, and write files."""
        if self.published is None:
            return None
        from vuskit.studies import compare_with_published

        found = compare_with_published(results, self.published)
        return PublishedOutcome.write(found, self.output, latex=self.latex)

    def write(self, results: Iterable[StudyResult]) -> None:
        """Write files, standard output and the page."""
        outcomes = [
            StudyOutcome.write(one, self.output, figures=self.figure_format, latex=self.latex)
            for one in results
        ]
        comparison = self.compare([one.result for one in outcomes])
        emit_studies(self.form, outcomes, comparison)
        write_study_page(self.html, [one.result for one in outcomes])
        if any(one.result.failures for one in outcomes):
            raise typer.Exit(ExitCode.FAILED_JOBS)


def _default_settings(study: type[Study[Any]]) -> EvaluationSettings:
    settings: Any = next(one.default for one in fields(study) if one.name == "settings")
    return cast("EvaluationSettings", settings)


def _request(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Patterns = None,
    buffer: Buffer = "",
    volume_factor: VolumeFactor = 0.0,
    thresholds: Thresholds = None,
    definition: Definition = "",
    threshold: ThresholdName = "",
    as_published: AsPublished = False,
    executor: ExecutorKind = "local",
    address: Address = None,
    processes: Processes = 0,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    published: Published = None,
    figure_format: FigureFormat = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
    *,
    given: Collection[str],
) -> _Request:
    """Check and collect the common options; `given` are those on the command line."""
    from vuskit.engine import ExecutorSettings, Limits

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_page("--html", html, made=output)
    settings = {
        "buffer": parse_buffer(buffer, name="--buffer"),
        "volume_factor": volume_factor,
        "thresholds": thresholds,
        "definition": check_choice("--definition", definition, dict(complete_definitions())),
        "threshold": parse_threshold(threshold),
    }
    check_choice("--executor", executor, ("local", "dask"))
    return _Request(
        scores=None if scores is None else plan_folder(check_exists(scores)),
        series=series,
        measures=chosen_measures(measure, load),
        settings={name: value for name, value in settings.items() if name in given},
        as_published=as_published,
        executor=ExecutorSettings(executor, processes or os.cpu_count() or 1, address),
        limits=Limits(seconds=time_limit, memory=memory_limit),
        output=output,
        form=form,
        figure_format=check_figure_format(figure_format),
        latex=as_latex,
        html=html,
        published=None if published is None else check_exists(published),
    )


def check_figure_format(name: str) -> str:
    """Check the figure format before the work begins.

    Raises
    ------
    InvalidInputError
        If it is unknown.
    """
    return check_choice("--figure-format", name, complete_figures())


# -- commands ------------------------------------------------------------------------------------


def build_command(study: type[Study[Any]]) -> Any:
    """Return the command of a study."""
    if study.input == "cases":
        from vuskit.cli.study.timing import timing

        return _command(study.name, timing)
    if study.input == "results":
        help_text = (
            "Rank the measures in all studies; reuses finished series.\n\n"
            f"{study.question}\n\n"
            f"Example: vuskit study {study.name} scores --measure vus_pr --measure auc_pr"
        )
        return _several(study.name, help_text, extra=False)

    def run(request: _Request, **given: Any) -> None:
        request.write([request.run(study, _chosen(study, given))])

    line = f"vuskit study {study.name}" + ("" if study.input == "none" else " scores")
    summary = inspect.cleandoc(study.__doc__ or "").partition("\n\n")[0]
    help_text = f"{study.question}\n\n{summary}\n\nExample: {line} --measure vus_pr"
    return _command(
        study.name,
        _with_options(run, help_text, [study], scores=study.input != "none"),
    )


def build_all() -> Any:
    """Return the command that runs all studies and the summary."""
    help_text = (
        "Run all studies and the summary; reuses finished series.\n\n"
        "Execution times are a separate study: vuskit study timing\n\n"
        "Example: vuskit study all scores --measure vus_pr --measure auc_pr"
    )
    return _several("all", help_text, extra=True)


def _several(name: str, help_text: str, *, extra: bool) -> Any:
    """Return a command that runs all studies of scores; with `extra`, all others, too."""
    from vuskit.studies import list_studies

    studies = [one for one in list_studies() if one.input == "scores"]
    alone = [one for one in list_studies() if one.input == "none"] if extra else []

    def run(request: _Request, **given: Any) -> None:
        from vuskit.studies import summarize

        plain = replace(request, settings={})
        results = {one.name: plain.run(one, {}) for one in alone}
        refused = {}
        # Studies that may reject the data (too few series) run before the slow ones.
        for one in reversed(studies):
            try:
                found = request.run(one, _chosen(one, given))
                found.overview()  # may also reject the data
                results[one.name] = found
            except InvalidInputError as error:
                if not extra:
                    raise  # a summary needs all studies; "all" continues with the others
                refused[one.name] = error
        ranked = [results[one.name] for one in studies if one.name in results]
        if not ranked:
            raise next(iter(refused.values()))
        for name, reason in refused.items():
            say(f"{name}: skipped: {reason}")
        ordered = [results[one.name] for one in (*alone, *studies) if one.name in results]
        request.write([*ordered, summarize(*ranked)])
        if refused:
            raise typer.Exit(ExitCode.FAILED_JOBS)

    return _command(name, _with_options(run, help_text, studies, scores=True))


def _chosen(study: type[Study[Any]], given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a study that are on the command line."""
    found: dict[str, Any] = {}
    for name, one in study.options().items():
        if given.get(name):
            value: tuple[Any, ...] = ()
            for text in given[name] if one.many else [given[name]]:
                value = read_text(one, text, before=value)
            found[name] = one.checked(_flags(name)[0], value)
    return found


def _flags(name: str) -> tuple[str, ...]:
    """Return the names of an option on the command line."""
    return _FLAGS.get(name, (f"--{name.replace('_', '-')}",))


def _command(name: str, function: Callable[..., None]) -> Any:
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command(name)(function)
    return typer.main.get_command(single)


def _with_options(
    run: Callable[..., None], help_text: str, studies: list[type[Study[Any]]], *, scores: bool
) -> Callable[..., None]:
    """Return a function with the options of the studies and the common options."""
    common = _parameters(_request)
    common.pop("given")
    if not scores:
        for name in ("scores", "series", "published", "processes", "executor", "address"):
            common.pop(name)
    defaults = _default_settings(studies[0])
    buffer = defaults.buffer if isinstance(defaults.buffer, str) else str(defaults.buffer)
    for name, value in {
        "buffer": buffer,
        "volume_factor": defaults.volume_factor,
        "definition": defaults.definition,
        "threshold": defaults.threshold,
    }.items():
        common[name] = common[name].replace(default=value)
    own: dict[str, inspect.Parameter] = {}
    for study in studies:
        for name, one in study.options().items():
            if one.help and name not in {**own, **common}:
                own[name] = _parameter(name, one, studies)

    def command(ctx: typer.Context, **values: Any) -> None:
        given = {name for name in values if _is_given(ctx, name)}
        asked = {name: values.pop(name) for name in common}
        for name in ("scores", "series", "address"):
            asked.setdefault(name, None)
        asked = {"processes": 1, "executor": "local", **asked}
        own_values = {name: value for name, value in values.items() if name in given}
        run(_request(**asked, given=given), **own_values)

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    first = [common.pop("scores")] if scores else []
    rest = list(common.values())
    if scores:
        common["scores"] = first[0]
    parameters = [context, *first, *own.values(), *rest]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = help_text
    return command


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Return whether an option is on the command line."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters by name, keyword-only, with evaluated annotations."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, one in inspect.signature(function).parameters.items()
    }


def _parameter(name: str, one: Param, studies: list[type[Study[Any]]]) -> inspect.Parameter:
    """Return the parameter of an option; its default may differ between studies."""
    defaults = {
        study.name: study.options()[name].default for study in studies if name in study.options()
    }
    help_text = one.help
    if one.choices and not any(choice in help_text for choice in one.choices):
        first, _, rest = help_text.rstrip(".").partition(". ")
        listed = f"{', '.join(one.choices[:-1])} or {one.choices[-1]}"
        help_text = f"{first}: {listed}." + (f" {rest}." if rest else "")
    if len({repr(default) for default in defaults.values()}) > 1:
        first = help_text.rstrip(".").partition(";")[0]
        listed = ", ".join(f"{default} in {study}" for study, default in defaults.items())
        help_text = f"{first}. Default: {listed}."
    elif one.default is not None and one.default != ():
        help_text += f" Default: {one.text(one.default)}."
    choices = list(one.choices)
    option = typer.Option(
        *_flags(name),
        metavar=one.metavar or "NAME",
        help=help_text,
        autocompletion=(lambda: choices) if choices else None,
    )
    kind: Any = list[str] | None if one.many else str | None
    annotation = Annotated[kind, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
