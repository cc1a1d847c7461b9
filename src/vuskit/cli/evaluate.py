"""``vuskit evaluate``: evaluate the scores of one series or of many."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from vuskit._util.tables import csv_text
from vuskit.alignment import ANCHORS
from vuskit.buffers import BufferChoice
from vuskit.cli._completion import complete_buffers, complete_columns
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import check_page, write_file
from vuskit.cli._many_series import EvaluateOptions, Sources, evaluate_several
from vuskit.cli._options import (
    INPUT,
    MEASURES,
    Align,
    AsCsv,
    AsJson,
    AsLatex,
    AsMarkdown,
    Chance,
    Dask,
    Html,
    LabelsPath,
    Load,
    Measures,
    PathPattern,
    Processes,
    Spread,
    Window,
    chosen_measures,
    executor_of,
    flag,
    option,
    output_option,
)
from vuskit.cli._output import chosen_format, emit, say, terminal_width
from vuskit.cli._parameters import Given, takes
from vuskit.datasets.columns import Columns, time_range
from vuskit.datasets.inputs import load_source
from vuskit.datasets.row_times import summarized
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    MeasureError,
    UndefinedMeasureWarning,
)
from vuskit.inputs import check_choice
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import with_measure_options
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.evaluation import RECORD_FIELDS, EvaluationReport
from vuskit.report.latex import latex_table
from vuskit.report.publication import SPREADS
from vuskit.report.tables import plain_table

if TYPE_CHECKING:
    from vuskit.datasets import Series
    from vuskit.datasets.inputs import Loaded
    from vuskit.measures.registry import Measure
    from vuskit.measures.results import Comparison

_DRAWS = 20
_POINTS_DRAWN = 2_000_000  # random points for the chance level of a long series


@takes(
    EvaluationSettings,
    flags=("buffer", "definition", "thresholds", "threshold"),
    defaults={"buffer": "auto"},
    completions={"buffer": complete_buffers},
    panel=MEASURES,
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
    labels: LabelsPath = None,
    label: Annotated[
        str | None,
        option(INPUT, "COLUMN", "Column with the labels.", autocompletion=complete_columns),
    ] = None,
    score: Annotated[
        list[str] | None,
        option(
            INPUT,
            "COLUMN",
            "Column with scores. Default: all other numeric columns. Repeat for several.",
            autocompletion=complete_columns,
        ),
    ] = None,
    value: Annotated[
        list[str] | None,
        option(
            INPUT,
            "COLUMN",
            "Column with the series itself. Repeat for more channels.",
            autocompletion=complete_columns,
        ),
    ] = None,
    pattern: PathPattern = None,
    by: Annotated[
        str | None, option(INPUT, "COLUMN", "Column of a long table that names the series.")
    ] = None,
    dataset: Annotated[
        str | None, option(INPUT, "COLUMN", "Column of a long table that names the data set.")
    ] = None,
    order: Annotated[
        str | None,
        option(INPUT, "COLUMN|none", "Times by which rows are sorted; none: keep their order."),
    ] = None,
    duplicates: Annotated[
        str, option(INPUT, "error|first|last", "Which of several rows with the same time to keep.")
    ] = "error",
    timezone: Annotated[
        str | None,
        option(INPUT, "ZONE", "Zone of times without one, such as Europe/Berlin."),
    ] = None,
    start: Annotated[
        str | None, option(INPUT, "COLUMN", "Column of --labels with the start of each interval.")
    ] = None,
    end: Annotated[
        str | None, option(INPUT, "COLUMN", "Column of --labels with the end of each interval.")
    ] = None,
    ticket: Annotated[
        str | None,
        option(INPUT, "COLUMN", "Column of --labels that names each interval.", "--id"),
    ] = None,
    labels_by: Annotated[
        str | None, option(INPUT, "COLUMN", "Column of --labels that names the series.")
    ] = None,
    labels_all: Annotated[
        bool, flag("--labels-all", "Apply all intervals of --labels to every series.", INPUT)
    ] = False,
    align: Align = None,
    window: Window = None,
    train_length: Annotated[
        str | None,
        option(
            INPUT,
            "N|auto|none",
            "Exclude the first N points as training data; auto: as the file name says.",
        ),
    ] = None,
    positive: Annotated[str | None, option(INPUT, "LABEL", "Label that means anomalous.")] = None,
    measure: Measures = None,
    *,
    given: Given,
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
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    check_page("--html", html)
    if align is not None:
        check_choice("align", align, ANCHORS)
    check_choice("spread", spread, SPREADS)
    # Check all options before reading files, which may be large.
    options_of_measures = given.pop("measure_options", ())
    wanted = with_measure_options(chosen_measures(measure, load), options_of_measures, rename=True)
    settings = EvaluationSettings(**{"buffer": "auto", **given})
    requested = Sources(
        tuple(sources),
        labels=labels,
        pattern=pattern,
        columns=Columns(
            label,
            value or (),
            score or (),
            positive,
            by,
            dataset,
            order,
            duplicates,
            timezone,
            start,
            end,
            ticket,
            labels_by,
            labels_all,
        ),
        train_length=train_length,
        align=align,
        window=window,
    )
    options = EvaluateOptions(
        output=output,
        executor=executor_of(dask, processes) if dask or processes else None,
        form=form,
        html=html,
        chance=chance,
        measures_given=measure is not None,
        spread=spread,
    )
    inputs = None if output is not None else requested.open()
    if interval is not None and (inputs is None or len(inputs) > 1):
        raise InvalidInputError(
            "`--interval` must be used with one series, got several or --output; for several, "
            "use --spread bootstrap"
        )
    if inputs is not None and len(inputs) == 1:
        loaded = load_source(inputs[0], settings.nan)
        notes = (*inputs.notes, *loaded.notes, *summarized(loaded.decisions))
        _evaluate_one(
            replace(loaded, notes=notes), settings, wanted, options, train_length, interval
        )
        return
    if load is not None:
        raise InvalidInputError(
            f"`--load` must be used with one series, got several with {str(load)!r}; instead, "
            'write a plan with imports = ["module"] and [[scores]], then: vuskit bench run'
        )
    requested.check_several()
    evaluate_several(requested, inputs, settings, wanted, options)


def _evaluate_one(
    loaded: Loaded,
    settings: EvaluationSettings,
    wanted: Sequence[Measure],
    options: EvaluateOptions,
    train_length: str | None,
    interval: float | None,
) -> None:
    form, html, chance = options.form, options.html, options.chance
    _report_columns(loaded)
    first = _training_points(loaded, train_length)
    scored = loaded.scored()
    series = scored.series.after(first) if first else scored.series
    _check_classes(series, loaded)
    scores = {name: score[first:] for name, score in scored.scores.items()}
    channels = dict(zip(series.channels, np.atleast_2d(series.values.T), strict=True))
    values = next(iter(channels.values()))
    has_values = not np.isnan(values).all()
    choice = _buffer(settings, series.labels, values if has_values else None, wanted)
    if choice is not None:
        settings = settings.replace(buffer=choice.length, buffer_fallback=None)
        say(f"buffer: {choice.length} ({choice.strategy}: {choice.reason})")
        if choice.length > series.n_points:
            say(f"note: the buffer is longer than the series of {series.n_points:,} points")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # already in the note
        table, failures = _evaluated(
            wanted,
            partial(
                evaluate_many,
                series.labels,
                scores,
                settings=settings,
                values=values if has_values else None,
                interval=interval,
            ),
        )
    report = EvaluationReport(
        name=_file_name(loaded),
        labels=series.labels,
        values=values if has_values else None,
        scores=scores,
        table=table,
        buffer=choice,
        threshold=settings.threshold,
        draws=_draws(series.n_points) if chance is None else chance,
        times=time_range(loaded.dates),
        channels=channels if has_values else {},
        dates=None if loaded.dates is None else loaded.dates[first:],
    )
    emit(
        form,
        report.to_dict(),
        text=lambda: plain_table(report, width=terminal_width()),
        csv=lambda: csv_text(RECORD_FIELDS, list(report.records())),
        latex=lambda: latex_table(report),
        markdown=report.table.to_markdown,
    )
    if html is not None:
        from vuskit.report.page import series_page_html

        write_file(html, series_page_html(report))
        say(f"page: {html}")
    if failures:
        say("\n".join(failures))
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _file_name(loaded: Loaded) -> str:
    """Name of the file of a series: that of its only scores, or of its labels."""
    path = loaded.scores[0].path if len(loaded.scores) == 1 else loaded.path
    return loaded.series.name if path is None else path.name


def _evaluated(
    wanted: Sequence[Measure], evaluating: Callable[..., Comparison]
) -> tuple[Comparison, list[str]]:
    """Return values and error messages; custom measures that fail are left out."""
    try:
        return evaluating(measures=wanted), []
    except MeasureError as error:
        first = error
    failures = {}
    for measure in (one for one in wanted if one.declaration is None):
        try:
            evaluating(measures=measure)
        except MeasureError as error:
            failures[measure.name] = str(error)
    rest = [measure for measure in wanted if measure.name not in failures]
    if not rest:
        raise first
    return evaluating(measures=rest), list(failures.values())


def _report_columns(loaded: Loaded) -> None:
    series = loaded.series
    names = ", ".join(one.detector for one in loaded.scores)
    parts = [f"labels: {loaded.label}", f"scores: {names}"]
    if not np.isnan(series.values).all():
        parts.append(f"values: {', '.join(series.channels)}")
    if loaded.left_out:
        parts.append(f"left out: {', '.join(loaded.left_out)}")
    times = time_range(loaded.dates)
    shown = f" ({times[0]} … {times[1]})" if times else ""
    say(f"{series.n_points:,} points{shown}; {'; '.join(parts)}")
    for note in loaded.notes:
        say(f"note: {note}")


def _training_points(loaded: Loaded, asked: str | None) -> int:
    """Return the number of leading points to exclude; by default none, with a note.

    Raises
    ------
    InvalidInputError
        If the training length is unknown, or not less than the length of the series.
    """
    n, declared = loaded.series.n_points, loaded.series.train_length
    if asked in ("none", "0") or (asked is None and not 0 < (declared or 0) < n):
        return 0
    if asked is None:
        say(
            f"note: the first {declared:,} points are training data according to the file name, "
            "and are evaluated; --train-length auto excludes them, none hides this note"
        )
        return 0
    if asked == "auto" and declared is None:
        raise InvalidInputError(
            "`--train-length auto` needs a file name such as 001_NAB_id_1_Web_tr_500_1st_800.csv, "
            f"got {_file_name(loaded)!r}; give the number of training points"
        )
    length = int(declared if asked == "auto" else asked)  # type: ignore[arg-type]
    if length >= n:
        raise InvalidInputError(
            f"`--train-length` must be less than the {n:,} points of the series, got {length:,}"
        )
    say(f"left out: the first {length:,} points (training data)")
    return length


def _check_classes(series: Series, loaded: Loaded) -> None:
    if series.anomalous_points in (0, series.n_points):
        kind = "anomalous" if series.anomalous_points else "normal"
        raise InvalidInputError(
            f"{loaded.path}: label column {loaded.label!r} must hold both normal and "
            f"anomalous points, got {kind} ones only; every measure needs both"
        )


def _buffer(
    settings: EvaluationSettings,
    labels: NDArray[np.bool_],
    values: NDArray[np.float64] | None,
    wanted: Sequence[Measure],
) -> BufferChoice | None:
    """Return the buffer; None, with a note, if there is none but some measures need none."""
    try:
        return settings.choose_buffer(values=values, y_true=labels)
    except BufferNotFoundError as error:
        reason = str(error).replace("set `buffer_fallback`", "use --set buffer_fallback=N")
        if values is None:
            reason = (
                f"`--buffer {settings.buffer}` needs the series itself; name its column with "
                "--value, or use --buffer median-anomaly"
            )
        lacking = [measure.title for measure in wanted if measure.uses_buffer]
        if len(lacking) == len(wanted):
            raise InvalidInputError(reason) from error
        if lacking:
            say(f"note: no value of {', '.join(lacking)}: {reason}")
        return None


def _draws(n_points: int) -> int:
    """Return the number of random scores for the chance level; long series need few."""
    return int(np.clip(_POINTS_DRAWN // n_points, 2, _DRAWS))
