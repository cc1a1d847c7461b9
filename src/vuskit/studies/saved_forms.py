"""Results of studies taken apart into JSON and arrays, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures
from vuskit.studies.base import Failure, MeasureSettings, SeriesValues
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult, RobustnessTask
from vuskit.studies.scenarios import Scenario, ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import Summary
from vuskit.studies.timing import CONTESTANTS, Case, Job, Sample, Setting, TimingResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Arrays",
    "Header",
    "consistency_parts",
    "restore_consistency",
    "restore_robustness",
    "restore_scenarios",
    "restore_separability",
    "restore_summary",
    "restore_timing",
    "robustness_parts",
    "scenarios_parts",
    "separability_parts",
    "summary_parts",
    "timing_parts",
]

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
_Stored = Mapping[str, NDArray[Any]]

_MEASURE_FIELDS = (
    "name", "title", "family", "bounds", "higher_is_better", "reference", "paper", "extra",
    "with_chance", "options",
)  # fmt: skip
_TASK_FIELDS = tuple(entry.name for entry in fields(RobustnessTask) if entry.name != "settings")
_SETTING_FIELDS = tuple(entry.name for entry in fields(Setting))


# ---- measures and their settings ----


def _measure_parts(measure: Measure) -> Header:
    return {name: getattr(measure, name) for name in _MEASURE_FIELDS}


def _cannot_compute(name: str, *_: Any, **__: Any) -> float:
    raise InvalidInputError(
        f"`measure` must be registered to be computed, got {name!r}, which is only known from a "
        "saved result"
    )


def _restored_measure(parts: Header) -> Measure:
    known = {measure.name: measure for measure in list_measures()}
    same = known.get(parts["name"].partition("(")[0])
    function = partial(_cannot_compute, parts["name"]) if same is None else same.function
    shared = same if same is not None and same.name == parts["name"] else None
    return Measure(
        **{**parts, "bounds": tuple(parts["bounds"])},
        function=function,
        shared=None if shared is None else shared.shared,
        needs="" if shared is None else shared.needs,
    )


def _settings_parts(settings: MeasureSettings) -> Header:
    return {
        "measures": [_measure_parts(measure) for measure in settings.measures],
        "buffer": settings.buffer,
        "volume_factor": settings.volume_factor,
        "options": dict(settings.options),
    }


def _restored_settings(parts: Header) -> MeasureSettings:
    measures = tuple(_restored_measure(measure) for measure in parts["measures"])
    return MeasureSettings(measures, parts["buffer"], parts["volume_factor"], parts["options"])


# ---- values by series ----


def _series_parts(values: Iterable[SeriesValues], failures: Iterable[Failure]) -> Header:
    return {
        "series": [
            {
                "dataset": one.dataset,
                "series": one.series,
                "buffer": one.buffer,
                "axes": {axis: list(names) for axis, names in one.axes.items()},
                "notes": dict(one.notes),
            }
            for one in values
        ],
        "failures": [asdict(failure) for failure in failures],
    }


def _flat(values: Iterable[SeriesValues]) -> Arrays:
    parts = [one.values.ravel() for one in values]
    return {"values": np.concatenate(parts) if parts else np.empty(0)}


def _restored_series(header: Header, arrays: _Stored) -> tuple[SeriesValues, ...]:
    numbers, found, start = arrays["values"], [], 0
    for one in header["series"]:
        axes = {axis: tuple(names) for axis, names in one["axes"].items()}
        shape = tuple(map(len, axes.values()))
        stop = start + int(np.prod(shape))
        found.append(
            SeriesValues(
                one["dataset"],
                one["series"],
                one["buffer"],
                axes,
                numbers[start:stop].reshape(shape),
                one["notes"],
            )
        )
        start = stop
    if start != numbers.size:
        raise ValueError(f"{numbers.size} values where the series have {start}")
    return tuple(found)


def _restored_failures(header: Header) -> tuple[Failure, ...]:
    return tuple(Failure(**failure) for failure in header["failures"])


# ---- the kinds ----


def robustness_parts(result: RobustnessResult) -> tuple[Header, Arrays]:
    """Settings, perturbations and values of a robustness study."""
    task = {name: getattr(result.task, name) for name in _TASK_FIELDS}
    header = {
        "settings": _settings_parts(result.task.settings),
        "task": task,
        "min_values": result.min_values,
        **_series_parts(result.values, result.failures),
    }
    return header, _flat(result.values)


def restore_robustness(header: Header, arrays: _Stored) -> RobustnessResult:
    """Undo `robustness_parts`."""
    parts = header["task"]
    task = RobustnessTask(
        _restored_settings(header["settings"]),
        **{
            **parts,
            "perturbations": tuple(parts["perturbations"]),
            "ratio": tuple(parts["ratio"]),
        },
    )
    values = _restored_series(header, arrays)
    return RobustnessResult(values, _restored_failures(header), task, header["min_values"])


def separability_parts(result: SeparabilityResult) -> tuple[Header, Arrays]:
    """Settings, rule, pairs and values of a separability study."""
    header = {
        "settings": _settings_parts(result.settings),
        "rule": result.rule,
        **_series_parts(result.values, result.failures),
    }
    return header, _flat(result.values)


def restore_separability(header: Header, arrays: _Stored) -> SeparabilityResult:
    """Undo `separability_parts`."""
    return SeparabilityResult(
        _restored_series(header, arrays),
        _restored_failures(header),
        _restored_settings(header["settings"]),
        header["rule"],
    )


def consistency_parts(result: ConsistencyResult) -> tuple[Header, Arrays]:
    """Settings and values of a consistency study."""
    header = {
        "settings": _settings_parts(result.settings),
        "ties": result.ties,
        "min_series": result.min_series,
        **_series_parts(result.values, result.failures),
    }
    return header, _flat(result.values)


def restore_consistency(header: Header, arrays: _Stored) -> ConsistencyResult:
    """Undo `consistency_parts`."""
    return ConsistencyResult(
        _restored_series(header, arrays),
        _restored_failures(header),
        _restored_settings(header["settings"]),
        header["ties"],
        header["min_series"],
    )


def scenarios_parts(result: ScenarioResult) -> tuple[Header, Arrays]:
    """Predictions and values of the scenarios."""
    header = {
        "settings": _settings_parts(result.settings),
        "scenarios": [asdict(scenario) for scenario in result.scenarios],
        "n_points": result.n_points,
        "length": result.length,
        "buffer": result.buffer,
    }
    arrays = {"values": result.values, "positions": result.positions, "sweep": result.sweep}
    return header, arrays


def restore_scenarios(header: Header, arrays: _Stored) -> ScenarioResult:
    """Undo `scenarios_parts`."""
    return ScenarioResult(
        tuple(Scenario(**scenario) for scenario in header["scenarios"]),
        arrays["values"],
        arrays["positions"],
        arrays["sweep"],
        _restored_settings(header["settings"]),
        header["n_points"],
        header["length"],
        header["buffer"],
    )


_SUMMARY_TABLES = ("scores", "ranks")


def summary_parts(summary: Summary) -> tuple[Header, Arrays]:
    """Both tables of a summary."""
    tables = {name: getattr(summary, name) for name in _SUMMARY_TABLES}
    header = {
        "measures": [_measure_parts(measure) for measure in summary.measures],
        "tables": {
            name: {"rows": list(table.index), "columns": list(table.columns)}
            for name, table in tables.items()
        },
    }
    return header, {name: table.to_numpy(float) for name, table in tables.items()}


def restore_summary(header: Header, arrays: _Stored) -> Summary:
    """Undo `summary_parts`."""
    scores, ranks = (_frame(header["tables"][name], arrays[name]) for name in _SUMMARY_TABLES)
    measures = tuple(_restored_measure(parts) for parts in header["measures"])
    return Summary(scores, ranks, measures)


def _frame(names: Header, numbers: NDArray[Any]) -> pd.DataFrame:
    pandas = require("pandas", purpose="a saved summary")
    index = pandas.Index(names["rows"], name="measure")
    frame: pd.DataFrame = pandas.DataFrame(numbers, index=index, columns=names["columns"])
    return frame


def timing_parts(result: TimingResult) -> tuple[Header, Arrays]:
    """Every timed run, what was dropped, and the machine."""
    cells = list(dict.fromkeys(sample.key for sample in result.samples))
    place = {key: number for number, key in enumerate(cells)}
    header = {
        "cells": [_cell_parts(*key) for key in cells],
        "dropped": [_cell_parts(*job.key) for job in result.dropped],
        "environment": result.environment,
    }
    samples = result.samples
    arrays = {
        "cell": np.array([place[sample.key] for sample in samples], dtype=np.int64),
        "seconds": np.array([sample.seconds for sample in samples], dtype=np.float64),
        "peak_bytes": np.array([sample.peak_bytes for sample in samples], dtype=np.int64),
    }
    return header, arrays


def _cell_parts(series: str, contestant: str, setting: Setting, clock: str) -> list[Any]:
    return [series, contestant, [getattr(setting, name) for name in _SETTING_FIELDS], clock]


def _setting(numbers: list[Any]) -> Setting:
    return Setting(**dict(zip(_SETTING_FIELDS, numbers, strict=True)))


def restore_timing(header: Header, arrays: _Stored) -> TimingResult:
    """Undo `timing_parts`; the series of what was dropped cannot be loaded again."""
    cells = [
        (series, contestant, _setting(numbers), clock)
        for series, contestant, numbers, clock in header["cells"]
    ]
    columns = (arrays[name].tolist() for name in ("cell", "seconds", "peak_bytes"))
    samples = []
    for cell, seconds, peak in zip(*columns, strict=True):
        series, contestant, setting, clock = cells[cell]
        samples.append(Sample(series, contestant, setting, seconds, peak, clock))
    dropped = tuple(
        Job(
            Case(series, _setting(numbers), partial(_cannot_load, series)),
            CONTESTANTS[contestant],
            clock,
        )
        for series, contestant, numbers, clock in header["dropped"]
    )
    return TimingResult(tuple(samples), dropped, header["environment"])


def _cannot_load(series: str) -> Any:
    raise InvalidInputError(
        f"`case` must hold its series to be measured, got {series!r} from a saved result"
    )
