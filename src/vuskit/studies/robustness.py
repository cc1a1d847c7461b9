"""Robustness: how much a measure changes when the score lags, gets noisy, or is cropped.

The study follows the paper. It perturbs the score of every detector on every series and takes the
standard deviation of every measure. It then averages over detectors, series and data sets, and
compares the measures in tests over the series. `Robustness.as_published` follows the authors' code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    CenteredBoxDisplay,
    ChoiceDisplay,
    Display,
    RobustnessBarsDisplay,
)
from vuskit.inputs import check_choice
from vuskit.parameters import Specification, number, one_of, param, several, whole
from vuskit.statistics.comparison import TableComparison, compare_columns
from vuskit.studies.base import (
    PUBLISHED,
    SECTION,
    SECTION_HELP,
    DetectorStudy,
    evaluate_detectors,
    section_check,
    study,
)
from vuskit.studies.perturbations import (
    LAG,
    NOISE,
    Crop,
    crops_by_ratio,
    even_lags,
    generator_of,
    growing_crops,
    label_lags,
    noisy_score,
    shift,
    shift_labels,
)
from vuskit.studies.result import SeriesValues, ValuesResult

Values = NDArray[np.float64]
_ALL_DETECTORS = "all detectors"


@dataclass(frozen=True, eq=False)
class RobustnessResult(ValuesResult):
    """Values of measures under perturbations.

    Attributes
    ----------
    values : tuple of SeriesValues
        One for each series, with the axes perturbation, detector, repeat and measure.
    study : Robustness
        The settings.
    failures : tuple of Failure
        Series that could not be studied.
    """

    @cached_property
    def _deviations(self) -> pd.DataFrame:
        return self._concat(self._frame_of)

    def _frame_of(self, series: SeriesValues) -> pd.DataFrame:
        repeats = _repeats(series)[:, None, None]
        squares, count = _squares(series.values)
        deviation = np.sqrt(squares / np.maximum(count, 1))
        enough = count >= np.minimum(self.study.min_values, repeats)
        return series.frame(
            *("perturbation", "detector", "measure"),
            deviation=np.where(enough, deviation, np.nan),
            n_values=count,
            n_undefined=repeats - count,
            squares=squares,
        )

    def to_frame(self) -> pd.DataFrame:
        """Standard deviations: one row for each series, perturbation, detector and measure.

        ``n_values`` counts the defined values and ``n_undefined`` the undefined ones. With too few
        defined values the deviation is NaN.
        """
        return self._deviations.drop(columns="squares")

    def by_series(self, perturbation: str) -> pd.DataFrame:
        """Deviation of all detectors together: one row per series, one column per measure.

        The study's `spread` selects the mean of the detectors' deviations, or the deviation of the
        pooled values of all detectors, each centered on its detector's mean.
        """
        check_choice("perturbation", perturbation, self.study.perturbations)
        frame = self._deviations
        rows = frame[frame["perturbation"] == perturbation]
        if self.study.spread == "mean":
            return self._by_series(rows, "deviation", "mean")
        known = rows["deviation"].notna()
        squares, counts = (
            self._by_series(rows.assign(**{name: rows[name].where(known)}), name, "sum")
            for name in ("squares", "n_values")
        )
        return (squares / counts.where(counts > 0)) ** 0.5

    def by_dataset(self) -> pd.DataFrame:
        """Mean over the series of each data set; rows are perturbations and data sets."""
        parts = {
            name: self.by_series(name).groupby(level="dataset", sort=True).mean()
            for name in self.study.perturbations
        }
        return pd.concat(parts, names=["perturbation"])

    def averages(self, *, over: str = "datasets") -> pd.DataFrame:
        """Mean deviation of each measure (rows) under each perturbation (columns).

        Parameters
        ----------
        over : {"datasets", "series"}
            Give every data set the same weight, as in the paper, or every series.
        """
        check_choice("over", over, ("datasets", "series"))
        by_dataset = self.by_dataset() if over == "datasets" else None
        columns = {
            name: (self.by_series(name) if by_dataset is None else by_dataset.loc[name]).mean()
            for name in self.study.perturbations
        }
        return pd.DataFrame(columns)

    def compare(
        self, perturbation: str, *, alpha: float | None = None, **options: Any
    ) -> TableComparison:
        """Compare the measures over the series by Friedman's and Wilcoxon's tests (Holm).

        Rank 1 is the most robust measure. Series on which the deviation of a measure is undefined
        are dropped; the tests report their number. `alpha` defaults to that of the study.

        Raises
        ------
        InvalidInputError
            If fewer than two series or measures remain.
        """
        return compare_columns(
            self.by_series(perturbation),
            title=f"standard deviation under {perturbation}",
            higher_is_better=False,
            alpha=self.study.alpha if alpha is None else alpha,
            **options,
        )

    def comparisons(self) -> dict[str, TableComparison]:
        """Comparisons by perturbation; omitted where there are too few series or measures."""
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
        ``undefined_deviations`` their standard deviations, and ``series_without`` the series on
        which no detector has a deviation.
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
        """Values of one series, centered on their mean over the repeats, for a box plot.

        Parameters
        ----------
        series : str
            Name of the series, with or without its data set.
        perturbation : str
            Name of the perturbation.

        Raises
        ------
        InvalidInputError
            If the series or the perturbation was not studied.
        """
        check_choice("perturbation", perturbation, self.study.perturbations)
        found = self.series_named(series)
        place = self.study.perturbations.index(perturbation)
        values = found.values[place, :, : _repeats(found)[place]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the mean of undefined values is NaN
            centered = values - np.nanmean(values, axis=1, keepdims=True)
        places = pd.MultiIndex.from_product(
            [found.axes["detector"], range(values.shape[1])], names=["detector", "repeat"]
        )
        return pd.DataFrame(
            centered.reshape(-1, values.shape[-1]), index=places, columns=self.study.names
        )

    def repeats(self) -> pd.DataFrame:
        """Number of perturbations: one row for each series, one column for each kind."""
        return pd.DataFrame(
            [_repeats(one) for one in self.values],
            index=[one.name for one in self.values],
            columns=self.study.perturbations,
        )

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
                caption=f"{self._spread()} Shorter bars: more robust.",
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
            caption="Values of each measure, centered on their mean over the perturbations of a "
            "detector. Box: quartiles and median. Whiskers: last value within 1.5 box lengths.",
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

    def _spread(self) -> str:
        """Describe how the values of several detectors are combined."""
        if self.study.spread == "mean":
            return "Mean over detectors, then series, then data sets."
        return (
            "Standard deviation of the pooled values of all detectors, each centered on its "
            "detector's mean; mean over series, then data sets."
        )

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
        """Describe the study in sentences."""
        order = "mean over detectors, series and data sets"
        if self.study.spread == "pooled":
            order = "over the pooled values of all detectors; mean over series and data sets"
        return (
            f"{len(self.values):,} series, {self._counts()} ({', '.join(self.study.perturbations)})"
            f", seed {self.study.seed}. Standard deviation of each measure: {order}. Low is robust."
        )

    def _counts(self) -> str:
        """Number of perturbations of each kind, in words."""
        found = [_repeats(one) for one in self.values]
        counts = np.array(found) if found else np.full((1, 1), self.study.count)
        low, high = int(counts.min()), int(counts.max())
        return f"{low if low == high else f'{low} to {high}'} perturbations of each kind"

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


def _repeats(series: SeriesValues) -> NDArray[np.intp]:
    """Number of repeats of each perturbation; the values after them are padding."""
    longest = len(series.axes["repeat"])
    known = series.notes.get("repeats", {})
    return np.array([known.get(name, longest) for name in series.axes["perturbation"]])


def _squares(values: Values) -> tuple[Values, NDArray[np.intp]]:
    """Sum of squared distances from the mean over the repeats, and the number of values."""
    defined = np.isfinite(values)
    count = defined.sum(axis=2)
    mean = np.where(defined, values, 0).sum(axis=2) / np.maximum(count, 1)
    squares = np.where(defined, values - mean[:, :, None], 0) ** 2
    return squares.sum(axis=2), count


_RATIO = Specification(
    "shares",
    shares={"LOW": (0.01, number(0, 1)), "HIGH": (0.2, number(0, 1))},
    crops={"N": (21, whole(2))},
)


@study(
    title="Robustness",
    question="Does the value change when the score lags, gets noisy, or is cropped?",
    better="lower",
    order=1,
)
@dataclass(frozen=True)
class Robustness(DetectorStudy[RobustnessResult]):
    """Standard deviation of measures under perturbations that should not matter.

    Parameters
    ----------
    measures, settings, measure_options, detectors, section, scale
        As for :class:`vuskit.studies.DetectorStudy`. A section N means ``"rare:N"``.
    perturbations : iterable of {"lag", "noise", "ratio"}
        Perturbations to apply.
    count : int, default=10
        Number of perturbations of each kind, unless the option of a kind determines it.
    lag : float or str, default="score:0.25"
        Longest lag as a fraction of the buffer. ``"score:X"`` shifts the score by evenly spaced
        whole lags; ``"labels:X"`` shifts the labels by the lags of the authors' code.
    lag_fill : {"edge", "wrap"}, default="edge"
        Fill for the points that a shift leaves empty: the value at the edge, or the values shifted
        out at the other end.
    noise : float or str, default="uniform:0.05"
        Independent noise for every point. ``"uniform:X"``: at most this fraction of the score's
        range. ``"normal:MEAN:STD"``: added to the score scaled to 0..1; the sum is scaled again.
    ratio : str or tuple of float, default="shares:0.01:0.2"
        ``"shares:LOW:HIGH"``: crops whose shares of anomalous points go from LOW to HIGH.
        ``"crops:N"``: N crops that grow around an anomaly, as in the authors' code.
    ratio_tolerance : float, default=0.05
        Relative tolerance for the share of a crop. Values are undefined where no crop fits.
    seed : int, default=0
        Seed of the noise.
    min_values : int, default=5
        Minimum number of defined values for a standard deviation. With fewer perturbations than
        this, all values must be defined.
    spread : {"mean", "pooled"}, default="mean"
        Mean of the detectors' standard deviations, or standard deviation of the pooled values of
        all detectors, each centered on its detector's mean.
    alpha : float, default=0.1
        Significance level of the tests.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "detectors": (PUBLISHED,),
        "section": "rare:10000",
        "scale": "unit",
        "count": 20,
        "lag": "labels:0.25",
        "noise": "normal:-0.1:0.1",
        "ratio": "crops:21",
        "min_values": 1,
        "spread": "pooled",
    }

    section: str = param("all", section_check("rare"), SECTION_HELP, metavar=SECTION)
    perturbations: tuple[str, ...] = param(
        ("lag", "noise", "ratio"),
        several(one_of("lag", "noise", "ratio")),
        "Perturbations to apply: lag, noise or ratio.",
    )
    count: int = param(10, whole(2), "Number of perturbations of each kind.", metavar="N")
    lag: str = param(
        "score:0.25", LAG, "Shift of the score or the labels by up to X buffers.", metavar=LAG.words
    )
    lag_fill: str = param(
        "edge", one_of("edge", "wrap"), "Fill for points that a shift leaves empty."
    )
    noise: str = param(
        "uniform:0.05",
        NOISE,
        "Noise; X, MEAN and STD are fractions of the score's range.",
        metavar=NOISE.words,
    )
    ratio: str = param(
        "shares:0.01:0.2",
        _RATIO,
        "Crops with shares of anomalous points from LOW to HIGH, or N growing crops.",
        metavar=_RATIO.words,
    )
    ratio_tolerance: float = param(
        0.05, number(0), "Relative tolerance for the share of a crop.", metavar="X"
    )
    seed: int = param(0, whole(0), "Random seed.", metavar="N")
    min_values: int = param(
        5,
        whole(1),
        "Minimum number of defined values for a standard deviation.",
        metavar="N",
        stage="result",
    )
    spread: str = param(
        "mean",
        one_of("mean", "pooled"),
        "How to combine the deviations of several detectors.",
        metavar="KIND",
        stage="result",
    )
    alpha: float = param(0.1, number(0, 1), "Significance level.", metavar="X", stage="result")

    def per_series(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures under every perturbation of every detector's score."""
        points = len(scored.series.labels)
        scored, anchor = self.prepare(scored)
        choice = self.choose_buffer(scored)
        part = _Part(scored, choice.length, anchor)
        values = {name: _PERTURBATIONS[name](self, part) for name in self.perturbations}
        repeats = {name: array.shape[1] for name, array in values.items()}
        longest = max(repeats.values())
        return SeriesValues.of(
            scored,
            choice,
            {
                "perturbation": self.perturbations,
                "detector": scored.detectors,
                "repeat": tuple(map(str, range(longest))),
                "measure": self.names,
            },
            np.stack([_padded(array, longest) for array in values.values()]),
            buffer_reason=choice.reason,
            repeats=repeats,
            points=points,
        )

    def _lag(self, part: _Part) -> Values:
        procedure, (fraction,) = LAG.parse("lag", self.lag)
        if procedure == "labels":
            return self._label_lag(part, fraction)
        lags = even_lags(part.buffer, count=self.count, fraction=fraction)

        def variants(detector: str, score: Values) -> Iterator[Values]:
            return (shift(score, lag, fill=self.lag_fill) for lag in lags)

        # The labels do not change, so one evaluator serves all scores.
        return evaluate_detectors(self.evaluator(part.labels, part.buffer), part.scored, variants)

    def _label_lag(self, part: _Part, fraction: float) -> Values:
        lags = label_lags(part.buffer, fraction=fraction)
        if lags.size == 0:  # the buffer is too short for any lag
            lags = np.zeros(1, dtype=np.intp)
        values = [
            evaluate_detectors(
                self.evaluator(shift_labels(part.labels, int(lag)), part.buffer), part.scored
            )
            for lag in lags
        ]
        return np.stack(values, axis=1)

    def _noise(self, part: _Part) -> Values:
        def variants(detector: str, score: Values) -> Iterator[Values]:
            random = generator_of(self.seed, part.scored, detector, "noise")
            return (noisy_score(self.noise, score, random) for _ in range(self.count))

        return evaluate_detectors(self.evaluator(part.labels, part.buffer), part.scored, variants)

    def _ratio(self, part: _Part) -> Values:
        crops = self._crops(part)
        values = np.full((len(part.scored.detectors), len(crops), len(self.measures)), np.nan)
        for place, crop in enumerate(crops):
            if crop.reached:
                cut = slice(crop.start, crop.stop)
                evaluator = self.evaluator(part.labels[cut], part.buffer)
                found = evaluate_detectors(evaluator, part.scored, partial(_cut, cut))
                values[:, place] = found[:, 0]
        return values

    def _crops(self, part: _Part) -> tuple[Crop, ...]:
        procedure, numbers = _RATIO.parse("ratio", self.ratio)
        if procedure == "crops":
            return growing_crops(part.labels, part.anchor, count=int(numbers[0]))
        low, high = numbers
        return crops_by_ratio(
            part.labels, count=self.count, low=low, high=high, tolerance=self.ratio_tolerance
        )


@dataclass(frozen=True)
class _Part:
    """Input of the perturbations: scores on a section, the buffer, and the start of an anomaly."""

    scored: ScoredSeries
    buffer: int
    anchor: int

    @property
    def labels(self) -> NDArray[np.bool_]:
        return self.scored.series.labels


def _padded(values: Values, repeats: int) -> Values:
    """Pad values by detector, repeat and measure with NaN to a number of repeats."""
    missing = repeats - values.shape[1]
    if missing == 0:
        return values
    return np.pad(values, ((0, 0), (0, missing), (0, 0)), constant_values=np.nan)


def _cut(part: slice, detector: str, score: Values) -> list[Values]:
    return [score[part]]


_PERTURBATIONS: Mapping[str, Callable[[Robustness, _Part], Values]] = {
    "lag": Robustness._lag,
    "noise": Robustness._noise,
    "ratio": Robustness._ratio,
}
"""Functions that return values by detector, repeat and measure."""
