"""Robustness: how much a measure changes when the score lags, gets noisy, or is cropped.

After the paper's seven steps: perturb the score of every detector on every series, take the
standard deviation of every measure, average over detectors, series and data sets, and test the
measures against each other over the series.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.engine import Executor, ExecutorSettings, Limits, TaskProgress
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.report.figures import (
    CenteredBoxDisplay,
    ChoiceDisplay,
    Display,
    RobustnessBarsDisplay,
)
from vuskit.studies.base import (
    SeriesValues,
    Study,
    ValuesResult,
    evaluate_detectors,
    option,
    study,
)
from vuskit.studies.perturbations import add_noise, crops_by_ratio, even_lags, generator_of, shift
from vuskit.studies.statistics.comparison import TableComparison, compare_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Robustness", "RobustnessResult", "robustness_study"]

Values = NDArray[np.float64]
_ALL_DETECTORS = "all detectors"


@dataclass(frozen=True, eq=False)
class RobustnessResult(ValuesResult):
    """Values of measures under perturbations.

    Attributes
    ----------
    values : tuple of SeriesValues
        By perturbation, detector, repeat and measure, for each series.
    study : Robustness
        The settings.
    failures : tuple of Failure
        Series that could not be studied.
    """

    @cached_property
    def _deviations(self) -> pd.DataFrame:
        return self._concat([self._frame_of(series) for series in self.values], ignore_index=True)

    def _frame_of(self, series: SeriesValues) -> pd.DataFrame:
        pandas = require("pandas", purpose="to_frame()")
        fewest = min(self.study.min_values, self.study.count)
        deviation, count = _deviation(series.values, fewest)
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
            n_undefined=self.study.count - count.ravel(),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each series, perturbation, detector and measure: the standard deviation.

        ``n_values`` is the number of values it is taken of, ``n_undefined`` how many were not
        defined; where too few are, the deviation is NaN.
        """
        return self._deviations.copy()

    def by_series(self, perturbation: str) -> pd.DataFrame:
        """Mean deviation over the detectors: one row for each series, one column for a measure."""
        check_choice("perturbation", perturbation, self.study.perturbations)
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
        return table.loc[order, list(self.study.names)]

    def by_dataset(self) -> pd.DataFrame:
        """Mean over the series of a data set: rows for perturbation and data set."""
        pandas = require("pandas", purpose="by_dataset()")
        parts = {
            name: self.by_series(name).groupby(level="dataset", sort=True).mean()
            for name in self.study.perturbations
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
            for name in self.study.perturbations
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame

    def compare(
        self, perturbation: str, *, alpha: float | None = None, **options: Any
    ) -> TableComparison:
        """Friedman's test and Wilcoxon's with Holm's correction over the series.

        Rank 1 is the most robust measure. Series on which the deviation of a measure is undefined
        are left out, and counted in the tests. The study's `alpha` is the default.

        Raises
        ------
        InvalidInputError
            If fewer than two series or measures are left.
        """
        return compare_columns(
            self.by_series(perturbation),
            title=f"standard deviation under {perturbation}",
            higher_is_better=False,
            alpha=self.study.alpha if alpha is None else alpha,
            **options,
        )

    def comparisons(self) -> dict[str, TableComparison]:
        """Tests by perturbation; only where there are enough series and measures."""
        found = {}
        for kind in self.study.perturbations:
            try:
                found[kind] = self.compare(kind)
            except InvalidInputError:
                continue
        return found

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

    def centered(self, series: str, perturbation: str) -> pd.DataFrame:
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
        check_choice("perturbation", perturbation, self.study.perturbations)
        found = self.series_named(series)
        values = found.values[self.study.perturbations.index(perturbation)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # all undefined: stays NaN
            centered = values - np.nanmean(values, axis=1, keepdims=True)
        pandas = require("pandas", purpose="centered()")
        places = pandas.MultiIndex.from_product(
            [found.axes["detector"], range(self.study.count)], names=["detector", "repeat"]
        )
        frame: pd.DataFrame = pandas.DataFrame(
            centered.reshape(-1, values.shape[-1]), index=places, columns=self.study.names
        )
        return frame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Deviations, averages, tests, and counts of undefined values."""
        averages, over_series = self.averages(), self.averages(over="series")
        tables = {
            "deviations": self.to_frame(),
            "datasets": self.by_dataset().reset_index(),
            "averages": averages.rename_axis("measure").reset_index(),
            "averages_over_series": over_series.rename_axis("measure").reset_index(),
            "undefined": self.undefined(),
        }
        for kind, comparison in self.comparisons().items():
            tables[f"ranks_{kind}"] = comparison.to_frame()
            tables[f"pairs_{kind}"] = comparison.pairs_frame()
        return tables

    def figures(self) -> dict[str, Display]:
        """Averages, critical differences, one series at a time, and data sets."""
        kinds = self.study.perturbations
        figures: dict[str, Display] = {
            "averages": RobustnessBarsDisplay(
                self.averages(),
                own_measures=self.measures,
                title="Mean standard deviation",
                caption="Mean over detectors, then series, then data sets. Short bars: robust.",
            )
        }
        for kind, comparison in self.comparisons().items():
            figures[f"ranks_{kind}"] = comparison.figure(
                title=f"Critical differences, {kind}", own_measures=self.measures
            )
        figures["boxes"] = ChoiceDisplay(
            ("series", "detector"),
            [
                (one.name, detector)
                for one in self.values
                for detector in (_ALL_DETECTORS, *one.axes["detector"])
            ],
            self._boxes,
            title="One series",
            caption="Values of each measure less their mean over the perturbations of a detector: "
            "quartiles, median, and whiskers to the last value within one and a half boxes.",
        )
        by_dataset = self.by_dataset()
        for kind in kinds:
            figures[f"datasets_{kind}"] = RobustnessBarsDisplay(
                by_dataset.loc[kind].T,
                f"mean standard deviation under {kind}",
                own_measures=self.measures,
                title=f"Data sets, {kind}",
                caption="Mean standard deviation over the series of each data set.",
            )
        return figures

    def _boxes(self, key: tuple[str, ...]) -> CenteredBoxDisplay:
        series, detector = key
        tables = {kind: self.centered(series, kind) for kind in self.study.perturbations}
        if detector != _ALL_DETECTORS:
            tables = {kind: table.loc[detector] for kind, table in tables.items()}
        return CenteredBoxDisplay(series, tables, own_measures=self.measures)

    def score(self) -> pd.DataFrame:
        """Mean deviation of each measure under each perturbation; lower is better."""
        return self.averages()

    def about(self) -> str:
        """Return what was done, in sentences."""
        return (
            f"{len(self.values):,} series, {self.study.count} perturbations of each kind "
            f"({', '.join(self.study.perturbations)}), seed {self.study.seed}. Mean standard "
            "deviation of each measure: over detectors, series, data sets. Low is robust."
        )

    def notes(self) -> tuple[str, ...]:
        """Return the number of undefined values."""
        facts = self.facts()
        return (f"undefined values: {facts['undefined']:,} of {facts['values']:,}",)

    def facts(self) -> dict[str, Any]:
        """Numbers of values and of undefined values."""
        counts = self.undefined()[["values", "undefined"]].sum()
        return {"values": int(counts["values"]), "undefined": int(counts["undefined"])}

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data set of each series."""
        return tuple(one.dataset for one in self.values)


def _deviation(values: Values, fewest: int) -> tuple[Values, NDArray[np.intp]]:
    """Population standard deviation over the repeats, and the number of values it is made of."""
    defined = np.isfinite(values)
    count = defined.sum(axis=2)
    safe = np.maximum(count, 1)
    mean = np.where(defined, values, 0).sum(axis=2) / safe
    squares = np.where(defined, values - mean[:, :, None], 0) ** 2
    deviation = np.sqrt(squares.sum(axis=2) / safe)
    return np.where(count >= fewest, deviation, np.nan), count


@study(
    title="Robustness",
    question="Does the value change when the score lags, gets noisy, or is cropped?",
    better="lower",
    order=1,
)
@dataclass(frozen=True)
class Robustness(Study[RobustnessResult]):
    """Standard deviation of measures under perturbations that should not matter.

    Parameters
    ----------
    measures, settings
        As for :class:`vuskit.studies.Study`.
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
    seed : int, default=0
        Of the noise.
    min_values : int, default=5
        Fewer defined values than this (or than ``count``, if that is less) have no deviation.
    alpha : float, default=0.1
        Level of significance of the tests.
    """

    perturbations: tuple[str, ...] = option(
        ("lag", "noise", "ratio"),
        "Perturbation to apply. May be repeated.",
        choices=("lag", "noise", "ratio"),
        flag="--perturbation",
    )
    count: int = option(10, "Number of perturbations; of each kind.", minimum=2, metavar="N")
    lag: float = option(0.25, "Longest lag, in buffers.", minimum=0, maximum=1, metavar="X")
    lag_fill: str = option("edge", "What fills the free end.", choices=("edge", "wrap"))
    noise: float = option(
        0.05, "Largest noise, in ranges of the score.", minimum=0, maximum=1, metavar="X"
    )
    ratio: tuple[float, float] = option(
        (0.01, 0.2),
        "First and last share of anomalous points.",
        minimum=0,
        maximum=1,
        hidden=True,
    )
    ratio_tolerance: float = option(0.05, "Relative error of a share.", minimum=0, metavar="X")
    seed: int = option(0, "Random seed; of lags and noise.", minimum=0, metavar="N")
    min_values: int = option(
        5, "Fewest values of a standard deviation.", minimum=2, metavar="N", stage="result"
    )
    alpha: float = option(
        0.1, "Level of significance.", minimum=0, maximum=1, metavar="X", stage="result"
    )

    @property
    def uses_names(self) -> bool:
        """No: values depend on content only."""
        return False

    def per_series(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures under every perturbation of every detector's score."""
        choice = self.choose_buffer(scored)
        values = [_PERTURBATIONS[name](self, scored, choice.length) for name in self.perturbations]
        return SeriesValues(
            scored.series.dataset,
            scored.series.name,
            choice.length,
            {
                "perturbation": self.perturbations,
                "detector": scored.detectors,
                "repeat": tuple(map(str, range(self.count))),
                "measure": self.names,
            },
            np.stack(values),
            {"buffer_reason": choice.reason},
        )

    def combine(self, parts: list[SeriesValues]) -> RobustnessResult:
        """Keep the values of all series."""
        return RobustnessResult(tuple(parts))

    def _lag(self, scored: ScoredSeries, buffer: int) -> Values:
        lags = even_lags(buffer, count=self.count, fraction=self.lag)

        def variants(detector: str, score: Values) -> Iterator[Values]:
            return (shift(score, lag, fill=self.lag_fill) for lag in lags)

        # The labels stay as they are, so their work is done once for all scores.
        return evaluate_detectors(self.evaluator(scored.series.labels, buffer), scored, variants)

    def _noise(self, scored: ScoredSeries, buffer: int) -> Values:
        def variants(detector: str, score: Values) -> Iterator[Values]:
            random = generator_of(self.seed, scored, detector, "noise")
            return (add_noise(score, random, amplitude=self.noise) for _ in range(self.count))

        return evaluate_detectors(self.evaluator(scored.series.labels, buffer), scored, variants)

    def _ratio(self, scored: ScoredSeries, buffer: int) -> Values:
        labels = scored.series.labels
        low, high = self.ratio
        crops = crops_by_ratio(
            labels, count=self.count, low=low, high=high, tolerance=self.ratio_tolerance
        )
        values = np.full((len(scored.detectors), self.count, len(self.measures)), np.nan)
        for place, crop in enumerate(crops):
            if crop.reached:
                part = slice(crop.start, crop.stop)
                evaluator = self.evaluator(labels[part], buffer)
                values[:, place] = evaluate_detectors(evaluator, scored, partial(_cut, part))[:, 0]
        return values


def _cut(part: slice, detector: str, score: Values) -> list[Values]:
    return [score[part]]


_PERTURBATIONS: Mapping[str, Callable[[Robustness, ScoredSeries, int], Values]] = {
    "lag": Robustness._lag,
    "noise": Robustness._noise,
    "ratio": Robustness._ratio,
}
"""Values by detector, repeat and measure."""


def robustness_study(
    source: Any,
    *,
    processes: int = 1,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
    **options: Any,
) -> RobustnessResult:
    """Measure how much measures change under perturbations that should not matter.

    Parameters
    ----------
    source : path, ScoredSeries, or iterable of these
        Series with scores, as :func:`vuskit.studies.open_scores` takes them.
    processes, executor, limits, folder, progress
        As for :func:`vuskit.studies.run_study`.
    **options
        ``measures``, options of :class:`Robustness`, and fields of
        :class:`vuskit.EvaluationSettings` such as ``buffer``, ``thresholds`` or ``definition``.

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
    return Robustness.create(**options).run(
        source,
        processes=processes,
        executor=executor,
        limits=limits,
        folder=folder,
        progress=progress,
    )
