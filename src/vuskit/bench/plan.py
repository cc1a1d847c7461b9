"""Plans: read a benchmark from a TOML file and check it before anything runs."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from vuskit._util.text import did_you_mean, parse_bytes
from vuskit.bench.jobs import AUTO, DetectorSpec, MeasureSpec, TrainLength, settings_text
from vuskit.datasets.columns import Reading
from vuskit.datasets.readers.registry import get_format
from vuskit.datasets.synthetic import make_series
from vuskit.datasets.synthetic.make import get_family
from vuskit.detectors.adapters import is_model_name
from vuskit.detectors.registry import detector_class
from vuskit.engine import ExecutorSettings, Limits
from vuskit.engine.run import EXECUTOR_KINDS
from vuskit.errors import InvalidInputError, MissingDependencyError
from vuskit.measures.registry import GROUPS, get_measure, resolve_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import (
    Check,
    Checked,
    from_mapping,
    number,
    one_of,
    param,
    params_of,
    several,
    text,
    whole,
)
from vuskit.store.identity import canonical, import_object

TEMPLATE = """\
# A benchmark: series x detectors x seeds -> scores -> measures.
#   vuskit bench plan   shows what would run
#   vuskit bench run    runs it; the same command resumes after an interruption

folder = "bench-run"            # results; relative to this file
seeds = [0]                     # a detector runs once per seed, if a seed can change its scores
# imports = ["my_measures"]     # modules that register measures; may be next to this file

# -- series: folders of files, or synthetic families; as many entries as needed ----------------

[[series]]
family = ["ecg", "kpi"]         # lists expand to a grid
n = 5000
n_anomalies = 8
difficulty = ["easy", "hard"]
seed = [1, 2]

# [[series]]
# folder = "data/series"        # searched recursively
# names = ["ECG/*", "MGAB/*"]   # patterns for paths or file names
# datasets = ["ECG"]
# format = "tsb_uad"            # detected by default
# options = {}                  # keyword arguments of the format
# min_points = 1000
# max_points = 200_000
# min_anomalies = 1
# sample = 20                   # random sample of the remaining series, always the same
# sample_seed = 0

# -- detectors: keys after the name are parameters; lists expand to a grid ----------------------

[[detectors]]
name = "moving_zscore"
window = [25, 100]

[[detectors]]
name = "iforest"

[[detectors]]
name = "random"

# [[detectors]]
# name = "pyod:KNN"             # a model of PyOD, or sklearn:..., aeon:...; with its parameters
# n_neighbors = 10
# window = "period"             # PyOD and scikit-learn models receive windows of the series

# [[detectors]]
# name = "my_module:my_function"  # function(values) -> scores, a Detector, a model, or a
# label = "mine"                  # function that returns one of these

# -- scores computed elsewhere ------------------------------------------------------------------

# [[scores]]
# folder = "data/scores"        # csv files: value,label,<detector>,...
# detectors = ["LOF"]           # columns; default: all

# [[scores]]
# folder = "my_scores"          # one file per series of this plan and detector, .npy or .csv
# pattern = "{detector}/{dataset}/{series}.npy"
# align = "center"              # for window scores; or "start", "end"
# window = 100                  # or "auto", or by detector: { LOF = 64, AE = 100 }

# [[scores]]
# folder = "my_scores"          # csv, tsv, parquet, Arrow, npy or npz, also .gz; no [[series]]
# labels = "my_labels"          # a file or folder of labels, matched by name

# -- measures for all scores; as many entries as needed ------------------------------------------

[[evaluate]]
measures = "paper"              # or "extra", "all", or ["paper", {name = "f_score", beta = 2}]
buffer = "auto"                 # the period, or the median anomaly length without a period;
                                # or a number, period, fft, authors, median_anomaly,
                                # mean_anomaly
# buffer_fallback = 100         # used if the strategy finds no buffer
# thresholds = 250              # as in published tables; default: every distinct score
# definition = "journal"        # or pvldb2022, timeeval
# train_length = "auto"         # exclude the training part of each series, or a number of points

[limits]                        # per job
seconds = 3600                  # does not include loading and compiling libraries
# warm_up_seconds = 300         # limit for loading and compiling
memory = "4 GB"
threads = 1

[executor]
kind = "local"                  # or "dask"
# workers = 2                   # processes; default: one per core
# address = "tcp://head:8786"   # a Dask scheduler or its .json file; default: a local cluster
"""


# -- tables of the plan -------------------------------------------------------------------------

T = TypeVar("T")
_TEXTS = several(text, minimum=1)


@dataclass(frozen=True)
class SeriesFolder(Checked):
    """One ``[[series]]`` entry: files in a folder.

    With `labels`, a file of intervals, `options` are those of the format ``labels``.
    """

    folder: str = param(MISSING, text)
    labels: str | None = param(None, text)
    names: tuple[str, ...] = param((), _TEXTS)
    datasets: tuple[str, ...] = param((), _TEXTS)
    format: str | None = param(None, text)
    options: Mapping[str, Any] = field(default_factory=dict)
    min_points: int = param(1, whole(1))
    max_points: int | None = param(None, whole(1))
    min_anomalies: int = param(0, whole(0))
    sample: int | None = param(None, whole(1))
    sample_seed: int = param(0, whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.options, Mapping):
            raise InvalidInputError(f"`options` must be a table, got {self.options!r}")
        if self.format is not None:
            object.__setattr__(self, "format", get_format(self.format).name)
            if self.labels is not None:
                raise InvalidInputError("`format` must be used without `labels`; omit one")


@dataclass(frozen=True)
class SyntheticSeries:
    """One ``[[series]]`` entry: synthetic series, one per combination of values."""

    grid: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class ScoresFolder(Reading):
    """One ``[[scores]]`` entry: scores computed elsewhere, and the columns of their files."""

    folder: str = param(MISSING, text)
    detectors: tuple[str, ...] = param((), _TEXTS)
    names: tuple[str, ...] = param((), _TEXTS)
    files: tuple[str, ...] = param((), _TEXTS)

    @property
    def any_form(self) -> bool:
        """Whether files may have any form that ``vuskit evaluate`` accepts."""
        named = (self.labels, self.label, self.positive, self.by)
        several = (self.files, self.score, self.value)
        return any(several) or any(one is not None for one in named)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.align is not None and self.window is None:
            raise InvalidInputError(
                f"`window` must be given with align = {self.align!r}, got nothing; set the "
                "number of points in a window"
            )
        pattern = self.pattern
        if pattern and self.any_form:
            if "{series}" not in pattern:
                raise InvalidInputError(
                    "`pattern` must contain {series}, such as '{detector}/{series}.npy', "
                    f"got {pattern!r}"
                )
        elif pattern and ("{series}" not in pattern or not pattern.endswith((".npy", ".csv"))):
            raise InvalidInputError(
                "`pattern` must contain {series} and end in .npy or .csv, such as "
                f"'{{detector}}/{{dataset}}/{{series}}.npy', got {pattern!r}"
            )


@dataclass(frozen=True)
class _EvaluateTable(EvaluationSettings):
    """One ``[[evaluate]]`` entry: settings, measures, and points to exclude."""

    measures: tuple[MeasureSpec, ...] = param((), lambda name, value: _measures(name, value))
    train_length: TrainLength = param(None, whole(0, word=AUTO))

    @classmethod
    def read(cls, where: str, entry: dict[str, Any]) -> Evaluations:
        """Check an entry."""
        table = from_mapping(cls, {"buffer": "auto", "measures": "paper", **entry}, where=where)
        names = params_of(EvaluationSettings)
        settings = EvaluationSettings(**{name: getattr(table, name) for name in names})
        return Evaluations(settings, table.measures, table.train_length)


@dataclass(frozen=True)
class _LimitsTable(Checked):
    """``[limits]``; unset keys use the defaults of `Limits`."""

    seconds: float | None = param(None, number(above=0))
    warm_up_seconds: float | None = param(None, number(above=0))
    memory: int | None = param(None, parse_bytes)
    threads: int | None = param(None, whole(1))


@dataclass(frozen=True)
class _ExecutorTable(Checked):
    """``[executor]``."""

    kind: str = param("local", one_of(*EXECUTOR_KINDS))
    workers: int | None = param(None, whole(1))
    address: str | None = param(None, text)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.address is not None and self.kind != "dask":
            raise InvalidInputError(
                f'`address` must be omitted unless kind = "dask", got {self.address!r}'
            )


def _table(cls: type[T]) -> Check:
    def check(name: str, value: Any) -> T:
        return value if isinstance(value, cls) else from_mapping(cls, value, where=name)

    return Check("a table", check)


def _check_entries(name: str, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise InvalidInputError(
            f"`{name}` must be written as [[{name}]], once per entry, got {value!r}"
        )
    return value


@dataclass(frozen=True)
class _PlanTable(Checked):
    """The whole file. Entries of lists are checked separately."""

    folder: str = param("bench-run", text)
    seeds: tuple[int, ...] = param((0,), several(whole(0), minimum=1))
    imports: tuple[str, ...] = param((), _TEXTS)
    series: Sequence[dict[str, Any]] = param((), _check_entries)
    detectors: Sequence[dict[str, Any]] = param((), _check_entries)
    scores: Sequence[dict[str, Any]] = param((), _check_entries)
    evaluate: Sequence[dict[str, Any]] = param((), _check_entries)
    limits: _LimitsTable = param(_LimitsTable(), _table(_LimitsTable))
    executor: _ExecutorTable = param(_ExecutorTable(), _table(_ExecutorTable))


# -- checked plans ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluations:
    """One ``[[evaluate]]`` entry: settings and measures."""

    settings: EvaluationSettings
    measures: tuple[MeasureSpec, ...]
    train_length: TrainLength = None

    @property
    def text(self) -> str:
        """The settings in one line."""
        return settings_text(self.settings, self.train_length)


@dataclass(frozen=True)
class Plan:
    """A checked plan; see `load_plan`."""

    folder: Path
    series: tuple[SeriesFolder | SyntheticSeries, ...]
    detectors: tuple[DetectorSpec, ...]
    seeds: tuple[int, ...]
    scores: tuple[ScoresFolder, ...]
    evaluations: tuple[Evaluations, ...]
    limits: Limits
    executor: ExecutorSettings
    imports: tuple[str, ...]
    base: Path
    text: str
    name: str = "the plan"


def load_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    path : str or Path
        The TOML file; ``vuskit bench init`` writes a commented one.

    Returns
    -------
    Plan
        Checked: every detector was created once, every measure looked up.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or a key or value is invalid; the message names it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bench.toml"
    >>> _ = path.write_text('''
    ... [[series]]
    ... family = ["ecg", "kpi"]
    ... n = 3000
    ... seed = [1, 2]
    ... [[detectors]]
    ... name = "moving_zscore"
    ... window = [20, 50]
    ... [[evaluate]]
    ... measures = ["auc_pr", "vus_pr"]
    ... buffer = "median_anomaly"
    ... ''')
    >>> plan = load_plan(path)
    >>> len(plan.series[0].grid), [spec.label for spec in plan.detectors]
    (4, ['Moving z-score(window=20)', 'Moving z-score(window=50)'])
    """
    source = Path(path)
    return parse_plan(_read(source), base=source.resolve().parent, name=str(source))


def planned_folder(path: str | Path) -> Path:
    """Return the run folder of a plan, without importing code that the plan names."""
    source = Path(path)
    content = _read(source)
    try:
        document = tomllib.loads(content)
        folder = from_mapping(
            _PlanTable, {k: v for k, v in document.items() if k == "folder"}
        ).folder
    except (tomllib.TOMLDecodeError, InvalidInputError) as error:
        raise InvalidInputError(f"{source}: {error}") from error
    return source.resolve().parent / folder


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInputError(
            f"`plan` must be a file that exists, got {str(source)!r}; "
            f"write one with: vuskit bench init {shlex.quote(str(source))}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(
            f"`plan` must be a readable TOML file, got {str(source)!r}: {reason}"
        ) from error


def parse_plan(content: str, *, base: Path, name: str = "the plan") -> Plan:
    """Check the text of a plan; paths are relative to ``base``.

    Raises
    ------
    InvalidInputError
        If a key or value is invalid, as for `load_plan`.

    Examples
    --------
    >>> parse_plan('fodler = "run"', base=Path("."))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: the plan: got an unknown key 'fodler'; did you mean 'folder'?
    """
    try:
        return replace(_checked(tomllib.loads(content), base, content), name=name)
    except MissingDependencyError as error:
        raise MissingDependencyError(f"{name}: {error}") from error
    except (tomllib.TOMLDecodeError, InvalidInputError) as error:
        raise InvalidInputError(f"{name}: {error}") from error


def make_plan(document: dict[str, Any], *, base: Path, name: str = "the plan") -> Plan:
    """Check a plan that is given as tables and lists; the run records it as TOML."""
    try:
        return replace(_checked(document, base, _toml(document)), name=name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from error


def _toml(document: dict[str, Any]) -> str:
    """Return a plan as TOML; for texts, numbers and lists of these, JSON is valid TOML."""
    lines, tables = [], []
    for name, value in document.items():
        entries = value if isinstance(value, list) else [value]
        if not any(isinstance(entry, dict) for entry in entries):
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
            continue
        for entry in entries:
            tables.append(f"[[{name}]]" if isinstance(value, list) else f"[{name}]")
            tables += [
                f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in entry.items()
            ]
    return "\n".join([*lines, *tables]) + "\n"


def _checked(document: dict[str, Any], base: Path, content: str) -> Plan:
    table = from_mapping(_PlanTable, document)
    for module in table.imports:
        import_object(module, base)
    plan = Plan(
        folder=base / table.folder,
        seeds=table.seeds,
        series=tuple(_series(f"series[{i}]", e, base) for i, e in enumerate(table.series)),
        detectors=_unique(
            [
                spec
                for i, entry in enumerate(table.detectors)
                for spec in _detectors(f"detectors[{i}]", entry, base)
            ]
        ),
        scores=tuple(
            _with_folder(where, from_mapping(ScoresFolder, entry, where=where), base)
            for where, entry in _placed("scores", table.scores)
        ),
        evaluations=tuple(
            _EvaluateTable.read(where, entry)
            for where, entry in _placed("evaluate", table.evaluate)
        ),
        limits=Limits(**{name: getattr(table.limits, name) for name in document.get("limits", {})}),
        executor=_executor(table.executor, base),
        imports=table.imports,
        base=base,
        text=content,
    )
    if not plan.scores and not (plan.series and plan.detectors):
        raise InvalidInputError(
            "a plan must have [[series]] and [[detectors]], or [[scores]], "
            f"got {len(plan.series)} series and {len(plan.detectors)} detectors"
        )
    return plan


def _placed(name: str, entries: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield entries with their places."""
    for i, entry in enumerate(entries):
        yield f"{name}[{i}]", entry


def _series(where: str, entry: dict[str, Any], base: Path) -> SeriesFolder | SyntheticSeries:
    if "family" in entry:
        grid = [_checked_synthetic(where, arguments) for arguments in _grid(entry)]
        return SyntheticSeries(tuple(grid))
    return _with_folder(where, from_mapping(SeriesFolder, entry, where=where), base)


_Folder = TypeVar("_Folder", SeriesFolder, ScoresFolder)


def _with_folder(where: str, table: _Folder, base: Path) -> _Folder:
    """Resolve the folder, which must exist."""
    folder = base / table.folder
    if not folder.is_dir():
        raise InvalidInputError(f"`{where}.folder` must be an existing folder, got {str(folder)!r}")
    if table.labels is None:
        return replace(table, folder=str(folder))
    labels = base / table.labels
    if not labels.exists():
        raise InvalidInputError(
            f"`{where}.labels` must be an existing file or folder, got {str(labels)!r}"
        )
    paths: dict[str, Any] = {"folder": str(folder), "labels": str(labels)}
    return replace(table, **paths)


def _checked_synthetic(where: str, arguments: dict[str, Any]) -> dict[str, Any]:
    accepted = list(inspect.signature(make_series).parameters)
    for given in arguments:
        if given == "names":
            raise InvalidInputError(
                f"`{where}.names` must come with `folder`: it selects files, not synthetic series"
            )
        if given not in accepted:
            raise InvalidInputError(
                f"`{where}` has no key {given!r}{did_you_mean(given, accepted)}"
            )
    try:
        get_family(arguments["family"])
    except InvalidInputError as error:
        raise InvalidInputError(f"`{where}`: {error}") from error
    return {"seed": 0, **arguments}


def _grid(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values in lists; other values are fixed.

    To fix a value that is itself a list, write it as a list of one list.
    """
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*lists)]


@dataclass(frozen=True)
class _DetectorNames(Checked):
    """Keys of a ``[[detectors]]`` entry that are not parameters."""

    name: str = param(MISSING, text)
    label: str | None = param(None, text)


def _detectors(where: str, entry: dict[str, Any], base: Path) -> list[DetectorSpec]:
    given = dict(entry)
    own = {key: given.pop(key) for key in params_of(_DetectorNames) if key in given}
    names = from_mapping(_DetectorNames, own, where=where)
    name = names.name
    if "seed" in given or "seeds" in given:
        raise InvalidInputError(
            f"`{where}` has no key 'seed'; set the plan's `seeds`, which apply to all detectors"
        )
    try:
        specs = list(detector_specs(name, names.label, given, base))
        for spec in specs:
            spec.build(seed=0)
    except MissingDependencyError as error:
        raise MissingDependencyError(f"`{where}`: {error}") from error
    except (InvalidInputError, TypeError) as error:
        raise InvalidInputError(f"`{where}`: {error}") from error
    return specs


def detector_specs(
    name: str, label: str | None, given: dict[str, Any], base: Path
) -> Iterator[DetectorSpec]:
    """Yield the detectors of an entry: one per combination of parameters given as lists."""
    varied = [key for key, value in given.items() if isinstance(value, list) and len(value) > 1]
    known = name if ":" in name else detector_class(name).title
    title = label or (name.rpartition(":")[2] if is_model_name(name) else known)
    for params in _grid(given):
        shown = ", ".join(f"{key}={params[key]}" for key in varied)
        yield DetectorSpec.of(name, params, f"{title}({shown})" if shown else title, str(base))


def _unique(specs: list[DetectorSpec]) -> tuple[DetectorSpec, ...]:
    seen: dict[str, DetectorSpec] = {}
    for spec in specs:
        if spec.label in seen:
            raise InvalidInputError(
                f"`detectors` must have unique labels, got {spec.label!r} twice; "
                "give one of them a `label`"
            )
        seen[spec.label] = spec
    return tuple(specs)


def _measures(name: str, value: Any) -> tuple[MeasureSpec, ...]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, list):
        if not value:
            raise InvalidInputError(f"`{name}` must be a list with at least one entry, got []")
        found = [spec for i, e in enumerate(value) for spec in _some_measures(f"{name}[{i}]", e)]
        return tuple(dict.fromkeys(found))
    return _some_measures(name, value)


def _some_measures(name: str, value: str | dict[str, Any]) -> tuple[MeasureSpec, ...]:
    """Specs of a measure, or of a group of measures."""
    if isinstance(value, str) and value in GROUPS:
        return tuple(MeasureSpec(measure.name) for measure in resolve_measures(value))
    entry = {"name": value} if isinstance(value, str) else value
    if not isinstance(entry, Mapping):
        raise InvalidInputError(
            f"`{name}` must be a name, a table, or a list of these, got {value!r}"
        )
    if "name" not in entry:
        raise InvalidInputError(f"`{name}.name` must be given, got nothing")
    options = {key: option for key, option in entry.items() if key != "name"}
    try:
        spec = MeasureSpec(get_measure(entry["name"]).name, canonical(options))
        spec.build()
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}`: {error}") from error
    return (spec,)


def _executor(table: _ExecutorTable, base: Path) -> ExecutorSettings:
    workers = table.workers or usable_cores()
    address = table.address
    if address is not None and address.endswith(".json"):
        address = str(base / address)  # the scheduler's file, relative to the plan
    return ExecutorSettings(table.kind, workers, address)


def usable_cores() -> int:
    """Number of cores that this process may use; on a shared machine, not all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
