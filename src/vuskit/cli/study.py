"""``vuskit study``: run one registered study, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.files import check_exists
from vuskit._util.text import did_you_mean, quoted
from vuskit.cli import _completion as complete
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import (
    EXECUTION,
    INPUT,
    MEASURES,
    SHOWN,
    AsCsv,
    AsJson,
    AsLatexFiles,
    Budget,
    Dask,
    FigureFormat,
    Given,
    Html,
    Load,
    Measures,
    MemoryLimit,
    Processes,
    TimeLimit,
    assignments,
    chosen_measures,
    executor_of,
    flag,
    given_of,
    input_options,
    limits_of,
    load_file,
    option,
    output_option,
    quick_flag,
    series_option,
    takes,
)
from vuskit.cli._output import (
    atomic_folder,
    check_page,
    chosen_format,
    emit,
    say,
    say_notes,
    write_file,
)
from vuskit.cli._progress import ProgressBar, resumable
from vuskit.datasets.columns import Reading
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import Param, params_of

if TYPE_CHECKING:
    from vuskit.datasets.inputs import Inputs
    from vuskit.studies import Study, StudyResult

DEFAULT_OUTPUT = Path("out") / "studies"
_LISTED = 5
_NO_VALUES_NEEDED = ("auto", "median_anomaly", "mean_anomaly")
_QUICK_REPEATS, _QUICK_BUDGET = 3, 120.0
_SETTINGS = params_of(EvaluationSettings)
_TIMED_SETTINGS = {name: _SETTINGS[name] for name in ("buffer", "thresholds")}

AsPublished = Annotated[
    bool,
    flag("--as-published", "Use the published settings; other options override them.", MEASURES),
]
Published = Annotated[
    Path | None,
    option(INPUT, "FOLDER", "Folder of published tables to compare with."),
]


@takes(reading=input_options(SHOWN))
def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study, see: vuskit list studies. Or all, with a summary.",
            autocompletion=complete.complete_studies,
        ),
    ],
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCORES",
            help="A run folder, plan or pack, or scores: everything that vuskit evaluate reads, "
            "with the same options of input.",
        ),
    ] = None,
    *,
    reading: Reading,
    series: Annotated[list[str] | None, series_option("study")] = None,
    published: Published = None,
    measure: Measures = None,
    buffer: Annotated[
        str | None,
        option(
            MEASURES,
            "N|RULE",
            "Buffer of R-AUC: a number of points, or auto, period, median-anomaly, ...",
            autocompletion=complete.complete_buffers,
        ),
    ] = None,
    set_values: Annotated[
        list[str] | None,
        option(
            MEASURES,
            "NAME=VALUE",
            "Set a parameter, see: vuskit list studies STUDY; or thresholds, definition, ... "
            "Repeat for several.",
            "--set",
        ),
    ] = None,
    as_published: AsPublished = False,
    load: Load = None,
    output: Annotated[
        Path | None,
        output_option("FOLDER", "results. The same command resumes. Default: out/studies."),
    ] = None,
    html: Html = None,
    figure_format: FigureFormat = "png",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
    processes: Processes = 0,
    dask: Dask = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    quick: Annotated[bool, quick_flag("timing with 3 runs per cell, in two minutes.")] = False,
    only: Annotated[
        list[str] | None,
        option(
            EXECUTION,
            "NAME",
            "Algorithm to time, e.g. opt. Repeat for several.",
            autocompletion=complete.complete_contestants,
        ),
    ] = None,
    budget: Budget = None,
) -> None:
    """Study how the measures behave: one study, or all with a summary.

    Example: vuskit study robustness scores --measure vus_pr --set count=20
    """
    from vuskit.figures.base import FIGURE_FORMATS
    from vuskit.studies import compare_with_published, list_studies

    if load is not None:
        load_file(load)
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    known = {one.name: one for one in list_studies() if one.input != "results"}
    check_choice("STUDY", name, [*known, "all"])
    check_choice("figure_format", figure_format, FIGURE_FORMATS)
    is_timing = name != "all" and known[name].input == "cases"
    if not is_timing and (quick or only or budget):
        raise InvalidInputError(
            f"`--quick`, `--only` and `--budget` must be used with timing, got {name!r}; omit them"
        )
    times = Path("out") / ("timing-series" if scores else "timing")
    folder = output or (times if is_timing else DEFAULT_OUTPUT)
    check_page("--html", html, made=folder)
    given: dict[str, Any] = {
        "executor": executor_of(dask, 1 if is_timing else processes),
        "limits": limits_of(time_limit, memory_limit),
    }
    values: dict[str, str] = assignments(set_values)
    if buffer is not None:
        values["buffer"] = buffer
    if published is not None:
        check_exists(published)
    refused: dict[str, InvalidInputError] = {}
    if is_timing:
        given |= {"contestants": only, "budget": budget}
        results: list[Any] = [_timing(scores, values, folder, quick=quick, **given)]
    else:
        from vuskit.studies import open_scores

        inputs = None if not scores else open_scores(scores, select=series, **reading.options())
        say_notes(() if inputs is None else inputs.notes)
        run = _Runner(inputs, chosen_measures(measure, load), as_published, folder, given)
        if name == "all":
            results, refused = run.all(list(known.values()), values)
        else:
            results = [run(known[name], values)]
    files = [_write(one, folder, figure_format, as_latex) for one in results]
    comparison = None
    if published is not None:
        comparison = compare_with_published(results, published)
    _emit(form, results, files, comparison, folder)
    if html is not None:
        from vuskit.report.page import studies_page_html

        write_file(html, studies_page_html(results))
        say(f"page: {html}")
    if refused or any(one.failures for one in results if not is_timing):
        raise typer.Exit(ExitCode.FAILED_JOBS)


# -- running ---------------------------------------------------------------------------------------


class _Runner:
    """Runs studies of scores with common options; finished series are kept in the folder."""

    def __init__(
        self,
        scores: Inputs | None,
        measures: Any,
        as_published: bool,
        folder: Path,
        how: dict[str, Any],
    ) -> None:
        self.scores = scores
        self.common = {"measures": measures, "as_published": as_published}
        self.folder, self.how = folder / "series", how

    def __call__(self, kind: type[Study[Any]], values: dict[str, str]) -> Any:
        """Run one study."""
        from vuskit.studies import run_study

        task = _study_of(kind, values, self.common)
        with resumable(self.folder), ProgressBar(kind.name) as bar:
            if kind.input == "none":
                return run_study(task, None, limits=self.how["limits"])
            if self.scores is None:
                raise InvalidInputError(
                    f"`SCORES` must be given for {kind.name}, got none: saved scores, a run folder "
                    "or a plan"
                )
            states: list[Any] = []

            def show(state: Any) -> None:
                states[:] = [state]
                bar.show(state)

            found = run_study(
                task,
                self.scores,
                folder=self.folder,
                progress=show,
                **self.how,
            )
        for state in states:
            if state.before:
                say(
                    f"{kind.name}: {state.before:,} of {state.total:,} series were already "
                    f"finished in {self.folder}; use another --output to recompute them"
                )
        return found

    def all(
        self, kinds: Sequence[type[Study[Any]]], values: dict[str, str]
    ) -> tuple[list[Any], dict[str, InvalidInputError]]:
        """Run all studies, then the summary; return the results and the studies refused."""
        from vuskit.studies import summarize

        alone = [one for one in kinds if one.input == "none"]
        of_scores = [one for one in kinds if one.input == "scores"]
        own = {kind: set(kind.options()) for kind in kinds}
        known = {*_SETTINGS, *(name for kind in of_scores for name in own[kind])}
        for name in values:
            if name not in known and "." not in name:
                raise InvalidInputError(
                    f"`--set` must name a parameter of the studies, got {name!r}"
                    f"{did_you_mean(name, known)}"
                )
        results = {one.name: self(one, {}) for one in alone}
        refused: dict[str, InvalidInputError] = {}
        # Studies that may reject the data (too few series) run before the slow ones.
        for kind in reversed(of_scores):
            fitting = {
                name: value
                for name, value in values.items()
                if name in own[kind] or name in _SETTINGS or "." in name
            }
            try:
                found = self(kind, fitting)
                found.overview()  # may also reject the data
                results[kind.name] = found
            except InvalidInputError as error:
                refused[kind.name] = error
        ranked = [results[one.name] for one in of_scores if one.name in results]
        if not ranked:
            raise next(iter(refused.values()))
        for name, reason in refused.items():
            say(f"{name}: skipped: {reason}")
        ordered = [results[one.name] for one in (*alone, *of_scores) if one.name in results]
        return [*ordered, summarize(*ranked)], refused


def _study_of(kind: type[Study[Any]], values: dict[str, str], common: dict[str, Any]) -> Study[Any]:
    """Return the study with the values of ``--set``."""
    chosen = _given({**kind.options(), **_SETTINGS}, values)
    strategy = chosen.get("buffer")
    if kind.input == "none" and isinstance(strategy, str) and strategy not in _NO_VALUES_NEEDED:
        raise InvalidInputError(
            f"`--buffer {strategy}` needs values, and {kind.name} have none; give a number of "
            "points, or median-anomaly"
        )
    return kind.create(**common, **chosen)


def _given(known: dict[str, Param], values: dict[str, str]) -> Given:
    """Check the values of ``--set`` and of ``--buffer``."""
    others = [f"{name}={text}" for name, text in values.items() if name != "buffer"]
    return given_of(known, {"buffer": values.get("buffer")}, others)


def _timing(
    scores: list[str] | None,
    values: dict[str, str],
    folder: Path,
    *,
    quick: bool,
    budget: float | None,
    **how: Any,
) -> Any:
    """Time the measures on generated series, or on those of a folder."""
    from vuskit.studies.timing import TimingStudy, synthetic_cases
    from vuskit.studies.timing.cases import real_cases

    given = _given({**TimingStudy.options(), **_TIMED_SETTINGS}, values)
    if "measure_options" in given:
        raise InvalidInputError(
            f"`--set` must name a parameter of the study, got {given['measure_options'][0]!r}; "
            "options of measures are not timed"
        )
    varied = {name: given.pop(name) for name in _TIMED_SETTINGS if name in given}
    if not scores:
        for name in varied:
            raise InvalidInputError(
                f"`{name}` must be used with SCORES; for generated series, the study varies it"
            )
        cases = synthetic_cases(quick=quick)
    else:
        if len(scores) > 1 or not check_exists(Path(scores[0])).is_dir():
            raise InvalidInputError(
                f"`SCORES` must be a folder of series, got {quoted(scores)}; give their folder"
            )
        cases = real_cases(scores[0], **{"buffer": 5, "thresholds": 250, **varied})
    if quick:
        given.setdefault("repeats", _QUICK_REPEATS)
    task = TimingStudy(**given)
    with resumable(folder / "runs"), ProgressBar(delay=0) as bar:
        result = task.run(
            cases,
            budget=budget or (_QUICK_BUDGET if quick else None),
            folder=folder / "runs",
            progress=bar.show,
            **how,
        )
    if not result.samples:
        raise InvalidInputError("the budget is too short for any cell; give a larger --budget")
    return result


# -- output ----------------------------------------------------------------------------------------


def _write(result: StudyResult, folder: Path, figures: str, latex: bool) -> list[Path]:
    """Write the files of a result into a folder, atomically; return them, the page first."""
    from vuskit.report.page import write_study

    with atomic_folder(folder) as temporary:
        files = write_study(result, temporary, figure_format=figures, latex=latex)
    return [folder / path.name for path in files]


def _emit(
    form: str, results: Sequence[Any], files: Sequence[list[Path]], comparison: Any, folder: Path
) -> None:
    """Write results to standard output, and notes and paths to standard error."""
    from vuskit.report.page import studies as made

    records = [
        {**made.study_record(one), "files": paths}
        for one, paths in zip(results, files, strict=True)
    ]
    content: dict[str, Any] = {"studies": records}
    tables: list[Path] = []
    parts: tuple[Any, ...] = ()
    rows: list[Any] = []
    if comparison is not None:
        texts = made.published_files(comparison, latex=form == "latex")
        with atomic_folder(folder) as temporary:
            for name, text in texts.items():
                (temporary / name).write_text(text, encoding="utf-8")
        tables = [folder / name for name in texts]
        content["published"] = {**comparison.to_dict(), "files": tables}
        # The options are already below the tables above.
        parts, rows = (replace(comparison, options={}),), made.published_rows(comparison)
    emit(
        form,
        content,
        text=lambda: "\n\n".join([made.studies_text(results), *(p.to_text(80) for p in parts)]),
        latex=lambda: "\n\n".join([made.studies_latex(results), *(p.to_latex() for p in parts)]),
        csv=lambda: made.studies_csv(results, rows),
    )
    _report(results)
    for one, paths in zip(results, files, strict=True):
        for line in (*(f"{one.kind}: {note}" for note in one.notes()), *_failures(one)):
            say(line)
        say(f"{one.kind}: page, tables and figures: {paths[0]}")
    if tables:
        say(f"comparison with published values: {tables[0]}")


def _failures(result: StudyResult) -> list[str]:
    failures = result.failures
    lines = [f"  {one.name}: {one.reason}" for one in failures[:_LISTED]]
    return [f"{result.kind}: {len(failures):,} series failed:", *lines] if lines else []


def _report(results: Sequence[Any]) -> None:
    """Report buffers, data sets and dropped cells, once for all studies with the same."""
    users: dict[str, list[str]] = {}
    for one in results:
        if one.buffers is not None:
            users.setdefault(f"buffer: {one.buffers}", []).append(one.kind)
    for one in results:
        if len(one.datasets) > 1 and len(set(one.datasets)) == 1:
            text = (
                f"all {len(one.datasets)} series are in one data set ({one.datasets[0]}), so means "
                "over data sets are trivial; to separate data sets, use one folder each in SCORES"
            )
            users.setdefault(text, []).append(one.kind)
    for text, kinds in users.items():
        say(f"{', '.join(kinds)}: {text}")
    if results[0].kind == "timing":
        say(results[0].about())
    for dropped in (getattr(one, "dropped", ()) for one in results):
        if dropped:
            say(
                f"skipped to stay within the budget: {len(dropped)} cells "
                f"({quoted(dropped[::-1], most=_LISTED)}); to add them, give a larger --budget"
            )
