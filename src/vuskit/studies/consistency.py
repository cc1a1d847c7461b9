"""Consistency: whether a measure ranks detectors alike on series of the same kind.

The study computes the Shannon entropy of each detector's ranks over the series of a data set. The
entropy is low if the detector has similar ranks on all series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd, require
from vuskit.bench.means import common_series
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.figures import ChoiceDisplay, Display, EntropyDisplay, RankLinesDisplay
from vuskit.inputs import check_choice
from vuskit.parameters import one_of, param, whole
from vuskit.statistics.tests import without_noise
from vuskit.studies.base import PUBLISHED, DetectorStudy, evaluate_detectors, study
from vuskit.studies.result import SeriesValues, ValuesResult

_ALL_DATASETS = "all data sets"
_BASES = {"bits": 2, "nats": None}


def _dataset(key: tuple[str, ...]) -> str | None:
    return None if key[0] == _ALL_DATASETS else key[0]


def rank_entropy(ranks: Iterable[float], *, unit: str = "bits") -> float:
    """Shannon entropy of the ranks in bits or nats; NaN is ignored."""
    known = np.asarray(list(ranks), dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return float("nan")
    stats = require("scipy.stats", purpose="the entropy")
    base = _BASES[check_choice("unit", unit, _BASES)]
    return float(stats.entropy(np.unique(known, return_counts=True)[1], base=base))


@dataclass(frozen=True, eq=False)
class ConsistencyResult(ValuesResult):
    """Values of measures, and the resulting ranks of the detectors.

    Attributes
    ----------
    values : tuple of SeriesValues
        One for each series, with the axes detector and measure.
    study : Consistency
        The settings.
    failures : tuple of Failure
        Series that could not be studied.
    """

    @cached_property
    def _ranks(self) -> pd.DataFrame:
        return self._concat(
            lambda one: one.frame(
                "detector", "measure", value=one.values, rank=self._rank(one.values)
            )
        )

    def _rank(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rank of each detector under each measure, 1 is best; NaN for undefined values."""
        stats = require("scipy.stats", purpose="ranks")
        sign = np.array([-1.0 if measure.higher_is_better else 1.0 for measure in self.measures])
        rounded = without_noise(values.T, alone=True).T
        ranks: NDArray[np.float64] = stats.rankdata(
            rounded * sign, method=self.study.ties, axis=0, nan_policy="omit"
        )
        return ranks

    def to_frame(self) -> pd.DataFrame:
        """Value and rank: one row for each series, detector and measure."""
        return self._ranks.copy()

    def entropies(self) -> pd.DataFrame:
        """Entropy of each detector's ranks over each data set; one column for each measure."""
        frame = self._ranks
        sizes = frame.groupby("dataset")["series"].nunique()
        kept = frame[frame["dataset"].isin(sizes.index[sizes >= self.study.min_series])]
        if kept.empty:
            raise InvalidInputError(
                f"`min_series` must be at most {int(sizes.max())}, the number of series in the "
                f"largest data set, got {self.study.min_series}; lower it, or add series"
            )
        table: pd.DataFrame = kept.pivot_table(
            index=["dataset", "detector"],
            columns="measure",
            values="rank",
            aggfunc=partial(rank_entropy, unit=self.study.entropy),
            dropna=False,
            sort=False,
            observed=True,
        )
        return table[list(self.study.names)].dropna(how="all")

    @property
    def small_datasets(self) -> tuple[str, ...]:
        """Data sets with too few series for an entropy."""
        sizes = self._ranks.groupby("dataset")["series"].nunique()
        return tuple(sizes.index[sizes < self.study.min_series])

    def by_dataset(self) -> pd.DataFrame:
        """Mean entropy over the detectors: one row for each data set."""
        return self.entropies().groupby(level="dataset", sort=False).mean()

    def averages(self) -> pd.DataFrame:
        """Mean entropy of each measure over the data sets, with its family."""
        frame: pd.DataFrame = pd.DataFrame(
            {
                "family": {measure.name: measure.family for measure in self.measures},
                "entropy": self.by_dataset().mean(),
            }
        )
        frame.index.name = "measure"
        return frame.loc[list(self.study.names)]

    def by_family(self) -> pd.Series:
        """Mean entropy of the measures of each family."""
        return self.averages().groupby("family", sort=False)["entropy"].mean()

    def rank_table(self, dataset: str | None = None) -> pd.DataFrame:
        """Mean rank of each detector (rows) under each measure (columns), on one data set or all.

        The means use the series on which all detectors have a value of the measure. A measure
        without such a series has no mean ranks.

        Raises
        ------
        InvalidInputError
            If the data set was not studied.
        """
        frame = self._ranks
        if dataset is not None:
            check_choice("dataset", dataset, dict.fromkeys(frame["dataset"]))
            frame = frame[frame["dataset"] == dataset]
        cells = frame.set_index(["dataset", "series", "detector", "measure"])["rank"]
        cells = cells.groupby(level=["dataset", "series", "detector", "measure"], sort=False).mean()
        by_measure = {
            str(name): rows.droplevel("measure").unstack("detector")
            for name, rows in cells.dropna().groupby(level="measure", sort=False)
        }
        means = {
            name: by_measure[name][common_series(by_measure[name].to_numpy().T)].mean()
            for name in self.study.names
            if name in by_measure
        }
        present = dict.fromkeys(frame.dropna(subset="rank")["detector"])
        index = pd.Index(list(present), name="detector")
        return pd.DataFrame(means, index=index).rename_axis(columns="measure")

    def undefined(self) -> pd.Series:
        """Number of undefined values of each measure."""
        return self._ranks["value"].isna().groupby(self._ranks["measure"], sort=False).sum()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Ranks, entropies, averages, and mean ranks by data set."""
        tables = {
            "ranks": self.to_frame(),
            "entropies": self.entropies().reset_index(),
            "averages": self.averages().reset_index(),
            "families": self.by_family().reset_index(),
            "rank_table": self._counted_ranks(None),
        }
        for dataset in dict.fromkeys(one.dataset for one in self.values):
            tables[f"rank_table_{dataset}"] = self._counted_ranks(dataset)
        return tables

    def _counted_ranks(self, dataset: str | None) -> pd.DataFrame:
        """Mean ranks, with the number of data sets and series of each detector."""
        frame = self._ranks
        if dataset is not None:
            frame = frame[frame["dataset"] == dataset]
        places = frame.drop_duplicates(["dataset", "series", "detector"])
        counts = places.groupby("detector", sort=False).agg(
            n_datasets=("dataset", "nunique"), n_series=("series", "size")
        )
        ranks = self.rank_table(dataset)
        return counts.loc[ranks.index].join(ranks).reset_index()

    def figures(self) -> dict[str, Display]:
        """Entropies by measure and family; mean ranks and entropies of detectors by data set."""
        figures: dict[str, Display] = {
            "entropies": EntropyDisplay(
                self.averages()["entropy"],
                self.by_family(),
                self.study.entropy,
                own_measures=self.measures,
                title="Entropy of the ranks",
                caption=f"Mean over detectors and data sets, in {self.study.entropy}. Shorter "
                "bars: more consistent.",
            )
        }
        entropies = self.entropies()
        everywhere = entropies.groupby(level="detector", sort=False).mean()
        names = dict.fromkeys(one.dataset for one in self.values)
        studied = [name for name in names if name in entropies.index.get_level_values("dataset")]
        figures["ranks"] = ChoiceDisplay(
            ("data set",),
            [(_ALL_DATASETS,), *((name,) for name in names)],
            lambda key: RankLinesDisplay(
                self._ranks_on(key[0]), "rank", _dataset(key), own_measures=self.measures
            ),
            title="Mean rank of each detector",
            caption="1 is best. Mean over the series on which all detectors have a value of the "
            "measure. Where the ranks of a detector differ between measures, the choice of the "
            f"measure matters.{self._small_in_ranks()}",
        )
        figures["detectors"] = ChoiceDisplay(
            ("data set",),
            [(_ALL_DATASETS,), *((name,) for name in studied)],
            lambda key: RankLinesDisplay(
                everywhere if key[0] == _ALL_DATASETS else entropies.loc[key[0]],
                "entropy",
                _dataset(key),
                self.study.entropy,
                own_measures=self.measures,
            ),
            title="Entropy of each detector's ranks",
            caption="How much the rank of a detector changes from series to series.",
        )
        return figures

    def _small_in_ranks(self) -> str:
        """Name the data sets that count in mean ranks but not in entropies."""
        small = self.small_datasets
        if not small:
            return ""
        return f" Includes data sets that are too small for an entropy: {', '.join(small)}."

    def _ranks_on(self, dataset: str) -> pd.DataFrame:
        table = self.rank_table(_dataset((dataset,)))
        return table.reindex(columns=list(self.study.names))

    def score(self) -> pd.Series:
        """Mean entropy of each measure; lower is better."""
        return self.averages()["entropy"]

    def overview(self) -> pd.DataFrame:
        """Mean entropy of each measure, with its family."""
        return self.averages()

    def about(self) -> str:
        """Describe the study in sentences."""
        small = ", ".join(self.small_datasets) or "none"
        return (
            f"{len(self.values):,} series. Shannon entropy of a detector's ranks over the series "
            f"of a data set, in {self.study.entropy}; mean over detectors and data sets. Low is "
            f"consistent. Equal values get the {self.study.ties} rank. Data sets with fewer than "
            f"{self.study.min_series} series count in mean ranks only: {small}. "
            f"Undefined values: {int(self.undefined().sum()):,}."
        )

    def facts(self) -> dict[str, Any]:
        """Data sets with too few series."""
        return {"small_datasets": list(self.small_datasets)}

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data set of each series."""
        return tuple(one.dataset for one in self.values)


@study(
    title="Consistency",
    question="Are detectors ranked alike on series of the same kind?",
    better="lower",
    order=3,
)
@dataclass(frozen=True)
class Consistency(DetectorStudy[ConsistencyResult]):
    """Shannon entropy of each detector's rank over the series of a data set.

    Parameters
    ----------
    measures, settings, measure_options, detectors, section, scale
        As for :class:`vuskit.studies.DetectorStudy`.
    ties : {"average", "min", "max", "dense"}, default="average"
        Rank of detectors with equal values.
    min_series : int, default=3
        Minimum number of series per data set. Smaller data sets have no entropy; the result
        names them.
    entropy : {"bits", "nats"}, default="bits"
        Unit of the entropy: binary or natural logarithm.
    """

    published: ClassVar[Mapping[str, Any]] = {"detectors": (PUBLISHED,), "entropy": "nats"}

    ties: str = param(
        "average",
        one_of("average", "min", "max", "dense"),
        "Rank of equal values.",
        stage="result",
    )
    min_series: int = param(
        3,
        whole(2),
        "Minimum number of series per data set; smaller ones have no entropy.",
        metavar="N",
        stage="result",
    )
    entropy: str = param("bits", one_of("bits", "nats"), "Unit of the entropy.", stage="result")

    def per_series(self, scored: ScoredSeries) -> SeriesValues:
        """Values of all measures for every detector."""
        scored, _ = self.prepare(scored)
        choice = self.choose_buffer(scored)
        evaluator = self.evaluator(scored.series.labels, choice.length)
        axes = {"detector": scored.detectors, "measure": self.names}
        return SeriesValues.of(scored, choice, axes, evaluate_detectors(evaluator, scored))
