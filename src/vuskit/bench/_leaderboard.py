"""Means by detector over the series that all detectors have values for, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure, list_measures

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AVERAGES",
    "directions",
    "leaderboard",
    "main_measure",
    "measure_called",
    "measures_in_order",
    "no_common_series",
    "rows_of_mean",
]

_MAIN_MEASURES = ("vus_pr", "vus_roc", "auc_pr")

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


def leaderboard(
    values: pd.DataFrame,
    *,
    by: str = "series",
    apart: Iterable[str] = (),
    detectors: Iterable[str] = (),
    measures: Iterable[str] = (),
) -> pd.DataFrame:
    """Mean of every measure per detector and settings, best by `main_measure` first.

    Means are taken over the seeds of a series, then over the series that *every* detector of
    these settings has a value for: a detector that failed on hard series must not look better for
    it. ``series`` counts those, ``own`` the ones that the detector has values for. A detector
    without any value, which is not counted among "every", stands last.

    Parameters
    ----------
    values : pandas.DataFrame
        From `Run.values`; the direction of a measure is that of its column
        ``higher_is_better``, or of the registry.
    by : {"series", "dataset"}, default="series"
        Whether every series counts the same, or every data set: then means are taken over the
        series of a data set first, and ``datasets`` counts these.
    apart : iterable of str, optional
        Further columns to keep apart, such as ``dataset``.
    detectors : iterable of str, optional
        Detectors that get a row also if they have no value, from `Run.detectors`.
    measures : iterable of str, optional
        Measures that get a column also if they have no value on any series.

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
      settings detector  series  own  vus_pr
    0        s      PCA       1    1     0.7
    1        s      LOF       1    2     0.5
    """
    check_choice("by", by, AVERAGES)
    if not len(values):
        return values
    place = ["dataset", "series"]
    groups = ["settings", *apart, "detector"]
    means = (
        values.groupby([*groups, *(p for p in place if p not in groups), "measure"])["value"]
        .mean()
        .unstack("measure")
        .reset_index()
    )
    means["_all"] = means.groupby(["settings"])["detector"].transform("nunique")
    shared = means.groupby(["settings", *place])["detector"].transform("nunique") == means["_all"]
    known = measures_in_order([name for name in means if name in set(values["measure"])])
    keys = list(dict.fromkeys([*groups, *place]))
    rows = rows_of_mean(means[shared].set_index(keys)[known], by)
    table = rows.groupby(level=groups).mean()
    if by == "dataset":
        table.insert(0, "datasets", rows.groupby(level=groups).size())
    table.insert(len(table.columns) - len(known), "series", means[shared].groupby(groups).size())
    own = means.groupby(groups).size().reindex(table.index)
    table.insert(len(table.columns) - len(known), "own", own)
    table = _with_rows_for(table, set(detectors) - set(values["detector"]), known)
    wanted = measures_in_order({*known, *measures})
    table = table.reindex(columns=[*(name for name in table if name not in known), *wanted])
    main = main_measure(known)
    ascending = [True, *(True for _ in apart), not directions(values)[main], True]
    table = table.reset_index().sort_values(
        ["settings", *apart, main, "detector"], ascending=ascending
    )
    return table.rename_axis(columns=None).reset_index(drop=True)


def no_common_series(values: pd.DataFrame, settings: str) -> str:
    """Explain why there is no table: every detector misses a series that another one has."""
    counts = values.drop_duplicates(["dataset", "series", "detector"])["detector"].value_counts()
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return (
        f"`RUN` must have at least one series with values of all detectors, got none for "
        f"{settings}. Series per detector: {listed}. Use `vuskit bench export`, or remove a "
        "detector from the plan."
    )


def _with_rows_for(table: pd.DataFrame, failed: set[str], measures: list[str]) -> pd.DataFrame:
    """Add a row without means for each of these detectors, beside those of the same settings."""
    pandas = require("pandas", purpose="a leaderboard")
    ones = table.groupby(level=list(table.index.names[:-1]), sort=False).head(1)
    rows = [ones.rename(index=lambda _, name=name: name, level="detector") for name in failed]
    blank = [one.assign(own=0, **dict.fromkeys(measures, float("nan"))) for one in rows]
    joined: pd.DataFrame = pandas.concat([table, *blank])
    return joined


def directions(values: pd.DataFrame) -> dict[str, bool]:
    """Whether higher values are better, by measure of a table of values.

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
    names = map(str, dict.fromkeys(values["measure"]))
    return {name: measure_called(name).higher_is_better for name in names}


def main_measure(names: Sequence[str]) -> str:
    """Return the default measure for ordering detectors.

    Examples
    --------
    >>> main_measure(["auc_pr", "vus_pr", "my_own"])
    'vus_pr'
    >>> main_measure(["f_score", "my_own"])
    'my_own'
    """
    return next((name for name in _MAIN_MEASURES if name in names), names[-1])


def measure_called(name: str) -> Measure:
    """Look a measure up by its name in tables, also with options.

    One that is not registered here keeps its name, and higher values count as better.

    Examples
    --------
    >>> measure_called("f_score(beta=2)").title
    'F(beta=2)'
    >>> measure_called("mine").title
    'mine'
    """
    base, bracket, options = name.partition("(")
    for measure in list_measures():
        if measure.name == base:
            if not bracket:
                return measure
            title = measure.title.partition("(")[0]
            return replace(measure, name=name, title=f"{title}({options}", declaration=None)
    return Measure(name=name, title=name, function=_unknown)


def _unknown(*_: Any) -> float:
    raise InvalidInputError("the measure must be registered here to be computed, got its name only")


def measures_in_order(names: Iterable[str]) -> list[str]:
    """Names of measures in the order of the registry, variants after their measure, own ones last.

    Examples
    --------
    >>> measures_in_order(["vus_pr", "my_own", "f_score(beta=2)", "precision"])
    ['precision', 'f_score(beta=2)', 'vus_pr', 'my_own']
    """
    # Own ones by name: the order must not depend on whether their module was imported.
    package = [one.name for one in list_measures() if one.function.__module__.startswith("vuskit.")]
    order = {name: place for place, name in enumerate(package)}
    return sorted(names, key=lambda name: (order.get(name.partition("(")[0], len(order)), name))
