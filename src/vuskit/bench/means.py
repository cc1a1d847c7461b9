"""What a mean is taken over: every series the same, or every data set the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AVERAGES", "rows_of_mean"]

AVERAGES = ("series", "dataset")
"""One row per series, or per data set."""


def rows_of_mean(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Rows that a mean is to be taken over.

    A data set of a hundred series outweighs one of three in a mean over series; over data sets,
    each counts once, with the mean of its series.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per series; its index has a level ``dataset``, and one ``series``, if any.
    by : {"series", "dataset"}
        What counts once.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_tuples(
    ...     [("large", "a"), ("large", "b"), ("large", "c"), ("small", "d")],
    ...     names=["dataset", "series"],
    ... )
    >>> table = pd.DataFrame({"LOF": [0.9, 0.9, 0.9, 0.1]}, index=index)
    >>> float(rows_of_mean(table, "series")["LOF"].mean().round(2))
    0.7
    >>> float(rows_of_mean(table, "dataset")["LOF"].mean().round(2))
    0.5
    """
    if by == "series":
        return table
    kept = [name for name in table.index.names if name != "series"]
    return table.groupby(level=kept, sort=False).mean()
