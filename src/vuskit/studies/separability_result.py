"""What the separability study found: z statistics of pairs, and their averages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.studies.comparison import TableComparison, compare_columns
from vuskit.studies.runner import Failure
from vuskit.studies.series_values import SeriesValues
from vuskit.studies.task import MeasureSettings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SeparabilityResult", "z_statistic"]

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
