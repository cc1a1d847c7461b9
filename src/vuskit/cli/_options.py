"""Options that several commands share.

The help of an option starts with the same phrase in all commands; details may differ.
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
    """Option without a value; the empty metavar keeps typer from showing a type."""
    return typer.Option(name, metavar="", help=text)


def output_option(metavar: str, text: str) -> Any:
    """``--output``: a file or folder, depending on the metavar."""
    return typer.Option("--output", "-o", metavar=metavar, help=f"Where to write {text}")


def series_option(purpose: str) -> Any:
    """``--series``; `purpose` continues "Series to"."""
    text = f"Series to {purpose}, e.g. 'ECG/*'. Repeat for several."
    return typer.Option("--series", metavar="PATTERN", help=text)


def seed_option(target: str) -> Any:
    """``--seed``; `target` is what it makes reproducible."""
    return typer.Option("--seed", min=0, metavar="N", help=f"Random seed for {target}.")


def quick_flag(text: str) -> Any:
    """``--quick``; the text says what is reduced."""
    return flag("--quick", f"Do less: {text}")


def split_list(names: list[str] | None) -> list[str] | None:
    """Return names from repeated options and comma-separated lists.

    Examples
    --------
    >>> split_list(["vus_pr,auc_pr", "f_score"])
    ['vus_pr', 'auc_pr', 'f_score']
    """
    return [name.strip() for text in names for name in text.split(",")] if names else None


def parse_duration(text: str) -> float:
    """Parse a duration; return seconds.

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
        raise typer.BadParameter(f"must be a duration such as 90s, 5m or 1h30m, got {text!r}")
    return seconds


def parse_threshold(text: str) -> ThresholdRule:
    """Return a number, or the text itself as the name of a rule.

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
    bool, flag("--latex", "Write a LaTeX table. Also a .tex file for each .csv of up to 200 rows.")
]
AsMarkdown = Annotated[bool, flag("--markdown", "Write a Markdown table.")]
TableMeasures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "--measures",
        metavar="NAME",
        help="Measures to show; the first ranks detectors. Repeat or separate with commas.",
        autocompletion=complete_measure_lists,
    ),
]
TableColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="KIND",
        help="Columns of the table: dataset or measure. Default: dataset, if there are several.",
        autocompletion=complete_table_columns,
    ),
]
Spread = Annotated[
    str,
    typer.Option(
        "--spread",
        metavar="KIND",
        help="Spread shown after each mean: std, bootstrap (95% interval) or none.",
        autocompletion=complete_spreads,
    ),
]
OpenPage = Annotated[bool, flag("--open", "Open the page in the browser.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar=FILE, help="Also write an HTML page to this file."),
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
        help="Measures to compute: paper, extra, all or names. Repeat or separate with commas.",
        autocompletion=complete_measure_lists,
    ),
]
Buffer = Annotated[
    str,
    typer.Option(
        "--buffer",
        metavar="N|RULE",
        help="Buffer of R-AUC: a number of points, or auto, period, median-anomaly, ...",
        autocompletion=complete_buffers,
    ),
]
VolumeFactor = Annotated[
    float,
    typer.Option(
        "--volume-factor", metavar="X", help="Longest buffer of VUS, as a multiple of --buffer."
    ),
]
Side = Annotated[
    str,
    typer.Option(
        "--side",
        metavar="SIDE",
        help="Sides of an anomaly that get a buffer: both, before or after.",
        autocompletion=complete_sides,
    ),
]
Step = Annotated[
    int, typer.Option("--step", min=1, metavar="N", help="Step between the buffers of VUS.")
]
Thresholds = Annotated[
    int | None,
    typer.Option(
        "--thresholds",
        min=2,
        metavar="N",
        help="Number of thresholds of R-AUC and VUS. Default: all scores; published tables: 250.",
    ),
]
ThresholdName = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="X|RULE",
        help="Threshold for F-type measures: a number, sigma, quantile, cascade or best.",
    ),
]
Definition = Annotated[
    str,
    typer.Option(
        "--definition",
        metavar="NAME",
        help="Definition of R-AUC and VUS: journal, pvldb2022 or timeeval.",
        autocompletion=complete_definitions,
    ),
]
Detectors = Annotated[
    list[str] | None,
    typer.Option(
        "--detector",
        metavar="NAME",
        help="Detector to include. Default: all. Repeat for several.",
        autocompletion=complete_detectors,
    ),
]
LabelsPath = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="PATH",
        help="File or folder with the labels. Files of a folder are matched by name.",
    ),
]
Align = Annotated[
    str | None,
    typer.Option(
        metavar="POINT",
        help="Point of the window that a score belongs to: center, start or end.",
        autocompletion=lambda: list(ANCHORS),
    ),
]
Window = Annotated[int | None, typer.Option(min=1, metavar="N", help="Window length in points.")]
Unit = Annotated[
    str,
    typer.Option(
        "--unit",
        metavar="NAME",
        help="Unit to average over: series, or dataset (mean of its series).",
        autocompletion=complete_averages,
    ),
]
Alpha = Annotated[
    float, typer.Option("--alpha", min=0, max=1, metavar="X", help="Significance level.")
]
Processes = Annotated[
    int,
    typer.Option(
        "--processes",
        min=0,
        metavar="N",
        help="Number of processes. 0: one per core.",
    ),
]
ExecutorKind = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="KIND",
        help="Where to run: local (processes) or dask (a cluster).",
        autocompletion=lambda: ["local", "dask"],
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="Address of the Dask scheduler. Default: start a cluster on this machine.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=parse_duration,
        metavar="TIME",
        help="Time limit per series, such as 90s, 5m or 1h. Default: none.",
    ),
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        parser=_parse_size,
        metavar="SIZE",
        help="Memory limit per process, such as 500MB or 4GB. Default: none.",
    ),
]
FigureFormat = Annotated[
    str,
    typer.Option(
        "--figure-format",
        metavar="FORMAT",
        help="Format of the figures: png, pdf or svg.",
        autocompletion=complete_figures,
    ),
]


_loaded: dict[Path, list[str]] = {}


def chosen_measures(names: list[str] | None, load: Path | None) -> tuple[Measure, ...]:
    """Return measures by name; by default the paper's and those that the file registers.

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
    """Run the Python file of ``--load`` once; it registers measures or studies.

    Raises
    ------
    InvalidInputError
        If it does not exist or fails.
    """
    from vuskit.store.identity import note_module  # slow import

    if path in _loaded:
        return
    if not path.is_file():
        raise InvalidInputError(
            f"`--load` must be an existing Python file, got {str(path)!r}; check the path"
        )
    before = {measure.name for measure in list_measures()}
    # Workers cannot import a module of this name, so cloudpickle sends its content by value.
    module = ModuleType(f"<{path.stem.replace('.', '_')}>")  # a dot would make it a package
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look up their module
    note_module(module.__name__)
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except Exception as error:
        place = next((f" in line {line}" for line in _lines_of(error, path)), "")
        raise InvalidInputError(
            f"`--load {path}` cannot be run: {type(error).__name__}{place}: {error}"
        ) from error
    _loaded[path] = [one.name for one in list_measures() if one.name not in before]


def _lines_of(error: BaseException, path: Path) -> Iterator[int]:
    """Yield the lines of a file in the traceback, innermost first."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        yield error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    yield from (frame.lineno or 0 for frame in reversed(frames) if frame.filename == str(path))
