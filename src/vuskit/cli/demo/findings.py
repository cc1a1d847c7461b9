"""Findings of the demo: a short leaderboard and surprising results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import listed
from vuskit.bench._leaderboard import common_series, measure_called
from vuskit.errors import VuskitError
from vuskit.report.run_report import RunReport

if TYPE_CHECKING:
    from vuskit.studies import RobustnessResult

__all__ = ["CHANCE", "DECIDING", "Findings", "Floats", "Standing"]

SHOWN = ("f_score", "auc_roc", "auc_pr", "range_auc_pr", "vus_roc", "vus_pr")
DECIDING = "vus_pr"
CHANCE = "Random"
_EVEN = 1e-9  # smaller differences are ties

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """Results of a detector.

    Attributes
    ----------
    detector : str
        Its name.
    means : dict of str to float
        Means over the series, by measure.
    wins : int
        Number of series on which it is best by the deciding measure.
    seconds : float
        Median time to fit and score.
    """

    detector: str
    means: dict[str, float]
    wins: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Findings:
    """Summary of a run.

    Parameters
    ----------
    report : RunReport
        The run; for all its measures, higher is better.
    """

    report: RunReport

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.report.measures

    @cached_property
    def _present(self) -> NDArray[np.bool_]:
        """Detectors with values of every measure."""
        return np.asarray(np.isfinite(self.report.values[0]).any(axis=2).all(axis=0))

    @cached_property
    def detectors(self) -> tuple[str, ...]:
        """Names of the detectors with values of every measure."""
        pairs = zip(self.report.detectors, self._present, strict=True)
        return tuple(name for name, present in pairs if present)

    @cached_property
    def values(self) -> Floats:
        """Values by measure, detector and series; NaN unless all detectors have a value.

        Raises
        ------
        VuskitError
            If a measure has no series with values of all detectors.
        """
        values = self.report.values[0][:, self._present]
        shared = common_series(values)
        for name, used in zip(self.measures, shared, strict=True):
            if not used.any():
                raise VuskitError(
                    f"no series has values of {_title(name)} for all detectors; see the failures "
                    f"with: vuskit bench status {self.report.folder}"
                )
        return np.where(shared[:, None, :], values, np.nan)

    @property
    def counts(self) -> tuple[int, int]:
        """Smallest and largest number of series in the means of a measure."""
        used = (~np.isnan(self.values[:, 0])).sum(axis=1)
        return int(used.min()), int(used.max())

    @property
    def series_used(self) -> str:
        """Number of series as text."""
        fewest, most = self.counts
        return f"{most} series" if fewest == most else f"{fewest} to {most} series"

    @cached_property
    def means(self) -> Floats:
        """Means by measure and detector."""
        return np.asarray(np.nanmean(self.values, axis=2))

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Rank of each detector by each measure, 1 is best; ties share the better rank."""
        better = self.means[:, None, :] > self.means[:, :, None] + _EVEN
        return np.asarray(better.sum(axis=2) + 1)

    @cached_property
    def order(self) -> list[int]:
        """Detectors from best to worst by the deciding measure."""
        return list(np.argsort(-self.means[self.measures.index(DECIDING)], kind="stable"))

    def wins(self, measure: str) -> Counter[str]:
        """Return the number of series on which each detector is best, ties included."""
        values = self.values[self.measures.index(measure)]
        values = values[:, ~np.isnan(values).all(axis=0)]
        best = values >= values.max(axis=0) - _EVEN
        return Counter(dict(zip(self.detectors, best.sum(axis=1).tolist(), strict=True)))

    def standings(self) -> list[Standing]:
        """Return the results of all detectors, best first."""
        wins = self.wins(DECIDING)
        seconds = np.nanmedian(self.report.seconds[self._present], axis=1)
        return [
            Standing(
                self.detectors[d],
                dict(zip(self.measures, self.means[:, d].tolist(), strict=True)),
                wins[self.detectors[d]],
                float(seconds[d]),
            )
            for d in self.order
        ]

    def leaderboard(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of a table of means over the series."""
        header = ["detector", *(_title(name) for name in SHOWN), "wins", "seconds"]
        rows = [
            [
                one.detector,
                *(f"{one.means[name]:.3f}" for name in SHOWN),
                str(one.wins),
                f"{one.seconds:.2f}",
            ]
            for one in self.standings()
        ]
        return header, rows

    def surprises(self, robustness: RobustnessResult) -> list[str]:
        """Return sentences about results that may surprise."""
        sentences = [self._winners(), self._jump(), self._chance(), _most_and_least(robustness)]
        return [sentence for sentence in sentences if sentence]

    def _winners(self) -> str:
        """Describe which detector is best by which measure."""
        winners: dict[str, list[str]] = {}
        for measure, places in zip(self.measures, self.places, strict=True):
            for d in np.flatnonzero(places == 1):
                winners.setdefault(self.detectors[d], []).append(_title(measure))
        if len(winners) == 1:
            return f"All {len(self.measures)} measures agree that {next(iter(winners))} is best."
        ranked = sorted(winners.items(), key=lambda item: -len(item[1]))
        parts = "; ".join(f"{name} by {_listed(titles)}" for name, titles in ranked)
        return f"The best detector depends on the measure: {parts}."

    def _jump(self) -> str:
        """Describe the detector whose rank differs most between two measures."""
        spread = self.places.max(axis=0) - self.places.min(axis=0)
        d = int(spread.argmax())
        if spread[d] < 2:  # a swap of neighbors is no surprise
            return ""
        high, low = int(self.places[:, d].argmin()), int(self.places[:, d].argmax())
        return (
            f"With the same scores, {self.detectors[d]} ranks {self.places[high, d]} of "
            f"{len(self.detectors)} by {_title(self.measures[high])} and {self.places[low, d]} by "
            f"{_title(self.measures[low])}."
        )

    def _chance(self) -> str:
        """Describe the measure by which random scores look best."""
        if CHANCE not in self.detectors:
            return ""
        d = self.detectors.index(CHANCE)
        beaten = (self.means[:, [d]] > self.means + _EVEN).sum(axis=1)
        measure = int(beaten.argmax())
        mean = f"{_title(self.measures[measure])} gives random scores {self.means[measure, d]:.2f}"
        if not beaten[measure]:
            return ""
        others = "a detector" if beaten[measure] == 1 else f"{beaten[measure]} detectors"
        return f"{mean}, more than {others}: compare values with the chance level."


def _title(measure: str) -> str:
    return measure_called(measure).title


def _listed(titles: list[str], most: int = 3) -> str:
    return listed(titles, most=most if len(titles) > most + 1 else most + 1)


def _most_and_least(robustness: RobustnessResult) -> str:
    """Describe which measures change most and least when scores lag."""
    averages = robustness.averages()
    if "lag" not in averages:
        return ""
    lag = averages["lag"].dropna()
    most, least = lag.idxmax(), lag.idxmin()
    return (
        f"If scores lag a little, {_title(most)} changes most (standard deviation "
        f"{lag[most]:.3f}) and {_title(least)} least ({lag[least]:.3f})."
    )
