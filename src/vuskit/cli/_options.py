"""Options that several commands share: one name, one meaning, one place.

A command may add details to a help text after a semicolon; the text before it is the same
everywhere.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from vuskit._util.text import parse_bytes
from vuskit.alignment import ANCHORS
from vuskit.cli._completion import (
    complete_averages,
    complete_buffers,
    complete_definitions,
    complete_detectors,
    complete_figures,
    complete_measure_lists,
    complete_sides,
    complete_spreads,
    complete_table_columns,
)
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures, resolve_measures
from vuskit.measures.thresholds import ThresholdRule

__all__ = [
    "Address",
    "Align",
    "Alpha",
    "AsLatex",
    "AsLatexFiles",
    "AsMarkdown",
    "Buffer",
    "Definition",
    "Detectors",
    "ExecutorKind",
    "FigureFormat",
    "Html",
    "LabelsPath",
    "Load",
    "Measures",
    "MemoryLimit",
    "OpenPage",
    "Processes",
    "Side",
    "Spread",
    "Step",
    "TableColumns",
    "TableMeasures",
    "ThresholdName",
    "Thresholds",
    "TimeLimit",
    "Unit",
    "VolumeFactor",
    "Window",
    "chosen_measures",
    "flag",
    "load_file",
    "output_option",
    "parse_duration",
    "parse_threshold",
    "quick_flag",
    "seed_option",
    "series_option",
    "split_list",
]

FOLDER, FILE = "FOLDER", "FILE"
_UNITS = {"h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


def flag(name: str, text: str) -> Any:
    """Option without a value; typer would show a type for it."""
    return typer.Option(name, metavar="", help=text)


def output_option(metavar: str, text: str) -> Any:
    """``--output``: a file or a folder, as the metavar says."""
    return typer.Option("--output", "-o", metavar=metavar, help=f"Where to write; {text}")


def series_option(text: str) -> Any:
    """``--series``, and what for."""
    return typer.Option("--series", metavar="PATTERN", help=f"Series such as 'ECG/*'; {text}")


def seed_option(text: str) -> Any:
    """``--seed``, and of what."""
    return typer.Option("--seed", min=0, metavar="N", help=f"Random seed; {text}")


def quick_flag(text: str) -> Any:
    """``--quick``, and what is left out."""
    return flag("--quick", f"Do less; {text}")


def split_list(names: list[str] | None) -> list[str] | None:
    """Names that were given one by one or with commas between.

    Examples
    --------
    >>> split_list(["vus_pr,auc_pr", "f_score"])
    ['vus_pr', 'auc_pr', 'f_score']
    """
    return [name.strip() for text in names for name in text.split(",")] if names else None


def parse_duration(text: str) -> float:
    """Read a duration; return seconds.

    Raises
    ------
    typer.BadParameter
        If it is not a duration.

    Examples
    --------
    >>> parse_duration("5m"), parse_duration("1h30m"), parse_duration("90"), parse_duration("2.5s")
    (300.0, 5400.0, 90.0, 2.5)
    """
    match = _DURATION.fullmatch(text.strip())
    amounts = [0.0 if part is None else float(part) for part in match.groups()] if match else []
    seconds = sum(a * unit for a, unit in zip(amounts, _UNITS.values(), strict=False))
    if seconds <= 0:
        raise typer.BadParameter(f"must be a time such as 90s, 5m or 1h30m, got {text!r}")
    return seconds


def parse_threshold(text: str) -> ThresholdRule:
    """Read a number, or what may be the name of a rule.

    Examples
    --------
    >>> parse_threshold("0.5"), parse_threshold("cascade")
    (0.5, 'cascade')
    """
    try:
        return float(text)
    except ValueError:
        return text


def _parse_size(text: str) -> int:
    try:
        return parse_bytes("--memory-limit", text)
    except InvalidInputError as error:
        raise typer.BadParameter(str(error)) from error


AsLatex = Annotated[bool, flag("--latex", "Write a LaTeX table.")]
AsLatexFiles = Annotated[
    bool, flag("--latex", "Write a LaTeX table; also .tex beside every .csv of up to 200 rows.")
]
AsMarkdown = Annotated[bool, flag("--markdown", "Write a Markdown table.")]
TableMeasures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "--measures",
        metavar="NAME",
        help="Measure; the first orders the detectors. May be repeated, or with commas.",
        autocompletion=complete_measure_lists,
    ),
]
TableColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="KIND",
        help="Columns of the table; dataset or measure. Data sets if there are several.",
        autocompletion=complete_table_columns,
    ),
]
Spread = Annotated[
    str,
    typer.Option(
        "--spread",
        metavar="KIND",
        help="What follows a mean; std, bootstrap (95% interval) or none.",
        autocompletion=complete_spreads,
    ),
]
OpenPage = Annotated[bool, flag("--open", "Open the page in the browser.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar=FILE, help="Also write a page to look at and send."),
]
Load = Annotated[
    Path | None,
    typer.Option(
        "--load", metavar=FILE, help="Python file that registers your own measures or studies."
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "--measures",
        metavar="NAME",
        help="Measure; paper, extra, all or a name. May be repeated, or with commas.",
        autocompletion=complete_measure_lists,
    ),
]
Buffer = Annotated[
    str,
    typer.Option(
        "--buffer",
        metavar="N|RULE",
        help="Buffer of R-AUC; points, or auto, period, median-anomaly, ...",
        autocompletion=complete_buffers,
    ),
]
VolumeFactor = Annotated[
    float,
    typer.Option(
        "--volume-factor", metavar="X", help="Longest buffer of VUS, in buffers of R-AUC."
    ),
]
Side = Annotated[
    str,
    typer.Option(
        "--side",
        metavar="SIDE",
        help="Where the buffers are; both, before or after an anomaly.",
        autocompletion=complete_sides,
    ),
]
Step = Annotated[
    int, typer.Option("--step", min=1, metavar="N", help="Distance of the buffers of VUS.")
]
Thresholds = Annotated[
    int | None,
    typer.Option(
        "--thresholds",
        min=2,
        metavar="N",
        help="Thresholds of R-AUC and VUS; every score unless given. Published tables: 250.",
    ),
]
ThresholdName = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="X|RULE",
        help="Threshold for F-type measures; a number, sigma, quantile, cascade or best.",
    ),
]
Definition = Annotated[
    str,
    typer.Option(
        "--definition",
        metavar="NAME",
        help="Definition of R-AUC and VUS; journal, pvldb2022 or timeeval.",
        autocompletion=complete_definitions,
    ),
]
Detectors = Annotated[
    list[str] | None,
    typer.Option(
        "--detector",
        metavar="NAME",
        help="Only this detector. May be repeated.",
        autocompletion=complete_detectors,
    ),
]
LabelsPath = Annotated[
    Path | None,
    typer.Option(
        "--labels", metavar="PATH", help="Labels elsewhere; a file or a folder, matched by name."
    ),
]
Align = Annotated[
    str | None,
    typer.Option(
        metavar="POINT",
        help="Point of its window that a score belongs to; center, start or end.",
        autocompletion=lambda: list(ANCHORS),
    ),
]
Window = Annotated[int | None, typer.Option(min=1, metavar="N", help="Points of a window.")]
Unit = Annotated[
    str,
    typer.Option(
        "--unit",
        metavar="NAME",
        help="What counts once; series, or dataset: the mean of its series.",
        autocompletion=complete_averages,
    ),
]
Alpha = Annotated[
    float, typer.Option("--alpha", min=0, max=1, metavar="X", help="Level of significance.")
]
Processes = Annotated[
    int,
    typer.Option(
        "--processes",
        min=0,
        metavar="N",
        help="Processes at once; 0: as many as there are cores.",
    ),
]
ExecutorKind = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="KIND",
        help="Where the work is done; local processes or a dask cluster.",
        autocompletion=lambda: ["local", "dask"],
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="Dask scheduler; a cluster on this machine unless given.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=parse_duration,
        metavar="TIME",
        help="Most time for one series, such as 90s, 5m or 1h; none unless given.",
    ),
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        parser=_parse_size,
        metavar="SIZE",
        help="Most memory of one process, such as 500MB or 4GB; none unless given.",
    ),
]
FigureFormat = Annotated[
    str,
    typer.Option(
        "--figure-format",
        metavar="FORMAT",
        help="Format of the figures; png, pdf or svg.",
        autocompletion=complete_figures,
    ),
]


_loaded: dict[Path, list[str]] = {}


def chosen_measures(names: list[str] | None, load: Path | None) -> tuple[Measure, ...]:
    """Return measures by name; without names the paper's and those that the file registers.

    Raises
    ------
    InvalidInputError
        If a name is unknown or the file cannot be run.
    """
    own = []
    if load is not None:
        load_file(load)
        own = _loaded.pop(load)
    return resolve_measures(split_list(names) or ["paper", *own], name="--measure")


def load_file(path: Path) -> None:
    """Run the Python file of ``--load``, once per command; it registers measures or studies.

    Raises
    ------
    InvalidInputError
        If it does not exist or fails.
    """
    if path in _loaded:
        return
    if not path.is_file():
        raise InvalidInputError(f"`--load` must be a Python file, got {str(path)!r}")
    before = {measure.name for measure in list_measures()}
    # No process can import a module of this name, so its content is sent to workers by value.
    module = ModuleType(f"<{path.stem.replace('.', '_')}>")  # a dot would name a package
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except Exception as error:
        place = next((f" in line {line}" for line in _lines_of(error, path)), "")
        raise InvalidInputError(
            f"`--load {path}` cannot be run: {type(error).__name__}{place}: {error}"
        ) from error
    _loaded[path] = [one.name for one in list_measures() if one.name not in before]


def _lines_of(error: BaseException, path: Path) -> Iterator[int]:
    """Lines of a file that an error went through, the innermost first."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        yield error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    yield from (frame.lineno or 0 for frame in reversed(frames) if frame.filename == str(path))
