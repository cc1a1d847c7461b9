"""Table of data sets: number of series, length and anomalies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DatasetDescription", "DatasetTable", "describe"]

_HEADER = ("data set", "series", "length", "anomalies", "anomalous points", "density (%)")
_NOTE = "Means over the series of a data set. Density: share of anomalous points."


class _Described(Protocol):
    """A `Series`, or a series of a benchmark run."""

    @property
    def dataset(self) -> str: ...
    @property
    def n_points(self) -> int: ...
    @property
    def n_anomalies(self) -> int: ...
    @property
    def anomalous_points(self) -> int: ...


@dataclass(frozen=True)
class DatasetDescription:
    """A row of the table of data sets.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    n_series : int
        Number of series.
    mean_length, mean_anomalies, mean_anomalous_points : float
        Means over the series.
    density : float
        Mean over the series of the share of anomalous points, from 0 to 1.
    """

    dataset: str
    n_series: int
    mean_length: float
    mean_anomalies: float
    mean_anomalous_points: float
    density: float


@dataclass(frozen=True)
class DatasetTable(TableForms):
    """Table of data sets, as in the VUS paper; returned by `describe`.

    Attributes
    ----------
    rows : tuple of DatasetDescription
        One row per data set, sorted by name.
    """

    rows: tuple[DatasetDescription, ...]

    @property
    def _layout(self) -> TableLayout:
        cells = [
            [
                row.dataset,
                f"{row.n_series:,}",
                f"{row.mean_length:,.0f}",
                f"{row.mean_anomalies:,.1f}",
                f"{row.mean_anomalous_points:,.1f}",
                f"{100 * row.density:.2f}",
            ]
            for row in self.rows
        ]
        return TableLayout(_HEADER, cells, notes=[_NOTE])

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the fields of `DatasetDescription`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        names = [field.name for field in dataclasses.fields(DatasetDescription)]
        rows = [dataclasses.astuple(row) for row in self.rows]
        frame: pd.DataFrame = require("pandas", purpose="to_frame()").DataFrame(rows, columns=names)
        return frame

    def __str__(self) -> str:
        return self.to_text()


def describe(
    series: Iterable[_Described], *, progress: Callable[[int, int], None] | None = None
) -> DatasetTable:
    """Describe data sets: number of series, and means of length, anomalies and density.

    Parameters
    ----------
    series : Collection or iterable of Series
        The series; also accepts series of a benchmark run. Unreadable files of a `Collection` are
        skipped and listed in its ``failures``.
    progress : callable, optional
        Called with the number of series read so far and the total.

    Returns
    -------
    DatasetTable
        One row per data set. Convert it with ``to_text()``, ``to_latex()``, ``to_markdown()``,
        ``to_html()`` or ``to_frame()``.

    Examples
    --------
    >>> from vuskit.datasets import Series, describe
    >>> short = Series("a", "Plant", [1, 9, 8, 1], [0, 1, 1, 0])
    >>> long = Series("b", "Plant", [1, 9, 1, 7, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0, 0, 0])
    >>> print(describe([short, long]))
    data set  series  length  anomalies  anomalous points  density (%)
    Plant          2       6        1.5               2.0        37.50
    Means over the series of a data set. Density: share of anomalous points.
    """
    total = len(series) if isinstance(series, Sized) else 0
    sizes: dict[str, list[tuple[int, int, int]]] = {}
    for done, one in enumerate(series, start=1):
        size = one.n_points, one.n_anomalies, one.anomalous_points
        sizes.setdefault(one.dataset, []).append(size)
        if progress is not None:
            progress(done, max(done, total))
    return DatasetTable(tuple(_row(name, sizes[name]) for name in sorted(sizes)))


def _row(dataset: str, sizes: list[tuple[int, int, int]]) -> DatasetDescription:
    table = np.array(sizes, dtype=np.float64)
    length, anomalies, points = table.mean(axis=0).tolist()
    density = float((table[:, 2] / table[:, 0]).mean())
    return DatasetDescription(dataset, len(sizes), length, anomalies, points, density)
