"""Sections of the studies: each result's own figures, to be looked at from all sides."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vuskit.errors import InvalidInputError
from vuskit.report.page.section import Section
from vuskit.report.page.study_sections_data import (
    consistency_data,
    robustness_data,
    scenarios_data,
    separability_data,
    summary_data,
)
from vuskit.report.page.study_sections_timing import timing_data
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.scenarios import ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import Summary
from vuskit.studies.timing import TimingResult

__all__ = ["study_sections"]

_ASSETS = ("studies.css", "study_charts.js", "studies.js", "study_scores.js", "study_others.js")
_ALPHA = 0.1  # of the paper's tests


@dataclass(frozen=True)
class _Kind:
    """How results of one kind become a section."""

    result: type
    key: str
    title: str
    data: Callable[[Any, float], dict[str, Any]]
    about: Callable[[Any], str]
    figures: tuple[str, ...]


def study_sections(results: Iterable[Any], *, alpha: float = _ALPHA) -> list[Section]:
    """Make one section for each result of a study.

    Parameters
    ----------
    results : iterable
        What studies returned, or :func:`vuskit.studies.saved.read_study_results` read.
    alpha : float, default=0.1
        Level of significance of the tests.

    Returns
    -------
    list of Section
        In the order of the results.

    Raises
    ------
    InvalidInputError
        If there is none, or one is not the result of a study.

    Examples
    --------
    >>> from vuskit.studies import scenario_study
    >>> section, = study_sections([scenario_study(measures=["vus_pr", "auc_pr"])])
    >>> section.key, section.title, len(section.data["scenarios"])
    ('scenarios', 'Scenarios', 12)
    """
    seen: Counter[str] = Counter()
    sections = []
    for result in results:
        kind = _kind_of(result)
        seen[kind.key] += 1
        again = seen[kind.key]
        sections.append(
            Section(
                key=kind.key if again == 1 else f"{kind.key}-{again}",
                view=f"study-{kind.key}",
                title=kind.title if again == 1 else f"{kind.title} ({again})",
                html=_markup(kind, result),
                data=kind.data(result, alpha),
                assets=_ASSETS,
            )
        )
    if not sections:
        raise InvalidInputError("`results` must hold at least one result of a study, got none")
    return sections


def _kind_of(result: Any) -> _Kind:
    for kind in _KINDS:
        if isinstance(result, kind.result):
            return kind
    known = ", ".join(kind.result.__name__ for kind in _KINDS)
    raise InvalidInputError(
        f"`results` must be results of studies ({known}), got {type(result).__name__}"
    )


# ---- markup ----


def _markup(kind: _Kind, result: Any) -> str:
    return (
        f"<header>\n<h1>{kind.title}</h1>\n<p>{html.escape(kind.about(result))}</p>\n</header>\n"
        '<div class="legend"></div>\n' + "\n".join(kind.figures)
    )


def _figure(
    identity: str, title: str, text: str = "", *, select: tuple[str, ...] = (), tail: str = ""
) -> str:
    """Heading, choices, button to copy, explanation and the place of a figure or table."""
    choices = "".join(
        f'<label>{name} <select id="{identity}-{name.replace(" ", "-")}"></select></label>'
        for name in select
    )
    return (
        f'<section aria-labelledby="h-{identity}">\n<div class="head"><h2 id="h-{identity}">'
        f'{title}</h2>{choices}<button type="button" data-copy="{identity}">Copy csv</button>'
        f"</div>\n" + (f'<p class="quiet">{text}</p>\n' if text else "") + f'<div id="{identity}" '
        f'class="panels"></div>\n{tail}</section>'
    )


_BARS = (
    "No two measures that share a bar differ significantly; two that share none do, or something "
    "between them does."
)
_ROBUSTNESS = (
    _figure(
        "averages",
        "Mean standard deviation",
        "Mean over detectors, then series, then data sets. Short bars: robust.",
        tail='<div id="averages-table"></div>\n',
    ),
    _figure(
        "ranks",
        "Critical differences",
        "Mean rank of each measure over the series, 1 is the most robust. " + _BARS,
    ),
    _figure(
        "boxes",
        "One series",
        "Values of each measure less their mean over the perturbations of a detector: quartiles, "
        "median, and whiskers to the last value within one and a half boxes.",
        select=("series", "detector"),
        tail='<p id="boxes-note" class="quiet"></p>\n',
    ),
    _figure(
        "datasets",
        "By data set",
        "Mean standard deviation over the series of each data set, all on the same scale.",
        select=("perturbation",),
        tail='<p id="datasets-note" class="quiet"></p>\n',
    ),
    _figure("undefined", "Undefined values", "Counted, and left out of the averages."),
    '<div id="failures"></div>',
)
_SEPARABILITY = (
    _figure(
        "z",
        "z of the pairs",
        "How many standard errors lie between an accurate and an inaccurate detector. The mean is "
        "taken over the series' means of finite z, the median over all pairs.",
        tail='<div id="z-table"></div>\n',
    ),
    _figure(
        "pairs",
        "One pair",
        "Values of each measure for the perturbed scores of the two detectors.",
        select=("series", "pair"),
        tail='<p id="pairs-note" class="quiet"></p>\n',
    ),
    _figure(
        "ranks",
        "Critical differences",
        "Mean rank of each measure over the series, 1 is the most separable. " + _BARS,
    ),
    '<div id="failures"></div>',
)
_CONSISTENCY = (
    _figure(
        "entropies",
        "Entropy of the ranks",
        "In bits, mean over detectors and data sets; by measure, and by family of measures. "
        "Short bars: consistent.",
    ),
    _figure(
        "map",
        "Detectors",
        "How each measure ranks each detector, 1 is best; and how much that rank changes from "
        "series to series.",
        select=("data set", "quantity"),
        tail='<p id="map-note" class="quiet"></p>\n',
    ),
    _figure("by-dataset", "Entropy by data set", "Mean over the detectors, in bits."),
    '<div id="failures"></div>',
)
_SCENARIOS = (
    '<section aria-labelledby="h-walk">\n<div class="head"><h2 id="h-walk">Walk over the anomaly'
    '</h2><button type="button" data-copy="walk">Copy csv</button></div>\n'
    '<div class="slider"><label for="scenario">scenario</label><input type="range" id="scenario" '
    'min="0" step="1"><output id="scenario-name" for="scenario"></output></div>\n'
    '<div id="walk" class="panels"></div>\n<div id="walk-bars" class="panels"></div>\n</section>',
    _figure(
        "sweep",
        "Point by point",
        "Value of every measure while the prediction moves, by the place of its end. The first "
        "touch is at 0; the upright line is the scenario chosen above.",
    ),
    _figure(
        "touch",
        "At the first touch",
        "credit: what just missing is worth, from 0 (a miss) to 1 (the exact match). jump: how "
        "much of the rise from a miss to the first touch happens at the touch itself; 1 is all of "
        "it.",
    ),
    _figure("values", "All values"),
)
_SUMMARY = (
    _figure("summary", "Ranks", "1 is best; mean: of the five ranks."),
    _figure(
        "scatter",
        "Robustness against separability",
        "Left is robust, up is separable. The larger the circle, the more the measure depends on "
        "the share of anomalous points.",
    ),
    _figure("scores", "The numbers behind the ranks", "Mean standard deviations, z, mean entropy."),
)
_TIMING = (
    _figure(
        "panels",
        "One property at a time",
        "Medians, with the quartiles as shade; both axes are logarithmic where the scale allows.",
        select=("quantity",),
    ),
    '<div id="tables"></div>',
    _figure("cells", "All cells"),
    '<div id="dropped"></div>',
    '<section><div class="head"><h2>Machine and versions</h2></div><div id="machine"></div>'
    "</section>",
)


# ---- what a result says about itself ----


def _about_robustness(result: RobustnessResult) -> str:
    task = result.task
    return (
        f"How much each measure changes under perturbations that should not matter: "
        f"{', '.join(task.perturbations)}; {len(result.values):,} series, {task.count} "
        f"perturbations of each kind, seed {task.seed}. {_settings(task.settings)}"
    )


def _about_separability(result: SeparabilityResult) -> str:
    without = len(result.series_without_pairs)
    return (
        f"How far each measure keeps accurate and inaccurate detectors apart while lag and noise "
        f"perturb their scores. Pairs: {result.rule}. {len(result.values) - without:,} series have "
        f"such pairs, {without:,} have none. {_settings(result.settings)}"
    )


def _about_consistency(result: ConsistencyResult) -> str:
    left_out = ", ".join(result.small_datasets) or "none"
    return (
        f"Whether each measure ranks the detectors alike on series of the same kind: "
        f"{len(result.values):,} series; equal values get the {result.ties} rank. Data sets of "
        f"fewer than {result.min_series} series are left out: {left_out}. "
        f"Undefined values: {int(result.undefined().sum()):,}. {_settings(result.settings)}"
    )


def _about_scenarios(result: ScenarioResult) -> str:
    return (
        f"One anomaly of {result.length} points among {result.n_points:,}, buffer "
        f"{result.buffer}, and a prediction that moves over it. Undefined values: "
        f"{sum(result.undefined().values()):,}."
    )


def _about_summary(summary: Summary) -> str:
    return (
        f"Rank of {len(summary.measures)} measures in every study: robustness by the mean standard "
        "deviation, separability by z, consistency by the mean entropy."
    )


def _about_timing(result: TimingResult) -> str:
    kind = "generated" if result.generated else "real"
    clocks = " and ".join(sorted({sample.clock for sample in result.samples}))
    cells = len({sample.key for sample in result.samples})
    return (
        f"Execution time and memory on {kind} series: {cells:,} cells, {len(result.samples):,} "
        f"timed runs, {clocks} time."
    )


def _settings(settings: Any) -> str:
    options = "".join(
        f", {name} {value}" for name, value in settings.options.items() if value is not None
    )
    return f"Buffer: {settings.buffer}, VUS up to {settings.volume_factor:g} times it{options}."


def _robustness(result: RobustnessResult, alpha: float) -> dict[str, Any]:
    return robustness_data(result, alpha=alpha)


def _separability(result: SeparabilityResult, alpha: float) -> dict[str, Any]:
    return separability_data(result, alpha=alpha)


def _untested(data: Callable[[Any], dict[str, Any]]) -> Callable[[Any, float], dict[str, Any]]:
    """For studies without tests, which need no level of significance."""
    return lambda result, alpha: data(result)


_KINDS = (
    _Kind(
        RobustnessResult, "robustness", "Robustness", _robustness, _about_robustness, _ROBUSTNESS
    ),
    _Kind(
        SeparabilityResult,
        "separability",
        "Separability",
        _separability,
        _about_separability,
        _SEPARABILITY,
    ),
    _Kind(
        ConsistencyResult,
        "consistency",
        "Consistency",
        _untested(consistency_data),
        _about_consistency,
        _CONSISTENCY,
    ),
    _Kind(
        ScenarioResult,
        "scenarios",
        "Scenarios",
        _untested(scenarios_data),
        _about_scenarios,
        _SCENARIOS,
    ),
    _Kind(Summary, "summary", "Summary", _untested(summary_data), _about_summary, _SUMMARY),
    _Kind(TimingResult, "timing", "Execution time", _untested(timing_data), _about_timing, _TIMING),
)
