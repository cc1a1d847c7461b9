"""Bars by measure: robustness on data sets and on average, separability, values of detectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.report.figures._canvas import COLUMN, PAGE, grid_cells, open_canvas
from vuskit.report.figures._drawing import (
    family_legend,
    measure_bars,
    measures_named,
)
from vuskit.report.figures.base import Display, register_figure
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RobustnessBarsDisplay", "SeparabilityBarsDisplay"]

Floats = NDArray[np.float64]


def _panel_columns(count: int, columns: int | None) -> int:
    """So many that no row is nearly empty."""
    return columns or (count if count <= 4 else -(-count // -(-count // 5)))


@dataclass(eq=False, repr=False)
class _MeasureBars(Display):
    table: pd.DataFrame
    label: str
    _shared: ClassVar[str] = "xy"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return measures_named(self.table.index)

    def plot(
        self, ax: Any = None, *, columns: int | None = None, legend: bool | None = None
    ) -> Any:
        """Draw one panel of bars for each column of the table.

        Parameters
        ----------
        ax : Axes or as many as there are panels, optional
            Where to draw; one axis is divided. A figure of its own by default.
        columns : int, optional
            Panels in a row.
        legend : bool, optional
            Whether the families are named; by default where there is a margin.
        """
        count = self.table.shape[1]
        across = _panel_columns(count, columns)
        rows = -(-count // across)
        height = rows * (0.3 + 0.125 * len(self.table)) + 0.25
        size = (COLUMN if across <= 3 and rows == 1 else PAGE, height)
        canvas = open_canvas(ax, grid_cells(count, across), size=size, share=self._shared)
        for axis, name in zip(canvas.panels, self.table.columns, strict=True):
            measure_bars(axis, self.table[name], self.measures)
            canvas.title(axis, str(name))
        canvas.label_bottoms(self.label)
        family_legend(canvas, self.measures, legend=legend)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        shown = ", ".join(map(str, self.table.columns))
        return f"{len(self.table)} measures: {shown}"


def _checked(table: Any) -> pd.DataFrame:
    if not hasattr(table, "columns") or table.empty:
        raise InvalidInputError(
            "`table` must be a pandas table with one row for each measure, "
            f"got {type(table).__name__}{' without rows' if hasattr(table, 'columns') else ''}"
        )
    frame: pd.DataFrame = table
    return frame


@register_figure(
    name="robustness_bars",
    title="mean standard deviation of each measure, on average and on data sets",
    source="the robustness study, or a table of deviations",
)
class RobustnessBarsDisplay(_MeasureBars):
    """Mean standard deviations; short bars are robust measures.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each measure, one column for each panel.
    label : str
        Of the horizontal axis.
    """

    @classmethod
    def from_result(
        cls, result: RobustnessResult, *, perturbation: str | None = None, over: str = "datasets"
    ) -> RobustnessBarsDisplay:
        """Make it from the robustness study.

        Parameters
        ----------
        result : RobustnessResult
            Of :func:`vuskit.studies.robustness_study`.
        perturbation : str, optional
            One panel for each data set under this perturbation; by default one panel for each
            perturbation, on average.
        over : {"datasets", "series"}
            What the averages are over.

        Raises
        ------
        InvalidInputError
            If there is no such perturbation.
        """
        if perturbation is None:
            return cls.from_table(result.averages(over=over))
        check_choice("perturbation", perturbation, result.study.perturbations)
        table = result.by_dataset().loc[perturbation].T
        return cls(table, f"mean standard deviation under {perturbation}")

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> RobustnessBarsDisplay:
        """Make it from a table with one row for each measure and one column for each panel.

        Raises
        ------
        InvalidInputError
            If it is not a table, or empty.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"lag": [0.1, 0.02]}, index=["auc_pr", "vus_pr"])
        >>> RobustnessBarsDisplay.from_table(table)
        RobustnessBarsDisplay(2 measures: lag)
        """
        return cls(_checked(table), "mean standard deviation")


_Z = {"mean": "mean z", "median": "median z"}


@register_figure(
    name="separability_bars",
    title="z statistic of each measure, on average and on data sets",
    source="the separability study, or a table of z statistics",
)
class SeparabilityBarsDisplay(_MeasureBars):
    """z statistics; long bars are measures that tell accurate detectors from others.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each measure, one column for each panel.
    label : str
        Of the horizontal axis; every panel has its own, since a z may be hundreds of times another.
    """

    _shared = "y"

    @classmethod
    def from_result(
        cls, result: SeparabilityResult, *, by: str = "average"
    ) -> SeparabilityBarsDisplay:
        """Make it from the separability study.

        Parameters
        ----------
        result : SeparabilityResult
            Of :func:`vuskit.studies.separability_study`.
        by : {"average", "dataset", "series"}
            One panel each for the mean and the median, or one for each data set or series.
        """
        check_choice("by", by, ("average", "dataset", "series"))
        if by == "average":
            return cls(result.averages()[list(_Z)].rename(columns=_Z), "z statistic")
        table = result.by_series()
        if by == "dataset":
            table = table.groupby(level="dataset", sort=False).mean()
        return cls(table.droplevel(0).T if by == "series" else table.T, "mean z statistic")

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> SeparabilityBarsDisplay:
        """Make it from a table with one row for each measure and one column for each panel.

        Raises
        ------
        InvalidInputError
            If it is not a table, or empty.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"ECG": [2.1, 9.0]}, index=["auc_pr", "vus_pr"])
        >>> SeparabilityBarsDisplay.from_table(table)
        SeparabilityBarsDisplay(2 measures: ECG)
        """
        return cls(_checked(table), "z statistic")
