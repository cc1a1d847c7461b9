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

from vuskit.buffers import parse_buffer
from vuskit.cli.completion import complete_definitions, complete_figures
from vuskit.cli.durations import format_duration
from vuskit.cli.exits import ExitCode
from vuskit.cli.files import check_page, check_there, plan_folder
from vuskit.cli.options import (
    AsLatexFiles,
    Buffer,
    Definition,
    FigureFormat,
    Html,
    Load,
    Measures,
    Processes,
    Thresholds,
    VolumeFactor,
    chosen_measures,
    output_option,
    series_option,
)
from vuskit.cli.output import AsCsv, AsJson, chosen_format, say
from vuskit.cli.studies_choices import PairChoice, Perturbing, pair_choice_of, perturbing_of
from vuskit.cli.studies_output import StudyFiles
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, did_you_mean
from vuskit.measures.registry import Measure

__all__ = [
    "DEFAULT_OUTPUT",
    "MinSeries",
    "Output",
    "Request",
    "check_figure_format",
    "progress_bar",
    "resumable",
    "with_request",
]

_ROOM = 40

Scores = Annotated[
    Path,
    typer.Argument(metavar="SCORES", help="Saved scores, or a benchmark's run folder or plan."),
]
Output = Annotated[Path, output_option("FOLDER", "the same command goes on where it stopped.")]
Patterns = Annotated[list[str] | None, series_option("only these. May be repeated.")]
MinSeries = Annotated[
    int,
    typer.Option(min=2, metavar="N", help="Data sets with fewer series have no consistency."),
]
DEFAULT_OUTPUT = Path("out") / "studies"


@dataclass(frozen=True)
class Request:
    """What all studies of scores are asked for."""

    scores: Path
    output: Path
    measures: tuple[Measure, ...]
    series: list[str] | None
    options: dict[str, Any]
    processes: int
    form: str
    files: StudyFiles
    html: Path | None

    def sources(self) -> list[Any]:
        """Where the scores of the series that are wanted come from.

        Raises
        ------
        InvalidInputError
            If there are none.
        """
        from vuskit.studies import open_scores

        if self.series is None or self.scores.is_file():
            return list(open_scores(self.scores))
        wanted: dict[Any, None] = {}
        for pattern in self.series:
            try:
                wanted |= dict.fromkeys(open_scores(self.scores, pattern=pattern))
            except InvalidInputError:
                names = [one.name for one in open_scores(self.scores)]
                raise InvalidInputError(
                    f"`--series` must fit a series of {self.scores}, "
                    f"got {pattern!r}{did_you_mean(pattern, names)}"
                ) from None
        return list(wanted)

    def run(self, name: str, study: Callable[..., Any], **own: Any) -> Any:
        """Run a study with a bar on standard error."""
        with resumable(self.output / "series"), progress_bar(name) as progress:
            return study(
                self.sources(),
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
    series: Patterns = None,
    buffer: Buffer = "authors",
    volume_factor: VolumeFactor = 2.0,
    thresholds: Thresholds = None,
    definition: Definition = "journal",
    processes: Processes = 0,
    figure_format: FigureFormat = "png",
    html: Html = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
) -> Request:
    """Put what was asked for together."""
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_page("--html", html, made=output)
    options = {
        "buffer": parse_buffer(buffer, name="--buffer"),
        "volume_factor": volume_factor,
        "thresholds": thresholds,
        "definition": check_choice("--definition", definition, dict(complete_definitions())),
    }
    return Request(
        scores=plan_folder(check_there(scores)),
        output=output,
        measures=chosen_measures(measure, load),
        series=series,
        options=options,
        processes=processes,
        form=form,
        files=StudyFiles(output, check_figure_format(figure_format), as_latex),
        html=html,
    )


def check_figure_format(name: str) -> str:
    """Refuse a format of figures that is not known, before the work for them begins.

    Raises
    ------
    InvalidInputError
        If it is unknown.
    """
    return check_choice("--figure-format", name, complete_figures())


# What makes each of the things that commands ask for as a whole, from options of its own.
_MADE_OF: dict[Any, Callable[..., Any]] = {
    Request: _request_of,
    Perturbing: perturbing_of,
    PairChoice: pair_choice_of,
}


def with_request(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of what it asks for as a whole, such as a :class:`Request`."""
    own = _parameters(command)
    wholes = {
        name: _MADE_OF[one.annotation] for name, one in own.items() if one.annotation in _MADE_OF
    }
    parts = {name: _parameters(make) for name, make in wholes.items()}

    @wraps(command)
    def asked(**given: Any) -> None:
        made = {
            name: make(**{part: given.pop(part) for part in parts[name]})
            for name, make in wholes.items()
        }
        command(**made, **given)

    merged: dict[str, inspect.Parameter] = {}
    for name, one in own.items():
        merged |= parts.get(name, {name: one})
    # Typer reads the signature; options are listed in the order in which they are asked for.
    asked.__signature__ = inspect.Signature(list(merged.values()))  # type: ignore[attr-defined]
    asked.__annotations__ = {name: one.annotation for name, one in merged.items()}
    return asked


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters by name, annotations as objects; all of them by keyword, whatever the order."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }


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
