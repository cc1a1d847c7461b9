"""``vuskit study``: what the measures cost and how they behave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli.completion import complete_contestants
from vuskit.cli.durations import parse_duration
from vuskit.cli.files import check_page
from vuskit.cli.output import (
    AsCsv,
    AsJson,
    chosen_format,
    document,
    frame_csv,
    frame_records,
    frame_table,
    say,
    write,
)
from vuskit.cli.studies_options import Figures, progress_bar, resumable
from vuskit.cli.studies_output import written
from vuskit.cli.study_page import Html, write_study_page
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.studies.timing import Progress, TimingResult

__all__ = ["app"]

app = typer.Typer(help="Studies of the measures themselves.", no_args_is_help=True)

_QUICK_REPEATS, _QUICK_BUDGET = 3, 120.0
_REPEATS = 10
_LISTED = 8


@app.callback()
def study() -> None:
    """Study the measures themselves."""


@app.command()
def timing(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer values, 3 runs each, a budget of two minutes.")
    ] = False,
    series: Annotated[
        Path | None,
        typer.Option(help="Measure the series or saved scores of this folder instead."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; out/timing or out/timing-series unless given."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=parse_duration,
            metavar="TIME",
            help="Such as 90s, 5m, 1h; drops what is most expensive.",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Timed runs of each cell; 10, or 3 with --quick.")
    ] = None,
    clock: Annotated[str, typer.Option(help="wall, or cpu: steadier on a busy machine.")] = "wall",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A contestant, such as opt; may be repeated.",
            autocompletion=complete_contestants,
        ),
    ] = None,
    max_buffer: Annotated[
        int, typer.Option(min=0, help="Maximum buffer length (with --series).")
    ] = 5,
    thresholds: Annotated[
        int, typer.Option(min=2, help="Number of thresholds (with --series).")
    ] = 250,
    seed: Annotated[int, typer.Option(help="Seed of the generated series.")] = 0,
    table_format: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    figures: Figures = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Measure execution time and memory of AUC, R-AUC and VUS.

    Varies the number and length of anomalies, the length of the series,
    the buffer and the thresholds, one at a time. Results are kept as they
    are made: the same command goes on where an earlier one stopped.

    Example: vuskit study timing --quick --only opt --only fast_exact
    """
    from vuskit.report.timing import write_report
    from vuskit.studies.timing import TimingStore, real_cases, synthetic_cases, timing_study

    form = chosen_format(json=as_json, csv=as_csv)
    check_page("--html", html)
    folder = output or Path("out") / ("timing" if series is None else "timing-series")
    store = TimingStore(folder)
    if series is None:
        cases = synthetic_cases(quick=quick, seed=seed)
    else:
        cases = real_cases(series, max_buffer=max_buffer, n_thresholds=thresholds)
    with resumable(store.path), progress_bar(describe=_doing) as progress:
        result = timing_study(
            cases,
            contestants=only,
            repeats=repeats or (_QUICK_REPEATS if quick else _REPEATS),
            clock=clock,
            budget=budget or (_QUICK_BUDGET if quick else None),
            store=store,
            progress=progress,
        )
    if not result.samples:
        raise InvalidInputError("the budget is too short for any cell; give a larger --budget")
    files = written(write_report, result, folder, figures=figures, table_format=table_format)
    _emit(form, result, files)
    write_study_page(html, [result])


def _doing(progress: Progress) -> str:
    from vuskit.report.timing import describe_job

    return describe_job(progress.job) if progress.job else ""


def _emit(form: str, result: TimingResult, files: list[Path]) -> None:
    from vuskit.report.timing import describe_job, ratio_table
    from vuskit.studies.timing_tables import speed_ratios

    ratios = speed_ratios(result).to_frame()
    if form == "json":
        write(document("timing", **_content(result), files=files))
    elif form == "csv":
        write(frame_csv(ratios))
    elif len(ratios):
        write("How many times longer the paper's algorithms take")
        write(frame_table(ratio_table(result)))
    if result.dropped:
        say(f"Left out, more than the budget allowed: {len(result.dropped)}")
        for job in result.dropped[-_LISTED:][::-1]:
            say(f"  {describe_job(job)}")
        if len(result.dropped) > _LISTED:
            say(f"  and {len(result.dropped) - _LISTED} more, see the page")
        say("The same command with a larger --budget adds them.")
    cells = len({sample.key for sample in result.samples})
    say(f"{cells} cells, {len(result.samples)} timed runs: {files[0]}")


def _content(result: TimingResult) -> dict[str, Any]:
    """Everything that was measured, as plain data."""
    from vuskit.report.timing import describe_job
    from vuskit.studies.timing_tables import joint_slopes, single_slopes, speed_ratios

    tables = {
        "ratios": speed_ratios(result).to_frame(),
        "joint_slopes": joint_slopes(result).to_frame(),
    }
    if result.generated:
        tables["slopes"] = single_slopes(result).to_frame()
    return {
        "generated": result.generated,
        "cells": frame_records(result.summary()),
        **{name: frame_records(table) for name, table in tables.items()},
        "dropped": [describe_job(job) for job in result.dropped],
        "environment": result.environment,
    }
