"""Results with given numbers, for captions and findings."""

from __future__ import annotations

import numpy as np

from vuskit.measures.registry import resolve_measures
from vuskit.studies import Consistency, Robustness, Scenarios, Separability
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.result import SeriesValues, StudyInput
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.timing import (
    Setting,
    TimingResult,
)
from vuskit.studies.timing.cases import settings_of
from vuskit.studies.timing.results import Sample

NAMES = tuple(measure.name for measure in resolve_measures("paper"))
DETECTORS = ("AE", "LOF", "OCSVM")


def consistency(values, series=None):
    """Result of a mapping from (data set, series) to {detector: {measure: value}}.

    Measures that are not given are 0.5 for all detectors.
    """
    found = []
    for (dataset, name), by_detector in values.items():
        table = [
            [by_detector[detector].get(measure, 0.5) for measure in NAMES]
            for detector in by_detector
        ]
        axes = {"detector": tuple(by_detector), "measure": NAMES}
        found.append(SeriesValues(dataset, name, 20, axes, np.array(table)))
    inputs = tuple(StudyInput(f"{one.dataset}/{one.series}", "") for one in found)
    return ConsistencyResult(tuple(found), study=Consistency(), inputs=inputs)


def robustness(deviations, n_series=12):
    """Result whose mean deviation under a perturbation is as given; 0.05 for other measures."""
    kinds = ("lag", "noise", "ratio")
    spread = np.array(
        [[deviations.get(kind, {}).get(name, 0.05) for name in NAMES] for kind in kinds]
    )
    signs = np.where(np.arange(10) % 2, 1.0, -1.0)
    values = 0.5 + spread[:, None, None, :] * signs[None, None, :, None]
    values = np.repeat(values, 2, axis=1)
    axes = {
        "perturbation": kinds,
        "detector": ("A", "B"),
        "repeat": tuple(map(str, range(10))),
        "measure": NAMES,
    }
    found = tuple(
        SeriesValues(("one", "two", "three")[place % 3], f"s{place}", 20, axes, values)
        for place in range(n_series)
    )
    return RobustnessResult(found, study=Robustness())


def separability(z, n_series=12):
    """Result whose z is proportional to the given numbers; 1 for other measures."""
    gaps = np.array([z.get(name, 1.0) for name in NAMES])
    noise = np.where(np.arange(50) % 2, 0.001, -0.001)[:, None]
    values = np.stack([0.2 + 0.01 * gaps + noise, 0.2 + 0 * gaps + noise])
    axes = {
        "detector": ("A", "B"),
        "repeat": tuple(map(str, range(50))),
        "measure": NAMES,
    }
    notes = {"pairs": [["A", "B"]], "criterion": {"A": 0.9, "B": 0.1}}
    found = tuple(
        SeriesValues(("one", "two", "three")[place % 3], f"s{place}", 20, axes, values, notes)
        for place in range(n_series)
    )
    return SeparabilityResult(found, study=Separability())


def scenarios(**options):
    return Scenarios(n_points=1000, **options).run()


def timing(naive=10.0, longest=100_000, **more):
    """Times of the three algorithms: naive is so many times as slow, on series up to a length."""
    samples = []
    for setting in settings_of(quick=True):
        if setting.n_points > longest:
            continue
        cost = 1e-6 * setting.n_points * (1 + setting.max_buffer) * setting.n_thresholds / 250
        for name, factor in {"naive": naive, "opt": 1.0, "opt_mem": 0.9, **more}.items():
            samples += [Sample("synthetic-0", name, setting, cost * factor, 1000)] * 2
    if longest < Setting().n_points:
        small = [one for one in settings_of(quick=True) if one.n_points <= longest]
        assert small
    return TimingResult(tuple(samples), (), {})
