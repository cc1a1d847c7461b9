"""One display of every figure, from small data; used by the tests of the figures."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
from studies.scored import make_several

from vuskit import figures
from vuskit.studies import compare, run_study, summarize
from vuskit.studies.sensitivity import compare_cases, sensitivity
from vuskit.studies.timing import (
    Setting,
    TimingResult,
)
from vuskit.studies.timing.cases import settings_of
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.results import Sample

BUFFER = 24


@functools.cache
def several():
    return make_several()


def scored():
    return several()[0]


def labels():
    return scored().series.labels


def score():
    return scored().scores["late"]


def usable_scores():
    """All but the one that is far below chance, of which an evaluation warns."""
    return {name: one for name, one in scored().scores.items() if name != "useless"}


# All thirteen measures, so that the figures are as full as in a paper.
@functools.cache
def robust():
    return run_study("robustness", several(), buffer=BUFFER)


@functools.cache
def separable():
    return run_study("separability", several(), buffer=BUFFER, count=6)


@functools.cache
def consistent():
    return run_study("consistency", several(), buffer=BUFFER)


@functools.cache
def summary():
    return summarize(robust(), separable(), consistent())


@functools.cache
def scenarios():
    return run_study("scenarios")


@functools.cache
def timed(generated=True):
    random = np.random.default_rng(0)
    lengths = (10 ** np.linspace(3, 5, 27)).astype(int).tolist()
    own = [
        Setting((1, 10, 30)[place % 3], (5, 50, 60)[place % 3], 0, length)
        for place, length in enumerate(lengths)
    ]
    settings = settings_of() if generated else own
    samples = [
        Sample(
            "synthetic-0" if generated else f"ECG/{place}",
            name,
            setting,
            1e-3 * (1 + turn) * setting.n_points**0.5 * random.uniform(0.9, 1.1),
            1000 * (turn + 1),
        )
        for turn, name in enumerate(CONTESTANTS)
        for place, setting in enumerate(settings)
        for _ in range(3)
    ]
    return TimingResult(tuple(samples), (), {})


def table(rows=40, columns=7):
    values = np.random.default_rng(1).random((rows, columns)) + np.linspace(0, 0.4, columns)
    return pd.DataFrame(values, columns=[f"detector {place}" for place in range(columns)])


def prediction():
    return (score() > 0.7).astype(int)


def first(choice):
    """What a choice of displays draws unless told otherwise."""
    return choice.display(choice.keys[0])


def with_scores(display):
    """The same, with the series and its scores above the boxes."""
    one = scored()
    lines = figures.SeriesDisplay.from_scores(labels(), one.scores, series=one.series.values)
    return replace(display, scores=lines)


EXAMPLES = {
    "critical_difference": lambda: compare(table()).figure(),
    "comparison_matrix": lambda: compare(table()).matrix(),
    "forest": lambda: compare(table()).forest(compare(table() ** 2), chance={"value": 0.4}),
    "sensitivity": lambda: sensitivity(labels(), score(), buffer=BUFFER, vary="threshold"),
    "cases": lambda: compare_cases(labels(), score(), buffer=BUFFER, series=scored().series.values),
    "case_panels": lambda: figures.CasePanelsDisplay(
        {
            vary: compare_cases(
                labels(), score(), buffer=BUFFER, vary=vary, series=scored().series.values
            )
            for vary in ("threshold", "lag", "noise", "ratio")
        }
    ),
    "labeling": lambda: figures.LabelingDisplay.from_labels(
        scored().series.values,
        score(),
        {"as it is": labels(), "later": np.roll(labels(), 6)},
        buffer=BUFFER,
    ),
    "range_curve": lambda: figures.RangeCurveDisplay.from_scores(
        labels(), score(), buffer=BUFFER, curve="pr"
    ),
    "surface": lambda: figures.SurfaceDisplay.from_scores(labels(), score(), max_buffer=BUFFER),
    "soft_label": lambda: figures.SoftLabelDisplay.from_labels(
        labels(), buffer=BUFFER, y_pred=prediction()
    ),
    "sections": lambda: figures.SectionsDisplay.from_scores(labels(), score(), max_buffer=BUFFER),
    "label_evolution": lambda: figures.LabelEvolutionDisplay.from_labels(
        labels(), buffers=[0, 8, 16, 24]
    ),
    "volume": lambda: figures.VolumeDisplay.from_scores(labels(), score(), max_buffer=BUFFER),
    "robustness_bars": lambda: robust().figures()["averages"],
    "separability_bars": lambda: separable().figures()["z"],
    "detector_bars": lambda: figures.DetectorBarsDisplay.from_scores(
        labels(), usable_scores(), buffer=BUFFER
    ),
    "series": lambda: figures.SeriesDisplay.from_scores(
        labels(), scored().scores, series=scored().series.values
    ),
    "detector_comparison": lambda: figures.DetectorComparisonDisplay.from_scores(
        labels(), {"late": score(), "noisy": scored().scores["noisy"]}, buffer=BUFFER
    ),
    "scenarios": lambda: scenarios().figures()["values"],
    "scenario_sweep": lambda: scenarios().figures()["sweep"],
    "centered_boxes": lambda: first(robust().figures()["boxes"]),
    "separability_boxes": lambda: with_scores(first(separable().figures()["pairs"])),
    "entropy": lambda: consistent().figures()["entropies"],
    "rank_lines": lambda: first(consistent().figures()["ranks"]),
    "timing_sweeps": lambda: timed().figures()["seconds"],
    "timing_series": lambda: timed(generated=False).figures()["seconds"],
    "scatter": lambda: summary().figures()["scatter"],
    "summary": lambda: summary().figures()["ranks"],
}
