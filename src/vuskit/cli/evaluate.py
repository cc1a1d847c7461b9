"""``vuskit evaluate``: evaluate the scores of one series or of many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from vuskit._util.tables import LATEX_LINE, csv_text
from vuskit.cli._completion import complete_buffers
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._many_series import Request, evaluate_several
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
    terminal_width,
    write_file,
)
from vuskit.datasets.columns import Reading
from vuskit.datasets.inputs import Inputs, load_source
from vuskit.datasets.row_times import summarized
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import with_measure_options
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.evaluation import RECORD_FIELDS
from vuskit.report.latex import table_for_print
from vuskit.report.one_series import evaluate_loaded
from vuskit.report.publication import SPREADS
from vuskit.report.tables import plain_table


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
