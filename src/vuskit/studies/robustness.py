"""Robustness: how much a measure changes when the score lags, gets noisy, or is cropped.

After the paper's seven steps: perturb the score of every detector on every series, take the
standard deviation of every measure, average over detectors, series and data sets, and test the
measures against each other over the series.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction, check_int
from vuskit.measures.registry import Measure
from vuskit.studies.base import (
    Failure,
    MeasureSettings,
    Progress,
    SeriesValues,
    evaluate_scores,
    run_study,
)
from vuskit.studies.perturbations import add_noise, crops_by_ratio, even_lags, generator, shift
from vuskit.studies.sources import buffer_of, open_scores
from vuskit.studies.statistics.comparison import TableComparison, compare_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PERTURBATIONS", "RobustnessResult", "RobustnessTask", "robustness_study"]

Values = NDArray[np.float64]


@dataclass(frozen=True)
class RobustnessTask:
    """Perturbations and measures; see :func:`vuskit.studies.robustness_study`."""

    settings: MeasureSettings
    perturbations: tuple[str, ...] = ("lag", "noise", "ratio")
    count: int = 10
    lag: float = 0.25
    lag_fill: str = "edge"
    noise: float = 0.05
    ratio: tuple[float, float] = (0.01, 0.2)
    ratio_tolerance: float = 0.05
    seed: int = 0

    @property
    def study(self) -> str:
        """Name of the study."""
        return "robustness"

    def run(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures under every perturbation of every detector's score."""
        choice = buffer_of(scored, self.settings.buffer)
        values = [PERTURBATIONS[name](self, scored, choice.length) for name in self.perturbations]
        return SeriesValues(
            scored.series.dataset,
            scored.series.name,
            choice.length,
            {
                "perturbation": self.perturbations,
                "detector": scored.detectors,
                "repeat": tuple(map(str, range(self.count))),
                "measure": self.settings.names,
            },
            np.stack(values),
            {"buffer_reason": choice.reason},
        )


def _on_whole_series(
    task: RobustnessTask,
    scored: ScoredSeries,
    buffer: int,
    variants: Callable[[str, Values], Iterator[Values]],
) -> Values:
    # The labels stay as they are, so their work is done once for all scores.
    evaluator = task.settings.evaluator(scored.series.labels, buffer)
    return np.stack(
        [evaluate_scores(evaluator, variants(name, score)) for name, score in scored.scores.items()]
    )


def _lag(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    lags = even_lags(buffer, count=task.count, fraction=task.lag)

    def variants(detector: str, score: Values) -> Iterator[Values]:
        return (shift(score, lag, fill=task.lag_fill) for lag in lags)

    return _on_whole_series(task, scored, buffer, variants)


def _noise(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    def variants(detector: str, score: Values) -> Iterator[Values]:
        names = (scored.series.dataset, scored.series.name, detector, "noise")
        random = generator(task.seed, *names)
        return (add_noise(score, random, amplitude=task.noise) for _ in range(task.count))

    return _on_whole_series(task, scored, buffer, variants)


def _ratio(task: RobustnessTask, scored: ScoredSeries, buffer: int) -> Values:
    labels = scored.series.labels
    low, high = task.ratio
    crops = crops_by_ratio(
        labels, count=task.count, low=low, high=high, tolerance=task.ratio_tolerance
    )
    values = np.full((len(scored.detectors), task.count, len(task.settings.measures)), np.nan)
    for place, crop in enumerate(crops):
        if crop.reached:
            part = slice(crop.start, crop.stop)
            evaluator = task.settings.evaluator(labels[part], buffer)
            cut = (score[part] for score in scored.scores.values())
            values[:, place] = evaluate_scores(evaluator, cut)
    return values


PERTURBATIONS: Mapping[str, Callable[[RobustnessTask, ScoredSeries, int], Values]] = {
    "lag": _lag,
    "noise": _noise,
    "ratio": _ratio,
}
"""Name to function of a task, a series and its buffer: values by detector, repeat and measure."""


@dataclass(frozen=True, eq=False)
class RobustnessResult:
    """Values of measures under perturbations.

    Attributes
    ----------
    values : tuple of SeriesValues
        By perturbation, detector, repeat and measure, for each series.
    failures : tuple of Failure
        Series that could not be studied.
    task : RobustnessTask
        The settings.
    min_values : int
        Fewer defined values have no deviation.
    """

    values: tuple[SeriesValues, ...]
    failures: tuple[Failure, ...]
    task: RobustnessTask
    min_values: int = 5

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return self.task.settings.measures

    @cached_property
    def _deviations(self) -> pd.DataFrame:
        pandas = require("pandas", purpose="to_frame()")
        frames = [self._frame_of(series) for series in self.values]
        if not frames:
            raise InvalidInputError(
                f"`values` must hold at least one series, got none ({len(self.failures)} failed)"
            )
        frame: pd.DataFrame = pandas.concat(frames, ignore_index=True)
        return frame

    def _frame_of(self, series: SeriesValues) -> pd.DataFrame:
        pandas = require("pandas", purpose="to_frame()")
        deviation, count = _deviation(series.values, self.min_values)
        names = [series.axes[axis] for axis in ("perturbation", "detector", "measure")]
        places = pandas.MultiIndex.from_product(
            names, names=["perturbation", "detector", "measure"]
        )
        frame: pd.DataFrame = places.to_frame(index=False)
        frame.insert(0, "dataset", series.dataset)
        frame.insert(1, "series", series.series)
        frame.insert(2, "buffer", series.buffer)
        return frame.assign(
            deviation=deviation.ravel(),
            n_values=count.ravel(),
            n_undefined=self.task.count - count.ravel(),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each series, perturbation, detector and measure: the standard deviation.

        ``n_values`` is the number of values it is taken of, ``n_undefined`` how many were not
        defined; where too few are, the deviation is NaN.
        """
        return self._deviations.copy()

    def by_series(self, perturbation: str) -> pd.DataFrame:
        """Mean deviation over the detectors: one row for each series, one column for a measure."""
        check_choice("perturbation", perturbation, self.task.perturbations)
        frame = self._deviations
        rows = frame[frame["perturbation"] == perturbation]
        table: pd.DataFrame = rows.pivot_table(
            index=["dataset", "series"],
            columns="measure",
            values="deviation",
            aggfunc="mean",
            dropna=False,
            sort=False,
            observed=True,
        )
        order = list(dict.fromkeys(zip(rows["dataset"], rows["series"], strict=True)))
        return table.loc[order, list(self.task.settings.names)]

    def by_dataset(self) -> pd.DataFrame:
        """Mean over the series of a data set: rows for perturbation and data set."""
        pandas = require("pandas", purpose="by_dataset()")
        parts = {
            name: self.by_series(name).groupby(level="dataset", sort=True).mean()
            for name in self.task.perturbations
        }
        frame: pd.DataFrame = pandas.concat(parts, names=["perturbation"])
        return frame

    def averages(self, *, over: str = "datasets") -> pd.DataFrame:
        """Mean deviation of each measure (rows) under each perturbation (columns).

        Parameters
        ----------
        over : {"datasets", "series"}
            Every data set counts the same, as in the paper, or every series does.
        """
        check_choice("over", over, ("datasets", "series"))
        pandas = require("pandas", purpose="averages()")
        by_dataset = self.by_dataset() if over == "datasets" else None
        columns = {
            name: (self.by_series(name) if by_dataset is None else by_dataset.loc[name]).mean()
            for name in self.task.perturbations
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame

    def compare(self, perturbation: str, *, alpha: float = 0.1, **options: Any) -> TableComparison:
        """Friedman's test and Wilcoxon's with Holm's correction over the series.

        Rank 1 is the most robust measure. Series on which the deviation of a measure is undefined
        are left out, and counted in the tests.

        Raises
        ------
        InvalidInputError
            If fewer than two series or measures are left.
        """
        return compare_columns(
            self.by_series(perturbation),
            title=f"standard deviation under {perturbation}",
            higher_is_better=False,
            alpha=alpha,
            **options,
        )

    def undefined(self) -> pd.DataFrame:
        """Counts by perturbation and measure.

        ``values`` and ``undefined`` count single values, ``deviations`` and
        ``undefined_deviations`` the standard deviations made of them, and
        ``series_without`` the series where no detector has a deviation.
        """
        frame = self._deviations
        groups = frame.groupby(["perturbation", "measure"], sort=False)
        table: pd.DataFrame = groups.agg(
            values=("n_values", "sum"),
            undefined=("n_undefined", "sum"),
            deviations=("deviation", "count"),
            undefined_deviations=("deviation", lambda column: int(column.isna().sum())),
        )
        table["values"] += table["undefined"]
        table["deviations"] += table["undefined_deviations"]
        empty = [int(self.by_series(kind)[measure].isna().sum()) for kind, measure in table.index]
        return table.assign(series_without=empty).reset_index()

    def centred(self, series: str, perturbation: str) -> pd.DataFrame:
        """Values of one series less their mean over the repeats: what a box plot shows.

        Parameters
        ----------
        series : str
            Name of the series, with or without its data set.
        perturbation : str
            Which one.

        Raises
        ------
        InvalidInputError
            If there is no such series.
        """
        check_choice("perturbation", perturbation, self.task.perturbations)
        found = [one for one in self.values if series in (one.series, one.name)]
        if len(found) != 1:
            raise InvalidInputError(f"`series` must name one series, got {series!r}")
        values = found[0].values[self.task.perturbations.index(perturbation)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # all undefined: stays NaN
            centred = values - np.nanmean(values, axis=1, keepdims=True)
        pandas = require("pandas", purpose="centred()")
        places = pandas.MultiIndex.from_product(
            [found[0].axes["detector"], range(self.task.count)], names=["detector", "repeat"]
        )
        frame: pd.DataFrame = pandas.DataFrame(
            centred.reshape(-1, values.shape[-1]), index=places, columns=self.task.settings.names
        )
        return frame


def _deviation(values: Values, fewest: int) -> tuple[Values, NDArray[np.intp]]:
    """Population standard deviation over the repeats, and the number of values it is made of."""
    defined = np.isfinite(values)
    count = defined.sum(axis=2)
    safe = np.maximum(count, 1)
    mean = np.where(defined, values, 0).sum(axis=2) / safe
    squares = np.where(defined, values - mean[:, :, None], 0) ** 2
    deviation = np.sqrt(squares.sum(axis=2) / safe)
    return np.where(count >= fewest, deviation, np.nan), count


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
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> labels, score = labeled_scores(400, n_anomalies=3, mean_length=8, seed=1)
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
