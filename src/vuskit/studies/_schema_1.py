"""Load results that were saved in schema 1, before all studies shared one format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.measures.settings import EvaluationSettings
from vuskit.studies.base import Failure, SeriesValues, StudyResult
from vuskit.studies.consistency import Consistency, ConsistencyResult
from vuskit.studies.robustness import Robustness, RobustnessResult
from vuskit.studies.saved import NamedFunction, restored_measure
from vuskit.studies.scenarios import Scenario, ScenarioResult, Scenarios
from vuskit.studies.separability import Separability, SeparabilityResult
from vuskit.studies.summary import Summary, SummaryStudy
from vuskit.studies.timing import TimingResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_schema_1"]

Header = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]

_RULE = re.compile(
    r"the (\d+) highest detectors against the (\d+) lowest by the criterion '(.*)', "
    r"pairs that differ by less than (\S+) left out"
)


def from_schema_1(kind: str, header: Header, arrays: Arrays) -> StudyResult:
    """Build a result from the header and the arrays of its file.

    Raises
    ------
    ValueError, KeyError, TypeError, IndexError
        If something is missing or damaged.
    """
    return _RESTORE[kind](header, arrays)


def _measures(listed: list[dict[str, Any]]) -> tuple[Any, ...]:
    found = []
    for one in listed:
        parts = dict(one)
        paper, extra = parts.pop("paper"), parts.pop("extra")
        parts["group"] = "paper" if paper else "extra" if extra else "own"
        parts["misleading_without_chance"] = parts.pop("with_chance")
        found.append(restored_measure(parts))
    return tuple(found)


def _common(header: Header) -> dict[str, Any]:
    """Measures and settings of a study."""
    saved = header["settings"]
    settings = EvaluationSettings(
        buffer=saved["buffer"], volume_factor=saved["volume_factor"], **saved["options"]
    )
    return {"measures": _measures(saved["measures"]), "settings": settings}


def _values(header: Header, arrays: Arrays) -> tuple[SeriesValues, ...]:
    numbers, found, start = arrays["values"], [], 0
    for one in header["series"]:
        axes = {axis: tuple(names) for axis, names in one["axes"].items()}
        shape = tuple(map(len, axes.values()))
        stop = start + int(np.prod(shape))
        part = numbers[start:stop].reshape(shape)
        found.append(
            SeriesValues(one["dataset"], one["series"], one["buffer"], axes, part, one["notes"])
        )
        start = stop
    if start != numbers.size:
        raise ValueError(f"the file must hold {start} values, got {numbers.size}")
    return tuple(found)


def _failures(header: Header) -> tuple[Failure, ...]:
    return tuple(Failure(**failure) for failure in header["failures"])


def _robustness(header: Header, arrays: Arrays) -> RobustnessResult:
    options = {**header["task"], "min_values": header["min_values"]}
    study = Robustness(**_common(header), **options)
    return RobustnessResult(_values(header, arrays), study=study, failures=_failures(header))


def _separability(header: Header, arrays: Arrays) -> SeparabilityResult:
    values = _values(header, arrays)
    options: dict[str, Any] = {"pairs": ()}
    if rule := _RULE.fullmatch(header["rule"]):
        top, bottom, criterion, gap = rule.groups()
        options = {"top": int(top), "bottom": int(bottom), "min_gap": float(gap)}
        if not criterion.startswith("mean percentile"):
            options["criterion"] = NamedFunction(criterion)
    if values:
        options["count"] = len(values[0].axes["repeat"])
    study = Separability(**_common(header), **options)
    return SeparabilityResult(values, study=study, failures=_failures(header))


def _consistency(header: Header, arrays: Arrays) -> ConsistencyResult:
    options = {name: header[name] for name in ("ties", "min_series")}
    study = Consistency(**_common(header), **options)
    return ConsistencyResult(_values(header, arrays), study=study, failures=_failures(header))


def _scenarios(header: Header, arrays: Arrays) -> ScenarioResult:
    scenarios = tuple(Scenario(**one) for one in header["scenarios"])
    options = {name: header[name] for name in ("n_points", "length")}
    study = Scenarios(**_common(header), scenarios=scenarios, **options)
    values, positions, sweep = (arrays[name] for name in ("values", "positions", "sweep"))
    return ScenarioResult(scenarios, values, positions, sweep, header["buffer"], study=study)


def _summary(header: Header, arrays: Arrays) -> Summary:
    scores, ranks = (_frame(header["tables"][name], arrays[name]) for name in ("scores", "ranks"))
    return Summary(scores, ranks, study=SummaryStudy(_measures(header["measures"])))


def _frame(names: Header, numbers: NDArray[Any]) -> pd.DataFrame:
    pandas = require("pandas", purpose="a saved summary")
    index = pandas.Index(names["rows"], name="measure")
    frame: pd.DataFrame = pandas.DataFrame(numbers, index=index, columns=names["columns"])
    return frame


def _timing(header: Header, arrays: Arrays) -> TimingResult:
    return TimingResult.from_saved({**header, **arrays})


_RESTORE: dict[str, Callable[[Header, Arrays], StudyResult]] = {
    "robustness": _robustness,
    "separability": _separability,
    "consistency": _consistency,
    "scenarios": _scenarios,
    "summary": _summary,
    "timing": _timing,
}
