"""``vuskit study``: what the measures cost and how they behave."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from vuskit.cli.durations import format_duration, parse_duration

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies.timing import Progress, TimingResult

__all__ = ["app"]

app = typer.Typer(help="Studies of the measures themselves.", no_args_is_help=True)

_QUICK_REPEATS, _QUICK_BUDGET = 3, 120.0
_REPEATS = 10
_INTERRUPTED = 130
_LISTED = 8
_ROOM = 40


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
        typer.Option(metavar="NAME", help="A contestant, such as opt; may be repeated."),
    ] = None,
    max_buffer: Annotated[
        int, typer.Option(min=0, help="Maximum buffer length (with --series).")
    ] = 5,
    thresholds: Annotated[
        int, typer.Option(min=2, help="Number of thresholds (with --series).")
    ] = 250,
    seed: Annotated[int, typer.Option(help="Seed of the generated series.")] = 0,
    table_format: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
) -> None:
    """Measure execution time and memory of AUC, R-AUC and VUS.

    Varies the number and length of anomalies, the length of the series,
    the buffer and the thresholds, one at a time. Results are kept as they
    are made: the same command goes on where an earlier one stopped.
    """
    from vuskit.report.timing import write_report
    from vuskit.studies.timing import TimingStore, real_cases, synthetic_cases, timing_study

    console = Console()
    folder = output or Path("out") / ("timing" if series is None else "timing-series")
    store = TimingStore(folder)
    if series is None:
        cases = synthetic_cases(quick=quick, seed=seed)
    else:
        cases = real_cases(series, max_buffer=max_buffer, n_thresholds=thresholds)
    try:
        with _progress_bar(console) as progress:
            result = timing_study(
                cases,
                contestants=only,
                repeats=repeats or (_QUICK_REPEATS if quick else _REPEATS),
                clock=clock,
                budget=budget or (_QUICK_BUDGET if quick else None),
                store=store,
                progress=progress,
            )
    except KeyboardInterrupt:
        _say_how_to_go_on(console, store.path)
        raise typer.Exit(_INTERRUPTED) from None
    if not result.samples:
        console.print("The budget is too short for any cell; give a larger --budget.")
        raise typer.Exit(1)
    files = write_report(result, folder, table_format=table_format)
    _show(console, result, files[0])


@contextmanager
def _progress_bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    from vuskit.report.timing import describe_job

    columns = (
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]:>6} left", style="cyan"),
        TextColumn("{task.description}", style="dim"),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, left="?")

        def advance(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                left=format_duration(progress.seconds_left),
                description=_short(describe_job(progress.job)) if progress.job else "",
            )

        yield advance


def _short(text: str) -> str:
    """As much of a line as there is room for beside the bar."""
    return textwrap.shorten(text, _ROOM, placeholder="…")


def _say_how_to_go_on(console: Console, path: Path) -> None:
    command = shlex.join(["vuskit", *sys.argv[1:]])
    console.print(f"Stopped. What is finished is in {path}.", soft_wrap=True)
    console.print(f"Go on with: {command}", soft_wrap=True, highlight=False)


def _show(console: Console, result: TimingResult, page: Path) -> None:
    from vuskit.report.timing import describe_job, ratio_table

    ratios = ratio_table(result)
    if len(ratios):
        console.print(
            _rich_table(ratios, title="How many times longer the paper's algorithms take")
        )
    if result.dropped:
        console.print(f"Left out, more than the budget allowed: {len(result.dropped)}")
        for job in result.dropped[-_LISTED:][::-1]:
            console.print(f"  {describe_job(job)}", highlight=False)
        if len(result.dropped) > _LISTED:
            console.print(f"  and {len(result.dropped) - _LISTED} more, see the page")
        console.print("The same command with a larger --budget adds them.")
    cells = len({sample.key for sample in result.samples})
    console.print(f"{cells} cells, {len(result.samples)} timed runs: {page}", soft_wrap=True)


def _rich_table(frame: pd.DataFrame, *, title: str) -> Table:
    from vuskit.report.timing import format_cell

    table = Table(title=title, title_justify="left")
    for name, dtype in frame.dtypes.items():
        table.add_column(str(name), justify="left" if dtype.kind == "O" else "right")
    for row in frame.itertuples(index=False):
        table.add_row(*map(format_cell, row))
    return table
