"""A benchmark as one short TOML file, checked before anything runs."""

from __future__ import annotations

import inspect
import itertools
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

from vuskit._util.names import did_you_mean
from vuskit.bench.identity import canonical, import_object
from vuskit.bench.plan_parts import (
    Evaluations,
    ExecutorSpec,
    Limits,
    Plan,
    ScoresRequest,
    SeriesRequest,
)
from vuskit.bench.specs import DetectorSpec, EvaluationSpec, MeasureSpec
from vuskit.bench.toml_table import (
    TomlTable,
    byte_count,
    list_of,
    one_or_many,
    positive_number,
    text,
    whole,
)
from vuskit.datasets.readers import get_format
from vuskit.datasets.synthetic import get_family, make_series
from vuskit.detectors import detector_class
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import GROUPS, list_measures, resolve_measures
from vuskit.measures.settings import EvaluationSettings

__all__ = ["load_plan", "parse_plan"]

EXECUTORS = ("local", "dask")


def load_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    path : str or Path
        The TOML file; ``vuskit bench init`` writes a commented one.

    Returns
    -------
    Plan
        Checked: every detector was made once, every measure looked up.

    Raises
    ------
    InvalidInputError
        If the file cannot be read or a key or value is not accepted; the text names it.

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
    >>> len(plan.series[0].synthetic), [spec.label for spec in plan.detectors]
    (4, ['Moving z-score(window=20)', 'Moving z-score(window=50)'])
    """
    source = Path(path)
    try:
        content = source.read_text(encoding="utf-8")
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
    return parse_plan(content, base=source.resolve().parent, name=str(source))


def parse_plan(content: str, *, base: Path, name: str = "the plan") -> Plan:
    """Check the text of a plan; relative paths start at ``base``.

    Raises
    ------
    InvalidInputError
        As `load_plan`.

    Examples
    --------
    >>> parse_plan('fodler = "run"', base=Path("."))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: the plan: the plan has no key 'fodler'; did you mean 'folder'?
    """
    try:
        return _plan(TomlTable("", tomllib.loads(content)), base, content)
    except (tomllib.TOMLDecodeError, InvalidInputError) as error:
        raise InvalidInputError(f"{name}: {error}") from error


def _plan(table: TomlTable, base: Path, content: str) -> Plan:
    imports = table.take("imports", list_of(text), ())
    for module in imports:
        import_object(module, base)
    plan = Plan(
        folder=base / table.take("folder", text, "bench-run"),
        seeds=table.take("seeds", one_or_many(whole(0)), (0,)),
        series=tuple(_series(entry, base) for entry in table.tables("series")),
        detectors=_unique(
            [spec for entry in table.tables("detectors") for spec in _detectors(entry, base)]
        ),
        scores=tuple(_scores(entry, base) for entry in table.tables("scores")),
        evaluations=tuple(_evaluations(entry) for entry in table.tables("evaluate")),
        limits=_limits(table.table("limits")),
        executor=_executor(table.table("executor"), base),
        imports=imports,
        base=base,
        text=content,
    )
    table.close()
    if not plan.scores and not (plan.series and plan.detectors):
        raise InvalidInputError(
            "a plan must have [[series]] and [[detectors]], or [[scores]], "
            f"got {len(plan.series)} series and {len(plan.detectors)} detectors"
        )
    return plan


def _series(table: TomlTable, base: Path) -> SeriesRequest:
    if "family" in table:
        grid = [_checked_synthetic(table.where, arguments) for arguments in _grid(table.rest())]
        return SeriesRequest(synthetic=tuple(grid))
    folder = base / table.take("folder", text)
    if not folder.is_dir():
        raise InvalidInputError(f"`{table.name('folder')}` must be a folder, got {str(folder)!r}")
    request = SeriesRequest(
        folder=folder,
        names=table.take("names", one_or_many(text), ()),
        datasets=table.take("datasets", one_or_many(text), ()),
        format=table.take("format", lambda _, value: get_format(value).name, None),
        options=table.take("options", _options, {}),
        min_points=table.take("min_points", whole(1), 1),
        max_points=table.take("max_points", whole(1), None),
        min_anomalies=table.take("min_anomalies", whole(0), 0),
        sample=table.take("sample", whole(1), None),
        sample_seed=table.take("sample_seed", whole(0), 0),
    )
    table.close()
    return request


def _options(name: str, value: Any) -> dict[str, Any]:
    return TomlTable(name, value).rest()


def _checked_synthetic(where: str, arguments: dict[str, Any]) -> dict[str, Any]:
    accepted = list(inspect.signature(make_series).parameters)
    for given in arguments:
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
    """Every combination of the lists; other values stay as they are.

    A value that is a list itself is written as a list of one list.
    """
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*lists)]


def _detectors(table: TomlTable, base: Path) -> list[DetectorSpec]:
    name = table.take("name", text)
    label = table.take("label", text, None)
    given = table.rest()
    if "seed" in given or "seeds" in given:
        raise InvalidInputError(
            f"`{table.where}` has no key 'seed': seeds of all detectors are the plan's `seeds`"
        )
    varied = [key for key, value in given.items() if isinstance(value, list) and len(value) > 1]
    try:
        title = label or (name if ":" in name else detector_class(name).title)
        specs = []
        for params in _grid(given):
            shown = ", ".join(f"{key}={params[key]}" for key in varied)
            spec = DetectorSpec.of(name, params, f"{title}({shown})" if shown else title, str(base))
            spec.build(seed=0)
            specs.append(spec)
    except (InvalidInputError, TypeError) as error:
        raise InvalidInputError(f"`{table.where}`: {error}") from error
    return specs


def _unique(specs: list[DetectorSpec]) -> tuple[DetectorSpec, ...]:
    seen: dict[str, DetectorSpec] = {}
    for spec in specs:
        if spec.label in seen:
            raise InvalidInputError(
                f"`detectors` must have different labels, got {spec.label!r} twice; "
                "give one of them a `label`"
            )
        seen[spec.label] = spec
    return tuple(specs)


def _scores(table: TomlTable, base: Path) -> ScoresRequest:
    folder = base / table.take("folder", text)
    if not folder.is_dir():
        raise InvalidInputError(f"`{table.name('folder')}` must be a folder, got {str(folder)!r}")
    request = ScoresRequest(
        folder=folder,
        pattern=table.take("pattern", _pattern, None),
        detectors=table.take("detectors", one_or_many(text), ()),
        names=table.take("names", one_or_many(text), ()),
    )
    table.close()
    return request


def _pattern(name: str, value: Any) -> str:
    pattern = text(name, value)
    if "{series}" not in pattern or not pattern.endswith((".npy", ".csv")):
        raise InvalidInputError(
            f"`{name}` must hold {{series}} and end in .npy or .csv, such as "
            f"'{{detector}}/{{dataset}}/{{series}}.npy', got {pattern!r}"
        )
    return pattern


def _evaluations(table: TomlTable) -> Evaluations:
    measures = table.take("measures", _measures, _measures("measures", "paper"))
    try:
        spec = EvaluationSpec(
            buffer=table.take("buffer", lambda _, value: value),
            buffer_fallback=table.take("buffer_fallback", whole(0), None),
            thresholds=table.take("thresholds", whole(2), None),
            definition=table.take("definition", text, EvaluationSettings.definition),
            step=table.take("step", whole(1), 1),
            side=table.take("side", text, "both"),
            threshold=table.take("threshold", lambda _, value: value, "sigma"),
        )
    except InvalidInputError as error:
        inside = str(error).startswith(f"`{table.where}")
        raise InvalidInputError(str(error) if inside else f"`{table.where}`: {error}") from error
    table.close()
    return Evaluations(spec, measures)


def _measures(name: str, value: Any) -> tuple[MeasureSpec, ...]:
    given = one_or_many(_some_measures)(name, value)
    return tuple(dict.fromkeys(spec for specs in given for spec in specs))


def _some_measures(name: str, value: Any) -> tuple[MeasureSpec, ...]:
    """Specs of a measure, or of a group of them."""
    if isinstance(value, str) and value in GROUPS:
        return tuple(MeasureSpec(measure.name) for measure in resolve_measures(value))
    return (_measure(name, value),)


def _measure(name: str, value: Any) -> MeasureSpec:
    known = [measure.name for measure in list_measures()]
    if isinstance(value, str):
        return MeasureSpec(check_choice(name, value, known))
    table = TomlTable(name, value)
    spec = MeasureSpec(
        table.take("name", lambda key, given: check_choice(key, given, known)),
        canonical(table.rest()),
    )
    spec.build()
    return spec


def _limits(table: TomlTable) -> Limits:
    limits = Limits(
        seconds=table.take("seconds", positive_number, Limits.seconds),
        warm_up_seconds=table.take("warm_up_seconds", positive_number, Limits.warm_up_seconds),
        memory=table.take("memory", byte_count, None),
        threads=table.take("threads", whole(1), 1),
    )
    table.close()
    return limits


def _address(name: str, value: Any, base: Path) -> str:
    """Address of a scheduler, or its file, relative to the plan."""
    address = text(name, value)
    return str(base / address) if address.endswith(".json") else address


def _usable_cores() -> int:
    """Cores that this process may use, which on a shared machine are not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor(table: TomlTable, base: Path) -> ExecutorSpec:
    executor = ExecutorSpec(
        kind=table.take("kind", lambda key, value: check_choice(key, value, EXECUTORS), "local"),
        workers=table.take("workers", whole(1), _usable_cores()),
        address=table.take("address", lambda key, value: _address(key, value, base), None),
    )
    table.close()
    return executor
