"""``vuskit evaluate`` for several files or series: sources, evaluation and table."""

from __future__ import annotations

import contextlib
import glob
import gzip
import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import typer

from vuskit._util.optional import require
from vuskit._util.tables import csv_text
from vuskit._util.text import format_duration, plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import check_exists, check_file, write_file
from vuskit.cli._output import (
    document,
    frame_records,
    say,
    table_cells,
    terminal_width,
    write,
)
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Plan, Run, Values
    from vuskit.bench.saved_scores import SavedScores, SavedSeries
    from vuskit.cli._progress import DelayedProgressBar
    from vuskit.datasets.readers.column_roles import ScoreFile
    from vuskit.engine import Outcome, Task
    from vuskit.measures.registry import Measure
    from vuskit.measures.settings import EvaluationSettings
    from vuskit.report.publication import PublicationTable

STDIN = "-"
_WILD = "*?["
_KINDS = {
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".npz",
}
_SETTINGS = (
    "buffer", "definition", "thresholds", "step", "side", "threshold", "k", "buffer_fallback",
    "volume_factor",
)  # fmt: skip
_LONG_SECONDS = 60.0


@dataclass(frozen=True)
class Sources:
    """Paths of scores and labels, and the roles of their columns, as the options name them."""

    paths: tuple[str, ...]
    labels: Path | None = None
    pattern: str | None = None
    label: str | None = None
    value: str | None = None
    channels: tuple[str, ...] = ()
    train_length: str | None = None
    positive: str | None = None
    score: tuple[str, ...] = ()
    by: str | None = None
    dataset: str | None = None
    align: str | None = None
    window: int | None = None

    @property
    def is_one_file(self) -> bool:
        """Whether the source is one file with the labels and scores of one series."""
        wanted = (self.labels, self.pattern, self.by, self.dataset)
        one = len(self.paths) == 1 and not _is_pattern(self.paths[0])
        return one and not Path(self.paths[0]).is_dir() and not any(wanted)

    def check(self) -> None:
        """Check that the options fit together."""
        if self.window is not None and self.align is None:
            raise InvalidInputError(
                "`--window` must be used with --align center, start or end, the point of the "
                "window that a score belongs to"
            )
        if self.align is not None and self.window is None:
            raise InvalidInputError(
                "`--align` must be used with --window N, the number of points in a window"
            )
        if self.dataset is not None and self.by is None:
            raise InvalidInputError(
                "`--dataset` must be used with --by COLUMN, the column that names the series"
            )
        if self.train_length not in (None, "auto", "none") and not self.train_length.isdecimal():
            raise InvalidInputError(
                "`--train-length` must be a number of points, auto or none, "
                f"got {self.train_length!r}"
            )
        if self.labels is not None:
            check_exists(self.labels)

    def check_several(self) -> None:
        """Check that no option is for a single series only."""
        if self.channels:
            given = ", ".join((self.value or "", *self.channels))
            raise InvalidInputError(
                f"`--value` must be given once for several series, got {given}; "
                "name the columns of scores with --score"
            )

    def files(self) -> tuple[Path, tuple[Path, ...]]:
        """Return the common folder and the files."""
        found = [path for text in self.paths for path in _matching(text, self.labels)]
        if len(self.paths) == 1 and Path(self.paths[0]).is_dir():
            return Path(self.paths[0]), tuple(found)
        files = tuple(dict.fromkeys(found))
        for file in files:
            check_file(file)
        root = Path(os.path.commonpath([file.absolute().parent for file in files]))
        return root, files


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in _WILD) and not Path(text).exists()


def _matching(text: str, labels: Path | None) -> list[Path]:
    """Return the files of a source, without label files."""
    if _is_pattern(text):
        found = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
        files = [path for path in found if path.is_file()]
        if not files:
            raise InvalidInputError(
                f"`SOURCE` must match files, got {text!r}, which matches none; check the pattern"
            )
        return files
    path = check_exists(Path(text))
    if not path.is_dir():
        return [path]
    from vuskit.bench.saved_scores import list_score_files

    return list_score_files(path, without=labels)


@contextlib.contextmanager
def saved_stdin(folder: Path) -> Iterator[Path]:
    """Save standard input to a file; errors call it ``stdin``."""
    data = sys.stdin.buffer.read()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if not data:
        raise InvalidInputError(
            "standard input must hold labels and scores, got nothing; "
            "for example: vuskit evaluate - < scores.csv"
        )
    suffix = next((kind for start, kind in _KINDS.items() if data.startswith(start)), ".csv")
    path = folder / f"stdin{suffix}"
    path.write_bytes(data)
    try:
        yield path
    except InvalidInputError as error:
        raise InvalidInputError(str(error).replace(f"{folder}{os.sep}", "")) from error


# -- one series ----------------------------------------------------------------------------------


def find_scores(sources: Sources) -> SavedScores:
    """Assign the files of the sources to series and detectors."""
    from vuskit.bench.plan import ScoresFolder
    from vuskit.bench.saved_scores import find_saved_scores

    return find_saved_scores(ScoresFolder(**_request(sources)))


def read_one_series(sources: Sources, found: SavedScores) -> ScoreFile:
    """Read the only series of the sources, with aligned scores."""
    from vuskit.datasets.readers.column_roles import ScoreFile, dates_of, time_range

    (saved,) = found.by_series(align=sources.align, window=sources.window)
    scored, notes = saved.read_with_notes()
    series, first = scored.series, saved.scores[0]
    files = [columns for _, columns in saved.read_columns()]
    times = next(filter(None, map(time_range, files)), None)
    dates = next((dates for dates in map(dates_of, files) if dates is not None), None)
    path = first.labels.path
    values = series.values if series.values.ndim == 1 else series.values[:, 0]
    has_values = not bool(np.isnan(values).all())
    further = {} if series.values.ndim == 1 else dict(
        zip(series.channels[1:], series.values.T[1:], strict=True)
    )  # fmt: skip
    return ScoreFile(
        path if len(found.scores) > 1 else first.path,
        series.labels,
        dict(scored.scores),
        values if has_values else None,
        path.name,
        series.channels[0] if has_values else None,
        (),
        (*found.notes, *notes),
        times,
        train_length=series.train_length,
        channels=series.channels[1:],
        further=further,
        dates=dates if dates is not None and dates.size == series.n_points else None,
    )


def saved_series(sources: Sources) -> tuple[SavedSeries, ...]:
    """Find the series of some sources and print notes about their files."""
    found = find_scores(sources)
    for note in found.notes:
        say(f"note: {note}")
    return found.by_series(align=sources.align, window=sources.window)


# -- several series ------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of the evaluation of several series and of its output."""

    output: Path | None
    processes: int
    executor: str
    address: str | None
    form: str
    html: Path | None
    chance: int | None
    measures_given: bool
    columns: str | None = None
    spread: str = "std"


def _request(sources: Sources) -> dict[str, Any]:
    """Return the files of the sources and how to read them, as ``[[scores]]`` of a plan."""
    root, files = sources.files()
    names = ("pattern", "label", "value", "positive", "score", "align", "window")
    return {
        "folder": str(root.absolute()),
        "files": tuple(str(file.absolute().relative_to(root.absolute())) for file in files),
        "labels": None if sources.labels is None else str(sources.labels.absolute()),
        **{name: getattr(sources, name) for name in names},
    }


def _split_long_table(sources: Sources, folder: Path) -> Sources:
    """Split a long table into one file per series."""
    from vuskit.datasets.readers.column_roles import open_columns

    if len(sources.paths) != 1 or sources.pattern is not None:
        raise InvalidInputError(
            f"`--by` must be used with one long table and no --pattern, got {len(sources.paths)} "
            "sources; omit it if every series has its own file"
        )
    path = Path(sources.paths[0])
    check_file(path)
    columns = open_columns(path)
    for option, name in (("--by", sources.by), ("--dataset", sources.dataset)):
        if name is not None and name not in columns.names:
            from vuskit._util.names import did_you_mean
            from vuskit._util.text import quoted

            raise InvalidInputError(
                f"`{option}` must be a column of {path} ({quoted(columns.names)}), "
                f"got {name!r}{did_you_mean(name, columns.names)}"
            )
    assert sources.by is not None
    parquet = require("pyarrow.parquet", purpose="long tables", extra="cli")
    table = columns.to_arrow()
    keys = [name for name in (sources.dataset, sources.by) if name is not None]
    rest = table.drop_columns(keys)
    words, codes = columns.distinct(sources.by)
    sets, places = [path.name.partition(".")[0]], np.zeros(len(codes), dtype=np.intp)
    if sources.dataset is not None:
        sets, places = columns.distinct(sources.dataset)
    groups = places * len(words) + codes
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sorted_rows = rest.take(order) if (np.diff(groups) < 0).any() else rest
    shutil.rmtree(folder, ignore_errors=True)  # files of an earlier table
    for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
        group = int(groups[order[start]])
        place = folder / quote(sets[group // len(words)], safe=" @+=,()")
        place.mkdir(parents=True, exist_ok=True)
        name = quote(words[group % len(words)], safe=" @+=,()")
        parquet.write_table(sorted_rows.slice(start, stop - start), place / f"{name}.parquet")
    return replace(
        sources, paths=(str(folder),), by=None, dataset=None, pattern="{dataset}/{series}"
    )


def evaluate_several(
    sources: Sources,
    found: SavedScores | None,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> None:
    """Evaluate several series, in memory or as a run, and write the table of means."""
    if options.output is not None:
        _evaluate_as_run(sources, settings, measures, options, options.output)
        return
    with contextlib.ExitStack() as stack:
        if sources.by is not None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            sources, found = _split_long_table(sources, place / "inputs"), None
        _evaluate_in_memory(sources, found or find_scores(sources), settings, measures, options)


# -- in memory -----------------------------------------------------------------------------------


def _evaluate_in_memory(
    sources: Sources,
    found: SavedScores,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: EvaluateOptions,
) -> None:
    from vuskit.bench import evaluate_inputs
    from vuskit.cli._progress import DelayedProgressBar

    try:
        with DelayedProgressBar("evaluating") as bar:
            values = evaluate_inputs(
                found.by_series(align=sources.align, window=sources.window),
                measures=measures,
                settings=settings,
                train_length=_train_length(sources),
                executor=_executor(options),
                progress=_with_advice(bar),
            )
    except InvalidInputError as error:
        raise InvalidInputError(_as_options(str(error))) from error
    _report_failures(values)
    for note in (*found.notes, *values.notes):
        say(f"note: {_as_options(note)}")
    _report_filled(values.filled)
    if not any(record["value"] is not None for record in values.records()):
        scores = (score for one in values.series for score in one.scores)
        why = next((why.message for score in scores for why in score.failures), "")
        say(f"all evaluations failed{f': {why}' if why else ''}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    place = sources.paths[0] if len(sources.paths) == 1 else sources.files()[0]
    _show(values, values.records(), Path(place), measures, options)
    if values.failures:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _with_advice(bar: DelayedProgressBar) -> Callable[[int, int, float], None]:
    """Show progress, and recommend a run folder if the evaluation takes long."""
    advised = False

    def show(done: int, total: int, seconds_left: float) -> None:
        nonlocal advised
        bar(done, total)
        if not advised and seconds_left > _LONG_SECONDS:
            advised = True
            say(f"about {format_duration(seconds_left)} left; to stop and resume, use --output RUN")

    return show


def _executor(options: EvaluateOptions) -> Any:
    """Return where to run; None: here, or in processes if that saves time."""
    if options.executor == "local" and not options.processes:
        return None
    from vuskit.bench.plan import usable_cores
    from vuskit.engine import ExecutorSettings

    workers = options.processes or usable_cores()
    return ExecutorSettings(options.executor, workers, options.address)


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
    from vuskit.bench import (
        Run,
    )
    from vuskit.store.store import Store

    if sources.by is not None:
        Store(folder).close()  # a store must be created in an empty folder
        sources = _split_long_table(sources, folder / "inputs")
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
        "scores": [_without_defaults(_request(sources))],
        "evaluate": [
            _without_defaults(
                {
                    "measures": [measure.name for measure in measures],
                    **{name: getattr(settings, name) for name in _SETTINGS},
                    "train_length": _train_length(sources),
                }
            )
        ],
        "executor": _without_defaults(
            {
                "kind": options.executor,
                "workers": options.processes or None,
                "address": options.address,
            }
        ),
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
    from vuskit.bench.runner import run_plan
    from vuskit.cli._progress import RunDisplay, stderr_console
    from vuskit.cli._stopping import resumable
    from vuskit.cli.bench.run import report_changes, report_stale_jobs

    console = stderr_console()
    filled = 0
    try:
        with (
            resumable(folder),
            RunDisplay(console, plain=not console.is_terminal) as display,
        ):

            def note_filled(task: Task, outcome: Outcome) -> None:
                nonlocal filled
                display.ended(task, outcome)
                filled += isinstance(outcome.value, ScoreResult) and outcome.value.filled > 0

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
    for field, option in (
        ('train_length = "auto"', "--train-length auto"),
        ("`train_length`", "`--train-length`"),
        ("train_length = 0", "--train-length none"),
    ):
        note = note.replace(field, option)
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
        columns=options.columns,
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
)  # fmt: skip


def _write(
    form: str, table: PublicationTable, folder: Path | None, records: list[dict[str, Any]]
) -> None:
    if form == "csv":
        write(csv_text(_COLUMNS, [list(record.values()) for record in records]))
    elif form == "json":
        content = {
            "folder": folder,
            "detectors": list(table.detectors),
            "datasets": list(table.datasets),
            "measures": table.measures,
            "cells": table_cells(table),
            "values": records,
            "failures": table.failures,
            "notes": list(table.notes),
        }
        write(document("evaluations", **content))
    elif form == "table":
        write(table.to_text(terminal_width()))
    else:
        write(table.to_latex() if form == "latex" else table.to_markdown())
