"""Separability: whether a measure keeps accurate and inaccurate detectors apart.

The study perturbs the scores of pairs of detectors, one accurate and one inaccurate, by random lags
and noise. The z statistic tells how far apart a measure keeps the two detectors.
`Separability.as_published` follows the authors' code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    ChoiceDisplay,
    Display,
    SeparabilityBarsDisplay,
    SeparabilityBoxDisplay,
)
from vuskit.intervals import event_bounds
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import get_measure, list_measures
from vuskit.parameters import Check, number, one_of, param, whole
from vuskit.statistics.comparison import TableComparison, compare_columns
from vuskit.studies.base import (
    PUBLISHED,
    DetectorStudy,
    detector_key,
    evaluate_detectors,
    find_detectors,
    study,
)
from vuskit.studies.perturbations import (
    LAG,
    NOISE,
    generator_of,
    noisy_score,
    random_label_lag,
    shift,
    shift_labels,
)
from vuskit.studies.result import SeriesNames, SeriesValues, ValuesResult

Values = NDArray[np.float64]
_FIRST_PAIRS, _MOST_PAIRS = "first pairs", 4
Pairs = tuple[tuple[str, str], ...]


def z_statistic(first: Values, second: Values, *, unit: str = "standard-error") -> float:
    """Two-sample z: difference of the means in standard errors, or in standard deviations.

    If nothing varies, z is infinite where the means differ and 0 where they are equal. It is NaN
    if a value is undefined. The unit ``"raw"`` divides by ``sqrt(s1**2 + s2**2)``, with population
    standard deviations, like the authors' code. It does not grow with the number of values.
    """
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return float("nan")
    difference = float(first.mean() - second.mean())
    if unit == "raw":
        error = float(np.sqrt(first.var() + second.var()))
    else:
        error = float(np.sqrt(first.var(ddof=1) / first.size + second.var(ddof=1) / second.size))
    # Rounding errors can leave a tiny variance although all values are equal.
    if error <= 1e-15:
        return 0.0 if abs(difference) <= 1e-15 else float(np.copysign(np.inf, difference))
    return difference / error


def peak_percentile(y_true: NDArray[np.bool_], y_score: Values) -> float:
    """Share of normal points that score below an anomaly's peak, averaged over the anomalies.

    This is the default criterion that separates accurate from inaccurate detectors. Every anomaly
    counts once. It needs no threshold and no buffer, and is not one of the measures under study.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 0, 1, 1], dtype=bool)
    >>> peak_percentile(labels, np.array([0.1, 0.2, 0.3, 0.8, 0.5, 0.0]))
    0.75
    """
    labels = np.asarray(y_true, dtype=bool)
    normal = np.sort(np.asarray(y_score)[~labels])
    starts, stops = event_bounds(np.flatnonzero(labels))
    if normal.size == 0 or starts.size == 0:
        return float("nan")
    peaks = [float(y_score[start:stop].max()) for start, stop in zip(starts, stops, strict=True)]
    return float(np.mean(np.searchsorted(normal, peaks, side="left") / normal.size))


@dataclass(frozen=True, eq=False)
class SeparabilityResult(ValuesResult):
    """Values of measures for pairs of detectors.

    Attributes
    ----------
    values : tuple of SeriesValues
        One for each series, with the axes detector, repeat and measure; the pairs are in the notes.
    study : Separability
        The settings.
    failures : tuple of Failure
        Series that could not be studied.
    """

    @property
    def rule(self) -> str:
        """How the pairs were chosen, in words."""
        return str(self.study.rule)

    @property
    def unit(self) -> str:
        """Unit of z, in words."""
        return "Standard errors" if self.study.z == "standard-error" else "Standard deviations"

    @property
    def series_without_pairs(self) -> tuple[str, ...]:
        """Series on which no detector is clearly better than another."""
        return tuple(series.name for series in self.values if not series.notes["pairs"])

    @cached_property
    def _z(self) -> pd.DataFrame:
        rows = [row for series in self.values for row in self._rows(series)]
        if not rows:
            raise InvalidInputError(
                f"`values` must hold at least one pair, got none on {len(self.values)} series; "
                "lower `min_gap`, or name the `pairs`"
            )
        return pd.DataFrame(rows)

    def _rows(self, series: SeriesValues) -> list[dict[str, Any]]:
        merit = series.notes["criterion"]
        rows = []
        for good, bad in series.notes["pairs"]:
            pair = {
                "dataset": series.dataset,
                "series": series.series,
                "accurate": good,
                "inaccurate": bad,
                "criterion_gap": merit[good] - merit[bad] if merit else float("nan"),
            }
            for measure in self.measures:
                first, second = (self._values(series, name, measure.name) for name in (good, bad))
                sign = 1.0 if measure.higher_is_better else -1.0
                z = sign * z_statistic(first, second, unit=self.study.z)
                rows.append({**pair, "measure": measure.name, "z": z})
        return rows

    def _values(self, series: SeriesValues, detector: str, measure: str) -> Values:
        place = series.axes["detector"].index(detector)
        values: Values = series.values[place, :, series.axes["measure"].index(measure)]
        return values

    def to_frame(self) -> pd.DataFrame:
        """Return z, one row per pair and measure; positive if the accurate one is better."""
        return self._z.copy()

    def by_series(self) -> pd.DataFrame:
        """Mean of the finite z of each series; NaN if no z of a series is finite."""
        return self._by_series(
            self._z.assign(z=self._z["z"].where(np.isfinite(self._z["z"]))), "z", "mean"
        )

    def averages(self) -> pd.DataFrame:
        """Mean and median z of each measure, and the share of pairs in the right order.

        ``mean``: mean over the series, each with the mean of its finite z. ``pairs``: number of
        pairs. ``median``: over all pairs with a defined z, including infinite z. ``right``: share
        of all pairs with z above 0, including infinite z. ``infinite`` and ``undefined``: number
        of pairs that the mean excludes.
        """
        means = self.by_series().mean()
        groups = self._z.groupby("measure", sort=False)["z"]
        table: pd.DataFrame = groups.agg(
            pairs="size",
            median="median",
            right=lambda z: float((z > 0).mean()),
            infinite=lambda z: int(np.isinf(z).sum()),
            undefined=lambda z: int(z.isna().sum()),
        )
        table.insert(0, "mean", means)
        return table.loc[list(self.study.names)]

    def compare(self, *, alpha: float | None = None, **options: Any) -> TableComparison:
        """Compare the measures over the series by Friedman's and Wilcoxon's tests (Holm).

        The tests use the mean of the finite z of each series; rank 1 is best. Series on which a
        measure has no finite z are dropped; the tests report their number. `alpha` defaults to
        that of the study.

        Raises
        ------
        InvalidInputError
            If fewer than two series or measures remain.
        """
        level = self.study.alpha if alpha is None else alpha
        return compare_columns(self.by_series(), title="z statistic", alpha=level, **options)

    def comparisons(self) -> dict[str, TableComparison]:
        """The comparison, under the key ``"z"``; empty with too few series or measures."""
        try:
            return {"z": self.compare()}
        except InvalidInputError:
            return {}

    def pair_values(self, series: str, accurate: str, inaccurate: str) -> pd.DataFrame:
        """Values of one pair, for the two box plots of each measure.

        Raises
        ------
        InvalidInputError
            If the series or the pair was not studied.
        """
        found = [one for one in self.values if series in (one.series, one.name)]
        if len(found) != 1 or [accurate, inaccurate] not in found[0].notes["pairs"]:
            raise InvalidInputError(
                f"`series` and its pair must be among those studied, "
                f"got {series!r}, {accurate!r}, {inaccurate!r}"
            )
        parts = {
            name: pd.DataFrame(
                found[0].values[found[0].axes["detector"].index(name)], columns=self.study.names
            )
            for name in (accurate, inaccurate)
        }
        return pd.concat(parts, names=["detector", "repeat"])

    def tables(self) -> dict[str, pd.DataFrame]:
        """Statistics of the pairs, means by series, averages and tests."""
        tables = {
            "z": self.to_frame(),
            "series": self.by_series().reset_index(),
            "averages": self.averages().reset_index(),
        }
        for comparison in self.comparisons().values():
            tables["ranks"] = comparison.to_frame()
            tables["measure_pairs"] = comparison.pairs_frame()
        return tables

    def figures(self) -> dict[str, Display]:
        """Mean and median z, values of pairs on one series at a time, critical differences."""
        z = self.averages()[["mean", "median"]]
        figures: dict[str, Display] = {
            "z": SeparabilityBarsDisplay(
                z.rename(columns={"mean": "mean z", "median": "median z"}),
                own_measures=self.measures,
                title="z of the pairs",
                caption=f"{self.unit} between an accurate and an inaccurate detector. Mean: over "
                "series, each with the mean of its finite z. Median: over all pairs. Longer bars: "
                "more separable.",
            )
        }
        keys = [
            (one.name, pair)
            for one in self.values
            if one.notes["pairs"]
            for pair in (_FIRST_PAIRS, *(f"{good} | {bad}" for good, bad in one.notes["pairs"]))
        ]
        if keys:
            figures["pairs"] = ChoiceDisplay(
                ("series", "pair"),
                keys,
                self._boxes,
                title="Pairs of detectors",
                caption="Values of each measure for the perturbed scores of two detectors. Upper "
                f"box: accurate. Lower box: inaccurate. z: {self.unit.lower()} between them.",
            )
        for comparison in self.comparisons().values():
            figures["ranks"] = comparison.figure(
                title="Critical differences", own_measures=self.measures
            )
        return figures

    def _boxes(self, key: tuple[str, ...]) -> SeparabilityBoxDisplay:
        series, wanted = key
        one = self.series_named(series)
        own = self._z[(self._z["dataset"] == one.dataset) & (self._z["series"] == one.series)]
        z = own["z"].to_numpy().reshape(-1, len(self.measures))
        pairs = [(good, bad) for good, bad in one.notes["pairs"]]
        if wanted == _FIRST_PAIRS:
            places = list(range(min(len(pairs), _MOST_PAIRS)))
        else:
            places = [[f"{good} | {bad}" for good, bad in pairs].index(wanted)]
        shown = [pairs[place] for place in places]
        values = [self.pair_values(series, good, bad) for good, bad in shown]
        return SeparabilityBoxDisplay(
            series,
            shown,
            values,
            [z[place].tolist() for place in places],
            own_measures=self.measures,
        )

    def score(self) -> pd.Series:
        """Average z of each measure; higher is better."""
        return self.averages()[self.study.average]

    def overview(self) -> pd.DataFrame:
        """Mean and median z of each measure, and counts."""
        return self.averages()

    def about(self) -> str:
        """Describe the study in sentences."""
        without = len(self.series_without_pairs)
        return (
            f"Pairs: {self.rule}. {len(self.values) - without:,} series have such pairs, "
            f"{without:,} have none. High z: separable. Mean: over series, each with the mean of "
            "its finite z. Median: over all pairs with a defined z. Right: share of pairs with z "
            "above 0. Median and right include infinite z. If nothing varies and the means are "
            "equal, z is 0."
        )

    def notes(self) -> tuple[str, ...]:
        """Return how pairs are chosen, and the number of series without pairs."""
        return (f"pairs: {self.rule}; series without pairs: {len(self.series_without_pairs)}",)

    def facts(self) -> dict[str, Any]:
        """How pairs are chosen, and the number of series without pairs."""
        return {"pairs": self.rule, "series_without_pairs": len(self.series_without_pairs)}


_MBA_PAIRS = tuple(
    (good, bad)
    for good, several in {
        "NormA": ("CNN", "LSTM", "MP", "LOF"),
        "IForest": ("CNN", "LSTM"),
        "AE": ("CNN", "LSTM", "MP", "LOF"),
        "OCSVM": ("CNN", "LSTM"),
    }.items()
    for bad in several
)
_SED_PAIRS = tuple(
    (good, bad) for good in ("NormA", "MP", "CNN") for bad in ("AE", "LSTM", "IForest", "LOF")
)
PUBLISHED_PAIRS: Mapping[str, Pairs] = {"MBA": _MBA_PAIRS, "SED": _SED_PAIRS}
"""The twelve pairs of the published experiments, by the prefix of the series' name."""


def _check_pairs(name: str, pairs: Any) -> dict[str, Pairs]:
    """Return pairs by series; "*" means all series."""
    if pairs == PUBLISHED or pairs in ((PUBLISHED,), [PUBLISHED], {PUBLISHED: ()}):
        return {PUBLISHED: ()}
    by_series: Mapping[Any, Any] = pairs if isinstance(pairs, Mapping) else {"*": pairs}
    found = {}
    for series, several in by_series.items():
        checked = tuple(
            tuple(pair.split(":") if isinstance(pair, str) else pair) for pair in several
        )
        if any(len(pair) != 2 or not all(pair) for pair in checked):
            raise InvalidInputError(
                f"`{name}` must be (accurate, inaccurate), GOOD:BAD or {PUBLISHED!r}, "
                f"got {several!r}"
            )
        found[str(series)] = checked
    return found


@study(
    title="Separability",
    question="Do accurate and inaccurate detectors stay apart while their scores are perturbed?",
    better="higher",
    order=2,
    known=(peak_percentile,),
)
@dataclass(frozen=True)
class Separability(DetectorStudy[SeparabilityResult]):
    """Distance between accurate and inaccurate detectors under lag and noise.

    Parameters
    ----------
    measures, settings, measure_options, detectors, section, scale
        As for :class:`vuskit.studies.DetectorStudy`.
    pairs : sequence of (accurate, inaccurate), mapping from series to pairs, or "published"
        The pairs. By default, every detector of the `top` is paired with every one of the `bottom`.
        ``"published"`` uses the twelve pairs of the published experiments on series whose name
        begins with MBA or SED, and the default elsewhere.
    criterion : callable or name of a measure, optional
        Ranks the detectors to choose pairs: ``criterion(y_true, y_score)``, higher is better.
        Default: :func:`peak_percentile`. It must not be a measure under study.
    top, bottom : int
        Number of detectors treated as accurate and as inaccurate; three and four give twelve
        pairs, as in the paper.
    min_gap : float, default=0.1
        Minimum difference of the criterion between the two detectors of a pair.
    count : int, default=50
        Number of perturbations of each score, each with a random lag and random noise.
    lag, lag_fill, noise
        As for :class:`vuskit.studies.Robustness`, with random lags.
    seed : int, default=0
        Seed of lags and noise.
    z : {"standard-error", "raw"}, default="standard-error"
        Unit of the difference of means; see :func:`z_statistic`.
    average : {"median", "mean"}, default="median"
        Average of z in the summary. The paper uses the mean. If a measure hardly varies, z can
        reach thousands, and a few such pairs dominate the mean.
    alpha : float, default=0.1
        Significance level of the tests.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "detectors": (PUBLISHED,),
        "section": "first:10000",
        "scale": "unit",
        "pairs": PUBLISHED,
        "count": 60,
        "lag": "labels:0.25",
        "noise": "normal:-0.1:0.1",
        "z": "raw",
        "average": "mean",
    }

    pairs: Any = param(
        None,
        Check("GOOD:BAD,... or published", _check_pairs, many=True),
        "Accurate and inaccurate detectors, separated by commas, or published.",
        metavar="GOOD:BAD,...",
    )
    criterion: Any = param(None, help="Measure that chooses the pairs; must not be under study.")
    top: int = param(3, whole(1), "Number of detectors treated as accurate.", metavar="N")
    bottom: int = param(4, whole(1), "Number of detectors treated as inaccurate.", metavar="N")
    min_gap: float = param(
        0.1, number(), "Minimum difference of the criterion in a pair.", metavar="X"
    )
    count: int = param(50, whole(2), "Number of perturbations of each score.", metavar="N")
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
    seed: int = param(0, whole(0), "Random seed.", metavar="N")
    z: str = param(
        "standard-error",
        one_of("standard-error", "raw"),
        "Unit of z: standard-error, or raw for standard deviations.",
        stage="result",
    )
    average: str = param(
        "median",
        one_of("median", "mean"),
        "Average of z in the summary: median or mean.",
        stage="result",
    )
    alpha: float = param(0.1, number(0, 1), "Significance level.", metavar="X", stage="result")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_criterion()

    @property
    def pairs_are_published(self) -> bool:
        """Whether the pairs are those of the published experiments."""
        return bool(self.pairs == {PUBLISHED: ()})

    def _check_criterion(self) -> None:
        functions = [measure.function for measure in self.measures]
        if self.criterion in self.names or self.criterion in functions:
            shown = getattr(self.criterion, "__name__", self.criterion)
            raise InvalidInputError(
                f"`criterion` must not be a measure under study, got {shown!r}; choose another "
                "measure, or leave it out of the study"
            )

    def options_in_force(self) -> dict[str, str]:
        """Return all options and settings as text, by name; pairs as ``GOOD:BAD``."""
        found = super().options_in_force()
        if self.pairs_are_published:
            found["pairs"] = PUBLISHED
        elif self.pairs is not None and list(self.pairs) == ["*"]:
            found["pairs"] = ",".join(f"{good}:{bad}" for good, bad in self.pairs["*"])
        return found

    @property
    def rule(self) -> str:
        """How pairs are chosen, in words."""
        if self.pairs_are_published:
            return f"those of the published experiments; on other series, {self._choice()}"
        return self._choice() if self.pairs is None else "pairs as given"

    def _choice(self) -> str:
        return (
            f"top {self.top} against bottom {self.bottom} detectors by the criterion "
            f"'{self._criterion_title()}', if they differ by at least {self.min_gap:g}"
        )

    def _criterion_title(self) -> str:
        if self.criterion in (None, peak_percentile):
            return "mean percentile of the anomalies' peaks"
        titles = {measure.name: measure.title for measure in list_measures()}
        if isinstance(self.criterion, str):
            return titles.get(self.criterion, self.criterion)
        return str(getattr(self.criterion, "__name__", "criterion"))

    def sources(self, source: Any) -> Sequence[Source]:
        """Return the sources; an unknown criterion fails before any series is read."""
        if isinstance(self.criterion, str):
            get_measure(self.criterion)
        return super().sources(source)

    @property
    def uses_names(self) -> bool:
        """Whether pairs or detectors are given by name."""
        return self.pairs is not None or super().uses_names

    def resolved(self) -> Separability:
        """Replace a criterion that is given by name by its function."""
        if not isinstance(self.criterion, str):
            return self
        return replace(self, criterion=get_measure(self.criterion).function)

    def with_names(self, part: SeriesValues, names: SeriesNames) -> SeriesValues:
        """Replace the placeholders in values, pairs and criterion by names."""
        known = names.by_placeholder()
        notes = {
            **part.notes,
            "pairs": [[known[good], known[bad]] for good, bad in part.notes["pairs"]],
            "criterion": {known[one]: merit for one, merit in part.notes["criterion"].items()},
        }
        named: SeriesValues = super().with_names(replace(part, notes=notes), names)
        return named

    def per_series(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures for the perturbed scores of every detector in a pair."""
        scored, _ = self.prepare(scored)
        choice = self.choose_buffer(scored)
        pairs, merit = self._choose_pairs(scored)
        detectors = tuple(dict.fromkeys(name for pair in pairs for name in pair))
        values = np.empty((0, self.count, len(self.measures)))
        if detectors:
            values = self._values(scored.select(detectors), choice.length)
        axes = {
            "detector": detectors,
            "repeat": tuple(map(str, range(self.count))),
            "measure": self.names,
        }
        listed = [list(pair) for pair in pairs]
        return SeriesValues.of(scored, choice, axes, values, pairs=listed, criterion=merit)

    def _choose_pairs(self, scored: ScoredSeries) -> tuple[Pairs, dict[str, float]]:
        if self.pairs is None:
            return self._pairs_by_rule(scored)
        if self.pairs_are_published:
            return self._published_pairs(scored)
        series = scored.series
        named = self.pairs.get(f"{series.dataset}/{series.name}", self.pairs.get(series.name))
        pairs: Pairs = self.pairs.get("*", ()) if named is None else named
        return tuple(_as_in(scored, pair) for pair in pairs), {}

    def _published_pairs(self, scored: ScoredSeries) -> tuple[Pairs, dict[str, float]]:
        """Return the published pairs whose detectors are available; otherwise pairs by rule."""
        known = {detector_key(name): name for name in reversed(scored.detectors)}
        name = scored.series.name.upper()
        for start, pairs in PUBLISHED_PAIRS.items():
            keys = [(detector_key(good), detector_key(bad)) for good, bad in pairs]
            found = [(known[one], known[two]) for one, two in keys if {one, two} <= known.keys()]
            if name.startswith(start) and found:
                return tuple(found), {}
        return self._pairs_by_rule(scored)

    def _pairs_by_rule(self, scored: ScoredSeries) -> tuple[Pairs, dict[str, float]]:
        """Pair each top detector with each bottom detector that is `min_gap` worse."""
        criterion = self.resolved().criterion or peak_percentile
        labels = scored.series.labels
        merit = {
            name: float(np.mean([criterion(labels, score) for score in scored.runs(name)]))
            for name in scored.detectors
        }
        order = sorted(
            (name for name in merit if np.isfinite(merit[name])), key=lambda n: -merit[n]
        )
        top = order[: min(self.top, len(order) // 2)]
        bottom = [name for name in order[::-1][: self.bottom] if name not in top]
        pairs = tuple(
            (good, bad)
            for good in top
            for bad in bottom
            if merit[good] - merit[bad] >= self.min_gap
        )
        return pairs, merit

    def _values(self, scored: ScoredSeries, buffer: int) -> Values:
        """Values by detector, repeat and measure."""
        procedure, (fraction,) = LAG.parse("lag", self.lag)
        if procedure == "labels":
            return self._with_label_lags(scored, buffer, fraction)

        def variants(detector: str, score: Values) -> Iterator[Values]:
            random = generator_of(self.seed, scored, detector, "separability")
            limit = int(fraction * buffer)
            for _ in range(self.count):
                lag = int(random.integers(-limit, limit, endpoint=True))
                yield noisy_score(self.noise, shift(score, lag, fill=self.lag_fill), random)

        evaluator = self.evaluator(scored.series.labels, buffer)
        return evaluate_detectors(evaluator, scored, variants)

    def _with_label_lags(self, scored: ScoredSeries, buffer: int, fraction: float) -> Values:
        values = np.empty((len(scored.detectors), self.count, len(self.measures)))
        # Lags repeat, so each shifted labeling gets one evaluator.
        evaluators: dict[int, Evaluator] = {}
        for place, detector in enumerate(scored.detectors):
            random = generator_of(self.seed, scored, detector, "separability")
            one = scored.select([detector])
            for repeat in range(self.count):
                lag = random_label_lag(random, buffer, fraction=fraction)
                if lag not in evaluators:
                    moved = shift_labels(scored.series.labels, lag)
                    evaluators[lag] = self.evaluator(moved, buffer)
                state = random.bit_generator.state

                def variants(
                    _: str, score: Values, state: Any = state, random: Any = random
                ) -> list[Values]:
                    random.bit_generator.state = state  # all runs of a detector get the same noise
                    return [noisy_score(self.noise, score, random)]

                values[place, repeat] = evaluate_detectors(evaluators[lag], one, variants)[0, 0]
        return values


def _as_in(scored: ScoredSeries, pair: tuple[str, str]) -> tuple[str, str]:
    """Return a pair with the detector names of the series."""
    good, bad = (find_detectors([one], scored.detectors, name="pairs")[0] for one in pair)
    return good, bad
