"""Options and progress that the studies of measures have in common."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from vuskit.buffers import parse_buffer
from vuskit.cli._completion import complete_definitions, complete_figures
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import check_exists, check_page, plan_folder
from vuskit.cli._options import (
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
    seed_option,
    series_option,
)
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say
from vuskit.cli._progress import study_progress
from vuskit.cli.study._output import StudyFiles
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure

__all__ = [
    "DEFAULT_OUTPUT",
    "MinSeries",
    "Output",
    "PairChoice",
    "Perturbing",
    "Request",
    "check_figure_format",
    "resumable",
    "with_request",
]


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
        try:
            return list(open_scores(self.scores, pattern=self.series))
        except InvalidInputError as error:
            raise InvalidInputError(str(error).replace("`pattern`", "`--series`")) from error

    def run(self, name: str, study: Callable[..., Any], **own: Any) -> Any:
        """Run a study with a bar on standard error."""
        with resumable(self.output / "series"), study_progress(name) as progress:
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
        scores=plan_folder(check_exists(scores)),
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


# -- groups of options ---------------------------------------------------------------------------

Lag = Annotated[float, typer.Option("--lag", metavar="X", help="Longest lag, in buffers.")]
Noise = Annotated[
    float, typer.Option("--noise", metavar="X", help="Largest noise, in ranges of the score.")
]
Seed = Annotated[int, seed_option("of lags and noise.")]
Pair = Annotated[
    list[str] | None,
    typer.Option(
        "--pair", metavar="GOOD:BAD", help="Accurate and inaccurate detector. May be repeated."
    ),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        "--criterion", metavar="NAME", help="Measure that chooses the pairs; not one under study."
    ),
]
Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="Detectors called accurate.")]
Bottom = Annotated[
    int, typer.Option("--bottom", min=1, metavar="N", help="Detectors called inaccurate.")
]
MinGap = Annotated[
    float, typer.Option("--min-gap", metavar="X", help="Least difference of the criterion.")
]


@dataclass(frozen=True)
class Perturbing:
    """How scores are perturbed."""

    lag: float
    noise: float
    seed: int

    def to_options(self, count: int | None) -> dict[str, Any]:
        """Options of a study; of how many perturbations only if that was said."""
        return asdict(self) | ({} if count is None else {"count": count})


def perturbing_of(lag: Lag = 0.25, noise: Noise = 0.05, seed: Seed = 0) -> Perturbing:
    """Put together how scores are perturbed."""
    return Perturbing(lag, noise, seed)


@dataclass(frozen=True)
class PairChoice:
    """Which pairs of detectors are kept apart, or the rule that chooses them."""

    pairs: tuple[tuple[str, str], ...]
    criterion: str | None
    top: int
    bottom: int
    min_gap: float

    def to_options(self) -> dict[str, Any]:
        """Options of a study; without those that were left to it."""
        return {name: value for name, value in asdict(self).items() if value not in ((), None)}


def pair_choice_of(
    pair: Pair = None,
    criterion: Criterion = None,
    top: Top = 3,
    bottom: Bottom = 4,
    min_gap: MinGap = 0.1,
) -> PairChoice:
    """Put together which pairs are wanted.

    Raises
    ------
    InvalidInputError
        If a pair is not two detectors with a colon between.
    """
    return PairChoice(tuple(map(_split_pair, pair or ())), criterion, top, bottom, min_gap)


def _split_pair(text: str) -> tuple[str, str]:
    good, colon, bad = text.partition(":")
    if not (good and colon and bad):
        raise InvalidInputError(f"`--pair` must be GOOD:BAD, got {text!r}")
    return good, bad


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
def resumable(place: Path) -> Iterator[None]:
    """On Ctrl-C say where the finished part is and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"Stopped. What is finished is in {place}.")
        say(f"Go on with: {shlex.join(['vuskit', *sys.argv[1:]])}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
