"""``vuskit evaluate``: from a file of scores to the table of measures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from vuskit.cli.completion import (
    complete_buffers,
    complete_columns,
    complete_definitions,
    complete_measure_lists,
)
from vuskit.cli.files import check_page, write_file
from vuskit.cli.output import (
    AsCsv,
    AsJson,
    chosen_format,
    csv_text,
    json_text,
    say,
    terminal_width,
    write,
)
from vuskit.cli.studies_options import Load, chosen_measures
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, did_you_mean
from vuskit.kernels.definitions import DEFINITIONS
from vuskit.measures.suite import evaluate_many
from vuskit.measures.thresholds import ThresholdRule
from vuskit.periods import BufferChoice, choose_buffer, estimate_period, list_buffer_strategies
from vuskit.report.evaluation import (
    RECORD_FIELDS,
    EvaluationReport,
    latex_table,
    plain_table,
)

if TYPE_CHECKING:
    from vuskit.cli.score_file import ScoreFile

__all__ = ["evaluate"]

_AUTO = "auto"
_LONGEST_AUTO = 1000  # a longer period is a trend or a season, not the shape of an anomaly
_DRAWS = 20
_POINTS_DRAWN = 2_000_000  # random points for the chance level of a long series

_WRITERS: dict[str, Callable[[EvaluationReport], str]] = {
    "table": lambda report: plain_table(report, width=terminal_width()),
    "json": lambda report: json_text(report.to_dict()),
    "csv": lambda report: csv_text(RECORD_FIELDS, list(report.records())),
    "latex": latex_table,
}


def evaluate(
    file: Annotated[Path, typer.Argument(help="csv or tsv (also .gz), parquet, npy or npz.")],
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Labels.", autocompletion=complete_columns)
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Scores; may be repeated. All others by default.",
            autocompletion=complete_columns,
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The series itself.", autocompletion=complete_columns),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label that means anomalous.")
    ] = None,
    buffer: Annotated[
        str,
        typer.Option(
            help="A number, auto, period, median-anomaly, mean-anomaly, ...",
            autocompletion=complete_buffers,
        ),
    ] = _AUTO,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures",
            "--measure",
            metavar="NAMES",
            help="paper, all, or names; with commas.",
            autocompletion=complete_measure_lists,
        ),
    ] = None,
    definition: Annotated[
        str,
        typer.Option(
            help="R-AUC and VUS by: journal, pvldb2022, timeeval.",
            autocompletion=complete_definitions,
        ),
    ] = "journal",
    thresholds: Annotated[
        int | None, typer.Option(help="Published tables: 250. Every score by default.")
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Of F-score and its like: sigma, quantile or a number.")
    ] = "sigma",
    chance: Annotated[
        int | None, typer.Option(min=0, help="Random scores behind the chance level; 0: none.")
    ] = None,
    load: Load = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Write a LaTeX table.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page to look at and send.")
    ] = None,
) -> None:
    """Evaluate the anomaly scores of a file.

    Columns are found by their names: label (or anomaly, is_anomaly, y_true, ...)
    and value; every other column of numbers is a score.

    Example: vuskit evaluate scores.csv --html page.html
    """
    from vuskit.cli.score_file import read_score_file

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_page("--html", html)
    # All words are looked up before a file is read that may be large.
    wanted = chosen_measures(_split(measures), load)
    check_choice("definition", definition, DEFINITIONS)
    strategy = _strategy(buffer)
    with _warnings_told():
        scored = read_score_file(
            file, label=label, scores=score or (), value=value, positive=positive
        )
        _tell_columns(scored)
        _check_classes(scored)
        choice = _buffer(strategy, scored)
        say(f"buffer: {choice.length} ({choice.strategy}: {choice.reason})")
        table = evaluate_many(
            scored.labels,
            scored.scores,
            buffer=choice.length,
            measures=wanted,
            definition=definition,
            thresholds=thresholds,
            threshold=_threshold(threshold),
        )
        report = EvaluationReport(
            name=file.name,
            labels=scored.labels,
            values=scored.values,
            scores=scored.scores,
            table=table,
            buffer=choice,
            threshold=_threshold(threshold),
            draws=_draws(scored.labels.size) if chance is None else chance,
        )
        write(_WRITERS[form](report))
        if html is not None:
            from vuskit.report.page import page_html

            write_file(html, page_html(report))
            say(f"page: {html}")


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Warnings as sentences on stderr, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"note: {text}")


def _tell_columns(scored: ScoreFile) -> None:
    parts = [f"labels: {scored.label_name}", f"scores: {', '.join(scored.scores)}"]
    if scored.value_name is not None:
        parts.append(f"values: {scored.value_name}")
    if scored.left_out:
        parts.append(f"left out: {', '.join(scored.left_out)}")
    say(f"{scored.labels.size:,} points; {'; '.join(parts)}")
    for note in scored.notes:
        say(f"note: {note}")


def _check_classes(scored: ScoreFile) -> None:
    share = scored.labels.mean()
    if share in (0.0, 1.0):
        kind = "normal" if share == 0.0 else "anomalous"
        raise InvalidInputError(
            f"{scored.path}: label column {scored.label_name!r} must hold both normal and "
            f"anomalous points, got {kind} ones only; every measure needs both"
        )


def _strategy(text: str) -> str | int:
    """A length, or the name of a strategy as the library knows it."""
    name = text.strip().lower().replace("-", "_")
    if name.lstrip("_").isdecimal():
        if name.startswith("_"):
            raise InvalidInputError(f"`--buffer` must be an int >= 0, got {text}")
        return int(name)
    if name != _AUTO and name not in list_buffer_strategies():
        known = complete_buffers()
        raise InvalidInputError(
            f"`--buffer` must be a number or one of {', '.join(known)}, "
            f"got {text!r}{did_you_mean(text, known)}"
        )
    return name


def _buffer(strategy: str | int, scored: ScoreFile) -> BufferChoice:
    if strategy == _AUTO:
        return _automatic_buffer(scored)
    if isinstance(strategy, str) and scored.values is None and "anomaly" not in strategy:
        raise InvalidInputError(
            f"`--buffer {strategy}` needs the series itself; name its column with --value, "
            "or use --buffer median-anomaly"
        )
    return choose_buffer(strategy, values=_without_gaps(scored), y_true=scored.labels)


def _automatic_buffer(scored: ScoreFile) -> BufferChoice:
    """The period where the series shows one, else the length of the anomalies."""
    values = _without_gaps(scored)
    period = None if values is None else estimate_period(values, max_lag=_LONGEST_AUTO)
    if period is not None:
        return BufferChoice(period, _AUTO, f"the values repeat every {period} points")
    choice = choose_buffer("median_anomaly", y_true=scored.labels)
    why = "there is no column of values" if values is None else "the values show no period"
    return BufferChoice(choice.length, _AUTO, f"{choice.reason}, as {why}")


def _without_gaps(scored: ScoreFile) -> NDArray[np.float64] | None:
    """Values with missing ones filled in, for looking at the period; None if there are none."""
    if scored.values is None:
        return None
    there = np.isfinite(scored.values)
    if there.all() or not there.any():
        return scored.values if there.all() else None
    place = np.arange(there.size)
    return np.interp(place, place[there], scored.values[there])


def _split(names: list[str] | None) -> list[str] | None:
    """Names that were given one by one or with commas between."""
    return [name.strip() for text in names for name in text.split(",")] if names else None


def _threshold(text: str) -> ThresholdRule:
    try:
        return float(text)
    except ValueError:
        return text


def _draws(n_points: int) -> int:
    """Random scores for the chance level: on a long series a few agree closely."""
    return int(np.clip(_POINTS_DRAWN // n_points, 2, _DRAWS))
