"""``vuskit evaluate``: evaluate the scores of one series or of many."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.tables import LATEX_LINE, csv_text, frame_records
from vuskit._util.text import format_duration, plural
from vuskit.cli._completion import complete_buffers
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import (
    INPUT,
    MEASURES,
    AsCsv,
    AsJson,
    AsLatex,
    AsMarkdown,
    Chance,
    Dask,
    Flags,
    Html,
    Load,
    Measures,
    Processes,
    Spread,
    chosen_measures,
    executor_of,
    input_options,
    option,
    output_option,
    takes,
)
from vuskit.cli._output import (
    check_page,
    chosen_format,
    emit,
    say,
    say_notes,
    table_forms,
    terminal_width,
    write_file,
)
from vuskit.datasets.columns import Reading
from vuskit.datasets.inputs import Inputs, find_files, load_source, open_inputs
from vuskit.datasets.row_times import summarized
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import with_measure_options
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import params_of
from vuskit.report.evaluation import RECORD_FIELDS
from vuskit.report.latex import table_for_print
from vuskit.report.one_series import evaluate_loaded
from vuskit.report.publication import SPREADS
from vuskit.report.tables import plain_table

if TYPE_CHECKING:
    from vuskit.bench import Plan, Run, Values
    from vuskit.cli._progress import ProgressBar
    from vuskit.engine import ExecutorSettings, Outcome, Task
    from vuskit.measures.registry import Measure

_LONG_SECONDS = 60.0
_FIELDS = (
    "dataset", "series", "detector", "measure", "value", "buffer", "buffer_reason", "status",
    "message",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to evaluate, how, and how to write the values."""

    paths: tuple[str, ...]
    reading: Reading
    train_length: int | str | None
    measures: tuple[Measure, ...]
    settings: EvaluationSettings
    executor: ExecutorSettings | None
    form: str
    html: Path | None
    chance: int | None
    spread: str
    all_shown: bool  # whether the table has all measures, not only the first ones

    def open(self) -> Inputs:
        """Find the series; reads no scores."""
        return open_inputs(self.paths, **self.reading.options())

    def plan(self, folder: Path) -> Plan:
        """Return the evaluation as a plan of a benchmark."""
        from vuskit.bench.plan import make_plan

        evaluate = _given(self.settings) | {
            "measures": [measure.name for measure in self.measures],
            "train_length": self.train_length,
        }
        executor = {} if self.executor is None else asdict(self.executor)
        document = {
            "folder": str(folder.absolute()),
            "scores": [scores_entry(self.paths, self.reading)],
            "evaluate": [_known(evaluate)],
            "executor": _known(executor),
        }
        return make_plan(document, base=Path.cwd(), name="the evaluation")


def scores_entry(paths: Sequence[str], reading: Reading) -> dict[str, Any]:
    """Return files and how to read them as ``[[scores]]`` of a plan."""
    entry = _given(reading)
    labels = None if reading.labels is None else Path(reading.labels)
    if labels is not None:
        entry["labels"] = str(labels.absolute())
    root, files = find_files(paths, labels)
    entry["folder"] = str(root.absolute())
    entry["files"] = [str(file.absolute().relative_to(root.absolute())) for file in files]
    return entry


def _given(instance: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults; lists instead of tuples."""
    values = {name: getattr(instance, name) for name in params_of(type(instance))}
    return {
        name: list(one) if isinstance(one, tuple) else one
        for name, one in values.items()
        if one != params_of(type(instance))[name].default
    }


def _known(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}


@takes(
    reading=input_options(),
    settings=Flags(
        EvaluationSettings,
        ("buffer", "definition", "thresholds", "threshold"),
        MEASURES,
        defaults={"buffer": "auto"},
        completions={"buffer": complete_buffers},
    ),
)
def evaluate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files (csv, tsv, parquet, Arrow, npy or npz, also .gz), a folder, a quoted "
            "pattern, or - for standard input.",
        ),
    ],
    *,
    reading: Reading,
    train_length: Annotated[
        str | None,
        option(
            INPUT,
            "N|auto|none",
            "Exclude the first N points as training data; auto: as the file name says.",
        ),
    ] = None,
    measure: Measures = None,
    settings: EvaluationSettings,
    measure_options: tuple[str, ...],
    interval: Annotated[
        float | None,
        option(
            MEASURES,
            "X",
            "Confidence level, such as 0.95, of an interval for each value of one series.",
        ),
    ] = None,
    chance: Chance = None,
    load: Load = None,
    output: Annotated[
        Path | None,
        output_option("FOLDER", "a run of several series, which can be resumed."),
    ] = None,
    html: Html = None,
    spread: Spread = "std",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
    as_markdown: AsMarkdown = False,
    processes: Processes = 0,
    dask: Dask = None,
) -> None:
    """Evaluate the anomaly scores of one series, or of many.

    Columns are found by name: label (or anomaly, is_anomaly, y_true, ...) and
    value. Every other numeric column is a score. With several series and
    --output, you can press Ctrl-C to stop; the same command resumes.

    Example: vuskit evaluate scores.csv --html page.html
    Example: vuskit evaluate scores/ --labels data/ --latex
    """
    # Check all options before reading files, which may be large.
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    check_page("--html", html)
    check_choice("spread", spread, SPREADS)
    request = Request(
        paths=tuple(sources),
        reading=reading,
        train_length=_train_length(train_length),
        measures=with_measure_options(chosen_measures(measure, load), measure_options, rename=True),
        settings=settings,
        executor=executor_of(dask, processes) if dask or processes else None,
        form=form,
        html=html,
        chance=chance,
        spread=spread,
        all_shown=measure is not None,
    )
    inputs = None if output is not None else request.open()
    if inputs is not None and len(inputs) == 1:
        _evaluate_one(request, inputs, interval)
        return
    if interval is not None:
        raise InvalidInputError(
            "`--interval` must be used with one series, got several or --output; for several, "
            "use --spread bootstrap"
        )
    if load is not None:
        if output is not None or dask or processes > 1:
            raise InvalidInputError(
                "`--load` must be used without --output, --dask and --processes; instead, write a "
                'plan with imports = ["module"] and [[scores]], then: vuskit bench run'
            )
        request = replace(request, executor=executor_of(None, 1))
    evaluate_several(request, inputs, output)


def _train_length(asked: str | None) -> int | str | None:
    if asked in (None, "auto"):
        return asked
    if asked != "none" and not asked.isdecimal():
        raise InvalidInputError(
            f"`--train-length` must be a number of points, auto or none, got {asked!r}"
        )
    return 0 if asked == "none" else int(asked)


def _evaluate_one(request: Request, inputs: Inputs, interval: float | None) -> None:
    loaded = load_source(inputs[0], request.settings.nan)
    say(loaded.summary, wrap=True)
    say_notes([*inputs.notes, *loaded.notes, *summarized(loaded.decisions)])
    found = evaluate_loaded(
        loaded,
        request.settings,
        request.measures,
        train_length=request.train_length,
        interval=interval,
        chance=request.chance,
    )
    report = found.report
    for line in found.decisions:
        say(line, wrap=True)
    say_notes(found.notes)
    if request.spread == "bootstrap":
        say("note: --spread is for several series; for one use --interval 0.95")
    if request.form == "csv":  # the other forms have these notes
        say_notes(report.interval_notes)
    emit(
        request.form,
        report.to_dict(),
        text=lambda: plain_table(report, width=terminal_width()),
        csv=lambda: csv_text(RECORD_FIELDS, list(report.records())),
        latex=lambda: table_for_print(report).to_latex(LATEX_LINE),
        markdown=lambda: table_for_print(report).to_markdown(),
    )
    if request.html is not None:
        from vuskit.report.page import series_page_html

        write_file(request.html, series_page_html(report))
        say(f"page: {request.html}")
    if found.failures:
        say("\n".join(found.failures))
        raise typer.Exit(ExitCode.FAILED_JOBS)


# -- several series --------------------------------------------------------------------------------


def evaluate_several(request: Request, inputs: Inputs | None, folder: Path | None) -> None:
    """Evaluate several series, in memory or as a run in a folder, and write the table of means."""
    if len(request.reading.value) > 1:
        raise InvalidInputError(
            "`--value` must be given once for several series, got "
            f"{', '.join(request.reading.value)}; name the columns of scores with --score"
        )
    if folder is not None:
        _evaluate_as_run(request, folder)
        return
    from vuskit.bench import evaluate_inputs
    from vuskit.cli._progress import ProgressBar

    assert inputs is not None
    with ProgressBar("evaluating") as bar:
        values = evaluate_inputs(
            inputs,
            measures=request.measures,
            settings=request.settings,
            train_length=request.train_length,
            executor=request.executor,
            progress=_with_advice(bar),
        )
    _report_failures(values)
    say_notes([*inputs.notes, *values.notes, *_filled_notes(values.filled)])
    if not values.n_values:
        scores = (score for one in values.series for score in one.scores)
        why = next((why.message for score in scores for why in score.failures), "")
        say(f"all evaluations failed{f': {why}' if why else ''}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    several = len(request.paths) > 1
    place = find_files(request.paths, None)[0] if several else request.paths[0]
    _write(request, values, None, Path(place))
    if values.failures:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _with_advice(bar: ProgressBar) -> Callable[[int, int, float], None]:
    """Show progress, and recommend a run folder if the evaluation takes long."""
    advised = False

    def show(done: int, total: int, seconds_left: float) -> None:
        nonlocal advised
        bar(done, total)
        if not advised and seconds_left > _LONG_SECONDS:
            advised = True
            say(f"about {format_duration(seconds_left)} left; to stop and resume, use --output RUN")

    return show


def _report_failures(values: Values) -> None:
    """Print the first failure of each cause, and how many others have the same cause."""
    causes: Counter[str] = Counter()
    for one in values.failures:
        message = one.message.partition("\n")[0]
        cause = f"{one.status}: {message}"
        if cause not in causes:
            say(f"{one.status} {one.title}: {message}")
        causes[cause] += 1
    for cause, count in causes.items():
        if count > 1:
            say(f"{plural(count - 1, 'more job')} failed with {cause}")


def _filled_notes(count: int) -> list[str]:
    return [
        f"{plural(count, 'score lacks', 'scores lack')} values at the first or "
        "last points, as usual for windows; these points get the nearest value"
    ] * (count > 0)


def _evaluate_as_run(request: Request, folder: Path) -> None:
    from vuskit.bench import Run

    failed = _run(request.plan(folder), folder)
    run = Run(folder)
    if not len(run.values()):
        say(f"all evaluations failed; see: vuskit bench status {shlex.quote(str(folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    _write(request, run, folder, folder)
    say(f"run folder: {folder}")
    if failed:
        say(f"See: vuskit bench status {shlex.quote(str(folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _run(plan: Plan, folder: Path) -> bool:
    """Run the remaining jobs; return whether any job failed."""
    from vuskit.bench import Run, Status
    from vuskit.bench.in_memory import missing_notes
    from vuskit.bench.jobs import ScoreResult
    from vuskit.bench.runner import run_plan
    from vuskit.cli._progress import RunDisplay, resumable
    from vuskit.cli.bench.run import report_changes, report_stale_jobs

    filled, missing = 0, dict[str, int]()
    with resumable(folder), RunDisplay() as display:

        def note_filled(task: Task, outcome: Outcome) -> None:
            nonlocal filled
            display.ended(task, outcome)
            if isinstance(outcome.value, ScoreResult):
                filled += outcome.value.filled > 0
                if outcome.value.missing:
                    missing[task.title] = outcome.value.missing

        summary = run_plan(
            plan,
            observer=display.update,
            on_outcome=note_filled,
            reading=display.reading,
            planned=report_stale_jobs,
        )
    if summary.progress.before:
        done = f"{summary.progress.before:,} of {plural(summary.progress.total, 'job')}"
        say(f"{done} were already finished")
    say_notes([*summary.notes, *_filled_notes(filled), *missing_notes(missing)])
    for sentence in summary.not_computed:
        say(sentence)
    report_changes(summary)
    status = Run(folder).status()
    if summary.progress.failed_before:  # new failures were shown when they occurred
        for cause in status.causes:
            jobs = plural(cause.n_jobs, "job")
            message = cause.example.message.partition("\n")[0]
            say(f"{jobs} failed, for example {cause.example.title}: {message}")
    return bool(status.count(*(one for one in Status if one.failed)) or summary.not_computed)


def _write(request: Request, values: Run | Values, folder: Path | None, place: Path) -> None:
    """Write the table of means and the page."""
    from vuskit.bench import Values
    from vuskit.report.publication import publication_table

    if note := values.inverted_note():
        say(f"note: {note}")
    table = publication_table(
        values,
        measures=[one.name for one in request.measures] if request.all_shown else None,
        chance=request.chance or None,
        spread=request.spread,
    )

    def rows() -> Iterator[list[Any]]:
        found: Iterable[dict[str, Any]] = (
            values.records() if isinstance(values, Values) else frame_records(values.outcomes())
        )
        return ([one.get(name) for name in _FIELDS] for one in found)

    def result() -> dict[str, Any]:
        records = (dict(zip(_FIELDS, row, strict=True)) for row in rows())
        return {"folder": folder, "table": table, "values": records}

    emit(
        request.form,
        result,
        csv=lambda: csv_text(_FIELDS, rows()),
        **table_forms(table),
    )
    if request.html is not None:
        from vuskit.report.page import RunReport, run_page_html

        if isinstance(values, Values):
            report = RunReport.of_values(values, place)
        else:
            report = RunReport.read(place)
        write_file(request.html, run_page_html(report))
        say(f"page: {request.html}")
