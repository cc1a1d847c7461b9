"""Means by detector and measure, over the series on which all detectors have a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.inputs import check_choice
from vuskit.measures.registry import main_measure, measure_called, measures_in_order

if TYPE_CHECKING:
    import pandas as pd

AVERAGES = ("series", "dataset")
"""Units that count once in a mean: series or data sets."""

COUNTS = ("datasets", "series")
"""Columns with the number of data sets and series behind a mean."""


def rows_of_mean(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the rows to average.

    In a mean over series, a data set of a hundred series outweighs one of three. In a mean over
    data sets, each data set counts once, with the mean of its series.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per series; the index has a level ``dataset`` and optionally ``series``.
    by : {"series", "dataset"}
        Unit that counts once.

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


def common_series(values: ArrayLike) -> NDArray[np.bool_]:
    """Return which series count in means: those on which all detectors have a value.

    Detectors without any value are ignored.

    Parameters
    ----------
    values : array-like of shape (..., detectors, series)
        Values of one measure, or of several along the first axes; NaN marks a missing value.

    Returns
    -------
    ndarray of bool, shape (..., series)
        False everywhere if no detector has a value.

    Examples
    --------
    >>> nan = float("nan")
    >>> common_series([[0.9, 0.1, 0.5], [0.8, nan, 0.7], [nan, nan, nan]]).tolist()
    [True, False, True]
    """
    there = ~np.isnan(np.asarray(values, dtype=np.float64))
    present = there.any(axis=-1, keepdims=True)
    return np.asarray((there | ~present).all(axis=-2) & there.any(axis=-2))


def values_by_series(values: pd.DataFrame) -> pd.Series:
    """Mean over seeds by measure, data set, series and detector; missing values are dropped."""
    keys = ["measure", "dataset", "series", "detector"]
    cells: pd.Series = (
        values.dropna(subset="value").groupby(keys, observed=True, sort=True)["value"].mean()
    )
    return cells


def common_values(cells: pd.Series, measure: str, detectors: Sequence[str]) -> pd.DataFrame:
    """Values of a measure by series and detector, for the series that count in means."""
    table: pd.DataFrame = cells.loc[measure].unstack("detector").reindex(columns=list(detectors))
    return table[common_series(table.to_numpy(dtype=float).T)]


def leaderboard(
    values: pd.DataFrame,
    *,
    by: str = "series",
    detectors: Iterable[str] = (),
    measures: Iterable[str] = (),
) -> pd.DataFrame:
    """Mean of every measure per detector and settings, sorted by `main_measure`, best first.

    Values are averaged over the seeds of a series, then over the series on which *all* detectors
    have a value of *that measure* under these settings. So a detector does not benefit from
    failing on hard series. A detector without any value of a measure has no mean and is ignored
    in this selection.

    ``series`` counts the selected series, ``own_series`` those on which the detector has any value.
    If the counts differ between measures, ``series`` is missing and one column per measure, such
    as ``series_vus_pr``, follows the means. A measure without any value has the count 0.

    Parameters
    ----------
    values : pandas.DataFrame
        From `Run.values`. The column ``higher_is_better`` gives the direction of a measure; without
        it, the registry does.
    by : {"series", "dataset"}, default="series"
        Unit with equal weight. For ``"dataset"``, values are averaged within each data set first,
        and a column ``datasets`` counts the data sets.
    detectors : iterable of str, optional
        Detectors that get a row even without values, from `Run.detectors`.
    measures : iterable of str, optional
        Measures that get a column even without values.

    Raises
    ------
    InvalidInputError
        If `by` is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "x", "LOF", 0.5), ("a", "y", "LOF", 0.9), ("a", "x", "PCA", 0.7)]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "series", "detector", "value"])
    >>> leaderboard(frame.assign(seed=0, settings="s", measure="vus_pr"))
      settings detector  series  own_series  vus_pr
    0        s      PCA       1           1     0.7
    1        s      LOF       1           2     0.5
    """
    check_choice("by", by, AVERAGES)
    if not len(values):
        return values
    pandas = require("pandas", purpose="a leaderboard")
    wanted = measures_in_order({*map(str, values["measure"]), *measures})
    higher = directions(values)
    boards = [
        _Board.of(rows, by=by, detectors=detectors, measures=wanted).to_frame(higher, str(settings))
        for settings, rows in values.groupby("settings")
    ]
    table: pd.DataFrame = pandas.concat(boards, ignore_index=True)
    for count in COUNTS:
        names = [f"{count}_{name}" for name in wanted]
        if count not in table:
            continue
        if table[count].isna().any():
            table = table[[*(name for name in table if name not in names), *names]]
        else:
            table = table.drop(columns=names).astype({count: int})
    return table


@dataclass(frozen=True, eq=False)
class _Board:
    """Means under one set of settings."""

    means: pd.DataFrame
    own: pd.Series
    counts: dict[str, dict[str, int]]
    present: list[str]

    @classmethod
    def of(
        cls, rows: pd.DataFrame, *, by: str, detectors: Iterable[str], measures: Sequence[str]
    ) -> _Board:
        pandas = require("pandas", purpose="a leaderboard")
        place = ["dataset", "series"]
        known = rows.dropna(subset="value")
        cells = values_by_series(known)
        names = sorted({*map(str, rows["detector"]), *detectors})
        means = pandas.DataFrame(np.nan, pandas.Index(names, name="detector"), list(measures))
        counts = {name: dict.fromkeys(measures, 0) for name in COUNTS}
        present = [name for name in measures if name in cells.index.get_level_values("measure")]
        for measure in present:
            table = common_values(cells, measure, names)
            means[measure] = rows_of_mean(table, by).mean()
            counts["series"][measure] = len(table)
            counts["datasets"][measure] = table.index.get_level_values("dataset").nunique()
        own = known.drop_duplicates([*place, "detector"])["detector"].value_counts()
        if by == "series":
            del counts["datasets"]
        return cls(means, own.reindex(names, fill_value=0), counts, present)

    def to_frame(self, higher: Mapping[str, bool], settings: str) -> pd.DataFrame:
        """Return the sorted rows, with total counts and counts per measure."""
        ranked = [name for name in self.means if self.means[name].notna().any()]
        main = main_measure(ranked or list(self.means))
        table = self.means.assign(**{
            f"{count}_{name}": number
            for count, by_measure in self.counts.items()
            for name, number in by_measure.items()
        })  # fmt: skip
        table.insert(0, "own_series", self.own)
        for count in reversed(self.counts):
            table.insert(0, count, _one_count(self.counts[count], self.present))
            table[count] = table[count].astype("Int64")
        table = table.reset_index()
        table.insert(0, "settings", settings)
        keys = table.assign(blank=table["own_series"] == 0).sort_values(
            [main, "blank", "detector"], ascending=[not higher.get(main, True), True, True]
        )
        return table.loc[keys.index]


def _one_count(counts: Mapping[str, int], present: Iterable[str]) -> int | None:
    """Return the common count of all present measures; None if their counts differ."""
    found = {counts[name] for name in present if name in counts}
    return found.pop() if len(found) == 1 else None


def no_common_series(values: pd.DataFrame, settings: str) -> str:
    """Explain why there is no mean: no series has values of all detectors."""
    known = values.dropna(subset="value").drop_duplicates(["dataset", "series", "detector"])
    counts = known["detector"].value_counts()
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    total = len(known.drop_duplicates(["dataset", "series"]))
    return (
        f"`RUN` must have at least one series with values of all detectors, got none for "
        f"{settings}. Series per detector (of {total}): {listed}. Use `vuskit bench export` for "
        "all values, `vuskit compare --detector A --detector B` for some detectors, or remove a "
        "detector from the plan."
    )


def directions(values: pd.DataFrame) -> dict[str, bool]:
    """Whether higher values are better, for each measure in a table of values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"measure": ["delay", "vus_pr"], "higher_is_better": [False, True]})
    >>> directions(frame)
    {'delay': False, 'vus_pr': True}
    """
    if "higher_is_better" in values.columns:
        stored = values.drop_duplicates("measure").set_index("measure")["higher_is_better"]
        return {str(name): bool(higher) for name, higher in stored.items()}
    names = map(str, values["measure"].unique())
    return {name: measure_called(name).higher_is_better for name in names}
