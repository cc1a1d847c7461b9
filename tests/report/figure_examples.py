"""One display of every figure, from small data; used by the tests of the figures."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from studies.scored import make_several

from vuskit.report import figures
from vuskit.studies import (
    consistency_study,
    robustness_study,
    scenario_study,
    separability_study,
    summarize,
)
from vuskit.studies.timing import CONTESTANTS, Sample, Setting, TimingResult, settings_of

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


# All thirteen measures, so that the figures are as full as in a paper.
@functools.cache
def robust():
    return robustness_study(several(), buffer=BUFFER)


@functools.cache
def separable():
    return separability_study(several(), buffer=BUFFER, count=6)


@functools.cache
def consistent():
    return consistency_study(several(), buffer=BUFFER)


@functools.cache
def summary():
    return summarize(robust(), separable(), consistent())


@functools.cache
def scenarios():
    return scenario_study()


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


EXAMPLES = {
    "critical_difference": lambda: figures.CriticalDifferenceDisplay.from_results(table()),
    "sensitivity": lambda: figures.SensitivityDisplay.from_scores(
        labels(), score(), buffer=BUFFER, vary="threshold"
    ),
    "cases": lambda: figures.CasesDisplay.from_scores(
        labels(), score(), buffer=BUFFER, series=scored().series.values
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
    "robustness_bars": lambda: figures.RobustnessBarsDisplay.from_result(robust()),
    "separability_bars": lambda: figures.SeparabilityBarsDisplay.from_result(separable()),
    "detector_bars": lambda: figures.DetectorBarsDisplay.from_scores(
        labels(), scored().scores, buffer=BUFFER
    ),
    "series": lambda: figures.SeriesDisplay.from_scores(
        labels(), scored().scores, series=scored().series.values
    ),
    "detector_comparison": lambda: figures.DetectorComparisonDisplay.from_scores(
        labels(), {"late": score(), "noisy": scored().scores["noisy"]}, buffer=BUFFER
    ),
    "scenarios": lambda: figures.ScenarioDisplay.from_result(scenarios()),
    "scenario_sweep": lambda: figures.SweepDisplay.from_result(scenarios()),
    "centered_boxes": lambda: figures.CenteredBoxDisplay.from_result(robust()),
    "separability_boxes": lambda: figures.SeparabilityBoxDisplay.from_result(
        separable(), scored=scored()
    ),
    "entropy": lambda: figures.EntropyDisplay.from_result(consistent()),
    "rank_lines": lambda: figures.RankLinesDisplay.from_result(consistent()),
    "timing_sweeps": lambda: figures.TimingSweepDisplay.from_result(timed()),
    "timing_series": lambda: figures.TimingSeriesDisplay.from_result(timed(generated=False)),
    "scatter": lambda: figures.ScatterDisplay.from_summary(summary()),
    "summary": lambda: figures.SummaryDisplay.from_summary(summary()),
}
