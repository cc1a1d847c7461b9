"""Options and progress that the studies of measures have in common."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from vuskit.cli.completion import (
    complete_buffers,
    complete_definitions,
    complete_figures,
    complete_measures,
)
from vuskit.cli.durations import format_duration
from vuskit.cli.exits import ExitCode
from vuskit.cli.files import check_page
from vuskit.cli.output import AsCsv, AsJson, chosen_format, say
from vuskit.cli.study_page import Html
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure, list_measures, resolve_measures

__all__ = [
    "DEFAULT_OUTPUT",
    "Alpha",
    "Figures",
    "Load",
    "Measures",
    "MinSeries",
    "Output",
    "Request",
    "Seed",
    "VolumeFactor",
    "chosen_measures",
    "progress_bar",
    "resumable",
    "with_request",
]

_ROOM = 40

Scores = Annotated[
    Path, typer.Argument(help="Saved scores, or a benchmark's run folder.", metavar="SCORES")
]
Output = Annotated[
    Path, typer.Option(help="Folder for results; the same command goes on where it stopped.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="paper, all, or a name; may be repeated.",
        autocompletion=complete_measures,
    ),
]
Load = Annotated[Path | None, typer.Option(help="Python file that registers measures of your own.")]
Pattern = Annotated[
    str | None, typer.Option("--series", metavar="PATTERN", help="Only these, such as 'ECG/*'.")
]
Buffer = Annotated[
    str,
    typer.Option(
        help="Buffer of R-AUC: a number, or a strategy such as period.",
        autocompletion=complete_buffers,
    ),
]
VolumeFactor = Annotated[float, typer.Option(help="Longest buffer of VUS, in buffers of R-AUC.")]
Thresholds = Annotated[
    int | None, typer.Option(min=2, help="Thresholds of R-AUC and VUS; every score by default.")
]
Definition = Annotated[
    str,
    typer.Option(help="Definition of R-AUC and VUS.", autocompletion=complete_definitions),
]
Seed = Annotated[int, typer.Option(help="Seed of lags and noise.")]
Processes = Annotated[
    int, typer.Option(min=0, help="Series studied at once; 0: as many as there are cores.")
]
Alpha = Annotated[float, typer.Option(min=0, max=1, help="Level of significance.")]
MinSeries = Annotated[
    int, typer.Option(min=2, help="Data sets with fewer series have no consistency.")
]
Figures = Annotated[
    str,
    typer.Option(
        metavar="FORMAT", help="Of the figures: png, pdf or svg.", autocompletion=complete_figures
    ),
]
DEFAULT_OUTPUT = Path("out") / "studies"


@dataclass(frozen=True)
class Request:
    """What all studies of scores are asked for."""

    scores: Path
    output: Path
    measures: tuple[Measure, ...]
    series: str | None
    options: dict[str, Any]
    processes: int
    form: str
    figures: str
    html: Path | None

    def run(self, name: str, study: Callable[..., Any], **own: Any) -> Any:
        """Run a study with a bar on standard error."""
        from vuskit.studies import open_scores

        with resumable(self.output / "series"), progress_bar(name) as progress:
            return study(
                open_scores(self.scores, pattern=self.series),
                measures=self.measures,
                processes=self.processes or os.cpu_count() or 1,
                folder=self.output / "series",
                progress=progress,
                **self.options,
                **own,
            )


def _request_of(
    scores: Scores,
    output: Output = DEFAULT_OUTPUT,
    measure: Measures = None,
    load: Load = None,
    series: Pattern = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    processes: Processes = 0,
    figures: Figures = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> Request:
    """Put what was asked for together."""
    options = {
        "buffer": int(buffer) if buffer.isdecimal() else buffer,
        "volume_factor": volume_factor,
        "thresholds": thresholds,
        "definition": definition,
    }
    form = chosen_format(json=as_json, csv=as_csv)
    check_page("--html", html)
    checked = check_choice("--figures", figures, complete_figures())
    measures = chosen_measures(measure, load)
    return Request(scores, output, measures, series, options, processes, form, checked, html)


def with_request(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all studies of scores, which it gets as ``request``."""
    common, own = _parameters(_request_of), _parameters(command)
    own.pop("request")

    @wraps(command)
    def asked(**given: Any) -> None:
        request = _request_of(**{name: given.pop(name) for name in common})
        command(request, **given)

    merged = common | own
    # Typer reads the signature; what is asked in every study comes first.
    asked.__signature__ = inspect.Signature(list(merged.values()))  # type: ignore[attr-defined]
    asked.__annotations__ = {name: one.annotation for name, one in merged.items()}
    return asked


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters by name, annotations as objects; all of them by keyword, whatever the order."""
    hints = get_type_hints(function, include_extras=True, localns={"Request": Request})
    return {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }


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
    return resolve_measures(names or ["paper", *own])


def _run_file(path: Path) -> None:
    if not path.is_file():
        raise InvalidInputError(f"`load` must be a Python file, got {str(path)!r}")
    # Not a module: what it defines travels to other processes by value.
    namespace = {"__name__": f"<{path.name}>", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)


@contextmanager
def progress_bar(
    title: str = "", describe: Callable[[Any], str] = lambda progress: progress.name
) -> Iterator[Callable[[Any], None]]:
    """Show a bar with the forecast and what is under way, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        *([TextColumn(title)] if title else []),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]:>6} left", style="cyan"),
        TextColumn("{task.fields[doing]}", style="dim", markup=False),
    )
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, left="?", doing="")

        def advance(progress: Any) -> None:
            known = progress.seconds_left == progress.seconds_left  # NaN before the first
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                left=format_duration(progress.seconds_left) if known else "?",
                doing=_short(describe(progress)),
            )

        yield advance


def _short(text: str) -> str:
    """As much of a line as there is room for beside the bar."""
    return text if len(text) <= _ROOM else text[: _ROOM - 1] + "…"


@contextmanager
def resumable(place: Path) -> Iterator[None]:
    """On Ctrl-C say where the finished part is and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"Stopped. What is finished is in {place}.")
        say(f"Go on with: {shlex.join(['vuskit', *sys.argv[1:]])}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
