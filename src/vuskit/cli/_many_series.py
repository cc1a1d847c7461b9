"""``vuskit evaluate`` for several files or series: sources, evaluation and table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vuskit._util.tables import csv_text, frame_records
from vuskit._util.text import format_duration, plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import write_file
from vuskit.cli._output import emit, say, table_forms
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import Inputs, find_files, open_inputs
from vuskit.errors import InvalidInputError
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import params_of

if TYPE_CHECKING:
    from vuskit.bench import Plan, Run, Values
    from vuskit.cli._progress import ProgressBar
    from vuskit.engine import ExecutorSettings, Outcome, Task
    from vuskit.measures.registry import Measure
    from vuskit.report.publication import PublicationTable

_LONG_SECONDS = 60.0


@dataclass(frozen=True)
class Sources:
    """Paths of scores and labels, and the roles of their columns, as the options name them."""

    paths: tuple[str, ...]
    labels: Path | None = None
    pattern: str | None = None
    columns: Columns = field(default_factory=Columns)
    train_length: str | None = None
    align: str | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        if self.train_length not in (None, "auto", "none") and not self.train_length.isdecimal():
            raise InvalidInputError(
                "`--train-length` must be a number of points, auto or none, "
                f"got {self.train_length!r}"
            )

    def open(self) -> Inputs:
        """Find the series; reads no scores."""
        return open_inputs(
            self.paths,
            labels=self.labels,
            pattern=self.pattern,
            columns=self.columns,
            align=self.align,
            window=self.window,
        )

    def request(self) -> dict[str, Any]:
        """Return the files and how to read them, as ``[[scores]]`` of a plan."""
        root, files = find_files(self.paths, self.labels)
        columns = self.columns
        request = {
            "folder": str(root.absolute()),
            "files": tuple(str(file.absolute().relative_to(root.absolute())) for file in files),
            "labels": None if self.labels is None else str(self.labels.absolute()),
            "pattern": self.pattern,
            "label": columns.label,
            "value": next(iter(columns.value), None),
            "positive": columns.positive,
            "score": tuple(columns.score),
            "by": columns.by,
            "dataset": columns.dataset,
            **columns.reading(),
            **columns.intervals(),
            "align": self.align,
            "window": self.window,
        }
        return _without_defaults(request)

    def check_several(self) -> None:
        """Check that no option is for a single series only."""
        if len(self.columns.value) > 1:
            raise InvalidInputError(
                "`--value` must be given once for several series, got "
                f"{', '.join(self.columns.value)}; name the columns of scores with --score"
            )


# -- several series ------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of the evaluation of several series and of its output."""

    output: Path | None
    executor: ExecutorSettings | None
    form: str
    html: Path | None
    chance: int | None
    measures_given: bool
    spread: str = "std"


def evaluate_several(
    sources: Sources,
    inputs: Inputs | None,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> None:
    """Evaluate several series, in memory or as a run, and write the table of means."""
    if options.output is not None:
        _evaluate_as_run(sources, settings, measures, options, options.output)
    else:
        assert inputs is not None
        _evaluate_in_memory(sources, inputs, settings, measures, options)


# -- in memory -----------------------------------------------------------------------------------


def _evaluate_in_memory(
    sources: Sources,
    inputs: Inputs,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> None:
    from vuskit.bench import evaluate_inputs
    from vuskit.cli._progress import ProgressBar

    try:
        with ProgressBar("evaluating") as bar:
            values = evaluate_inputs(
                inputs,
                measures=measures,
                settings=settings,
                train_length=_train_length(sources),
                executor=options.executor,
                progress=_with_advice(bar),
            )
    except InvalidInputError as error:
        raise InvalidInputError(_as_options(str(error))) from error
    _report_failures(values)
    for note in (*inputs.notes, *values.notes):
        say(f"note: {_as_options(note)}")
    _report_filled(values.filled)
    if not any(record["value"] is not None for record in values.records()):
        scores = (score for one in values.series for score in one.scores)
        why = next((why.message for score in scores for why in score.failures), "")
        say(f"all evaluations failed{f': {why}' if why else ''}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    several = len(sources.paths) > 1
    place = find_files(sources.paths, None)[0] if several else sources.paths[0]
    _show(values, values.records(), Path(place), measures, options)
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


def _train_length(sources: Sources) -> int | str | None:
    asked = "0" if sources.train_length == "none" else sources.train_length
    return int(asked) if asked is not None and asked.isdecimal() else asked


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


def _report_filled(count: int) -> None:
    if count:
        say(
            f"note: {plural(count, 'score lacks', 'scores lack')} values at the first or "
            "last points, as usual for windows; these points get the nearest value"
        )


# -- as a run ------------------------------------------------------------------------------------


def _evaluate_as_run(
    sources: Sources,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
    folder: Path,
) -> None:
    from vuskit.bench import Run

    failed = _run(_plan(folder, sources, settings, measures, options), folder)
    run = Run(folder)
    if not len(run.values()):
        say(f"all evaluations failed; see: vuskit bench status {shlex.quote(str(folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    _show(run, frame_records(run.outcomes()), folder, measures, options)
    say(f"run folder: {folder}")
    if failed:
        say(f"See: vuskit bench status {shlex.quote(str(folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _plan(
    folder: Path,
    sources: Sources,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> Plan:
    from vuskit.bench.plan import make_plan

    document = {
        "folder": str(folder.absolute()),
        "scores": [sources.request()],
        "evaluate": [
            _without_defaults(
                {
                    "measures": [measure.name for measure in measures],
                    **{name: getattr(settings, name) for name in params_of(EvaluationSettings)},
                    "train_length": _train_length(sources),
                }
            )
        ],
        "executor": {} if options.executor is None else _without_defaults(asdict(options.executor)),
    }
    return make_plan(document, base=Path.cwd(), name="the evaluation")


def _without_defaults(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table of a plan without empty values; tuples become lists."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in table.items()
        if value not in (None, ())
    }


def _run(plan: Plan, folder: Path) -> bool:
    """Run the remaining jobs; return whether any job failed."""
    from vuskit.bench import Run, Status
    from vuskit.bench.actions import ScoreResult
    from vuskit.bench.in_memory import missing_notes
    from vuskit.bench.runner import run_plan
    from vuskit.cli._progress import RunDisplay, stderr_console
    from vuskit.cli._stopping import resumable
    from vuskit.cli.bench.run import report_changes, report_stale_jobs

    console = stderr_console()
    filled, missing = 0, dict[str, int]()
    try:
        with (
            resumable(folder),
            RunDisplay(console, plain=not console.is_terminal) as display,
        ):

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
    except InvalidInputError as error:
        raise InvalidInputError(_as_options(str(error))) from error
    if summary.progress.before:
        done = f"{summary.progress.before:,} of {plural(summary.progress.total, 'job')}"
        say(f"{done} were already finished")
    for note in summary.notes:
        say(f"note: {_as_options(note)}")
    _report_filled(filled)
    for note in missing_notes(missing):
        say(f"note: {note}")
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


# -- output --------------------------------------------------------------------------------------


def _as_options(note: str) -> str:
    """Replace fields of a plan by options of the command in a note or error."""
    for key, option in (
        ('train_length = "auto"', "--train-length auto"),
        ("`train_length`", "`--train-length`"),
        ("train_length = 0", "--train-length none"),
    ):
        note = note.replace(key, option)
    return note


def _show(
    values: Run | Values,
    records: Iterable[dict[str, Any]],
    place: Path,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> None:
    """Write the table of means and the page."""
    from vuskit.report.publication import publication_table

    table = publication_table(
        values,
        measures=[measure.name for measure in measures] if options.measures_given else None,
        chance=options.chance or None,
        spread=options.spread,
    )
    rows = [{name: record.get(name) for name in _COLUMNS} for record in records]
    _write(options.form, table, options.output, rows)
    if options.html is not None:
        from vuskit.bench import Values
        from vuskit.report.page import RunReport, run_page_html

        if isinstance(values, Values):
            report = RunReport.of_values(values, place)
        else:
            report = RunReport.read(place)
        write_file(options.html, run_page_html(report))
        say(f"page: {options.html}")


_COLUMNS = (
    "dataset", "series", "detector", "measure", "value", "buffer", "buffer_reason", "status",
    "message",
)  # fmt: skip


def _write(
    form: str, table: PublicationTable, folder: Path | None, records: list[dict[str, Any]]
) -> None:
    emit(
        form,
        {"folder": folder, "table": table, "values": records},
        csv=lambda: csv_text(_COLUMNS, [list(record.values()) for record in records]),
        **table_forms(table),
    )
