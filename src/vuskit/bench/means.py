"""Means by detector and measure, over the series on which all detectors have a value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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


Place = tuple[str, Any]
"""Data set and name of a series."""

Floats = NDArray[np.float64]


def mean_of_seeds(values: Floats, at: Sequence[NDArray[np.intp]], shape: Sequence[int]) -> Floats:
    """Return means by measure, series and detector; NaN without a value.

    ``at`` has the places of the values: measure, series and detector.

    Examples
    --------
    >>> at = [np.array(one) for one in ([0, 0], [0, 0], [1, 1])]
    >>> mean_of_seeds(np.array([0.2, 0.4]), at, (1, 1, 2)).round(3).tolist()
    [[[nan, 0.3]]]
    """
    size = math.prod(shape)
    cells = (at[0] * shape[1] + at[1]) * shape[2] + at[2]
    counts = np.bincount(cells, minlength=size)
    sums = np.bincount(cells, weights=values, minlength=size)
    means: Floats = np.divide(sums, counts, out=np.full(size, math.nan), where=counts > 0)
    return means.reshape(tuple(shape))


def place_order(place: Place) -> tuple[str, Any]:
    """Sort key of a series; names may be numbers."""
    dataset, series = place
    return dataset, (isinstance(series, str), series)


def column_means(table: Floats) -> Floats:
    """Return the mean of each column over its known numbers."""
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    totals = np.where(known, table, 0.0).sum(axis=0)
    means: Floats = np.divide(totals, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def rows_of_mean(table: Floats, owners: NDArray[np.object_], by: str) -> Floats:
    """Return the rows to average: those of the series, or the means of each data set.

    In a mean over series, a data set of a hundred series outweighs one of three. In a mean over
    data sets, each data set counts once.

    Examples
    --------
    >>> table = np.array([[0.9], [0.9], [0.9], [0.1]])
    >>> owners = np.array(["large", "large", "large", "small"], dtype=object)
    >>> rows_of_mean(table, owners, "dataset").round(3).tolist()
    [[0.9], [0.1]]
    """
    if by == "series" or not len(table):
        return table
    return np.array([column_means(table[owners == dataset]) for dataset in dict.fromkeys(owners)])


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
    boards = [
        row
        for settings, rows in values.groupby("settings")
        for row in _board(str(settings), rows, by, detectors, wanted)
    ]
    table: pd.DataFrame = pandas.DataFrame(boards)
    for count in COUNTS:
        names = [f"{count}_{name}" for name in wanted]
        if count not in table:
            continue
        if table[count].isna().any():
            table = table[[*(name for name in table if name not in names), *names]]
            table = table.astype({count: "Int64"})
        else:
            table = table.drop(columns=names).astype({count: int})
    return table


def _board(
    settings: str, rows: pd.DataFrame, by: str, detectors: Iterable[str], measures: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the sorted rows under one set of settings, with counts per measure."""
    names = sorted({*map(str, rows["detector"]), *detectors})
    known = rows.dropna(subset="value")
    of_rows = list(zip(known["dataset"], known["series"], strict=True))
    places = sorted(set(of_rows), key=place_order)
    texts = map(str, known["measure"]), map(str, known["detector"])
    columns = (texts[0], measures), (of_rows, places), (texts[1], names)
    at = []
    for column, order in columns:
        position = {one: place for place, one in enumerate(order)}
        at.append(np.array([position[one] for one in column], dtype=np.intp))
    table = mean_of_seeds(known["value"].to_numpy(float), at, [len(one) for _, one in columns])
    owners = np.array([dataset for dataset, _ in places], dtype=object)
    kept = common_series(table.swapaxes(1, 2))
    means = [
        column_means(rows_of_mean(one[used], owners[used], by))
        for one, used in zip(table, kept, strict=True)
    ]
    own = (~np.isnan(table)).any(axis=0).sum(axis=0).tolist()
    counts = {"series": kept.sum(axis=1).tolist()}
    if by == "dataset":
        counts = {"datasets": [len(set(owners[used])) for used in kept], **counts}
    present = (~np.isnan(table)).any(axis=(1, 2))
    common = {name: set(np.array(found)[present].tolist()) for name, found in counts.items()}
    shared = {name: one.pop() if len(one) == 1 else None for name, one in common.items()}
    of_measures = {
        f"{count}_{name}": number
        for count, found in counts.items()
        for name, number in zip(measures, found, strict=True)
    }
    ranked = [name for name, mean in zip(measures, means, strict=True) if not np.isnan(mean).all()]
    main = main_measure(ranked or measures)
    stored = rows.drop_duplicates("measure").set_index("measure").get("higher_is_better", {})
    sign = -1 if stored.get(main, measure_called(main).higher_is_better) else 1
    board = [
        {
            "settings": settings,
            "detector": name,
            **shared,
            "own_series": number,
            **dict(zip(measures, mean, strict=True)),
            **of_measures,
        }
        for name, number, mean in zip(names, own, np.transpose(means).tolist(), strict=True)
    ]

    def key(row: dict[str, Any]) -> tuple[float, bool]:
        mean = row[main]
        return math.inf if math.isnan(mean) else sign * mean, not row["own_series"]

    return sorted(board, key=key)


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
