"""What the robustness study found, averaged step by step."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.studies.comparison import TableComparison, compare_columns
from vuskit.studies.robustness_task import RobustnessTask
from vuskit.studies.runner import Failure
from vuskit.studies.series_values import SeriesValues

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RobustnessResult"]

Values = NDArray[np.float64]


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
