"""Settings of a reproduction as sentences, for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from vuskit.measures.settings import EvaluationSettings
from vuskit.paper.results import STUDIES
from vuskit.paper.words import plural, title_of
from vuskit.studies import RobustnessResult, StudyResult


class SettingsText(NamedTuple):
    """Settings of the measures or of one study."""

    heading: str
    sentences: tuple[str, ...]


def describe_settings(results: Mapping[str, Any]) -> list[SettingsText]:
    """Describe how the studies were run.

    Settings of the measures come first if the studies share them.
    """
    studied = {
        name: results[name]
        for name in STUDIES
        if name in results and not isinstance(results[name], str)
    }
    own = {name: _measure_settings(one) for name, one in studied.items()}
    scored = [own[name] for name, one in studied.items() if one.study.input == "scores"]
    common = scored[0] if scored and all(one == scored[0] for one in scored) else None
    found = [SettingsText("Measures", tuple(common))] if common else []
    for name, one in studied.items():
        shared = own[name] if own[name] != common else []
        found.append(SettingsText(_heading(one), (*_study_settings(one), *shared)))
    return found


def _heading(result: StudyResult) -> str:
    return f"{result.study.title}{', as published' if result.study.is_as_published else ''}"


# -- measures --------------------------------------------------------------------------------------


def _measure_settings(result: StudyResult) -> list[str]:
    settings: EvaluationSettings = result.study.settings
    buffer = str(result.buffers or f"{settings.buffer} points").partition("; ")[0]
    factor = "" if settings.volume_factor == 1 else f"{settings.volume_factor:g} "
    step = "" if settings.step == 1 else f" in steps of {settings.step}"
    count = settings.thresholds
    thresholds = "every distinct score as threshold" if count is None else f"{count} thresholds"
    said = [
        f"Buffer L: {buffer}.",
        f"R-AUC uses the buffer L; VUS averages over the buffers from 0 to {factor}L{step}.",
        f"R-AUC and VUS follow the definition {settings.definition} and use {thresholds}.",
        f"Threshold of F-type measures: {settings.threshold_text}.",
    ]
    if settings.buffer_fallback is not None:
        said.append(f"Buffer of series without a period: {settings.buffer_fallback} points.")
    if settings.side != "both":
        said.append(f"Buffers extend anomalies on one side only: {settings.side}.")
    if settings.k is not None:
        said.append(f"Precision@k uses k = {settings.k}.")
    options = [_measure_option(text) for text in result.study.measure_options]
    return [*said, f"Options of measures: {'; '.join(options)}."] if options else said


def _measure_option(text: str) -> str:
    name, _, value = text.partition("=")
    measure, _, option = name.partition(".")
    return f"{title_of(measure)}, {option} = {value}"


# -- studies ---------------------------------------------------------------------------------------


def _study_settings(result: StudyResult) -> list[str]:
    study = result.study
    said = []
    for name, one in study.options().items():
        value = getattr(study, name)
        if name in _SAID_WITH_OTHERS or value is None or value == ():
            continue
        describe = _SENTENCES.get(name)
        text = f"{name}: {one.text(value)}" if describe is None else describe(study)
        if text:
            said.append(f"{text[:1].upper()}{text[1:]}.")
    if isinstance(result, RobustnessResult):
        said.append(_counts(result))
    return said


def _counts(result: RobustnessResult) -> str:
    """State how many perturbations of each kind the series really had."""
    counts = result.repeats()
    said = [
        f"{kind} {low}" if low == high else f"{kind} {low} to {high}"
        for kind in counts
        for low, high in [(int(counts[kind].min()), int(counts[kind].max()))]
    ]
    return f"Perturbations of each series: {', '.join(said)}."


def _section(study: Any) -> str:
    kind, _, count = study.section.partition(":")
    if kind == "all":
        return "whole series"
    points = f"{int(count):,} points"
    if kind == "first":
        return f"the first {points} of each series"
    return f"{points} of each series, around an anomaly, with the fewest anomalous points"


def _detectors(study: Any) -> str:
    if study.detectors == ("published",):
        return "detectors: those of the published experiments"
    return f"detectors: {', '.join(study.detectors)}"


def _count(study: Any) -> str:
    if hasattr(study, "perturbations"):
        return ""  # see `_counts`
    return f"{study.count} perturbations of each score, each with a random lag and random noise"


def _lag(study: Any) -> str:
    moved, _, share = study.lag.partition(":")
    fill = {"edge": "the free end repeats the last value", "wrap": "the score wraps around"}
    end = f"; {fill[study.lag_fill]}" if moved == "score" else ""
    return f"lag: shifts the {moved} by up to {share} buffers{end}"


def _noise(study: Any) -> str:
    kind, *numbers = study.noise.split(":")
    if kind == "uniform":
        return f"noise: uniform, up to {numbers[0]} times the range of the score to either side"
    mean, deviation = numbers
    return (
        f"noise: normal with mean {mean} and standard deviation {deviation}, on scores scaled to "
        "0 to 1"
    )


def _ratio(study: Any) -> str:
    kind, *numbers = study.ratio.split(":")
    if kind == "crops":
        return f"ratio: {numbers[0]} crops that grow around an anomaly"
    low, high = (f"{100 * float(number):g}" for number in numbers)
    return (
        f"ratio: crops with {low} to {high}% anomalous points, with a relative error of at most "
        f"{100 * study.ratio_tolerance:g}%"
    )


def _z(study: Any) -> str:
    unit = {"standard-error": "standard errors", "raw": "joint standard deviations"}[study.z]
    return f"unit of z: {unit}"


_SENTENCES: Mapping[str, Callable[[Any], str]] = {
    "section": _section,
    "scale": lambda study: "" if study.scale == "none" else "scores are scaled to 0 to 1",
    "detectors": _detectors,
    "ties": lambda study: f"rank of equal values: {study.ties}",
    "min_series": lambda study: f"an entropy needs at least {study.min_series} series",
    "entropy": lambda study: f"unit of the entropy: {study.entropy}",
    "count": _count,
    "lag": _lag,
    "noise": _noise,
    "ratio": _ratio,
    "min_values": lambda study: (
        f"a standard deviation needs at least {plural(study.min_values, 'value')}"
    ),
    "spread": lambda study: {
        "mean": "standard deviations are averaged over detectors",
        "pooled": "the standard deviation is pooled over detectors",
    }[study.spread],
    "top": lambda study: f"pairs of detectors: {study.rule.removeprefix('pairs ')}",
    "z": _z,
    "average": lambda _: "",  # the page shows the mean and the median
    "alpha": lambda study: f"level of significance: {study.alpha:g}",
    "seed": lambda study: f"seed: {study.seed}",
    "n_points": lambda study: (
        f"a synthetic series of {study.n_points:,} points with an anomaly of {study.length}"
    ),
}
_SAID_WITH_OTHERS = frozenset(
    ("measure_options", "lag_fill", "ratio_tolerance", "perturbations", "pairs", "criterion",
     "bottom", "min_gap", "length")
)  # fmt: skip
"""Options that a sentence about another option includes."""
