"""``vuskit study timing``: execution time and memory of the measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.tables import frame_csv
from vuskit.buffers import parse_buffer
from vuskit.cli._completion import complete_contestants
from vuskit.cli._files import check_exists, check_page
from vuskit.cli._options import (
    Address,
    AsLatexFiles,
    Buffer,
    ExecutorKind,
    FigureFormat,
    Html,
    MemoryLimit,
    TimeLimit,
    output_option,
    parse_duration,
    quick_flag,
    seed_option,
)
from vuskit.cli._output import (
    AsCsv,
    AsJson,
    chosen_format,
    document,
    frame_records,
    frame_table,
    say,
    write,
)
from vuskit.cli._progress import study_progress
from vuskit.cli.study._command import check_figure_format, resumable
from vuskit.cli.study._output import write_study_page, written
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.engine import Progress
    from vuskit.studies.timing import TimingResult

__all__ = ["timing"]

_QUICK_REPEATS, _QUICK_BUDGET = 3, 120.0
_REPEATS = 10
_LISTED = 8
_THRESHOLDS = 250
_BUFFER = "5"


def timing(
    scores: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCORES", help="Folder of series or saved scores. Default: generated series."
        ),
    ] = None,
    quick: Annotated[bool, quick_flag("3 runs per cell, a budget of two minutes.")] = False,
    output: Annotated[
        Path | None,
        output_option("FOLDER", "results. Default: out/timing, or out/timing-series for SCORES."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=parse_duration,
            metavar="TIME",
            help="Time budget, e.g. 90s or 5m; skips the slowest cells.",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Timed runs per cell. Default: 10, or 3 with --quick."
        ),
    ] = None,
    clock: Annotated[
        str, typer.Option(metavar="CLOCK", help="Clock: wall, or cpu (steadier on a busy machine).")
    ] = "wall",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Time only this algorithm, e.g. opt. Repeat for several.",
            autocompletion=complete_contestants,
        ),
    ] = None,
    buffer: Buffer = _BUFFER,
    thresholds: Annotated[
        int | None,
        typer.Option(
            min=2, metavar="N", help="Number of thresholds of R-AUC and VUS. Default: 250."
        ),
    ] = None,
    seed: Annotated[int, seed_option("the generated series")] = 0,
    executor: ExecutorKind = "local",
    address: Address = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    table_format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Format of the tables: csv or parquet.")
    ] = "csv",
    average: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Average in figures: median (with quartiles) or mean (with standard deviation).",
        ),
    ] = "median",
    figure_format: FigureFormat = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
) -> None:
    """Measure execution time and memory of AUC, R-AUC and VUS.

    Varies the number and length of anomalies, the length of the series, the
    buffer and the thresholds, one at a time. With SCORES, it times these
    series with one buffer instead. The same command resumes.

    Example: vuskit study timing --quick --only opt --only fast_exact
    """
    from vuskit.engine import ExecutorSettings, Limits
    from vuskit.report.page import write_study
    from vuskit.report.tables import TABLE_FORMATS
    from vuskit.studies.timing import (
        synthetic_cases,
        timing_study,
    )
    from vuskit.studies.timing.cases import real_cases
    from vuskit.studies.timing.sampling import CLOCKS

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    folder = output or Path("out") / ("timing" if scores is None else "timing-series")
    check_page("--html", html, made=folder)
    check_choice("--clock", clock, CLOCKS)
    check_choice("--average", average, ("median", "mean"))
    check_choice("--executor", executor, ("local", "dask"))
    check_choice("--table-format", table_format, TABLE_FORMATS)
    figures = check_figure_format(figure_format)
    length = parse_buffer(buffer, name="--buffer")
    if scores is None:
        if buffer != _BUFFER or thresholds is not None:
            raise InvalidInputError(
                "`--buffer` and `--thresholds` must be used with SCORES; for generated series, the "
                "study varies both"
            )
        cases = synthetic_cases(quick=quick, seed=seed)
    else:
        if not check_exists(scores).is_dir():
            raise InvalidInputError(
                f"`SCORES` must be a folder, got the file {str(scores)!r}; give its folder"
            )
        cases = real_cases(scores, buffer=length, thresholds=thresholds or _THRESHOLDS)
    runs = folder / "runs"
    with resumable(runs), study_progress(describe=_doing) as progress:
        result = timing_study(
            cases,
            contestants=only,
            repeats=repeats or (_QUICK_REPEATS if quick else _REPEATS),
            clock=clock,
            budget=budget or (_QUICK_BUDGET if quick else None),
            executor=ExecutorSettings(executor, address=address),
            limits=Limits(seconds=time_limit, memory=memory_limit),
            folder=runs,
            progress=progress,
        )
    if not result.samples:
        raise InvalidInputError("the budget is too short for any cell; give a larger --budget")
    shown = replace(result, average=average)
    files = written(
        write_study, shown, folder, figures=figures, table_format=table_format, latex=as_latex
    )
    _emit(form, shown, files)
    write_study_page(html, [shown])


def _doing(progress: Progress) -> str:
    return next(iter(progress.running), "")


def _emit(form: str, result: TimingResult, files: list[Path]) -> None:
    from vuskit.report.latex import latex_frame
    from vuskit.studies.timing.tables import speed_ratios

    if form == "json":
        write(document("timing", **_content(result), files=files))
    elif form == "csv":
        write(frame_csv(speed_ratios(result)))
    else:
        tables = _shown_tables(result)
        if form == "latex":
            write("\n\n".join(latex_frame(one, notes=[title]) for title, one in tables.items()))
        else:
            write("\n\n".join(f"{title}\n{frame_table(one)}" for title, one in tables.items()))
    if result.dropped:
        say(f"Skipped to stay within the budget: {len(result.dropped)} cells")
        for title in result.dropped[-_LISTED:][::-1]:
            say(f"  {title}")
        if len(result.dropped) > _LISTED:
            say(f"  and {len(result.dropped) - _LISTED} more; see the page")
        say("To add them, repeat the command with a larger --budget.")
    for failure in result.failures:
        say(f"Failed: {failure.name}: {failure.reason}")
    cells = len({sample.cell for sample in result.samples})
    say(f"{cells} cells, {len(result.samples)} timed runs: {files[0]}")


def _shown_tables(result: TimingResult) -> dict[str, pd.DataFrame]:
    """Return the non-empty tables by title."""
    from vuskit.studies.timing.tables import complexity_table, ratio_table

    tables = {"How many times longer the paper's algorithms take": ratio_table(result)}
    if result.generated:
        title = (
            "Complexity, and exponents fitted to the measurements (R^2 in brackets)\n"
            "T: points, a: anomalies, l: their mean length, L: longest buffer, N: thresholds,\n"
            "D: points that a buffer can reach"
        )
        tables[title] = complexity_table(result)
    return {title: table for title, table in tables.items() if len(table)}


def _content(result: TimingResult) -> dict[str, Any]:
    """Return all measurements as plain data."""
    named = ("parameters", "ratios", "joint_slopes", "slopes", "exponents")
    return {
        "generated": result.generated,
        "cells": frame_records(result.summary()),
        **{name: frame_records(one) for name, one in result.tables().items() if name in named},
        "dropped": list(result.dropped),
        "environment": result.environment,
    }
