"""``vuskit evaluate`` for several files or series: sources, run and table."""

from __future__ import annotations

import contextlib
import glob
import gzip
import hashlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import typer

from vuskit._util.optional import require
from vuskit._util.tables import csv_text
from vuskit._util.text import plural
from vuskit.alignment import align_scores
from vuskit.cli._evaluation_cache import cached_run, prune_runs
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
from vuskit.inputs import length_advice

if TYPE_CHECKING:
    from vuskit.bench import Plan, Run
    from vuskit.bench.jobs import Job
    from vuskit.bench.plan import ScoresFolder
    from vuskit.bench.saved_scores import SavedScore, SavedScores
    from vuskit.datasets import ScoredSeries
    from vuskit.datasets.readers.column_roles import ScoreFile
    from vuskit.engine import Outcome
    from vuskit.measures.registry import Measure
    from vuskit.measures.settings import EvaluationSettings
    from vuskit.report.publication import PublicationTable

__all__ = [
    "RunOptions",
    "SavedSeries",
    "Sources",
    "evaluate_run",
    "read_one_series",
    "saved_series",
    "saved_stdin",
    "scored_series",
]

STDIN = "-"
_WILD = "*?["
_KINDS = {
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".npz",
}
_SETTINGS = ("buffer", "definition", "thresholds", "step", "side", "threshold", "k")
_MORE_SETTINGS = ("buffer_fallback", "volume_factor")


@dataclass(frozen=True)
class Sources:
    """Paths of scores and labels, and the roles of their columns.

    Attributes
    ----------
    paths : tuple of str
        Files, folders and patterns.
    labels : Path or None
        Separate file or folder with the labels.
    pattern : str or None
        Meaning of the parts of a path, such as ``{detector}/{series}.npy``.
    label, value, positive : str or None
        Columns of labels and values, and the label that means anomalous.
    channels : tuple of str
        Further columns of values; for one series only.
    train_length : str or None
        Training points to leave out of each series: a number, auto or none.
    score : tuple of str
        Columns of scores.
    by, dataset : str or None
        Columns of a long table that name the series and the data set.
    align : str or None
        Point of the window that a score belongs to.
    window : int or None
        Window length in points.
    """

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
        """Check that the options fit together.

        Raises
        ------
        InvalidInputError
            If they do not fit together.
        """
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
        """Check that no option is for a single series only.

        Raises
        ------
        InvalidInputError
            If there is such an option.
        """
        if self.channels:
            given = ", ".join((self.value or "", *self.channels))
            raise InvalidInputError(
                f"`--value` must be given once for several series, got {given}; "
                "name the columns of scores with --score"
            )

    def files(self) -> tuple[Path, tuple[Path, ...]]:
        """Return the common folder and the files.

        Raises
        ------
        InvalidInputError
            If a path does not exist or a pattern matches nothing.
        """
        if len(self.paths) == 1 and Path(self.paths[0]).is_dir():
            folder = Path(self.paths[0])
            return folder, tuple(_matching(self.paths[0], self.labels))
        found: list[Path] = []
        for text in self.paths:
            found += _matching(text, self.labels)
        files = tuple(dict.fromkeys(found))
        for file in files:
            check_file(file)
        root = Path(os.path.commonpath([file.absolute().parent for file in files]))
        return root, files

    def key(self) -> str:
        """Return a digest of the sources, so that the same command finds its run folder."""
        content = {
            **asdict(self),
            "paths": [os.path.abspath(path) for path in self.paths],
            "labels": None if self.labels is None else os.path.abspath(self.labels),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


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
    """Save standard input to a file; errors call it ``stdin``.

    Raises
    ------
    InvalidInputError
        If standard input is empty.
    """
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


def read_one_series(sources: Sources, found: SavedScores) -> ScoreFile:
    """Read the only series of the sources, with aligned scores.

    Raises
    ------
    InvalidInputError
        If lengths differ; the error suggests an alignment.
    """
    from vuskit.datasets.readers.column_roles import (
        ScoreFile,
        dates_of,
        filled_scores,
        open_columns,
        time_range,
    )

    first = found.scores[0]
    series = first.source.load()
    scores, notes, times, dates = {}, list(found.notes), None, None
    for one in found.scores:
        columns = open_columns(one.path)
        times = times or time_range(columns)
        if dates is None:
            dates = dates_of(columns)
        numbers = columns.scores(one.column)
        numbers = _aligned(sources, one.path, numbers, series.n_points)
        scores[one.detector], note = filled_scores(one.path, one.detector, numbers)
        notes += [note] if note else []
    path = first.source.path or first.path
    values = series.values if series.values.ndim == 1 else series.values[:, 0]
    has_values = not bool(np.isnan(values).all())
    return ScoreFile(
        path if len(found.scores) > 1 else first.path,
        series.labels,
        scores,
        values if has_values else None,
        path.name,
        series.channels[0] if has_values else None,
        (),
        tuple(notes),
        times,
        train_length=series.train_length,
        channels=series.channels[1:],
        further=_further_channels(series),
        dates=dates if dates is not None and dates.size == series.n_points else None,
    )


@dataclass(frozen=True)
class SavedSeries:
    """A series with its saved scores, read and aligned on demand.

    Attributes
    ----------
    sources : Sources
        The request.
    scores : tuple of SavedScore
        Scores of all detectors on the series.
    """

    sources: Sources
    scores: tuple[SavedScore, ...]

    @property
    def name(self) -> str:
        """Data set and series."""
        first = self.scores[0]
        return first.series if first.dataset is None else f"{first.dataset}/{first.series}"

    def read(self) -> ScoredSeries:
        """Read the series and its scores.

        Raises
        ------
        InvalidInputError
            If a file is invalid, or lengths differ; the error proposes an alignment.
        """
        from vuskit.datasets import ScoredSeries
        from vuskit.datasets.readers.column_roles import filled_scores, open_columns

        first = self.scores[0]
        series = first.source.load()
        scores = {}
        for one in self.scores:
            numbers = open_columns(one.path).scores(one.column)
            numbers = _aligned(self.sources, one.path, numbers, series.n_points)
            scores[one.detector] = filled_scores(one.path, one.detector, numbers)[0]
        named = replace(series, dataset=first.dataset or series.dataset, name=first.series)
        return ScoredSeries(named, scores)


def saved_series(sources: Sources) -> tuple[SavedSeries, ...]:
    """Find the series of some sources and print notes about their files.

    Raises
    ------
    InvalidInputError
        If no file is usable or labels are missing.
    """
    from vuskit.bench.saved_scores import find_saved_scores

    found = find_saved_scores(scores_folder(sources))
    for note in found.notes:
        say(f"note: {note}")
    groups: dict[tuple[str | None, str], list[SavedScore]] = {}
    for one in found.scores:
        groups.setdefault((one.dataset, one.series), []).append(one)
    return tuple(SavedSeries(sources, tuple(several)) for several in groups.values())


def scored_series(sources: Sources) -> Iterator[ScoredSeries]:
    """Read the series of the sources with aligned scores.

    Raises
    ------
    InvalidInputError
        If labels are missing or lengths differ; the error suggests an alignment.
    """
    for one in saved_series(sources):
        yield one.read()


def _further_channels(series: Any) -> dict[str, Any]:
    """Return all channels of a series but the first."""
    if series.values.ndim == 1:
        return {}
    return dict(zip(series.channels[1:], series.values.T[1:], strict=True))


def _aligned(sources: Sources, path: Path, numbers: Any, n: int) -> Any:
    if numbers.size == n:
        return numbers
    if sources.window is not None and numbers.size == n - sources.window + 1:
        return align_scores(numbers, n, window=sources.window, at=sources.align or "center")
    advice = f"--align center (or start, end) --window {n - numbers.size + 1}"
    raise InvalidInputError(
        f"{path}: there must be one score per label, got {numbers.size} scores and {n} labels; "
        f"{length_advice(numbers.size, n, remedy=advice)}"
    )


# -- several series ------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunOptions:
    """Options of a run over saved scores and of its output.

    Attributes
    ----------
    output : Path or None
        Run folder; in the cache by default.
    processes : int
        Number of processes; 0: one per core.
    executor : str
        Local processes or Dask.
    address : str or None
        Dask scheduler.
    form : str
        Output form.
    html : Path or None
        Path of the page.
    chance : int or None
        Number of random scores for the chance level.
    measures_given : bool
        Whether the user named measures.
    columns, spread : str or None, str
        Form of the table; see `vuskit.report.publication.publication_table`.
    """

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


def run_folder_of(sources: Sources, options: RunOptions) -> Path:
    """Return the run folder: the given one, or one in the cache."""
    if options.output is not None:
        return options.output
    return cached_run(sources.key())


def scores_folder(sources: Sources) -> ScoresFolder:
    """Return the sources as an entry of a plan."""
    from vuskit.bench.plan import ScoresFolder

    root, files = sources.files()
    return ScoresFolder(
        folder=str(root.absolute()),
        files=tuple(str(file.absolute().relative_to(root.absolute())) for file in files),
        labels=None if sources.labels is None else str(sources.labels.absolute()),
        pattern=sources.pattern,
        label=sources.label,
        value=sources.value,
        positive=sources.positive,
        score=sources.score,
        align=sources.align,
        window=sources.window,
    )


def split_long_table(sources: Sources, folder: Path) -> Sources:
    """Split a long table into one file per series.

    Raises
    ------
    InvalidInputError
        If a column does not exist, or there are several sources.
    """
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
    sets, places = (
        (["all"], np.zeros(len(codes), dtype=np.intp))
        if sources.dataset is None
        else columns.distinct(sources.dataset)
    )
    if sources.dataset is None:
        sets = [path.name.partition(".")[0]]
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


def evaluate_run(
    sources: Sources,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    options: RunOptions,
) -> None:
    """Evaluate saved scores as a run, and write its table.

    Raises
    ------
    typer.Exit
        If the run was stopped or jobs failed.
    """
    from vuskit.bench import Run
    from vuskit.bench.store import Store

    folder = run_folder_of(sources, options)
    request = sources
    if sources.by is not None:
        Store(folder).close()  # a store must be created in an empty folder
        inputs = folder / "inputs"
        request = split_long_table(sources, inputs)
    plan = _plan(folder, scores_folder(request), settings, measures, request, options)
    failed = _run(plan, folder)
    run = Run(folder)
    table = _table(run, options, measures)
    _write(options.form, run, table)
    if options.html is not None:
        from vuskit.report.page import RunReport, run_page_html

        write_file(options.html, run_page_html(RunReport.read(folder)))
        say(f"page: {options.html}")
    say(f"run folder: {folder}")
    if options.output is None:
        prune_runs(folder)
    if failed:
        say(f"See: vuskit bench status {shlex.quote(str(folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _plan(
    folder: Path,
    request: ScoresFolder,
    settings: EvaluationSettings,
    measures: Sequence[Measure],
    sources: Sources,
    options: RunOptions,
) -> Plan:
    from vuskit.bench.plan import parse_plan

    given: dict[str, Any] = {"measures": [measure.name for measure in measures]}
    for name in (*_SETTINGS, *_MORE_SETTINGS):
        value = getattr(settings, name)
        if value is not None:
            given[name] = value
    if sources.train_length is not None:
        asked = "0" if sources.train_length == "none" else sources.train_length
        given["train_length"] = int(asked) if asked.isdecimal() else asked
    executor: dict[str, Any] = {"kind": options.executor}
    if options.processes:
        executor["workers"] = options.processes
    if options.address is not None:
        executor["address"] = options.address
    scores = {name: value for name, value in request.given().items() if value not in (None, ())}
    lines = [
        "# Written by `vuskit evaluate`.",
        f"folder = {_toml(str(folder.absolute()))}",
        "[[scores]]",
        *(f"{name} = {_toml(value)}" for name, value in scores.items()),
        "[[evaluate]]",
        *(f"{name} = {_toml(value)}" for name, value in given.items()),
        "[executor]",
        *(f"{name} = {_toml(value)}" for name, value in executor.items()),
    ]
    return parse_plan("\n".join(lines) + "\n", base=Path.cwd(), name="the evaluation")


def _toml(value: Any) -> str:
    """Return a text, a number or a list as TOML; JSON is valid TOML for these."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _run(plan: Plan, folder: Path) -> bool:
    """Run the remaining jobs; return whether any job failed."""
    from vuskit.bench import Run, Status
    from vuskit.bench.jobs import ScoreResult
    from vuskit.bench.runner import run_plan
    from vuskit.cli._progress import RunDisplay, stderr_console
    from vuskit.cli._stopping import resumable
    from vuskit.cli.bench.run import report_changes, report_stale_jobs

    console = stderr_console()
    filled: list[str] = []
    try:
        with (
            resumable(folder),
            RunDisplay(console, plain=not console.is_terminal) as display,
        ):

            def observe(progress: Any, ended: list[tuple[Job, Outcome]]) -> None:
                display.update(progress, ended)
                for job, outcome in ended:
                    if isinstance(outcome.value, ScoreResult) and outcome.value.filled:
                        filled.append(job.title)

            summary = run_plan(
                plan, observer=observe, reading=display.reading, planned=report_stale_jobs
            )
    except InvalidInputError as error:
        raise InvalidInputError(_as_options(str(error))) from error
    if summary.progress.before:
        done = f"{summary.progress.before:,} of {plural(summary.progress.total, 'job')}"
        say(f"{done} were already finished")
    for note in summary.notes:
        say(f"note: {_as_options(note)}")
    if filled:
        say(
            f"note: {plural(len(filled), 'score lacks', 'scores lack')} values at the first or "
            "last points, as usual for windows; these points get the nearest value"
        )
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


def _as_options(note: str) -> str:
    """Replace fields of a plan by options of the command in a note or error."""
    for field, option in (
        ('train_length = "auto"', "--train-length auto"),
        ("`train_length`", "`--train-length`"),
        ("train_length = 0", "--train-length none"),
    ):
        note = note.replace(field, option)
    return note


def _table(run: Run, options: RunOptions, measures: Sequence[Measure]) -> PublicationTable:
    from vuskit.report.publication import publication_table

    if not len(run.values()):
        say(f"all evaluations failed; see: vuskit bench status {shlex.quote(str(run.folder))}")
        raise typer.Exit(ExitCode.FAILED_JOBS)
    chosen = [measure.name for measure in measures] if options.measures_given else None
    return publication_table(
        run,
        measures=chosen,
        chance=options.chance or None,
        columns=options.columns,
        spread=options.spread,
    )


def _write(form: str, run: Run, table: PublicationTable) -> None:
    writers: dict[str, Callable[[], str]] = {
        "table": lambda: table.to_text(terminal_width()),
        "latex": table.to_latex,
        "markdown": table.to_markdown,
        "csv": lambda: _values_csv(run),
        "json": lambda: _json(run, table),
    }
    write(writers[form]())


_COLUMNS = (
    "dataset",
    "series",
    "detector",
    "measure",
    "value",
    "buffer",
    "buffer_reason",
    "status",
)


def _values(run: Run) -> list[dict[str, Any]]:
    records = frame_records(run.outcomes())
    return [{name: record.get(name) for name in _COLUMNS} for record in records]


def _values_csv(run: Run) -> str:
    return csv_text(_COLUMNS, [list(record.values()) for record in _values(run)])


def _json(run: Run, table: PublicationTable) -> str:
    return document(
        "evaluations",
        folder=run.folder,
        detectors=list(table.detectors),
        datasets=list(table.datasets),
        measures=table.measures,
        cells=table_cells(table),
        values=_values(run),
        failures=table.failures,
        notes=list(table.notes),
    )
