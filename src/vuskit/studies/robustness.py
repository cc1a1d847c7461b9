"""Robustness: how much a measure changes when the score lags, gets noisy, or is cropped.

After the paper's seven steps: perturb the score of every detector on every series, take the
standard deviation of every measure, average over detectors, series and data sets, and test the
measures against each other over the series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from vuskit.inputs import check_choice, check_fraction, check_int
from vuskit.measures.registry import Measure
from vuskit.studies.robustness_result import RobustnessResult
from vuskit.studies.robustness_task import PERTURBATIONS, RobustnessTask
from vuskit.studies.runner import Progress, run_study
from vuskit.studies.scored import open_scores
from vuskit.studies.task import MeasureSettings

__all__ = ["PERTURBATIONS", "RobustnessResult", "robustness_study"]


def robustness_study(
    source: Any,
    *,
    measures: str | Measure | Iterable[str | Measure] = "paper",
    buffer: str | int = "authors",
    volume_factor: float = 2.0,
    perturbations: Iterable[str] = ("lag", "noise", "ratio"),
    count: int = 10,
    lag: float = 0.25,
    lag_fill: str = "edge",
    noise: float = 0.05,
    ratio: tuple[float, float] = (0.01, 0.2),
    ratio_tolerance: float = 0.05,
    min_values: int = 5,
    seed: int = 0,
    processes: int = 1,
    folder: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> RobustnessResult:
    """Measure how much measures change under perturbations that should not matter.

    Parameters
    ----------
    source : path, ScoredSeries, or iterable of these
        Series with scores, as :func:`vuskit.studies.open_scores` takes them.
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
        What to study; measures of your own too.
    buffer : str or int, default="authors"
        Strategy of :func:`vuskit.choose_buffer`, or the length itself.
    volume_factor : float, default=2.0
        The longest buffer of VUS, in buffers of R-AUC; 2 in the published experiments.
    perturbations : iterable of {"lag", "noise", "ratio"}
        Which ones.
    count : int, default=10
        How many of each.
    lag : float, default=0.25
        Longest lag as a share of the buffer; the lags are evenly spread, in whole points.
    lag_fill : {"edge", "wrap"}, default="edge"
        What stands at the end that a lag makes free.
    noise : float, default=0.05
        Largest noise as a share of the score's range; uniform, new for every point.
    ratio : tuple of float, default=(0.01, 0.2)
        First and last share of anomalous points of the crops.
    ratio_tolerance : float, default=0.05
        How far a crop may be from its share, relatively; a share out of reach is undefined.
    min_values : int, default=5
        Fewer defined values than this (or than ``count``, if that is less) have no deviation.
    seed : int, default=0
        Of the noise.
    processes : int, default=1
        How many work at once.
    folder : str or Path, optional
        Keeps finished series; a second run goes on where the first stopped.
    progress : callable, optional
        Called with a :class:`vuskit.studies.Progress`.
    **options
        Further options of :class:`vuskit.Evaluator`, such as ``thresholds`` or ``definition``.

    Returns
    -------
    RobustnessResult
        Deviations, averages, tests, and what was undefined.

    Raises
    ------
    InvalidInputError
        If there are no series or a parameter cannot be used. A single series that cannot be
        studied is entered in the result's ``failures`` instead.

    Examples
    --------
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> from vuskit.datasets.synthetic import labelled_scores
    >>> labels, score = labelled_scores(400, n_anomalies=3, mean_length=8, seed=1)
    >>> scored = ScoredSeries(Series("a", "docs", score, labels), {"mine": score})
    >>> found = robustness_study(scored, measures=["auc_pr", "vus_pr"], buffer=20, count=4)
    >>> found.averages()["lag"].round(3).to_dict()
    {'auc_pr': 0.111, 'vus_pr': 0.063}
    """
    names = tuple(check_choice("perturbations", name, PERTURBATIONS) for name in perturbations)
    check_fraction("lag", lag)
    check_fraction("noise", noise)
    for share in ratio:
        check_fraction("ratio", share)
    task = RobustnessTask(
        MeasureSettings.of(measures, buffer, volume_factor, options),
        names,
        check_int("count", count, minimum=2),
        lag,
        lag_fill,
        noise,
        (float(ratio[0]), float(ratio[1])),
        ratio_tolerance,
        seed,
    )
    values, failures = run_study(
        task, open_scores(source), processes=processes, folder=folder, progress=progress
    )
    return RobustnessResult(
        values, failures, task, min(check_int("min_values", min_values, minimum=2), count)
    )
