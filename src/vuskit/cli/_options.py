"""Options that several commands share, options from declared parameters, how texts are read.

The help of an option starts with the same phrase in all commands; details may differ.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from vuskit import parameters
from vuskit._util.text import parse_bytes
from vuskit.cli import _completion as complete
from vuskit.cli._completion import complete_columns
from vuskit.cli._output import PANELS
from vuskit.datasets.columns import Reading
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures, resolve_measures
from vuskit.parameters import Param, from_texts, params_of, read_text

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


_READING = (
    "labels", "label", "score", "value", "positive", "by", "dataset", "order", "duplicates",
    "timezone", "start", "end", "id", "labels_by", "labels_all", "pattern", "align", "window",
)  # fmt: skip

SHOWN = ("labels", "by", "pattern")
"""Options of input that the help of all commands shows; `vuskit evaluate` shows the others."""

Given = dict[str, Any]
"""Checked values of the parameters on the command line, by name. Options of measures, such as
``range_recall.alpha=0.2``, are texts under the name ``measure_options``."""


@dataclass(frozen=True)
class Flags:
    """Options for the parameters of a class: those in ``names`` are flags, others need ``--set``.

    ``defaults`` differ from those of the class. If ``shown`` is given, the help omits the others.
    """

    cls: type[Any]
    names: tuple[str, ...]
    panel: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    completions: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    shown: tuple[str, ...] | None = None

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options by name, and ``set`` if not all parameters are flags."""
        known = params_of(self.cls)
        found = {name: self._flag(name, known[name]) for name in self.names}
        others = [name for name in known if name not in found]
        if others:
            found["set"] = _keyword("set", list[str] | None, None, typer.Option(
                "--set",
                metavar="NAME=VALUE",
                help=f"Set {', '.join(others)}, or an option of a measure such as "
                "range_recall.alpha=0.2. Repeat for several.",
                autocompletion=lambda: [f"{name}=" for name in others],
                rich_help_panel=self.panel,
            ))  # fmt: skip
        return found

    def _flag(self, name: str, declared: Param) -> inspect.Parameter:
        text = declared.help
        default = self.defaults.get(name, declared.default)
        if declared.choices and not any(choice in text for choice in declared.choices):
            *first, last = declared.choices
            text = f"{text.rstrip('.')}: {', '.join(first)} or {last}."
        if "Default:" not in text and default not in (None, (), False):
            text += f" Default: {declared.text(default)}."
        switch = declared.check is parameters.flag
        choices = list(declared.choices)
        option = typer.Option(
            f"--{name.replace('_', '-')}",
            metavar="" if switch else declared.metavar or "NAME",
            help=text,
            autocompletion=self.completions.get(name) or ((lambda: choices) if choices else None),
            rich_help_panel=self.panel,
            hidden=self.shown is not None and name not in self.shown,
        )
        kind: Any = bool if switch else list[str] | None if declared.many else str | None
        return _keyword(name, kind, False if switch else None, option)


def input_options(shown: tuple[str, ...] | None = None) -> Flags:
    """Return the options of input, which all commands that read scores have in common."""
    completions = dict.fromkeys(("label", "score", "value"), complete_columns)
    return Flags(Reading, _READING, INPUT, completions=completions, shown=shown)


def takes(**groups: Flags) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a command, by name, by the options of a class.

    The command receives an instance of the class, and the texts of ``--set`` that belong to
    measures as ``measure_options``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        options = {name: group.options for name, group in groups.items()}
        parameters: list[inspect.Parameter] = []
        for name, one in inspect.signature(command).parameters.items():
            if name in groups:
                parameters += options[name].values()
            elif name != "measure_options":
                parameters.append(one.replace(annotation=hints[name]))

        @functools.wraps(command)
        def run(**values: Any) -> Any:
            for name, group in groups.items():
                texts = {option: values.pop(option) for option in options[name]}
                assigned = texts.pop("set", None) or ()
                given = given_of(params_of(group.cls), texts, assigned)
                if "set" in options[name]:
                    values["measure_options"] = given.pop("measure_options", ())
                values[name] = group.cls(**{**group.defaults, **given})
            return command(**values)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def given_of(
    known: Mapping[str, Param], flags: Mapping[str, Any], assigned: Iterable[str]
) -> Given:
    """Check the texts of flags and of ``--set``; flags that are None were not given."""
    found: Given = {}
    for name, value in flags.items():
        if value is None:
            continue
        one = known[name]
        for part in value if one.many else [value]:
            before = found.get(name, ())
            found[name] = read_text(one, part, before=before) if isinstance(part, str) else part
        found[name] = one.checked(f"--{name.replace('_', '-')}", found[name])
    dotted = tuple(one for one in assigned if "." in one.partition("=")[0])
    try:
        found |= from_texts(known, [one for one in assigned if one not in dotted])
    except InvalidInputError as error:
        raise InvalidInputError(f"`--set`: {error}") from error
    if dotted:
        found["measure_options"] = (*found.get("measure_options", ()), *dotted)
    return found


def _keyword(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )
