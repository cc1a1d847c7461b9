"""Options that several commands share, and how their texts are read.

The help of an option starts with the same phrase in all commands; details may differ.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.text import parse_bytes
from vuskit.cli import _completion as complete
from vuskit.cli._output import PANELS
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures, resolve_measures

if TYPE_CHECKING:
    from vuskit.engine import ExecutorSettings, Limits

_, INPUT, MEASURES, OUTPUT, EXECUTION = PANELS

FOLDER, FILE = "FOLDER", "FILE"
_UNITS = {"h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


def option(panel: str | None, metavar: str, text: str, *names: str, **more: Any) -> Any:
    """Option with a value, in a panel of the help."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


def flag(name: str, text: str, panel: str | None = None) -> Any:
    """Option without a value; the empty metavar keeps typer from showing a type."""
    return typer.Option(name, metavar="", help=text, rich_help_panel=panel)


def output_option(metavar: str, text: str) -> Any:
    """``--output``: a file or folder, depending on the metavar."""
    return option(OUTPUT, metavar, f"Where to write {text}", "--output", "-o")


def series_option(purpose: str) -> Any:
    """``--series``; `purpose` continues "Series to"."""
    text = f"Series to {purpose}, e.g. 'ECG/*'. Repeat for several."
    return option(INPUT, "PATTERN", text, "--series")


def seed_option(target: str) -> Any:
    """``--seed``; `target` is what it makes reproducible."""
    return option(EXECUTION, "N", f"Random seed for {target}.", "--seed", min=0)


def quick_flag(text: str) -> Any:
    """``--quick``; the text says what is reduced."""
    return flag("--quick", f"Do less: {text}", EXECUTION)


def split_list(names: list[str] | None) -> list[str] | None:
    """Return names from repeated options and comma-separated lists.

    Examples
    --------
    >>> split_list(["vus_pr,auc_pr", "f_score"])
    ['vus_pr', 'auc_pr', 'f_score']
    """
    return [name.strip() for text in names for name in text.split(",")] if names else None


def _bad_parameter(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        try:
            return parse(text)
        except InvalidInputError as error:
            raise typer.BadParameter(str(error)) from error

    return checked


def parse_duration(text: str) -> float:
    """Parse a duration; return seconds.

    Examples
    --------
    >>> parse_duration("5m"), parse_duration("1h30m"), parse_duration("90"), parse_duration("2.5s")
    (300.0, 5400.0, 90.0, 2.5)
    """
    match = _DURATION.fullmatch(text.strip())
    amounts = [0.0 if part is None else float(part) for part in match.groups()] if match else []
    seconds = sum(a * unit for a, unit in zip(amounts, _UNITS.values(), strict=False))
    if seconds <= 0:
        raise InvalidInputError(f"must be a duration such as 90s, 5m or 1h30m, got {text!r}")
    return seconds


def assignments(texts: list[str] | None) -> dict[str, str]:
    """Return the values of ``--set`` by name; repeated names are joined by commas.

    Examples
    --------
    >>> assignments(["step=2", "lag-fill=wrap", "pairs=A:B", "pairs=A:C"])
    {'step': '2', 'lag_fill': 'wrap', 'pairs': 'A:B,A:C'}
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and name and value):
            raise InvalidInputError(f"`--set` must have the form NAME=VALUE, got {text!r}")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


AsJson = Annotated[bool, flag("--json", "Write JSON.", OUTPUT)]
AsCsv = Annotated[bool, flag("--csv", "Write csv.", OUTPUT)]
AsLatex = Annotated[bool, flag("--latex", "Write a LaTeX table.", OUTPUT)]
AsLatexFiles = Annotated[
    bool,
    flag("--latex", "Write a LaTeX table, and a .tex file per .csv of up to 200 rows.", OUTPUT),
]
Caption = Annotated[
    str | None, option(OUTPUT, "TEXT", "Caption of the LaTeX table instead of the usual one.")
]
TableLabel = Annotated[
    str | None,
    option(OUTPUT, "NAME", "Label of the LaTeX table, such as tab:means."),
]
LatexWidth = Annotated[
    int | None,
    option(OUTPUT, "N", "Characters per line of the LaTeX table; wider ones are split.", min=20),
]
AsMarkdown = Annotated[bool, flag("--markdown", "Write a Markdown table.", OUTPUT)]
OpenPage = Annotated[bool, flag("--open", "Open the page in the browser.", OUTPUT)]
Html = Annotated[
    Path | None, option(OUTPUT, FILE, "Also write an HTML page to this file.", "--html")
]
FigureFormat = Annotated[
    str,
    option(
        OUTPUT,
        "FORMAT",
        "Format of the figures: png, pdf or svg.",
        autocompletion=complete.complete_figures,
    ),
]
Spread = Annotated[
    str,
    option(
        OUTPUT,
        "KIND",
        "Spread shown after each mean: std, bootstrap (95% interval) or none.",
        autocompletion=complete.complete_spreads,
    ),
]
Chance = Annotated[
    int | None,
    option(
        MEASURES,
        "N",
        "Number of random scores for the chance level. 0: no chance level.",
        min=0,
    ),
]
Measures = Annotated[
    list[str] | None,
    option(
        MEASURES,
        "NAME",
        "Measures to compute: paper, extra, all or names. Repeat or separate with commas.",
        "--measure",
        "--measures",
        autocompletion=complete.complete_measure_lists,
    ),
]
TableMeasures = Annotated[
    list[str] | None,
    option(
        MEASURES,
        "NAME",
        "Measures to show; the first ranks detectors. Repeat or separate with commas.",
        "--measure",
        "--measures",
        autocompletion=complete.complete_measure_lists,
    ),
]
Load = Annotated[
    Path | None,
    option(MEASURES, FILE, "Python file that registers your own measures or studies."),
]
Detectors = Annotated[
    list[str] | None,
    option(
        INPUT,
        "NAME",
        "Detector to include. Default: all. Repeat for several.",
        autocompletion=complete.complete_detectors,
    ),
]
Exclude = Annotated[
    list[str] | None,
    option(
        INPUT,
        "NAME",
        "Detector (or column) to exclude. Repeat or separate with commas.",
        autocompletion=complete.complete_detectors,
    ),
]
Unit = Annotated[
    str,
    option(
        MEASURES,
        "NAME",
        "Unit to average over: series, or dataset (mean of its series).",
        autocompletion=complete.complete_averages,
    ),
]
StudyFolders = Annotated[
    list[Path] | None,
    option(INPUT, FOLDER, "Folder of studies to add to the page. Repeat for several."),
]
Processes = Annotated[int, option(EXECUTION, "N", "Number of processes. 0: one per core.", min=0)]
Dask = Annotated[
    str | None,
    option(
        EXECUTION,
        "local|ADDRESS",
        "Run on a Dask cluster: its address, or local for one on this machine.",
    ),
]
Budget = Annotated[
    float | None,
    option(
        EXECUTION,
        "TIME",
        "Time budget of the timing study, e.g. 90s or 5m; skips the slowest cells.",
        parser=_bad_parameter(parse_duration),
    ),
]
TimeLimit = Annotated[
    float | None,
    option(
        EXECUTION,
        "TIME",
        "Time limit per series, such as 90s, 5m or 1h. Default: none.",
        parser=_bad_parameter(parse_duration),
    ),
]
MemoryLimit = Annotated[
    int | None,
    option(
        EXECUTION,
        "SIZE",
        "Memory limit per process, such as 500MB or 4GB. Default: none.",
        parser=_bad_parameter(lambda text: parse_bytes("--memory-limit", text)),
    ),
]
AllowCode = Annotated[
    bool, flag("--allow-code", "Run custom code that the run names, if you trust it.", EXECUTION)
]


def executor_of(dask: str | None, processes: int = 0) -> ExecutorSettings:
    """Return where to run: processes of this machine, or a Dask cluster."""
    from vuskit.bench.plan import usable_cores
    from vuskit.engine import ExecutorSettings

    workers = processes or usable_cores()
    if dask is None:
        return ExecutorSettings("local", workers)
    if dask != "local" and ":" not in dask and not dask.endswith(".json"):
        raise InvalidInputError(
            f"`--dask` must be local, the address of a scheduler such as tcp://HOST:8786, or the "
            f".json file that it writes, got {dask!r}"
        )
    return ExecutorSettings("dask", workers, None if dask == "local" else dask)


def limits_of(seconds: float | None, memory: int | None) -> Limits:
    """Return the limits of a job."""
    from vuskit.engine import Limits

    return Limits(seconds=seconds, memory=memory)


# -- code of the user ------------------------------------------------------------------------------

_loaded: dict[Path, list[str]] = {}


def chosen_measures(names: list[str] | None, load: Path | None) -> tuple[Measure, ...]:
    """Return measures by name; by default the paper's and those that the file registers."""
    own = []
    if load is not None:
        load_file(load)
        own = _loaded.pop(load)
    return resolve_measures(
        split_list(names) or ["vus_pr", "vus_roc", "paper", *own], name="--measure"
    )


def load_file(path: Path) -> None:
    """Run the Python file of ``--load`` once; it registers measures or studies."""
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
