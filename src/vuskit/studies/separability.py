"""Separability: whether the values of accurate and inaccurate detectors stay apart.

Scores of pairs of detectors, one accurate and one not, are perturbed by random lags and noise
together; the z statistic says how far apart a measure keeps the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_fraction, check_int
from vuskit.intervals import event_bounds
from vuskit.measures.registry import Measure, get_measure
from vuskit.studies.base import (
    Failure,
    MeasureSettings,
    Progress,
    SeriesValues,
    evaluate_scores,
    run_study,
)
from vuskit.studies.perturbations import add_noise, generator, shift
from vuskit.studies.sources import buffer_of, open_scores
from vuskit.studies.statistics.comparison import TableComparison, compare_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PairRule", "SeparabilityResult", "peak_percentile", "separability_study", "z_statistic"]

Values = NDArray[np.float64]


def z_statistic(first: Values, second: Values) -> float:
    """Two-sample z: difference of the means in standard errors.

    Where nothing varies it is infinite if the means differ, and 0 if they are equal: nothing is
    kept apart. NaN where a value is undefined.

    Examples
    --------
    >>> round(z_statistic(np.array([0.8, 0.9]), np.array([0.1, 0.2])), 6)
    9.899495
    """
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return float("nan")
    difference = float(first.mean() - second.mean())
    error = float(np.sqrt(first.var(ddof=1) / first.size + second.var(ddof=1) / second.size))
    # Rounding leaves a trace of variance where all values are equal.
    if error <= 1e-15:
        return 0.0 if abs(difference) <= 1e-15 else float(np.copysign(np.inf, difference))
    return difference / error


@dataclass(frozen=True, eq=False)
class SeparabilityResult:
    """Values of measures for pairs of detectors.

    Attributes
    ----------
    values : tuple of SeriesValues
        By detector, repeat and measure; the pairs are among the notes.
    failures : tuple of Failure
        Series that could not be studied.
    settings : MeasureSettings
        The measures.
    rule : str
        How the pairs were chosen, in words.
    """

    values: tuple[SeriesValues, ...]
    failures: tuple[Failure, ...]
    settings: MeasureSettings
    rule: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return self.settings.measures

    @property
    def series_without_pairs(self) -> tuple[str, ...]:
        """Series on which no detector is clearly better than another."""
        return tuple(series.name for series in self.values if not series.notes["pairs"])

    @cached_property
    def _z(self) -> pd.DataFrame:
        pandas = require("pandas", purpose="to_frame()")
        rows = [row for series in self.values for row in self._rows(series)]
        if not rows:
            raise InvalidInputError(
                f"`values` must hold at least one pair, got none on {len(self.values)} series"
            )
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame

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
                z = sign * z_statistic(first, second)
                rows.append({**pair, "measure": measure.name, "z": z})
        return rows

    def _values(self, series: SeriesValues, detector: str, measure: str) -> Values:
        place = series.axes["detector"].index(detector)
        values: Values = series.values[place, :, series.axes["measure"].index(measure)]
        return values

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair and measure: the z statistic, positive where it is right."""
        return self._z.copy()

    def by_series(self) -> pd.DataFrame:
        """Mean z over the pairs of a series; infinite and undefined z are left out.

        NaN where no z of the series is finite.
        """
        frame = self._z.assign(z=self._z["z"].where(np.isfinite(self._z["z"])))
        table: pd.DataFrame = frame.pivot_table(
            index=["dataset", "series"],
            columns="measure",
            values="z",
            aggfunc="mean",
            dropna=False,
            sort=False,
        )
        order = list(dict.fromkeys(zip(frame["dataset"], frame["series"], strict=True)))
        return table.loc[order, list(self.settings.names)]

    def averages(self) -> pd.DataFrame:
        """Mean and median z of each measure, and how often it is on the right side.

        ``mean``: over the series that have one, of the mean of their finite z. ``pairs``: all of
        them. ``median``: over the pairs whose z is defined, infinite ones included. ``right``:
        share of all pairs whose z is above 0, infinite ones included, undefined ones not.
        ``infinite`` and ``undefined``: pairs that the mean leaves out.
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
        return table.loc[list(self.settings.names)]

    def compare(self, *, alpha: float = 0.1, **options: Any) -> TableComparison:
        """Friedman's test and Wilcoxon's with Holm's correction over the series; rank 1 is best.

        Of the means of finite z: a series on which a measure has none is left out, and counted.

        Raises
        ------
        InvalidInputError
            If fewer than two series or measures are left.
        """
        return compare_columns(self.by_series(), title="z statistic", alpha=alpha, **options)

    def pair_values(self, series: str, accurate: str, inaccurate: str) -> pd.DataFrame:
        """Values of one pair: what the two box plots of each measure show.

        Raises
        ------
        InvalidInputError
            If there is no such series or pair.
        """
        found = [one for one in self.values if series in (one.series, one.name)]
        if len(found) != 1 or [accurate, inaccurate] not in found[0].notes["pairs"]:
            raise InvalidInputError(
                f"`series` and its pair must be among those studied, "
                f"got {series!r}, {accurate!r}, {inaccurate!r}"
            )
        pandas = require("pandas", purpose="pair_values()")
        parts = {
            name: pandas.DataFrame(
                found[0].values[found[0].axes["detector"].index(name)], columns=self.settings.names
            )
            for name in (accurate, inaccurate)
        }
        frame: pd.DataFrame = pandas.concat(parts, names=["detector", "repeat"])
        return frame


Pairs = tuple[tuple[str, str], ...]
Criterion = Callable[[NDArray[np.bool_], Values], float]


def peak_percentile(y_true: NDArray[np.bool_], y_score: Values) -> float:
    """Share of the normal points that score below an anomaly's peak, mean over the anomalies.

    The criterion by which detectors are called accurate or not unless pairs are given: it looks at
    each anomaly once, needs no threshold and no buffer, and is none of the measures under study.

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


@dataclass(frozen=True)
class PairRule:
    """How accurate and inaccurate detectors are chosen where no pairs are given.

    Attributes
    ----------
    criterion : callable
        ``criterion(y_true, y_score)``, higher for better detectors.
    name : str
        Its name.
    top, bottom : int
        How many detectors of either end are taken; every one of the top is paired with every one
        of the bottom.
    min_gap : float
        Pairs whose criteria differ by less are left out.
    """

    criterion: Criterion = peak_percentile
    name: str = "mean percentile of the anomalies' peaks"
    top: int = 3
    bottom: int = 4
    min_gap: float = 0.1

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"the {self.top} highest detectors against the {self.bottom} lowest by the criterion "
            f"'{self.name}', pairs that differ by less than {self.min_gap:g} left out"
        )

    def pairs(self, scored: ScoredSeries) -> tuple[Pairs, dict[str, float]]:
        """Pairs (accurate, inaccurate) on a series, and the criterion of every detector."""
        labels = scored.series.labels
        merit = {name: float(self.criterion(labels, s)) for name, s in scored.scores.items()}
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


@dataclass(frozen=True)
class SeparabilityTask:
    """Pairs, perturbations and measures; see :func:`separability_study`."""

    settings: MeasureSettings
    rule: PairRule
    given: Mapping[str, Pairs] | None = None
    count: int = 50
    lag: float = 0.25
    lag_fill: str = "edge"
    noise: float = 0.05
    seed: int = 0

    @property
    def study(self) -> str:
        """Name of the study."""
        return "separability"

    def run(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures for the perturbed scores of every detector in a pair."""
        choice = buffer_of(scored, self.settings.buffer)
        pairs, merit = self._pairs(scored)
        detectors = tuple(dict.fromkeys(name for pair in pairs for name in pair))
        evaluator = self.settings.evaluator(scored.series.labels, choice.length)
        values = np.empty((len(detectors), self.count, len(self.settings.measures)))
        for place, name in enumerate(detectors):
            values[place] = evaluate_scores(evaluator, self._variants(scored, name, choice.length))
        return SeriesValues(
            scored.series.dataset,
            scored.series.name,
            choice.length,
            {
                "detector": detectors,
                "repeat": tuple(map(str, range(self.count))),
                "measure": self.settings.names,
            },
            values,
            {"pairs": [list(pair) for pair in pairs], "criterion": merit},
        )

    def _pairs(self, scored: ScoredSeries) -> tuple[Pairs, dict[str, float]]:
        if self.given is None:
            return self.rule.pairs(scored)
        series = scored.series
        named = self.given.get(f"{series.dataset}/{series.name}", self.given.get(series.name))
        pairs = self.given.get("*", ()) if named is None else named
        for name in (name for pair in pairs for name in pair):
            if name not in scored.scores:
                raise InvalidInputError(
                    f"`pairs` must name detectors of the series ({', '.join(scored.detectors)}), "
                    f"got {name!r}"
                )
        return pairs, {}

    def _variants(self, scored: ScoredSeries, detector: str, buffer: int) -> Iterable[Values]:
        names = (scored.series.dataset, scored.series.name, detector, "separability")
        random = generator(self.seed, *names)
        limit = int(self.lag * buffer)
        for _ in range(self.count):
            lag = int(random.integers(-limit, limit, endpoint=True))
            moved = shift(scored.scores[detector], lag, fill=self.lag_fill)
            yield add_noise(moved, random, amplitude=self.noise)


def separability_study(
    source: Any,
    *,
    measures: str | Measure | Iterable[str | Measure] = "paper",
    pairs: Sequence[tuple[str, str]] | Mapping[str, Sequence[tuple[str, str]]] | None = None,
    criterion: str | Criterion = peak_percentile,
    top: int = 3,
    bottom: int = 4,
    min_gap: float = 0.1,
    buffer: str | int = "authors",
    volume_factor: float = 2.0,
    count: int = 50,
    lag: float = 0.25,
    lag_fill: str = "edge",
    noise: float = 0.05,
    seed: int = 0,
    processes: int = 1,
    folder: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> SeparabilityResult:
    """Measure how well measures keep accurate and inaccurate detectors apart.

    Parameters
    ----------
    source, measures, buffer, volume_factor, processes, folder, progress, **options
        As for :func:`vuskit.studies.robustness_study`.
    pairs : sequence of (accurate, inaccurate), or mapping from series to such, optional
        The pairs; by default they are chosen by the rule below.
    criterion : callable or name of a measure, default=peak_percentile
        What tells accurate from inaccurate detectors. May not be a measure under study.
    top, bottom : int
        How many detectors of either end; three times four make twelve pairs, as in the paper.
    min_gap : float, default=0.1
        Pairs whose criteria differ by less are left out.
    count : int, default=50
        Perturbations of each score, each with a random lag and random noise.
    lag, lag_fill, noise
        As for :func:`vuskit.studies.robustness_study`.
    seed : int, default=0
        Of lags and noise.

    Returns
    -------
    SeparabilityResult
        Values, z statistics, averages, and what was undefined.

    Raises
    ------
    InvalidInputError
        If the criterion is a measure under study, or a parameter cannot be used.

    Examples
    --------
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> labels, good = labeled_scores(400, n_anomalies=3, mean_length=8, seed=1)
    >>> scores = {"good": good, "bad": -good}
    >>> scored = ScoredSeries(Series("a", "docs", good, labels), scores)
    >>> found = separability_study(scored, measures=["auc_pr", "vus_pr"], buffer=20, count=10)
    >>> found.to_frame()[["accurate", "inaccurate", "measure"]].values.tolist()
    [['good', 'bad', 'auc_pr'], ['good', 'bad', 'vus_pr']]
    """
    settings = MeasureSettings.of(measures, buffer, volume_factor, options)
    check_fraction("lag", lag)
    check_fraction("noise", noise)
    rule = PairRule(
        *_named_criterion(criterion, settings),
        check_int("top", top, minimum=1),
        check_int("bottom", bottom, minimum=1),
        min_gap,
    )
    given = None if pairs is None else _given(pairs)
    task = SeparabilityTask(
        settings, rule, given, check_int("count", count, minimum=2), lag, lag_fill, noise, seed
    )
    values, failures = run_study(
        task, open_scores(source), processes=processes, folder=folder, progress=progress
    )
    text = rule.text if given is None else "pairs as given"
    return SeparabilityResult(values, failures, settings, text)


def _named_criterion(
    criterion: str | Criterion, settings: MeasureSettings
) -> tuple[Criterion, str]:
    if not isinstance(criterion, str):
        known = {PairRule.criterion: PairRule.name}
        name = known.get(criterion, getattr(criterion, "__name__", "criterion"))
        if criterion in [measure.function for measure in settings.measures]:
            raise InvalidInputError(f"`criterion` must not be a measure under study, got {name}")
        return criterion, name
    if criterion in settings.names:
        raise InvalidInputError(f"`criterion` must not be a measure under study, got {criterion!r}")
    measure = get_measure(criterion)
    return measure.function, measure.title


def _given(pairs: Any) -> dict[str, Pairs]:
    by_series = pairs if isinstance(pairs, Mapping) else {"*": pairs}
    found = {}
    for series, several in by_series.items():
        checked = tuple(tuple(pair) for pair in several)
        if any(len(pair) != 2 for pair in checked):
            raise InvalidInputError(f"`pairs` must be (accurate, inaccurate), got {several!r}")
        found[str(series)] = checked
    return found
