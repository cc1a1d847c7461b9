"""Options, progress and output that the studies of measures have in common."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from vuskit.cli.durations import format_duration
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures, resolve_measures

if TYPE_CHECKING:
    from vuskit.studies import Failure, Progress

__all__ = [
    "DEFAULT_OUTPUT",
    "Alpha",
    "Buffer",
    "Definition",
    "Load",
    "Measures",
    "Output",
    "Pattern",
    "Processes",
    "Request",
    "Scores",
    "Seed",
    "Thresholds",
    "VolumeFactor",
    "chosen_measures",
    "request_of",
    "show",
]

_INTERRUPTED = 130
_LISTED = 5
_ROOM = 40

Scores = Annotated[
    Path, typer.Argument(help="Saved scores, or a benchmark's run folder.", metavar="SCORES")
]
Output = Annotated[
    Path, typer.Option(help="Folder for results; the same command goes on where it stopped.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="paper, all, or a name; may be repeated."),
]
Load = Annotated[Path | None, typer.Option(help="Python file that registers measures of your own.")]
Pattern = Annotated[
    str | None, typer.Option("--series", metavar="PATTERN", help="Only these, such as 'ECG/*'.")
]
Buffer = Annotated[
    str, typer.Option(help="Buffer of R-AUC: a number, or a strategy such as period.")
]
VolumeFactor = Annotated[float, typer.Option(help="Longest buffer of VUS, in buffers of R-AUC.")]
Thresholds = Annotated[
    int | None, typer.Option(min=2, help="Thresholds of R-AUC and VUS; every score by default.")
]
Definition = Annotated[str, typer.Option(help="Definition of R-AUC and VUS.")]
Seed = Annotated[int, typer.Option(help="Seed of lags and noise.")]
Processes = Annotated[
    int, typer.Option(min=0, help="Series studied at once; 0: as many as there are cores.")
]
Alpha = Annotated[float, typer.Option(min=0, max=1, help="Level of significance.")]
DEFAULT_OUTPUT = Path("out") / "studies"


@dataclass(frozen=True)
class Request:
    """What all studies are asked for."""

    scores: Path
    output: Path
    measures: tuple[Measure, ...]
    series: str | None
    options: dict[str, Any]
    processes: int

    def run(self, name: str, study: Callable[..., Any], **own: Any) -> Any:
        """Run a study with a bar on standard error."""
        from vuskit.studies import open_scores

        with _resumable(self.output), _bar(name) as progress:
            return study(
                open_scores(self.scores, pattern=self.series),
                measures=self.measures,
                processes=self.processes or os.cpu_count() or 1,
                folder=self.output / "series",
                progress=progress,
                **self.options,
                **own,
            )


def request_of(
    scores: Path,
    output: Path,
    measure: list[str] | None,
    load: Path | None,
    series: str | None,
    buffer: str,
    volume_factor: float,
    thresholds: int | None,
    definition: str,
    processes: int,
) -> Request:
    """Put what was asked for together."""
    options = {
        "buffer": int(buffer) if buffer.isdecimal() else buffer,
        "volume_factor": volume_factor,
        "thresholds": thresholds,
        "definition": definition,
    }
    return Request(scores, output, chosen_measures(measure, load), series, options, processes)


def chosen_measures(names: list[str] | None, load: Path | None) -> tuple[Measure, ...]:
    """Measures by name; without names the paper's and those that the file registers.

    Raises
    ------
    InvalidInputError
        If a name is unknown or the file cannot be run.
    """
    before = {measure.name for measure in list_measures()}
    if load is not None:
        _run_file(load)
    own = [measure.name for measure in list_measures() if measure.name not in before]
    found: dict[str, Measure] = {}
    for name in names or ["paper", *own]:
        found |= {measure.name: measure for measure in resolve_measures(name)}
    return tuple(found.values())


def _run_file(path: Path) -> None:
    if not path.is_file():
        raise InvalidInputError(f"`load` must be a Python file, got {str(path)!r}")
    # Not a module: what it defines travels to other processes by value.
    namespace = {"__name__": f"<{path.name}>", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)


@contextmanager
def _bar(title: str) -> Iterator[Callable[[Progress], None]]:
    columns = (
        TextColumn(title),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]:>6} left", style="cyan"),
        TextColumn("{task.description}", style="dim"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="?")

        def advance(progress: Progress) -> None:
            known = progress.seconds_left == progress.seconds_left  # NaN before the first
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                left=format_duration(progress.seconds_left) if known else "?",
                description=progress.name[:_ROOM],
            )

        yield advance


@contextmanager
def _resumable(output: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        console = Console(stderr=True)
        command = shlex.join(["vuskit", *sys.argv[1:]])
        console.print(f"Stopped. What is finished is in {output}.", soft_wrap=True)
        console.print(f"Go on with: {command}", soft_wrap=True, highlight=False)
        raise typer.Exit(_INTERRUPTED) from None


def show(page: Path, table: Any, failures: tuple[Failure, ...] = ()) -> None:
    """Print a table, what failed, and where the page is."""
    from vuskit.report.timing import format_cell

    console = Console()
    shown = Table()
    for name, dtype in table.dtypes.items():
        shown.add_column(str(name), justify="right" if dtype.kind in "fi" else "left")
    for row in table.itertuples(index=False):
        shown.add_row(*map(format_cell, row))
    console.print(shown)
    if failures:
        console.print(f"Could not be studied: {len(failures)}")
        for failure in failures[:_LISTED]:
            console.print(f"  {failure.name}: {failure.reason}", highlight=False, soft_wrap=True)
    console.print(f"Page, tables and figures: {page}", soft_wrap=True)
